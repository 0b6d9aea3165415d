#include "xla_indexing/affine/internal/evident_form.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/values_in_turn.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/congruence.h"

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

// The digit's place, where it is one that stays as it is beside a constant; its variable is told apart
// by `variable`.
std::optional<PlaceInSum> PlaceOfDigit(AffineExpr e, int64_t constant, IntervalOfVariable range_of,
                                       AffineExpr& variable) {
  const std::optional<DivisionByNumber> outer = AsDivision(e);
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
    // With two values the floor may be one with another divisor and without the constant.
    const bool has_two_values = last / outer->divisor - first / outer->divisor < 2;
    if (!outer->is_mod && constant != 0 && has_two_values) return std::nullopt;
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
  const int64_t constant = TakeLastConstant(e);
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
      place = PlaceOfDigit(term.atom, constant, range_of, variable);
      if (!place || !seen.Add(variable)) return false;
      has_digits = true;
    }
    if (next && !(*place < *next)) return false;
    next = place;
  }
  // Variables that stand in order alone are distinct anyway.
  return !has_digits || llvm::all_of(linear, [&](AffineExpr v) { return seen.Add(v); });
}

// A summand a*v of a dividend, a not a multiple of the divisor.
struct PartOfDividend {
  int64_t a;
  // How far apart the values of r*v are, where r is the residue of a in (-m/2, m/2]: those of a*v are
  // no nearer.
  Int128 width;
};

// Whether floor(R / m) and R mod m have no split: where g divides m and L has the summands of R that
// g does not divide, L takes values that are g or more apart. The g that matter are m, its gcds with
// the coefficients and those of two of them (dividend_rules.cc).
bool HasNoSplit(llvm::ArrayRef<PartOfDividend> parts, int64_t m) {
  const auto is_wide_below = [&](int64_t g) {
    Int128 width = 0;
    for (const PartOfDividend& part : parts) {
      if (part.a % g != 0) width += part.width;
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

// A division of a sum of variables.
bool IsLoneDivision(AffineExpr e, IntervalOfVariable range_of) {
  const std::optional<DivisionByNumber> division = AsDivision(e);
  if (!division) return false;
  const int64_t m = division->divisor;
  AffineExpr rest = division->dividend;
  const int64_t constant = TakeLastConstant(rest);
  if (division->is_mod ? constant < 0 || constant >= m : constant != 0 && constant % m == 0) {
    return false;
  }
  constexpr size_t kMostParts = 8;
  constexpr Int128 kUnbounded = Int128{1} << 120;
  llvm::SmallVector<PartOfDividend, kMostParts> parts;
  std::optional<PlaceInSum> next;
  while (rest) {
    const Term term = TakeLastSummand(rest);
    const int64_t a = term.coefficient;
    if (!term.atom || !IsVariable(term.atom) || parts.size() == kMostParts || a < 1) return false;
    if (division->is_mod ? a >= m || (a == m - 1 && a != 1) : a % m == 0 || a - 1 == m) {
      return false;
    }
    const PlaceInSum place = PlaceOfVariable(term.atom);
    if (next && !(place < *next)) return false;
    next = place;
    const Interval* range = range_of(term.atom);
    if (range == nullptr || range->IsEmpty()) return false;
    Int128 width = kUnbounded;
    if (range->has_lower() && range->has_upper()) {
      width = Int128{range->upper()} - range->lower();
      const bool is_alone = !rest && parts.empty();
      if (width < (is_alone ? 2 : 1)) return false;
      // On few values there may be a floor with a smaller divisor.
      const bool has_other_floors = is_alone && !division->is_mod &&
                                    width < kMostValuesOfVariable &&
                                    (a != 1 || constant != 0 || range->lower() < 0);
      if (has_other_floors) return false;
      const int64_t residue = a % m;
      width *= std::min(residue, m - residue);
    }
    parts.push_back({a, width});
  }
  return !parts.empty() && HasNoSplit(parts, m);
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

// The division by the rules of EvidentFormOf(); null where none holds.
AffineExpr ShorterDivision(DivisionByNumber division) {
  bool changed = false;
  while (!division.is_mod) {
    const std::optional<DivisionByNumber> inner = AsDivision(division.dividend);
    const bool is_of_variable = inner && !inner->is_mod && IsVariable(inner->dividend);
    const std::optional<int64_t> divisor =
        is_of_variable ? CheckedMul(inner->divisor, division.divisor) : std::nullopt;
    if (!divisor) break;
    division = {inner->dividend, *divisor, false};
    changed = true;
  }
  if (division.dividend.getKind() != AffineExprKind::Add) {
    return changed ? FloorDiv(division.dividend, division.divisor) : AffineExpr();
  }
  LinearSum dividend = LinearSum::FromExpr(division.dividend);
  while (UseDefinitionOfMod(dividend)) changed = true;
  // A lone division is evident only of a sum of variables, of which a floor keeps all.
  const auto may_stay = [&](const Term& term) {
    return IsVariable(term.atom) && (division.is_mod || term.coefficient % division.divisor != 0);
  };
  if (!llvm::all_of(dividend.terms(), may_stay)) return {};
  if (division.is_mod) {
    const auto residue = [&](int64_t number) { return FloorMod(number, division.divisor); };
    const bool reduced =
        dividend.ReplaceCoefficients([&](const Term& term) { return residue(term.coefficient); });
    const int64_t constant = dividend.constant();
    changed = changed || reduced || residue(constant) != constant;
    dividend.AddConstant(residue(constant) - constant);
  }
  const AffineExpr written =
      changed ? dividend.ToExpr(division.dividend.getContext()) : AffineExpr();
  return division.is_mod ? Mod(written, division.divisor) : FloorDiv(written, division.divisor);
}

}  // namespace

bool IsEvidentForm(AffineExpr expr, IntervalOfVariable range_of) {
  return IsSumOfDigits(expr, range_of) || IsLoneDivision(expr, range_of);
}

AffineExpr EvidentFormOf(AffineExpr expr, IntervalOfVariable range_of) {
  AffineExpr form;
  if (const std::optional<DivisionByNumber> division = AsDivision(expr)) {
    form = ShorterDivision(*division);
  } else {
    LinearSum sum = LinearSum::FromExpr(expr);
    while (UseDefinitionOfMod(sum)) form = expr;
    bool is_linear = true;
    LinearSum with_values(sum.constant());
    for (const Term& term : sum.terms()) {
      const Interval* range = IsVariable(term.atom) ? range_of(term.atom) : nullptr;
      is_linear = is_linear && range != nullptr;
      if (range != nullptr && range->IsPoint()) {
        with_values.AddScaled(LinearSum(range->lower()), term.coefficient);
      } else {
        with_values.AddTerm(term.atom, term.coefficient);
      }
    }
    // Nothing has changed where there are divisions still.
    if (!sum.valid() || (!is_linear && !form)) return {};
    form = with_values.ToExpr(expr.getContext());
  }
  return form && IsEvidentForm(form, range_of) ? form : AffineExpr();
}

}  // namespace xla_indexing::internal
