// Call and fusion: their result is that of a computation, whose parameters are the operands. What
// the computation reads of its parameters is what the instruction reads of its operands.

#include <cstdint>
#include <utility>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// The computation that is looked into; null if none can be.
const HloComputation* Called(const BuildContext& build) {
  return build.options.computations == nullptr ? nullptr : build.instruction.inlined_computation();
}

void AddAll(InstructionIndexing entries, BuildContext& build) {
  for (IndexingEntry& entry : entries) build.entries.push_back(std::move(entry));
}

}  // namespace

void CallOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (const HloComputation* called = Called(build)) {
    AddAll(build.ReadOf({build.instruction, *called}, output_leaf), build);
  } else {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void CallInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (const HloComputation* called = Called(build)) {
    AddAll(build.ReachOf({build.instruction, *called}, {operand, operand_leaf}), build);
  } else {
    UnanalysedInputToOutput(build, operand, operand_leaf);
  }
}

}  // namespace xla_indexing::internal
