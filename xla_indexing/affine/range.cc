// Ranges of atoms and of sums of digits.
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {

using ::llvm::cast;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

Interval ExprSimplifier::RangeOfVariable(AffineExpr variable) const {
  bool is_dim = variable.getKind() == AffineExprKind::DimId;
  llvm::ArrayRef<Interval> list = is_dim ? dims_ : symbols_;
  unsigned position = is_dim ? cast<mlir::AffineDimExpr>(variable).getPosition()
                             : cast<mlir::AffineSymbolExpr>(variable).getPosition();
  return position < list.size() ? list[position] : Interval::All();
}

namespace {

// Where all numbers are finite and fit; none otherwise.
std::optional<Interval> FiniteTermByTerm(const DigitSum& sum) {
  int64_t lower = sum.constant();
  int64_t upper = sum.constant();
  for (const DigitTerm& term : sum.terms()) {
    const Interval& range = term.atom->range;
    if (!range.has_lower() || !range.has_upper()) return std::nullopt;
    const bool is_up = term.coefficient > 0;
    int64_t least = 0;
    int64_t greatest = 0;
    if (__builtin_mul_overflow(is_up ? range.lower() : range.upper(), term.coefficient, &least) ||
        __builtin_mul_overflow(is_up ? range.upper() : range.lower(), term.coefficient,
                               &greatest) ||
        __builtin_add_overflow(lower, least, &lower) ||
        __builtin_add_overflow(upper, greatest, &upper)) {
      return std::nullopt;
    }
  }
  return Interval::Closed(lower, upper);
}

Interval TermByTerm(const DigitSum& sum) {
  if (const std::optional<Interval> finite = FiniteTermByTerm(sum)) return *finite;
  Interval result = Interval::Point(sum.constant());
  for (const DigitTerm& term : sum.terms()) {
    result = result.Add(term.atom->range.Mul(term.coefficient));
  }
  return result;
}

}  // namespace

// Term by term, or with a multiple of a sum that is known to be bounded taken out.
Interval ExprSimplifier::SumOfRanges(const DigitSum& sum) const {
  Interval result = TermByTerm(sum);
  if (!sum.valid()) return result;
  for (const Bound& bound : bounds_) {
    for (const DigitTerm& part : bound.sum.terms()) {
      const int64_t coefficient = sum.CoefficientOf(part.atom);
      const std::optional<int64_t> factor = ExactQuotient(coefficient, part.coefficient);
      if (coefficient == 0 || !factor) continue;
      DigitSum rest = sum;
      rest.SubtractScaled(bound.sum, *factor);
      if (!rest.valid()) continue;
      const Interval known = TermByTerm(rest).Add(bound.interval.Mul(*factor));
      // Bounds that contradict each other: there is no point, so that anything may be said.
      if (const Interval both = result.Intersect(known); !both.IsEmpty()) result = both;
    }
  }
  return result;
}

Interval ExprSimplifier::RangeOf(const DigitSum& digits) {
  if (!digits.valid()) return Interval::All();
  Interval range = SumOfRanges(digits);
  // The ranges of independent terms add up exactly, and one term is independent.
  if (digits.terms().size() < 2 || IsLinear(digits)) return range;
  return range.Intersect(RangeOfFloorForm(FloorForm(digits)));
}

// The least of the ranges of all ways to write the sum, and of
//   c * (Q + floor(Y / a)) = c * floor((a * Q + Y) / a),
// where variables of Q and Y may cancel.
Interval ExprSimplifier::RangeOfFloorForm(const DigitSum& sum) {
  if (!sum.valid()) return Interval::All();
  if (!HasFloorAtom(sum)) return SumOfRanges(sum);
  Interval range = RangeOfWays(sum);
  constexpr int kMaxNesting = 3;
  if (depth_ >= kMaxNesting || sum.terms().size() < 2) return range;
  ++depth_;
  for (const DigitTerm& term : sum.terms()) {
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor()) continue;
    int64_t c = term.coefficient;
    if (!llvm::all_of(sum.terms(), [c](const DigitTerm& other) {
          return c == 1 || c == -1 || other.coefficient % c == 0;
        })) {
      continue;
    }
    DigitSum joined = sum;
    joined.RemoveConstant();
    joined.RemoveTerm(term.atom);
    if (c == -1) {
      joined.Scale(-1);
    } else {
      joined.DivideExactly(c);
    }
    joined.Scale(floor->divisor);
    joined.AddScaled(floor->dividend_floor_form, 1);
    if (!joined.valid()) continue;
    range = range.Intersect(
        RangeOfFloorForm(joined).FloorDiv(floor->divisor).Mul(c).Add(sum.constant()));
  }
  --depth_;
  return range;
}

}  // namespace xla_indexing
