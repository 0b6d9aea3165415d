#include "xla_indexing/ops/values/cases/integer_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>
#include <variant>

#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

std::optional<ValueCases> CompareIntegers(const HloInstruction& instruction, AffineExpr difference,
                                          const Constraints& when,
                                          const ValueVariables& variables) {
  const absl::string_view direction = instruction.comparison_direction();
  AffineExpr yes = Constant(1, variables.context());
  AffineExpr no = Constant(0, variables.context());
  if (direction == "LT") return variables.Split(difference, -1, yes, no, when);
  if (direction == "LE") return variables.Split(difference, 0, yes, no, when);
  if (direction == "GT") return variables.Split(difference, 0, no, yes, when);
  if (direction == "GE") return variables.Split(difference, -1, no, yes, when);
  if (direction != "EQ" && direction != "NE") return std::nullopt;
  if (direction == "NE") std::swap(yes, no);
  // Below 0, then from 0 on, which is split at 0 again.
  const std::optional<ValueCases> parts = variables.Split(difference, -1, no, yes, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == yes) result = variables.Split(difference, 0, yes, no, part.when);
    if (!result) return std::nullopt;
    cases.insert(cases.end(), result->begin(), result->end());
  }
  return cases;
}

// The quotient or remainder of division that rounds toward zero, with floors: x = -7, y = 3 has
// floor -3, rest 2 and the quotient -3 + 1.
std::optional<ValueCases> DivideIntegers(const HloInstruction& instruction, AffineExpr x,
                                         AffineExpr y, const Constraints& when,
                                         const ValueVariables& variables) {
  const int64_t divisor = ConstantIn(y).value_or(0);
  if (divisor == 0 || divisor == std::numeric_limits<int64_t>::min()) return std::nullopt;
  // A quotient by -c is that by c, negated; a remainder by -c is that by c.
  const int64_t c = std::abs(divisor);
  const bool is_quotient = instruction.opcode() == HloOpcode::kDivide;
  AffineExpr rest = Mod(x, c);
  AffineExpr floor = is_quotient ? FloorDiv(x, c) : rest;
  // Below 0, where division leaves a rest, the quotient toward zero is one more.
  AffineExpr above = floor && is_quotient ? Add(floor, Constant(1, variables.context()))
                     : floor              ? Sub(floor, Constant(c, variables.context()))
                                          : AffineExpr();
  const std::optional<ValueCases> parts = variables.Split(x, -1, above, floor, when);
  if (!parts) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *parts) {
    std::optional<ValueCases> result = ValueCases{part};
    if (part.value == above) result = variables.Split(rest, 0, floor, above, part.when);
    if (!result) return std::nullopt;
    llvm::append_range(cases, *result);
  }
  for (ValueCase& each : cases) {
    if (is_quotient && divisor < 0) each.value = Scale(each.value, -1);
    if (!each.value ||
        !variables.Fitting(each.value, instruction.shape().element_type(), each.when)) {
      return std::nullopt;
    }
  }
  return cases;
}

// The value of an operation that an affine expression of the operands' values x and y is, where
// nothing wraps; null for all others.
AffineExpr AffineValue(const HloInstruction& instruction, AffineExpr x, bool x_is_not_negative,
                       AffineExpr y) {
  const ElementType type = instruction.shape().element_type();
  const bool is_logical = IsPred(type);
  // The divisor, the shift or the mask.
  const std::optional<int64_t> constant = ConstantIn(y);
  const int64_t c = constant.value_or(-1);
  const bool is_shift = c >= 0 && c <= 62;
  switch (instruction.opcode()) {
    case HloOpcode::kConvert:
      return x;
    case HloOpcode::kNegate:
      return Scale(x, -1);
    case HloOpcode::kAdd:
      return is_logical ? AffineExpr() : Add(x, y);
    case HloOpcode::kSubtract:
      return is_logical ? AffineExpr() : Sub(x, y);
    case HloOpcode::kMultiply: {
      if (constant) return Scale(x, *constant);
      const std::optional<int64_t> factor = ConstantIn(x);
      return factor ? Scale(y, *factor) : AffineExpr();
    }
    case HloOpcode::kShiftLeft:
      return is_shift ? Scale(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return x_is_not_negative && is_shift ? FloorDiv(x, int64_t{1} << c) : AffineExpr();
    case HloOpcode::kAnd: {
      const bool is_mask = c >= 0 && c < kInt64Max && (c & (c + 1)) == 0;
      return x_is_not_negative && is_mask ? Mod(x, c + 1) : AffineExpr();
    }
    case HloOpcode::kNot:
      // All bits set is 1 as a predicate, -1 as a signed integer.
      if (is_logical) return Sub(Constant(1, x.getContext()), x);
      return IsSignedIntegral(type) ? Sub(Constant(-1, x.getContext()), x) : AffineExpr();
    default:
      return {};
  }
}

// The operation on constants.
std::optional<int64_t> ApplyToConstants(const HloInstruction& instruction,
                                        llvm::ArrayRef<AffineExpr> values) {
  llvm::SmallVector<Number, 3> numbers;
  for (AffineExpr value : values) {
    const std::optional<int64_t> constant = ConstantIn(value);
    if (!constant) return std::nullopt;
    numbers.emplace_back(*constant);
  }
  const std::optional<Number> result = ApplyToNumbers(instruction, numbers);
  const auto* integer = result ? std::get_if<int64_t>(&*result) : nullptr;
  return integer != nullptr ? std::optional(*integer) : std::nullopt;
}

// The least 2^k - 1 that is at least `value` >= 0.
int64_t AllBitsOf(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(value) + 1) - 1);
}

// Where both are finite and not negative, as all values of unsigned types of less than 64 bits are.
bool AreNotNegative(const Interval& x, const Interval& y) {
  const Interval any = Interval::Closed(0, kInt64Max - 1);
  return x.IsSubsetOf(any) && y.IsSubsetOf(any);
}

Interval RangeOfBits(HloOpcode opcode, const Interval& x, const Interval& y) {
  const Interval any = Interval::Closed(0, kInt64Max - 1);
  if (opcode == HloOpcode::kAnd) {
    // A bit that is not set in one of them is not set.
    Interval range = Interval::All();
    for (const Interval& mask : {x, y}) {
      if (mask.IsSubsetOf(any)) range = range.Intersect(Interval::Closed(0, mask.upper()));
    }
    return range;
  }
  if (!AreNotNegative(x, y)) return Interval::All();
  const int64_t most = AllBitsOf(std::max(x.upper(), y.upper()));
  // What is set in one of them is set.
  const int64_t least = opcode == HloOpcode::kOr ? std::max(x.lower(), y.lower()) : 0;
  return Interval::Closed(least, most);
}

// Division rounds toward zero: a remainder has the sign of x, and is less than y in size. By 0 both
// are what the machine makes of it.
Interval RangeOfDivision(HloOpcode opcode, const Interval& x, const Interval& y) {
  if (y.Contains(0) || !x.IsFinite() || !y.IsFinite() || y.Contains(kInt64Min)) {
    return Interval::All();
  }
  if (opcode == HloOpcode::kRemainder) {
    const int64_t most = std::max(std::abs(y.lower()), std::abs(y.upper())) - 1;
    return Interval::Closed(x.lower() < 0 ? std::max(x.lower(), -most) : 0,
                            x.upper() > 0 ? std::min(x.upper(), most) : 0);
  }
  // The least int64 divided by -1 does not fit.
  if (x.lower() == kInt64Min) return Interval::All();
  Interval range = Interval::Empty();
  for (const int64_t dividend : {x.lower(), x.upper()}) {
    for (const int64_t divisor : {y.lower(), y.upper()}) {
      range = range.Union(Interval::Point(dividend / divisor));
    }
  }
  return range;
}

// Values with the highest bit of the type clear, on which all shifts to the right are divisions.
Interval WithoutHighestBit(ElementType type) {
  const int bits = BitWidth(type);
  return Interval::Closed(0, static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1));
}

Interval RangeOfShift(HloOpcode opcode, ElementType type, const Interval& x, const Interval& by) {
  const int64_t bits = BitWidth(type);
  if (!by.IsPoint() || by.lower() < 0 || by.lower() >= std::min<int64_t>(bits, 63)) {
    return Interval::All();
  }
  const int64_t factor = int64_t{1} << by.lower();
  if (opcode == HloOpcode::kShiftLeft) return x.Mul(factor);
  const bool is_arithmetic = opcode == HloOpcode::kShiftRightArithmetic;
  if (is_arithmetic ? IsSignedIntegral(type) || x.IsSubsetOf(WithoutHighestBit(type))
                    : x.IsSubsetOf(Interval::AtLeast(0))) {
    return x.FloorDiv(factor);
  }
  if (is_arithmetic) return Interval::All();
  // Zeros move in from above.
  const int64_t left = bits - by.lower();
  return left <= 62 ? Interval::Closed(0, (int64_t{1} << left) - 1) : Interval::AtLeast(0);
}

// An interval that contains the result as an integer; it wraps where it does not fit the type.
Interval RangeBeforeWrapping(const HloInstruction& instruction, llvm::ArrayRef<Interval> values) {
  const ElementType type = instruction.shape().element_type();
  const Interval& x = values[0];
  const Interval& y = values.size() > 1 ? values[1] : x;
  const auto at_least = [](const Interval& a, const Interval& b) {
    // max(a, b), whose lower end is the greater of the two.
    const Interval from_a = a.has_lower() ? Interval::AtLeast(a.lower()) : Interval::All();
    const Interval from_b = b.has_lower() ? Interval::AtLeast(b.lower()) : Interval::All();
    return a.Union(b).Intersect(from_a).Intersect(from_b);
  };
  const auto at_most = [&](const Interval& a, const Interval& b) {
    return at_least(a.Neg(), b.Neg()).Neg();
  };
  switch (instruction.opcode()) {
    case HloOpcode::kConvert:
      return x;
    case HloOpcode::kNegate:
      return x.Neg();
    case HloOpcode::kAbs:
      return at_least(at_least(x, x.Neg()), Interval::Point(0));
    case HloOpcode::kSign:
      return at_most(at_least(x, Interval::Point(-1)), Interval::Point(1));
    case HloOpcode::kNot:
      if (IsSignedIntegral(type)) return x.Neg().Sub(1);
      return BitWidth(type) < 64 ? Interval::Point(ValuesOfElementType(type).upper()).Sub(x)
                                 : Interval::All();
    case HloOpcode::kAdd:
      return x.Add(y);
    case HloOpcode::kSubtract:
      return x.Sub(y);
    case HloOpcode::kMultiply:
      return x.Mul(y);
    case HloOpcode::kMaximum:
      return at_least(x, y);
    case HloOpcode::kMinimum:
      return at_most(x, y);
    case HloOpcode::kClamp:
      return at_most(at_least(x, y), values[2]);
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return RangeOfBits(instruction.opcode(), x, y);
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return RangeOfDivision(instruction.opcode(), x, y);
    case HloOpcode::kShiftLeft:
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return RangeOfShift(instruction.opcode(), type, x, y);
    case HloOpcode::kCountLeadingZeros:
    case HloOpcode::kPopcnt:
      return Interval::Closed(0, BitWidth(type));
    default:
      return Interval::All();
  }
}

}  // namespace

Interval RangeOfIntegers(const HloInstruction& instruction, llvm::ArrayRef<Interval> values) {
  const ElementType type = instruction.shape().element_type();
  if (!HoldsIntegers(type) || values.empty() ||
      llvm::any_of(values, [](const Interval& v) { return v.IsEmpty(); })) {
    return Interval::All();
  }
  const Interval range = RangeBeforeWrapping(instruction, values);
  // Values of u64 past the greatest int64 are not told apart.
  const Interval fitting =
      ValuesOfElementType(type).Intersect(Interval::Closed(kInt64Min, kInt64Max));
  return range.IsSubsetOf(fitting) ? range : Interval::All();
}

std::optional<ValueCases> ClampValue(AffineExpr lower, AffineExpr value, AffineExpr upper,
                                     const Constraints& when, const ValueVariables& variables) {
  const std::optional<ValueCases> at_least =
      variables.Split(Sub(lower, value), 0, value, lower, when);
  if (!at_least) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& part : *at_least) {
    const std::optional<ValueCases> at_most =
        variables.Split(Sub(part.value, upper), 0, part.value, upper, part.when);
    if (!at_most) return std::nullopt;
    llvm::append_range(cases, *at_most);
  }
  return cases;
}

std::optional<ValueCases> ApplyToIntegers(const HloInstruction& instruction,
                                          llvm::ArrayRef<AffineExpr> values,
                                          const Constraints& when,
                                          const ValueVariables& variables) {
  const ElementType type = instruction.shape().element_type();
  AffineExpr x = values[0];
  AffineExpr y = values.size() > 1 ? values[1] : AffineExpr();
  const bool is_not_negative = variables.RangeOf(x, when).IsSubsetOf(Interval::AtLeast(0));
  if (const std::optional<int64_t> result = ApplyToConstants(instruction, values)) {
    return ValueCases{{when, Constant(*result, variables.context())}};
  }
  switch (instruction.opcode()) {
    case HloOpcode::kCompare:
      return CompareIntegers(instruction, Sub(x, y), when, variables);
    case HloOpcode::kAbs:
      // The least value of a signed type has no absolute value in it.
      if (!is_not_negative && !variables.Fitting(Scale(x, -1), type, when)) return std::nullopt;
      return variables.Split(x, -1, Scale(x, -1), x, when);
    case HloOpcode::kOr:
      if (!IsPred(type)) return std::nullopt;
      [[fallthrough]];
    case HloOpcode::kMaximum:
      return variables.Split(Sub(x, y), 0, y, x, when);
    case HloOpcode::kSign: {
      const std::optional<ValueCases> parts = variables.Split(
          x, -1, Constant(-1, variables.context()), Constant(1, variables.context()), when);
      if (!parts) return std::nullopt;
      ValueCases cases;
      for (const ValueCase& part : *parts) {
        std::optional<ValueCases> result = ValueCases{part};
        if (part.value == Constant(1, variables.context())) {
          result = variables.Split(x, 0, Constant(0, variables.context()), part.value, part.when);
        }
        if (!result) return std::nullopt;
        llvm::append_range(cases, *result);
      }
      return cases;
    }
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return DivideIntegers(instruction, x, y, when, variables);
    case HloOpcode::kMinimum:
      return variables.Split(Sub(x, y), 0, x, y, when);
    case HloOpcode::kClamp:
      return ClampValue(x, y, values[2], when, variables);
    case HloOpcode::kAnd:
      if (IsPred(type)) return variables.Split(Sub(x, y), 0, x, y, when);
      [[fallthrough]];
    case HloOpcode::kShiftRightArithmetic:
      // The highest bit is repeated in unsigned types, too.
      if (!variables.RangeOf(x, when).IsSubsetOf(WithoutHighestBit(type))) return std::nullopt;
      [[fallthrough]];
    default:
      return variables.Wrapping(AffineValue(instruction, x, is_not_negative, y), type, when);
  }
}

}  // namespace xla_indexing::internal
