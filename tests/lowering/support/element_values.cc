#include "tests/lowering/support/element_values.h"

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
    case HloOpcode::kNegate:
      return -a;
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
std::optional<Integer> FloatResult(HloOpcode opcode, ElementType type,
                                   const std::vector<Integer>& operands) {
  const auto number = [&](size_t i) { return static_cast<T>(NumberOf(type, operands[i])); };
  std::optional<T> result;
  if (operands.size() == 1) result = FloatUnary<T>(opcode, number(0));
  if (operands.size() == 2) result = FloatBinary<T>(opcode, number(0), number(1));
  if (opcode == HloOpcode::kClamp) {
    result = Extremum(Extremum(number(1), number(0), true), number(2), false);
  }
  if (!result) return std::nullopt;
  return BitsOfFloat(type, *result);
}

Integer CompareFloats(absl::string_view direction, double a, double b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  return a >= b;
}

std::optional<Integer> IntegerUnary(HloOpcode opcode, ElementType type, Integer a) {
  const auto bits = absl::Int128Low64(a & ((Integer(1) << BitWidth(type)) - 1));
  if (opcode == HloOpcode::kPopcnt) return std::popcount(static_cast<uint64_t>(bits));
  if (opcode == HloOpcode::kCountLeadingZeros) {
    return std::countl_zero(static_cast<uint64_t>(bits)) - (64 - BitWidth(type));
  }
  return std::nullopt;
}

}  // namespace

bool HasElementValues(ElementType type) {
  return IsPred(type) || (IsIntegral(type) && BitWidth(type) >= 8) || type == ElementType::kF16 ||
         type == ElementType::kBF16 || type == ElementType::kF32 || type == ElementType::kF64;
}

double NumberOf(ElementType type, Integer bits) {
  if (!IsFloatingPoint(type)) return static_cast<double>(bits);
  return llvm::APFloat(FormatOf(type), llvm::APInt(BitWidth(type), absl::Int128Low64(bits),
                                                   /*isSigned=*/false, /*implicitTrunc=*/true))
      .convertToDouble();
}

Integer BitsOfFloat(ElementType type, double number) {
  llvm::APFloat value(number);
  bool is_inexact = false;
  value.convert(FormatOf(type), llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  return Integer(value.bitcastToAPInt().getZExtValue());
}

Integer ConvertElement(Integer bits, ElementType from, ElementType to) {
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
  const ElementType from =
      instruction.operand_count() > 0
          ? instruction.operand(instruction.operand_count() - 1)->shape().element_type()
          : type;
  switch (opcode) {
    case HloOpcode::kConvert:
      return ConvertElement(operands[0], from, type);
    case HloOpcode::kCopy:
      return operands[0];
    case HloOpcode::kSelect:
      return operands[0] != 0 ? operands[1] : operands[2];
    case HloOpcode::kCompare:
      if (!IsFloatingPoint(from)) break;
      if (instruction.GetText(AttributeKey::kComparisonType) == "TOTALORDER") return std::nullopt;
      return CompareFloats(instruction.comparison_direction(), NumberOf(from, operands[0]),
                           NumberOf(from, operands[1]));
    case HloOpcode::kIsFinite:
      return std::isfinite(NumberOf(from, operands[0]));
    default:
      break;
  }
  if (type == ElementType::kF64) return FloatResult<double>(opcode, type, operands);
  if (IsFloatingPoint(type)) return FloatResult<float>(opcode, type, operands);
  if (operands.size() == 1) {
    if (const auto value = IntegerUnary(opcode, type, operands[0])) return value;
  }
  return reference::ElementwiseInteger(
      instruction, std::vector<std::optional<Integer>>(operands.begin(), operands.end()));
}

Integer MultiplyAddValue(ElementType type, Integer sum, Integer a, Integer b) {
  if (IsFloatingPoint(type)) {
    const Integer product = BitsOfFloat(type, NumberOf(type, a) * NumberOf(type, b));
    return BitsOfFloat(type, NumberOf(type, sum) + NumberOf(type, product));
  }
  const auto product =
      static_cast<Integer>(static_cast<absl::uint128>(a) * static_cast<absl::uint128>(b));
  return reference::WrapInteger(type, sum + product);
}

}  // namespace xla_indexing
