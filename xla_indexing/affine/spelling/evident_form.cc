#include "xla_indexing/affine/spelling/evident_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

using IntervalOfVariable = llvm::function_ref<const Interval*(AffineExpr)>;

// A division by a number of at least 2.
struct DivisionByNumber {
  AffineExpr dividend;
  int64_t divisor;
  bool is_mod;
};

std::optional<DivisionByNumber> AsDivision(AffineExpr e) {
  const bool is_mod = e.getKind() == AffineExprKind::Mod;
  if (!is_mod && e.getKind() != AffineExprKind::FloorDiv) return std::nullopt;
  const auto binary = llvm::cast<AffineBinaryOpExpr>(e);
  const auto divisor = llvm::dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || divisor.getValue() < 2) return std::nullopt;
  return DivisionByNumber{binary.getLHS(), divisor.getValue(), is_mod};
}

AffineExpr FloorDivOrMod(const DivisionByNumber& division) {
  return division.is_mod ? Mod(division.dividend, division.divisor)
                         : FloorDiv(division.dividend, division.divisor);
}

// Takes a constant away from the end of a sum.
int64_t TakeLastConstant(AffineExpr& e) {
  if (e.getKind() != AffineExprKind::Add) return 0;
  const auto sum = llvm::cast<AffineBinaryOpExpr>(e);
  const auto constant = llvm::dyn_cast<AffineConstantExpr>(sum.getRHS());
  if (!constant) return 0;
  e = sum.getLHS();
  return constant.getValue();
}

// Takes the last summand away from a sum, and makes that null where it was the last one. The atom is
// null where the summand is no multiple of one.
Term TakeLastSummand(AffineExpr& e) {
  AffineExpr summand = e;
  if (e.getKind() == AffineExprKind::Add) {
    const auto sum = llvm::cast<AffineBinaryOpExpr>(e);
    summand = sum.getRHS();
    e = sum.getLHS();
  } else {
    e = {};
  }
  if (summand.getKind() != AffineExprKind::Mul) return {summand, 1};
  const auto product = llvm::cast<AffineBinaryOpExpr>(summand);
  const auto factor = llvm::dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!factor) return {{}, 1};
  return {product.getLHS(), factor.getValue()};
}

// Where a summand stands: its class, whether it is the mod of a floor, and its variable's position.
struct PlaceInSum {
  SummandClass summand_class;
  bool is_nested;
  unsigned position;
  friend bool operator<(const PlaceInSum& a, const PlaceInSum& b) {
    return std::tie(a.summand_class, a.is_nested, a.position) <
           std::tie(b.summand_class, b.is_nested, b.position);
  }
};

PlaceInSum PlaceOfVariable(AffineExpr variable) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    return {SummandClass::kDim, false, dim.getPosition()};
  }
  return {SummandClass::kSymbol, false, llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition()};
}

// The place of a digit that stays as it is; `variable` becomes its variable.
std::optional<PlaceInSum> PlaceOfDigit(const Term& term, IntervalOfVariable range_of,
                                       AffineExpr& variable) {
  const std::optional<DivisionByNumber> outer = AsDivision(term.atom);
  if (!outer) return std::nullopt;
  variable = outer->dividend;
  int64_t lower_factor = 1;
  bool is_nested = false;
  if (outer->is_mod && !IsVariable(variable)) {
    const std::optional<DivisionByNumber> inner = AsDivision(variable);
    if (!inner || inner->is_mod) return std::nullopt;
    variable = inner->dividend;
    lower_factor = inner->divisor;
    is_nested = true;
  }
  if (!IsVariable(variable)) return std::nullopt;
  const Interval* range = range_of(variable);
  if (range == nullptr || !range->has_lower() || range->lower() < 0) return std::nullopt;
  const std::optional<int64_t> size = CheckedMul(lower_factor, outer->divisor);
  if (!size) return std::nullopt;
  if (range->has_upper()) {
    const int64_t first = range->lower() / lower_factor;
    const int64_t last = range->upper() / lower_factor;
    if (range->upper() - range->lower() < 2 || last - first < 2 ||
        first / outer->divisor == last / outer->divisor) {
      return std::nullopt;
    }
  }
  PlaceInSum place = PlaceOfVariable(variable);
  const bool is_dim = place.summand_class == SummandClass::kDim;
  if (outer->is_mod) {
    place.summand_class = is_dim ? SummandClass::kDimMod : SummandClass::kMod;
  } else {
    place.summand_class = is_dim ? SummandClass::kDimFloorDiv : SummandClass::kFloorDiv;
  }
  place.is_nested = is_nested;
  return place;
}

// Variables that were seen, of the first 64 of each kind.
class SeenVariables {
 public:
  // Whether the variable is one of those, and new.
  bool Add(AffineExpr variable) {
    const PlaceInSum place = PlaceOfVariable(variable);
    uint64_t& seen = place.summand_class == SummandClass::kDim ? dims_ : symbols_;
    if (place.position >= 64 || ((seen >> place.position) & 1U) != 0) return false;
    seen |= uint64_t{1} << place.position;
    return true;
  }

 private:
  uint64_t dims_ = 0;
  uint64_t symbols_ = 0;
};

// Sums of variables and digits.
bool IsSumOfDigits(AffineExpr e, IntervalOfVariable range_of) {
  if (e.getKind() == AffineExprKind::Constant) return true;
  TakeLastConstant(e);
  SeenVariables seen;
  bool has_digits = false;
  std::optional<PlaceInSum> next;  // of the summand after the one that is looked at
  llvm::SmallVector<AffineExpr, 8> linear;
  while (e) {
    const Term term = TakeLastSummand(e);
    if (!term.atom) return false;
    AffineExpr variable = term.atom;
    std::optional<PlaceInSum> place;
    if (IsVariable(term.atom)) {
      const Interval* range = range_of(variable);
      if (range == nullptr || range->IsPoint()) return false;
      place = PlaceOfVariable(variable);
      linear.push_back(variable);
    } else {
      if (term.coefficient < 1) return false;
      place = PlaceOfDigit(term, range_of, variable);
      if (!place || !seen.Add(variable)) return false;
      has_digits = true;
    }
    if (next && !(*place < *next)) return false;
    next = place;
  }
  // Variables that stand in order alone are distinct anyway.
  return !has_digits || llvm::all_of(linear, [&](AffineExpr v) { return seen.Add(v); });
}

constexpr Int128 kUnbounded = Int128{1} << 120;

// A summand a*v of a dividend, a not a multiple of the divisor.
struct PartOfDividend {
  int64_t a;
  // The absolute value of the residue of a in (-m/2, m/2].
  int64_t residue;
  // How far apart the values of v are.
  Int128 width_of_variable;

  // How far apart the values of its residue times v are.
  Int128 Width() const {
    return width_of_variable >= kUnbounded / residue ? kUnbounded : width_of_variable * residue;
  }
};

// Whether the other summands may leave the dividend, since the values of one are so few that no other
// multiple of m is reached (dividend_rules.cc).
bool MayDropOthers(llvm::ArrayRef<PartOfDividend> parts, int64_t m) {
  Int128 all = 0;
  for (const PartOfDividend& part : parts) all += part.Width();
  return parts.size() > 1 && llvm::any_of(parts, [&](const PartOfDividend& part) {
           return part.width_of_variable < kMostValuesOnInterval &&
                  part.width_of_variable + 1 < m / Gcd(m, part.a) && all - part.Width() < m;
         });
}

// Whether floor(R / m) and R mod m have no split: where g divides m and L has the summands of R that
// g does not divide, L takes values that are g or more apart. The g that matter are m, its gcds with
// the coefficients and those of two of them (dividend_rules.cc).
bool HasNoSplit(llvm::ArrayRef<PartOfDividend> parts, int64_t m) {
  const auto is_wide_below = [&](int64_t g) {
    Int128 width = 0;
    for (const PartOfDividend& part : parts) {
      if (part.a % g != 0) width += part.Width();
    }
    return width >= g;
  };
  if (!is_wide_below(m)) return false;
  int64_t all = m;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t g = Gcd(m, parts[i].a);
    all = Gcd(all, g);
    if (g == 1) continue;
    if (!is_wide_below(g)) return false;
    for (size_t j = 0; j < i; ++j) {
      const int64_t both = Gcd(g, parts[j].a);
      if (both > 1 && !is_wide_below(both)) return false;
    }
  }
  return all == 1;
}

// Whether numbers are so far from the ends of int64 that all those of the simplifier fit, whichever way
// it takes.
bool AreFarFromEnds(llvm::ArrayRef<int64_t> numbers) {
  constexpr int64_t kFar = int64_t{1} << 40;
  return llvm::all_of(numbers, [](int64_t n) { return -kFar <= n && n <= kFar; });
}

// A division of a sum of variables.
bool IsLoneDivision(AffineExpr e, IntervalOfVariable range_of) {
  const std::optional<DivisionByNumber> division = AsDivision(e);
  if (!division) return false;
  const int64_t m = division->divisor;
  AffineExpr rest = division->dividend;
  const int64_t constant = TakeLastConstant(rest);
  if (!AreFarFromEnds({m, constant})) return false;
  if (division->is_mod ? constant < 0 || constant >= m : constant != 0 && constant % m == 0) {
    return false;
  }
  constexpr size_t kMostParts = 8;
  llvm::SmallVector<PartOfDividend, kMostParts> parts;
  std::optional<PlaceInSum> next;
  while (rest) {
    const Term term = TakeLastSummand(rest);
    const int64_t a = term.coefficient;
    if (!term.atom || !IsVariable(term.atom) || parts.size() == kMostParts || a < 1 ||
        !AreFarFromEnds(a)) {
      return false;
    }
    if (division->is_mod ? a >= m || (a == m - 1 && a != 1) : a % m == 0 || a - 1 == m) {
      return false;
    }
    const PlaceInSum place = PlaceOfVariable(term.atom);
    if (next && !(place < *next)) return false;
    next = place;
    const Interval* range = range_of(term.atom);
    if (range == nullptr || range->IsEmpty()) return false;
    PartOfDividend part{a, std::min(a % m, m - a % m), kUnbounded};
    if (range->has_lower() && range->has_upper()) {
      part.width_of_variable = Int128{range->upper()} - range->lower();
      const bool is_alone = !rest && parts.empty();
      if (part.width_of_variable < (is_alone ? 2 : 1)) return false;
    }
    parts.push_back(part);
  }
  return !parts.empty() && !MayDropOthers(parts, m) && HasNoSplit(parts, m);
}

// Uses k*E = k*(E mod n) + k*n*floor(E/n) where two of the three stand in the sum, E beside a division
// of it being a variable. Returns whether the sum has changed.
bool UseDefinitionOfMod(LinearSum& sum) {
  for (const Term& term : sum.terms()) {
    const std::optional<DivisionByNumber> division = AsDivision(term.atom);
    if (!division) continue;
    const auto& [e, n, is_mod] = *division;
    if (!is_mod && term.coefficient % n != 0) continue;
    const int64_t k = is_mod ? term.coefficient : term.coefficient / n;
    if (IsVariable(e) && k != kInt64Min && sum.CoefficientOf(e) == -k) {
      const AffineExpr other = is_mod ? FloorDiv(e, n) : Mod(e, n);
      const std::optional<int64_t> coefficient = is_mod ? CheckedMul(-k, n) : -k;
      if (!coefficient) return false;
      sum.RemoveTerm(term.atom);
      sum.RemoveTerm(e);
      sum.AddTerm(other, *coefficient);
      return true;
    }
    if (!is_mod) continue;
    for (const Term& other : sum.terms()) {
      const std::optional<DivisionByNumber> floor = AsDivision(other.atom);
      const bool joins = floor && !floor->is_mod && floor->dividend == e && floor->divisor == n &&
                         other.coefficient % n == 0 && other.coefficient / n == k;
      if (!joins) continue;
      const AffineExpr floor_atom = other.atom;
      sum.RemoveTerm(term.atom);
      sum.RemoveTerm(floor_atom);
      sum.AddScaled(LinearSum::FromExpr(e), k);
      return true;
    }
  }
  return false;
}

bool IsFarFromEnds(const Interval& interval) {
  return (!interval.has_lower() || AreFarFromEnds(interval.lower())) &&
         (!interval.has_upper() || AreFarFromEnds(interval.upper()));
}

// The atom, where it is a variable of one value that value, and of a division of a variable whose floor
// is always q that constant, or the variable without q times the divisor.
LinearSum KnownValue(AffineExpr atom, IntervalOfVariable range_of) {
  const std::optional<DivisionByNumber> division = AsDivision(atom);
  const AffineExpr variable = division ? division->dividend : atom;
  const Interval* range = IsVariable(variable) ? range_of(variable) : nullptr;
  if (range == nullptr) return LinearSum::Of(atom);
  if (!division) return range->IsPoint() ? LinearSum(range->lower()) : LinearSum::Of(atom);
  const std::optional<Interval> floors = WideInterval(*range).FloorDiv(division->divisor).Narrow();
  if (!floors || !floors->IsPoint()) return LinearSum::Of(atom);
  if (!division->is_mod) return LinearSum(floors->lower());
  const std::optional<int64_t> multiple = CheckedMul(floors->lower(), division->divisor);
  if (!multiple) return LinearSum::Of(atom);
  LinearSum remainder = LinearSum::Of(variable);
  remainder.SubtractConstant(*multiple);
  return remainder;
}

bool HasOnlyVariables(const LinearSum& sum) {
  return llvm::all_of(sum.terms(), [](const Term& term) { return IsVariable(term.atom); });
}

LinearSum WithKnownValues(const LinearSum& sum, IntervalOfVariable range_of) {
  LinearSum result(sum.constant());
  for (const Term& term : sum.terms()) {
    result.AddScaled(KnownValue(term.atom, range_of), term.coefficient);
  }
  return result;
}

// Uses floor((g*H + L) / (g*n)) = floor((H + q) / n), where g divides the coefficients in H and L is in
// [g*q, g*q + g - 1]. The sum is of variables. Returns whether there is such a g.
bool TakeLowDigits(LinearSum& sum, int64_t& divisor, IntervalOfVariable range_of) {
  if (!AreFarFromEnds({divisor, sum.constant()})) return false;
  llvm::SmallVector<int64_t, 4> factors = {divisor};
  for (const Term& term : sum.terms()) {
    const Interval* range = range_of(term.atom);
    if (!AreFarFromEnds(term.coefficient) || (range != nullptr && !IsFarFromEnds(*range)))
      return false;
    const int64_t g = Gcd(divisor, term.coefficient);
    if (g > 1 && !llvm::is_contained(factors, g)) factors.push_back(g);
  }
  for (const int64_t g : factors) {
    LinearSum high;
    WideInterval low = WideInterval::Point(sum.constant());
    for (const auto& [variable, coefficient] : sum.terms()) {
      const Interval* range = range_of(variable);
      if (coefficient % g == 0) {
        high.AddTerm(variable, coefficient / g);
      } else {
        low = low.Add(WideInterval(range != nullptr ? *range : Interval::All()).Mul(coefficient));
      }
    }
    const std::optional<Interval> quotient = low.FloorDiv(g).Narrow();
    if (!quotient || !quotient->IsPoint()) continue;
    high.AddConstant(quotient->lower());
    sum = std::move(high);
    divisor /= g;
    return true;
  }
  return false;
}

// Whether the floor of a variable has two values, of which all functions are linear.
bool HasTwoValues(const DivisionByNumber& floor, IntervalOfVariable range_of) {
  const Interval* range = range_of(floor.dividend);
  return range != nullptr &&
         WideInterval(*range).FloorDiv(floor.divisor).Narrow().value_or(Interval::All()).Size() ==
             2;
}

// The division by the rules of EvidentFormOf(), or what has no division any more; null where no rule
// holds.
AffineExpr ShorterDivision(DivisionByNumber division, IntervalOfVariable range_of) {
  bool changed = false;
  while (const std::optional<DivisionByNumber> inner = AsDivision(division.dividend)) {
    if (inner->is_mod) break;
    if (inner->dividend.getKind() == AffineExprKind::Add) {
      // The floor of a sum may be a sum.
      const AffineExpr sum = ShorterDivision(*inner, range_of);
      if (!sum) return {};
      division.dividend = sum;
    } else {
      const bool is_of_variable =
          !division.is_mod && IsVariable(inner->dividend) && !HasTwoValues(*inner, range_of);
      const std::optional<int64_t> divisor =
          is_of_variable ? CheckedMul(inner->divisor, division.divisor) : std::nullopt;
      if (!divisor) break;
      division = {inner->dividend, *divisor, false};
    }
    changed = true;
  }
  if (division.dividend.getKind() != AffineExprKind::Add) {
    return changed ? FloorDivOrMod(division) : AffineExpr();
  }
  LinearSum dividend = LinearSum::FromExpr(division.dividend);
  while (UseDefinitionOfMod(dividend)) changed = true;
  if (!HasOnlyVariables(dividend)) {
    dividend = WithKnownValues(dividend, range_of);
    changed = true;
  }
  if (!dividend.valid() || !HasOnlyVariables(dividend)) return {};
  if (division.is_mod) {
    const auto residue = [&](int64_t number) { return FloorMod(number, division.divisor); };
    const bool reduced =
        dividend.ReplaceCoefficients([&](const Term& term) { return residue(term.coefficient); });
    const int64_t constant = dividend.constant();
    changed = changed || reduced || residue(constant) != constant;
    dividend.AddConstant(residue(constant) - constant);
  } else {
    while (division.divisor > 1 && TakeLowDigits(dividend, division.divisor, range_of)) {
      changed = true;
    }
  }
  if (!changed) return {};
  division.dividend = dividend.ToExpr(division.dividend.getContext());
  return division.divisor == 1 ? division.dividend : FloorDivOrMod(division);
}

}  // namespace

bool IsEvidentForm(AffineExpr expr, IntervalOfVariable range_of) {
  if (IsOff(Engine::kEvidentForms)) return false;
  return IsSumOfDigits(expr, range_of) || IsLoneDivision(expr, range_of);
}

AffineExpr EvidentFormOf(AffineExpr expr, IntervalOfVariable range_of) {
  if (IsOff(Engine::kEvidentForms)) return {};
  AffineExpr form;
  if (const std::optional<DivisionByNumber> division = AsDivision(expr)) {
    form = ShorterDivision(*division, range_of);
  } else {
    LinearSum sum = LinearSum::FromExpr(expr);
    while (UseDefinitionOfMod(sum)) form = expr;
    LinearSum with_values = WithKnownValues(sum, range_of);
    // Nothing has changed where there are divisions still.
    if (!form && with_values == sum && !HasOnlyVariables(sum)) return {};
    form = with_values.ToExpr(expr.getContext());
  }
  return form && IsEvidentForm(form, range_of) ? form : AffineExpr();
}

}  // namespace xla_indexing::internal
