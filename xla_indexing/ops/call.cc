// Call and fusion: their result is that of a computation, whose parameters are the operands. What
// the computation reads of its parameters is what the instruction reads of its operands.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {
namespace {

const HloComputation* CalledComputation(const HloInstruction& instruction) {
  const auto computations = instruction.called_computations();
  return computations.empty() ? nullptr : computations.front();
}

// Whether the computation can be looked into.
bool CanIndexComputation(const BuildContext& build) {
  return build.options.computations != nullptr && CalledComputation(build.instruction) != nullptr;
}

void TakeEntries(absl::StatusOr<InstructionIndexing> entries, BuildContext& build) {
  if (entries.ok()) {
    build.entries = *std::move(entries);
  } else {
    build.status = entries.status();
  }
}

void ReadComputation(std::optional<int64_t> output_leaf, BuildContext& build) {
  TakeEntries(build.options.computations->OutputToInput(
                  build.instruction, *CalledComputation(build.instruction), output_leaf,
                  build.mlir_context, build.options),
              build);
}

void ReachThroughComputation(std::optional<OperandLeaf> operand_leaf, BuildContext& build) {
  TakeEntries(build.options.computations->InputToOutput(
                  build.instruction, *CalledComputation(build.instruction), operand_leaf,
                  build.mlir_context, build.options),
              build);
}

}  // namespace

void CallOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (CanIndexComputation(build)) {
    ReadComputation(output_leaf, build);
  } else {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void CallInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (CanIndexComputation(build)) {
    ReachThroughComputation(OperandLeaf{operand, operand_leaf}, build);
  } else {
    UnanalysedInputToOutput(build, operand, operand_leaf);
  }
}

void CallAllOutputToInput(BuildContext& build) {
  if (CanIndexComputation(build)) {
    ReadComputation(std::nullopt, build);
    return;
  }
  const int64_t leaf_count = build.instruction.shape().LeafCount();
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) UnanalysedOutputToInput(build, leaf);
}

void CallAllInputToOutput(BuildContext& build) {
  if (CanIndexComputation(build)) {
    ReachThroughComputation(std::nullopt, build);
    return;
  }
  for (int64_t operand = 0; operand < build.instruction.operand_count(); ++operand) {
    const int64_t leaf_count = build.instruction.operand(operand)->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      UnanalysedInputToOutput(build, operand, leaf);
    }
  }
}

}  // namespace xla_indexing
