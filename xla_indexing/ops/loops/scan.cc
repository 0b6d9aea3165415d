// Scan along dimension k, of n steps t = 0, .., n-1 (is_reverse: n-1, .., 0):
//
//   (o_1[t], .., c_1', ..) = f(x_1[t], .., c_1, ..)
//
// where x[t] is the slice of the input x at t, o[t] that of the output o, and the carries begin
// with the last operands and end as the last results.
//
// It is a loop whose state are the carries, and f is its body. Ways through it
// (ops/loops/closure/loop_closure.h) begin with a slice of the *near* arrays, those that are asked
// about, at its step, or with a carry at the end of the loop that is near; they end with a slice of the *far* arrays, at
// any step, or with a carry at the other end. From output to input outputs are near, inputs far.
//
// Where there is no closed form, all that is a step or more away is whole slices, over-approximate.
// Values inside f are of one step, and may have any value, over-approximate.
//
// Example: a cumulative sum, o[t] = c' = x[t] + c. From o[d0] at time d0 + 1 a step leads to x[d0]
// and to c at time d0, from where the ways lead to c at all earlier times and, each by one step
// more, to x before d0: (d0)[s0] -> (s0), d0 - s0 in [0, n - 1].

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/loop_ends.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/loops/closure/loop_closure.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/other_devices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// `map`, which has no runtime variables, with these results, and with more ranges and constraints.
OperandIndexing WithResults(const OperandIndexing& map, llvm::ArrayRef<AffineExpr> results,
                            llvm::ArrayRef<Variable> more_ranges = {}, Constraints more = {}) {
  Renaming renaming;
  renaming.dims = Variables(map.map().dims());
  renaming.ranges = Variables(map.map().ranges());
  renaming.ranges.append(more_ranges.begin(), more_ranges.end());
  renaming.results_dropped = map.map().num_results();
  renaming.results_added.assign(results.begin(), results.end());
  renaming.constraints_added = std::move(more);
  return Renamed(map, std::move(renaming));
}

// The leaves are the carries, the slices of the near arrays, and the far arrays.
class ScanSteps : public LoopSteps {
 public:
  // Keeps a reference.
  ScanSteps(BuildContext& build, Direction direction)
      : LoopSteps(build.instruction, direction,
                  build.options.computations->MemoOf(build.instruction, direction)),
        build_(build),
        carries_(*loop_.GetInteger(AttributeKey::kNumCarries)),
        dim_(loop_.dimensions()[0]),
        steps_(loop_.operand(0)->shape().dimension(dim_)) {
    const int64_t inputs = loop_.operand_count() - carries_;
    const int64_t outputs = loop_.shape().LeafCount() - carries_;
    near_ = is_forward_ ? inputs : outputs;
    far_ = is_forward_ ? outputs : inputs;
  }

  // The leaf from which ways from a near leaf of the scan begin, and the far leaf of the scan that a
  // leaf is where they end, if it is one.
  int64_t FromNear(int64_t leaf) const { return leaf < near_ ? carries_ + leaf : leaf - near_; }
  std::optional<int64_t> ToFar(int64_t leaf) const {
    if (leaf < carries_) return far_ + leaf;
    return leaf < carries_ + near_ ? std::nullopt : std::optional(leaf - carries_ - near_);
  }

  Interval Counts() const override { return Interval::Point(steps_); }
  int64_t LeafCount() const override { return carries_ + near_ + far_; }
  bool PassesThrough(int64_t /*leaf*/) const override { return false; }
  const Shape& Leaf(int64_t leaf) const override {
    if (leaf < carries_ + near_) return Here(leaf);
    return ArrayAt(/*of_operands=*/!is_forward_, leaf - carries_ - near_);
  }

  const LeafSets& TimedStepsOf(int64_t leaf) const override {
    const auto [it, is_new] = memo_.timed_steps.try_emplace(leaf);
    if (!is_new || leaf >= carries_ + near_) return it->second;
    const int64_t here = leaf < carries_ ? near_ + leaf : leaf - carries_;
    const CalledComputation called{loop_, Function(), std::nullopt};
    for (const IndexingEntry& entry :
         is_forward_ ? build_.ReachOf(called, {here, 0}) : build_.ReadOf(called, here)) {
      const int64_t behind = is_forward_ ? entry.output_leaf : entry.operand;
      const int64_t to = behind < far_ ? carries_ + near_ + behind : behind - far_;
      OperandIndexingSet timed;
      for (const OperandIndexing& map : entry.indexing) {
        const OperandIndexing at_time = AddTime(OfAnyStep(map), TimesOfSteps(), {});
        timed.Add(AfterSteps(at_time, mlir::getAffineDimExpr(0, build_.mlir_context),
                             Constant(1, build_.mlir_context), to));
      }
      timed.Simplify();
      if (!timed.empty()) it->second[to] = std::move(timed);
    }
    return it->second;
  }

  // Where ways from a near leaf of the scan begin.
  LeafSets Start(int64_t near) const {
    const int64_t leaf = FromNear(near);
    OperandIndexing identity =
        IdentityIndexing(ArrayAt(/*of_operands=*/is_forward_, near), build_.mlir_context);
    if (near >= near_) {
      return {{leaf, LoopEnds(*this).Start(OperandIndexingSet(std::move(identity)), false)}};
    }
    llvm::SmallVector<AffineExpr, 4> results(identity.map().results());
    const AffineExpr step = Counted(results[dim_]);
    results.erase(results.begin() + dim_);
    results.insert(results.begin(),
                   is_forward_ ? step : Add(step, Constant(1, build_.mlir_context)));
    return {{leaf, OperandIndexingSet(WithResults(identity, results))}};
  }

  // Where ways from a near leaf of the scan lead to at any time.
  LeafSets Ways(int64_t near) const {
    const LeafSets start = Start(near);
    if (std::optional<LeafSets> ways = AllWays(*this, start)) return *std::move(ways);
    LeafSets ways = start;
    AddWholeSlices(near, &ways);
    return ways;
  }

 private:
  const HloComputation& Function() const { return *loop_.to_apply(); }
  // The shapes of the scan's own leaves, and of those from which a step starts.
  const Shape& ArrayAt(bool of_operands, int64_t leaf) const {
    return of_operands ? loop_.operand(leaf)->shape() : loop_.shape().Leaf(leaf);
  }
  const Shape& Here(int64_t leaf) const {
    const int64_t here = leaf < carries_ ? near_ + leaf : leaf - carries_;
    return is_forward_ ? Function().parameter(here)->shape()
                       : Function().root_instruction()->shape().Leaf(here);
  }

  // The times at which steps start.
  Interval TimesOfSteps() const {
    return is_forward_ ? Interval::OfSize(steps_) : Interval::OfSize(steps_).Add(1);
  }
  // The index of the slice of a step, or the step of a slice.
  AffineExpr Counted(AffineExpr index) const {
    if (!loop_.GetBool(AttributeKey::kIsReverse)) return index;
    return Sub(Constant(steps_ - 1, build_.mlir_context), index);
  }

  // `map`, from a place at `time` to a slice of f or a carry, with where it leads to after so many
  // steps as its first results.
  OperandIndexing AfterSteps(const OperandIndexing& map, AffineExpr time, AffineExpr steps,
                             int64_t to, llvm::ArrayRef<Variable> more_ranges = {}) const {
    if (map.IsUnknown()) return map;
    AffineExpr end = is_forward_ ? Add(time, steps) : Sub(time, steps);
    llvm::SmallVector<AffineExpr, 4> results(map.map().results());
    Constraints within_loop = {{end, Times()}};
    if (to >= carries_ + near_) {
      const AffineExpr step = is_forward_ ? Sub(end, Constant(1, build_.mlir_context)) : end;
      within_loop = {{step, Interval::OfSize(steps_)}};
      results.insert(results.begin() + dim_, Counted(step));
      // Whichever step it is, the way is at its end.
      end = Constant(is_forward_ ? steps_ : 0, build_.mlir_context);
    }
    results.insert(results.begin(), end);
    return WithResults(map, results, more_ranges, std::move(within_loop));
  }

  // Adds all slices and carries that are a step or more away from where ways from a near leaf of the
  // scan begin.
  void AddWholeSlices(int64_t near, LeafSets* ways) const {
    const std::string why =
        absl::StrCat("whole slices: the maps of ", loop_.name(), " are too many");
    const std::optional<int64_t> devices = DevicesAcrossWhich(Function());
    const AffineExpr begin = Start(near).begin()->second.maps()[0].map().results()[0];
    for (int64_t leaf = 0; leaf < far_ + carries_; ++leaf) {
      const Shape& slice = is_forward_ ? Function().root_instruction()->shape().Leaf(leaf)
                                       : Function().parameter(leaf)->shape();
      OperandIndexing whole =
          WholeTensorIndexing(ArrayAt(is_forward_, near), slice, why, build_.mlir_context);
      if (devices) {
        whole = OnAnyDevice(whole, Interval::OfSize(*devices), Interval::OfSize(*devices));
      }
      const AffineExpr number =
          mlir::getAffineSymbolExpr(whole.map().num_ranges(), build_.mlir_context);
      const int64_t to = leaf < far_ ? carries_ + near_ + leaf : leaf - far_;
      (*ways)[to].Add(
          AfterSteps(whole, begin, number, to, Variable{Interval::Closed(1, steps_), {}}));
    }
  }

  OperandIndexing OfAnyStep(OperandIndexing map) const {
    if (map.bindings().empty()) return map;
    map.Weaken(ExactnessLabel::OverApproximate(absl::StrCat(
        "values that differ from step to step of ", loop_.name(), " may have any value")));
    map = WithRanges(map,
                     std::vector<std::optional<Interval>>(map.bindings().size(), Interval::All()));
    map.Simplify();
    return map;
  }

  BuildContext& build_;
  const int64_t carries_;
  const int64_t dim_;
  const int64_t steps_;
  int64_t near_ = 0;
  int64_t far_ = 0;
};

bool LooksIntoFunction(const BuildContext& build) {
  const Shape& first = build.instruction.operand(0)->shape();
  return build.options.computations != nullptr &&
         !first.IsUnboundedDimension(build.instruction.dimensions()[0]);
}

void AddEntries(BuildContext& build, Direction direction, int64_t near) {
  const ScanSteps steps(build, direction);
  for (auto& [leaf, set] : LoopEnds(steps).AtEnd(steps.Ways(near))) {
    const std::optional<int64_t> far = steps.ToFar(leaf);
    if (!far) continue;
    steps.is_forward() ? build.Add(*far, near, 0, set) : build.Add(near, *far, 0, set);
  }
}

}  // namespace

void ScanOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (LooksIntoFunction(build)) {
    AddEntries(build, Direction::kOutputToInput, output_leaf);
  } else {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void ScanInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (LooksIntoFunction(build)) {
    AddEntries(build, Direction::kInputToOutput, operand);
  } else {
    UnanalysedInputToOutput(build, operand, operand_leaf);
  }
}

}  // namespace xla_indexing::internal
