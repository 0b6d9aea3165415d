#include "xla_indexing/query/internal/free_values.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/internal/physical_layout.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Whether some coordinate of two elements, over variables of one map, differs by a constant.
bool AreNeverEqual(llvm::ArrayRef<AffineExpr> a, llvm::ArrayRef<AffineExpr> b) {
  for (const auto& [x, y] : llvm::zip(a, b)) {
    const AffineExpr difference = Sub(x, y);
    if (!difference) continue;
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(difference);
    if (constant && constant.getValue() != 0) return true;
  }
  return false;
}

// What the elements of an instruction are elements of.
const HloInstruction* MovedFrom(const HloInstruction* instruction) {
  while (true) {
    switch (instruction->opcode()) {
      case HloOpcode::kBitcast:
        if (BitsOfElement(instruction->shape()) !=
            BitsOfElement(instruction->operand(0)->shape())) {
          return instruction;
        }
        break;
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
        break;
      default:
        return instruction;
    }
    instruction = instruction->operand(0);
  }
}

}  // namespace

std::string WhyNotFree(const OperandIndexing& indexing) {
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  for (size_t i = 0; i < bindings.size(); ++i) {
    const RuntimeVarIndexing& binding = bindings[i];
    const HloInstruction* source = MovedFrom(binding.instruction);
    if (!binding.call_path.empty() || binding.device || source->opcode() != HloOpcode::kParameter) {
      return absl::StrCat("it depends on the values of ", binding.instruction->name(),
                          ", which are computed");
    }
    for (size_t k = 0; k < i; ++k) {
      const RuntimeVarIndexing& other = bindings[k];
      if (MovedFrom(other.instruction) != source || other.leaf != binding.leaf) continue;
      if (other.instruction != binding.instruction ||
          !AreNeverEqual(other.element, binding.element)) {
        return absl::StrCat("it depends on several values of ", binding.instruction->name(),
                            ", which may be one");
      }
    }
  }
  return "";
}

}  // namespace xla_indexing::internal
