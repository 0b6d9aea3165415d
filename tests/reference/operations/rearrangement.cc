// Operations that put elements of their operands in other places.

#include <cstdint>

#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

// Dimension j of the operand is dimension dimensions[j] of the result.
Array Broadcast(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Index read(operand.rank());
    for (int64_t j = 0; j < operand.rank(); ++j) read[j] = index[instruction.dimensions()[j]];
    result.at(index) = operand.at(read);
  });
  return result;
}

// The operands one after another along a dimension.
Array Concatenate(const HloInstruction& instruction, Operands operands) {
  const int64_t dimension = instruction.dimensions()[0];
  Array result(instruction.shape());
  int64_t offset = 0;
  for (const Value* value : operands) {
    const Array& operand = value->front();
    ForEachIndex(operand.sizes(), [&](const Index& index) {
      Index written = index;
      written[dimension] += offset;
      result.at(written) = operand.at(index);
    });
    offset += operand.size(dimension);
  }
  return result;
}

// The padding value everywhere, then the operand's elements with `interior` places between
// neighbours, the first at `low`; what falls outside is dropped.
Array Pad(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  for (Element& element : result.elements()) element = operands[1]->front().elements()[0];
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    Index written = index;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      const PaddingDimension& padding = instruction.padding()[d];
      written[d] = padding.low + index[d] * (padding.interior + 1);
    }
    if (IsInside(result.sizes(), written)) result.at(written) = operand.at(index);
  });
  return result;
}

// The result has the operand's elements in the operand's row-major order.
Array Reshape(const HloInstruction& instruction, Operands operands) {
  Array result(instruction.shape());
  result.elements() = operands[0]->front().elements();
  return result;
}

Array WithSizes(const HloInstruction& instruction, Operands operands) {
  Array result = Reshape(instruction, operands);
  for (size_t i = 1; i < operands.size(); ++i) {
    for (Element& element : result.elements()) {
      element.sources.AddAll(operands[i]->front().elements()[0].sources);
    }
  }
  return result;
}

Array Reverse(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    Index written = index;
    for (int64_t d : instruction.dimensions()) written[d] = operand.size(d) - 1 - index[d];
    result.at(written) = operand.at(index);
  });
  return result;
}

// The elements at start, start + stride, ... below limit.
Array Slice(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Index read = index;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      const SliceRange& range = instruction.slice()[d];
      read[d] = range.start + index[d] * range.stride;
    }
    result.at(index) = operand.at(read);
  });
  return result;
}

// Dimension j of the result is dimension dimensions[j] of the operand.
Array Transpose(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    Index written(operand.rank());
    for (int64_t j = 0; j < operand.rank(); ++j) written[j] = index[instruction.dimensions()[j]];
    result.at(written) = operand.at(index);
  });
  return result;
}

}  // namespace xla_indexing::reference
