// Operations in which a window slides over a padded and dilated operand: reduce-window,
// select-and-scatter and convolution.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "tests/reference/execute/integers.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/reduce_together.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute_values.h"

namespace xla_indexing::reference {
namespace {

// The size of a dimension with `dilation - 1` holes between neighbours.
int64_t DilatedSize(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

// An array with padding around it and holes between its elements, and a window that slides over it.
class PaddedArray {
 public:
  // An array of these sizes; the window of the instruction has as many dimensions, or is left out.
  PaddedArray(absl::Span<const int64_t> sizes, const HloInstruction& instruction) {
    window_.resize(sizes.size());
    if (instruction.window() != nullptr && !sizes.empty()) {
      window_.assign(instruction.window()->dimensions.begin(),
                     instruction.window()->dimensions.end());
    }
    int64_t count = 1;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const WindowDimension& window = window_[d];
      const int64_t size =
          DilatedSize(sizes[d], window.base_dilation) + window.padding_low + window.padding_high;
      sizes_.push_back(size < 0 ? 0 : size);
      window_sizes_.push_back(window.size);
      count *= sizes_.back();
    }
    elements_.resize(count);
    ForEachIndex(sizes, [&](const Index& index) {
      Index written = index;
      for (size_t d = 0; d < sizes.size(); ++d) {
        written[d] = index[d] * window_[d].base_dilation + window_[d].padding_low;
      }
      if (IsInside(sizes_, written)) elements_[PositionOf(sizes_, written)] = index;
    });
  }

  const std::vector<WindowDimension>& window() const { return window_; }
  int64_t WindowElements() const {
    int64_t count = 1;
    for (const int64_t size : window_sizes_) count *= size;
    return count;
  }

  // Calls `visit` for every index in the window at `place` and the index of the element that it
  // meets, where it meets one and not padding or a hole. The window at `place` begins at place *
  // stride; its elements lie window_dilation apart.
  void ForEachTap(
      const Index& place,
      absl::FunctionRef<void(const Index& in_window, const Index& element)> visit) const {
    ForEachIndex(window_sizes_, [&](const Index& in_window) {
      Index read = place;
      for (size_t d = 0; d < window_.size(); ++d) {
        read[d] = place[d] * window_[d].stride + in_window[d] * window_[d].window_dilation;
      }
      const std::optional<Index>& element = elements_[PositionOf(sizes_, read)];
      if (element.has_value()) visit(in_window, *element);
    });
  }

 private:
  std::vector<WindowDimension> window_;
  Index window_sizes_;
  Index sizes_;
  std::vector<std::optional<Index>> elements_;
};

// The coordinates of `index` in these dimensions.
Index Part(const Index& index, absl::Span<const int64_t> dimensions) {
  Index part;
  for (int64_t d : dimensions) part.push_back(index[d]);
  return part;
}

}  // namespace

Value ReduceWindow(const HloInstruction& instruction, Operands operands) {
  const Operands inputs = operands.subspan(0, operands.size() / 2);
  const PaddedArray padded(inputs[0]->front().sizes(), instruction);
  Value result = ReduceTogether(instruction, operands.subspan(inputs.size()),
                                [&](const Index& place, SourceSet* sources) {
                                  padded.ForEachTap(place, [&](const Index&, const Index& element) {
                                    for (const Value* input : inputs) {
                                      sources->AddAll(input->front().at(element).sources);
                                    }
                                  });
                                });
  const HloInstruction* combiner = CombinerOf(instruction);
  if (combiner == nullptr) return result;
  Array& array = result.front();
  const std::optional<Integer> initial = operands[1]->front().elements()[0].value;
  ForEachIndex(array.sizes(), [&](const Index& place) {
    std::optional<Integer> value = initial;
    const auto add = [&](const std::optional<Integer>& other) {
      const std::optional<Integer> both[] = {value, other};
      value = ElementwiseInteger(*combiner, both);
    };
    // Padding and holes are of the initial value.
    int64_t left = padded.WindowElements();
    padded.ForEachTap(place, [&](const Index&, const Index& element) {
      add(inputs[0]->front().at(element).value);
      --left;
    });
    for (; left > 0; --left) add(initial);
    array.at(place).value = value;
  });
  return result;
}

// One of the elements that the window at a place of the source meets gets that element of the
// source. It may be any of them, as all of them decide.
Array SelectAndScatter(const HloInstruction& instruction, Operands operands) {
  const Array& operand = operands[0]->front();
  const Array& source = operands[1]->front();
  const PaddedArray padded(operand.sizes(), instruction);
  Array result(instruction.shape());
  for (Element& element : result.elements()) {
    element.sources = operands[2]->front().elements()[0].sources;
  }
  ForEachIndex(source.sizes(), [&](const Index& place) {
    SourceSet sources = source.at(place).sources;
    std::vector<Index> met;
    padded.ForEachTap(place, [&](const Index&, const Index& element) {
      met.push_back(element);
      sources.AddAll(operand.at(element).sources);
    });
    for (const Index& element : met) result.at(element).sources.AddAll(sources);
  });
  return result;
}

// result[batch, feature, place] = sum over the elements of the kernel that meet the input, and over the
// kernel's input features, of input * kernel. Output features come in feature_group_count groups,
// each of which sees a group of input features of its own, or in batch_group_count groups, each of
// which sees a group of the batch of its own.
Array Convolution(const HloInstruction& instruction, Operands operands) {
  const ConvolutionDimensionNumbers& dims = *instruction.convolution_dimension_numbers();
  const Array& input = operands[0]->front();
  const Array& kernel = operands[1]->front();
  Index input_spatial_sizes;
  for (int64_t d : dims.input_spatial) input_spatial_sizes.push_back(input.size(d));
  const PaddedArray padded(input_spatial_sizes, instruction);
  const int64_t kernel_features = kernel.size(dims.kernel_input_feature);
  const int64_t output_features = kernel.size(dims.kernel_output_feature);
  const std::optional<KernelSparsity> sparsity = instruction.kernel_sparsity();
  const int64_t input_features = input.size(dims.input_feature) / instruction.feature_group_count();

  Array result(instruction.shape());
  ForEachIndex(result.sizes(), [&](const Index& index) {
    const int64_t feature = index[dims.output_feature];
    const int64_t feature_group = feature / (output_features / instruction.feature_group_count());
    const int64_t batch_group = feature / (output_features / instruction.batch_group_count());
    const int64_t batch_group_size = input.size(dims.input_batch) / instruction.batch_group_count();
    SourceSet& sources = result.at(index).sources;
    padded.ForEachTap(Part(index, dims.output_spatial), [&](const Index& in_window,
                                                            const Index& element) {
      Index in_input(input.rank());
      Index in_kernel(kernel.rank());
      for (size_t k = 0; k < in_window.size(); ++k) {
        const WindowDimension& window = padded.window()[k];
        in_input[dims.input_spatial[k]] = element[k];
        in_kernel[dims.kernel_spatial[k]] =
            window.window_reversal ? window.size - 1 - in_window[k] : in_window[k];
      }
      in_input[dims.input_batch] = batch_group * batch_group_size + index[dims.output_batch];
      in_kernel[dims.kernel_output_feature] = feature;
      for (int64_t c = 0; c < kernel_features; ++c) {
        in_kernel[dims.kernel_input_feature] = c;
        int64_t in_group = c;
        if (sparsity) {
          // Which of the elements of its block it is, an index says.
          const Element& which = operands[2]->front().at(in_kernel);
          sources.AddAll(which.sources);
          in_group = c / sparsity->kept * sparsity->of +
                     static_cast<int64_t>(std::clamp<Integer>(*which.value, 0, sparsity->of - 1));
        }
        in_input[dims.input_feature] = feature_group * input_features + in_group;
        sources.AddAll(input.at(in_input).sources);
        sources.AddAll(kernel.at(in_kernel).sources);
      }
    });
  });
  return result;
}

}  // namespace xla_indexing::reference
