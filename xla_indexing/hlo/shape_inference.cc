#include "xla_indexing/hlo/shape_inference.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace xla_indexing {

absl::StatusOr<Shape> InferShape(const HloInstruction& instruction) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": the shape of ",
                                               OpcodeName(instruction.opcode()),
                                               " is not inferred; it must be given"));
}

}  // namespace xla_indexing
