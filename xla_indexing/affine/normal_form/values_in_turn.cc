#include "xla_indexing/affine/normal_form/values_in_turn.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/base/numbers/checked.h"

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
      return term.atom->kind == Atom::Kind::kVariable && variables.size() <= kMostVariables;
    });
  }

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

// With q*L + m*W in the place of the variables of each dividend, W leaves a floor and goes from a mod.
class IntervalReader {
 public:
  explicit IntervalReader(const QuasiAffineSum& sum) : sum_(sum) {}

  std::optional<FunctionOnInterval> Read() {
    VariablesOfDividends found;
    if (!found.Find(sum_) || !llvm::all_of(found.variables, HasFewValues) || !FindOneSum(sum_)) {
      return std::nullopt;
    }
    const Interval range = SumOfRanges(one_sum_);
    if (!range.has_lower() || !range.has_upper() || !IsSmall(range.lower()) ||
        !IsSmall(range.upper()) || range.upper() - range.lower() >= kMostValuesOnInterval) {
      return std::nullopt;
    }
    first_ = range.lower();
    size_ = static_cast<size_t>(range.upper() - range.lower()) + 1;
    FunctionOnInterval function{one_sum_, {}, first_, {}};
    if (!ReadValues(sum_, function.values, function.beside)) return std::nullopt;
    const int64_t along = function.beside.CoefficientOf(lead_.atom);
    if (!IsSmall(along)) return std::nullopt;
    TakeMultiple(along * lead_.coefficient, function.values, function.beside);
    return function;
  }

 private:
  using Values = llvm::SmallVector<int64_t, 32>;

  static bool HasFewValues(const Atom* variable) {
    const Interval& range = variable->range;
    return range.has_lower() && range.has_upper() && IsSmall(range.lower()) &&
           IsSmall(range.upper()) && range.upper() - range.lower() < kMostValuesOnInterval;
  }

  // L is what a dividend of variables has residues of, without a common divisor. Its sign is that with
  // which the first variable is positive.
  bool FindOneSum(const QuasiAffineSum& sum) {
    return llvm::any_of(sum.terms(), [&](const AtomTerm& term) {
      if (!IsDivision(term.atom)) return false;
      if (!IsLinear(term.atom->dividend)) return FindOneSum(term.atom->dividend);
      one_sum_ = term.atom->dividend;
      one_sum_.RemoveConstant();
      one_sum_.ReplaceCoefficients(
          [&](const AtomTerm& part) { return LeastResidue(part.coefficient, term.atom->divisor); });
      // Strides stay what they are, unless residues are multiples of something smaller.
      if (one_sum_.CoefficientGcd() <= term.atom->dividend.CoefficientGcd()) {
        one_sum_ = term.atom->dividend;
        one_sum_.RemoveConstant();
      }
      if (one_sum_.IsConstant()) return false;
      one_sum_.Sort();
      const int64_t gcd = one_sum_.CoefficientGcd();
      one_sum_.DivideExactly(one_sum_.terms()[0].coefficient < 0 ? -gcd : gcd);
      const auto is_one = [](const AtomTerm& t) {
        return t.coefficient == 1 || t.coefficient == -1;
      };
      const auto* lead = llvm::find_if(one_sum_.terms(), is_one);
      if (lead == one_sum_.terms().end()) return false;
      lead_ = *lead;
      return true;
    });
  }

  // The residue in (-m/2, m/2].
  static int64_t LeastResidue(int64_t number, int64_t m) {
    const int64_t residue = FloorMod(number, m);
    return residue > m - residue ? residue - m : residue;
  }

  // The sum is `beside` and the values, a function of L. Returns false where it is not known to be, and
  // where a number is large.
  bool ReadValues(const QuasiAffineSum& sum, Values& values, QuasiAffineSum& beside) const {
    values.assign(size_, sum.constant());
    for (const AtomTerm& term : sum.terms()) {
      if (!IsDivision(term.atom)) {
        beside.AddTerm(term.atom, term.coefficient);
        continue;
      }
      Values part;
      QuasiAffineSum of_part;
      const int64_t m = term.atom->divisor;
      if (!ReadValues(term.atom->dividend, part, of_part)) return false;
      const int64_t in_dividend = of_part.CoefficientOf(lead_.atom) % m * lead_.coefficient;
      TakeMultiple(LeastResidue(in_dividend, m), part, of_part);
      const auto goes = [m](const AtomTerm& rest) { return rest.coefficient % m == 0; };
      if (!of_part.valid() || !llvm::all_of(of_part.terms(), goes)) return false;
      for (size_t i = 0; i < size_; ++i) {
        values[i] +=
            term.coefficient * (term.atom->IsFloor() ? FloorDiv(part[i], m) : FloorMod(part[i], m));
      }
      if (!term.atom->IsFloor()) continue;
      of_part.DivideExactly(m);
      beside.AddScaled(of_part, term.coefficient);
    }
    return beside.valid() && llvm::all_of(values, IsSmallValue);
  }

  // multiple*L goes from `beside` to the values.
  void TakeMultiple(int64_t multiple, Values& values, QuasiAffineSum& beside) const {
    beside.SubtractScaled(one_sum_, multiple);
    for (size_t i = 0; i < size_; ++i) values[i] += multiple * (first_ + static_cast<int64_t>(i));
  }

  const QuasiAffineSum& sum_;
  QuasiAffineSum one_sum_;
  AtomTerm lead_ = {};  // of L: the first whose coefficient is 1 or -1
  int64_t first_ = 0;
  size_t size_ = 0;
};

}  // namespace

std::optional<FunctionOnInterval> AsFunctionOnInterval(const QuasiAffineSum& sum) {
  return IntervalReader(sum).Read();
}

std::optional<FunctionOfOneSum> AsFunctionOfOneSum(const QuasiAffineSum& sum) {
  return Reader(sum).Read();
}

}  // namespace xla_indexing::internal
