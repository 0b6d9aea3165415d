// Operations with operands that say where to read or write. Such operands count as read by every
// element whose place they decide.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute_values.h"

namespace xla_indexing::reference {
namespace {

// The start moved to where a slice of `slice_size` elements lies within `size`.
int64_t ClampStart(const Element& start, int64_t size, int64_t slice_size) {
  const Integer limit = size - slice_size;
  return static_cast<int64_t>(std::max(Integer(0), std::min(*start.value, limit)));
}

// The start indices of a dynamic slice: scalar operands, or one vector.
std::vector<Element> StartElements(Operands operands, size_t first) {
  std::vector<Element> starts;
  for (size_t i = first; i < operands.size(); ++i) {
    const std::vector<Element>& elements = operands[i]->front().elements();
    starts.insert(starts.end(), elements.begin(), elements.end());
  }
  return starts;
}

bool HasDimension(absl::Span<const int64_t> values, int64_t value) {
  return absl::c_linear_search(values, value);
}

}  // namespace

Array DynamicSlice(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  const std::vector<Element> starts = StartElements(operands, 1);
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    Index read = index;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      read[d] += ClampStart(starts[d], operand.size(d), result.size(d));
    }
    Element element = operand.at(read);
    for (const Element& start : starts) element.sources.AddAll(start.sources);
    result.at(index) = element;
  });
  return result;
}

Array DynamicUpdateSlice(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  const Array& update = operands[1]->front();
  const std::vector<Element> starts = StartElements(operands, 2);
  Array result(instruction.shape());
  result.elements() = operand.elements();
  ForEachIndex(update.sizes(), [&](const Index& index) {
    Index written = index;
    for (int64_t d = 0; d < update.rank(); ++d) {
      written[d] += ClampStart(starts[d], operand.size(d), update.size(d));
    }
    result.at(written) = update.at(index);
  });
  for (Element& element : result.elements()) {
    for (const Element& start : starts) element.sources.AddAll(start.sources);
  }
  return result;
}

// The result's dimensions are batch dimensions and, at offset_dims, the dimensions of a slice of
// the operand. A batch index selects a vector of the start indices (along index_vector_dim; a
// scalar where that is their rank), which names the first element of the slice.
Array Gather(const HloInstruction& instruction, Operands operands) {
  const GatherDimensionNumbers numbers = instruction.gather_dimension_numbers();
  const absl::Span<const int64_t> slice_sizes = instruction.gather_slice_sizes();
  const Array& operand = operands[0]->front();
  const Array& start_indices = operands[1]->front();
  const bool has_vector = numbers.index_vector_dim < start_indices.rank();
  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    // The place in the start indices (its coordinate along the vector still open) and in the slice.
    Index in_starts;
    Index offsets;
    for (int64_t d = 0; d < result.rank(); ++d) {
      (HasDimension(numbers.offset_dims, d) ? offsets : in_starts).push_back(index[d]);
    }
    if (has_vector) in_starts.insert(in_starts.begin() + numbers.index_vector_dim, 0);

    Index read(operand.rank(), 0);
    SourceSet start_sources;
    for (size_t j = 0; j < numbers.start_index_map.size(); ++j) {
      if (has_vector) in_starts[numbers.index_vector_dim] = static_cast<int64_t>(j);
      const Element& start = start_indices.at(in_starts);
      const int64_t d = numbers.start_index_map[j];
      read[d] = ClampStart(start, operand.size(d), slice_sizes[d]);
      start_sources.AddAll(start.sources);
    }
    for (size_t b = 0; b < numbers.operand_batching_dims.size(); ++b) {
      read[numbers.operand_batching_dims[b]] = in_starts[numbers.start_indices_batching_dims[b]];
    }
    size_t next_offset = 0;
    for (int64_t d = 0; d < operand.rank(); ++d) {
      if (HasDimension(numbers.collapsed_slice_dims, d)) continue;
      if (HasDimension(numbers.operand_batching_dims, d)) continue;
      read[d] += offsets[next_offset++];
    }

    Element element = operand.at(read);
    element.sources.AddAll(start_sources);
    result.at(index) = element;
  });
  return result;
}

}  // namespace xla_indexing::reference
