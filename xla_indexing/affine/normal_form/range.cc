// Intervals that contain the values of sums.
//
// A sum is looked at in all ways to write it (sum_forms.cc), term by term, and its range is the
// intersection. Where terms share variables, one more identity lets them cancel:
//
//   c*(Q + floor(Y/a)) = c*floor((a*Q + Y)/a)                      c divides all coefficients
#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {
namespace {

// floor(x / lower_factor) mod extent of a variable x in [0, values - 1]; without an extent, only
// the floor.
struct DigitOfVariable {
  const Atom* variable = nullptr;
  int64_t values = 0;
  int64_t lower_factor = 1;
  std::optional<int64_t> extent = {};
};

// The atom as a digit of one variable; nullopt if it is no such digit.
std::optional<DigitOfVariable> AsDigitOfVariable(const Atom* atom) {
  DigitOfVariable digit;
  if (atom->kind == Atom::Kind::kVariable) {
    digit.variable = atom;
  } else if (const QuasiAffineSum* number = NumberOfDigit(*atom)) {
    digit.variable = LoneAtom(*number);
    if (digit.variable == nullptr) return std::nullopt;
    if (atom->IsFloor()) {
      digit.lower_factor = atom->divisor;
    } else {
      digit.lower_factor = atom->is_digit ? 1 : LoneAtom(atom->dividend)->divisor;
      digit.extent = atom->divisor;
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

// Whether two digits of one variable take their values independently, as far as they are beside
// each other: the lower one ends where the higher one begins, or below.
bool AreIndependent(const DigitOfVariable& a, const DigitOfVariable& b) {
  const DigitOfVariable& low = b.lower_factor > a.lower_factor ? a : b;
  const DigitOfVariable& high = b.lower_factor > a.lower_factor ? b : a;
  return low.extent && high.lower_factor % (low.lower_factor * *low.extent) == 0 &&
         (high.extent || high.values % high.lower_factor == 0);
}

// Whether the digits of a sum take all of their values whatever values the others have, so that
// their ranges add up exactly. Digits of one variable x do where each ends where the next one
// begins, or below: all of them are digits of any number below the end of the highest one, and x is
// such a number where it has that many values, or, where the highest has no end, a multiple of its
// lower factor.
bool HasIndependentDigits(const QuasiAffineSum& sum) {
  llvm::SmallVector<DigitOfVariable, 8> digits;
  for (const AtomTerm& term : sum.terms()) {
    const std::optional<DigitOfVariable> digit = AsDigitOfVariable(term.atom);
    if (!digit) return false;
    if (digit->extent) {
      const std::optional<int64_t> end = CheckedMul(digit->lower_factor, *digit->extent);
      if (!end || *end > digit->values) return false;
    }
    for (const DigitOfVariable& other : digits) {
      if (other.variable == digit->variable && !AreIndependent(*digit, other)) return false;
    }
    digits.push_back(*digit);
  }
  return true;
}

// Whether the ends of the interval are values.
bool IsReached(const Interval& interval, const std::optional<CornerValues>& values) {
  return values && interval == Interval::Closed(std::min(values->at_least, values->at_greatest),
                                                std::max(values->at_least, values->at_greatest));
}

Interval RangeOfModFreeForm(SimplifierState& state, const QuasiAffineSum& sum);

// The range of c*(Q + floor(Y/a)) = c*floor((a*Q + Y)/a), where the floor is that of the term and c
// its coefficient; all integers where the sum is no such product. The constant may be any.
Interval RangeOfProduct(SimplifierState& state, const QuasiAffineSum& sum, const AtomTerm& term) {
  const int64_t c = term.coefficient;
  const bool divides = c == 1 || c == -1 || llvm::all_of(sum.terms(), [c](const AtomTerm& other) {
                         return other.coefficient % c == 0;
                       });
  if (!divides) return Interval::All();
  QuasiAffineSum joined = sum;
  joined.RemoveConstant();
  joined.RemoveTerm(term.atom);
  if (c == -1) {
    joined.Scale(-1);
  } else {
    joined.DivideExactly(c);
  }
  joined.Scale(term.atom->divisor);
  joined.AddScaled(term.atom->dividend_mod_free_form, 1);
  if (!joined.valid()) return Interval::All();
  const Interval range = RangeOfModFreeForm(state, joined);
  return range.FloorDiv(term.atom->divisor).Mul(c).Add(sum.constant());
}

Interval RangeOfModFreeForm(SimplifierState& state, const QuasiAffineSum& sum) {
  if (!sum.valid()) return Interval::All();
  if (!HasFloorAtom(sum)) return state.known.SumOfRanges(sum);
  Interval range = RangeOfForms(state, sum);
  constexpr int kMaxNesting = 3;
  if (state.range_depth >= kMaxNesting || sum.terms().size() < 2) return range;
  const Nested nested(&state.range_depth);
  for (const AtomTerm& term : sum.terms()) {
    if (!term.atom->IsFloor()) continue;
    if (!QuestionBudget::Spend()) break;
    range = range.Intersect(RangeOfProduct(state, sum, term));
  }
  return range;
}

}  // namespace

Interval RangeOf(SimplifierState& state, const QuasiAffineSum& sum) {
  if (!sum.valid()) return Interval::All();
  const Interval range = state.known.SumOfRanges(sum);
  // The ranges of independent terms add up exactly, and one term is independent.
  if (sum.terms().size() < 2 || IsLinear(sum)) return range;
  if (state.known.IsBox() && IsReached(range, CornerValuesOf(sum))) return range;
  if (!state.known.HasBounds() && HasIndependentDigits(sum)) return range;
  return range.Intersect(RangeOfModFreeForm(state, ModFreeForm(sum)));
}

WideInterval WideRangeOf(SimplifierState& state, const QuasiAffineSum& sum) {
  const Interval range = RangeOf(state, sum);
  if (!sum.valid() || range.IsFinite()) return WideInterval(range);
  return WideSumOfRanges(sum).Intersect(WideInterval(range));
}

}  // namespace xla_indexing::internal
