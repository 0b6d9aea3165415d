// Operations that hand arrays on: copies, sends and receives, asynchronous operations.

#include <cstddef>
#include <cstdint>

#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

void Append(const Value& arrays, Value* value) {
  value->insert(value->end(), arrays.begin(), arrays.end());
}

// The arrays of one element of a tuple.
Value ElementOf(const Shape& tuple, int64_t element, const Value& value) {
  const int64_t first = tuple.FirstLeafOfElement(element);
  const auto begin = value.begin() + first;
  return Value(begin, begin + tuple.tuple_element(element).LeafCount());
}

}  // namespace

// (copy, original, context)
Value CopyStart(Operands operands) {
  Value value = *operands[0];
  Append(*operands[0], &value);
  Append(MakeValue(Shape::Scalar(ElementType::kU32)), &value);
  return value;
}

Value CopyDone(const HloInstruction& instruction, Operands operands) {
  return ElementOf(instruction.operand(0)->shape(), 0, *operands[0]);
}

Value AsyncDone(const HloInstruction& instruction, Operands operands) {
  return ElementOf(instruction.operand(0)->shape(), 1, *operands[0]);
}

// (data, context, token)
Value Send(const HloInstruction& instruction, Operands operands) {
  Value value = *operands[0];
  Append(MakeValue(instruction.shape().tuple_element(1)), &value);
  return value;
}

// (data, token)
Value RecvDone(const HloInstruction& instruction, Operands operands) {
  return ElementOf(instruction.operand(0)->shape(), 0, *operands[0]);
}

}  // namespace xla_indexing::reference
