// Residue classes of sums of digits, and the rules that need them. A fact  F = r (mod n)  says of
// any sum that contains k*F that this part is  k*r (mod k*n).
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

Congruence ExprSimplifier::Residues(mlir::AffineExpr e) {
  const QuasiAffineSum digits = Evaluate(e);
  return digits.valid() ? ResiduesOf(digits) : Congruence::All();
}

// The sum in normal form without its constant; invalid where there is nothing to be known of it.
QuasiAffineSum ExprSimplifier::AssumedSum(const LinearSum& sum, int64_t* constant) {
  QuasiAffineSum digits = Evaluate(sum);
  if (!digits.valid() || digits.IsConstant() || digits.constant() == kInt64Min) {
    return QuasiAffineSum::Invalid();
  }
  *constant = digits.constant();
  digits.RemoveConstant();
  digits.Sort();
  // Atoms and sums that were made without the fact are not in normal form any more.
  memory_->ClearTables();
  return digits;
}

void ExprSimplifier::Assume(const LinearSum& sum, const Congruence& residues) {
  if (residues.IsAll()) return;
  int64_t constant = 0;
  QuasiAffineSum digits = AssumedSum(sum, &constant);
  if (!digits.valid()) return;
  const Congruence shifted = residues.Add(Congruence::Point(constant).Mul(-1));
  if (!shifted.IsPoint()) facts_.push_back({std::move(digits), shifted});
}

void ExprSimplifier::Assume(const LinearSum& sum, const Interval& interval) {
  if (interval.IsAll() || interval.IsEmpty()) return;
  int64_t constant = 0;
  QuasiAffineSum digits = AssumedSum(sum, &constant);
  if (digits.valid()) bounds_.push_back({std::move(digits), interval.Sub(constant)});
}

// Every term by itself.
Congruence ExprSimplifier::StructuralResidues(const QuasiAffineSum& digits) const {
  // A term of all integers says that a difference of values may be its coefficient.
  const auto is_unit = [](const DigitTerm& term) {
    return (term.coefficient == 1 || term.coefficient == -1) && term.atom->residues.IsAll();
  };
  if (llvm::any_of(digits.terms(), is_unit)) return Congruence::All();
  Congruence result = Congruence::Point(digits.constant());
  for (const DigitTerm& term : digits.terms()) {
    result = result.Add(term.atom->residues.Mul(term.coefficient));
  }
  return result;
}

// Facts are taken out of the sum one after another; what is left is looked at term by term.
Congruence ExprSimplifier::ResiduesOf(const QuasiAffineSum& digits) const {
  if (!digits.valid()) return Congruence::All();
  const Congruence structural = StructuralResidues(digits);
  if (facts_.empty() || digits.IsConstant()) return structural;
  QuasiAffineSum rest = digits;
  Congruence known = Congruence::Point(0);
  bool used = false;
  for (const Fact& fact : facts_) {
    const DigitTerm& leading = fact.sum.terms()[0];
    const int64_t coefficient = rest.CoefficientOf(leading.atom);
    const std::optional<int64_t> factor = ExactQuotient(coefficient, leading.coefficient);
    if (coefficient == 0 || !factor) continue;
    QuasiAffineSum less = rest;
    less.SubtractScaled(fact.sum, *factor);
    if (!less.valid()) continue;
    rest = std::move(less);
    known = known.Add(fact.residues.Mul(*factor));
    used = true;
  }
  if (!used) return structural;
  const Congruence result = structural.Intersect(known.Add(StructuralResidues(rest)));
  // Facts that contradict each other: there is no point, so that anything may be said.
  return result.IsEmpty() ? structural : result;
}

// floor(X / m) = floor((X - r) / m) where X = r (mod g), g | m, r in [0, g - 1]: g*H + r and g*H
// have one quotient.
void ExprSimplifier::ReduceToResidue(Division& division, int64_t m) const {
  if (facts_.empty()) return;
  const Congruence residues = ResiduesOf(division.rest);
  if (residues.IsPoint()) return;
  const int64_t g = Gcd(residues.modulus(), m);
  const int64_t r = FloorMod(residues.residue(), g);
  if (r == 0 || !CheckedSub(division.rest.constant(), r)) return;
  division.rest.SubtractConstant(r);
  division.MakeOther();
}

// k*floor(X / m) = s*floor(X / m) + q*(X - r) with k = q*m + s, s in (-m/2, m/2], where X = r
// (mod m), so that the division has no remainder but r. Replaces the first floor of the sum for
// which this holds.
bool ExprSimplifier::ReplaceExactDivision(QuasiAffineSum& sum) const {
  for (const DigitTerm& term : sum.terms()) {
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor()) continue;
    const int64_t m = floor->divisor;
    const int64_t residue = FloorMod(term.coefficient, m);
    const int64_t kept = residue > m - residue ? residue - m : residue;
    if (kept == term.coefficient) continue;
    const std::optional<int64_t> r = ResiduesOf(floor->dividend).ResidueModulo(m);
    const Int128 multiple = (static_cast<Int128>(term.coefficient) - kept) / m;
    if (!r || !NarrowToInt64(-multiple * m)) continue;
    QuasiAffineSum exact = floor->dividend;
    exact.AddConstant(-*r);
    QuasiAffineSum replaced = sum;
    replaced.AddTerm(term.atom, static_cast<int64_t>(-multiple * m));
    replaced.AddScaled(exact, static_cast<int64_t>(multiple));
    if (!replaced.valid()) continue;
    sum = std::move(replaced);
    return true;
  }
  return false;
}

}  // namespace xla_indexing::internal
