#include "xla_indexing/map/simplify/equalities.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// Replaces one atom of a sum that is 0 wherever its coefficient allows it.
class AtomReplacement {
 public:
  AtomReplacement(const LinearSum& zero, AffineExpr atom)
      : zero_(zero), atom_(atom), coefficient_(zero.CoefficientOf(atom)) {}

  // Null if a number does not fit int64 or a bound of affine/expr/build.h is passed.
  AffineExpr In(AffineExpr e) {
    const auto [known, is_new] = replaced_.try_emplace(e);
    if (!is_new) return known->second;
    const AffineExpr result = Replaced(e);
    replaced_[e] = result;
    return result;
  }

  void In(LinearSum* sum) const {
    const int64_t coefficient = sum->CoefficientOf(atom_);
    if (coefficient == 0) return;
    if (const std::optional<int64_t> factor = ExactQuotient(coefficient, coefficient_)) {
      sum->SubtractScaled(zero_, *factor);
    }
  }

 private:
  AffineExpr Replaced(AffineExpr e) {
    const LinearSum given = LinearSum::FromExpr(e);
    if (!given.valid()) return {};
    LinearSum result(given.constant());
    for (const Term& term : given.terms()) {
      if (IsVariable(term.atom)) {
        result.AddTerm(term.atom, term.coefficient);
        continue;
      }
      const auto division = llvm::cast<AffineBinaryOpExpr>(term.atom);
      const AffineExpr dividend = In(division.getLHS());
      if (!dividend) return {};
      const int64_t divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
      if (IsRemainderOfAtom(division)) {
        result.AddScaled(LinearSum::FromExpr(dividend), term.coefficient);
        result.SubtractScaled(LinearSum::Of(atom_, divisor), term.coefficient);
        continue;
      }
      const AffineExpr divided = division.getKind() == AffineExprKind::Mod
                                     ? Mod(dividend, divisor)
                                     : FloorDiv(dividend, divisor);
      if (!divided) return {};
      result.AddScaled(LinearSum::FromExpr(divided), term.coefficient);
    }
    In(&result);
    return result.ToExpr(e.getContext());
  }

  // Whether it is Y mod m where the atom is floor(Y/m).
  bool IsRemainderOfAtom(AffineBinaryOpExpr division) const {
    const auto floor = llvm::dyn_cast<AffineBinaryOpExpr>(atom_);
    return floor && division.getKind() == AffineExprKind::Mod &&
           floor.getKind() == AffineExprKind::FloorDiv && floor.getLHS() == division.getLHS() &&
           floor.getRHS() == division.getRHS();
  }

  const LinearSum& zero_;
  AffineExpr atom_;
  int64_t coefficient_;
  llvm::DenseMap<AffineExpr, AffineExpr> replaced_;
};

bool IsLess(AffineExpr a, AffineExpr b) {
  const auto order = SizeOf(a) <=> SizeOf(b);
  return order != 0 ? order < 0 : CompareExprs(a, b) < 0;
}

}  // namespace

bool IsEquality(const Constraint& constraint) {
  return constraint.interval.IsPoint() && constraint.expr.getKind() != AffineExprKind::Mod;
}

Equalities::Equalities(llvm::ArrayRef<Constraint> constraints,
                       llvm::function_ref<bool(const Constraint&)> may_use) {
  // The forms of an expression are as many as the terms of all equalities.
  constexpr size_t kMostEqualities = 8;
  constexpr size_t kMostTerms = 8;
  for (const Constraint& constraint : constraints) {
    if (sums_.size() == kMostEqualities) break;
    if (!IsEquality(constraint) || !may_use(constraint)) continue;
    LinearSum sum = LinearSum::FromExpr(constraint.expr);
    sum.SubtractConstant(constraint.interval.lower());
    if (!sum.valid() || sum.IsConstant() || sum.terms().size() > kMostTerms) continue;
    sum.Sort();
    sums_.push_back(std::move(sum));
  }
  for (const LinearSum& given : sums_) {
    LinearSum sum = given;
    for (const Elimination& before : eliminations_) {
      AtomReplacement(before.sum, before.atom).In(&sum);
    }
    sum.Sort();
    const auto terms = llvm::reverse(sum.terms());
    const auto unit = llvm::find_if(
        terms, [](const Term& term) { return term.coefficient == 1 || term.coefficient == -1; });
    if (!sum.valid() || unit == terms.end()) continue;
    const AffineExpr atom = unit->atom;
    eliminations_.push_back({std::move(sum), atom});
  }
}

llvm::SmallVector<AffineExpr, 8> Equalities::FormsOf(AffineExpr e) const {
  llvm::SmallVector<AffineExpr, 8> forms;
  const auto add = [&](AffineExpr form) {
    if (form && form != e && !llvm::is_contained(forms, form)) forms.push_back(form);
  };
  const LinearSum given = LinearSum::FromExpr(e);
  // A form costs about as much as the expression is long.
  constexpr int64_t kNodesOfAStep = 16;
  const int64_t steps = 1 + SizeOf(e).nodes / kNodesOfAStep;
  for (const LinearSum& sum : sums_) {
    for (const Term& term : sum.terms()) {
      if (!QuestionBudget::Spend(steps)) return forms;
      add(AtomReplacement(sum, term.atom).In(e));
      // A coefficient that does not go may become 1 or -1, and others smaller.
      const int64_t coefficient = given.CoefficientOf(term.atom);
      if (coefficient == kInt64Min) continue;
      const int64_t factor = coefficient / term.coefficient;
      for (const int64_t more : {-1, 0, 1}) {
        const std::optional<int64_t> next = CheckedAdd(factor, more);
        LinearSum form = given;
        if (!next) continue;
        form.SubtractScaled(sum, *next);
        add(form.ToExpr(e.getContext()));
      }
    }
  }
  AffineExpr eliminated = e;
  for (const Elimination& elimination : eliminations_) {
    if (eliminated) eliminated = AtomReplacement(elimination.sum, elimination.atom).In(eliminated);
  }
  add(eliminated);
  return forms;
}

AffineExpr Equalities::Least(AffineExpr e, ExprSimplifier* simplifier) const {
  for (AffineExpr least = e;; e = least) {
    for (const AffineExpr form : FormsOf(e)) {
      const AffineExpr simplified = simplifier->Simplify(form);
      if (IsLess(simplified, least)) least = simplified;
    }
    if (least == e) return e;
  }
}

ConstraintState Equalities::Shorten(
    Constraint* constraint, ExprSimplifier* simplifier,
    llvm::function_ref<void(AffineExpr variable, Interval interval)> narrow) const {
  Constraint given = *constraint;
  // By itself it may say nothing that the equalities do not say.
  Constraint same = given;
  const ConstraintState state = NormalizeConstraint(*simplifier, same, narrow);
  if (state != ConstraintState::kKept) return state;
  while (true) {
    for (const AffineExpr form : FormsOf(given.expr)) {
      Constraint other{form, given.interval};
      const ConstraintState state = NormalizeConstraint(*simplifier, other, narrow);
      if (state != ConstraintState::kKept) return state;
      if (IsLess(other.expr, constraint->expr)) *constraint = other;
    }
    if (*constraint == given) return ConstraintState::kKept;
    given = *constraint;
  }
}

void Equalities::AssumeResidues(ExprSimplifier* simplifier) const {
  for (const LinearSum& sum : sums_) {
    for (const Term& term : sum.terms()) {
      int64_t gcd = 0;
      for (const Term& other : sum.terms()) {
        if (other.atom != term.atom) gcd = Gcd(gcd, other.coefficient);
      }
      const int64_t common = Gcd(gcd, term.coefficient);
      if (common == 0 || gcd / common <= 1 || sum.constant() % common != 0) continue;
      const int64_t modulus = gcd / common;
      const int64_t inverse = InverseModulo(FloorMod(term.coefficient / common, modulus), modulus);
      // c*a + constant = 0 (mod gcd).
      const Int128 residue = -static_cast<Int128>(sum.constant() / common) * inverse;
      const auto least = static_cast<int64_t>((residue % modulus + modulus) % modulus);
      simplifier->Assume(LinearSum::Of(term.atom), Congruence::Of(least, modulus));
    }
  }
}

}  // namespace xla_indexing::internal
