// Bitcast: the same memory read as an array of another shape, layout or element type.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/tiled_layout.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

// Whether tiles, if anything, are added to the order of the dimensions.
bool IsTiledAtMost(const Shape& shape) {
  Layout layout = shape.LayoutOrRowMajor();
  layout.tiles.clear();
  layout.tail_padding_alignment = 1;
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
  if (!IsTiledAtMost(operand.shape()) || !IsTiledAtMost(result.shape())) {
    return absl::UnimplementedError(
        absl::StrCat(instruction.name(), ": bitcast of layouts that are more than tiled"));
  }
  const int64_t operand_bits = WidthOf(operand.shape());
  const int64_t result_bits = WidthOf(result.shape());
  const auto first_bit = [](const Shape& shape, const Index& index) {
    return PositionOf(shape, {index.begin(), index.end()}) * WidthOf(shape);
  };

  // Which element of the operand owns each bit; none owns padding.
  std::vector<const Element*> memory(std::max(NumPositions(operand.shape()) * operand_bits,
                                              NumPositions(result.shape()) * result_bits),
                                     nullptr);
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    std::fill_n(memory.begin() + first_bit(operand.shape(), index), operand_bits,
                &operand.at(index));
  });

  const ElementType type = result.shape().element_type();
  const ElementType operand_type = operand.shape().element_type();
  const bool are_integers =
      (IsIntegral(type) && IsIntegral(operand_type)) || (IsPred(type) && IsPred(operand_type));
  const bool keeps_integers =
      operand_bits == result_bits && are_integers && BitWidth(type) == BitWidth(operand_type);
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Element& element = result.at(index);
    const int64_t first = first_bit(result.shape(), index);
    const Element* last_added = nullptr;
    for (int64_t bit = first; bit < first + result_bits; ++bit) {
      if (memory[bit] == nullptr || memory[bit] == last_added) continue;
      last_added = memory[bit];
      element.sources.AddAll(last_added->sources);
    }
    if (keeps_integers && memory[first] != nullptr && memory[first]->value.has_value()) {
      element.value = WrapInteger(type, *memory[first]->value);
    }
  });
  return result;
}

}  // namespace xla_indexing::reference
