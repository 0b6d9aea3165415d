#include "xla_indexing/map/count/count_points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/domain.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

Int128 FloorOf(Int128 a, Int128 divisor) { return a / divisor - (a % divisor < 0 ? 1 : 0); }
Int128 CeilOf(Int128 a, Int128 divisor) { return -FloorOf(-a, divisor); }

// A closed interval of numbers of any size that come up here.
struct Span {
  Int128 lower;
  Int128 upper;

  bool IsEmpty() const { return lower > upper; }
  Span Meet(const Span& other) const {
    return {std::max(lower, other.lower), std::min(upper, other.upper)};
  }
};

// Larger than every sum and product of two int64 values.
constexpr Int128 kFar = Int128{1} << 126;

Span SpanOf(const Interval& interval) {
  if (interval.IsEmpty()) return {1, 0};
  return {interval.has_lower() ? Int128{interval.lower()} : -kFar,
          interval.has_upper() ? Int128{interval.upper()} : kFar};
}

// {v : c * v + K in span}, c other than 0. An end that is far stays far.
Span Unscaled(const Span& span, int64_t c, Int128 constant) {
  const Int128 lower = span.lower <= -kFar ? -kFar : span.lower - constant;
  const Int128 upper = span.upper >= kFar ? kFar : span.upper - constant;
  if (c == 1) return {lower, upper};
  const auto divided = [&](Int128 low, Int128 high, Int128 divisor) {
    return Span{low <= -kFar ? -kFar : CeilOf(low, divisor),
                high >= kFar ? kFar : FloorOf(high, divisor)};
  };
  if (c > 0) return divided(lower, upper, c);
  return divided(-upper, -lower, -Int128{c});
}

// What one constraint says of x: c * form(x) + K in span, where form is x itself, or, with
// y = a * x + B, floor(y / m) or y mod m. K and B are functions of the other variables.
struct ConstraintOnX {
  enum class Form { kLinear, kFloor, kMod };
  Form form = Form::kLinear;
  int64_t c = 1;
  int64_t a = 1;
  int64_t m = 1;
  AffineExpr constant;  // K
  AffineExpr offset;    // B; null for the first form
  Span span;
};

struct SplitSum {
  Term term;  // the one with x
  AffineExpr rest;
};

// A sum as its only term with x and the rest; nullopt if it has no such term or several.
std::optional<SplitSum> Split(AffineExpr expr, int variable, int num_dims) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  std::optional<Term> with_x;
  LinearSum rest(sum.constant());
  for (const Term& term : sum.terms()) {
    if (!llvm::is_contained(VariablesOf(term.atom, num_dims), variable)) {
      rest.AddTerm(term.atom, term.coefficient);
      continue;
    }
    if (with_x) return std::nullopt;
    with_x = term;
  }
  const AffineExpr without_x = rest.ToExpr(expr.getContext());
  if (!with_x || !sum.valid() || !without_x) return std::nullopt;
  return SplitSum{*with_x, without_x};
}

std::optional<ConstraintOnX> ConditionOn(int variable, const Constraint& constraint, int num_dims) {
  const std::optional<SplitSum> sum = Split(constraint.expr, variable, num_dims);
  if (!sum) return std::nullopt;
  ConstraintOnX condition;
  condition.constant = sum->rest;
  condition.span = SpanOf(constraint.interval);
  condition.c = sum->term.coefficient;
  if (IsVariable(sum->term.atom)) return condition;
  const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(sum->term.atom);
  const std::optional<SplitSum> dividend = Split(division.getLHS(), variable, num_dims);
  if (!dividend || !IsVariable(dividend->term.atom)) return std::nullopt;
  condition.form = division.getKind() == AffineExprKind::Mod ? ConstraintOnX::Form::kMod
                                                             : ConstraintOnX::Form::kFloor;
  condition.m = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
  condition.a = dividend->term.coefficient;
  condition.offset = dividend->rest;
  return condition;
}

// y mod m in span, for y = a * x + offset.
struct Residues {
  int64_t a;
  int64_t m;
  int64_t offset;  // in [0, m - 1]
  Span span;       // within [0, m - 1]

  bool HoldAlways() const { return span.lower == 0 && span.upper == m - 1; }
};

// The x with (a * x + offset) mod m = t.
Congruence ClassOf(const Residues& residues, Int128 t) {
  const int64_t a = FloorMod(residues.a, residues.m);
  const int64_t g = Gcd(a, residues.m);
  const Int128 difference = t - residues.offset;
  if (difference % g != 0) return Congruence::Empty();
  const int64_t modulus = residues.m / g;
  if (modulus == 1) return Congruence::All();
  const Int128 x = (difference / g) % modulus * InverseModulo(a / g, modulus) % modulus;
  return Congruence::Of(static_cast<int64_t>(x), modulus);
}

// Counts the values of x in a span and a residue class that satisfy all of `residues`.
std::optional<Int128> CountIn(const Span& x, const Congruence& residue_class,
                              llvm::ArrayRef<Residues> residues, StepBudget* budget) {
  while (!residues.empty() && residues.front().HoldAlways()) residues = residues.drop_front();
  if (x.IsEmpty() || residue_class.IsEmpty()) return 0;
  if (residues.empty()) {
    const Int128 m = residue_class.modulus();
    if (residue_class.IsPoint()) return std::nullopt;
    return FloorOf(x.upper - residue_class.residue(), m) -
           FloorOf(x.lower - 1 - residue_class.residue(), m);
  }
  const Residues& first = residues.front();
  if (first.span.IsEmpty()) return 0;
  if (residues.size() == 1 && residue_class.IsAll() && first.a == 1) {
    // Counts, from 0 on, the y <= n whose residue y mod m is in the span.
    const Int128 width = first.span.upper - first.span.lower + 1;
    const auto up_to = [&](Int128 n) {
      const Int128 periods = FloorOf(n + 1, first.m);
      const Int128 rest = n + 1 - periods * first.m;
      return periods * width + std::clamp<Int128>(rest - first.span.lower, 0, width);
    };
    return up_to(x.upper + first.offset) - up_to(x.lower + first.offset - 1);
  }
  Int128 count = 0;
  for (Int128 t = first.span.lower; t <= first.span.upper; ++t) {
    if (!budget->Take(1)) return std::nullopt;
    const Congruence own = ClassOf(first, t);
    const Congruence both = own.Intersect(residue_class);
    // An intersection whose modulus does not fit would be a class that is too large.
    if (!both.IsEmpty() &&
        (both.modulus() % own.modulus() != 0 || both.modulus() % residue_class.modulus() != 0)) {
      return std::nullopt;
    }
    const auto part = CountIn(x, both, residues.drop_front(), budget);
    if (!part || *part > kFar - count) return std::nullopt;
    count += *part;
  }
  return count;
}

// One component: x in closed form below all points of the other variables.
class Sweep {
 public:
  // Where no variable can be x, all are among the others.
  Sweep(const IndexingMap& map, const Component& component) : map_(map) {
    llvm::SmallVector<int, 4> by_size(component.variables);
    llvm::stable_sort(by_size, [&](int a, int b) { return SizeOf(a) > SizeOf(b); });
    for (const int variable : by_size) {
      if (TakeAsX(variable, component)) break;
    }
    if (!x_) {
      for (const int i : component.constraints) constraints_.push_back(map.constraints()[i]);
    }
    for (const int variable : component.variables) {
      if (variable != x_) others_.push_back(variable);
    }
  }

  // The points of the other variables; nullopt if they are past int64.
  std::optional<int64_t> NumSteps() const {
    Int128 points = 1;
    for (const int variable : others_) {
      const Int128 size = SizeOf(variable);
      if (size > kInt64Max) return std::nullopt;
      points *= size;
      if (points > kInt64Max) return std::nullopt;
    }
    return static_cast<int64_t>(points);
  }

  std::optional<Int128> Count(StepBudget* budget) {
    const std::optional<int64_t> points = NumSteps();
    if (!points || !budget->Take(*points)) return std::nullopt;
    std::optional<Int128> count = 0;
    const absl::Status status = Others().ForEachPoint(*points, [&](auto, auto, auto values) {
      const auto here = count ? CountHere(values, budget) : std::nullopt;
      // Sums past 2^126 are not counted.
      count = here && *here <= kFar - *count ? std::optional(*count + *here) : std::nullopt;
    });
    return status.ok() ? count : std::nullopt;
  }

 private:
  // The number of values, past int64 where they are infinitely many.
  Int128 SizeOf(int variable) const {
    const Span span = SpanOf(BoundsOf(map_, variable));
    if (span.lower <= -kFar || span.upper >= kFar) return kFar;
    return span.upper - span.lower + 1;
  }

  bool TakeAsX(int variable, const Component& component) {
    llvm::SmallVector<ConstraintOnX, 4> conditions;
    Constraints constraints;
    for (const int i : component.constraints) {
      const Constraint& constraint = map_.constraints()[i];
      if (!llvm::is_contained(VariablesOf(constraint.expr, map_.num_dims()), variable)) {
        constraints.push_back(constraint);
        continue;
      }
      std::optional<ConstraintOnX> condition = ConditionOn(variable, constraint, map_.num_dims());
      if (!condition) return false;
      conditions.push_back(*std::move(condition));
    }
    x_ = variable;
    conditions_ = std::move(conditions);
    constraints_ = std::move(constraints);
    return true;
  }

  // The points of the other variables, to what K and B of each condition are there.
  IndexingMap Others() const {
    llvm::SmallVector<AffineExpr, 8> results;
    for (const ConstraintOnX& condition : conditions_) {
      results.push_back(condition.constant);
      if (condition.offset) results.push_back(condition.offset);
    }
    const int num_dims = map_.num_dims();
    Variables dims(map_.dims());
    Variables symbols(map_.symbols());
    for (int i = 0; i < num_dims + map_.num_symbols(); ++i) {
      if (llvm::is_contained(others_, i)) continue;
      Interval& bounds = (i < num_dims ? dims[i] : symbols[i - num_dims]).bounds;
      if (!bounds.IsPoint()) bounds = Interval::Point(0);
    }
    return IndexingMap(kPartsFit,
                       mlir::AffineMap::get(num_dims, map_.num_symbols(), results, map_.context()),
                       std::move(dims), std::move(symbols), {}, Constraints(constraints_));
  }

  // The x at a point of the other variables, with these values of K and B.
  std::optional<Int128> CountHere(llvm::ArrayRef<int64_t> values, StepBudget* budget) {
    Span x = x_ ? SpanOf(BoundsOf(map_, *x_)) : Span{0, 0};
    residues_.clear();
    const int64_t* next = values.begin();
    for (const ConstraintOnX& condition : conditions_) {
      const Span form = Unscaled(condition.span, condition.c, *next++);
      const int64_t offset = condition.offset ? *next++ : 0;
      switch (condition.form) {
        case ConstraintOnX::Form::kLinear:
          x = x.Meet(form);
          break;
        case ConstraintOnX::Form::kFloor: {
          const Int128 m = condition.m;
          const Span y{form.lower <= -kFar / m ? -kFar : form.lower * m,
                       form.upper >= kFar / m ? kFar : form.upper * m + m - 1};
          x = x.Meet(Unscaled(y, condition.a, offset));
          break;
        }
        case ConstraintOnX::Form::kMod:
          residues_.push_back({condition.a, condition.m, FloorMod(offset, condition.m),
                               form.Meet({0, condition.m - 1})});
          break;
      }
    }
    if (x.IsEmpty()) return 0;
    if (x.lower <= -kFar || x.upper >= kFar) return std::nullopt;
    return CountIn(x, Congruence::All(), residues_, budget);
  }

  const IndexingMap& map_;
  std::optional<int> x_;
  llvm::SmallVector<int, 4> others_;
  llvm::SmallVector<ConstraintOnX, 4> conditions_;
  Constraints constraints_;                  // those without x
  llvm::SmallVector<Residues, 2> residues_;  // of the point
};

// The product of the sizes.
Interval CountCandidates(const IndexingMap& map, const Component& component) {
  Interval count = Interval::Point(1);
  for (const int variable : component.variables)
    count = count.Mul(CountOf(BoundsOf(map, variable)));
  return count;
}

// A variable without which the component falls apart, and about how many steps it then takes to
// count for each of its values.
struct CutVariable {
  int variable;
  Int128 steps;
};

IndexingMap With(const IndexingMap& map, int variable, int64_t value) {
  IndexingMap at = map;
  Variable& changed = variable < map.num_dims() ? at.mutable_dim(variable)
                      : variable < map.num_dims() + map.num_ranges()
                          ? at.mutable_range(variable - map.num_dims())
                          : at.mutable_runtime(variable - map.num_dims() - map.num_ranges());
  changed.bounds = Interval::Point(value);
  return at;
}

// The cut of the fewest steps; nullopt if no variable parts the others.
std::optional<CutVariable> CutOf(const IndexingMap& map, const Component& component) {
  // What a component costs in addition to its steps.
  constexpr int64_t kStepsOfComponent = 64;
  std::optional<CutVariable> best;
  for (const int variable : component.variables) {
    const Interval& bounds = BoundsOf(map, variable);
    const std::optional<int64_t> size = bounds.Size();
    if (!size) continue;
    Int128 steps = 0;
    int num_parts = 0;
    for (const Component& part : ComponentsOf(With(map, variable, bounds.lower()))) {
      if (part.constraints.empty() || part.variables.empty()) continue;
      const std::optional<int64_t> of_part = Sweep(map, part).NumSteps();
      // The number is kept within int64, so that products fit.
      steps = std::min<Int128>(steps + kStepsOfComponent + of_part.value_or(kInt64Max), kInt64Max);
      ++num_parts;
    }
    steps *= *size;
    if (num_parts > 1 && (!best || steps < best->steps)) best = CutVariable{variable, steps};
  }
  return best;
}

// The points of a component, where a cut makes that shorter than one sweep.
std::optional<Interval> CountByCut(const IndexingMap& map, const Component& component,
                                   int64_t steps_of_sweep, StepBudget* budget) {
  constexpr int64_t kFewSteps = 4096;
  if (steps_of_sweep <= kFewSteps) return std::nullopt;
  const std::optional<IndexingMap> alone = MapOfComponent(map, component);
  if (!alone) return std::nullopt;
  const std::optional<CutVariable> cut = CutOf(*alone, AllOf(*alone));
  if (!cut || cut->steps >= steps_of_sweep) return std::nullopt;
  const Interval& bounds = BoundsOf(*alone, cut->variable);
  // Each value takes a step here, and some of the question's time.
  constexpr int64_t kStepsOfQuestionForValue = 2;
  if (*bounds.Size() > budget->left()) return std::nullopt;
  Interval count = Interval::Point(0);
  for (int64_t i = 0; i < *bounds.Size(); ++i) {
    if (!budget->Take(1) || !QuestionBudget::Spend(kStepsOfQuestionForValue)) return std::nullopt;
    const Interval here = CountPoints(With(*alone, cut->variable, bounds.lower() + i), budget);
    if (!here.IsPoint()) return std::nullopt;
    count = count.Add(here);
  }
  return count;
}

}  // namespace

Interval CountOf(Int128 count) {
  const std::optional<int64_t> narrow = NarrowToInt64(count);
  return narrow ? Interval::Point(*narrow) : Interval::AtLeast(kInt64Max);
}

Interval CountOf(const Interval& values) {
  const std::optional<int64_t> size = values.Size();
  return size ? Interval::Point(*size) : Interval::AtLeast(kInt64Max);
}

Interval CountBetween(const Interval& least, const Interval& most) {
  if (least.IsEmpty() || most.IsEmpty()) return Interval::Empty();
  return Interval::AtLeast(least.lower())
      .Intersect(most.has_upper() ? Interval::AtMost(most.upper()) : Interval::All());
}

Interval CountPoints(const IndexingMap& map, StepBudget* budget) {
  const QuestionBudget question;
  if (map.IsKnownEmpty()) return Interval::Point(0);
  Interval count = Interval::Point(1);
  for (const Component& component : ComponentsOf(map)) {
    const Interval candidates = CountCandidates(map, component);
    if (component.constraints.empty()) {
      count = count.Mul(candidates);
      continue;
    }
    Sweep sweep(map, component);
    const int64_t steps = sweep.NumSteps().value_or(kInt64Max);
    if (const std::optional<Interval> by_cut = CountByCut(map, component, steps, budget)) {
      count = count.Mul(*by_cut);
      continue;
    }
    if (const std::optional<Int128> points = sweep.Count(budget)) {
      if (*points == 0) return Interval::Point(0);
      count = count.Mul(CountOf(*points));
      continue;
    }
    const std::optional<IndexingMap> alone = MapOfComponent(map, component);
    const bool has_point = alone && DomainHasIntegerPoint(*alone, budget) == Answer::kYes;
    count = count.Mul(CountBetween(Interval::Point(has_point ? 1 : 0), candidates));
  }
  return count;
}

}  // namespace xla_indexing::internal
