#include "xla_indexing/affine/normal_form/assumptions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// The sum less its constant, which is given back; nullopt if nothing is to be known of it.
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
  auto value = std::make_unique<Atom>();
  value->kind = Atom::Kind::kOpaque;
  value->range = interval.Sub(*constant);
  bounds_.push_back({std::move(sum), std::move(value)});
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
  // Every term may be the one to eliminate, so pairs of many bounds or of long ones would take too
  // long, and so would three of more than three.
  constexpr size_t kMostInPairs = 8;
  constexpr size_t kMostTermsInPairs = 6;
  constexpr size_t kMostInThrees = 3;
  constexpr size_t kMostTermsInThrees = 4;
  const llvm::SmallVector<QuasiAffineSum, 2> zeros = ZerosNear(sum);
  size_t most_terms = 0;
  for (const QuasiAffineSum& zero : zeros)
    most_terms = std::max(most_terms, zero.terms().size() - 1);
  int depth = 1;
  if (zeros.size() <= kMostInPairs && most_terms <= kMostTermsInPairs) depth = 2;
  if (zeros.size() <= kMostInThrees && most_terms <= kMostTermsInThrees) depth = 3;
  return RangeWithZeros({sum, 1}, zeros, depth);
}

llvm::SmallVector<QuasiAffineSum, 2> Assumptions::ZerosNear(const QuasiAffineSum& sum) const {
  llvm::SmallVector<QuasiAffineSum, 2> near;
  if (!sum.valid() || bounds_.empty()) return near;
  llvm::SmallVector<bool, 8> is_near(bounds_.size());
  llvm::SmallVector<const QuasiAffineSum*, 4> pending = {&sum};
  while (!pending.empty()) {
    const QuasiAffineSum& from = *pending.pop_back_val();
    for (size_t i = 0; i < bounds_.size(); ++i) {
      const bool meets =
          !is_near[i] && llvm::any_of(bounds_[i].sum.terms(), [&](const AtomTerm& term) {
            return from.CoefficientOf(term.atom) != 0;
          });
      if (!meets) continue;
      is_near[i] = true;
      pending.push_back(&bounds_[i].sum);
    }
  }
  for (size_t i = 0; i < bounds_.size(); ++i) {
    if (!is_near[i]) continue;
    near.push_back(bounds_[i].sum);
    near.back().AddNewTerm(bounds_[i].value.get(), -1);
  }
  return near;
}

namespace {

// Takes an atom of a sum that is 0 out of another one. Nullopt if a number does not fit int64.
std::optional<Assumptions::Multiple> Without(const Atom* atom, const QuasiAffineSum& zero,
                                             const Assumptions::Multiple& given) {
  const int64_t coefficient = given.sum.CoefficientOf(atom);
  if (coefficient == 0) return given;
  const int64_t own = zero.CoefficientOf(atom);
  if (coefficient == kInt64Min || own == kInt64Min) return std::nullopt;
  const int64_t gcd = Gcd(coefficient, own);
  const int64_t times = (own < 0 ? -own : own) / gcd;
  const std::optional<int64_t> multiple = CheckedMul(given.multiple, times);
  if (!multiple) return std::nullopt;
  Assumptions::Multiple result{given.sum, *multiple};
  result.sum.Scale(times);
  result.sum.SubtractScaled(zero, own < 0 ? -(coefficient / gcd) : coefficient / gcd);
  if (!result.sum.valid()) return std::nullopt;
  return result;
}

}  // namespace

Interval Assumptions::RangeWithZeros(const Multiple& of, llvm::ArrayRef<QuasiAffineSum> zeros,
                                     int depth) const {
  Interval result = ::xla_indexing::internal::SumOfRanges(of.sum).PreimageOfMul(of.multiple);
  if (depth == 0) return result;
  const auto is_value = [this](const Atom* atom) {
    return llvm::any_of(bounds_, [&](const Bound& bound) { return bound.value.get() == atom; });
  };
  for (size_t i = 0; i < zeros.size(); ++i) {
    const QuasiAffineSum& zero = zeros[i];
    const llvm::ArrayRef<QuasiAffineSum> after = zeros.drop_front(depth > 1 ? i + 1 : zeros.size());
    for (const AtomTerm& term : zero.terms()) {
      if (is_value(term.atom)) continue;
      if (after.empty() && of.sum.CoefficientOf(term.atom) == 0) continue;
      const std::optional<Multiple> without = Without(term.atom, zero, of);
      if (!without) continue;
      llvm::SmallVector<QuasiAffineSum, 2> others;
      for (const QuasiAffineSum& other : after) {
        if (auto rest = Without(term.atom, zero, {other, 1})) others.push_back(rest->sum);
      }
      const Interval known = RangeWithZeros(*without, others, depth - 1);
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
