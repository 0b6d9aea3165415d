// Scatter. An element of an update has a place in the results: the sum of the index vector, the
// batching indices and its place in its window. There it is combined with what is there, one update
// after another in an order that the program chooses: the sources of a result are those of all
// orders.
//
// Which elements of the indices decide that is found by changing them: a result depends on an
// element of an index vector if, for some values of the vector's other elements, there are two
// values of this one with which the vector's window puts something else there (or nothing). What
// the values are when the program runs does not count, but for those that are fixed.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::reference {
namespace {

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
        drops_whole_windows_(drops_whole_windows) {
    for (int64_t d = 0; d < updates_.rank(); ++d) {
      (IsWindowDim(d) ? window_sizes_ : batch_sizes_).push_back(updates_.size(d));
    }
    size_t window_dim = 0;
    for (int64_t d = 0; d < operand_.rank(); ++d) {
      const bool has_offset =
          !IsAmong(numbers_.inserted_window_dims, d) && !IsAmong(numbers_.input_batching_dims, d);
      has_offset_.push_back(has_offset);
      sizes_.push_back(has_offset ? window_sizes_[window_dim++] : 1);
    }
  }

  UpdatesByPlace PlacesOfUpdates() const {
    UpdatesByPlace places;
    ForEachIndex(updates_.sizes(), [&](const Index& index) {
      Index batch;
      Index in_window;
      for (int64_t d = 0; d < updates_.rank(); ++d) {
        (IsWindowDim(d) ? in_window : batch).push_back(index[d]);
      }
      std::vector<Integer> vector(VectorSize());
      for (size_t j = 0; j < VectorSize(); ++j) vector[j] = *ElementAt(batch, j).value;
      const std::optional<int64_t> place = PlaceOf(batch, vector, in_window);
      if (place.has_value()) places[*place].push_back(PositionOf(updates_.sizes(), index));
    });
    return places;
  }

  // By position in the results, the sources of the elements of the indices that it depends on.
  std::vector<SourceSet> SourcesOfPlaces() const {
    std::vector<SourceSet> sources(operand_.elements().size());
    // By coordinates in the batching dims, and the components that are fixed.
    std::map<std::pair<Index, std::vector<std::optional<Integer>>>, std::vector<std::set<int64_t>>>
        known;
    ForEachIndex(batch_sizes_, [&](const Index& batch) {
      const Index indices = WithVectorCoordinate(batch, 0);
      Index batching;
      for (const int64_t d : numbers_.scatter_indices_batching_dims) batching.push_back(indices[d]);
      std::vector<std::optional<Integer>> fixed;
      fixed.reserve(VectorSize());
      for (size_t j = 0; j < VectorSize(); ++j) fixed.push_back(FixedAt(batch, j));
      const auto [decided, is_new] = known.try_emplace({batching, fixed});
      if (is_new) decided->second = PlacesDecidedBy(batch);
      for (size_t j = 0; j < VectorSize(); ++j) {
        for (const int64_t place : decided->second[j]) {
          sources[place].AddAll(ElementAt(batch, j).sources);
        }
      }
    });
    return sources;
  }

 private:
  size_t VectorSize() const { return numbers_.scatter_dims_to_operand_dims.size(); }
  bool IsWindowDim(int64_t update_dim) const {
    return IsAmong(numbers_.update_window_dims, update_dim);
  }

  Index WithVectorCoordinate(Index batch, size_t j) const {
    if (numbers_.index_vector_dim < indices_.rank()) {
      batch.insert(batch.begin() + numbers_.index_vector_dim, static_cast<int64_t>(j));
    }
    return batch;
  }
  const Element& ElementAt(const Index& batch, size_t j) const {
    return indices_.at(WithVectorCoordinate(batch, j));
  }

  std::optional<Integer> FixedAt(const Index& batch, size_t j) const {
    const Element& element = ElementAt(batch, j);
    return element.is_fixed && !element.is_scalar ? element.value : std::nullopt;
  }

  // Where an element of the window of a batch index goes, whose index vector has these values.
  std::optional<int64_t> PlaceOf(const Index& batch, absl::Span<const Integer> vector,
                                 const Index& in_window) const {
    std::vector<Integer> start(operand_.rank(), 0);
    for (size_t j = 0; j < vector.size(); ++j) {
      start[numbers_.scatter_dims_to_operand_dims[j]] = vector[j];
    }
    const Index in_indices = WithVectorCoordinate(batch, 0);
    for (size_t b = 0; b < numbers_.input_batching_dims.size(); ++b) {
      start[numbers_.input_batching_dims[b]] =
          in_indices[numbers_.scatter_indices_batching_dims[b]];
    }
    Index place;
    size_t window_dim = 0;
    for (int64_t d = 0; d < operand_.rank(); ++d) {
      const int64_t offset = has_offset_[d] ? in_window[window_dim++] : 0;
      const Integer first = drops_whole_windows_ ? start[d] : start[d] + offset;
      const Integer last = drops_whole_windows_ ? start[d] + sizes_[d] - 1 : start[d] + offset;
      if (first < 0 || last >= operand_.size(d)) return std::nullopt;
      place.push_back(static_cast<int64_t>(start[d]) + offset);
    }
    return PositionOf(operand_.sizes(), place);
  }

  // The values of component j of an index vector with which its window is inside, or partly inside,
  // and some with which it is not.
  std::vector<Integer> ValuesOfComponent(size_t j) const {
    const ElementType type = indices_.shape().element_type();
    const int64_t d = numbers_.scatter_dims_to_operand_dims[j];
    std::vector<Integer> values = {LeastInteger(type)};
    for (int64_t value = -sizes_[d]; value <= operand_.size(d); ++value) {
      if (value > LeastInteger(type) && value < GreatestInteger(type)) values.push_back(value);
    }
    values.push_back(GreatestInteger(type));
    return values;
  }

  // For each component of the index vector of a batch index, the places at which what the window
  // puts there changes with it.
  std::vector<std::set<int64_t>> PlacesDecidedBy(const Index& batch) const {
    std::vector<std::vector<Integer>> values;
    Index counts;
    for (size_t j = 0; j < VectorSize(); ++j) {
      const std::optional<Integer> fixed = FixedAt(batch, j);
      values.push_back(fixed ? std::vector<Integer>{*fixed} : ValuesOfComponent(j));
      counts.push_back(static_cast<int64_t>(values.back().size()));
    }
    // For each vector of values, the position in the window of each element, or -1.
    std::vector<std::vector<int64_t>> landed;
    ForEachIndex(counts, [&](const Index& choice) {
      std::vector<Integer> vector(VectorSize());
      for (size_t j = 0; j < VectorSize(); ++j) vector[j] = values[j][choice[j]];
      std::vector<int64_t>& at = landed.emplace_back(operand_.elements().size(), -1);
      ForEachIndex(window_sizes_, [&](const Index& in_window) {
        const std::optional<int64_t> place = PlaceOf(batch, vector, in_window);
        if (place.has_value()) at[*place] = PositionOf(window_sizes_, in_window);
      });
    });
    std::vector<std::set<int64_t>> places(VectorSize());
    ForEachIndex(counts, [&](const Index& choice) {
      const std::vector<int64_t>& at = landed[PositionOf(counts, choice)];
      for (size_t j = 0; j < VectorSize(); ++j) {
        Index changed = choice;
        changed[j] = 0;
        const std::vector<int64_t>& then = landed[PositionOf(counts, changed)];
        for (size_t place = 0; place < at.size(); ++place) {
          if (at[place] != then[place]) places[j].insert(static_cast<int64_t>(place));
        }
      }
    });
    return places;
  }

  const ScatterDimensionNumbers& numbers_;
  const Array& operand_;
  const Array& indices_;
  const Array& updates_;
  bool drops_whole_windows_;
  Index batch_sizes_;
  Index window_sizes_;
  // For each dimension of the operand.
  std::vector<bool> has_offset_;
  std::vector<int64_t> sizes_;  // The sizes of windows.
};

// The sources of the values at one place after these updates in this order, the one numbered
// `first` first and the others in a circle.
std::vector<SourceSet> Combine(absl::Span<const SourceSet> combiner, std::vector<SourceSet> values,
                               Operands updates, const std::vector<int64_t>& hits, size_t first) {
  for (size_t h = 0; h < hits.size(); ++h) {
    const int64_t hit = hits[(first + h) % hits.size()];
    std::vector<SourceSet> combined(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      combiner[i].ForEach([&](int64_t parameter) {
        const size_t p = static_cast<size_t>(parameter);
        combined[i].AddAll(p < values.size()
                               ? values[p]
                               : updates[p - values.size()]->front().elements()[hit].sources);
      });
    }
    values = combined;
  }
  return values;
}

// The value that all of these elements have, if it is one.
std::optional<Integer> OnlyValue(const Array& updates, const std::vector<int64_t>& hits) {
  std::optional<Integer> value = updates.elements()[hits[0]].value;
  for (const int64_t hit : hits) {
    if (updates.elements()[hit].value != value) return std::nullopt;
  }
  return value;
}

}  // namespace

UpdatesByPlace UpdatesOfPlaces(const HloInstruction& instruction, Operands operands,
                               bool drops_whole_windows) {
  const ScatterDimensionNumbers numbers = instruction.scatter_dimension_numbers();
  const size_t count = operands.size() / 2;
  return Placement(numbers, operands[0]->front(), operands[count]->front(),
                   operands[count + 1]->front(), drops_whole_windows)
      .PlacesOfUpdates();
}

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
    for (size_t i = 0; i < count; ++i) result[i].elements()[place] = Element();
    if (const HloInstruction* root = instruction.to_apply()->root_instruction();
        count == 1 && root->opcode() == HloOpcode::kParameter && root->parameter_number() == 1) {
      result[0].elements()[place].value = OnlyValue(updates[0]->front(), hits);
    }
    // In the orders of a circle every update is at every distance from the last.
    for (size_t first = 0; first < hits.size(); ++first) {
      const std::vector<SourceSet> combined = Combine(combiner, values, updates, hits, first);
      for (size_t i = 0; i < count; ++i) {
        result[i].elements()[place].sources.AddAll(combined[i]);
      }
    }
  }
  const std::vector<SourceSet> index_sources = placement.SourcesOfPlaces();
  for (size_t i = 0; i < count; ++i) {
    for (size_t place = 0; place < index_sources.size(); ++place) {
      result[i].elements()[place].sources.AddAll(index_sources[place]);
    }
  }
  return result;
}

}  // namespace xla_indexing::reference
