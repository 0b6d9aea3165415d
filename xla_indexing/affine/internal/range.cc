// Ranges of atoms and of sums of digits.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/wide_interval.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {

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
std::optional<Interval> FiniteTermByTerm(const QuasiAffineSum& sum) {
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

// The sum of the ranges of all terms, in 128 bits, so that any numbers are allowed.
WideInterval WideTermByTerm(const QuasiAffineSum& sum) {
  WideInterval result = WideInterval::Point(sum.constant());
  for (const DigitTerm& term : sum.terms()) {
    result = result.Add(WideInterval(term.atom->range).Mul(term.coefficient));
  }
  return result;
}

Interval TermByTerm(const QuasiAffineSum& sum) {
  if (const std::optional<Interval> finite = FiniteTermByTerm(sum)) return *finite;
  return WideTermByTerm(sum).Hull();
}

}  // namespace

// Term by term, or with a multiple of a sum that is known to be bounded taken out.
Interval ExprSimplifier::SumOfRanges(const QuasiAffineSum& sum) const {
  Interval result = TermByTerm(sum);
  if (!sum.valid()) return result;
  for (const Bound& bound : bounds_) {
    for (const DigitTerm& part : bound.sum.terms()) {
      const int64_t coefficient = sum.CoefficientOf(part.atom);
      const std::optional<int64_t> factor = ExactQuotient(coefficient, part.coefficient);
      if (coefficient == 0 || !factor) continue;
      QuasiAffineSum rest = sum;
      rest.SubtractScaled(bound.sum, *factor);
      if (!rest.valid()) continue;
      const Interval known = TermByTerm(rest).Add(bound.interval.Mul(*factor));
      // Bounds that contradict each other: there is no point, so that anything may be said.
      if (const Interval both = result.Intersect(known); !both.IsEmpty()) result = both;
    }
  }
  return result;
}

namespace {

// floor(x/place) mod size of a variable x in [0, values - 1]; without a size floor(x/place).
struct DigitOfVariable {
  const DigitAtom* variable = nullptr;
  int64_t values = 0;
  int64_t place = 1;
  std::optional<int64_t> size = {};
};

// The atom as a digit of one variable; none where it is no such digit.
std::optional<DigitOfVariable> AsDigitOfVariable(const DigitAtom* atom) {
  DigitOfVariable digit;
  if (atom->kind == DigitAtom::Kind::kVariable) {
    digit.variable = atom;
  } else if (atom->number != nullptr) {
    digit.variable = LoneAtom(*atom->number);
    if (digit.variable == nullptr) return std::nullopt;
    if (atom->IsFloor()) {
      digit.place = atom->divisor;
    } else {
      digit.place = atom->is_digit ? 1 : LoneAtom(atom->dividend)->divisor;
      digit.size = atom->divisor;
    }
  } else {
    return std::nullopt;
  }
  const Interval& range = digit.variable->range;
  if (!range.has_lower() || range.lower() != 0 || !range.has_upper() ||
      range.upper() == kInt64Max) {
    return std::nullopt;
  }
  digit.values = range.upper() + 1;
  return digit;
}

// Whether the digits of a sum take all of their values whatever values the others have, so that
// their ranges add up exactly. Digits of one variable x do where each ends where the next one
// begins, or below: all of them are digits of any number below the end of the highest one, and x is
// such a number where it has that many values, or, where the highest has no end, a multiple of its
// place.
bool HasIndependentDigits(const QuasiAffineSum& sum) {
  llvm::SmallVector<DigitOfVariable, 8> digits;
  for (const DigitTerm& term : sum.terms()) {
    const std::optional<DigitOfVariable> digit = AsDigitOfVariable(term.atom);
    if (!digit) return false;
    if (digit->size) {
      const std::optional<int64_t> end = CheckedMul(digit->place, *digit->size);
      if (!end || *end > digit->values) return false;
    }
    for (const DigitOfVariable& other : digits) {
      if (other.variable != digit->variable) continue;
      const bool is_higher = other.place > digit->place;
      const DigitOfVariable& low = is_higher ? *digit : other;
      const DigitOfVariable& high = is_higher ? other : *digit;
      if (!low.size || high.place % (low.place * *low.size) != 0 ||
          (!high.size && high.values % high.place != 0)) {
        return false;
      }
    }
    digits.push_back(*digit);
  }
  return true;
}

// Whether the ends of the interval are values.
bool IsReached(const Interval& interval, const std::optional<ValuesAtEnds>& values) {
  return values && interval == Interval::Closed(std::min(values->at_least, values->at_greatest),
                                                std::max(values->at_least, values->at_greatest));
}

}  // namespace

Interval ExprSimplifier::RangeOf(const QuasiAffineSum& digits) {
  if (!digits.valid()) return Interval::All();
  Interval range = SumOfRanges(digits);
  // The ranges of independent terms add up exactly, and one term is independent.
  if (digits.terms().size() < 2 || IsLinear(digits)) return range;
  if (HasNoAssumptions() && IsReached(range, ValuesAtEndsOf(digits))) return range;
  if (bounds_.empty() && HasIndependentDigits(digits)) return range;
  return range.Intersect(RangeOfFloorForm(ModFreeForm(digits)));
}

WideInterval ExprSimplifier::WideRangeOf(const QuasiAffineSum& digits) {
  const Interval range = RangeOf(digits);
  if (!digits.valid() || range.IsFinite()) return WideInterval(range);
  return WideTermByTerm(digits).Intersect(WideInterval(range));
}

// The least of the ranges of all ways to write the sum, and of
//   c * (Q + floor(Y / a)) = c * floor((a * Q + Y) / a),
// where variables of Q and Y may cancel.
Interval ExprSimplifier::RangeOfFloorForm(const QuasiAffineSum& sum) {
  if (!sum.valid()) return Interval::All();
  if (!HasFloorAtom(sum)) return SumOfRanges(sum);
  Interval range = RangeOfWays(sum);
  constexpr int kMaxNesting = 3;
  if (depth_ >= kMaxNesting || sum.terms().size() < 2) return range;
  ++depth_;
  for (const DigitTerm& term : sum.terms()) {
    const DigitAtom* floor = term.atom;
    if (!floor->IsFloor()) continue;
    if (!QuestionBudget::Spend()) break;
    int64_t c = term.coefficient;
    if (!llvm::all_of(sum.terms(), [c](const DigitTerm& other) {
          return c == 1 || c == -1 || other.coefficient % c == 0;
        })) {
      continue;
    }
    QuasiAffineSum joined = sum;
    joined.RemoveConstant();
    joined.RemoveTerm(term.atom);
    if (c == -1) {
      joined.Scale(-1);
    } else {
      joined.DivideExactly(c);
    }
    joined.Scale(floor->divisor);
    joined.AddScaled(floor->dividend_mod_free_form, 1);
    if (!joined.valid()) continue;
    range = range.Intersect(
        RangeOfFloorForm(joined).FloorDiv(floor->divisor).Mul(c).Add(sum.constant()));
  }
  --depth_;
  return range;
}

}  // namespace xla_indexing::internal
