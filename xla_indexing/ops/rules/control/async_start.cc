// Async-start: the beginning of a computation f that runs beside others. Its result is a tuple,
//
//   {0}: the operands,   {1}: f(operands),   {2}, ..: contexts, made from nothing.

#include <cstdint>
#include <utility>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// Leaves of the result before `results` are the operands', those before `contexts` what the
// computation yields.
struct Parts {
  int64_t results;
  int64_t contexts;
};

Parts PartsOf(const HloInstruction& instruction) {
  const Shape& shape = instruction.shape();
  const int64_t results = shape.tuple_element(0).LeafCount();
  return {results, results + shape.tuple_element(1).LeafCount()};
}

// The leaf of element {0} that a leaf of an operand is.
int64_t AliasOf(const HloInstruction& instruction, int64_t operand, int64_t operand_leaf) {
  return instruction.shape().tuple_element(0).FirstLeafOfElement(operand) + operand_leaf;
}

bool IsLookedInto(const BuildContext& build) {
  return build.options.computations != nullptr && build.instruction.calls() != nullptr;
}

// Entries of the computation as entries of the instruction.
void AddResults(InstructionIndexing entries, BuildContext& build) {
  for (IndexingEntry& entry : entries) {
    build.Add(PartsOf(build.instruction).results + entry.output_leaf, entry.operand,
              entry.operand_leaf, std::move(entry.indexing));
  }
}

}  // namespace

void AsyncStartOutputToInput(BuildContext& build, int64_t output_leaf) {
  const HloInstruction& instruction = build.instruction;
  const Parts parts = PartsOf(instruction);
  if (output_leaf >= parts.contexts) return;
  if (output_leaf < parts.results) {
    int64_t operand = instruction.operand_count() - 1;
    while (AliasOf(instruction, operand, 0) > output_leaf) --operand;
    build.Add(output_leaf, operand, output_leaf - AliasOf(instruction, operand, 0),
              IdentityIndexing(instruction.shape().Leaf(output_leaf), build.mlir_context));
  } else if (IsLookedInto(build)) {
    AddResults(build.ReadOf({instruction, *instruction.calls()}, output_leaf - parts.results),
               build);
  } else {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void AsyncStartInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  const HloInstruction& instruction = build.instruction;
  const int64_t alias = AliasOf(instruction, operand, operand_leaf);
  build.Add(alias, operand, operand_leaf,
            IdentityIndexing(instruction.shape().Leaf(alias), build.mlir_context));
  if (IsLookedInto(build)) {
    AddResults(build.ReachOf({instruction, *instruction.calls()}, {operand, operand_leaf}), build);
    return;
  }
  const Parts parts = PartsOf(instruction);
  for (int64_t leaf = parts.results; leaf < parts.contexts; ++leaf) {
    build.AddWholeReach(leaf, operand, operand_leaf, UnanalysedLabel(build));
  }
}

}  // namespace xla_indexing::internal
