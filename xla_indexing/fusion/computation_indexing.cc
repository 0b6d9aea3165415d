#include "xla_indexing/fusion/computation_indexing.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/fusion/called_computations.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

absl::Status NoSuchLeaf(const char* what, absl::string_view name, int64_t leaf, int64_t count) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", name, " has ", count, " leaves, leaf ", leaf, " was asked for"));
}

void Append(InstructionIndexing entries, InstructionIndexing* all) {
  for (IndexingEntry& entry : entries) all->push_back(std::move(entry));
}

IndexingOptions LookingInto(CalledComputations& called, const FusionOptions& options) {
  called.ResetBudget();
  IndexingOptions indexing = options.indexing;
  indexing.computations = called.At(0);
  return indexing;
}

}  // namespace

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context, const FusionOptions& options,
    std::optional<int64_t> output_leaf) {
  InstructionIndexing entries;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return entries;
  const int64_t count = root->shape().LeafCount();
  if (output_leaf && (*output_leaf < 0 || *output_leaf >= count)) {
    return NoSuchLeaf("the root", root->name(), *output_leaf, count);
  }
  CalledComputations called(context, options);
  const int64_t first = output_leaf.value_or(0);
  const int64_t last = output_leaf ? *output_leaf + 1 : count;
  for (int64_t leaf = first; leaf < last; ++leaf) {
    called.ResetBudget();
    auto of_leaf = called.OutputToInput(computation, leaf, /*depth=*/0);
    if (!of_leaf.ok()) return of_leaf.status();
    Append(*std::move(of_leaf), &entries);
  }
  return entries;
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context, const FusionOptions& options,
    std::optional<OperandLeaf> parameter_leaf) {
  InstructionIndexing entries;
  const int64_t num_parameters = static_cast<int64_t>(computation.parameters().size());
  if (parameter_leaf &&
      (parameter_leaf->operand < 0 || parameter_leaf->operand >= num_parameters)) {
    return absl::InvalidArgumentError(absl::StrCat("computation ", computation.name(), " has ",
                                                   num_parameters, " parameters, parameter ",
                                                   parameter_leaf->operand, " was asked for"));
  }
  if (parameter_leaf) {
    const HloInstruction& parameter = *computation.parameter(parameter_leaf->operand);
    const int64_t count = parameter.shape().LeafCount();
    if (parameter_leaf->operand_leaf < 0 || parameter_leaf->operand_leaf >= count) {
      return NoSuchLeaf("parameter", parameter.name(), parameter_leaf->operand_leaf, count);
    }
  }
  CalledComputations called(context, options);
  for (const OperandLeaf& leaf : UnreadOperandLeaves(computation.parameters(), {})) {
    if (parameter_leaf && leaf != *parameter_leaf) continue;
    called.ResetBudget();
    auto of_leaf = called.InputToOutput(computation, leaf, /*depth=*/0);
    if (!of_leaf.ok()) return of_leaf.status();
    Append(*std::move(of_leaf), &entries);
  }
  SortEntries(&entries);
  return entries;
}

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  if (instruction.called_computations().empty()) {
    return ComputeOutputToInputIndexing(instruction, context, options.indexing);
  }
  InstructionIndexing entries;
  CalledComputations called(context, options);
  for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
    auto of_leaf =
        ComputeOutputToInputIndexing(instruction, leaf, context, LookingInto(called, options));
    if (!of_leaf.ok()) return of_leaf.status();
    Append(*std::move(of_leaf), &entries);
  }
  return entries;
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  if (instruction.called_computations().empty()) {
    return ComputeInputToOutputIndexing(instruction, context, options.indexing);
  }
  InstructionIndexing entries;
  CalledComputations called(context, options);
  for (const OperandLeaf& leaf : UnreadOperandLeaves(instruction.operands(), {})) {
    auto of_leaf = ComputeInputToOutputIndexing(instruction, leaf.operand, leaf.operand_leaf,
                                                context, LookingInto(called, options));
    if (!of_leaf.ok()) return of_leaf.status();
    Append(*std::move(of_leaf), &entries);
  }
  SortEntries(&entries);
  return entries;
}

}  // namespace xla_indexing
