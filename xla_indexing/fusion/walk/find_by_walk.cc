#include "xla_indexing/fusion/walk/find_by_walk.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/walk/joints.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

// A walk by joints is tried where the plain walk has many paths on the way, or many maps at the end. It
// takes so small a part of the steps, and no more than four times those of the plain walk. It is the
// answer where no leaf has more maps than a few; more paths than some are not made a few maps any more.
constexpr int64_t kShareOfJoints = 64;
constexpr int64_t kStepsOfJoints = 4;
constexpr size_t kManyMaps = 8;
constexpr size_t kFewMaps = 4;
constexpr size_t kManyPathsByJoints = 1024;

// The maps without those that are not exact and that another one covers: the union is the same, and
// its label no weaker. Exact ones stay, for the ways in which something is read.
OperandIndexingSet WithoutCoveredApproximations(OperandIndexingSet maps, const Shape& to) {
  if (maps.size() < 2 || maps.label().IsExact()) return maps;
  std::vector<UnionMember> members;
  for (const OperandIndexing& map : maps) members.emplace_back(map, &to);
  // What is left out covers nothing: two that cover one another are not both left out, wherever the
  // question's budget ends.
  std::vector<bool> is_left_out(members.size());
  OperandIndexingSet kept;
  for (size_t i = 0; i < members.size(); ++i) {
    for (size_t j = 0; j < members.size() && !members[i].map().IsExact() && !is_left_out[i]; ++j) {
      is_left_out[i] = i != j && !is_left_out[j] && members[j].Covers(members[i]);
    }
    if (!is_left_out[i]) kept.Add(members[i].map());
  }
  return kept;
}

// Sets of maps, and what UniteGraphs makes of them: the same for the layers of a model.
using MergedSets = absl::flat_hash_map<OperandIndexingSet, OperandIndexingSet>;

// `end` is the shape of the leaf that the paths have led to. With `unite_graphs` its maps are made
// fewer; otherwise more than `many` are where they become few.
OperandIndexingSet MapsOf(const PathSet& paths, const Shape& end, bool unite_graphs, size_t many,
                          MergedSets* merged_sets) {
  OperandIndexingSet set;
  for (const Path& path : paths.paths()) set.Add(path.Map(end));
  set.Simplify();
  if (unite_graphs || set.size() > many) {
    const auto [known, is_new] = merged_sets->try_emplace(set, set);
    OperandIndexingSet& merged = known->second;
    if (is_new) {
      UniteGraphs(&merged);
      merged.Simplify();
    }
    // Each is a way in which something is read, so that many stay where they are not few in the end.
    if (unite_graphs || merged.size() <= kFewMaps) set = merged;
  }
  return WithoutCoveredApproximations(std::move(set), end);
}

void AddEntry(const IndexingEntry& leaves, const PathSet& paths, const Shape& end,
              bool unite_graphs, size_t many, MergedSets* merged_sets,
              InstructionIndexing* entries) {
  OperandIndexingSet set = MapsOf(paths, end, unite_graphs, many, merged_sets);
  if (set.empty()) return;
  entries->push_back({leaves.output_leaf, leaves.operand, leaves.operand_leaf, std::move(set)});
}

// What the walk has found, the end of which is at these paths.
TraversalResult ResultOf(const WalkStart& start, const Traversal& traversal,
                         const Traversal::NumberedPaths& end, bool unite_graphs) {
  const HloComputation& computation = start.computation;
  const OperandLeaf from = start.from;
  const bool backward = start.direction == Direction::kOutputToInput;
  TraversalResult walked;
  walked.steps = traversal.steps();
  walked.is_whole = !traversal.was_stopped();
  size_t count = 0;
  for (const auto& [number, leaves] : end) count += leaves.size();
  walked.entries.reserve(count);
  // What is left of many paths is no longer a map for each way in which something is read.
  const size_t many = traversal.has_left_out_paths() ? 1 : kManyMaps;
  MergedSets merged_sets;
  const auto num_instructions = static_cast<int64_t>(computation.instructions().size());
  for (const auto& [number_at_end, leaves] : end) {
    const int64_t number = start.is_to_each ? num_instructions - 1 - number_at_end : number_at_end;
    const HloInstruction& last = start.is_to_each ? *computation.instructions()[number]
                                 : backward       ? *computation.parameter(number)
                                                  : *computation.root_instruction();
    const Shape& shape = last.shape();
    for (const auto& [leaf, paths] : leaves) {
      const IndexingEntry entry = backward
                                      ? IndexingEntry{from.operand_leaf, number, leaf, {}}
                                      : IndexingEntry{leaf, from.operand, from.operand_leaf, {}};
      AddEntry(entry, paths, shape.Leaf(leaf), unite_graphs, many, &merged_sets, &walked.entries);
    }
  }
  SortEntries(&walked.entries);
  return walked;
}

// How many maps the entry with the most has.
size_t MostMaps(const TraversalResult& walked) {
  size_t most = 0;
  for (const IndexingEntry& entry : walked.entries) most = std::max(most, entry.indexing.size());
  return most;
}

// The same where all are exact, and otherwise more than any number.
size_t MostMapsIfExact(const TraversalResult& walked) {
  const bool is_exact = absl::c_all_of(
      walked.entries, [](const IndexingEntry& entry) { return entry.indexing.label().IsExact(); });
  return is_exact ? MostMaps(walked) : std::numeric_limits<size_t>::max();
}

// The most paths to one leaf.
size_t MostPaths(const Traversal::NumberedPaths& end) {
  size_t most = 0;
  for (const auto& [number, leaves] : end) {
    for (const auto& [leaf, paths] : leaves) most = std::max(most, paths.size());
  }
  return most;
}

}  // namespace

absl::StatusOr<TraversalResult> FindByWalk(const WalkStart& start, const FusionOptions& options,
                                           TraversalSource* source, mlir::MLIRContext* context,
                                           WalkTo walk_to, WalkTo walk_by_joints) {
  CallFrame frame;
  frame.depth = start.depth;
  const auto found = [&](const Traversal& traversal, const Traversal::NumberedPaths& end,
                         bool unite_graphs) {
    return ResultOf(start, traversal, end, unite_graphs);
  };
  // What a walk by joints has found where it is an answer.
  std::optional<TraversalResult> by_joints;
  absl::Status status_by_joints;
  Traversal traversal(context, options, start.computation, start.direction, start.array,
                      start.max_steps, source);
  bool is_in_vain = !walk_by_joints;
  const auto ask_joints = [&] {
    if (is_in_vain || !JointsLeadToJoints(start.computation)) return false;
    const int64_t left = QuestionBudget::Left();
    const int64_t most =
        std::min(start.max_steps / kShareOfJoints, kStepsOfJoints * traversal.steps());
    Traversal joints(context, options, start.computation, start.direction, start.array, most,
                     source);
    Traversal::NumberedPaths end;
    status_by_joints = walk_by_joints(joints, frame, &end);
    if (!status_by_joints.ok()) return true;
    if (!joints.was_stopped() && MostPaths(end) <= kManyPathsByJoints) {
      by_joints = found(joints, end, /*unite_graphs=*/true);
    }
    if (by_joints && MostMapsIfExact(*by_joints) <= kFewMaps) return true;
    by_joints.reset();
    // With more steps there may be an answer, where these were all that was missing.
    is_in_vain = !joints.has_run_out_of_steps() || most == start.max_steps / kShareOfJoints;
    // No more than the steps of the walk, so that attempts stay a small part of the question.
    QuestionBudget::RefundTo(std::min(left, QuestionBudget::Left() + most));
    return false;
  };
  traversal.AskAtManyPaths(ask_joints);
  Traversal::NumberedPaths end;
  absl::Status status = walk_to(traversal, frame, &end);
  TraversalResult walked;
  if (status.ok() && !by_joints) {
    walked = found(traversal, end, traversal.has_united_graphs());
    if (MostMaps(walked) > kManyMaps) ask_joints();
  }
  status.Update(status_by_joints);
  if (!status.ok()) return status;
  if (by_joints) return *std::move(by_joints);
  return walked;
}

}  // namespace xla_indexing::internal
