// The forms of a function of a sum of variables x that is told by its values, since these are few
// (affine/normal_form/values_in_turn.h). With steps D(x) = f(x + 1) - f(x),
//
//   e*x + c'                             D is e
//   e*x + k*floor((a*x + c)/n) + c'      D is e, and e + k where the floor grows
//   E*x - l*((a*x + c) mod n) + C        the same: k = l*n, and k*floor(Y/n) = l*Y - l*(Y mod n)
//
// The floor grows where f does exactly if a/n lies between two numbers, which any two places say
// something of, and for each a and n the constants c are an interval.
//
// Where there is none of these, f may be e*x and such a function of a division of x, which stands in
// another division then, or it may be one of these and another division of x:
//
//   e*x + k*((a*F + c) op n) + c'        D is e where F = floor((b*x + d)/m) does not grow, 0 < b < m
//   e*x + k*((a*M + c) op n) + c'        f(x + m) - f(x) is e*m, M = (b*x + d) mod m
//   l*F + g(x), F = floor((x + d)/m)     g is one of the forms above; l is a difference of two D
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/numbers/checked.h"

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

// A variable of x, or the constants, in the dividend and beside the division, of which any z may change
// places.
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

// What the variables of x add to the size of a form, whatever the constants are.
struct SizeOfVariables {
  FormSize size;
  int64_t ones = 0;  // that stand in the dividend without a factor
};

SizeOfVariables SizeOfAllColumns(const OneDivision& form, const FunctionOnInterval& function) {
  SizeOfVariables variables{{0, form.n}};
  for (const auto& [variable, in_x] : function.one_sum.terms()) {
    const int64_t beside = form.of_x * in_x + function.beside.CoefficientOf(variable);
    variables.size.Add(SizeOfColumn(form, form.a * in_x, beside, false));
    if (FloorMod(form.a * in_x, form.n) == 1) ++variables.ones;
  }
  return variables;
}

FormSize SizeAsItIs(const OneDivision& form, const SizeOfVariables& variables) {
  FormSize size = variables.size;
  size.Add(SizeOfColumn(form, form.c, form.constant, true));
  size.Add(SizeOfNumber(form.factor, 0, 2));
  if (!form.is_mod || form.factor <= 1) return size;
  // factor*(Y mod n) + c = (factor*Y + c) mod (factor*n) where 0 <= c < factor.
  FormSize multiplied = variables.size;
  multiplied.nodes += 2 * variables.ones;
  const bool goes_in = form.constant >= 0 && form.constant < form.factor;
  multiplied.Add(SizeOfColumn(form, form.c, goes_in ? 0 : form.constant, true));
  if (goes_in && form.constant != 0 && FloorMod(form.c, form.n) == 0) multiplied.nodes += 2;
  return std::min(size, multiplied);
}

// A form, and how long it is.
struct FoundForm {
  FormSize size;
  OneDivision form;
};

// Whether no form of this size or a greater one is kept beside those that are.
template <typename Form>
bool IsTooLong(const FormSize& size, llvm::ArrayRef<Form> kept) {
  if (kept.empty()) return false;
  return size.nodes > kept.front().size.nodes ||
         (kept.size() == kMostFormsOnInterval && kept.back().size <= size);
}

// Keeps the forms that look shortest, in order: as many as this with the fewest nodes. The form that was
// found first comes first of equal ones.
template <typename Form>
void KeepShortest(const Form& found, llvm::SmallVectorImpl<Form>& kept) {
  if (IsTooLong<Form>(found.size, kept)) return;
  auto* at =
      llvm::upper_bound(kept, found, [](const Form& a, const Form& b) { return a.size < b.size; });
  kept.insert(at, found);
  while (kept.size() > kMostFormsOnInterval || kept.back().size.nodes > kept.front().size.nodes) {
    kept.pop_back();
  }
}

class FormsOnInterval {
 public:
  // Where x is to stand in a division alone no other forms are looked for.
  explicit FormsOnInterval(const FunctionOnInterval* function, bool is_alone = false)
      : function_(*function),
        values_(function->values),
        first_(function->first),
        is_alone_(is_alone) {}

  bool Find() {
    if (!FindGrowth()) return false;
    if (k_ == 0) {
      found_.push_back({{}, {false, 0, 0, 1, 0, e_, values_[0] - e_ * first_}});
      return true;
    }
    if (!FindSlopes()) return false;
    FindForms();
    return true;
  }

  llvm::ArrayRef<FoundForm> found() const { return found_; }

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

  // floor(r*j + s) - floor(r*i + s) is less than r*(j - i) + 1 and more than r*(j - i) - 1. The first says
  // most from the last place before the floor grows to the first one after, and the second from the
  // first place of a value of the floor to the last one of another.
  bool FindSlopes() {
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto place = static_cast<int64_t>(i);
      if (i == 0 || grown_[i] != grown_[i - 1]) levels_.push_back({place, place});
      levels_.back().last = place;
    }
    const auto size = static_cast<int64_t>(levels_.size());
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = i; j < size; ++j) {
        if (j > i) low_ = std::max(low_, {j - i - 1, levels_[j].first - levels_[i].last});
        const int64_t apart = levels_[j].last - levels_[i].first;
        if (apart > 0) high_ = std::min(high_, {j - i + 1, apart});
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
    if (!found_.empty() && found_.front().size < FormSize{LeastNodes(slope), slope.n}) return;
    // The constants with which floor((a*x + c)/n) grows so; a is positive, since the floor grows.
    int64_t least = kInt64Min;
    int64_t greatest = kInt64Max;
    for (const auto& [grown, level] : llvm::enumerate(levels_)) {
      const int64_t at_least = slope.n * static_cast<int64_t>(grown);
      least = std::max(least, at_least - slope.a * (first_ + level.first));
      greatest = std::min(greatest, at_least + slope.n - 1 - slope.a * (first_ + level.last));
    }
    if (least > greatest) return;
    TakeConstants({false, slope.a, 0, slope.n, k_, e_}, least, greatest);
    if (slope.n == 1 || k_ % slope.n != 0) return;
    const int64_t l = k_ / slope.n;
    TakeConstants({true, slope.a, 0, slope.n, -l, e_ + l * slope.a}, least, greatest);
  }

  // A variable of x adds two nodes at least, and four where it stands in the dividend with a factor: as
  // each does that has 1 or -1 in x, unless a is 1 or -1 modulo n.
  int64_t LeastNodes(const Slope& slope) const {
    const int64_t residue = FloorMod(slope.a, slope.n);
    const bool is_unit = residue <= 1 || residue == slope.n - 1;
    int64_t nodes = 0;
    for (const auto& [variable, in_x] : function_.one_sum.terms()) {
      nodes += !is_unit && (in_x == 1 || in_x == -1) ? 4 : 2;
    }
    return nodes;
  }

  // Those at the ends, and those that go, or with which the one beside goes, with either sign.
  void TakeConstants(OneDivision form, int64_t least, int64_t greatest) {
    const std::optional<Candidate> candidate = CandidateOf(form);
    if (!candidate) return;
    form = candidate->form;
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
      Take(*candidate, form);
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
      if (!is_f) continue;
      if (const auto candidate = CandidateOf(form)) Take(*candidate, candidate->form);
    }
  }

  // A form but for its constants, and the size of its variables with either sign.
  struct Candidate {
    OneDivision form;
    SizeOfVariables as_it_is;
    SizeOfVariables negated;
  };

  // None where x is to stand in the division alone and cannot, or where all such forms are too long.
  std::optional<Candidate> CandidateOf(OneDivision form) const {
    if (is_alone_ && form.of_x != 0) {
      if (form.is_mod || form.of_x % form.factor != 0) return std::nullopt;
      form.a += form.of_x / form.factor * form.n;
      form.of_x = 0;
    }
    Candidate candidate{form, SizeOfAllColumns(form, function_),
                        SizeOfAllColumns(form.Negated(), function_)};
    const FormSize& least = std::min(candidate.as_it_is.size, candidate.negated.size);
    return IsTooLong<FoundForm>(least, found_) ? std::nullopt : std::optional(candidate);
  }

  void Take(const Candidate& candidate, const OneDivision& form) {
    KeepShortest({std::min(SizeAsItIs(form, candidate.as_it_is),
                           SizeAsItIs(form.Negated(), candidate.negated)),
                  form},
                 found_);
  }

  const FunctionOnInterval& function_;
  const llvm::ArrayRef<int64_t> values_;
  const int64_t first_;
  const bool is_alone_;
  int64_t e_ = 0;
  int64_t k_ = 0;
  llvm::SmallVector<int64_t, kMostValuesOnInterval> grown_;
  // The places with each value of the floor, from the first one on.
  struct Level {
    int64_t first;
    int64_t last;
  };
  llvm::SmallVector<Level, kMostValuesOnInterval> levels_;
  // a/n is between these.
  Slope low_{-1, 1};
  Slope high_{2, 1};
  llvm::SmallVector<FoundForm, kMostFormsOnInterval + 1> found_;
};

QuasiAffineSum DividendOf(const OneDivision& form, const QuasiAffineSum& x) {
  QuasiAffineSum dividend(form.c);
  dividend.AddScaled(x, form.a);
  return dividend;
}

// Looks for the divisions of x that f is a function of, and for those beside which it is one of the
// forms of one division.
class FormsOfTwoDivisions {
 public:
  explicit FormsOfTwoDivisions(const FunctionOnInterval* function)
      : function_(*function), values_(function->values) {}

  struct Nested {
    FormSize size;
    OneDivision inner;  // with the factor 1, and e*x beside
    OneDivision outer;  // of the inner division in the place of x
  };
  struct Sum {
    FormSize size;
    OneDivision first;
    OneDivision second;
  };

  void Find() {
    FindNested();
    FindSums();
  }

  llvm::ArrayRef<Nested> nested() const { return nested_; }
  llvm::ArrayRef<Sum> sums() const { return sums_; }

 private:
  static constexpr int64_t kMostInnerNumber = 16;

  void FindNested() {
    const auto size = static_cast<int64_t>(values_.size());
    for (int64_t m = 2; m <= std::min(size, kMostInnerNumber); ++m) {
      const std::optional<int64_t> along = StepsOfPeriod(m);
      for (int64_t b = 1; b < m; ++b) {
        if (Gcd(b, m) != 1) continue;
        for (int64_t d = 0; d < m; ++d) {
          TakeInner({false, b, d, m, 1, 0, 0});
          // The others are the same but for signs.
          if (along && 2 * b <= m) TakeInner({true, b, d, m, 1, *along, 0});
        }
      }
    }
  }

  int64_t ArgumentAt(size_t i) const { return function_.first + static_cast<int64_t>(i); }

  // The e with f(x + m) - f(x) = e*m everywhere.
  std::optional<int64_t> StepsOfPeriod(int64_t m) const {
    const auto period = static_cast<size_t>(m);
    if (values_.size() == period) return 0;
    const int64_t more = values_[period] - values_[0];
    for (size_t i = period; i < values_.size(); ++i) {
      if (values_[i] - values_[i - period] != more) return std::nullopt;
    }
    return ExactQuotient(more, m);
  }

  void TakeInner(OneDivision inner) {
    if (!inner.is_mod) {
      const std::optional<int64_t> step = StepWithoutGrowth(inner);
      if (!step) return;
      inner.of_x = *step;
    }
    if (!ReadAlong(inner)) return;
    FormsOnInterval outer(&along_inner_, /*is_alone=*/true);
    if (!outer.Find()) return;
    for (const auto& [size, form] : outer.found()) {
      if (form.factor == 0) continue;
      Nested found{SizeOfInner(inner), inner, form};
      found.size.Add(size);
      KeepShortest(found, nested_);
    }
  }

  // Floors without a constant come first, so that what is found with them shortens the search for others.
  // Several floors may grow at the same steps; the first of them is taken.
  void FindSums() {
    const llvm::SmallVector<int64_t, 12> factors = DifferencesOfSteps();
    llvm::SmallVector<uint32_t, 64> taken;
    rest_.one_sum = function_.one_sum;
    rest_.beside = function_.beside;
    rest_.first = function_.first;
    const auto size = static_cast<int64_t>(values_.size());
    for (int64_t d = 0; d < std::min(size, kMostInnerNumber); ++d) {
      for (int64_t m = std::max<int64_t>(2, d + 1); m <= std::min(size, kMostInnerNumber); ++m) {
        const OneDivision floor{false, 1, d, m, 1, 0, 0};
        const uint32_t steps = StepsWithGrowth(floor);
        if (steps == 0 || llvm::is_contained(taken, steps)) continue;
        taken.push_back(steps);
        for (const int64_t factor : factors) {
          OneDivision beside = floor;
          beside.factor = factor;
          TakeSum(beside);
        }
      }
    }
  }

  // D(x) - D(y) for all x and y, each once; none where D takes more values than two floors give it.
  llvm::SmallVector<int64_t, 12> DifferencesOfSteps() const {
    llvm::SmallVector<int64_t, 4> steps;
    for (size_t i = 1; i < values_.size(); ++i) {
      const int64_t step = values_[i] - values_[i - 1];
      if (llvm::is_contained(steps, step)) continue;
      if (steps.size() == 4) return {};
      steps.push_back(step);
    }
    llvm::SmallVector<int64_t, 12> differences;
    for (const int64_t a : steps) {
      for (const int64_t b : steps) {
        if (a != b && !llvm::is_contained(differences, a - b)) differences.push_back(a - b);
      }
    }
    llvm::sort(differences);
    return differences;
  }

  // A bit for each x where the floor grows from x to x + 1.
  uint32_t StepsWithGrowth(const OneDivision& floor) const {
    static_assert(kMostValuesOfTwoDivisions <= 32);
    uint32_t steps = 0;
    for (size_t i = 1; i < values_.size(); ++i) {
      if (floor.DividedAt(ArgumentAt(i)) != floor.DividedAt(ArgumentAt(i - 1))) steps |= 1U << i;
    }
    return steps;
  }

  void TakeSum(const OneDivision& floor) {
    FormSize size = SizeOfDividend(floor);
    size.Add(SizeOfNumber(floor.factor, 0, 2));
    if (IsTooLong<Sum>(size, sums_)) return;
    rest_.values.clear();
    for (size_t i = 0; i < values_.size(); ++i) {
      rest_.values.push_back(values_[i] - floor.factor * floor.DividedAt(ArgumentAt(i)));
    }
    FormsOnInterval other(&rest_);
    if (!other.Find()) return;
    for (const auto& [size_of_other, form] : other.found()) {
      if (form.factor == 0) continue;
      Sum found{size, floor, form};
      found.size.Add(size_of_other);
      KeepShortest(found, sums_);
    }
  }

  // The only D(x) where the floor does not grow from x to x + 1.
  std::optional<int64_t> StepWithoutGrowth(const OneDivision& inner) const {
    std::optional<int64_t> step;
    for (size_t i = 1; i < values_.size(); ++i) {
      if (inner.DividedAt(ArgumentAt(i)) != inner.DividedAt(ArgumentAt(i - 1))) continue;
      const int64_t more = values_[i] - values_[i - 1];
      if (step.value_or(more) != more) return std::nullopt;
      step = more;
    }
    return step;
  }

  // f without e*x as a function of the inner division, each value of which it has between the least and
  // the greatest.
  bool ReadAlong(const OneDivision& inner) {
    const bool is_mod = inner.is_mod;
    along_inner_.first = is_mod ? 0 : inner.DividedAt(function_.first);
    const int64_t last = is_mod ? inner.n - 1 : inner.DividedAt(ArgumentAt(values_.size() - 1));
    along_inner_.values.assign(static_cast<size_t>(last - along_inner_.first) + 1, 0);
    if (along_inner_.values.size() < 3) return false;
    for (size_t i = 0; i < values_.size(); ++i) {
      const int64_t x = ArgumentAt(i);
      along_inner_.values[static_cast<size_t>(inner.DividedAt(x) - along_inner_.first)] =
          values_[i] - inner.of_x * x;
    }
    return true;
  }

  FormSize SizeOfInner(const OneDivision& inner) const {
    FormSize size = SizeOfDividend(inner);
    for (const auto& [variable, in_x] : function_.one_sum.terms()) {
      size.Add(SizeOfNumber(inner.of_x * in_x + function_.beside.CoefficientOf(variable), 2, 4));
    }
    return size;
  }

  FormSize SizeOfDividend(const OneDivision& inner) const {
    FormSize size = {0, inner.n};
    for (const auto& [variable, in_x] : function_.one_sum.terms()) {
      const int64_t residue = FloorMod(inner.a * in_x, inner.n);
      size.Add(std::min(SizeOfNumber(residue, 2, 4), SizeOfNumber(residue - inner.n, 2, 4)));
    }
    size.Add(SizeOfNumber(inner.c, 2, 2));
    return size;
  }

  const FunctionOnInterval& function_;
  const llvm::ArrayRef<int64_t> values_;
  FunctionOnInterval along_inner_;
  FunctionOnInterval rest_;  // f without a division
  llvm::SmallVector<Nested, kMostFormsOnInterval + 1> nested_;
  llvm::SmallVector<Sum, kMostFormsOnInterval + 1> sums_;
};

// Adds factor*division, of_x*x and the constant.
void AddForm(SimplifierState& state, const OneDivision& form, const QuasiAffineSum& x,
             QuasiAffineSum& sum) {
  sum.AddConstant(form.constant);
  sum.AddScaled(x, form.of_x);
  if (form.factor == 0) return;
  const QuasiAffineSum dividend = DividendOf(form, x);
  sum.AddScaled(
      form.is_mod ? Modulo(state, dividend, form.n) : FloorDivide(state, dividend, form.n),
      form.factor);
}

}  // namespace

bool AddFormsOnInterval(SimplifierState& state, const FunctionOnInterval& function,
                        llvm::SmallVectorImpl<QuasiAffineSum>& forms) {
  FormsOnInterval search(&function);
  if (!search.Find()) return false;
  for (const auto& [size, form] : search.found()) {
    QuasiAffineSum sum = function.beside;
    AddForm(state, form, function.one_sum, sum);
    if (sum.valid() && !llvm::is_contained(forms, sum)) forms.push_back(std::move(sum));
  }
  return true;
}

void AddFormsOfTwoDivisionsOnInterval(SimplifierState& state, const FunctionOnInterval& function,
                                      llvm::SmallVectorImpl<QuasiAffineSum>& forms) {
  // As many as count as ten steps.
  constexpr size_t kTermsOfSearch = 64 * 3;
  if (static_cast<int64_t>(function.values.size()) > kMostValuesOfTwoDivisions) return;
  if (!state.work.Take(kTermsOfSearch)) return;
  FormsOfTwoDivisions search(&function);
  search.Find();
  for (const auto& [size, inner, outer] : search.nested()) {
    const Atom* x =
        WrittenDivision(state, DividendOf(inner, function.one_sum), inner.is_mod, inner.n);
    if (x == nullptr) continue;
    const Atom* division =
        WrittenDivision(state, DividendOf(outer, QuasiAffineSum::Of(x)), outer.is_mod, outer.n);
    if (division == nullptr) continue;
    QuasiAffineSum sum = function.beside;
    sum.AddConstant(outer.constant);
    sum.AddScaled(function.one_sum, inner.of_x);
    sum.AddTerm(division, outer.factor);
    if (sum.valid()) forms.push_back(std::move(sum));
  }
  for (const auto& [size, first, second] : search.sums()) {
    QuasiAffineSum sum = function.beside;
    AddForm(state, first, function.one_sum, sum);
    AddForm(state, second, function.one_sum, sum);
    if (sum.valid()) forms.push_back(std::move(sum));
  }
}

}  // namespace xla_indexing::internal
