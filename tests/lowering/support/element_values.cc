#include "tests/lowering/support/element_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "tests/lowering/support/complex_values.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using reference::Integer;

const llvm::fltSemantics& FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF8E3M4:
      return llvm::APFloat::Float8E3M4();
    case ElementType::kF8E4M3:
      return llvm::APFloat::Float8E4M3();
    case ElementType::kF8E4M3B11FNUZ:
      return llvm::APFloat::Float8E4M3B11FNUZ();
    case ElementType::kF8E4M3FN:
      return llvm::APFloat::Float8E4M3FN();
    case ElementType::kF8E4M3FNUZ:
      return llvm::APFloat::Float8E4M3FNUZ();
    case ElementType::kF8E5M2:
      return llvm::APFloat::Float8E5M2();
    case ElementType::kF8E5M2FNUZ:
      return llvm::APFloat::Float8E5M2FNUZ();
    case ElementType::kF16:
      return llvm::APFloat::IEEEhalf();
    case ElementType::kBF16:
      return llvm::APFloat::BFloat();
    case ElementType::kF32:
      return llvm::APFloat::IEEEsingle();
    default:
      return llvm::APFloat::IEEEdouble();
  }
}

// T is float or double: the precision of each operation. Those on 16 bits are done in f32, and
// rounded.
template <typename T>
std::optional<T> FloatUnary(HloOpcode opcode, T a) {
  switch (opcode) {
    case HloOpcode::kAbs:
      return std::fabs(a);
    case HloOpcode::kAcos:
      return std::acos(a);
    case HloOpcode::kAcosh:
      return std::acosh(a);
    case HloOpcode::kAsin:
      return std::asin(a);
    case HloOpcode::kAsinh:
      return std::asinh(a);
    case HloOpcode::kAtanh:
      return std::atanh(a);
    case HloOpcode::kCbrt:
      return std::cbrt(a);
    case HloOpcode::kCeil:
      return std::ceil(a);
    case HloOpcode::kCosine:
      return std::cos(a);
    case HloOpcode::kCosh:
      return std::cosh(a);
    case HloOpcode::kErf:
      return std::erf(a);
    case HloOpcode::kExponential:
      return std::exp(a);
    case HloOpcode::kExponentialMinusOne:
      return std::expm1(a);
    case HloOpcode::kFloor:
      return std::floor(a);
    case HloOpcode::kLog:
      return std::log(a);
    case HloOpcode::kLogPlusOne:
      return std::log1p(a);
    case HloOpcode::kLogistic:
      return T(1) / (T(1) + std::exp(-a));
    case HloOpcode::kImag:
      return T(0);
    case HloOpcode::kNegate:
      return -a;
    case HloOpcode::kReal:
      return a;
    case HloOpcode::kRoundNearestAfz:
      return std::round(a);
    case HloOpcode::kRoundNearestEven:
      return std::nearbyint(a);
    case HloOpcode::kRsqrt:
      return T(1) / std::sqrt(a);
    case HloOpcode::kSign:
      return std::isnan(a) || a == 0 ? a : std::copysign(T(1), a);
    case HloOpcode::kSine:
      return std::sin(a);
    case HloOpcode::kSinh:
      return std::sinh(a);
    case HloOpcode::kSqrt:
      return std::sqrt(a);
    case HloOpcode::kTan:
      return std::tan(a);
    case HloOpcode::kTanh:
      return std::tanh(a);
    default:
      return std::nullopt;
  }
}

template <typename T>
T Extremum(T a, T b, bool is_greatest) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) == is_greatest ? b : a;
  return (a > b) == is_greatest ? a : b;
}

template <typename T>
std::optional<T> FloatBinary(HloOpcode opcode, T a, T b) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return a + b;
    case HloOpcode::kAtan2:
      return std::atan2(a, b);
    case HloOpcode::kDivide:
      return a / b;
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
      return Extremum(a, b, opcode == HloOpcode::kMaximum);
    case HloOpcode::kMultiply:
      return a * b;
    case HloOpcode::kPower:
      return std::pow(a, b);
    case HloOpcode::kRemainder:
      return std::fmod(a, b);
    case HloOpcode::kSubtract:
      return a - b;
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<Integer> FloatResult(const HloInstruction& instruction,
                                   const std::vector<Integer>& operands) {
  const HloOpcode opcode = instruction.opcode();
  const auto number = [&](int64_t i) {
    return static_cast<T>(
        NumberOf(instruction.operand(i)->shape().element_type(), operands[static_cast<size_t>(i)]));
  };
  std::optional<T> result;
  if (operands.size() == 1) result = FloatUnary<T>(opcode, number(0));
  if (operands.size() == 2) result = FloatBinary<T>(opcode, number(0), number(1));
  if (opcode == HloOpcode::kClamp) {
    result = Extremum(Extremum(number(1), number(0), true), number(2), false);
  }
  if (!result) return std::nullopt;
  return BitsOfFloat(instruction.shape().element_type(), *result);
}

template <typename T>
Integer CompareNumbers(absl::string_view direction, T a, T b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  return a >= b;
}

// The float of `type` that is left of a number if it has so many bits.
double ReducedNumber(ElementType type, double number, int exponent_bits, int mantissa_bits) {
  if (!std::isfinite(number) || number == 0) return number;
  const llvm::fltSemantics& format = FormatOf(type);
  const int least = llvm::APFloat::semanticsMinExponent(format);
  const int precision = static_cast<int>(llvm::APFloat::semanticsPrecision(format)) - 1;
  if (mantissa_bits < precision) {
    const int unit = std::max(std::ilogb(number), least) - mantissa_bits;
    number = std::ldexp(std::nearbyint(std::ldexp(number, -unit)), unit);
  }
  // Where the exponent has fewer bits than that of the type.
  const int greatest = (1 << (exponent_bits - 1)) - 1;
  if (number == 0 || least >= 1 - greatest) return number;
  if (std::ilogb(number) > greatest) return std::copysign(INFINITY, number);
  return std::ilogb(number) <= -greatest ? std::copysign(0.0, number) : number;
}

std::optional<Integer> IntegerUnary(HloOpcode opcode, ElementType type, Integer a) {
  const auto bits = absl::Int128Low64(a & ((Integer(1) << BitWidth(type)) - 1));
  if (opcode == HloOpcode::kPopcnt) return std::popcount(static_cast<uint64_t>(bits));
  if (opcode == HloOpcode::kCountLeadingZeros) {
    return std::countl_zero(static_cast<uint64_t>(bits)) - (64 - BitWidth(type));
  }
  return std::nullopt;
}

// By squares. Those with negative exponents are 0, but 1 of 1.
Integer IntegerPower(ElementType type, Integer base, Integer exponent) {
  if (exponent < 0) return base == 1 ? 1 : 0;
  Integer power = 1;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent % 2 == 1) power = reference::WrapInteger(type, power * base);
    base = reference::WrapInteger(type, base * base);
  }
  return reference::WrapInteger(type, power);
}

}  // namespace

bool HasElementValues(ElementType type) {
  return IsArrayType(type) && type != ElementType::kF4E2M1FN && type != ElementType::kF8E8M0FNU;
}

double NumberOf(ElementType type, Integer bits) {
  if (!IsFloatingPoint(type)) return static_cast<double>(bits);
  return llvm::APFloat(FormatOf(type), llvm::APInt(BitWidth(type), absl::Int128Low64(bits),
                                                   /*isSigned=*/false, /*implicitTrunc=*/true))
      .convertToDouble();
}

Integer RankOf(ElementType type, Integer bits) {
  if (!IsFloatingPoint(type)) return bits;
  const Integer sign = Integer(1) << (BitWidth(type) - 1);
  return bits < sign ? bits : sign - 1 - bits;
}

Integer BitsOfFloat(ElementType type, double number) {
  llvm::APFloat value(number);
  bool is_inexact = false;
  value.convert(FormatOf(type), llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  return Integer(value.bitcastToAPInt().getZExtValue());
}

Integer ConvertElement(Integer bits, ElementType from, ElementType to) {
  if (from == to) return bits;
  if (IsComplex(from) || IsComplex(to)) {
    const auto convert = [&](Integer part) {
      return ConvertElement(part, ComplexComponentType(from), ComplexComponentType(to));
    };
    if (!IsComplex(from)) return ComplexBits(to, convert(bits), 0);
    const Integer real = convert(BitsOfPart(from, bits, 0));
    return IsComplex(to) ? ComplexBits(to, real, convert(BitsOfPart(from, bits, 1))) : real;
  }
  if (!IsFloatingPoint(from)) {
    if (!IsFloatingPoint(to)) return reference::WrapInteger(to, bits);
    // Rounded once; to 16 bits, by way of f32.
    if (to == ElementType::kF64) return BitsOfFloat(to, static_cast<double>(bits));
    return BitsOfFloat(to, static_cast<float>(bits));
  }
  const double number = NumberOf(from, bits);
  if (IsFloatingPoint(to)) return BitsOfFloat(to, number);
  if (IsPred(to)) return number != 0 ? 1 : 0;
  if (std::isnan(number)) return 0;
  if (number >= static_cast<double>(reference::GreatestInteger(to))) {
    return reference::GreatestInteger(to);
  }
  if (number <= static_cast<double>(reference::LeastInteger(to))) {
    return reference::LeastInteger(to);
  }
  return static_cast<Integer>(number);
}

std::optional<Integer> ElementwiseValue(const HloInstruction& instruction,
                                        const std::vector<Integer>& operands) {
  const HloOpcode opcode = instruction.opcode();
  const ElementType type = instruction.shape().element_type();
  const auto from = [&](int64_t i) { return instruction.operand(i)->shape().element_type(); };
  switch (opcode) {
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
      return ConvertElement(operands[0], from(0), type);
    case HloOpcode::kSelect:
      return operands[0] != 0 ? ConvertElement(operands[1], from(1), type)
                              : ConvertElement(operands[2], from(2), type);
    case HloOpcode::kCompare: {
      if (IsComplex(from(0))) return ComplexValue(instruction, operands);
      if (!IsFloatingPoint(from(0))) break;
      const bool is_total = instruction.GetText(AttributeKey::kComparisonType) == "TOTALORDER";
      const auto compare = [&](auto value_of) {
        return CompareNumbers(instruction.comparison_direction(), value_of(from(0), operands[0]),
                              value_of(from(1), operands[1]));
      };
      if (!is_total) return compare(NumberOf);
      if (from(0) != from(1)) return std::nullopt;
      return compare(RankOf);
    }
    case HloOpcode::kIsFinite:
      return std::isfinite(NumberOf(from(0), operands[0]));
    case HloOpcode::kMulhi: {
      const absl::int128 product = absl::int128(operands[0]) * absl::int128(operands[1]);
      if (BitWidth(type) == 64) return std::nullopt;
      return reference::WrapInteger(type, product >> BitWidth(type));
    }
    case HloOpcode::kReducePrecision:
      if (BitWidth(type) < 16 || from(0) != type) return std::nullopt;
      return BitsOfFloat(
          type,
          ReducedNumber(type, NumberOf(type, operands[0]),
                        static_cast<int>(*instruction.GetInteger(AttributeKey::kExponentBits)),
                        static_cast<int>(*instruction.GetInteger(AttributeKey::kMantissaBits))));
    default:
      break;
  }
  if (IsComplex(type) || IsComplex(from(0))) return ComplexValue(instruction, operands);
  if (IsFloatingPoint(type)) {
    bool is_f64 = type == ElementType::kF64;
    for (int64_t i = 0; i < instruction.operand_count(); ++i) {
      is_f64 = is_f64 || from(i) == ElementType::kF64;
    }
    return is_f64 ? FloatResult<double>(instruction, operands)
                  : FloatResult<float>(instruction, operands);
  }
  if (operands.size() == 1) {
    if (const auto value = IntegerUnary(opcode, type, operands[0])) return value;
  }
  if (opcode == HloOpcode::kPower && IsIntegral(type)) {
    return IntegerPower(type, operands[0], operands[1]);
  }
  return reference::ElementwiseInteger(
      instruction, std::vector<std::optional<Integer>>(operands.begin(), operands.end()));
}

Integer MultiplyAddValue(ElementType type, Integer sum, Integer a, Integer b) {
  if (IsComplex(type)) return ComplexMultiplyAdd(type, sum, a, b);
  if (IsFloatingPoint(type)) {
    const Integer product = BitsOfFloat(type, NumberOf(type, a) * NumberOf(type, b));
    return BitsOfFloat(type, NumberOf(type, sum) + NumberOf(type, product));
  }
  const auto product =
      static_cast<Integer>(static_cast<absl::uint128>(a) * static_cast<absl::uint128>(b));
  return reference::WrapInteger(type, sum + product);
}

}  // namespace xla_indexing
