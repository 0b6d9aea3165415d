#include "xla_indexing/fusion/computation_indexing.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/called_computations.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

absl::Status NoSuchLeaf(const char* what, absl::string_view name, int64_t leaf, int64_t count) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", name, " has ", count, " leaves, leaf ", leaf, " was asked for"));
}

// Walks from each of `count` leaves; `walk` is a function of the leaf's position and the steps
// that it may take. What some leave over is for those that were stopped, which are walked from
// again where that gives them twice as many, so that the answer does not depend on the order.
template <typename WalkFrom>
absl::StatusOr<InstructionIndexing> WalkInShares(size_t count, int64_t max_steps, WalkFrom walk) {
  std::vector<InstructionIndexing> found(count);
  std::vector<size_t> open(count);
  std::iota(open.begin(), open.end(), size_t{0});
  int64_t last_share = -1;
  while (!open.empty()) {
    const int64_t share = max_steps / static_cast<int64_t>(open.size());
    const bool is_first = last_share < 0;
    if (!is_first && (share < 2 * last_share || share == last_share || QuestionBudget::IsSpent())) {
      break;
    }
    last_share = share;
    std::vector<size_t> stopped;
    for (const size_t i : open) {
      absl::StatusOr<Walked> walked = walk(i, share);
      if (!walked.ok()) return walked.status();
      max_steps -= std::min(walked->steps, share);
      if (!walked->is_whole) stopped.push_back(i);
      found[i] = std::move(walked->entries);
    }
    open = std::move(stopped);
  }
  InstructionIndexing all;
  for (InstructionIndexing& entries : found) absl::c_move(entries, std::back_inserter(all));
  return all;
}

}  // namespace

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context, const FusionOptions& options,
    std::optional<int64_t> output_leaf) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return InstructionIndexing();
  const int64_t count = root->shape().LeafCount();
  if (output_leaf && (*output_leaf < 0 || *output_leaf >= count)) {
    return NoSuchLeaf("the root", root->name(), *output_leaf, count);
  }
  const QuestionBudget budget;
  CalledComputations called(context, options);
  const int64_t first = output_leaf.value_or(0);
  return WalkInShares(output_leaf ? 1 : count, options.max_steps, [&](size_t i, int64_t max_steps) {
    const OperandLeaf leaf{0, first + static_cast<int64_t>(i)};
    return called.WalkFrom(computation, Direction::kOutputToInput, leaf, max_steps);
  });
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(
    const HloComputation& computation, mlir::MLIRContext* context, const FusionOptions& options,
    std::optional<OperandLeaf> parameter_leaf) {
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
  const QuestionBudget budget;
  CalledComputations called(context, options);
  std::vector<OperandLeaf> leaves = UnreadOperandLeaves(computation.parameters(), {});
  if (parameter_leaf) leaves = {*parameter_leaf};
  absl::StatusOr<InstructionIndexing> entries =
      WalkInShares(leaves.size(), options.max_steps, [&](size_t i, int64_t max_steps) {
        return called.WalkFrom(computation, Direction::kInputToOutput, leaves[i], max_steps);
      });
  if (entries.ok()) SortEntries(&*entries);
  return entries;
}

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  return CalledComputations(context, options).EntriesOf(instruction, Direction::kOutputToInput);
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexingThroughCalls(
    const HloInstruction& instruction, mlir::MLIRContext* context, const FusionOptions& options) {
  return CalledComputations(context, options).EntriesOf(instruction, Direction::kInputToOutput);
}

}  // namespace xla_indexing
