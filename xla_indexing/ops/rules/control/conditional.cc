// Conditional: operand 0 chooses among n branches, branch b is a computation of operand b + 1,
//
//   r = f_b(operand b + 1),   b = 0 where a predicate is true and 1 where it is false;
//                             an index where it is in [0, n - 1], otherwise n - 1.
//
// What branch b reads is read where the choice, a runtime variable, is b. Every element reads the
// choice itself.

#include <cstdint>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The identity of an array where branch `branch` is chosen.
OperandIndexing WhereChosen(const BuildContext& build, int64_t branch, const Shape& shape) {
  MapBuilder builder(shape, shape, build.mlir_context);
  RuntimeVarIndexing binding;
  binding.instruction = build.instruction.operand(0);
  const int64_t count = static_cast<int64_t>(build.instruction.branch_computations().size());
  binding.value = ValueFunction::InRangeElseLast(count);
  const bool is_predicate = IsPred(build.Operand(0).element_type());
  AffineExpr choice = builder.AddRuntime(std::move(binding));
  builder.Constrain(choice, Interval::Point(is_predicate ? 1 - branch : branch));
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < shape.rank(); ++i) indices.push_back(builder.Dim(i));
  return builder.Build(indices);
}

// The entries of a branch as entries of the conditional. `forward`: they lead to the result.
void AddBranch(int64_t branch, const InstructionIndexing& entries, Direction direction,
               BuildContext& build) {
  const bool forward = direction == Direction::kInputToOutput;
  for (const IndexingEntry& entry : entries) {
    const Shape& output = build.instruction.shape().Leaf(entry.output_leaf);
    const Shape& operand = build.instruction.operand(branch + 1)->shape().Leaf(entry.operand_leaf);
    const Shape& from = forward ? operand : output;
    const Shape& to = forward ? output : operand;
    build.Add(entry.output_leaf, branch + 1, entry.operand_leaf,
              ComposeOrWiden(OperandIndexingSet(WhereChosen(build, branch, from)), entry.indexing,
                             from, to, build.mlir_context));
  }
}

CalledComputation Branch(const BuildContext& build, int64_t branch) {
  return {build.instruction, *build.instruction.branch_computations()[branch], branch + 1};
}

}  // namespace

void ConditionalOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedOutputToInput(build, output_leaf);
    return;
  }
  build.AddWholeRead(0, output_leaf);
  const int64_t count = static_cast<int64_t>(build.instruction.branch_computations().size());
  for (int64_t b = 0; b < count; ++b) {
    AddBranch(b, build.ReadOf(Branch(build, b), output_leaf), Direction::kOutputToInput, build);
  }
}

void ConditionalInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (build.options.computations == nullptr) {
    UnanalysedInputToOutput(build, operand, operand_leaf);
    return;
  }
  if (operand == 0) {
    const int64_t leaf_count = build.instruction.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) build.AddWholeReach(0, leaf);
    return;
  }
  AddBranch(operand - 1, build.ReachOf(Branch(build, operand - 1), {0, operand_leaf}),
            Direction::kInputToOutput, build);
}

}  // namespace xla_indexing::internal
