// Operations that compute whole rows, planes or features together: sort, topk, fft and batch
// normalization; and random numbers, which come of one state.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing::reference {
namespace {

// Adds the sources of all elements of `array` whose coordinates are those of `index`, but for the
// dimensions `mixed`.
void AddLine(const Array& array, const Index& index, absl::Span<const int64_t> mixed,
             SourceSet* sources) {
  Index sizes;
  for (int64_t d : mixed) sizes.push_back(array.size(d));
  Index read = index;
  ForEachIndex(sizes, [&](const Index& position) {
    for (size_t k = 0; k < mixed.size(); ++k) read[mixed[k]] = position[k];
    sources->AddAll(array.at(read).sources);
  });
}

// Every element of every result from the lines through its index of all operands.
Value FromLines(const HloInstruction& instruction, Operands operands,
                absl::Span<const int64_t> mixed) {
  Value result = MakeValue(instruction.shape());
  for (Array& array : result) {
    ForEachIndex(array.sizes(), [&](const Index& index) {
      SourceSet& sources = array.at(index).sources;
      for (const Value* operand : operands) AddLine(operand->front(), index, mixed, &sources);
    });
  }
  return result;
}

// The dimensions from `first` to the last.
Index LastDimensions(int64_t first, int64_t rank) {
  Index dimensions;
  for (int64_t d = first; d < rank; ++d) dimensions.push_back(d);
  return dimensions;
}

// Batch normalization, feature by feature.
class Features {
 public:
  explicit Features(const HloInstruction& instruction)
      : feature_(*instruction.GetInteger(AttributeKey::kFeatureIndex)) {}

  int64_t Of(const Index& index) const { return index[feature_]; }
  int64_t Count(const Array& array) const { return array.size(feature_); }

  // The sources of the slice of a feature.
  SourceSet Slice(const Array& array, int64_t feature) const {
    SourceSet sources;
    ForEachIndex(array.sizes(), [&](const Index& index) {
      if (index[feature_] == feature) sources.AddAll(array.at(index).sources);
    });
    return sources;
  }

 private:
  int64_t feature_;
};

}  // namespace

// Every element of a line has the sources of all. Where the comparison is known, a line is sorted by putting each
// element behind those that it does not come before; what equal elements of an unstable sort are is not known,
// unless they are the same.
Value Sort(const HloInstruction& instruction, Operands operands) {
  Value result = FromLines(instruction, operands, instruction.dimensions());
  const int64_t dim = instruction.dimensions()[0];
  const bool is_stable = instruction.GetBool(AttributeKey::kIsStable);
  const auto comes_before = [&](const Index& a, const Index& b) -> std::optional<Integer> {
    std::vector<std::optional<Integer>> pairs;
    for (const Value* operand : operands) {
      pairs.push_back(operand->front().at(a).value);
      pairs.push_back(operand->front().at(b).value);
    }
    return ScalarResults(*instruction.to_apply(), pairs)[0];
  };
  ForEachIndex(result[0].sizes(), [&](const Index& first) {
    if (first[dim] != 0) return;
    std::vector<Index> sorted;
    for (int64_t i = 0; i < result[0].size(dim); ++i) {
      Index index = first;
      index[dim] = i;
      size_t at = sorted.size();
      for (; at > 0; --at) {
        const std::optional<Integer> is_before = comes_before(index, sorted[at - 1]);
        if (!is_before) return;
        if (*is_before == 0) break;
      }
      sorted.insert(sorted.begin() + static_cast<std::ptrdiff_t>(at), index);
    }
    for (size_t leaf = 0; leaf < operands.size(); ++leaf) {
      const auto value_of = [&](size_t i) { return operands[leaf]->front().at(sorted[i]).value; };
      bool is_known = true;
      for (size_t i = 1; i < sorted.size() && !is_stable; ++i) {
        const bool are_equal = comes_before(sorted[i - 1], sorted[i]) == Integer(0);
        is_known = is_known && !(are_equal && value_of(i - 1) != value_of(i));
      }
      for (size_t i = 0; i < sorted.size() && is_known; ++i) {
        Index index = first;
        index[dim] = static_cast<int64_t>(i);
        result[leaf].at(index).value = value_of(i);
      }
    }
  });
  return result;
}

Value Topk(const HloInstruction& instruction, Operands operands) {
  const int64_t rank = operands[0]->front().rank();
  return FromLines(instruction, operands, LastDimensions(rank - 1, rank));
}

Value Fft(const HloInstruction& instruction, Operands operands) {
  const int64_t rank = operands[0]->front().rank();
  const size_t count = instruction.GetIntegers(AttributeKey::kFftLength).size();
  return FromLines(instruction, operands, LastDimensions(rank - static_cast<int64_t>(count), rank));
}

// Mean and variance of each feature, and the operand normalized with them.
Value BatchNormTraining(const HloInstruction& instruction, Operands operands) {
  const Features features(instruction);
  const Array& operand = operands[0]->front();
  Value result = MakeValue(instruction.shape());
  for (int64_t f = 0; f < features.Count(operand); ++f) {
    for (size_t leaf : {1, 2}) result[leaf].at({f}).sources = features.Slice(operand, f);
  }
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    const int64_t f = features.Of(index);
    SourceSet& sources = result[0].at(index).sources;
    sources.AddAll(operand.at(index).sources);
    for (size_t statistic : {1, 2}) sources.AddAll(result[statistic].at({f}).sources);
    for (size_t vector : {1, 2}) sources.AddAll(operands[vector]->front().at({f}).sources);
  });
  return result;
}

Array BatchNormInference(const HloInstruction& instruction, Operands operands) {
  const Features features(instruction);
  Array result = operands[0]->front();
  ForEachIndex(result.sizes(), [&](const Index& index) {
    for (size_t vector : {1, 2, 3, 4}) {
      result.at(index).sources.AddAll(operands[vector]->front().at({features.Of(index)}).sources);
    }
  });
  return result;
}

// With normalized = (operand - mean) / sqrt(variance + epsilon):
//   grad_offset[f] = sum over the slice of grad_output
//   grad_scale[f] = sum over the slice of grad_output * normalized
//   grad_operand = scale / sqrt(variance + epsilon) *
//                  (grad_output - (grad_offset[f] + normalized * grad_scale[f]) / slice size)
Value BatchNormGrad(const HloInstruction& instruction, Operands operands) {
  const Features features(instruction);
  const Array& operand = operands[0]->front();
  const Array& scale = operands[1]->front();
  const Array& mean = operands[2]->front();
  const Array& variance = operands[3]->front();
  const Array& grad_output = operands[4]->front();
  Value result = MakeValue(instruction.shape());
  Array& grad_operand = result[0];
  Array& grad_scale = result[1];
  Array& grad_offset = result[2];
  Array normalized = operand;
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    const int64_t f = features.Of(index);
    SourceSet& sources = normalized.at(index).sources;
    sources.AddAll(mean.at({f}).sources);
    sources.AddAll(variance.at({f}).sources);
    grad_offset.at({f}).sources.AddAll(grad_output.at(index).sources);
    grad_scale.at({f}).sources.AddAll(grad_output.at(index).sources);
    grad_scale.at({f}).sources.AddAll(sources);
  });
  ForEachIndex(operand.sizes(), [&](const Index& index) {
    const int64_t f = features.Of(index);
    SourceSet& sources = grad_operand.at(index).sources;
    sources.AddAll(scale.at({f}).sources);
    sources.AddAll(variance.at({f}).sources);
    sources.AddAll(grad_offset.at({f}).sources);
    sources.AddAll(grad_scale.at({f}).sources);
    sources.AddAll(grad_output.at(index).sources);
    sources.AddAll(normalized.at(index).sources);
  });
  return result;
}

Value RandomNumbers(const HloInstruction& instruction, Operands operands) {
  SourceSet sources;
  for (const Value* operand : operands) {
    for (const Element& element : operand->front().elements()) sources.AddAll(element.sources);
  }
  Value result = MakeValue(instruction.shape());
  for (Array& array : result) {
    for (Element& element : array.elements()) element.sources = sources;
  }
  return result;
}

}  // namespace xla_indexing::reference
