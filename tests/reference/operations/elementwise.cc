// Operations that compute an element from the operands' elements at its index, or from nothing.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::reference {
namespace {

void AppendLiteral(const Literal& literal, Value* value) {
  if (literal.shape().IsTuple()) {
    for (const Literal& element : literal.tuple_elements()) AppendLiteral(element, value);
    return;
  }
  Array array(literal.shape());
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    const std::optional<int64_t> integer = literal.IntegerAt(i);
    if (integer.has_value()) {
      array.elements()[i].value = *integer;
    } else if (IsUnsignedIntegral(literal.shape().element_type())) {
      array.elements()[i].value = literal.BitsAt(i);
    }
  }
  value->push_back(array);
}

using ReadElements = absl::Span<const Element* const>;

// Whether an operand alone decides the result, whatever the others are.
bool DecidesAlone(const HloInstruction& instruction, const Element& operand) {
  const ElementType type = instruction.shape().element_type();
  if (!operand.is_fixed || operand.is_scalar || !operand.value.has_value()) return false;
  const Integer all_bits = WrapInteger(type, -1);
  switch (instruction.opcode()) {
    case HloOpcode::kAnd:
    case HloOpcode::kMultiply:
      return *operand.value == 0;
    case HloOpcode::kOr:
      return *operand.value == (IsPred(type) ? Integer(1) : all_bits);
    case HloOpcode::kMaximum:
      return *operand.value == GreatestInteger(type);
    case HloOpcode::kMinimum:
      return *operand.value == LeastInteger(type);
    default:
      return false;
  }
}

bool IsIntegerOperation(const HloInstruction& instruction) {
  const ElementType type = instruction.shape().element_type();
  return IsIntegral(type) || IsPred(type);
}

// The operands that decide the result: of a select with a fixed predicate that and the value that it
// takes, or its two values where these are the same, and one that decides alone.
absl::InlinedVector<size_t, 3> Deciding(const HloInstruction& instruction, ReadElements operands) {
  if (instruction.opcode() == HloOpcode::kSelect && operands[0]->is_fixed) {
    return {0, operands[0]->value.value() != 0 ? size_t{1} : size_t{2}};
  }
  // Two values that are the same, whichever is taken.
  const auto is_known = [&](size_t i) {
    return operands[i]->is_fixed && !operands[i]->is_scalar && operands[i]->value.has_value();
  };
  if (instruction.opcode() == HloOpcode::kSelect && is_known(1) && is_known(2) &&
      *operands[1]->value == *operands[2]->value) {
    return {1, 2};
  }
  // Bounds of a clamp of which the least is no less than the greatest.
  const bool has_bounds = instruction.opcode() == HloOpcode::kClamp &&
                          instruction.shape().rank() > 0 && IsIntegerOperation(instruction) &&
                          operands[0]->is_fixed && operands[2]->is_fixed &&
                          !operands[0]->is_scalar && !operands[2]->is_scalar;
  if (has_bounds && operands[0]->value.value() >= operands[2]->value.value()) return {0, 2};
  absl::InlinedVector<size_t, 3> all;
  for (size_t i = 0; i < operands.size(); ++i) {
    // Scalars are not data, and matter wherever they are named.
    const bool is_array = instruction.shape().rank() > 0;
    if (is_array && IsIntegerOperation(instruction) && DecidesAlone(instruction, *operands[i]))
      return {i};
    all.push_back(i);
  }
  return all;
}

// Whether what a scalar is compared with, or chooses, is told by a condition on it.
bool IsDecision(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCompare;
}

bool IsFixed(const HloInstruction& instruction, ReadElements operands) {
  const auto deciding = Deciding(instruction, operands);
  return std::all_of(deciding.begin(), deciding.end(),
                     [&](size_t i) { return operands[i]->is_fixed; });
}

}  // namespace

// result[d] = f(operand_0[d], operand_1[d], ...); the predicate of select and the bounds of clamp
// may have rank 0.
Array Elementwise(const HloInstruction& instruction, Operands operands) {
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Element& element = result.at(index);
    absl::InlinedVector<std::optional<Integer>, 3> integers;
    absl::InlinedVector<const Element*, 3> read;
    for (const Value* operand : operands) {
      const Array& array = operand->front();
      read.push_back(&array.at(array.rank() == 0 ? Index() : index));
      integers.push_back(read.back()->value);
    }
    for (const size_t i : Deciding(instruction, read)) element.sources.AddAll(read[i]->sources);
    element.is_fixed = IsFixed(instruction, read);
    for (const size_t i : Deciding(instruction, read)) {
      element.is_scalar = element.is_scalar || (read[i]->is_scalar && !IsDecision(instruction));
    }
    element.value = ElementwiseInteger(instruction, integers);
  });
  return result;
}

// result[d] = f(operand_0[d], operand_1[d], ...), of which f may leave some alone.
Array Map(const HloInstruction& instruction, Operands operands) {
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    for (const Value* operand : operands) {
      result.at(index).sources.AddAll(operand->front().at(index).sources);
    }
  });
  return result;
}

// result[d] = d[iota_dimension], modulo what the type can hold.
Array Iota(const HloInstruction& instruction, Operands operands) {
  static_cast<void>(operands);
  Array result(instruction.shape());
  const ElementType type = result.shape().element_type();
  if (!IsIntegral(type)) return result;
  ForEachIndex(result.sizes(), [&](const Index& index) {
    result.at(index).value = WrapInteger(type, index[instruction.iota_dimension()]);
  });
  return result;
}

Value Constant(const HloInstruction& instruction) {
  const Literal* literal = instruction.literal();
  if (literal == nullptr || literal->IsElided()) return MakeValue(instruction.shape());
  Value value;
  AppendLiteral(*literal, &value);
  return value;
}

}  // namespace xla_indexing::reference
