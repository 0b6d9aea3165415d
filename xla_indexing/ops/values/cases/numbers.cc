#include "xla_indexing/ops/values/cases/numbers.h"

#include <algorithm>
#include <vector>

#include "absl/strings/string_view.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::APFloat;
using ::llvm::APInt;
using ::llvm::APSInt;

constexpr APFloat::roundingMode kNearest = APFloat::rmNearestTiesToEven;

const llvm::fltSemantics* SemanticsOf(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return &APFloat::IEEEhalf();
    case ElementType::kBF16:
      return &APFloat::BFloat();
    case ElementType::kF32:
      return &APFloat::IEEEsingle();
    case ElementType::kF64:
      return &APFloat::IEEEdouble();
    default:
      return nullptr;
  }
}

// The integer in its type, of one bit for predicates.
APSInt BitsOf(int64_t value, ElementType type) {
  const bool is_unsigned = IsPred(type) || IsUnsignedIntegral(type);
  const APInt bits(64, static_cast<uint64_t>(value), /*isSigned=*/true);
  return APSInt(bits.sextOrTrunc(IsPred(type) ? 1 : static_cast<unsigned>(BitWidth(type))),
                is_unsigned);
}

// Values of u64 from 2^63 on are not told apart.
std::optional<Number> IntegerOf(const APSInt& bits) {
  if (!bits.isRepresentableByInt64()) return std::nullopt;
  return bits.getExtValue();
}
std::optional<Number> IntegerOf(const APInt& bits, bool is_unsigned) {
  return IntegerOf(APSInt(bits, is_unsigned));
}

std::optional<Number> ConvertNumber(const Number& number, ElementType type) {
  if (const auto* integer = std::get_if<int64_t>(&number)) {
    if (HoldsFloats(type)) return FloatOf(*integer, type);
    if (IsPred(type)) return int64_t{*integer != 0};
    return IntegerOf(BitsOf(*integer, type));
  }
  APFloat value = std::get<APFloat>(number);
  if (HoldsFloats(type)) {
    bool loses = false;
    value.convert(*SemanticsOf(type), kNearest, &loses);
    return value;
  }
  if (IsPred(type)) return int64_t{value.isZero() ? 0 : 1};
  APSInt integer(static_cast<unsigned>(BitWidth(type)), IsUnsignedIntegral(type));
  bool is_exact = false;
  if (value.convertToInteger(integer, APFloat::rmTowardZero, &is_exact) & APFloat::opInvalidOp) {
    return std::nullopt;
  }
  return IntegerOf(integer);
}

std::optional<Number> OrderIs(bool less, bool equal, bool greater, absl::string_view direction) {
  if (direction == "LT") return int64_t{less};
  if (direction == "LE") return int64_t{less || equal};
  if (direction == "GT") return int64_t{greater};
  if (direction == "GE") return int64_t{greater || equal};
  if (direction == "EQ") return int64_t{equal};
  if (direction == "NE") return int64_t{!equal};
  return std::nullopt;
}

APFloat Rounded(APFloat value, APFloat::roundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

std::optional<Number> FloatPower(const APFloat& x, const APFloat& y) {
  if (y.isZero()) return APFloat::getOne(x.getSemantics());
  if (y.isExactlyValue(1)) return x;
  return std::nullopt;
}

// The operation on floats of one type.
std::optional<Number> FloatResult(const HloInstruction& instruction,
                                  llvm::ArrayRef<APFloat> values) {
  APFloat x = values[0];
  switch (instruction.opcode()) {
    case HloOpcode::kAbs:
      x.clearSign();
      return x;
    case HloOpcode::kAdd:
      x.add(values[1], kNearest);
      return x;
    case HloOpcode::kCeil:
      return Rounded(x, APFloat::rmTowardPositive);
    case HloOpcode::kClamp:
      return llvm::minimum(llvm::maximum(x, values[1]), values[2]);
    case HloOpcode::kCompare: {
      const APFloat& y = values[1];
      // In total order zeros, and what is no number, differ by their signs.
      if (instruction.GetText(AttributeKey::kComparisonType) == "TOTALORDER") {
        if (x.isNaN() || y.isNaN()) return std::nullopt;
        if (x.isZero() && y.isZero()) {
          return OrderIs(x.isNegative() && !y.isNegative(), x.isNegative() == y.isNegative(),
                         !x.isNegative() && y.isNegative(), instruction.comparison_direction());
        }
      }
      const APFloat::cmpResult order = x.compare(y);
      return OrderIs(order == APFloat::cmpLessThan, order == APFloat::cmpEqual,
                     order == APFloat::cmpGreaterThan, instruction.comparison_direction());
    }
    case HloOpcode::kDivide:
      x.divide(values[1], kNearest);
      return x;
    case HloOpcode::kExponential:
      if (x.isZero()) return APFloat::getOne(x.getSemantics());
      if (x.isInfinity()) return x.isNegative() ? APFloat::getZero(x.getSemantics()) : x;
      return std::nullopt;
    case HloOpcode::kFloor:
      return Rounded(x, APFloat::rmTowardNegative);
    case HloOpcode::kIsFinite:
      return int64_t{x.isFinite()};
    case HloOpcode::kMaximum:
      return llvm::maximum(x, values[1]);
    case HloOpcode::kMinimum:
      return llvm::minimum(x, values[1]);
    case HloOpcode::kMultiply:
      x.multiply(values[1], kNearest);
      return x;
    case HloOpcode::kNegate:
      x.changeSign();
      return x;
    case HloOpcode::kPower:
      return FloatPower(x, values[1]);
    case HloOpcode::kRemainder:
      x.mod(values[1]);
      return x;
    case HloOpcode::kRoundNearestAfz:
      return Rounded(x, APFloat::rmNearestTiesToAway);
    case HloOpcode::kRoundNearestEven:
      return Rounded(x, kNearest);
    case HloOpcode::kSign:
      if (x.isNaN() || x.isZero()) return x;
      return FloatOf(x.isNegative() ? -1 : 1, instruction.shape().element_type());
    case HloOpcode::kSubtract:
      x.subtract(values[1], kNearest);
      return x;
    default:
      return std::nullopt;
  }
}

std::optional<APInt> Shifted(HloOpcode opcode, const APSInt& x, const APSInt& by) {
  const uint64_t bits = x.getBitWidth();
  const bool is_past = by.isNegative() || by.uge(bits);
  const auto amount = static_cast<unsigned>(is_past ? 0 : by.getZExtValue());
  switch (opcode) {
    case HloOpcode::kShiftLeft:
      return is_past ? APInt(x.getBitWidth(), 0) : x.shl(amount);
    case HloOpcode::kShiftRightLogical:
      return is_past ? APInt(x.getBitWidth(), 0) : x.lshr(amount);
    case HloOpcode::kShiftRightArithmetic:
      return static_cast<const APInt&>(x).ashr(is_past ? static_cast<unsigned>(bits) - 1 : amount);
    default:
      return std::nullopt;
  }
}

std::optional<APInt> Divided(HloOpcode opcode, const APSInt& x, const APSInt& y) {
  if (y.isZero() || (x.isSigned() && x.isMinSignedValue() && y.isAllOnes())) return std::nullopt;
  const APInt& a = x;
  if (opcode == HloOpcode::kDivide) return x.isSigned() ? a.sdiv(y) : a.udiv(y);
  return x.isSigned() ? a.srem(y) : a.urem(y);
}

std::optional<APInt> IntegerPower(const APSInt& x, const APSInt& y) {
  if (y.isNegative()) return std::nullopt;
  APInt power(x.getBitWidth(), 1);
  APInt square = x;
  for (unsigned bit = 0; bit < y.getActiveBits(); ++bit) {
    if (y[bit]) power *= square;
    square = square * square;
  }
  return power;
}

// Operations that predicates have.
bool IsLogical(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAnd:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kNot:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return true;
    default:
      return false;
  }
}

// The operation on integers of one type, or on predicates, that gives one of the same type.
std::optional<APInt> BitsResult(HloOpcode opcode, llvm::ArrayRef<APSInt> values) {
  const APSInt& x = values[0];
  const APSInt& y = values.size() > 1 ? values[1] : x;
  switch (opcode) {
    case HloOpcode::kAbs:
      return x.isSigned() ? x.abs() : static_cast<const APInt&>(x);
    case HloOpcode::kAdd:
      return x + y;
    case HloOpcode::kAnd:
      return x & y;
    case HloOpcode::kClamp:
      return std::min(std::max(x, y), values[2]);
    case HloOpcode::kCountLeadingZeros:
      return APInt(x.getBitWidth(), x.countl_zero());
    case HloOpcode::kDivide:
    case HloOpcode::kRemainder:
      return Divided(opcode, x, y);
    case HloOpcode::kMaximum:
      return std::max(x, y);
    case HloOpcode::kMinimum:
      return std::min(x, y);
    case HloOpcode::kMultiply:
      return x * y;
    case HloOpcode::kNegate:
      return -x;
    case HloOpcode::kNot:
      return ~x;
    case HloOpcode::kOr:
      return x | y;
    case HloOpcode::kPopcnt:
      return APInt(x.getBitWidth(), x.popcount());
    case HloOpcode::kPower:
      return IntegerPower(x, y);
    case HloOpcode::kSign:
      if (x.isZero()) return x;
      return APInt(x.getBitWidth(), x.isNegative() ? -1 : 1, /*isSigned=*/true);
    case HloOpcode::kSubtract:
      return x - y;
    case HloOpcode::kXor:
      return x ^ y;
    default:
      return Shifted(opcode, x, y);
  }
}

std::optional<Number> IntegerResult(const HloInstruction& instruction,
                                    llvm::ArrayRef<int64_t> values) {
  // A comparison has the type of its operands, and yields predicates.
  const ElementType type = instruction.operand(0)->shape().element_type();
  std::vector<APSInt> bits;
  for (const int64_t value : values) bits.push_back(BitsOf(value, type));
  if (instruction.opcode() == HloOpcode::kCompare) {
    return OrderIs(bits[0]<bits[1], bits[0] == bits[1], bits[0]> bits[1],
                   instruction.comparison_direction());
  }
  if (type != instruction.shape().element_type()) return std::nullopt;
  if (IsPred(type) && !IsLogical(instruction.opcode())) return std::nullopt;
  const std::optional<APInt> result = BitsResult(instruction.opcode(), bits);
  if (!result) return std::nullopt;
  return IntegerOf(*result, bits[0].isUnsigned());
}

}  // namespace

bool HoldsFloats(ElementType type) {
  return !IsOff(Engine::kFloatTables) && SemanticsOf(type) != nullptr;
}

bool MayBeKnown(const Shape& shape, int64_t max_elements) {
  if (!shape.IsArray() || !shape.IsStatic()) return false;
  if (!HoldsIntegers(shape.element_type()) && !HoldsFloats(shape.element_type())) return false;
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  return count.ok() && *count >= 0 && *count <= max_elements;
}

APFloat FloatOf(int64_t value, ElementType type) {
  APFloat result(*SemanticsOf(type));
  result.convertFromAPInt(APInt(64, static_cast<uint64_t>(value)), /*IsSigned=*/true, kNearest);
  return result;
}

APFloat FloatAt(const Literal& literal, int64_t position) {
  const ElementType type = literal.shape().element_type();
  const APInt bits(static_cast<unsigned>(BitWidth(type)), literal.BitsAt(position));
  return {*SemanticsOf(type), bits};
}

std::optional<Number> NumberAt(const Literal& literal, int64_t position) {
  const ElementType type = literal.shape().element_type();
  if (HoldsFloats(type)) return FloatAt(literal, position);
  if (!HoldsIntegers(type)) return std::nullopt;
  const std::optional<int64_t> integer = literal.IntegerAt(position);
  if (!integer) return std::nullopt;
  return *integer;
}

void SetNumber(Literal* literal, int64_t position, const Number& number) {
  const auto* value = std::get_if<APFloat>(&number);
  literal->SetBits(position, value != nullptr ? value->bitcastToAPInt().getZExtValue()
                                              : static_cast<uint64_t>(std::get<int64_t>(number)));
}

bool IsPortable(const Number& number) {
  const auto* value = std::get_if<APFloat>(&number);
  return value == nullptr || !value->isDenormal();
}

bool IsSame(const Number& a, const Number& b) {
  const auto* x = std::get_if<APFloat>(&a);
  const auto* y = std::get_if<APFloat>(&b);
  if (x != nullptr && y != nullptr) {
    return &x->getSemantics() == &y->getSemantics() && x->bitwiseIsEqual(*y);
  }
  return x == nullptr && y == nullptr && std::get<int64_t>(a) == std::get<int64_t>(b);
}

std::optional<Number> ApplyToNumbers(const HloInstruction& instruction,
                                     llvm::ArrayRef<Number> numbers) {
  if (instruction.opcode() == HloOpcode::kConvert || instruction.opcode() == HloOpcode::kCopy) {
    return ConvertNumber(numbers[0], instruction.shape().element_type());
  }
  if (instruction.opcode() == HloOpcode::kSelect) {
    const auto* predicate = std::get_if<int64_t>(&numbers[0]);
    if (predicate == nullptr) return std::nullopt;
    return numbers[*predicate != 0 ? 1 : 2];
  }
  if (std::holds_alternative<APFloat>(numbers[0])) {
    llvm::SmallVector<APFloat, 3> values;
    for (const Number& number : numbers) {
      const auto* value = std::get_if<APFloat>(&number);
      const bool is_of_type = value != nullptr && &value->getSemantics() ==
                                                      &std::get<APFloat>(numbers[0]).getSemantics();
      if (!is_of_type) return std::nullopt;
      values.push_back(*value);
    }
    return FloatResult(instruction, values);
  }
  llvm::SmallVector<int64_t, 3> values;
  for (const Number& number : numbers) {
    const auto* value = std::get_if<int64_t>(&number);
    if (value == nullptr) return std::nullopt;
    values.push_back(*value);
  }
  return IntegerResult(instruction, values);
}

}  // namespace xla_indexing::internal
