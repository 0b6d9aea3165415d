#include "xla_indexing/affine/normal_form/values_on_interval.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

namespace {

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

// With q*L + m*W for the variables of each dividend, W leaves a floor and goes from a mod.
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

}  // namespace xla_indexing::internal
