#include "tests/lowering/support/complex_values.h"

#include <cmath>
#include <complex>
#include <optional>
#include <vector>

#include "tests/lowering/support/element_values.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using reference::Integer;

template <typename T>
std::optional<std::complex<T>> Unary(HloOpcode opcode, std::complex<T> a) {
  switch (opcode) {
    case HloOpcode::kCosine:
      return std::cos(a);
    case HloOpcode::kExponential:
      return std::exp(a);
    case HloOpcode::kLog:
      return std::log(a);
    case HloOpcode::kNegate:
      return -a;
    case HloOpcode::kSine:
      return std::sin(a);
    case HloOpcode::kSqrt:
      return std::sqrt(a);
    case HloOpcode::kTanh:
      return std::tanh(a);
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<std::complex<T>> Binary(HloOpcode opcode, std::complex<T> a, std::complex<T> b) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return a + b;
    case HloOpcode::kDivide:
      return a / b;
    case HloOpcode::kMultiply:
      return a * b;
    case HloOpcode::kSubtract:
      return a - b;
    default:
      return std::nullopt;
  }
}

template <typename T>
std::optional<Integer> Result(ElementType type, HloOpcode opcode,
                              const std::vector<Integer>& operands) {
  const auto number = [&](size_t i) { return std::complex<T>(ComplexOf(type, operands[i])); };
  const std::optional<std::complex<T>> result =
      operands.size() == 1 ? Unary(opcode, number(0)) : Binary(opcode, number(0), number(1));
  if (!result) return std::nullopt;
  const ElementType part = ComplexComponentType(type);
  return ComplexBits(type, BitsOfFloat(part, result->real()), BitsOfFloat(part, result->imag()));
}

}  // namespace

Integer ComplexBits(ElementType type, Integer real, Integer imaginary) {
  return real | imaginary << BitWidth(ComplexComponentType(type));
}

Integer BitsOfPart(ElementType type, Integer bits, int part) {
  const int width = BitWidth(ComplexComponentType(type));
  return (bits >> (width * part)) & ((Integer(1) << width) - 1);
}

std::complex<double> ComplexOf(ElementType type, Integer bits) {
  const ElementType part = ComplexComponentType(type);
  return {NumberOf(part, BitsOfPart(type, bits, 0)), NumberOf(part, BitsOfPart(type, bits, 1))};
}

std::optional<Integer> ComplexValue(const HloInstruction& instruction,
                                    const std::vector<Integer>& operands) {
  const HloOpcode opcode = instruction.opcode();
  const ElementType type = instruction.shape().element_type();
  const ElementType from = instruction.operand(0)->shape().element_type();
  switch (opcode) {
    case HloOpcode::kComplex: {
      const ElementType part = ComplexComponentType(type);
      return ComplexBits(
          type, ConvertElement(operands[0], from, part),
          ConvertElement(operands[1], instruction.operand(1)->shape().element_type(), part));
    }
    case HloOpcode::kReal:
    case HloOpcode::kImag: {
      const Integer part = BitsOfPart(from, operands[0], opcode == HloOpcode::kReal ? 0 : 1);
      return ConvertElement(part, ComplexComponentType(from), type);
    }
    case HloOpcode::kAbs:
      return BitsOfFloat(type, from == ElementType::kC64
                                   ? std::abs(std::complex<float>(ComplexOf(from, operands[0])))
                                   : std::abs(ComplexOf(from, operands[0])));
    case HloOpcode::kCompare:
      return (ComplexOf(from, operands[0]) == ComplexOf(from, operands[1])) ==
             (instruction.comparison_direction() == "EQ");
    default:
      return from == ElementType::kC64 ? Result<float>(from, opcode, operands)
                                       : Result<double>(from, opcode, operands);
  }
}

Integer ComplexMultiplyAdd(ElementType type, Integer sum, Integer a, Integer b) {
  const ElementType part = ComplexComponentType(type);
  const auto combine = [&](HloOpcode opcode, std::complex<double> x, std::complex<double> y) {
    // The parts of c64 are rounded as those of std::complex<float>.
    const auto narrow_x = std::complex<float>(x);
    const auto narrow_y = std::complex<float>(y);
    return type == ElementType::kC128 ? *Binary(opcode, x, y)
                                      : std::complex<double>(*Binary(opcode, narrow_x, narrow_y));
  };
  const auto product = combine(HloOpcode::kMultiply, ComplexOf(type, a), ComplexOf(type, b));
  const auto result = combine(HloOpcode::kAdd, ComplexOf(type, sum), product);
  return ComplexBits(type, BitsOfFloat(part, result.real()), BitsOfFloat(part, result.imag()));
}

}  // namespace xla_indexing
