#include "xla_indexing/affine/internal/values_in_turn.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/quasi_affine_sum.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

int64_t ValuesInTurn::At(int64_t t) const {
  return values[static_cast<size_t>(FloorMod(t, Period()))] + FloorDiv(t, Period()) * drift;
}

namespace {

constexpr int64_t kMostPeriod = 24;
constexpr int64_t kMostNumber = int64_t{1} << 20;
// Sums of products with numbers stay far below 2^63.
constexpr int64_t kMostValue = int64_t{1} << 36;
constexpr size_t kMostTerms = 16;
constexpr size_t kMostVariables = 4;
constexpr int kMostDivisions = 16;

bool IsDivision(const Atom* atom) { return atom->IsFloor() || atom->IsMod(); }
bool IsSmall(int64_t number) { return number >= -kMostNumber && number <= kMostNumber; }
bool IsSmallValue(int64_t value) { return value >= -kMostValue && value <= kMostValue; }

// The variables in the dividends of a sum.
struct VariablesOfDividends {
  // Returns whether there are few of them and few divisions, all numbers are small, and all atoms in
  // dividends are variables and divisions.
  bool Find(const QuasiAffineSum& sum, bool is_dividend = false) {
    if (!sum.valid() || sum.terms().size() > kMostTerms || !IsSmall(sum.constant())) return false;
    return llvm::all_of(sum.terms(), [&](const AtomTerm& term) {
      if (!IsSmall(term.coefficient)) return false;
      if (IsDivision(term.atom)) {
        return ++divisions <= kMostDivisions && IsSmall(term.atom->divisor) &&
               Find(term.atom->dividend, true);
      }
      if (!is_dividend || llvm::is_contained(variables, term.atom)) return true;
      variables.push_back(term.atom);
      return term.atom->kind == Atom::Kind::kVariable && variables.size() <= most_variables;
    });
  }

  size_t most_variables = kMostVariables;
  llvm::SmallVector<const Atom*, kMostVariables + 1> variables = {};
  int divisions = 0;  // as often as they occur
};

// Whether no division in the sum has a period above the bound, as far as divisions of variables
// alone tell: m is the period of floor(L/m) where the coefficients of L have no divisor with m.
bool HaveShortPeriods(const QuasiAffineSum& sum) {
  return llvm::all_of(sum.terms(), [](const AtomTerm& term) {
    if (!IsDivision(term.atom)) return true;
    const QuasiAffineSum& dividend = term.atom->dividend;
    if (!IsLinear(dividend)) return HaveShortPeriods(dividend);
    const int64_t m = term.atom->divisor;
    return m <= kMostPeriod || m / Gcd(m, dividend.CoefficientGcd()) <= kMostPeriod;
  });
}

class Reader {
 public:
  explicit Reader(const QuasiAffineSum& sum) : sum_(sum) {}

  std::optional<FunctionOfOneSum> Read() {
    if (!found_.Find(sum_) || !HaveShortPeriods(sum_)) return std::nullopt;
    // Not each variable of L has a coefficient with an inverse modulo the period.
    for (const Atom* variable : found_.variables) {
      if (auto read = ReadAlong(variable)) return read;
    }
    return std::nullopt;
  }

 private:
  // L = variable + ..; the other variables have the least coefficients in L with which each dividend
  // depends on L alone, but for multiples of the divisor.
  std::optional<FunctionOfOneSum> ReadAlong(const Atom* variable) {
    variable_ = variable;
    greatest_period_ = 1;
    std::optional<ValuesInTurn> values = ValuesOf(sum_);
    if (!values) return std::nullopt;
    FunctionOfOneSum read;
    read.values = *std::move(values);
    Shorten(read.values);
    for (const AtomTerm& term : sum_.terms()) {
      const bool is_beside =
          !IsDivision(term.atom) && !llvm::is_contained(found_.variables, term.atom);
      if (is_beside) read.beside.AddNewTerm(term.atom, term.coefficient);
    }
    for (const Atom* other : found_.variables) {
      if (other == variable) {
        read.one_sum.AddTerm(other, 1);
        continue;
      }
      std::optional<int64_t> beside;
      int64_t in_sum = 0;
      for (; !beside && in_sum < greatest_period_; ++in_sum) beside = Beside(sum_, other, in_sum);
      if (!beside) return std::nullopt;
      --in_sum;
      // phi(L + p*q*x) is phi(L) + drift*q*x.
      const int64_t least = in_sum % read.values.Period();
      read.one_sum.AddTerm(other, least);
      read.beside.AddTerm(other,
                          *beside + (in_sum - least) / read.values.Period() * read.values.drift);
    }
    return read;
  }

  // The values where the variable is 0, 1, .. and the others are 0.
  std::optional<ValuesInTurn> ValuesOf(const QuasiAffineSum& sum) {
    ValuesInTurn result;
    result.values[0] = sum.constant();
    for (const AtomTerm& term : sum.terms()) {
      if (term.atom == variable_) {
        if (!AddScaled(result, {{0}, 1}, term.coefficient)) return std::nullopt;
      } else if (IsDivision(term.atom)) {
        const std::optional<ValuesInTurn> values = ValuesOf(*term.atom);
        if (!values || !AddScaled(result, *values, term.coefficient)) return std::nullopt;
      }
    }
    return result;
  }

  std::optional<ValuesInTurn> ValuesOf(const Atom& division) {
    std::optional<ValuesInTurn> dividend = ValuesOf(division.dividend);
    if (!dividend) return std::nullopt;
    // After so many periods the dividend has grown by a multiple of m.
    const int64_t m = division.divisor;
    const int64_t periods = m / Gcd(m, dividend->drift);
    if (!Extend(*dividend, dividend->Period() * periods)) return std::nullopt;
    for (int64_t& value : dividend->values) {
      value = division.IsFloor() ? FloorDiv(value, m) : FloorMod(value, m);
    }
    dividend->drift = division.IsFloor() ? dividend->drift / m : 0;
    Shorten(*dividend);
    return dividend;
  }

  // The same values, for several periods as one.
  bool Extend(ValuesInTurn& function, int64_t period) {
    if (period > kMostPeriod) return false;
    greatest_period_ = std::lcm(greatest_period_, period);
    if (greatest_period_ > kMostPeriod) return false;
    const int64_t before = function.Period();
    for (int64_t t = before; t < period; ++t) {
      function.values.push_back(function.values[t - before] + function.drift);
    }
    function.drift *= period / before;
    return true;
  }

  bool AddScaled(ValuesInTurn& result, ValuesInTurn summand, int64_t factor) {
    const int64_t period = std::lcm(result.Period(), summand.Period());
    if (!Extend(result, period) || !Extend(summand, period)) return false;
    for (int64_t t = 0; t < period; ++t) result.values[t] += factor * summand.values[t];
    result.drift += factor * summand.drift;
    return IsSmallValue(result.drift) && llvm::all_of(result.values, IsSmallValue);
  }

  // Finds the least period.
  static void Shorten(ValuesInTurn& function) {
    const int64_t period = function.Period();
    for (int64_t least = 1; least < period; ++least) {
      if (period % least != 0 || function.drift % (period / least) != 0) continue;
      const int64_t drift = function.drift / (period / least);
      bool repeats = true;
      for (int64_t t = least; repeats && t < period; ++t) {
        repeats = function.values[t] == function.values[t - least] + drift;
      }
      if (!repeats) continue;
      function.values.truncate(static_cast<size_t>(least));
      function.drift = drift;
      return;
    }
  }

  // What `other` has in Z, where L is variable + in_sum*other.
  std::optional<int64_t> Beside(const QuasiAffineSum& sum, const Atom* other,
                                int64_t in_sum) const {
    int64_t beside = sum.CoefficientOf(other) - in_sum * sum.CoefficientOf(variable_);
    for (const AtomTerm& term : sum.terms()) {
      if (!IsDivision(term.atom)) continue;
      const std::optional<int64_t> part = Beside(term.atom->dividend, other, in_sum);
      if (!part || *part % term.atom->divisor != 0) return std::nullopt;
      if (!term.atom->IsFloor()) continue;
      const std::optional<int64_t> product =
          CheckedMul(*part / term.atom->divisor, term.coefficient);
      if (!product || __builtin_add_overflow(beside, *product, &beside)) return std::nullopt;
    }
    return beside;
  }

  const QuasiAffineSum& sum_;
  VariablesOfDividends found_;
  const Atom* variable_ = nullptr;
  // A common multiple of all periods.
  int64_t greatest_period_ = 1;
};

// The value where all variables are 0 but one; none where it or a part of it is large.
std::optional<int64_t> ValueAt(const QuasiAffineSum& sum, const Atom* variable, int64_t x) {
  int64_t value = sum.constant();
  for (const AtomTerm& term : sum.terms()) {
    std::optional<int64_t> part = 0;
    if (term.atom == variable) part = x;
    if (IsDivision(term.atom)) {
      part = ValueAt(term.atom->dividend, variable, x);
      const int64_t m = term.atom->divisor;
      if (part) part = term.atom->IsFloor() ? FloorDiv(*part, m) : FloorMod(*part, m);
    }
    if (!part) return std::nullopt;
    value += term.coefficient * *part;
  }
  return IsSmallValue(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<FunctionOfVariable> AsFunctionOfVariable(const QuasiAffineSum& sum) {
  VariablesOfDividends found{1};
  if (!found.Find(sum) || found.variables.empty()) return std::nullopt;
  const Atom* variable = found.variables[0];
  const Interval& range = variable->range;
  if (!range.has_lower() || !range.has_upper() || !IsSmall(range.lower()) ||
      !IsSmall(range.upper()) || range.upper() - range.lower() >= kMostValuesOfVariable) {
    return std::nullopt;
  }
  FunctionOfVariable function{variable, {}, {}};
  for (const AtomTerm& term : sum.terms()) {
    const bool is_beside = !IsDivision(term.atom) && term.atom != variable;
    if (is_beside) function.beside.AddNewTerm(term.atom, term.coefficient);
  }
  for (int64_t x = range.lower(); x <= range.upper(); ++x) {
    const std::optional<int64_t> value = ValueAt(sum, variable, x);
    if (!value) return std::nullopt;
    function.values.push_back(*value);
  }
  return function;
}

std::optional<FunctionOfOneSum> AsFunctionOfOneSum(const QuasiAffineSum& sum) {
  return Reader(sum).Read();
}

}  // namespace xla_indexing::internal
