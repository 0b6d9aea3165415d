#include "xla_indexing/fusion/computation_indexing.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/fusion/path.h"
#include "xla_indexing/fusion/walker.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

using LeafPaths = Walker::LeafPaths;

bool IsWalked(const Shape& leaf) { return leaf.IsArray(); }

LeafPaths StartAt(const Shape& shape, int64_t leaf, mlir::MLIRContext* context) {
  LeafPaths paths;
  const Shape& array = shape.Leaf(leaf);
  paths[leaf].Add(Path(IdentityIndexing(array, context), array));
  return paths;
}

OperandIndexingSet MapsOf(const PathSet& paths, const Shape& end) {
  OperandIndexingSet set;
  for (const Path& path : paths.paths()) set.Add(path.Map(end));
  set.Simplify();
  return set;
}

void Sort(InstructionIndexing& entries) {
  std::sort(entries.begin(), entries.end(), [](const IndexingEntry& a, const IndexingEntry& b) {
    return std::tie(a.output_leaf, a.operand, a.operand_leaf) <
           std::tie(b.output_leaf, b.operand, b.operand_leaf);
  });
}

// `end` is the shape of the leaf that the paths have led to.
void AddEntry(int64_t output_leaf, int64_t operand, int64_t operand_leaf, const PathSet& paths,
              const Shape& end, InstructionIndexing* entries) {
  OperandIndexingSet set = MapsOf(paths, end);
  if (!set.empty()) entries->push_back({output_leaf, operand, operand_leaf, std::move(set)});
}

// Entries from what came out of a walk that started at a leaf of the result.
void AddOperands(int64_t output_leaf, const std::map<int64_t, LeafPaths>& end,
                 absl::Span<const HloInstruction* const> operands, InstructionIndexing* entries) {
  for (const auto& [operand, leaves] : end) {
    for (const auto& [leaf, paths] : leaves) {
      AddEntry(output_leaf, operand, leaf, paths, operands[operand]->shape().Leaf(leaf), entries);
    }
  }
}

absl::Status NoSuchLeaf(const char* what, absl::string_view name, int64_t leaf, int64_t count) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", name, " has ", count, " leaves, leaf ", leaf, " was asked for"));
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
  const int64_t first = output_leaf.value_or(0);
  const int64_t last = output_leaf ? *output_leaf + 1 : count;
  for (int64_t leaf = first; leaf < last; ++leaf) {
    if (!IsWalked(root->shape().Leaf(leaf))) continue;
    Walker walker(context, options, Direction::kOutputToInput);
    walker.SetStartShape(root->shape().Leaf(leaf));
    std::map<int64_t, LeafPaths> start, end;
    start[0] = StartAt(root->shape(), leaf, context);
    absl::Status status = walker.WalkComputation(computation, Frame(), start, &end);
    if (!status.ok()) return status;
    AddOperands(leaf, end, computation.parameters(), &entries);
  }
  Sort(entries);
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
  Walker walker(context, options, Direction::kInputToOutput);
  for (int64_t number = 0; number < num_parameters; ++number) {
    if (parameter_leaf && parameter_leaf->operand != number) continue;
    const HloInstruction& parameter = *computation.parameter(number);
    const int64_t count = parameter.shape().LeafCount();
    if (parameter_leaf &&
        (parameter_leaf->operand_leaf < 0 || parameter_leaf->operand_leaf >= count)) {
      return NoSuchLeaf("parameter", parameter.name(), parameter_leaf->operand_leaf, count);
    }
    for (int64_t leaf = 0; leaf < count; ++leaf) {
      if (parameter_leaf && parameter_leaf->operand_leaf != leaf) continue;
      if (!IsWalked(parameter.shape().Leaf(leaf))) continue;
      walker.SetStartShape(parameter.shape().Leaf(leaf));
      std::map<int64_t, LeafPaths> start, end;
      start[number] = StartAt(parameter.shape(), leaf, context);
      absl::Status status = walker.WalkComputation(computation, Frame(), start, &end);
      if (!status.ok()) return status;
      for (const auto& [output_leaf, paths] : end[0]) {
        AddEntry(output_leaf, number, leaf, paths,
                 computation.root_instruction()->shape().Leaf(output_leaf), &entries);
      }
    }
  }
  Sort(entries);
  return entries;
}

namespace {

bool HasBody(const HloInstruction& instruction) {
  return (instruction.opcode() == HloOpcode::kFusion || instruction.opcode() == HloOpcode::kCall) &&
         !instruction.called_computations().empty();
}

}  // namespace

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  if (!HasBody(instruction)) {
    return ComputeOutputToInputIndexing(instruction, context, options.indexing);
  }
  InstructionIndexing entries;
  for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
    if (!IsWalked(instruction.shape().Leaf(leaf))) continue;
    Walker walker(context, options, Direction::kOutputToInput);
    walker.SetStartShape(instruction.shape().Leaf(leaf));
    LeafPaths start = StartAt(instruction.shape(), leaf, context);
    std::map<int64_t, LeafPaths> end;
    absl::Status status = walker.StepToOperands(instruction, Frame(), start, &end);
    if (!status.ok()) return status;
    AddOperands(leaf, end, instruction.operands(), &entries);
  }
  Sort(entries);
  return entries;
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  if (!HasBody(instruction)) {
    return ComputeInputToOutputIndexing(instruction, context, options.indexing);
  }
  InstructionIndexing entries;
  Walker walker(context, options, Direction::kInputToOutput);
  for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
    const Shape& shape = instruction.operand(operand)->shape();
    for (int64_t leaf = 0; leaf < shape.LeafCount(); ++leaf) {
      if (!IsWalked(shape.Leaf(leaf))) continue;
      walker.SetStartShape(shape.Leaf(leaf));
      LeafPaths start = StartAt(shape, leaf, context);
      LeafPaths end;
      absl::Status status = walker.StepToResult(instruction, Frame(), operand, start, &end);
      if (!status.ok()) return status;
      for (const auto& [output_leaf, paths] : end) {
        AddEntry(output_leaf, operand, leaf, paths, instruction.shape().Leaf(output_leaf),
                 &entries);
      }
    }
  }
  Sort(entries);
  return entries;
}

}  // namespace xla_indexing
