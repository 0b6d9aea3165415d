#include "xla_indexing/map/sets/has_integer_point.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::ArrayRef;
using ::llvm::cast;
using ::llvm::SmallVector;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// Variables in one list: dimensions, then symbols.
struct VariableIntervals {
  ArrayRef<Interval> dims;
  ArrayRef<Interval> symbols;

  // By the numbers of VariablesOf (map/expr/expr_util.h).
  const Interval& Bounds(int variable) const {
    const auto position = static_cast<size_t>(variable);
    return position < dims.size() ? dims[position] : symbols[position - dims.size()];
  }
  const Interval& Bounds(AffineExpr variable) const {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
      return dims[dim.getPosition()];
    }
    return symbols[cast<mlir::AffineSymbolExpr>(variable).getPosition()];
  }
};

// Whether  sum in interval  has a point because the values of a sum of independent variables leave
// no gap that the interval fits into. With coefficients |c_1| <= |c_2| <= .. the gaps are at most
// |c_1| where |c_k| is at most |c_1| and what the terms before it reach together. An interval that
// holds an end of the sum's range needs no more.
bool SumReaches(const LinearSum& sum, const Interval& interval, const VariableIntervals& domain) {
  SmallVector<std::pair<Int128, Int128>, 8> steps;  // |c|, what the term reaches; -1 for infinity
  const WideInterval window(interval);
  WideInterval range = WideInterval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    if (!IsVariable(term.atom)) return false;
    const Interval& bounds = domain.Bounds(term.atom);
    const Int128 step = term.coefficient < 0 ? -Int128{term.coefficient} : Int128{term.coefficient};
    range = range.Add(WideInterval(bounds).Mul(term.coefficient));
    const std::optional<int64_t> size = bounds.Size();
    if (size == 1) continue;
    steps.push_back({step, size ? step * (*size - 1) : -1});
  }
  if (range.Intersect(window).IsEmpty()) return false;
  if ((range.has_lower() && window.Contains(range.lower())) ||
      (range.has_upper() && window.Contains(range.upper()))) {
    return true;
  }
  llvm::sort(steps);
  Int128 reach = 0;
  for (const auto& [step, length] : steps) {
    if (reach >= 0 && step > steps[0].first + reach) return false;
    if (reach > kInt64Max) reach = -1;
    reach = reach < 0 || length < 0 ? -1 : reach + length;
  }
  const std::optional<int64_t> width = interval.Size();
  return !width || (!steps.empty() && *width >= steps[0].first);
}

// X mod n in [a, b] for independent terms, one of which, c*x, takes all multiples of g = gcd(c, n)
// modulo n: each run of g residues has one of them, wherever the other terms move them.
bool ResidueReaches(const LinearSum& dividend, int64_t n, const Interval& interval,
                    const VariableIntervals& domain) {
  const Interval residues = interval.Intersect(Interval::OfSize(n));
  if (!llvm::all_of(dividend.terms(), [](const Term& term) { return IsVariable(term.atom); })) {
    return false;
  }
  return llvm::any_of(dividend.terms(), [&](const Term& term) {
    const int64_t g = Gcd(term.coefficient, n);
    const std::optional<int64_t> size = domain.Bounds(term.atom).Size();
    return (!size || *size >= n / g) && residues.Size().value_or(0) >= g;
  });
}

bool OneConstraintReaches(const Constraint& constraint, const VariableIntervals& domain) {
  if (constraint.expr.getKind() == AffineExprKind::Mod) {
    auto mod = cast<AffineBinaryOpExpr>(constraint.expr);
    const auto n = llvm::dyn_cast<AffineConstantExpr>(mod.getRHS());
    const LinearSum dividend = LinearSum::FromExpr(mod.getLHS());
    return n && n.getValue() >= 1 && dividend.valid() &&
           ResidueReaches(dividend, n.getValue(), constraint.interval, domain);
  }
  const LinearSum sum = LinearSum::FromExpr(constraint.expr);
  return sum.valid() && SumReaches(sum, constraint.interval, domain);
}

// At most `count` values of an interval: all of them, or those next to its ends (to 0 where there
// is no end).
SmallVector<int64_t, 16> SomeValues(const Interval& bounds, int64_t count) {
  SmallVector<int64_t, 16> values;
  const std::optional<int64_t> size = bounds.Size();
  if (size && *size <= count) {
    for (int64_t i = 0; i < *size; ++i) values.push_back(bounds.lower() + i);
    return values;
  }
  const int64_t from_below = bounds.has_upper() ? (count + 1) / 2 : count;
  const Int128 first = bounds.has_lower()   ? Int128{bounds.lower()}
                       : bounds.has_upper() ? Int128{bounds.upper()} - count + 1
                                            : Int128{-(count / 2)};
  for (int64_t i = 0; i < from_below; ++i) {
    if (const auto value = NarrowToInt64(first + i)) values.push_back(*value);
  }
  for (int64_t i = count - from_below - 1; i >= 0 && bounds.has_upper(); --i) {
    if (const auto value = NarrowToInt64(Int128{bounds.upper()} - i)) values.push_back(*value);
  }
  return values;
}

// The constraints of a class (map/expr/components.h), and their variables.
struct ConstraintClass {
  SmallVector<Constraint, 4> constraints;
  SmallVector<int, 8> variables;
};

// Whether points satisfy the constraints of a group.
class PointTest {
 public:
  PointTest(const ConstraintClass& group, const VariableIntervals& domain)
      : group_(group),
        num_dims_(domain.dims.size()),
        program_(Exprs(group)),
        point_(domain.dims.size() + domain.symbols.size(), 0) {}

  // Sets the variable group.variables[k].
  void Set(size_t k, int64_t value) { point_[group_.variables[k]] = value; }

  bool Holds() {
    const ArrayRef<int64_t> point = point_;
    if (!program_.Evaluate(point.take_front(num_dims_), point.drop_front(num_dims_), &workspace_)
             .ok()) {
      every_value_fits_ = false;
      return false;
    }
    return llvm::all_of(llvm::enumerate(group_.constraints), [&](const auto& constraint) {
      return constraint.value().interval.Contains(
          program_.Result(workspace_, static_cast<int>(constraint.index())));
    });
  }

  // The value of a constraint's expression at the point last tested; every value fits.
  int64_t ValueOf(size_t constraint) {
    return program_.Result(workspace_, static_cast<int>(constraint));
  }

  // What a few points cost.
  int64_t steps() const { return static_cast<int64_t>(group_.constraints.size()); }

  // False once an expression did not fit int64.
  bool every_value_fits() const { return every_value_fits_; }

 private:
  static SmallVector<AffineExpr, 4> Exprs(const ConstraintClass& group) {
    SmallVector<AffineExpr, 4> exprs;
    for (const Constraint& constraint : group.constraints) exprs.push_back(constraint.expr);
    return exprs;
  }

  const ConstraintClass& group_;
  size_t num_dims_;
  ExprProgram program_;
  ExprProgram::Workspace workspace_;
  SmallVector<int64_t, 16> point_;
  bool every_value_fits_ = true;
};

// The value that far, in eighths, from the lower to the upper end; an end where there is but one,
// zero without.
int64_t Between(const Interval& bounds, int64_t eighths) {
  if (!bounds.has_lower()) return bounds.has_upper() ? bounds.upper() : 0;
  if (!bounds.has_upper()) return bounds.lower();
  const Int128 length = Int128{bounds.upper()} - bounds.lower();
  return static_cast<int64_t>(bounds.lower() + length * eighths / 8);
}

// After how many steps of its only variable an expression has grown by the same number wherever it was;
// 0 where these may be more than kMaxPoints.
int64_t PeriodOf(AffineExpr expr) {
  const auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) return 1;
  const int64_t of_lhs = PeriodOf(binary.getLHS());
  const int64_t of_rhs = PeriodOf(binary.getRHS());
  if (of_lhs == 0 || of_rhs == 0) return 0;
  const auto number = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  int64_t period = 0;
  switch (expr.getKind()) {
    case AffineExprKind::Add:
      period = std::lcm(of_lhs, of_rhs);
      break;
    case AffineExprKind::Mul:
      period = number ? of_lhs : 0;
      break;
    default:
      if (number && number.getValue() >= 1 && number.getValue() <= kMaxPoints) {
        period = of_lhs * number.getValue();
      }
  }
  return period <= kMaxPoints ? period : 0;
}

// So many values of the only variable of a group that its constraints hold for one of them if they hold
// for any: those that come before all values of the constraints repeat. Its interval where that is not
// known to happen.
Interval ValuesBeforeRepeating(const ConstraintClass& group, const Interval& bounds,
                               PointTest& test) {
  int64_t period = 1;
  for (const Constraint& constraint : group.constraints) {
    const int64_t of_one = PeriodOf(constraint.expr);
    period = of_one == 0 ? 0 : std::lcm(period, of_one);
    if (period == 0 || period > kMaxPoints) return bounds;
  }
  const int64_t first = bounds.has_lower()   ? bounds.lower()
                        : bounds.has_upper() ? bounds.upper()
                                             : 0;
  const std::optional<int64_t> next =
      CheckedAdd(first, bounds.has_lower() || !bounds.has_upper() ? period : -period);
  if (!next || !bounds.Contains(*next)) return bounds;
  SmallVector<int64_t, 4> values;
  for (const int64_t value : {first, *next}) {
    test.Set(0, value);
    test.Holds();
    if (!test.every_value_fits()) return bounds;
    for (size_t i = 0; i < group.constraints.size(); ++i) {
      if (value == first) {
        values.push_back(test.ValueOf(i));
      } else if (values[i] != test.ValueOf(i)) {
        return bounds;
      }
    }
  }
  return first < *next ? Interval::Closed(first, *next - 1) : Interval::Closed(*next + 1, first);
}

Answer HasIntegerPointByEnumeration(const ConstraintClass& group, const VariableIntervals& domain) {
  // All points, where they are few enough.
  PointTest test(group, domain);
  SmallVector<Interval, 8> bounds;
  for (const int variable : group.variables) bounds.push_back(domain.Bounds(variable));
  if (bounds.size() == 1) bounds[0] = ValuesBeforeRepeating(group, bounds[0], test);
  Int128 points = 1;
  for (const Interval& of_variable : bounds) {
    const std::optional<int64_t> size = of_variable.Size();
    points = size ? points * *size : kMaxPoints + 1;
    if (points > kMaxPoints) break;
  }
  const bool all = points <= kMaxPoints;
  int64_t values_of_each = all ? kMaxPoints : 2;
  if (!all) {
    const auto count = [&](int64_t base) {
      Int128 product = 1;
      for (size_t i = 0; i < group.variables.size() && product <= kMaxPoints; ++i) product *= base;
      return product;
    };
    while (values_of_each < 64 && count(values_of_each + 1) <= kMaxPoints) ++values_of_each;
  }

  SmallVector<SmallVector<int64_t, 16>, 8> values;
  for (const Interval& of_variable : bounds) {
    values.push_back(SomeValues(of_variable, values_of_each));
  }
  // Padding excludes what is near the ends, so that most domains have a point in the middle.
  for (const int64_t eighth : {4, 2, 6}) {
    for (size_t k = 0; k < values.size(); ++k) {
      test.Set(k, Between(bounds[k], eighth));
    }
    if (test.Holds()) return Answer::kYes;
  }
  SmallVector<Interval, 8> choices;
  for (const auto& list : values) choices.push_back(Interval::OfSize(list.size()));
  SmallVector<int64_t, 8> choice;
  if (!FirstPoint(choices, &choice)) return Answer::kNo;
  constexpr int64_t kPointsOfStep = 16;
  int64_t tried = 0;
  do {
    if (tried++ % kPointsOfStep == 0 && !QuestionBudget::Spend(test.steps()))
      return Answer::kUndecided;
    for (size_t k = 0; k < choice.size(); ++k) test.Set(k, values[k][choice[k]]);
    if (test.Holds()) return Answer::kYes;
  } while (tried < kMaxPoints && NextPoint(choices, absl::MakeSpan(choice)));
  return all && test.every_value_fits() ? Answer::kNo : Answer::kUndecided;
}

// A variable of a group, and by how much an expression grows with it, as a fraction; behind a mod or
// floordiv about by how much.
struct Mover {
  size_t variable = 0;
  Int128 factor = 0;
  int64_t divisor = 1;
};

// What moves an expression: the variables of its sum, and of those that it divides.
SmallVector<Mover, 8> MoversOf(AffineExpr expr, const ConstraintClass& group,
                               const VariableIntervals& domain) {
  SmallVector<Mover, 8> movers;
  const auto add = [&](const LinearSum& sum, Int128 factor, int64_t divisor) {
    for (const Term& term : sum.terms()) {
      if (!sum.valid() || !IsVariable(term.atom)) continue;
      const int number = VariablesOf(term.atom, static_cast<int>(domain.dims.size())).front();
      const auto place = llvm::find(group.variables, number) - group.variables.begin();
      movers.push_back({static_cast<size_t>(place), factor * term.coefficient, divisor});
    }
  };
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid()) return movers;
  add(sum, 1, 1);
  for (const Term& term : sum.terms()) {
    const auto division = llvm::dyn_cast<AffineBinaryOpExpr>(term.atom);
    if (!division) continue;
    const auto divisor = llvm::dyn_cast<AffineConstantExpr>(division.getRHS());
    const bool is_mod = division.getKind() == AffineExprKind::Mod;
    if (!divisor || divisor.getValue() < 1 || divisor.getValue() >= kMaxPresburgerCoefficient) {
      continue;
    }
    add(LinearSum::FromExpr(division.getLHS()), term.coefficient, is_mod ? 1 : divisor.getValue());
  }
  return movers;
}

// What has to be added to a value for it to be in an interval.
Int128 MissingIn(const Interval& interval, int64_t value) {
  if (interval.has_lower() && value < interval.lower()) return Int128{interval.lower()} - value;
  if (interval.has_upper() && value > interval.upper()) return Int128{interval.upper()} - value;
  return 0;
}

// The value of a mover, now `value`, that adds about as much to the expression, as far as its bounds
// go; nullopt if it does not fit int64.
std::optional<int64_t> MovedBy(const Mover& mover, Int128 missing, int64_t value,
                               const Interval& bounds) {
  const Int128 size = mover.factor < 0 ? -mover.factor : mover.factor;
  // Products fit, as sums of a few such numbers do.
  if (size == 0 || size >= kMaxPresburgerCoefficient * kMaxPresburgerCoefficient) return value;
  const Int128 needed = (missing < 0 ? -missing : missing) * mover.divisor;
  const Int128 steps = (needed + size - 1) / size;
  Int128 next = value + ((missing < 0) == (mover.factor < 0) ? steps : -steps);
  if (bounds.has_lower()) next = std::max<Int128>(next, bounds.lower());
  if (bounds.has_upper()) next = std::min<Int128>(next, bounds.upper());
  return NarrowToInt64(next);
}

// Whether a point is found by mending the one in the middle: each constraint that does not hold moves
// its variables about as far as it takes, until all of them hold, or have had their turn a few times.
bool FindsPointByMending(const ConstraintClass& group, const VariableIntervals& domain) {
  constexpr size_t kMaxRounds = 32;
  constexpr int64_t kMiddle = 4;
  SmallVector<SmallVector<Mover, 8>, 4> movers;
  for (const Constraint& constraint : group.constraints) {
    movers.push_back(MoversOf(constraint.expr, group, domain));
  }
  PointTest test(group, domain);
  SmallVector<int64_t, 8> point;
  for (const int variable : group.variables) {
    point.push_back(Between(domain.Bounds(variable), kMiddle));
    test.Set(point.size() - 1, point.back());
  }
  for (size_t round = 0; round < kMaxRounds; ++round) {
    if (test.Holds()) return true;
    if (!QuestionBudget::Spend(test.steps())) return false;
    for (size_t i = 0; i < movers.size(); ++i) {
      for (size_t k = 0; k < movers[i].size(); ++k) {
        test.Holds();
        if (!test.every_value_fits()) return false;
        const Int128 missing = MissingIn(group.constraints[i].interval, test.ValueOf(i));
        if (missing == 0) break;
        const Mover& mover = movers[i][(k + round) % movers[i].size()];
        const std::optional<int64_t> moved = MovedBy(
            mover, missing, point[mover.variable], domain.Bounds(group.variables[mover.variable]));
        if (!moved) return false;
        point[mover.variable] = *moved;
        test.Set(mover.variable, *moved);
      }
    }
  }
  return test.Holds();
}

// The values that a sum of independent variables can have at most.
WideInterval ValuesOfSum(const LinearSum& sum, const VariableIntervals& domain) {
  WideInterval range = WideInterval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    if (!IsVariable(term.atom)) return WideInterval(Interval::All());
    range = range.Add(WideInterval(domain.Bounds(term.atom)).Mul(term.coefficient));
  }
  return range;
}

// Whether two constraints exclude each other: the difference of their expressions has no value that
// their intervals allow.
bool TwoExcludeEachOther(const ConstraintClass& group, const VariableIntervals& domain) {
  constexpr size_t kMaxCompared = 8;
  const size_t count = std::min(group.constraints.size(), kMaxCompared);
  for (size_t i = 0; i < count; ++i) {
    const Constraint& a = group.constraints[i];
    for (size_t j = i + 1; j < count; ++j) {
      const Constraint& b = group.constraints[j];
      LinearSum difference = LinearSum::FromExpr(a.expr);
      difference.SubtractScaled(LinearSum::FromExpr(b.expr), 1);
      if (!difference.valid()) continue;
      const WideInterval allowed = WideInterval(a.interval).Add(WideInterval(b.interval).Mul(-1));
      if (ValuesOfSum(difference, domain).Intersect(allowed).IsEmpty()) return true;
    }
  }
  return false;
}

Answer GroupHasIntegerPoint(const ConstraintClass& group, const VariableIntervals& domain) {
  if (group.constraints.size() == 1 && OneConstraintReaches(group.constraints[0], domain)) {
    return Answer::kYes;
  }
  if (TwoExcludeEachOther(group, domain)) return Answer::kNo;
  const Answer answer = HasIntegerPointByEnumeration(group, domain);
  if (answer != Answer::kUndecided) return answer;
  return FindsPointByMending(group, domain) ? Answer::kYes : Answer::kUndecided;
}

SmallVector<ConstraintClass, 2> GroupsOf(ArrayRef<Constraint> constraints,
                                         const VariableIntervals& domain) {
  SmallVector<SmallVector<int, 4>, 4> variables;
  for (const Constraint& constraint : constraints) {
    variables.push_back(VariablesOf(constraint.expr, static_cast<int>(domain.dims.size())));
  }
  const SmallVector<int, 8> numbers =
      ClassesByVariables(variables, static_cast<int>(domain.dims.size() + domain.symbols.size()));
  SmallVector<ConstraintClass, 2> groups(*llvm::max_element(numbers) + 1);
  for (const auto [constraint, list, number] : llvm::zip_equal(constraints, variables, numbers)) {
    groups[number].constraints.push_back(constraint);
    groups[number].variables.append(list);
  }
  for (ConstraintClass& group : groups) {
    llvm::sort(group.variables);
    group.variables.erase(llvm::unique(group.variables), group.variables.end());
  }
  return groups;
}

Answer HasIntegerPointIn(const VariableIntervals& domain, ArrayRef<Constraint> constraints,
                         bool by_presburger) {
  if (constraints.empty()) return Answer::kYes;
  if (constraints.size() == 1 && OneConstraintReaches(constraints[0], domain)) return Answer::kYes;
  Answer answer = Answer::kYes;
  for (const ConstraintClass& group : GroupsOf(constraints, domain)) {
    Answer of_group = GroupHasIntegerPoint(group, domain);
    if (of_group == Answer::kUndecided && by_presburger) {
      of_group = HasIntegerPointByPresburger(domain.dims, domain.symbols, group.constraints);
    }
    answer = And(answer, of_group);
    if (answer == Answer::kNo) break;
  }
  return answer;
}

}  // namespace

Answer HasIntegerPoint(ArrayRef<Interval> dims, ArrayRef<Interval> symbols,
                       ArrayRef<Constraint> constraints) {
  return HasIntegerPointIn({dims, symbols}, constraints, /*by_presburger=*/true);
}

Answer HasIntegerPointWithoutPresburger(ArrayRef<Interval> dims, ArrayRef<Interval> symbols,
                                        ArrayRef<Constraint> constraints) {
  return HasIntegerPointIn({dims, symbols}, constraints, /*by_presburger=*/false);
}

}  // namespace xla_indexing::internal
