// The maps of one operation in the form of its definition: runtime variables are those of the
// operation, even where the module fixes their values.
#ifndef XLA_INDEXING_OPS_RULES_FRAME_OPERATION_MAPS_H_
#define XLA_INDEXING_OPS_RULES_FRAME_OPERATION_MAPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing::internal {

// What ComputeIndexing (ops/instruction_indexing.h) gives, before runtime variables are
// folded.
absl::StatusOr<InstructionIndexing> OperationMaps(const HloInstruction& instruction,
                                                  Direction direction, mlir::MLIRContext* context,
                                                  const IndexingOptions& options,
                                                  std::optional<OperandLeaf> from = std::nullopt,
                                                  OneValued one_valued = OneValued::kVariables);

// The greatest number of entries that an instruction can have, in either direction: the leaves that
// it passes on, or the pairs of a leaf of the result and a leaf of an operand.
int64_t MostEntries(const HloInstruction& instruction);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_OPERATION_MAPS_H_
