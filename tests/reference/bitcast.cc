// Bitcast: the same memory read as an array of another shape, layout or element type.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/reference/integers.h"
#include "tests/reference/operations.h"
#include "tests/reference/value.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/layout.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing::reference {
namespace {

// Where an element lies in memory, counted in elements.
int64_t PhysicalPosition(const Shape& shape, const Index& index) {
  int64_t position = 0;
  int64_t stride = 1;
  for (int64_t d : shape.LayoutOrRowMajor().minor_to_major) {
    position += index[d] * stride;
    stride *= shape.dimension(d);
  }
  return position;
}

int64_t ElementBits(const Shape& shape) {
  const int64_t given = shape.LayoutOrRowMajor().element_size_in_bits;
  return given != 0 ? given : StorageBitWidth(shape.element_type());
}

bool HasOnlyAnOrder(const Shape& shape) {
  Layout layout = shape.LayoutOrRowMajor();
  layout.element_size_in_bits = 0;
  layout.memory_space = 0;
  return layout.IsPlain();
}

}  // namespace

// A wide element is a row of narrow ones.
Array BitcastConvert(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  const bool to_narrow = result.rank() > operand.rank();
  ForEachIndex(to_narrow ? result.sizes() : operand.sizes(), [&](const Index& index) {
    Index of_wide = index;
    if (result.rank() != operand.rank()) of_wide.pop_back();
    Element& written = result.at(to_narrow ? index : of_wide);
    written.sources.AddAll(operand.at(to_narrow ? of_wide : index).sources);
  });
  return result;
}

absl::StatusOr<Array> Bitcast(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  Array result(instruction.shape());
  if (!HasOnlyAnOrder(operand.shape()) || !HasOnlyAnOrder(result.shape())) {
    return absl::UnimplementedError(absl::StrCat(instruction.name(), ": bitcast of tiled layouts"));
  }
  const int64_t operand_bits = ElementBits(operand.shape());
  const int64_t result_bits = ElementBits(result.shape());

  // Which element of the operand owns each bit.
  std::vector<const Element*> memory(operand.elements().size() * operand_bits, nullptr);
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    const int64_t first = PhysicalPosition(operand.shape(), index) * operand_bits;
    std::fill_n(memory.begin() + first, operand_bits, &operand.at(index));
  });

  const ElementType type = result.shape().element_type();
  const bool keeps_integers = operand_bits == result_bits && IsIntegral(type) &&
                              IsIntegral(operand.shape().element_type()) &&
                              BitWidth(type) == BitWidth(operand.shape().element_type());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Element& element = result.at(index);
    const int64_t first = PhysicalPosition(result.shape(), index) * result_bits;
    const Element* last_added = nullptr;
    for (int64_t bit = first; bit < first + result_bits; ++bit) {
      if (memory[bit] == last_added) continue;
      last_added = memory[bit];
      element.sources.AddAll(last_added->sources);
    }
    if (keeps_integers && memory[first]->value.has_value()) {
      element.value = WrapInteger(type, *memory[first]->value);
    }
  });
  return result;
}

}  // namespace xla_indexing::reference
