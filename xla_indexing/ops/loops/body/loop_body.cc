#include "xla_indexing/ops/loops/body/loop_body.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/iteration_count.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/rules/frame/other_devices.h"
#include "xla_indexing/ops/unions/few_maps.h"
#include "xla_indexing/ops/unions/joined_values.h"
#include "xla_indexing/ops/values/call_scope.h"
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/ops/values/same_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The state of a loop that has as many leaves is not followed further where the walks over its body from more
// than a few of them are stopped. One may be the number of the iteration, which picks what is read of all
// others.
constexpr int64_t kManyLeaves = 16;
constexpr size_t kFewStoppedLeaves = 1;

// Whether a value is a leaf of the state at the beginning of an iteration.
bool IsOfState(const RuntimeVarIndexing& value) {
  return value.call_path.size() == 1 && value.instruction->opcode() == HloOpcode::kParameter;
}

}  // namespace

LoopBody::LoopBody(BuildContext& build, Direction direction)
    : LoopSteps(build.instruction, direction,
                build.options.computations->MemoOf(build.instruction, direction)),
      build_(build),
      counted_(build.options.computations->CountedOf(build.instruction)) {}

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
    std::optional<InstructionIndexing> foreseen = EntriesIntoWholeLeaves(leaf);
    if (foreseen) {
      it->second = *std::move(foreseen);
    } else {
      CalledComputation body = Called(*loop_.while_body());
      body.tightest = true;
      it->second = is_forward_ ? build_.ReachOf(body, {0, leaf}) : build_.ReadOf(body, leaf);
    }
  }
  return it->second;
}

std::optional<InstructionIndexing> LoopBody::EntriesIntoWholeLeaves(int64_t leaf) const {
  const std::optional<int64_t> times = count();
  if (!is_forward_ || !PassesThrough(leaf) || (times && *times < 2) || HasDevices()) {
    return std::nullopt;
  }
  InstructionIndexing entries;
  for (const int64_t to : LeavesFrom(leaf)) {
    OperandIndexing map = IdentityIndexing(Leaf(leaf), build_.mlir_context);
    if (to != leaf) {
      const std::optional<std::string> why = WhyWholeOfItself(to);
      if (!why) return std::nullopt;
      map = WholeTensorIndexing(Leaf(leaf), Leaf(to), *why, build_.mlir_context);
    }
    entries.push_back({to, 0, leaf, OperandIndexingSet(std::move(map))});
  }
  return entries;
}

std::optional<std::string> LoopBody::WhyWholeOfItself(int64_t leaf) const {
  for (const IndexingEntry& entry : EntriesOf(leaf)) {
    if (LeadsTo(entry) != leaf) continue;
    for (const OperandIndexing& map : entry.indexing) {
      if (IsWholeLeaf(map, leaf, leaf)) return map.label().reason;
    }
  }
  return std::nullopt;
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

bool LoopBody::LeadsToCondition(int64_t leaf) const {
  std::optional<std::vector<bool>>& leads = memo_.lead_to_condition;
  if (!leads) {
    const int64_t leaf_count = loop_.shape().LeafCount();
    leads.emplace(leaf_count, false);
    std::vector<std::vector<int64_t>> before(leaf_count);
    std::vector<int64_t> pending;
    for (int64_t from = 0; from < leaf_count; ++from) {
      for (const int64_t to : LeavesFrom(from)) before[to].push_back(from);
      if (!build_.options.computations->LeavesReached(*loop_.while_condition(), {0, from})
               .empty()) {
        pending.push_back(from);
      }
    }
    while (!pending.empty()) {
      const int64_t next = pending.back();
      pending.pop_back();
      if ((*leads)[next]) continue;
      (*leads)[next] = true;
      pending.insert(pending.end(), before[next].begin(), before[next].end());
    }
  }
  return (*leads)[leaf];
}

bool LoopBody::HasDevices() const {
  if (!memo_.has_devices) memo_.has_devices = DevicesAcrossWhich(*loop_.while_body()).has_value();
  return *memo_.has_devices;
}

bool LoopBody::IsBeyondClosing() const {
  if (!memo_.is_beyond_closing) {
    const auto is_stopped = [&](int64_t leaf) {
      const InstructionIndexing& entries = EntriesOf(leaf);
      return !entries.empty() && llvm::all_of(entries, [](const IndexingEntry& entry) {
        return absl::StrContains(entry.indexing.label().reason, kTooManySteps);
      });
    };
    // Nothing comes of a loop whose steps alone take most of what a question may.
    const int64_t least_left = QuestionBudget::Left() / 4;
    size_t stopped = 0;
    memo_.is_beyond_closing =
        loop_.shape().LeafCount() >= kManyLeaves &&
        llvm::any_of(ChangedLeaves(), [&](int64_t leaf) {
          stopped += is_stopped(leaf) ? 1 : 0;
          return stopped > kFewStoppedLeaves || QuestionBudget::Left() < least_left;
        });
  }
  return *memo_.is_beyond_closing;
}

std::string LoopBody::WhyAnyValue(const RuntimeVarIndexing& value) const {
  const std::string any = absl::StrCat("values that differ from iteration to iteration of ",
                                       loop_.name(), " may have any value");
  if (!IsOfState(value)) {
    return absl::StrCat(any, ", and so may ", value.instruction->name(),
                        ", which is computed in it");
  }
  if (!counter().counts.has_upper()) {
    return absl::StrCat("the number of iterations of ", loop_.name(),
                        " is not known, nor what leaf ", value.leaf, " of its state is in each");
  }
  return absl::StrCat(any, ", and so may leaf ", value.leaf, " of its state");
}

OperandIndexing LoopBody::WithInnerValues(OperandIndexing timed, AffineExpr number,
                                          bool keeps_values) const {
  std::vector<std::optional<Interval>> intervals(timed.bindings().size());
  bool has_ranges = false;
  for (size_t i = 0; i < intervals.size(); ++i) {
    RuntimeVarIndexing binding = timed.bindings()[i];
    if (binding.call_path.empty() || binding.call_path.front() != &loop_) continue;
    if (IsOfState(binding) && PassesThrough(binding.leaf)) {
      binding.call_path.clear();
      binding.instruction = loop_.operand(0);
      timed.SetBinding(kPartsFit, static_cast<int>(i), std::move(binding));
      continue;
    }
    if (keeps_values) {
      std::vector<RuntimeVarIndexing>& values = memo_.values;
      const auto same = llvm::find_if(
          values, [&](const RuntimeVarIndexing& value) { return IsSameScalar(value, binding); });
      if (same == values.end()) {
        values.push_back(binding);
      } else if (binding.value.kind() != ValueFunction::Kind::kIterations) {
        binding.call_path = same->call_path;
        binding.instruction = same->instruction;
        binding.leaf = same->leaf;
      }
      // What is the same in all iterations is what it is in the first one.
      const bool is_same = IsSameInAllIterations(binding, loop_, counted_.passes_through);
      binding.element.insert(binding.element.begin(),
                             is_same ? Constant(0, timed.map().context()) : number);
      timed.SetBinding(kPartsFit, static_cast<int>(i), std::move(binding));
      continue;
    }
    has_ranges = true;
    timed.Weaken(ExactnessLabel::OverApproximate(WhyAnyValue(binding)));
    intervals[i] = Interval::All();
  }
  if (has_ranges) timed = WithRanges(timed, intervals);
  timed.Simplify();
  return timed;
}

// What is known in the iteration of this number.
class LoopBody::StateInIteration : public KnownScalars {
 public:
  StateInIteration(const LoopBody& body, AffineExpr number, bool tells_initial_values_apart)
      : KnownScalars(
            *body.build_.options.computations, number.getContext(),
            tells_initial_values_apart ? TellsApart::kInitialValues : TellsApart::kNothing),
        body_(body),
        number_(number) {}

  const HloInstruction* loop() const override { return &body_.loop_; }
  AffineExpr ValueOfState(int64_t leaf) const override {
    return body_.counter().ValueOf(leaf, number_);
  }
  bool IsInitial(int64_t leaf) const override { return body_.PassesThrough(leaf); }
  AffineExpr AddedTo(int64_t leaf) const override { return body_.counter().AddedTo(leaf, number_); }

 private:
  const LoopBody& body_;
  AffineExpr number_;
};

OperandIndexingSet LoopBody::Timed(const OperandIndexingSet& maps, TimeAt place,
                                   std::optional<StepValues> values) const {
  mlir::MLIRContext* context = build_.mlir_context;
  const AffineExpr time = mlir::getAffineDimExpr(0, context);
  const AffineExpr one = Constant(1, context);
  const Interval until_end = Times();
  // The number of the iteration, and the times at which there is one.
  AffineExpr number = time;
  AffineExpr result;
  Interval times = until_end;
  if (place == TimeAt::kBothForward) {
    result = Add(time, one);
    times = until_end.Intersect(until_end.Sub(1));
  } else if (place == TimeAt::kBothBackward) {
    number = Sub(time, one);
    result = number;
    times = until_end.Intersect(until_end.Add(1));
  } else if (place == TimeAt::kResult) {
    result = time;
  }
  FoldOptions folding;
  folding.rebind_through_data_movement = true;
  folding.keeps_empty = true;
  const StateInIteration state(*this, number, values == StepValues::kOfBeginning);
  folding.environment = &state;
  OperandIndexingSet timed;
  for (const OperandIndexing& map : maps) {
    if (map.IsUnknown()) {
      timed.Add(map);
      continue;
    }
    const OperandIndexing with_time = AddTime(map, times, result);
    if (map.bindings().empty() || with_time.IsUnknown() || times.IsEmpty()) {
      timed.Add(with_time);
      continue;
    }
    for (const OperandIndexing& folded : FoldRuntimeVariables(with_time, folding)) {
      timed.Add(WithInnerValues(folded, number, values.has_value()));
    }
  }
  timed.Simplify();
  return timed;
}

const LeafSets& LoopBody::TimedStepsOf(int64_t leaf) const {
  const auto [it, is_new] = memo_.timed_steps.try_emplace(leaf);
  if (!is_new) return it->second;
  for (const IndexingEntry& entry : EntriesOf(leaf)) {
    OperandIndexingSet timed =
        Timed(entry.indexing, is_forward_ ? TimeAt::kBothForward : TimeAt::kBothBackward);
    memo_.written.Do(&timed, WriteWithFewMaps);
    if (!timed.empty()) it->second[LeadsTo(entry)] = std::move(timed);
  }
  return it->second;
}

const LeafSets& LoopBody::ValuedStepsOf(int64_t leaf, StepValues values) const {
  const auto [it, is_new] = memo_.valued_steps.try_emplace({values, leaf});
  if (!is_new) return it->second;
  for (const IndexingEntry& entry : EntriesOf(leaf)) {
    OperandIndexingSet timed =
        Timed(entry.indexing, is_forward_ ? TimeAt::kBothForward : TimeAt::kBothBackward, values);
    memo_.joined.Do(&timed, [](OperandIndexingSet* set) {
      JoinOverValues(set);
      WriteWithFewMaps(set);
    });
    if (!timed.empty()) it->second[LeadsTo(entry)] = std::move(timed);
  }
  return it->second;
}

bool LoopBody::IsWholeLeaf(const OperandIndexing& map, int64_t from, int64_t to) const {
  return !map.IsExact() &&
         OperandIndexing::IdenticalRelation(
             map, WholeTensorIndexing(Leaf(from), Leaf(to), "", build_.mlir_context));
}

OperandIndexingSet LoopBody::TimedCondition(const OperandIndexingSet& maps, bool to_state) const {
  return Timed(maps, to_state ? TimeAt::kResult : TimeAt::kDimension);
}

OperandIndexingSet LoopBody::InAnyIteration(const OperandIndexingSet& maps) const {
  OperandIndexingSet resolved;
  for (const OperandIndexing& map : maps) {
    if (map.bindings().empty()) {
      resolved.Add(map);
      continue;
    }
    for (const OperandIndexing& timed : Timed(OperandIndexingSet(map), TimeAt::kResult)) {
      // A map may be there at some times only.
      bool depends = !timed.IsUnknown() && timed.map().dims()[0].bounds != Times();
      OperandIndexing without = DropTime(timed, Interval::All(), 1, &depends);
      if (depends) {
        without.Weaken(ExactnessLabel::OverApproximate(
            absl::StrCat("values that differ from iteration to iteration of ", loop_.name(),
                         " may have any value")));
      }
      without.Simplify();
      resolved.Add(std::move(without));
    }
  }
  return resolved;
}

}  // namespace xla_indexing::internal
