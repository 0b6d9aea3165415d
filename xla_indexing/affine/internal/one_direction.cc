// Sums of floors that depend on one linear form.
//
// With a linear form y of the variables every floor whose dividend is  e*y + m*l + c  is
// l + floor((e*y + c)/m), and so is one that has such floors in its dividend: a linear form and a
// function of the integer y. A sum of them, with what the variables beside them have along y, is a
// staircase (affine/internal/staircase.h): its values tell the fewest floors that it can be written
// with.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/affine/internal/staircase.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// linear + floor((factor*y + sum of parts + constant) / divisor)
struct FloorAlong {
  const DigitAtom* floor;
  DigitSum linear;
  int64_t factor;
  llvm::SmallVector<std::pair<int64_t, int>, 2> parts;  // factors, and places in a list of these
  int64_t constant;
  int64_t divisor;
  // Without `linear`, f(y + period) = f(y) + climb.
  int64_t period;
  int64_t climb;
};

// What a linear form multiplies in a sum; 0 where not all of its variables are multiplied by that.
int64_t SlopeAlong(const DigitSum& y, const DigitSum& sum) {
  const DigitTerm& leading = y.terms()[0];
  const std::optional<int64_t> slope =
      ExactQuotient(sum.CoefficientOf(leading.atom), leading.coefficient);
  const bool is_slope = slope && llvm::all_of(y.terms(), [&](const DigitTerm& term) {
                          const int64_t coefficient = sum.CoefficientOf(term.atom);
                          return static_cast<Int128>(term.coefficient) * *slope == coefficient;
                        });
  return is_slope ? *slope : 0;
}

// The floors of a sum that are functions of y and linear forms.
class Direction {
 public:
  explicit Direction(const DigitSum& y) : y_(y) {}

  // Whether the term is of this kind, and within the bounds.
  bool Add(const DigitTerm& term) {
    const std::optional<int> place = PlaceOf(term.atom, 0);
    if (!place) return false;
    const FloorAlong& f = functions_[*place];
    const int64_t period = period_ / Gcd(period_, f.period) * f.period;
    if (period > kMaxStaircase) return false;
    period_ = period;
    terms_.push_back({term.coefficient, *place});
    sum_.AddNewTerm(term.atom, term.coefficient);
    linear_.AddScaled(f.linear, term.coefficient);
    return true;
  }

  const DigitSum& sum() const { return sum_; }
  const DigitSum& linear() const { return linear_; }

  // slope*y + sum - linear, of one period, or of all values of a variable where they are less than
  // two: where y is a sum, a quotient and a remainder that belong together had better stay so.
  std::optional<Staircase> Values(const Interval& range, int64_t slope) const {
    Staircase values;
    values.periodic = true;
    int64_t size = period_;
    if (y_.terms().size() == 1 && range.has_lower() && range.has_upper()) {
      const Int128 all = static_cast<Int128>(range.upper()) - range.lower();
      if (all <= kMaxStaircase && all < 2 * period_) {
        values.periodic = false;
        values.first = range.lower();
        size = static_cast<int64_t>(all);
      }
    }
    for (int64_t i = 0; i <= size; ++i) {
      const int64_t y = values.first + i;
      Int128 value = static_cast<Int128>(slope) * y;
      for (const auto& [factor, place] : terms_) {
        const std::optional<int64_t> of_floor = Value(place, y);
        if (!of_floor) return std::nullopt;
        value += static_cast<Int128>(factor) * *of_floor;
      }
      const std::optional<int64_t> narrow = NarrowToInt64(value);
      if (!narrow) return std::nullopt;
      values.values.push_back(*narrow);
    }
    return values;
  }

 private:
  // The place of the floor in the list; none where it is not of this kind.
  std::optional<int> PlaceOf(const DigitAtom* floor, int depth) {
    for (const auto& [i, known] : llvm::enumerate(functions_)) {
      if (known.floor == floor) return static_cast<int>(i);
    }
    constexpr int kMaxDepth = 4;
    constexpr size_t kMaxFunctions = 16;
    if (depth >= kMaxDepth || functions_.size() >= kMaxFunctions) return std::nullopt;
    FloorAlong f = {floor, {}, 0, {}, floor->dividend_floor_form.constant(), floor->divisor, 1, 0};
    for (const DigitTerm& term : floor->dividend_floor_form.terms()) {
      if (!term.atom->IsFloor()) {
        f.linear.AddTerm(term.atom, term.coefficient);
        continue;
      }
      const std::optional<int> part = PlaceOf(term.atom, depth + 1);
      if (!part) return std::nullopt;
      f.parts.push_back({term.coefficient, *part});
      f.linear.AddScaled(functions_[*part].linear, term.coefficient);
    }
    if (!TakeOutLinear(f) || !FindPeriod(f)) return std::nullopt;
    functions_.push_back(std::move(f));
    return static_cast<int>(functions_.size()) - 1;
  }

  // The linear part of the dividend as  factor*y + divisor*linear  with factor in [0, divisor - 1].
  bool TakeOutLinear(FloorAlong& f) const {
    const int64_t m = f.divisor;
    if (!f.linear.valid() || m > kMaxStaircase) return false;
    for (const DigitTerm& term : f.linear.terms()) {
      if (term.coefficient % m != 0 && y_.CoefficientOf(term.atom) == 0) return false;
    }
    const DigitTerm& leading = y_.terms()[0];
    const bool is_unit = leading.coefficient == 1;
    f.factor = is_unit ? FloorMod(f.linear.CoefficientOf(leading.atom), m) : 0;
    while (!llvm::all_of(y_.terms(), [&](const DigitTerm& term) {
      const Int128 part = static_cast<Int128>(term.coefficient) * f.factor;
      return (f.linear.CoefficientOf(term.atom) - part) % m == 0;
    })) {
      if (is_unit || ++f.factor == m) return false;
    }
    f.linear.AddScaled(y_, -f.factor);
    if (!f.linear.valid()) return false;
    f.linear.DivideExactly(m);
    return true;
  }

  bool FindPeriod(FloorAlong& f) const {
    int64_t period = 1;
    for (const auto& [factor, part] : f.parts) {
      const int64_t other = functions_[part].period;
      period = period / Gcd(period, other) * other;
      if (period > kMaxStaircase) return false;
    }
    Int128 climb = static_cast<Int128>(f.factor) * period;
    for (const auto& [factor, part] : f.parts) {
      const FloorAlong& of_part = functions_[part];
      climb += static_cast<Int128>(factor) * of_part.climb * (period / of_part.period);
    }
    if (climb > kMaxStaircaseStep || climb < -kMaxStaircaseStep) return false;
    const int64_t times = f.divisor / Gcd(f.divisor, static_cast<int64_t>(climb));
    f.period = period * times;
    f.climb = static_cast<int64_t>(climb) * times / f.divisor;
    return f.period <= kMaxStaircase;
  }

  // Without the linear form; none on overflow.
  std::optional<int64_t> Value(int place, int64_t y) const {
    const FloorAlong& f = functions_[place];
    Int128 dividend = static_cast<Int128>(f.factor) * y + f.constant;
    for (const auto& [factor, part] : f.parts) {
      const std::optional<int64_t> value = Value(part, y);
      if (!value) return std::nullopt;
      dividend += static_cast<Int128>(factor) * *value;
    }
    const std::optional<int64_t> narrow = NarrowToInt64(dividend);
    if (!narrow) return std::nullopt;
    return FloorDiv(*narrow, f.divisor);
  }

  const DigitSum& y_;
  llvm::SmallVector<FloorAlong, 4> functions_;
  llvm::SmallVector<std::pair<int64_t, int>, 4> terms_;  // factors and places
  DigitSum sum_;
  DigitSum linear_;
  int64_t period_ = 1;
};

// Two floors of one number whose divisors divide each other are digits of it, and of all sums of
// two such only  floor(X/m) - floor(X/2m) = floor((X + m)/2m)  is one floor.
bool AreDigits(const DigitTerm& a, const DigitTerm& b) {
  const DigitTerm& low = a.atom->divisor < b.atom->divisor ? a : b;
  const DigitTerm& high = a.atom->divisor < b.atom->divisor ? b : a;
  const int64_t m = low.atom->divisor;
  return high.atom->divisor % m == 0 &&
         a.atom->dividend_floor_form == b.atom->dividend_floor_form &&
         !(high.atom->divisor / m == 2 &&
           static_cast<Int128>(high.coefficient) + low.coefficient == 0);
}

bool ShareVariable(const DigitSum& a, const DigitSum& b) {
  return llvm::any_of(a.terms(),
                      [&](const DigitTerm& term) { return b.CoefficientOf(term.atom) != 0; });
}

// Whether a floor has floors in its dividend that may be along one linear form with it: all other
// variables of the dividend are theirs.
bool MayNestAlong(const DigitSum& dividend) {
  return HasFloorAtom(dividend) && llvm::all_of(dividend.terms(), [&](const DigitTerm& term) {
           return term.atom->IsFloor() ||
                  llvm::any_of(dividend.terms(), [&](const DigitTerm& part) {
                    const DigitSum& below = part.atom->dividend_floor_form;
                    return part.atom->IsFloor() &&
                           (HasFloorAtom(below) || below.CoefficientOf(term.atom) != 0);
                  });
         });
}

// A digit of a digit: of Y = y + offset.
struct DigitOfDigit {
  int64_t offset;
  int64_t modulus;  // n
  int64_t radix;    // r, n/2 <= r < n
  bool is_mod;      // ((Y mod n) mod r), otherwise floor((Y mod n)/r)
  int64_t factor;
  int64_t constant;
};

// What the form is but for its constant, where that is a multiple of one and a constant:
//   floor((Y + n - r)/n) - floor(Y/n) = floor((Y mod n)/r)
//   Y - (n - r)*floor(Y/n) - r*floor((Y + n - r)/n) = (Y mod n) mod r
std::optional<DigitOfDigit> FindDigitOfDigit(const StaircaseForm& form) {
  if (form.floors.size() != 2) return std::nullopt;
  for (const int first : {0, 1}) {
    const StaircaseFloor& a = form.floors[first];
    const StaircaseFloor& b = form.floors[1 - first];
    const int64_t n = a.m;
    if (a.p != 1 || b.p != 1 || b.m != n) return std::nullopt;
    const int64_t c = FloorMod(a.q - b.q, n);
    const int64_t r = n - c;
    if (r < c || c == 0) continue;
    const int64_t carry = a.factor * ((a.q - b.q - c) / n);
    if (form.slope == 0 && a.factor == -b.factor) {
      return DigitOfDigit{b.q, n, r, false, a.factor, carry};
    }
    if (form.slope != 0 && a.factor == -r * form.slope && b.factor == -c * form.slope) {
      return DigitOfDigit{b.q, n, r, true, form.slope, carry - form.slope * b.q};
    }
  }
  return std::nullopt;
}

}  // namespace

bool ExprSimplifier::HasShortRange(const DigitAtom* floor) {
  const Interval& range = floor->range;
  if (!range.has_lower() || !range.has_upper()) return false;
  const Int128 climb = static_cast<Int128>(range.upper()) - range.lower();
  const DigitSum& dividend = floor->dividend_floor_form;
  if (dividend.terms().size() > 1) return false;
  if (climb <= 1 && dividend.constant() != 0) return true;
  if (dividend.terms()[0].coefficient == 1) return false;
  return climb <= 2 * static_cast<Int128>(dividend.terms()[0].coefficient);
}

bool ExprSimplifier::MayHaveOtherFloors(const DigitSum& floor_form) {
  const llvm::ArrayRef<DigitTerm> terms = floor_form.terms();
  for (size_t i = 0; i < terms.size(); ++i) {
    const DigitAtom* floor = terms[i].atom;
    if (!floor->IsFloor()) continue;
    if (HasShortRange(floor) || MayNestAlong(floor->dividend_floor_form)) return true;
    for (size_t j = i + 1; j < terms.size(); ++j) {
      const DigitAtom* other = terms[j].atom;
      if (other->IsFloor() && !AreDigits(terms[i], terms[j]) &&
          ShareVariable(floor->dividend_floor_form, other->dividend_floor_form)) {
        return true;
      }
    }
  }
  return false;
}

ExprSimplifier::OtherFloors ExprSimplifier::WithFewestFloors(const DigitSum& floor_form) {
  DigitSum linear(floor_form.constant());
  DigitSum pending;
  for (const DigitTerm& term : floor_form.terms()) {
    (term.atom->IsFloor() ? pending : linear).AddNewTerm(term.atom, term.coefficient);
  }
  OtherFloors result;
  while (const DigitAtom* coarsest = CoarsestFloor(pending)) {
    DigitSum y = coarsest->dividend_floor_form;
    y.RemoveConstant();
    y.DivideExactly(y.CoefficientGcd());
    Direction direction(y);
    DigitSum others;
    for (const DigitTerm& term : pending.terms()) {
      if (!direction.Add(term)) others.AddNewTerm(term.atom, term.coefficient);
    }
    // The coarsest floor stands in another one, of more than this direction.
    if (direction.sum().IsConstant()) break;
    pending = std::move(others);
    std::optional<StaircaseForm> form;
    // Telling a staircase takes as long as many other steps.
    constexpr int kStepsOfStaircase = 20;
    const bool may_have_others = MayHaveOtherFloors(direction.sum());
    if (may_have_others) work_ += kStepsOfStaircase;
    if (may_have_others && work_ <= kMaxWork) {
      DigitSum beside = linear;
      beside.AddScaled(direction.linear(), 1);
      const int64_t slope = SlopeAlong(y, beside);
      if (const auto values = direction.Values(RangeOf(y), slope)) form = FewestFloors(*values);
      if (form) {
        linear = std::move(beside);
        linear.SubtractScaled(y, slope);
        linear.AddConstant(form->constant);
      }
    }
    if (!form) {
      result.floors.AddScaled(direction.sum(), 1);
      result.digits.AddScaled(direction.sum(), 1);
      continue;
    }
    DigitSum floors;
    floors.AddScaled(y, form->slope);
    for (const StaircaseFloor& floor : form->floors) {
      DigitSum dividend(floor.q);
      dividend.AddScaled(y, floor.p);
      floors.AddScaled(FloorForm(FloorDivide(dividend, floor.m)), floor.factor);
    }
    result.floors.AddScaled(floors, 1);
    if (const auto found = FindDigitOfDigit(*form)) {
      DigitSum number(found->offset);
      number.AddScaled(y, 1);
      const DigitSum digit = Modulo(number, found->modulus);
      result.digits.AddConstant(found->constant);
      result.digits.AddScaled(
          found->is_mod ? Modulo(digit, found->radix) : FloorDivide(digit, found->radix),
          found->factor);
    } else {
      result.digits.AddScaled(floors, 1);
    }
  }
  for (DigitSum* sum : {&result.floors, &result.digits}) {
    sum->AddScaled(pending, 1);
    sum->AddScaled(linear, 1);
  }
  return result;
}

}  // namespace xla_indexing::internal
