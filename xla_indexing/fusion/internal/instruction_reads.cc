#include "xla_indexing/fusion/internal/instruction_reads.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/internal/called_computations.h"

namespace xla_indexing::internal {

absl::StatusOr<std::vector<InstructionReads>> ComputeInstructionReads(
    const HloComputation& computation, int64_t output_leaf, mlir::MLIRContext* context,
    const FusionOptions& options) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", computation.name(), " has no root"));
  }
  const int64_t count = root->shape().LeafCount();
  if (output_leaf < 0 || output_leaf >= count || !root->shape().Leaf(output_leaf).IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("the root ", root->name(), " has ", count,
                                                   " leaves; leaf ", output_leaf,
                                                   ", which was asked for, is no array of it"));
  }
  const QuestionBudget budget;
  CalledComputations called(context, options);
  return called.OutputToInstructions(computation, output_leaf, options.max_steps);
}

}  // namespace xla_indexing::internal
