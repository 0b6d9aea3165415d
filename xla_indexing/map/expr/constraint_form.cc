#include "xla_indexing/map/expr/constraint_form.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/residue_search.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::llvm::function_ref;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

int64_t DivisorOf(AffineExpr division) {
  return cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(division).getRHS()).getValue();
}

// X mod n in [a, b] with the interval's lower end at 0.
void NormalizeMod(ExprSimplifier& simplifier, Constraint& constraint,
                  function_ref<void(AffineExpr, Interval)> narrow) {
  int64_t n = DivisorOf(constraint.expr);
  AffineExpr dividend = cast<AffineBinaryOpExpr>(constraint.expr).getLHS();
  LinearSum sum = LinearSum::FromExpr(dividend);
  const Interval residues = constraint.interval.Intersect(Interval::OfSize(n));
  if (residues.IsEmpty()) return;
  if (sum.terms().size() == 1 && IsVariable(sum.terms()[0].atom)) {
    const Term& term = sum.terms()[0];
    narrow(term.atom,
           TightenToResidues(simplifier.Range(term.atom), {term.coefficient, sum.constant(), n,
                                                           residues.lower(), residues.upper()}));
  }
  if (residues.lower() == 0) return;
  LinearSum shifted = sum;
  shifted.SubtractConstant(residues.lower());
  // As in any dividend: a multiple of n goes, otherwise the least value is in [0, n - 1].
  int64_t amount = FloorDiv(shifted.constant(), n);
  if (FloorMod(shifted.constant(), n) != 0) {
    Interval range = simplifier.Range(dividend).Sub(residues.lower());
    if (range.has_lower()) amount = FloorDiv(range.lower(), n);
  }
  if (auto shift = NarrowToInt64(-static_cast<Int128>(amount) * n)) shifted.AddConstant(*shift);
  AffineExpr expr = Mod(shifted.ToExpr(simplifier.context()), n);
  if (!expr || expr.getKind() != AffineExprKind::Mod) return;
  constraint = {expr, residues.Sub(residues.lower())};
}

// Every variable of a sum is bounded by what the interval [l, u] and the other summands leave. With
// c*x + R in [l, u] and R = r (mod g),
//
//   c*x is in [l, u] - range(R),   (u - r - c*x) mod g is in [0, u - l]   where u - l < g - 1,
//
// since R reaches [l, u] - c*x only where that has an element of its class. For two variables that
// is all there is to be known of either: R is any such element of its range.
void NarrowVariables(ExprSimplifier& simplifier, const LinearSum& sum, Interval interval,
                     function_ref<void(AffineExpr, Interval)> narrow) {
  if (!QuestionBudget::Spend(static_cast<int64_t>(sum.terms().size()))) return;
  const std::optional<int64_t> size = interval.Size();
  // What each summand can be, and what it and those after it can be together.
  struct Values {
    Interval range;
    Congruence residues;
  };
  llvm::SmallVector<Interval, 8> ranges;  // of the atoms
  llvm::SmallVector<Values, 8> summands;
  for (const Term& term : sum.terms()) {
    const QuasiAffineSum atom = simplifier.Evaluate(term.atom);
    ranges.push_back(simplifier.RangeOf(atom));
    const Congruence residues = atom.valid() ? simplifier.ResiduesOf(atom) : Congruence::All();
    summands.push_back({ranges.back().Mul(term.coefficient), residues.Mul(term.coefficient)});
  }
  llvm::SmallVector<Values, 8> from(summands);
  from.push_back({Interval::Point(0), Congruence::Point(0)});
  for (size_t i = summands.size(); i-- > 0;) {
    from[i] = {summands[i].range.Add(from[i + 1].range),
               summands[i].residues.Add(from[i + 1].residues)};
  }
  Values before = {Interval::Point(sum.constant()), Congruence::Point(sum.constant())};
  for (const auto& [i, term] : llvm::enumerate(sum.terms())) {
    const Interval rest = before.range.Add(from[i + 1].range);
    const Congruence residues = before.residues.Add(from[i + 1].residues);
    before = {before.range.Add(summands[i].range), before.residues.Add(summands[i].residues)};
    if (!IsVariable(term.atom)) continue;
    Interval narrower = ranges[i].Intersect(interval.Sub(rest).PreimageOfMul(term.coefficient));
    const int64_t g = residues.IsEmpty() ? 0 : residues.modulus();
    if (size && *size < g && term.coefficient != kInt64Min) {
      const auto offset = static_cast<int64_t>((Int128{interval.upper()} - residues.residue()) % g);
      narrower = TightenToResidues(narrower, {-term.coefficient, offset, g, 0, *size - 1});
    }
    narrow(term.atom, narrower);
  }
}

// With a floor gone the summands of one variable are one, so that what they leave of it is known at
// once and not a little at a time:
//
//   R + k*floor(Y/m) in [a, b]     m*R + k*Y = m*(R + k*floor(Y/m)) + k*(Y mod m)
//                                  is in [m*a, m*b] + k*[0, m - 1]
void NarrowWithoutFloors(ExprSimplifier& simplifier, LinearSum sum, WideInterval interval,
                         function_ref<void(AffineExpr, Interval)> narrow) {
  constexpr int kMaxFloors = 4;
  for (int i = 0; i < kMaxFloors; ++i) {
    const Term* const found = llvm::find_if(sum.terms(), [](const Term& term) {
      return term.atom.getKind() == AffineExprKind::FloorDiv;
    });
    if (found == sum.terms().end()) return;
    const auto [atom, k] = *found;
    const int64_t m = DivisorOf(atom);
    sum.RemoveTerm(atom);
    sum.Scale(m);
    sum.AddScaled(LinearSum::FromExpr(cast<AffineBinaryOpExpr>(atom).getLHS()), k);
    interval = interval.Mul(m).Add(WideInterval(0, m - 1).Mul(k)).Sub(sum.constant());
    sum.RemoveConstant();
    if (!sum.valid() || sum.IsConstant()) return;
    if (const std::optional<Interval> narrowed = interval.Narrow()) {
      NarrowVariables(simplifier, sum, *narrowed, narrow);
    }
  }
}

}  // namespace

std::optional<ResidueFact> ResidueFactOf(const Constraint& constraint) {
  if (!constraint.interval.IsPoint() || constraint.expr.getKind() != AffineExprKind::Mod) {
    return std::nullopt;
  }
  const int64_t n = DivisorOf(constraint.expr);
  LinearSum sum = LinearSum::FromExpr(cast<AffineBinaryOpExpr>(constraint.expr).getLHS());
  const int64_t constant = sum.constant();
  sum.RemoveConstant();
  if (!sum.valid() || n < 1) return std::nullopt;
  sum.Sort();
  return ResidueFact{
      std::move(sum),
      Congruence::Of(constraint.interval.lower(), n).Add(Congruence::Point(constant).Mul(-1))};
}

std::optional<Constraint> ConstraintOf(const ResidueFact& fact, mlir::MLIRContext* context) {
  LinearSum dividend = fact.sum;
  dividend.SubtractConstant(fact.residues.residue());
  const AffineExpr expr = Mod(dividend.ToExpr(context), fact.residues.modulus());
  if (!expr) return std::nullopt;
  return Constraint{expr, Interval::Point(0)};
}

namespace {

// e + c, g*e and -e: afterwards the sum has no constant, coprime coefficients and a positive first
// one. Returns whether it was so before. The sum has terms.
bool MakePrimitive(LinearSum& sum, WideInterval& interval) {
  const bool has_constant = sum.constant() != 0;
  interval = interval.Sub(sum.constant());
  sum.RemoveConstant();
  const int64_t gcd = sum.CoefficientGcd();
  sum.DivideExactly(gcd);
  interval = interval.PreimageOfMul(gcd);
  sum.Sort();
  const bool is_positive = sum.terms()[0].coefficient > 0;
  if (!is_positive) {
    sum.Scale(-1);
    interval = interval.Neg();
  }
  return !has_constant && gcd == 1 && is_positive;
}

// What the values of a primitive sum leave of its interval.
struct Tightened {
  ConstraintState state = ConstraintState::kKept;
  std::optional<Interval> interval;  // of a constraint that is kept, where it fits int64
};

Tightened TightenToValues(ExprSimplifier& simplifier, const QuasiAffineSum& digits,
                          WideInterval& interval) {
  const WideInterval range = simplifier.WideRangeOf(digits);
  if (range.IsSubsetOf(interval)) return {ConstraintState::kImplied, {}};
  interval = interval.Intersect(range);
  const std::optional<Interval> in_range = interval.Narrow();
  if (!in_range) return {};
  const Congruence residues = digits.valid() ? simplifier.ResiduesOf(digits) : Congruence::All();
  const Interval tightened = residues.Tighten(*in_range);
  if (tightened.IsEmpty()) return {ConstraintState::kUnsatisfiable, {}};
  if (const std::optional<Interval> all = range.Narrow();
      all && residues.Tighten(*all) == tightened) {
    return {ConstraintState::kImplied, {}};
  }
  return {ConstraintState::kKept, tightened};
}

}  // namespace

ConstraintState NormalizeConstraint(ExprSimplifier& simplifier, Constraint& constraint,
                                    function_ref<void(AffineExpr, Interval)> narrow) {
  if (!QuestionBudget::Spend()) return ConstraintState::kKept;
  mlir::MLIRContext* context = simplifier.context();
  // A constraint that holds everywhere needs no form.
  const QuasiAffineSum values = simplifier.Evaluate(constraint.expr);
  if (values.valid() &&
      simplifier.WideRangeOf(values).IsSubsetOf(WideInterval(constraint.interval))) {
    return ConstraintState::kImplied;
  }
  // The constraint on the way to its form. Numbers of the form that do not fit int64 leave
  // `constraint` what it was last.
  AffineExpr expr = constraint.expr;
  WideInterval interval(constraint.interval);
  // The floor of a sum of variables goes before its form is looked for: floor(Y/m) in [a, b] says
  // that Y is in [m*a, m*b + m - 1].
  if (const auto floor = llvm::dyn_cast<AffineBinaryOpExpr>(expr);
      floor && expr.getKind() == AffineExprKind::FloorDiv && floor.getLHS().isPureAffine()) {
    const WideInterval of_dividend = interval.PreimageOfFloorDiv(DivisorOf(expr));
    if (const std::optional<Interval> narrowed = of_dividend.Narrow()) {
      expr = floor.getLHS();
      interval = of_dividend;
      constraint = {expr, *narrowed};
    }
  }
  AffineExpr last_moved;
  // Each round takes a floordiv off, or moves residues until they stay.
  constexpr int kMaxMoves = 4;
  for (int moves = 0;;) {
    expr = simplifier.Simplify(expr);
    LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid()) return ConstraintState::kKept;
    if (sum.IsConstant()) {
      return interval.Contains(sum.constant()) ? ConstraintState::kImplied
                                               : ConstraintState::kUnsatisfiable;
    }
    if (const std::optional<Interval> narrowed = interval.Narrow()) constraint = {expr, *narrowed};
    const bool was_primitive = MakePrimitive(sum, interval);
    const QuasiAffineSum digits = simplifier.Evaluate(sum);
    if (!was_primitive || !digits.valid()) expr = sum.ToExpr(context);
    if (!expr) return ConstraintState::kKept;
    const Tightened tightened = TightenToValues(simplifier, digits, interval);
    if (tightened.state != ConstraintState::kKept) return tightened.state;
    if (!tightened.interval) {
      if (!IsVariable(expr)) NarrowVariables(simplifier, sum, interval.Hull(), narrow);
      return ConstraintState::kKept;
    }
    constraint = {expr, *tightened.interval};
    interval = WideInterval(constraint.interval);
    if (IsVariable(expr)) {
      narrow(expr, constraint.interval);
      return ConstraintState::kImplied;
    }
    if (expr.getKind() == AffineExprKind::FloorDiv) {
      interval = interval.PreimageOfFloorDiv(DivisorOf(expr));
      expr = cast<AffineBinaryOpExpr>(expr).getLHS();
      continue;
    }
    if (expr.getKind() != AffineExprKind::Mod) {
      NarrowVariables(simplifier, sum, constraint.interval, narrow);
      NarrowWithoutFloors(simplifier, std::move(sum), interval, narrow);
      return ConstraintState::kKept;
    }
    // A mod whose form does not fit int64 has no range.
    constraint.interval = constraint.interval.Intersect(Interval::OfSize(DivisorOf(expr)));
    if (constraint.interval.IsEmpty()) return ConstraintState::kUnsatisfiable;
    NormalizeMod(simplifier, constraint, narrow);
    const bool has_moved = constraint.expr != expr && constraint.expr != last_moved;
    if (!has_moved || ++moves >= kMaxMoves) return ConstraintState::kKept;
    expr = constraint.expr;
    interval = WideInterval(constraint.interval);
    last_moved = expr;
  }
}

}  // namespace xla_indexing::internal
