#include "xla_indexing/ops/internal/loop_body.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/call_scope.h"
#include "xla_indexing/ops/internal/leaf_relation.h"
#include "xla_indexing/ops/internal/other_devices.h"

namespace xla_indexing::internal {
namespace {

// Whether a value is a leaf of the state at the beginning of an iteration.
bool IsOfState(const RuntimeVarIndexing& value) {
  return value.call_path.size() == 1 && value.instruction->opcode() == HloOpcode::kParameter;
}

}  // namespace

LoopBody::LoopBody(BuildContext& build, Direction direction)
    : build_(build),
      loop_(build.instruction),
      is_forward_(direction == Direction::kInputToOutput),
      counter_(FindLoopCounter(build.instruction)),
      memo_(build.options.computations->MemoOf(build.instruction, direction)) {}

bool LoopBody::PassesThrough(int64_t leaf) const {
  if (!memo_.passes_through) memo_.passes_through = LeavesPassedThrough(loop_);
  return (*memo_.passes_through)[leaf];
}

const std::vector<int64_t>& LoopBody::ChangedLeaves() const {
  if (!memo_.changed) {
    std::vector<int64_t>& changed = memo_.changed.emplace();
    const int64_t leaf_count = loop_.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      if (!PassesThrough(leaf)) changed.push_back(leaf);
    }
  }
  return *memo_.changed;
}

const InstructionIndexing& LoopBody::EntriesOf(int64_t leaf) const {
  const auto [it, is_new] = memo_.entries.try_emplace(leaf);
  if (is_new) {
    const CalledComputation body = Called(*loop_.while_body());
    it->second = is_forward_ ? build_.ReachOf(body, {0, leaf}) : build_.ReadOf(body, leaf);
  }
  return it->second;
}

const std::vector<int64_t>& LoopBody::LeavesFrom(int64_t leaf) const {
  const auto [it, is_new] = memo_.leaves.try_emplace(leaf);
  if (is_new) {
    ComputationIndexer& indexer = *build_.options.computations;
    const HloComputation& body = *loop_.while_body();
    for (const OperandLeaf& to :
         is_forward_ ? indexer.LeavesReached(body, {0, leaf}) : indexer.LeavesRead(body, leaf)) {
      it->second.push_back(to.operand_leaf);
    }
  }
  return it->second;
}

bool LoopBody::HasDevices() const {
  if (!memo_.has_devices) memo_.has_devices = DevicesAcrossWhich(*loop_.while_body()).has_value();
  return *memo_.has_devices;
}

std::string LoopBody::WhyAnyNumber() const {
  return counter_->count > kMaxSingleIterations
             ? absl::StrCat("it has ", counter_->count, " iterations, more than ",
                            kMaxSingleIterations)
             : absl::StrCat("the maps of all ", counter_->count, " iterations are too many");
}

std::string LoopBody::WhyAnyValue(const RuntimeVarIndexing& value) const {
  const std::string any = absl::StrCat("values that differ from iteration to iteration of ",
                                       loop_.name(), " are taken for any");
  if (!IsOfState(value)) {
    return absl::StrCat(any, ", and so is ", value.instruction->name(),
                        ", which is computed in it");
  }
  if (!counter_) {
    return absl::StrCat("the number of iterations of ", loop_.name(),
                        " is not known, nor what leaf ", value.leaf, " of its state is in each");
  }
  if (value.leaf != counter_->leaf) {
    return absl::StrCat(any, ", and so is leaf ", value.leaf, " of its state");
  }
  return absl::StrCat(any, ": ", WhyAnyNumber());
}

OperandIndexing LoopBody::InIteration(OperandIndexing map, std::optional<int64_t> iteration,
                                      bool* depends_on_number) const {
  std::vector<std::optional<Interval>> intervals(map.bindings().size());
  bool has_ranges = false;
  for (size_t i = 0; i < intervals.size(); ++i) {
    RuntimeVarIndexing binding = map.bindings()[i];
    if (IsOfState(binding) && PassesThrough(binding.leaf)) {
      binding.call_path.clear();
      binding.instruction = loop_.operand(0);
      map.SetBinding(kPartsFit, static_cast<int>(i), std::move(binding));
      continue;
    }
    has_ranges = true;
    if (IsOfState(binding) && counter_ && iteration && binding.leaf == counter_->leaf) {
      *depends_on_number = true;
      intervals[i] =
          Interval::Point(binding.value.Apply(counter_->start + *iteration * counter_->step));
      continue;
    }
    map.Weaken(ExactnessLabel::OverApproximate(WhyAnyValue(binding)));
    intervals[i] = Interval::All();
  }
  if (has_ranges) map = WithRanges(map, intervals);
  map.Simplify();
  return map;
}

OperandIndexingSet LoopBody::InIteration(const OperandIndexingSet& maps,
                                         std::optional<int64_t> iteration,
                                         bool* depends_on_number) const {
  OperandIndexingSet resolved;
  for (const OperandIndexing& map : maps) {
    resolved.Add(InIteration(map, iteration, depends_on_number));
  }
  return resolved;
}

OperandIndexingSet LoopBody::InAnyIteration(const OperandIndexingSet& maps) const {
  bool depends_on_number = false;
  return InIteration(maps, std::nullopt, &depends_on_number);
}

}  // namespace xla_indexing::internal
