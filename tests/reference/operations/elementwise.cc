// Operations that compute an element from the operands' elements at its index, or from nothing.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
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

}  // namespace

// result[d] = f(operand_0[d], operand_1[d], ...); the predicate of select and the bounds of clamp
// may have rank 0.
Array Elementwise(const HloInstruction& instruction, Operands operands) {
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Element& element = result.at(index);
    absl::InlinedVector<std::optional<Integer>, 3> integers;
    for (const Value* operand : operands) {
      const Array& array = operand->front();
      const Element& read = array.at(array.rank() == 0 ? Index() : index);
      element.sources.AddAll(read.sources);
      integers.push_back(read.value);
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
