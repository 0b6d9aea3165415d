#include "xla_indexing/gpu/internal/count_requests.h"

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
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/internal/class_costs.h"
#include "xla_indexing/gpu/internal/lane_classes.h"
#include "xla_indexing/gpu/internal/request_lanes.h"
#include "xla_indexing/gpu/internal/residue_counts.h"
#include "xla_indexing/gpu/internal/value_periods.h"

namespace xla_indexing::internal {
namespace {

// How many values of launch variables are tried together; past it they are taken for free.
constexpr int64_t kMaxLaunches = 4096;
// A variable of no more values is not bisected but tried out.
constexpr int64_t kFewValues = 4;
// What looking at a part of the launch costs, in lanes.
constexpr int64_t kStepsOfPart = 8;
// How many of them are one of the question's budget (base/question_budget.h).
constexpr int64_t kStepsInOneOfQuestion = 8;

constexpr VariableSet Bit(int variable) { return VariableSet{1} << variable; }

class Counter {
 public:
  Counter(LaunchAccess* access, const RequestMeter& meter, int64_t max_steps)
      : access_(*access),
        forms_(access->algebra),
        meter_(meter),
        modulus_(meter.modulus()),
        steps_left_(std::max<int64_t>(max_steps, 0)),
        lanes_(access, modulus_, meter.TakesCopies()) {}

  RequestTotals Run();
  int64_t steps_left() const { return steps_left_; }

 private:
  using Indices = llvm::SmallVector<int, 4>;

  bool IsFixed(int variable) const { return forms_.range(variable).IsPoint(); }
  template <typename Visit>
  void ForEachIn(VariableSet set, Visit visit) const {
    for (int v = 0; v < forms_.num_variables(); ++v) {
      if ((set & Bit(v)) != 0) visit(v);
    }
  }
  // The variables of the set that have more than one value left.
  VariableSet Unfixed(VariableSet set) const;

  // The number of elements of a request: the points of the inner variables.
  int64_t NumPoints() const {
    int64_t points = 1;
    ForEachIn(access_.inner, [&](int v) { points *= forms_.range(v).Size(); });
    return points;
  }

  bool Take(int64_t steps) {
    if (steps > steps_left_) return false;
    steps_left_ -= steps;
    return true;
  }

  void SetAsideFreeVariables();
  std::optional<int64_t> PeriodOf(int variable, llvm::ArrayRef<int> constraints) const {
    return internal::PeriodOf(access_, variable, constraints, modulus_);
  }
  void CountLaunches(VariableSet launch);

  void Count(Int128 weight);
  bool SplitLinear(llvm::ArrayRef<int> open, Int128 weight);
  void CountValues(int variable, ValueRange values, Int128 weight);
  void Enumerate(VariableSet candidates, VariableSet bisected, llvm::ArrayRef<int> open,
                 Int128 weight);
  void CountPeriod(int variable, int64_t period, Int128 weight);
  bool CountClasses(int variable, llvm::ArrayRef<int> open, Int128 weight);
  RequestCost MostOfRequest() const {
    return meter_.Most(NumPoints(), access_.width, access_.extent);
  }
  void AddBounds(Int128 weight);

  // How the outer variables that are only added move the lanes. All values of those that do not
  // count come with each: they multiply the weight.
  llvm::SmallVector<MovingTerm, 4> MovesOf(VariableSet outer, Int128* weight) const;
  // A leaf: the requests of the outer variables that are left, whose lanes move alike.
  void CountLeaf(llvm::ArrayRef<int> open, Int128 weight);
  void MeasureLeaf(const ResidueCounts& residues);
  void MeasureFree(const ResidueCounts& residues);
  void OfferWorst(const RequestCost& cost, const ResidueCounts& residues, int64_t residue,
                  int64_t free_residue = 0);

  LaunchAccess& access_;
  FormAlgebra& forms_;
  const RequestMeter& meter_;
  const int64_t modulus_;
  int64_t steps_left_;
  VariableSet outer_ = 0;
  bool lanes_are_apart_ = false;  // Free values may differ even where keys do not say so.
  ResidueCounts free_shifts_;

  RequestTotals totals_;  // of one launch
  bool worst_is_known_ = true;
  std::optional<RequestPoint> worst_;

  RequestLanes lanes_;  // of the leaf that is counted
  // Costs by shift, of the lanes that were measured last.
  RequestLanes::Runs measured_lanes_;
  int64_t measured_copies_ = 0;
  llvm::SmallVector<RequestCost, 0> measured_;
  int64_t measured_granularity_ = 0;
};

VariableSet Counter::Unfixed(VariableSet set) const {
  VariableSet unfixed = 0;
  ForEachIn(set, [&](int v) {
    if (!IsFixed(v)) unfixed |= Bit(v);
  });
  return unfixed;
}

// Takes free variables out of the forms; what they add to the cost is counted separately.
void Counter::SetAsideFreeVariables() {
  const VariableSet free = access_.free;
  if (free == 0) return;
  const auto has_free = [&](const Form& form) { return (forms_.VariablesOf(form) & free) != 0; };
  for (const Form& key : access_.keys) lanes_are_apart_ |= has_free(key);
  if (lanes_are_apart_) access_.keys.clear();
  // Whether a point is there is not known where it depends on one.
  for (const FormConstraint& constraint : access_.constraints) {
    access_.may_be_fewer |= has_free(constraint.form);
  }
  llvm::erase_if(access_.constraints,
                 [&](const FormConstraint& constraint) { return has_free(constraint.form); });
  access_.may_be_anywhere |= (forms_.DividedVariablesOf(access_.address) & free) != 0;
  llvm::SmallVector<MovingTerm, 4> moving;
  Form address = FormAlgebra::Constant(access_.address.constant);
  for (const FormTerm& term : access_.address.terms) {
    if (term.id < FormAlgebra::kMaxVariables && (Bit(term.id) & free) != 0) {
      const ValueRange values = forms_.range(term.id);
      address.constant += term.coefficient * values.lower;
      moving.push_back({term.id, term.coefficient, values});
    } else {
      address.terms.push_back(term);
    }
  }
  if (access_.may_be_anywhere) return;
  access_.address = address;
  free_shifts_ = ResidueCounts(moving, modulus_);
}

RequestTotals Counter::Run() {
  if (access_.is_empty || !forms_.ok()) return {};
  forms_.UpdateDivisionRanges();
  Indices all;
  for (size_t i = 0; i < access_.constraints.size(); ++i) all.push_back(static_cast<int>(i));
  VariableSet launch = Unfixed(access_.launch);
  int64_t launches = 1;
  ForEachIn(launch, [&](int v) {
    const int64_t size = forms_.range(v).Size();
    launches =
        std::min(kMaxLaunches + 1,
                 launches * std::min({size, PeriodOf(v, all).value_or(size), kMaxLaunches + 1}));
  });
  if (launches > kMaxLaunches) {
    access_.free |= launch;
    launch = 0;
  }
  SetAsideFreeVariables();
  VariableSet variables = 0;
  for (int v = 0; v < forms_.num_variables(); ++v) variables |= Bit(v);
  outer_ = variables & ~access_.inner & ~access_.free & ~access_.launch;

  std::optional<RequestTotals> result;
  llvm::SmallVector<std::pair<int, int64_t>, 2> tried;  // launch variables and numbers of values
  ForEachIn(launch, [&](int v) {
    const int64_t size = forms_.range(v).Size();
    tried.push_back({v, std::min(size, PeriodOf(v, all).value_or(size))});
  });
  llvm::SmallVector<int64_t, 2> at(tried.size());
  llvm::SmallVector<int64_t, 2> lower;
  for (const auto& [v, count] : tried) lower.push_back(forms_.range(v).lower);
  while (true) {
    for (size_t i = 0; i < tried.size(); ++i) {
      forms_.Narrow(tried[i].first, {lower[i] + at[i], lower[i] + at[i]});
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
  forms_.UpdateDivisionRanges();
  Indices open;
  for (size_t i = 0; i < access_.constraints.size(); ++i) {
    const FormConstraint& constraint = access_.constraints[i];
    const ValueRange values = forms_.RangeOf(constraint.form);
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
  for (const int i : open) bisected |= forms_.DividedVariablesOf(access_.constraints[i].form);
  VariableSet divided = bisected | forms_.DividedVariablesOf(access_.address);
  for (const Form& key : access_.keys) divided |= forms_.DividedVariablesOf(key);
  if (const VariableSet candidates = Unfixed(divided & outer_); candidates != 0) {
    return Enumerate(candidates, bisected, open, weight);
  }
  CountLeaf(open, weight);
}

// Splits by the outer variable that is added to a constraint with the greatest effect.
bool Counter::SplitLinear(llvm::ArrayRef<int> open, Int128 weight) {
  for (const int i : open) {
    const FormConstraint& constraint = access_.constraints[i];
    const VariableSet divided = forms_.DividedVariablesOf(constraint.form);
    const FormTerm* best = nullptr;
    Int128 best_effect = 0;
    for (const FormTerm& term : constraint.form.terms) {
      if (term.id >= FormAlgebra::kMaxVariables) break;
      if ((Bit(term.id) & outer_ & ~divided) == 0 || IsFixed(term.id)) continue;
      const ValueRange values = forms_.range(term.id);
      Int128 effect = Int128{term.coefficient} * (Int128{values.upper} - values.lower);
      if (effect < 0) effect = -effect;
      if (effect > best_effect) {
        best = &term;
        best_effect = effect;
      }
    }
    if (best == nullptr) continue;
    // k*v + rest in [lower, upper]; mirrored where k is negative.
    const int v = best->id;
    const int64_t k = best->coefficient < 0 ? -best->coefficient : best->coefficient;
    const bool is_mirrored = best->coefficient < 0;
    const ValueRange values = forms_.range(v);
    const ValueRange u = is_mirrored ? ValueRange{-values.upper, -values.lower} : values;
    const ValueRange all = forms_.RangeOf(constraint.form);
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
      forms_.Narrow(v, as_v(certain));
      Count(weight);
      if (certain.upper < possible.upper) {
        CountValues(v, as_v({certain.upper + 1, possible.upper}), weight);
      }
    }
    forms_.Narrow(v, values);
    return true;
  }
  return false;
}

// Each value by itself.
void Counter::CountValues(int variable, ValueRange values, Int128 weight) {
  if (values.Size() > steps_left_ / kStepsOfPart) {
    forms_.Narrow(variable, values);
    return AddBounds(weight);
  }
  for (int64_t value = values.lower; value <= values.upper; ++value) {
    if (steps_left_ < kStepsOfPart) {
      forms_.Narrow(variable, {value, values.upper});
      return AddBounds(weight);
    }
    forms_.Narrow(variable, {value, value});
    Count(weight);
  }
}

// Takes the variable that has the fewest different values.
void Counter::Enumerate(VariableSet candidates, VariableSet bisected, llvm::ArrayRef<int> open,
                        Int128 weight) {
  if ((candidates & (candidates - 1)) == 0 &&
      CountClasses(std::countr_zero(candidates), open, weight)) {
    return;
  }
  int best = -1;
  int64_t best_count = 0;
  bool is_periodic = false;
  ForEachIn(candidates, [&](int v) {
    const int64_t size = forms_.range(v).Size();
    const std::optional<int64_t> period = PeriodOf(v, open);
    const int64_t count = std::min(size, period.value_or(size));
    if (best >= 0 && count >= best_count) return;
    best = v;
    best_count = count;
    is_periodic = count < size;
  });
  const ValueRange values = forms_.range(best);
  if (is_periodic) {
    CountPeriod(best, best_count, weight);
  } else if ((bisected & Bit(best)) != 0 && best_count > kFewValues) {
    const int64_t middle = std::midpoint(values.lower, values.upper);
    forms_.Narrow(best, {values.lower, middle});
    Count(weight);
    forms_.Narrow(best, {middle + 1, values.upper});
    Count(weight);
  } else {
    CountValues(best, values, weight);
  }
  forms_.Narrow(best, values);
}

void Counter::CountPeriod(int variable, int64_t period, Int128 weight) {
  const ValueRange values = forms_.range(variable);
  const int64_t size = values.Size();
  if (period > steps_left_ / kStepsOfPart) return AddBounds(weight);
  for (int64_t r = 0; r < period; ++r) {
    if (steps_left_ < kStepsOfPart) {
      // What is left are the values after r in each period.
      forms_.Narrow(variable, {values.lower, values.lower + (size - 1) / period});
      return AddBounds(TimesCount(weight, period - r));
    }
    forms_.Narrow(variable, {values.lower + r, values.lower + r});
    Count(TimesCount(weight, (size - 1 - r) / period + 1));
  }
}

// The last variable that is divided, by classes of its values. False, and nothing done, where that
// is not possible.
bool Counter::CountClasses(int variable, llvm::ArrayRef<int> open, Int128 weight) {
  if (access_.free != 0) return false;
  const ValueRange values = forms_.range(variable);
  if (!Take(NumPoints())) return false;
  const ValuePeriod period = NarrowToPeriod(&access_, variable, open, modulus_, &steps_left_);
  LaneClasses classes(access_, open, variable, modulus_);
  if (!classes.fits()) {
    forms_.Narrow(variable, values);
    forms_.UpdateDivisionRanges();
    return false;
  }
  Int128 times = weight;
  const auto others = MovesOf(Unfixed(outer_) & ~Bit(variable), &times);
  const PeriodMoves moves(values, period, others, modulus_, times);
  ClassCosts costs(moves, meter_, NumPoints(), MostOfRequest());
  ValueRange left[] = {moves.Part(0), moves.Part(1)};
  while (left[0].Size() + left[1].Size() > 0 && steps_left_ >= kStepsOfPart) {
    int64_t places = steps_left_ / kStepsOfPart;
    for (const int part : {0, 1}) left[part].lower = classes.Add(left[part], part, &places);
    steps_left_ = std::max<int64_t>(places * kStepsOfPart, 0);
    costs.Measure(&classes, &steps_left_, &totals_);
    classes.Clear();
  }
  for (const int part : {0, 1}) {
    if (left[part].Size() == 0) continue;
    forms_.Narrow(variable, {left[part].lower, left[part].lower});
    AddBounds(TimesCount(weight, Int128{left[part].Size()} * moves.NumPeriods(part)));
  }
  worst_is_known_ = worst_is_known_ && costs.is_complete();
  if (const auto& worst = costs.worst()) {
    forms_.Narrow(variable, {worst->value, worst->value});
    OfferWorst(worst->cost, moves.others(), worst->move);
  }
  forms_.Narrow(variable, values);
  return true;
}

void Counter::AddBounds(Int128 weight) {
  ForEachIn(Unfixed(outer_), [&](int v) { weight = TimesCount(weight, forms_.range(v).Size()); });
  worst_is_known_ = false;
  totals_.AddAtMost(weight, MostOfRequest());
}

llvm::SmallVector<MovingTerm, 4> Counter::MovesOf(VariableSet outer, Int128* weight) const {
  llvm::SmallVector<MovingTerm, 4> moving;
  VariableSet still = outer;
  for (const FormTerm& term : access_.address.terms) {
    if (term.id >= FormAlgebra::kMaxVariables || (Bit(term.id) & outer) == 0) continue;
    moving.push_back({term.id, term.coefficient, forms_.range(term.id)});
    still &= ~Bit(term.id);
  }
  ForEachIn(still, [&](int v) { *weight = TimesCount(*weight, forms_.range(v).Size()); });
  return moving;
}

void Counter::CountLeaf(llvm::ArrayRef<int> open, Int128 weight) {
  const int64_t points = NumPoints();
  if (!Take(points)) return AddBounds(weight);
  const VariableSet outer = Unfixed(outer_);
  const bool has_free = access_.free != 0;
  has_free ? lanes_.CollectGroups(open, outer, lanes_are_apart_) : lanes_.Collect(open, outer);
  if (has_free ? lanes_.groups().empty() : lanes_.runs().empty()) return;
  const auto moving = MovesOf(outer, &weight);
  const ResidueCounts residues(moving, modulus_, weight);
  const int64_t measured =
      has_free ? free_shifts_.NumResidues() * points : static_cast<int64_t>(lanes_.runs().size());
  if (access_.may_be_anywhere || !Take(residues.NumResidues() * measured)) {
    // Requests of lanes that are active, wherever they are.
    worst_is_known_ = false;
    return totals_.Add(residues.Total(), {1, 1, 1}, MostOfRequest());
  }
  lanes_.Canonicalize();
  has_free ? MeasureFree(residues) : MeasureLeaf(residues);
}

void Counter::MeasureLeaf(const ResidueCounts& residues) {
  const int64_t granularity = residues.granularity();
  if (granularity != measured_granularity_ || lanes_.copies() != measured_copies_ ||
      lanes_.runs() != measured_lanes_) {
    measured_granularity_ = granularity;
    measured_lanes_ = lanes_.runs();
    measured_copies_ = lanes_.copies();
    measured_.assign(modulus_ / granularity, RequestCost{-1, 0, 0});
  }
  for (int64_t i = 0; i < modulus_ / granularity; ++i) {
    const Int128 count = residues.CountAt(i);
    if (count == 0) continue;
    if (measured_[i].units < 0) {
      measured_[i] = meter_.Measure(lanes_.runs(), lanes_.copies(), i * granularity);
    }
    totals_.Add(count, measured_[i], measured_[i]);
    OfferWorst(measured_[i], residues, i);
  }
}

void Counter::MeasureFree(const ResidueCounts& residues) {
  worst_is_known_ = worst_is_known_ && lanes_.groups().size() == 1;
  for (int64_t i = 0; i < modulus_ / residues.granularity(); ++i) {
    const Int128 count = residues.CountAt(i);
    if (count == 0) continue;
    RequestCost least;
    RequestCost most;
    int64_t elements = 0;
    for (const auto& [key, lanes] : lanes_.groups()) {
      std::optional<RequestCost> low;
      RequestCost high;
      for (int64_t j = 0; j < modulus_ / free_shifts_.granularity(); ++j) {
        if (free_shifts_.CountAt(j) == 0) continue;
        const RequestCost cost =
            meter_.Measure(lanes, 1, i * residues.granularity() + j * free_shifts_.granularity());
        if (!low) low = cost;
        low = {std::min(low->units, cost.units), std::min(low->least, cost.least),
               std::min(low->other, cost.other)};
        high = {std::max(high.units, cost.units), std::max(high.least, cost.least),
                std::max(high.other, cost.other)};
        if (worst_is_known_) OfferWorst(cost, residues, i, j);
      }
      // Groups may share everything, or nothing.
      least = {std::max(least.units, low->units), std::max(least.least, low->least),
               std::max(least.other, low->other)};
      most = {most.units + high.units, most.least + high.least, most.other + high.other};
      for (const BitRun& run : lanes) elements += (run.end - run.begin) / access_.width;
    }
    const RequestCost bound = meter_.Most(elements, access_.width, access_.extent);
    most = {std::min(most.units, bound.units), std::min(most.least, bound.least),
            std::min(most.other, bound.other)};
    totals_.Add(count, least, most);
  }
}

void Counter::OfferWorst(const RequestCost& cost, const ResidueCounts& residues, int64_t residue,
                         int64_t free_residue) {
  if (worst_ && !IsWorse(cost, worst_->cost)) return;
  RequestPoint point;
  point.cost = cost;
  for (int v = 0; v < forms_.num_variables(); ++v) point.values.push_back(forms_.range(v).lower);
  residues.FindValues(residue, &point.values);
  free_shifts_.FindValues(free_residue, &point.values);
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
