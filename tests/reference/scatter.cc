// Scatter. An element of an update has a place in the results: the sum of the index vector, the
// batching indices and its place in its window. There it is combined with what is there, one update
// after another in an order that the program chooses: the sources of a result are those of all
// orders.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "tests/reference/operations.h"
#include "tests/reference/value.h"
#include "xla_indexing/hlo/attribute_values.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::reference {
namespace {

// One element of the updates that reaches an element of the results.
struct Hit {
  int64_t position;  // In the updates.
  SourceSet index_sources;
};

using Places = std::map<int64_t, std::vector<Hit>>;  // By position in the results.

bool IsAmong(absl::Span<const int64_t> values, int64_t value) {
  return absl::c_linear_search(values, value);
}

class Placement {
 public:
  Placement(const ScatterDimensionNumbers& numbers, const Array& operand, const Array& indices,
            const Array& updates, bool drops_whole_windows)
      : numbers_(numbers),
        operand_(operand),
        indices_(indices),
        updates_(updates),
        drops_whole_windows_(drops_whole_windows) {}

  Places PlacesOfUpdates() const {
    Places places;
    ForEachIndex(updates_.sizes(), [&](const Index& index) {
      Hit hit;
      hit.position = PositionOf(updates_.sizes(), index);
      const std::optional<int64_t> place = PlaceOf(index, &hit.index_sources);
      if (place.has_value()) places[*place].push_back(hit);
    });
    return places;
  }

 private:
  std::optional<int64_t> PlaceOf(const Index& index, SourceSet* index_sources) const {
    // update_scatter_index (with a coordinate along the vector) and update_window_index.
    Index in_indices;
    Index in_window;
    for (int64_t d = 0; d < updates_.rank(); ++d) {
      (IsAmong(numbers_.update_window_dims, d) ? in_window : in_indices).push_back(index[d]);
    }
    const bool has_vector = numbers_.index_vector_dim < indices_.rank();
    if (has_vector) in_indices.insert(in_indices.begin() + numbers_.index_vector_dim, 0);

    std::vector<Integer> start(operand_.rank(), 0);
    for (size_t j = 0; j < numbers_.scatter_dims_to_operand_dims.size(); ++j) {
      if (has_vector) in_indices[numbers_.index_vector_dim] = static_cast<int64_t>(j);
      const Element& element = indices_.at(in_indices);
      start[numbers_.scatter_dims_to_operand_dims[j]] = *element.value;
      index_sources->AddAll(element.sources);
    }
    for (size_t b = 0; b < numbers_.input_batching_dims.size(); ++b) {
      start[numbers_.input_batching_dims[b]] =
          in_indices[numbers_.scatter_indices_batching_dims[b]];
    }

    Index place;
    size_t window_dim = 0;
    for (int64_t d = 0; d < operand_.rank(); ++d) {
      int64_t offset = 0;
      int64_t window_size = 1;
      if (!IsAmong(numbers_.inserted_window_dims, d) && !IsAmong(numbers_.input_batching_dims, d)) {
        offset = in_window[window_dim];
        window_size = updates_.size(numbers_.update_window_dims[window_dim++]);
      }
      const Integer first = drops_whole_windows_ ? start[d] : start[d] + offset;
      const Integer last = drops_whole_windows_ ? start[d] + window_size - 1 : start[d] + offset;
      if (first < 0 || last >= operand_.size(d)) return std::nullopt;
      place.push_back(static_cast<int64_t>(start[d]) + offset);
    }
    return PositionOf(operand_.sizes(), place);
  }

  const ScatterDimensionNumbers& numbers_;
  const Array& operand_;
  const Array& indices_;
  const Array& updates_;
  bool drops_whole_windows_;
};

// The sources of the values at one place after these updates in this order, the one numbered
// `first` first and the others in a circle.
std::vector<SourceSet> Combine(absl::Span<const SourceSet> combiner, std::vector<SourceSet> values,
                               Operands updates, const std::vector<Hit>& hits, size_t first) {
  for (size_t h = 0; h < hits.size(); ++h) {
    const Hit& hit = hits[(first + h) % hits.size()];
    std::vector<SourceSet> combined(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      combiner[i].ForEach([&](int64_t parameter) {
        const size_t p = static_cast<size_t>(parameter);
        combined[i].AddAll(
            p < values.size()
                ? values[p]
                : updates[p - values.size()]->front().elements()[hit.position].sources);
      });
    }
    values = combined;
  }
  return values;
}

}  // namespace

Value Scatter(const HloInstruction& instruction, Operands operands,
              absl::Span<const SourceSet> combiner, bool drops_whole_windows) {
  const ScatterDimensionNumbers numbers = instruction.scatter_dimension_numbers();
  const size_t count = operands.size() / 2;
  const Operands inputs = operands.subspan(0, count);
  const Operands updates = operands.subspan(count + 1);
  Value result = MakeValue(instruction.shape());
  for (size_t i = 0; i < count; ++i) result[i].elements() = inputs[i]->front().elements();
  const Placement placement(numbers, inputs[0]->front(), operands[count]->front(),
                            updates[0]->front(), drops_whole_windows);
  for (const auto& [place, hits] : placement.PlacesOfUpdates()) {
    std::vector<SourceSet> values;
    for (const Value* input : inputs) values.push_back(input->front().elements()[place].sources);
    for (size_t i = 0; i < count; ++i) {
      result[i].elements()[place].sources.Clear();
      result[i].elements()[place].value.reset();
    }
    // In the orders of a circle every update is at every distance from the last.
    for (size_t first = 0; first < hits.size(); ++first) {
      const std::vector<SourceSet> combined = Combine(combiner, values, updates, hits, first);
      for (size_t i = 0; i < count; ++i) {
        result[i].elements()[place].sources.AddAll(combined[i]);
        result[i].elements()[place].sources.AddAll(hits[first].index_sources);
      }
    }
  }
  return result;
}

}  // namespace xla_indexing::reference
