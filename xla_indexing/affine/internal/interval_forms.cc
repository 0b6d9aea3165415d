// The forms of a function of a variable x that is told by its values, since these are few
// (affine/internal/values_in_turn.h). With steps D(x) = f(x + 1) - f(x),
//
//   e*x + c'                             D is e
//   e*x + k*floor((a*x + c)/n) + c'      D is e, and e + k where the floor grows
//   E*x - l*((a*x + c) mod n) + C        the same: k = l*n, and k*floor(Y/n) = l*Y - l*(Y mod n)
//
// The floor grows where f does exactly if a/n lies between two numbers, which any two places say
// something of, and for each a and n the constants c are an interval.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/rules.h"
#include "xla_indexing/affine/internal/values_in_turn.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// So many forms are spelled.
constexpr size_t kMostFormsOnInterval = 6;

// A fraction in [-1, 2], with a positive denominator.
struct Slope {
  int64_t a;
  int64_t n;
  bool operator<(const Slope& other) const { return a * other.n < other.a * n; }
};

// of_x*x + factor*division + constant, where the division is floor((a*x + c)/n) or (a*x + c) mod n.
struct OneDivision {
  bool is_mod = false;
  int64_t a = 0, c = 0, n = 1;
  int64_t factor = 0;
  int64_t of_x = 0;
  int64_t constant = 0;

  int64_t DividedAt(int64_t x) const {
    return is_mod ? FloorMod(a * x + c, n) : FloorDiv(a * x + c, n);
  }
  // floor(Y/n) = -1 - floor((-Y - 1)/n), and Y mod n = n - 1 - (-Y - 1) mod n.
  OneDivision Negated() const {
    return {is_mod, -a, -c - 1, n, -factor, of_x, constant + factor * (is_mod ? n - 1 : -1)};
  }
};

// How many nodes a form has, beside those that all have, and about how great its greatest number is.
struct FormSize {
  int64_t nodes = 0;
  int64_t greatest = 0;
  friend auto operator<=>(const FormSize&, const FormSize&) = default;

  void Add(const FormSize& part) {
    nodes += part.nodes;
    greatest = std::max(greatest, part.greatest);
  }
};

FormSize SizeOfNumber(int64_t number, int64_t nodes_of_one, int64_t nodes) {
  if (number == 0) return {};
  if (number == 1) return {nodes_of_one, 0};
  return {nodes, number < 0 ? -number : number};
}

// x, or the constants, in the dividend and beside the division, of which any z may change places.
FormSize SizeOfColumn(const OneDivision& form, int64_t inside, int64_t beside, bool is_constant) {
  const int64_t nodes_of_one = 2;
  const int64_t nodes = is_constant ? 2 : 4;
  const auto with = [&](int64_t z) {
    FormSize size = SizeOfNumber(inside + form.n * z, nodes_of_one, nodes);
    size.Add(SizeOfNumber(form.is_mod ? beside : beside - form.factor * z, nodes_of_one, nodes));
    return size;
  };
  const int64_t z = -FloorDiv(inside, form.n);
  FormSize least = std::min(with(z), with(z - 1));
  for (const int64_t left : {0, 1}) {
    if (form.is_mod || (is_constant && left == 1) || (beside - left) % form.factor != 0) continue;
    least = std::min(least, with((beside - left) / form.factor));
  }
  return least;
}

FormSize SizeAsItIs(const OneDivision& form) {
  FormSize size = {0, form.n};
  size.Add(SizeOfColumn(form, form.a, form.of_x, false));
  // factor*(Y mod n) + c = (factor*Y + c) mod (factor*n) where 0 <= c < factor.
  if (form.is_mod && form.factor > 1 && FloorMod(form.a, form.n) != 1) {
    const bool goes_in = form.constant >= 0 && form.constant < form.factor;
    size.Add(SizeOfColumn(form, form.c, goes_in ? 0 : form.constant, true));
    if (goes_in && form.constant != 0 && FloorMod(form.c, form.n) == 0) size.nodes += 2;
    return size;
  }
  size.Add(SizeOfColumn(form, form.c, form.constant, true));
  size.Add(SizeOfNumber(form.factor, 0, 2));
  return size;
}

class FormsOnInterval {
 public:
  FormsOnInterval(SimplifierState* state, const FunctionOfVariable* function,
                  llvm::SmallVectorImpl<QuasiAffineSum>* forms)
      : state_(*state),
        function_(*function),
        values_(function->values),
        first_(function->variable->range.lower()),
        forms_(*forms) {}

  bool Add() {
    if (!FindGrowth()) return false;
    if (k_ == 0) {
      AddForm({false, 0, 0, 1, 0, e_, values_[0] - e_ * first_});
      return true;
    }
    if (!FindSlopes()) return false;
    FindForms();
    for (const Found& found : found_) AddForm(found.form);
    return true;
  }

 private:
  // e, k, and what the floor has grown by: f is f(first) + e*i + k*grown[i].
  bool FindGrowth() {
    e_ = kInt64Max;
    int64_t most = kInt64Min;
    for (size_t i = 1; i < values_.size(); ++i) {
      e_ = std::min(e_, values_[i] - values_[i - 1]);
      most = std::max(most, values_[i] - values_[i - 1]);
    }
    k_ = most - e_;
    grown_.push_back(0);
    for (size_t i = 1; i < values_.size(); ++i) {
      const int64_t more = values_[i] - values_[i - 1] - e_;
      if (more != 0 && more != k_) return false;
      grown_.push_back(grown_.back() + (more != 0 ? 1 : 0));
    }
    return true;
  }

  // floor(r*j + s) - floor(r*i + s) is less than r*(j - i) + 1 and more than r*(j - i) - 1.
  bool FindSlopes() {
    const auto size = static_cast<int64_t>(values_.size());
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = i + 1; j < size; ++j) {
        low_ = std::max(low_, {grown_[j] - grown_[i] - 1, j - i});
        high_ = std::min(high_, {grown_[j] - grown_[i] + 1, j - i});
      }
    }
    return low_ < high_;
  }

  // Where there is a form of one division there is one whose n is no more than the number of values.
  void FindForms() {
    const int64_t most = std::max<int64_t>(16, 2 * static_cast<int64_t>(values_.size()));
    for (int64_t n = 1; n <= most; ++n) {
      for (int64_t a = FloorDiv(low_.a * n, low_.n) + 1; a * high_.n < high_.a * n; ++a) {
        if (Gcd(a, n) == 1) TakeSlope({a, n});
      }
    }
    TakeMultiples(e_, k_, StepThatAdds(1));
    TakeMultiples(e_ + k_, -k_, StepThatAdds(0));
  }

  // The first one where the floor grows, or where it does not.
  int64_t StepThatAdds(int64_t more) const {
    size_t i = 1;
    while (grown_[i] - grown_[i - 1] != more) ++i;
    return static_cast<int64_t>(i) - 1;
  }

  void TakeSlope(const Slope& slope) {
    // The constants with which floor((a*x + c)/n) grows so.
    int64_t least = kInt64Min;
    int64_t greatest = kInt64Max;
    for (size_t i = 0; i < values_.size(); ++i) {
      const int64_t at_zero = slope.n * grown_[i] - slope.a * (first_ + static_cast<int64_t>(i));
      least = std::max(least, at_zero);
      greatest = std::min(greatest, at_zero + slope.n - 1);
    }
    if (least > greatest) return;
    TakeConstants({false, slope.a, 0, slope.n, k_, e_}, least, greatest);
    if (slope.n == 1 || k_ % slope.n != 0) return;
    const int64_t l = k_ / slope.n;
    TakeConstants({true, slope.a, 0, slope.n, -l, e_ + l * slope.a}, least, greatest);
  }

  // Those at the ends, and those that go, or with which the one beside goes, with either sign.
  void TakeConstants(OneDivision form, int64_t least, int64_t greatest) {
    llvm::SmallVector<int64_t, 6> constants = {least, greatest};
    for (const int64_t residue : {0, -1}) {
      constants.push_back(greatest - FloorMod(greatest - residue, form.n));
    }
    form.c = greatest;
    const int64_t beside = ConstantBeside(form);
    if (beside % form.factor == 0) {
      const int64_t multiple = beside / form.factor;
      const int64_t without = form.is_mod ? greatest + multiple : -form.n * multiple;
      constants.append({without, without + form.n - 1});
    }
    llvm::sort(constants);
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (const int64_t constant : constants) {
      if (constant < least || constant > greatest) continue;
      form.c = constant;
      form.constant = ConstantBeside(form);
      Take(form);
    }
  }

  // What is beside the division where the form is f at the first value of x.
  int64_t ConstantBeside(const OneDivision& form) const {
    return values_[0] - form.of_x * first_ - form.factor * form.DividedAt(first_);
  }

  // e*x + k*floor(x/n), which grows from x to x + 1 at the step i, so that x + 1 is a multiple of n, and
  // e*x - k*floor(-x/n), where x is one.
  void TakeMultiples(int64_t e, int64_t k, int64_t i) {
    for (const int64_t a : {1, -1}) {
      const int64_t at = a > 0 ? i + 1 : i;
      const int64_t x = first_ + at;
      const std::optional<int64_t> quotient = ExactQuotient(values_[at] - e * x, k);
      const std::optional<int64_t> n =
          quotient && *quotient != 0 ? ExactQuotient(x, *quotient) : std::nullopt;
      if (!n || *n < 2) continue;
      const OneDivision form{false, a, 0, *n, a * k, e};
      bool is_f = true;
      for (size_t j = 0; is_f && j < values_.size(); ++j) {
        const int64_t of = first_ + static_cast<int64_t>(j);
        is_f = values_[j] == e * of + form.factor * form.DividedAt(of);
      }
      if (is_f) Take(form);
    }
  }

  void Take(const OneDivision& form) {
    const Found found{std::min(SizeAsItIs(form), SizeAsItIs(form.Negated())), form};
    auto* at = llvm::upper_bound(found_, found,
                                 [](const Found& a, const Found& b) { return a.size < b.size; });
    found_.insert(at, found);
    if (found_.size() > kMostFormsOnInterval) found_.pop_back();
  }

  void AddForm(const OneDivision& form) {
    QuasiAffineSum sum = function_.beside;
    sum.AddConstant(form.constant);
    sum.AddTerm(function_.variable, form.of_x);
    if (form.factor != 0) {
      QuasiAffineSum dividend(form.c);
      dividend.AddTerm(function_.variable, form.a);
      sum.AddScaled(
          form.is_mod ? Modulo(state_, dividend, form.n) : FloorDivide(state_, dividend, form.n),
          form.factor);
    }
    if (sum.valid() && !llvm::is_contained(forms_, sum)) forms_.push_back(std::move(sum));
  }

  struct Found {
    FormSize size;
    OneDivision form;
  };

  SimplifierState& state_;
  const FunctionOfVariable& function_;
  const llvm::ArrayRef<int64_t> values_;
  const int64_t first_;
  llvm::SmallVectorImpl<QuasiAffineSum>& forms_;
  int64_t e_ = 0;
  int64_t k_ = 0;
  llvm::SmallVector<int64_t, kMostValuesOfVariable> grown_;
  // a/n is between these.
  Slope low_{-1, 1};
  Slope high_{2, 1};
  llvm::SmallVector<Found, kMostFormsOnInterval + 1> found_;
};

}  // namespace

bool AddFormsOnInterval(SimplifierState& state, const FunctionOfVariable& function,
                        llvm::SmallVectorImpl<QuasiAffineSum>& forms) {
  return FormsOnInterval(&state, &function, &forms).Add();
}

}  // namespace xla_indexing::internal
