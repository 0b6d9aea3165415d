// The structured values that attributes of instructions have: windows, padding, slices and the
// dimension numbers of convolution, dot, gather and scatter.
//
// Example: `window={size=3 stride=2 pad=2_1}` is a Window of one dimension
// {.size = 3, .stride = 2, .padding_low = 2, .padding_high = 1}.

#ifndef XLA_INDEXING_HLO_TYPES_ATTRIBUTE_VALUES_H_
#define XLA_INDEXING_HLO_TYPES_ATTRIBUTE_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// One dimension of a window that slides over an operand (reduce-window, select-and-scatter,
// convolution). A base dilation of b puts b - 1 holes between neighbouring elements of the operand;
// window dilation does the same between neighbouring elements of the window. Padding counts
// elements of the dilated operand and may be negative.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;
  int64_t padding_high = 0;
  int64_t base_dilation = 1;    // lhs_dilate
  int64_t window_dilation = 1;  // rhs_dilate
  bool window_reversal = false;

  friend bool operator==(const WindowDimension& a, const WindowDimension& b) = default;
};

struct Window {
  absl::InlinedVector<WindowDimension, 2> dimensions;

  // `{size=3x3 stride=2x2 pad=0_1x0_1}`, without what has its default value in every dimension.
  std::string ToString() const;

  friend bool operator==(const Window& a, const Window& b) { return a.dimensions == b.dimensions; }
};

// One dimension of a pad: the numbers of elements before, after and between the operand's. Low and
// high may be negative, which takes elements away.
struct PaddingDimension {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;

  // The distance from one element of the operand to the next in the result: interior + 1. An
  // interior of 2^63 - 1 gives 2^63 - 1: no result is large enough to hold two elements that far
  // apart.
  int64_t Step() const;

  friend bool operator==(const PaddingDimension& a, const PaddingDimension& b) = default;
};

// One dimension of a slice: the indices start, start + stride, ... below limit.
struct SliceRange {
  int64_t start = 0;
  int64_t limit = 0;
  int64_t stride = 1;

  friend bool operator==(const SliceRange& a, const SliceRange& b) = default;
};

// What each dimension of a convolution's operands and result is, `dim_labels=b01f_01io->b01f`. The
// dimension `input_spatial[i]` of the input, `kernel_spatial[i]` of the kernel and
// `output_spatial[i]` of the result belong together. A dimension labelled `?` has no role.
struct ConvolutionDimensionNumbers {
  int64_t input_batch = -1;
  int64_t input_feature = -1;
  absl::InlinedVector<int64_t, 3> input_spatial;
  int64_t kernel_input_feature = -1;
  int64_t kernel_output_feature = -1;
  absl::InlinedVector<int64_t, 3> kernel_spatial;
  int64_t output_batch = -1;
  int64_t output_feature = -1;
  absl::InlinedVector<int64_t, 3> output_spatial;
  // The numbers of labels of input, kernel and result, at least two more than spatial dimensions.
  int64_t input_rank = 0;
  int64_t kernel_rank = 0;
  int64_t output_rank = 0;

  // `b01f_01io->b01f`.
  std::string ToString() const;

  friend bool operator==(const ConvolutionDimensionNumbers& a,
                         const ConvolutionDimensionNumbers& b) = default;
};

// The following are views of an instruction's attributes; an attribute that is not given is empty.

struct DotDimensionNumbers {
  absl::Span<const int64_t> lhs_batch_dims;
  absl::Span<const int64_t> rhs_batch_dims;
  absl::Span<const int64_t> lhs_contracting_dims;
  absl::Span<const int64_t> rhs_contracting_dims;
};

struct GatherDimensionNumbers {
  absl::Span<const int64_t> offset_dims;
  absl::Span<const int64_t> collapsed_slice_dims;
  absl::Span<const int64_t> start_index_map;
  absl::Span<const int64_t> operand_batching_dims;
  absl::Span<const int64_t> start_indices_batching_dims;
  int64_t index_vector_dim = 0;

  // Whether a dimension of the operand is batching and indexed. XLA's verifier lets that be, and its
  // passes differ in what it means: the index of the batch, the start index, or their sum.
  bool IsBatchingAndIndexed(int64_t dim) const;
  bool HasBatchingAndIndexed() const;
};

// The sparsity of a convolution's kernel, `sparsity_config={rhs={sparsity=1x4 dimension=0 ..}}`: along
// the dimension it holds `kept` of every `of` elements. An operand says which.
struct KernelSparsity {
  int64_t kept = 1;
  int64_t of = 1;
  int64_t dimension = 0;
};

struct ScatterDimensionNumbers {
  absl::Span<const int64_t> update_window_dims;
  absl::Span<const int64_t> inserted_window_dims;
  absl::Span<const int64_t> scatter_dims_to_operand_dims;
  absl::Span<const int64_t> input_batching_dims;
  absl::Span<const int64_t> scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_ATTRIBUTE_VALUES_H_
