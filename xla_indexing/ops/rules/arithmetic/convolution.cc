// Convolution: a kernel slides over the padded and dilated input. With groups g, batch indices b of
// a group, output features o of a group, input features c of a group, and in every spatial
// dimension positions x and window elements w,
//
//   r[b, (g, o), x..] = sum over c, w.. of input[b', c', i..] * kernel[c, (g, o), w'..],
//   i * base_dilation = x * stride + w * window_dilation - padding_low,
//
// where (g, o) = g * (output features / groups) + o. Where features are in groups, c' = (g, c) and
// b' = b; where the batch is, b' = (g, b) and c' = c. Where the window is reversed, w' = size - 1 -
// w, otherwise w' = w.
//
// A sparse kernel holds some of every few input features, and indices that say which: operand 2, of the
// kernel's sizes. Those of the input that are read are then all of the group's, over-approximate;
// with operands that are sparse otherwise everything may be read. Elements of the window on padding or holes have no i: they read neither input nor kernel.
//
// Source: XLA's operation semantics (ConvWithGeneralPadding).

#include "xla_indexing/ops/rules/arithmetic/convolution.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// The size of one of `groups` groups of a dimension; of as many elements as there are where there
// is one.
int64_t GroupSize(int64_t size, int64_t groups) { return groups == 1 ? size : size / groups; }

// Over the indices of two dimensions whose sizes agree, of which one may have no bound.
Loop AddSharedLoop(int64_t size, int64_t other_size, LoopNest* nest) {
  return nest->AddLoop(IndicesOfAxis(size).Intersect(IndicesOfAxis(other_size)));
}

}  // namespace

LoopNest ConvolutionNest(const HloInstruction& convolution, ConvolutionTensor from,
                         ConvolutionTensor to) {
  const ConvolutionDimensionNumbers& dims = *convolution.convolution_dimension_numbers();
  const Shape& input = convolution.operand(0)->shape();
  const Shape& kernel = convolution.operand(1)->shape();
  const Shape& output = convolution.shape();
  const int64_t feature_groups = convolution.feature_group_count();
  const int64_t batch_groups = convolution.batch_group_count();
  const int64_t groups = feature_groups * batch_groups;  // One of them is 1.
  if ((groups > 1 && kernel.IsUnboundedDimension(dims.kernel_output_feature)) ||
      (feature_groups > 1 && input.IsUnboundedDimension(dims.input_feature)) ||
      (batch_groups > 1 && input.IsUnboundedDimension(dims.input_batch))) {
    const Shape* shapes[] = {&input, &kernel, &output};
    return WholeNest(
        *shapes[static_cast<size_t>(from)], *shapes[static_cast<size_t>(to)],
        ExactnessLabel::OverApproximate("whole operand: a dimension in groups has no bound"));
  }
  const int64_t batch = GroupSize(input.dimension(dims.input_batch), batch_groups);
  const int64_t in_features = GroupSize(input.dimension(dims.input_feature), feature_groups);
  const int64_t out_features = GroupSize(kernel.dimension(dims.kernel_output_feature), groups);
  const bool is_sparse = convolution.is_sparse();

  LoopNest nest;
  const Loop g = nest.AddLoop(groups);
  const Loop b = AddSharedLoop(batch, output.dimension(dims.output_batch), &nest);
  const int64_t kernel_features = kernel.dimension(dims.kernel_input_feature);
  const Loop c = is_sparse ? nest.AddLoop(kernel_features)
                           : AddSharedLoop(in_features, kernel_features, &nest);
  const Loop o = nest.AddLoop(out_features);
  const auto in_group = [g](Loop inner, int64_t size, int64_t group_count) {
    return group_count == 1 ? NestAxis::Along(inner) : NestAxis::Grouped(g, inner, size);
  };
  using Axes = llvm::SmallVector<NestAxis, 6>;
  Axes input_axes(input.rank());
  Axes kernel_axes(kernel.rank());
  Axes output_axes(output.rank());
  input_axes[dims.input_batch] = in_group(b, batch, batch_groups);
  input_axes[dims.input_feature] =
      in_group(is_sparse ? nest.AddLoop(in_features) : c, in_features, feature_groups);
  if (is_sparse && (from == ConvolutionTensor::kInput || to == ConvolutionTensor::kInput)) {
    nest.label = ExactnessLabel::OverApproximate("which features a sparse kernel holds is a value");
  }
  kernel_axes[dims.kernel_input_feature] = NestAxis::Along(c);
  kernel_axes[dims.kernel_output_feature] = in_group(o, out_features, groups);
  output_axes[dims.output_batch] = NestAxis::Along(b);
  output_axes[dims.output_feature] = in_group(o, out_features, groups);
  const absl::Span<const WindowDimension> windows = WindowOf(convolution);
  for (size_t k = 0; k < windows.size(); ++k) {
    const WindowDimension& window = windows[k];
    const Loop position = nest.AddLoop(output.dimension(dims.output_spatial[k]));
    const Loop window_index = nest.AddLoop(window.size);
    output_axes[dims.output_spatial[k]] = NestAxis::Along(position);
    kernel_axes[dims.kernel_spatial[k]] = window.window_reversal
                                              ? NestAxis::Reversed(window_index, window.size)
                                              : NestAxis::Along(window_index);
    input_axes[dims.input_spatial[k]] =
        NestAxis::OnWindow(position, window_index, window, input.dimension(dims.input_spatial[k]));
    if (from != ConvolutionTensor::kInput && to != ConvolutionTensor::kInput) {
      nest.inside.push_back(input_axes[dims.input_spatial[k]]);
    }
  }
  const Axes* axes[] = {&input_axes, &kernel_axes, &output_axes};
  nest.result = *axes[static_cast<size_t>(from)];
  nest.operand = *axes[static_cast<size_t>(to)];
  return nest;
}

LoopNests ConvolutionNests(const BuildContext& build, int64_t /*output_leaf*/, int64_t operand) {
  const HloInstruction& convolution = build.instruction;
  if (convolution.is_sparse()) {
    const ConvolutionDimensionNumbers& dims = *convolution.convolution_dimension_numbers();
    const std::optional<KernelSparsity> sparsity = convolution.kernel_sparsity();
    const bool is_known = sparsity && sparsity->dimension == dims.kernel_input_feature;
    // Indices of other sizes than the kernel's are not said to be of it element by element.
    if (!is_known || (operand > 1 && !SameDimensions(build.Operand(operand), build.Operand(1)))) {
      return WholeNest(
          build.Output(), build.Operand(operand),
          ExactnessLabel::OverApproximate("whole operand: what sparse operands hold is not known"));
    }
  }
  return ConvolutionNest(build.instruction, ConvolutionTensor::kOutput,
                         operand == 0 ? ConvolutionTensor::kInput : ConvolutionTensor::kKernel);
}

}  // namespace xla_indexing::internal
