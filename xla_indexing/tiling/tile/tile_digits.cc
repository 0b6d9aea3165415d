#include "xla_indexing/tiling/tile/tile_digits.h"

#include <algorithm>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/map/expr/components.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

TileDigits::TileDigits(const IndexingMap& map, llvm::ArrayRef<AffineExpr> runtime_elements)
    : num_dims_(map.num_dims()), num_ranges_(map.num_ranges()) {
  variables_.resize(num_dims_ + num_ranges_);
  for (int i = 0; i < num_dims_; ++i) variables_[i].bounds = map.dims()[i].bounds;
  for (int i = 0; i < num_ranges_; ++i) {
    variables_[num_dims_ + i].bounds = map.ranges()[i].bounds;
  }
  results_.reserve(map.num_results() + runtime_elements.size());
  for (const AffineExpr expr : map.results()) AddResult(expr, /*is_runtime_element=*/false);
  for (const AffineExpr expr : runtime_elements) AddResult(expr, /*is_runtime_element=*/true);
  if (!map.constraints().empty()) FixResidues(map);
  for (size_t i = 0; i < variables_.size(); ++i) {
    variables_[i].first_unit = static_cast<int>(units_.size());
    if (variables_[i].is_opaque || !MakeUnits(static_cast<int>(i))) {
      units_.truncate(variables_[i].first_unit);
      variables_[i].num_units = 0;
      variables_[i].is_opaque = is_opaque_ = true;
    }
  }
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!MakeUnitTerms(static_cast<int>(i))) results_[i].is_opaque = is_opaque_ = true;
  }
}

// Runtime variables stand for themselves; they have no digits.
void TileDigits::AddResult(AffineExpr expr, bool is_runtime_element) {
  TileResult result;
  result.is_runtime_element = is_runtime_element;
  result.first_term = static_cast<int>(terms_.size());
  const int first_runtime = num_dims_ + num_ranges_;
  const std::optional<DigitSum> sum = DigitSumOf(expr, num_dims_);
  result.is_opaque = !sum || llvm::any_of(sum->terms, [&](const DigitTerm& term) {
    return term.digit.variable >= first_runtime && !term.digit.IsPlain();
  });
  if (result.is_opaque) {
    is_opaque_ = true;
  } else {
    result.constant = sum->constant;
    // Range variables first: of units with equal coefficients the first one gives the step, and those of
    // range variables have several values at every tile size.
    for (const DigitTerm& term : llvm::reverse(sum->terms)) {
      if (term.digit.variable < first_runtime) {
        terms_.push_back(term);
      } else {
        result.has_runtime = true;
      }
    }
  }
  result.num_terms = static_cast<int>(terms_.size()) - result.first_term;
  results_.push_back(result);
}

// Residues that constraints fix are those of one variable, or make the map opaque. What else
// constraints say decides which tiles are full.
void TileDigits::FixResidues(const IndexingMap& map) {
  for (const Constraint& constraint : map.constraints()) {
    if (!IsOfResidues(constraint)) continue;
    const std::optional<DigitSum> sum = DigitSumOf(constraint.expr, num_dims_);
    const bool is_digit =
        sum && sum->terms.size() == 1 && sum->terms[0].digit.variable < num_dims_ + num_ranges_;
    const VariableDigit digit = is_digit ? sum->terms[0].digit : VariableDigit();
    // A variable of one value has the residue that it has, or the domain would be empty.
    if (is_digit && variables_[digit.variable].bounds.IsPoint()) continue;
    is_plain_ = false;
    const bool is_of_one = is_digit && digit.low == 1 && constraint.interval.IsPoint() &&
                           digit.variable < num_dims_ && variables_[digit.variable].modulus == 1;
    const std::optional<int64_t> part =
        is_of_one ? CheckedSub(constraint.interval.lower(), sum->constant) : std::nullopt;
    const std::optional<int64_t> value =
        part ? ExactQuotient(*part, sum->terms[0].coefficient) : std::nullopt;
    const std::optional<int64_t> shift = value ? CheckedSub(digit.shift, *value) : std::nullopt;
    if (!shift) {
      for (const int variable : VariablesOf(constraint.expr, num_dims_)) {
        if (variable < num_dims_ + num_ranges_) variables_[variable].is_opaque = true;
      }
      is_opaque_ = true;
      continue;
    }
    TileVariable& variable = variables_[digit.variable];
    variable.modulus = digit.count;
    variable.shift = *shift;
    // The values between the ends and the next multiples beyond them are left out by residues
    // alone.
    const Interval multiples = Congruence::Of(-*shift, digit.count).Tighten(variable.bounds);
    const Interval around = Interval::Closed(1 - digit.count, digit.count - 1);
    variable.bounds = variable.bounds.Union(multiples.Add(around)).Intersect(Interval::AtLeast(0));
  }
}

// Cuts the digits of a variable into units; one of a single value has none.
bool TileDigits::MakeUnits(int index) {
  TileVariable& variable = variables_[index];
  if (variable.bounds.IsPoint()) return true;
  const auto is_of_variable = [&](const DigitTerm& term) { return term.digit.variable == index; };
  if (variable.modulus == 1 && llvm::none_of(terms_, is_of_variable)) return true;
  if (index >= num_dims_ && (!variable.bounds.IsFinite() || variable.bounds.IsEmpty())) {
    return false;
  }
  if (variable.modulus != 1) {
    for (const DigitTerm& term : llvm::make_filter_range(terms_, is_of_variable)) {
      if (term.digit.IsPlain()) continue;
      if (term.digit.low != variable.modulus || term.digit.count != 0) return false;
    }
    units_.push_back({index, variable.modulus, 0});
    variable.num_units = 1;
    return true;
  }
  // Where digits begin and end.
  llvm::SmallVector<int64_t, 8> factors;
  llvm::SmallVector<VariableDigit, 4> digits;
  bool has_end = true;
  for (const DigitTerm& term : llvm::make_filter_range(terms_, is_of_variable)) {
    const VariableDigit& digit = term.digit;
    digits.push_back(digit);
    factors.push_back(digit.low);
    if (digit.count == 0) has_end = false;
    if (digit.count != 0) factors.push_back(digit.Period());
    if (!digit.IsPlain()) is_plain_ = false;
  }
  const std::optional<int64_t> shift = CommonShift(digits);
  if (!shift) return false;
  variable.shift = *shift;
  llvm::sort(factors);
  factors.erase(llvm::unique(factors), factors.end());
  for (size_t i = 0; i + 1 < factors.size(); ++i) {
    if (factors[i + 1] % factors[i] != 0) return false;
    units_.push_back({index, factors[i], factors[i + 1] / factors[i]});
  }
  if (!has_end) units_.push_back({index, factors.back(), 0});
  variable.num_units = static_cast<int>(units_.size()) - variable.first_unit;
  return true;
}

// What a digit is more than the sum of its units: all of it for a variable of one value.
std::optional<int64_t> TileDigits::RestOf(const VariableDigit& digit) const {
  const TileVariable& variable = variables_[digit.variable];
  if (variable.bounds.IsPoint()) {
    const std::optional<int64_t> shifted = CheckedAdd(variable.bounds.lower(), digit.shift);
    if (!shifted) return std::nullopt;
    const int64_t quotient = FloorDiv(*shifted, digit.low);
    return digit.count == 0 ? quotient : FloorMod(quotient, digit.count);
  }
  if (variable.modulus == 1) return ConstantAtShift(digit, variable.shift);
  if (digit.IsPlain()) return CheckedNeg(variable.shift);
  const std::optional<int64_t> beyond = CheckedSub(digit.shift, variable.shift);
  if (!beyond) return std::nullopt;
  return FloorDiv(*beyond, variable.modulus);
}

// Adds the units of a term to the result, whose unit terms are the last ones.
bool TileDigits::AddUnitsOf(const DigitTerm& term, const TileResult& result) {
  const TileVariable& variable = variables_[term.digit.variable];
  for (int unit = variable.first_unit; unit < variable.first_unit + variable.num_units; ++unit) {
    const std::optional<int64_t> scale = ScaleIn(term.digit, unit);
    if (!scale) continue;
    const std::optional<int64_t> coefficient = CheckedMul(term.coefficient, *scale);
    if (!coefficient) return false;
    // Two occurrences of one unit make one window.
    const auto of_result = llvm::MutableArrayRef(unit_terms_).drop_front(result.first_unit_term);
    const auto known =
        llvm::find_if(of_result, [&](const TileUnitTerm& t) { return t.unit == unit; });
    if (known == of_result.end()) {
      unit_terms_.push_back({unit, *coefficient});
      continue;
    }
    const std::optional<int64_t> sum = CheckedAdd(known->coefficient, *coefficient);
    if (!sum) return false;
    known->coefficient = *sum;
  }
  return true;
}

// Writes a result as a sum of units.
bool TileDigits::MakeUnitTerms(int index) {
  TileResult& result = results_[index];
  result.first_unit_term = static_cast<int>(unit_terms_.size());
  for (const DigitTerm& term : TermsOf(result)) {
    if (variables_[term.digit.variable].is_opaque) return false;
    const std::optional<int64_t> rest = RestOf(term.digit);
    const std::optional<int64_t> constant =
        rest ? NarrowToInt64(Int128{*rest} * term.coefficient + result.constant) : std::nullopt;
    if (!constant || !AddUnitsOf(term, result)) return false;
    result.constant = *constant;
  }
  const auto begin = unit_terms_.begin() + result.first_unit_term;
  unit_terms_.erase(std::remove_if(begin, unit_terms_.end(),
                                   [](const TileUnitTerm& t) { return t.coefficient == 0; }),
                    unit_terms_.end());
  if (std::any_of(begin, unit_terms_.end(),
                  [](const TileUnitTerm& t) { return t.coefficient == kInt64Min; })) {
    return false;
  }
  std::stable_sort(begin, unit_terms_.end(), [](const TileUnitTerm& a, const TileUnitTerm& b) {
    return Magnitude(a.coefficient) < Magnitude(b.coefficient);
  });
  result.num_unit_terms = static_cast<int>(unit_terms_.size()) - result.first_unit_term;
  if (result.is_runtime_element) return true;
  for (const TileUnitTerm& term : UnitTermsOf(result)) {
    int& user = units_[term.unit].result;
    user = user == TileUnit::kNone ? index : TileUnit::kSeveral;
  }
  return true;
}

// What a unit counts for in a digit of its variable; nullopt if it is no part of it.
std::optional<int64_t> TileDigits::ScaleIn(const VariableDigit& digit, int unit) const {
  const int64_t low = units_[unit].low;
  // (v + shift) / modulus.
  if (variables_[digit.variable].modulus != 1) return digit.IsPlain() ? low : 1;
  if (low < digit.low) return std::nullopt;
  const int64_t scale = low / digit.low;
  if (digit.count != 0 && scale >= digit.count) return std::nullopt;
  return scale;
}

}  // namespace xla_indexing::internal
