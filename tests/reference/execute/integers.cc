#include "tests/reference/execute/integers.h"

#include <algorithm>
#include <optional>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

// The product modulo 2^128.
Integer MultiplyWrapping(Integer a, Integer b) {
  return static_cast<Integer>(static_cast<absl::uint128>(a) * static_cast<absl::uint128>(b));
}

std::optional<Integer> Compare(absl::string_view direction, Integer a, Integer b) {
  if (direction == "EQ") return a == b;
  if (direction == "NE") return a != b;
  if (direction == "LT") return a < b;
  if (direction == "LE") return a <= b;
  if (direction == "GT") return a > b;
  if (direction == "GE") return a >= b;
  return std::nullopt;
}

// HLO defines x / 0 as all ones and x mod 0 as x.
Integer Divide(ElementType type, Integer a, Integer b) {
  if (b == 0) return WrapInteger(type, -1);
  return a / b;
}

std::optional<Integer> Unary(HloOpcode opcode, ElementType type, Integer a) {
  switch (opcode) {
    case HloOpcode::kAbs:
      return a < 0 ? -a : a;
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
      return a;
    case HloOpcode::kNegate:
      return -a;
    case HloOpcode::kNot:
      return IsPred(type) ? 1 - a : ~a;
    case HloOpcode::kSign:
      return a > 0 ? 1 : (a < 0 ? -1 : 0);
    default:
      return std::nullopt;
  }
}

// Bits that are shifted in are 0, or for arithmetic shifts copies of the highest bit, also of unsigned
// types. So they are where all bits are shifted out: by less than 0, or by the width or more.
Integer Shift(HloOpcode opcode, ElementType type, Integer a, Integer by) {
  const int width = BitWidth(type);
  const Integer period = Integer(1) << width;
  const Integer bits = a & (period - 1);
  const bool is_arithmetic = opcode == HloOpcode::kShiftRightArithmetic;
  const Integer filled = is_arithmetic && bits >= period / 2 ? bits - period : bits;
  const bool is_out = by < 0 || by >= width;
  if (opcode == HloOpcode::kShiftLeft) return is_out ? Integer(0) : bits << static_cast<int>(by);
  if (is_out) return filled < 0 ? -1 : 0;
  return filled >> static_cast<int>(by);
}

std::optional<Integer> Binary(HloOpcode opcode, ElementType type, Integer a, Integer b) {
  switch (opcode) {
    case HloOpcode::kAdd:
      return a + b;
    case HloOpcode::kAnd:
      return a & b;
    case HloOpcode::kDivide:
      return Divide(type, a, b);
    case HloOpcode::kMaximum:
      return std::max(a, b);
    case HloOpcode::kMinimum:
      return std::min(a, b);
    case HloOpcode::kMultiply:
      return MultiplyWrapping(a, b);
    case HloOpcode::kOr:
      return a | b;
    case HloOpcode::kRemainder:
      return b == 0 ? a : a % b;
    case HloOpcode::kShiftLeft:
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return Shift(opcode, type, a, b);
    case HloOpcode::kSubtract:
      return a - b;
    case HloOpcode::kXor:
      return a ^ b;
    default:
      return std::nullopt;
  }
}

}  // namespace

Integer WrapInteger(ElementType type, Integer value) {
  if (IsPred(type)) return value != 0 ? 1 : 0;
  const Integer modulus = Integer(1) << BitWidth(type);
  Integer wrapped = value & (modulus - 1);
  if (IsSignedIntegral(type) && wrapped >= modulus / 2) wrapped -= modulus;
  return wrapped;
}

Integer LeastInteger(ElementType type) {
  return IsSignedIntegral(type) ? -(Integer(1) << (BitWidth(type) - 1)) : Integer(0);
}

Integer GreatestInteger(ElementType type) {
  return LeastInteger(type) + (Integer(1) << BitWidth(type)) - 1;
}

std::optional<Integer> ElementwiseInteger(const HloInstruction& instruction,
                                          absl::Span<const std::optional<Integer>> operands) {
  const ElementType type = instruction.shape().element_type();
  if (!IsIntegral(type) && !IsPred(type)) return std::nullopt;
  for (const std::optional<Integer>& operand : operands) {
    if (!operand.has_value()) return std::nullopt;
  }
  std::optional<Integer> result;
  switch (instruction.opcode()) {
    case HloOpcode::kClamp:
      result = std::min(std::max(*operands[0], *operands[1]), *operands[2]);
      break;
    case HloOpcode::kCompare:
      result = Compare(instruction.comparison_direction(), *operands[0], *operands[1]);
      break;
    case HloOpcode::kSelect:
      result = *operands[0] != 0 ? *operands[1] : *operands[2];
      break;
    default:
      if (operands.size() == 1) result = Unary(instruction.opcode(), type, *operands[0]);
      if (operands.size() == 2) {
        result = Binary(instruction.opcode(), type, *operands[0], *operands[1]);
      }
  }
  if (result.has_value()) result = WrapInteger(type, *result);
  return result;
}

std::vector<std::optional<Integer>> ScalarResults(
    const HloComputation& computation, absl::Span<const std::optional<Integer>> arguments) {
  std::vector<std::optional<Integer>> values;
  for (const HloInstruction* each : computation.instructions()) {
    std::optional<Integer>& value = values.emplace_back();
    if (each->opcode() == HloOpcode::kParameter) {
      value = arguments[static_cast<size_t>(each->parameter_number())];
    } else if (each->opcode() == HloOpcode::kConstant) {
      if (const std::optional<int64_t> number = each->literal()->IntegerAt(0)) value = *number;
    } else if (each->opcode() != HloOpcode::kTuple) {
      std::vector<std::optional<Integer>> operands;
      for (const HloInstruction* operand : each->operands()) {
        operands.push_back(values[static_cast<size_t>(operand->index_in_computation())]);
      }
      value = ElementwiseInteger(*each, operands);
    }
  }
  const HloInstruction& root = *computation.root_instruction();
  const auto value_of = [&](const HloInstruction* each) {
    return values[static_cast<size_t>(each->index_in_computation())];
  };
  if (root.opcode() != HloOpcode::kTuple) return {value_of(&root)};
  std::vector<std::optional<Integer>> results;
  for (const HloInstruction* each : root.operands()) results.push_back(value_of(each));
  return results;
}

}  // namespace xla_indexing::reference
