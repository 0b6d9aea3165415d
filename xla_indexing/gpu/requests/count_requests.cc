#include "xla_indexing/gpu/requests/count_requests.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/requests/request_costs.h"
#include "xla_indexing/gpu/requests/request_lanes.h"
#include "xla_indexing/gpu/requests/shift_counts.h"
#include "xla_indexing/gpu/requests/stretch.h"

namespace xla_indexing::internal {
namespace {

// How many values of launch variables are tried together; past it they are taken for free.
constexpr int64_t kMaxLaunches = 4096;
// A variable of no more values is not bisected but tried out.
constexpr int64_t kFewValues = 4;
// What looking at a part of the launch costs, in lanes.
constexpr int64_t kStepsOfPart = 8;
// What is done in a step: points of a request are evaluated and compared, shifts are looked up. A
// run of bits is measured.
constexpr int64_t kComparesOfStep = 48;
constexpr int64_t kLookUpsOfStep = 8;
// How many of them are one of the question's budget (base/question_budget.h).
constexpr int64_t kStepsInOneOfQuestion = 8;

constexpr VariableSet Bit(int variable) { return VariableSet{1} << variable; }

RequestCost Least(const RequestCost& a, const RequestCost& b) {
  return {std::min(a.units, b.units), std::min(a.least, b.least), std::min(a.other, b.other)};
}
RequestCost Greatest(const RequestCost& a, const RequestCost& b) {
  return {std::max(a.units, b.units), std::max(a.least, b.least), std::max(a.other, b.other)};
}

class Counter {
 public:
  Counter(LaunchAccess* access, const RequestMeter& meter, int64_t max_steps)
      : access_(*access),
        program_(access->program),
        meter_(meter),
        modulus_(meter.modulus()),
        steps_left_(std::max<int64_t>(max_steps, 0)),
        lanes_(*access),
        costs_(meter, &steps_left_) {}

  RequestTotals Run();
  int64_t steps_left() const { return steps_left_; }

 private:
  using Indices = llvm::SmallVector<int, 4>;

  bool IsFixed(int variable) const { return program_.variable(variable).IsPoint(); }
  template <typename Visit>
  void ForEachIn(VariableSet set, Visit visit) const {
    for (int v = 0; v < program_.num_variables(); ++v) {
      if ((set & Bit(v)) != 0) visit(v);
    }
  }
  // The variables of the set that have more than one value left.
  VariableSet Unfixed(VariableSet set) const;

  bool Take(int64_t steps) {
    if (steps > steps_left_) return false;
    steps_left_ -= steps;
    return true;
  }

  llvm::SmallVector<MovingTerm, 4> TermsOf(int step, VariableSet variables) const;
  void SetAsideFreeVariables();
  std::optional<int64_t> PeriodOf(int variable, llvm::ArrayRef<int> constraints) const;
  // How many values of a variable there are to look at: its period, where that is less.
  int64_t NumValues(int variable, llvm::ArrayRef<int> constraints) const {
    const int64_t size = program_.variable(variable).Size();
    return std::min(size, PeriodOf(variable, constraints).value_or(size));
  }

  void Count(Int128 weight);
  std::optional<int> GreatestVariableOf(int step) const;
  bool SplitLinear(llvm::ArrayRef<int> open, Int128 weight);
  void CountValues(int variable, ValueRange values, Int128 weight);
  void Enumerate(VariableSet candidates, VariableSet bisected, llvm::ArrayRef<int> open,
                 Int128 weight);
  void CountPeriod(int variable, int64_t period, Int128 weight);
  void CountStretches(int variable, int64_t period, llvm::ArrayRef<int> open, Int128 weight);
  RequestCost MostOfRequest() const {
    return meter_.Most(lanes_.num_points(), access_.width, access_.extent);
  }
  void AddBounds(Int128 weight);

  // How the outer variables that are only added move the lanes. All values of those that do not
  // count come with each: they multiply the weight.
  llvm::SmallVector<MovingTerm, 4> MovesOf(VariableSet outer, Int128* weight) const;
  // A leaf: the requests of the outer variables that are left, whose lanes move alike, and of a
  // stretch of values of the one that was fixed last.
  void CountLeaf(const Stretch& stretch, Int128 weight);
  void MeasureLeaf(const LaneRuns& lanes, const Stretch& stretch, llvm::ArrayRef<MovingTerm> moving,
                   Int128 weight);
  void MeasureFree(llvm::ArrayRef<LaneRuns> groups, const ShiftCounts& shifts);
  struct CostBounds {
    RequestCost least;
    RequestCost most;
  };
  std::optional<CostBounds> BoundsOfGroups(llvm::ArrayRef<LaneRuns> groups,
                                           const ShiftCounts& shifts, int64_t shift);
  // Adds requests of lanes that are active, wherever they are.
  void AddAnywhere(Int128 count) {
    worst_is_known_ = false;
    totals_.Add(count, {1, 1, 1}, MostOfRequest());
  }
  void OfferWorst(const RequestCost& cost, const ShiftCounts& shifts, int64_t shift,
                  int64_t free_shift = 0);

  LaunchAccess& access_;
  AccessProgram& program_;
  const RequestMeter& meter_;
  const int64_t modulus_;
  int64_t steps_left_;
  VariableSet outer_ = 0;
  bool lanes_are_apart_ = false;  // Free values may differ even where keys do not say so.
  ShiftCounts free_shifts_;

  RequestLanes lanes_;
  RequestCosts costs_;
  RequestTotals totals_;  // of one launch
  bool worst_is_known_ = true;
  std::optional<RequestPoint> worst_;
};

VariableSet Counter::Unfixed(VariableSet set) const {
  VariableSet unfixed = 0;
  ForEachIn(set, [&](int v) {
    if (!IsFixed(v)) unfixed |= Bit(v);
  });
  return unfixed;
}

// Gives free variables one value; what they add to the cost is counted separately.
void Counter::SetAsideFreeVariables() {
  const VariableSet free = access_.free;
  if (free == 0) return;
  const auto has_free = [&](int step) { return (program_.VariablesOf(step) & free) != 0; };
  lanes_are_apart_ = llvm::any_of(access_.keys, has_free);
  if (lanes_are_apart_) access_.keys.clear();
  // Whether a point is there is not known where it depends on one.
  const size_t constraints = access_.constraints.size();
  llvm::erase_if(access_.constraints,
                 [&](const StepConstraint& constraint) { return has_free(constraint.step); });
  access_.may_be_fewer |= access_.constraints.size() < constraints;
  access_.may_be_anywhere |= (program_.DividedVariablesOf(access_.address) & free) != 0;
  if (access_.may_be_anywhere) return;
  const auto moving = TermsOf(access_.address, free);
  for (const MovingTerm& term : moving) {
    program_.Narrow(term.variable, {term.values.lower, term.values.lower});
  }
  free_shifts_ = ShiftCounts(moving, modulus_);
}

// What is added of these variables.
llvm::SmallVector<MovingTerm, 4> Counter::TermsOf(int step, VariableSet variables) const {
  llvm::SmallVector<MovingTerm, 4> terms;
  ForEachIn(variables, [&](int v) {
    const int64_t coefficient = program_.CoefficientOf(step, v);
    if (coefficient != 0) terms.push_back({v, coefficient, program_.variable(v)});
  });
  return terms;
}

// The number of values after which nothing that is counted changes: where A(v + P) = A(v) + c, the
// period P times the number of repetitions that take c to a multiple of the modulus.
std::optional<int64_t> Counter::PeriodOf(int variable, llvm::ArrayRef<int> constraints) const {
  const auto shifts = program_.ShiftsOf(variable);
  const std::optional<Shift>& address = shifts[access_.address];
  if (!address) return std::nullopt;
  std::optional<int64_t> period =
      CheckedMul(address->period, modulus_ / Gcd(modulus_, address->change));
  const auto join = [&](int step, bool may_change) {
    const std::optional<Shift>& shift = shifts[step];
    if (!shift || (shift->change != 0 && !may_change)) period = std::nullopt;
    if (period) period = CheckedMul(*period / Gcd(*period, shift->period), shift->period);
  };
  for (const int key : access_.keys) join(key, /*may_change=*/true);
  for (const int i : constraints) join(access_.constraints[i].step, /*may_change=*/false);
  return period;
}

RequestTotals Counter::Run() {
  if (access_.is_empty || !program_.ok()) return {};
  program_.UpdateRanges();
  Indices all;
  for (size_t i = 0; i < access_.constraints.size(); ++i) all.push_back(static_cast<int>(i));
  VariableSet launch = Unfixed(access_.launch);
  int64_t launches = 1;
  ForEachIn(launch, [&](int v) {
    launches = std::min(kMaxLaunches + 1, launches * std::min(NumValues(v, all), kMaxLaunches + 1));
  });
  if (launches > kMaxLaunches) {
    access_.free |= launch;
    launch = 0;
  }
  SetAsideFreeVariables();
  VariableSet variables = 0;
  for (int v = 0; v < program_.num_variables(); ++v) variables |= Bit(v);
  outer_ = variables & ~access_.inner & ~access_.free & ~access_.launch;

  std::optional<RequestTotals> result;
  llvm::SmallVector<std::pair<int, int64_t>, 2> tried;  // launch variables and numbers of values
  ForEachIn(launch, [&](int v) { tried.push_back({v, NumValues(v, all)}); });
  llvm::SmallVector<int64_t, 2> at(tried.size());
  llvm::SmallVector<int64_t, 2> lower;
  for (const auto& [v, count] : tried) lower.push_back(program_.variable(v).lower);
  while (true) {
    for (size_t i = 0; i < tried.size(); ++i) {
      program_.Narrow(tried[i].first, {lower[i] + at[i], lower[i] + at[i]});
    }
    totals_ = {};
    Count(1);
    if (!result) {
      result = totals_;
    } else {
      result->Hull(totals_);
    }
    size_t i = 0;
    while (i < tried.size() && ++at[i] == tried[i].second) at[i++] = 0;
    if (i == tried.size()) break;
  }
  if (access_.may_be_fewer) {
    for (RequestBounds* bounds :
         {&result->requests, &result->units, &result->least, &result->other}) {
      bounds->least = 0;
    }
  }
  if (worst_is_known_ && !access_.may_be_fewer) result->worst = std::move(worst_);
  return *std::move(result);
}

void Counter::Count(Int128 weight) {
  program_.UpdateRanges();
  Indices open;
  for (size_t i = 0; i < access_.constraints.size(); ++i) {
    const StepConstraint& constraint = access_.constraints[i];
    const ValueRange& values = program_.range(constraint.step);
    if (values.lower > constraint.interval.upper || values.upper < constraint.interval.lower) {
      // There is nothing in this part, but to come here takes time.
      Take(std::min<int64_t>(steps_left_, 1));
      return;
    }
    if (values.lower < constraint.interval.lower || values.upper > constraint.interval.upper) {
      open.push_back(static_cast<int>(i));
    }
  }
  if (!Take(kStepsOfPart)) return AddBounds(weight);
  if (SplitLinear(open, weight)) return;
  VariableSet bisected = 0;
  for (const int i : open) bisected |= program_.DividedVariablesOf(access_.constraints[i].step);
  VariableSet divided = bisected | program_.DividedVariablesOf(access_.address);
  for (const int key : access_.keys) divided |= program_.DividedVariablesOf(key);
  if (const VariableSet candidates = Unfixed(divided & outer_); candidates != 0) {
    return Enumerate(candidates, bisected, open, weight);
  }
  CountLeaf({.open = open}, weight);
}

// The outer variable that is added with the greatest effect, and not divided.
std::optional<int> Counter::GreatestVariableOf(int step) const {
  std::optional<int> best;
  Int128 best_effect = 0;
  for (const MovingTerm& term :
       TermsOf(step, Unfixed(outer_ & ~program_.DividedVariablesOf(step)))) {
    Int128 effect = Int128{term.coefficient} * (Int128{term.values.upper} - term.values.lower);
    if (effect < 0) effect = -effect;
    if (effect > best_effect) {
      best = term.variable;
      best_effect = effect;
    }
  }
  return best;
}

// Splits by the first such variable.
bool Counter::SplitLinear(llvm::ArrayRef<int> open, Int128 weight) {
  for (const int i : open) {
    const StepConstraint& constraint = access_.constraints[i];
    const std::optional<int> best = GreatestVariableOf(constraint.step);
    if (!best) continue;
    // k*v + rest in [lower, upper]; mirrored where k is negative.
    const int v = *best;
    const int64_t coefficient = program_.CoefficientOf(constraint.step, v);
    const int64_t k = coefficient < 0 ? -coefficient : coefficient;
    const bool is_mirrored = coefficient < 0;
    const ValueRange values = program_.variable(v);
    const ValueRange u = is_mirrored ? ValueRange{-values.upper, -values.lower} : values;
    const ValueRange all = program_.range(constraint.step);
    const Int128 rest_lower = all.lower - Int128{k} * u.lower;
    const Int128 rest_upper = all.upper - Int128{k} * u.upper;
    const auto at_least = [&](Int128 x) {
      const Int128 q = x / k + (x % k > 0 ? 1 : 0);
      return static_cast<int64_t>(std::clamp<Int128>(q, u.lower, Int128{u.upper} + 1));
    };
    const auto at_most = [&](Int128 x) {
      const Int128 q = x / k - (x % k < 0 ? 1 : 0);
      return static_cast<int64_t>(std::clamp<Int128>(q, Int128{u.lower} - 1, u.upper));
    };
    const ValueRange possible{at_least(constraint.interval.lower - rest_upper),
                              at_most(constraint.interval.upper - rest_lower)};
    ValueRange certain{at_least(constraint.interval.lower - rest_lower),
                       at_most(constraint.interval.upper - rest_upper)};
    if (possible.lower > possible.upper) return true;
    const auto as_v = [&](ValueRange range) {
      return is_mirrored ? ValueRange{-range.upper, -range.lower} : range;
    };
    if (certain.lower > certain.upper) {
      CountValues(v, as_v(possible), weight);
    } else {
      if (possible.lower < certain.lower) {
        CountValues(v, as_v({possible.lower, certain.lower - 1}), weight);
      }
      program_.Narrow(v, as_v(certain));
      Count(weight);
      if (certain.upper < possible.upper) {
        CountValues(v, as_v({certain.upper + 1, possible.upper}), weight);
      }
    }
    program_.Narrow(v, values);
    return true;
  }
  return false;
}

// Each value by itself.
void Counter::CountValues(int variable, ValueRange values, Int128 weight) {
  if (values.Size() > steps_left_ / kStepsOfPart) {
    program_.Narrow(variable, values);
    return AddBounds(weight);
  }
  for (int64_t value = values.lower; value <= values.upper; ++value) {
    if (steps_left_ < kStepsOfPart) {
      program_.Narrow(variable, {value, values.upper});
      return AddBounds(weight);
    }
    program_.Narrow(variable, {value, value});
    Count(weight);
  }
}

// Takes the variable that has the fewest different values.
void Counter::Enumerate(VariableSet candidates, VariableSet bisected, llvm::ArrayRef<int> open,
                        Int128 weight) {
  int best = -1;
  int64_t best_count = 0;
  bool is_periodic = false;
  ForEachIn(candidates, [&](int v) {
    const int64_t count = NumValues(v, open);
    if (best >= 0 && count >= best_count) return;
    best = v;
    best_count = count;
    is_periodic = count < program_.variable(v).Size();
  });
  const ValueRange values = program_.variable(best);
  if (std::has_single_bit(candidates) && access_.free == 0) {
    CountStretches(best, best_count, open, weight);
  } else if (is_periodic) {
    CountPeriod(best, best_count, weight);
  } else if ((bisected & Bit(best)) != 0 && best_count > kFewValues) {
    const int64_t middle = std::midpoint(values.lower, values.upper);
    program_.Narrow(best, {values.lower, middle});
    Count(weight);
    program_.Narrow(best, {middle + 1, values.upper});
    Count(weight);
  } else {
    CountValues(best, values, weight);
  }
  program_.Narrow(best, values);
}

void Counter::CountPeriod(int variable, int64_t period, Int128 weight) {
  const ValueRange values = program_.variable(variable);
  const int64_t size = values.Size();
  if (period > steps_left_ / kStepsOfPart) return AddBounds(weight);
  for (int64_t r = 0; r < period; ++r) {
    if (steps_left_ < kStepsOfPart) {
      // The rest are the values after r in each period.
      program_.Narrow(variable, {values.lower, values.lower + (size - 1) / period});
      return AddBounds(TimesCount(weight, period - r));
    }
    program_.Narrow(variable, {values.lower + r, values.lower + r});
    Count(TimesCount(weight, (size - 1 - r) / period + 1));
  }
}

// The last variable that is divided, by stretches of the values of one period.
void Counter::CountStretches(int variable, int64_t period, llvm::ArrayRef<int> open,
                             Int128 weight) {
  const ValueRange values = program_.variable(variable);
  const int64_t size = values.Size();
  // The first `more` values of a period come up once more than the others.
  const int64_t more = size % period;
  const auto used = program_.program().StepsOf(access_.StepsOf(open));
  for (int64_t r = 0; r < period;) {
    program_.Narrow(variable, {values.lower + r, values.lower + r});
    if (!Take(kStepsOfPart)) {
      const Int128 left = Int128{size / period} * (period - r) + std::max<int64_t>(more - r, 0);
      return AddBounds(TimesCount(weight, left));
    }
    program_.UpdateRanges();
    Stretch stretch = StretchAt(access_, variable, used, open, modulus_);
    stretch.length = std::min(stretch.length, (r < more ? more : period) - r);
    if (stretch.is_active) {
      CountLeaf(stretch, TimesCount(weight, size / period + (r < more ? 1 : 0)));
    }
    r += stretch.length;
  }
}

void Counter::AddBounds(Int128 weight) {
  ForEachIn(Unfixed(outer_),
            [&](int v) { weight = TimesCount(weight, program_.variable(v).Size()); });
  worst_is_known_ = false;
  totals_.AddAtMost(weight, MostOfRequest());
}

llvm::SmallVector<MovingTerm, 4> Counter::MovesOf(VariableSet outer, Int128* weight) const {
  auto moving = TermsOf(access_.address, outer);
  for (const MovingTerm& term : moving) outer &= ~Bit(term.variable);
  ForEachIn(outer, [&](int v) { *weight = TimesCount(*weight, program_.variable(v).Size()); });
  return moving;
}

void Counter::CountLeaf(const Stretch& stretch, Int128 weight) {
  const int64_t points = lanes_.num_points();
  const int compares = std::bit_width(static_cast<uint64_t>(points));  // of each point
  if (!Take(CeilDiv(points * compares, kComparesOfStep))) {
    return AddBounds(TimesCount(weight, stretch.length));
  }
  lanes_.Evaluate(stretch.open);
  const auto moving = MovesOf(Unfixed(outer_), &weight);
  if (access_.free == 0) {
    const LaneRuns all = lanes_.All();
    if (!all.runs.empty()) MeasureLeaf(all, stretch, moving, weight);
    return;
  }
  const std::vector<LaneRuns> groups = lanes_.Groups(lanes_are_apart_);
  if (!groups.empty()) MeasureFree(groups, ShiftCounts(moving, modulus_, weight));
}

void Counter::MeasureLeaf(const LaneRuns& lanes, const Stretch& stretch,
                          llvm::ArrayRef<MovingTerm> moving, Int128 weight) {
  llvm::SmallVector<MovingTerm, 4> all(moving);
  if (stretch.length > 1) {
    all.push_back({stretch.variable, stretch.slope, {0, stretch.length - 1}});
  }
  const ShiftCounts shifts(all, modulus_, weight);
  if (!Take(shifts.size() / kLookUpsOfStep)) {
    return AddAnywhere(shifts.Total());
  }
  costs_.Select(lanes);
  std::optional<RequestCost> worst;
  for (int64_t i = 0; i < shifts.size(); ++i) {
    const Int128 count = shifts.CountAt(i);
    if (count == 0) continue;
    const RequestCost* cost = costs_.At(i * shifts.granularity());
    if (cost == nullptr) {
      AddAnywhere(count);
      continue;
    }
    totals_.Add(count, *cost, *cost);
    if (!worst || IsWorse(*cost, *worst)) worst = *cost;
  }
  if (!worst || (worst_ && !IsWorse(*worst, worst_->cost))) return;
  // The first value of the stretch with such a request, and then the first shift of the others.
  const ShiftCounts others(moving, modulus_);
  for (int64_t x = 0; x < std::min(stretch.length, modulus_); ++x) {
    for (int64_t i = 0; i < others.size(); ++i) {
      if (others.CountAt(i) == 0) continue;
      const RequestCost* cost = costs_.At(x * stretch.slope + i * others.granularity());
      if (cost == nullptr || IsWorse(*worst, *cost)) continue;
      OfferWorst(*cost, others, i);
      if (x > 0) worst_->values[stretch.variable] += x;
      return;
    }
  }
}

void Counter::MeasureFree(llvm::ArrayRef<LaneRuns> groups, const ShiftCounts& shifts) {
  if (access_.may_be_anywhere) return AddAnywhere(shifts.Total());
  worst_is_known_ = worst_is_known_ && groups.size() == 1;
  for (int64_t i = 0; i < shifts.size(); ++i) {
    const Int128 count = shifts.CountAt(i);
    if (count == 0) continue;
    const std::optional<CostBounds> bounds = BoundsOfGroups(groups, shifts, i);
    bounds ? totals_.Add(count, bounds->least, bounds->most) : AddAnywhere(count);
  }
}

// Whatever the free values are; nullopt if steps do not suffice.
std::optional<Counter::CostBounds> Counter::BoundsOfGroups(llvm::ArrayRef<LaneRuns> groups,
                                                           const ShiftCounts& shifts,
                                                           int64_t shift) {
  CostBounds bounds;
  int64_t elements = 0;
  for (const LaneRuns& lanes : groups) {
    if (!Take(free_shifts_.size() / kLookUpsOfStep)) return std::nullopt;
    costs_.Select(lanes);
    std::optional<RequestCost> low;
    RequestCost high;
    for (int64_t i = 0; i < free_shifts_.size(); ++i) {
      if (free_shifts_.CountAt(i) == 0) continue;
      const RequestCost* cost =
          costs_.At(shift * shifts.granularity() + i * free_shifts_.granularity());
      if (cost == nullptr) return std::nullopt;
      low = low ? Least(*low, *cost) : *cost;
      high = Greatest(high, *cost);
      if (worst_is_known_) OfferWorst(*cost, shifts, shift, i);
    }
    // Groups may share everything, or nothing.
    bounds.least = Greatest(bounds.least, *low);
    bounds.most = {bounds.most.units + high.units, bounds.most.least + high.least,
                   bounds.most.other + high.other};
    for (const BitRun& run : lanes.runs) elements += (run.end - run.begin) / access_.width;
  }
  bounds.most = Least(bounds.most, meter_.Most(elements, access_.width, access_.extent));
  return bounds;
}

void Counter::OfferWorst(const RequestCost& cost, const ShiftCounts& shifts, int64_t shift,
                         int64_t free_shift) {
  if (worst_ && !IsWorse(cost, worst_->cost)) return;
  RequestPoint point;
  point.cost = cost;
  for (int v = 0; v < program_.num_variables(); ++v)
    point.values.push_back(program_.variable(v).lower);
  shifts.FindValues(shift, &point.values);
  free_shifts_.FindValues(free_shift, &point.values);
  worst_ = std::move(point);
}

}  // namespace

RequestTotals CountRequests(LaunchAccess access, const RequestMeter& meter, int64_t max_steps) {
  const int64_t left = QuestionBudget::Left();
  if (left < max_steps / kStepsInOneOfQuestion) max_steps = left * kStepsInOneOfQuestion;
  Counter counter(&access, meter, max_steps);
  RequestTotals totals = counter.Run();
  QuestionBudget::Spend((max_steps - counter.steps_left()) / kStepsInOneOfQuestion);
  return totals;
}

}  // namespace xla_indexing::internal
