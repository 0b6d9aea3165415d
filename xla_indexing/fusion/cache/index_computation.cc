#include "xla_indexing/fusion/cache/index_computation.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {
namespace {

// Walks from each of `count` leaves; `walk` is a function of the leaf's position and the steps
// that it may take. What some leave over is for those that were stopped, which are walked from
// again where that gives them twice as many, so that the answer does not depend on the order.
template <typename WalkFrom>
absl::StatusOr<InstructionIndexing> WalkInShares(size_t count, int64_t max_steps, WalkFrom walk) {
  if (count == 1) {
    absl::StatusOr<TraversalResult> walked = walk(0, max_steps);
    if (!walked.ok()) return walked.status();
    return std::move(walked->entries);
  }
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
      if (absl::Status status = QuestionBudget::CheckGoesOn(); !status.ok()) return status;
      absl::StatusOr<TraversalResult> walked = walk(i, share);
      if (!walked.ok()) return walked.status();
      max_steps -= walked->is_whole ? walked->steps : share;
      if (!walked->is_whole) stopped.push_back(i);
      found[i] = std::move(walked->entries);
    }
    open = std::move(stopped);
  }
  size_t total = 0;
  for (const InstructionIndexing& entries : found) total += entries.size();
  InstructionIndexing all;
  all.reserve(total);
  for (InstructionIndexing& entries : found) absl::c_move(entries, std::back_inserter(all));
  return all;
}

}  // namespace

absl::Status CheckLeaf(absl::string_view what, const HloInstruction& instruction, int64_t leaf) {
  const int64_t count = instruction.shape().LeafCount();
  if (leaf >= 0 && leaf < count) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " ", instruction.name(), " has ", count,
                                                 " leaves, leaf ", leaf, " was asked for"));
}

absl::StatusOr<InstructionIndexing> IndexComputation(const HloComputation& computation,
                                                     Direction direction,
                                                     std::optional<OperandLeaf> from,
                                                     CalledComputations* called) {
  const bool is_from_parameter = direction == Direction::kInputToOutput;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return InstructionIndexing();
  const int64_t count =
      is_from_parameter ? static_cast<int64_t>(computation.parameters().size()) : 1;
  if (from && (from->operand < 0 || from->operand >= count)) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", computation.name(), " has ", count,
                     is_from_parameter ? " parameters, parameter " : " root, operand ",
                     from->operand, " was asked for"));
  }
  std::vector<OperandLeaf> leaves;
  if (from) {
    const HloInstruction& first = is_from_parameter ? *computation.parameter(from->operand) : *root;
    absl::Status status =
        CheckLeaf(is_from_parameter ? "parameter" : "the root", first, from->operand_leaf);
    if (!status.ok()) return status;
    leaves = {*from};
  } else if (is_from_parameter) {
    leaves = UnreadOperandLeaves(computation.parameters(), {});
  } else {
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) leaves.push_back({0, leaf});
  }
  absl::StatusOr<InstructionIndexing> entries =
      WalkInShares(leaves.size(), called->options().max_steps, [&](size_t i, int64_t max_steps) {
        return called->WalkFrom(computation, direction, leaves[i], max_steps);
      });
  if (entries.ok() && is_from_parameter) SortEntries(&*entries);
  return entries;
}

}  // namespace xla_indexing::internal
