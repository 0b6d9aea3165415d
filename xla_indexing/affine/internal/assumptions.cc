#include "xla_indexing/affine/internal/assumptions.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// The sum less its constant, which is given back; none where nothing is to be known of it.
std::optional<int64_t> TakeConstant(QuasiAffineSum& sum) {
  const int64_t constant = sum.constant();
  if (!sum.valid() || sum.IsConstant() || constant == kInt64Min) return std::nullopt;
  sum.RemoveConstant();
  sum.Sort();
  return constant;
}

// What the atoms say, every term by itself.
Congruence SumOfResidues(const QuasiAffineSum& sum) {
  // A term of all integers says that a difference of values may be its coefficient.
  const auto is_unit = [](const AtomTerm& term) {
    return (term.coefficient == 1 || term.coefficient == -1) && term.atom->residues.IsAll();
  };
  if (llvm::any_of(sum.terms(), is_unit)) return Congruence::All();
  Congruence result = Congruence::Point(sum.constant());
  for (const AtomTerm& term : sum.terms()) {
    result = result.Add(term.atom->residues.Mul(term.coefficient));
  }
  return result;
}

}  // namespace

bool Assumptions::Add(QuasiAffineSum sum, const Congruence& residues) {
  const std::optional<int64_t> constant = TakeConstant(sum);
  if (!constant) return false;
  const Congruence shifted = residues.Add(Congruence::Point(*constant).Mul(-1));
  if (shifted.IsPoint()) return false;
  facts_.push_back({std::move(sum), shifted});
  return true;
}

bool Assumptions::Add(QuasiAffineSum sum, const Interval& interval) {
  const std::optional<int64_t> constant = TakeConstant(sum);
  if (!constant) return false;
  bounds_.push_back({std::move(sum), interval.Sub(*constant)});
  return true;
}

Interval Assumptions::RangeOfVariable(mlir::AffineExpr variable) const {
  const bool is_dim = variable.getKind() == mlir::AffineExprKind::DimId;
  const llvm::ArrayRef<Interval> list = is_dim ? dims_ : symbols_;
  const unsigned position = is_dim ? llvm::cast<mlir::AffineDimExpr>(variable).getPosition()
                                   : llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
  return position < list.size() ? list[position] : Interval::All();
}

Interval Assumptions::SumOfRanges(const QuasiAffineSum& sum) const {
  // Pairs of many bounds would take too long.
  constexpr size_t kMostInPairs = 8;
  return SumOfRanges(sum, bounds_.size() <= kMostInPairs ? 2 : 1);
}

Interval Assumptions::SumOfRanges(const QuasiAffineSum& sum, int depth) const {
  Interval result = ::xla_indexing::internal::SumOfRanges(sum);
  if (!sum.valid() || depth == 0) return result;
  for (const Bound& bound : bounds_) {
    for (const AtomTerm& part : bound.sum.terms()) {
      const int64_t coefficient = sum.CoefficientOf(part.atom);
      const std::optional<int64_t> factor = ExactQuotient(coefficient, part.coefficient);
      if (coefficient == 0 || !factor) continue;
      QuasiAffineSum rest = sum;
      rest.SubtractScaled(bound.sum, *factor);
      if (!rest.valid()) continue;
      const Interval known = SumOfRanges(rest, depth - 1).Add(bound.interval.Mul(*factor));
      // Where bounds contradict each other there is no point, so that anything may be said.
      if (const Interval both = result.Intersect(known); !both.IsEmpty()) result = both;
    }
  }
  return result;
}

// Facts are taken out of the sum one after another; what is left is looked at term by term.
Congruence Assumptions::ResiduesOf(const QuasiAffineSum& sum) const {
  if (!sum.valid()) return Congruence::All();
  const Congruence by_terms = SumOfResidues(sum);
  if (facts_.empty() || sum.IsConstant()) return by_terms;
  QuasiAffineSum rest = sum;
  Congruence known = Congruence::Point(0);
  bool used = false;
  for (const Fact& fact : facts_) {
    const AtomTerm& leading = fact.sum.terms()[0];
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
  if (!used) return by_terms;
  const Congruence result = by_terms.Intersect(known.Add(SumOfResidues(rest)));
  // Where facts contradict each other there is no point, so that anything may be said.
  return result.IsEmpty() ? by_terms : result;
}

}  // namespace xla_indexing::internal
