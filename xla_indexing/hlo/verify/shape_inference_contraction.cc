// Shape rules of sums of products: dot, ragged-dot, scaled-dot, convolution.
//
// The element type of the result is the instruction's to choose; where none is given, it is the
// operands' (of two, the one with more bits).

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

using DimensionList = absl::Span<const int64_t>;
using Marks = absl::InlinedVector<bool, 16>;

// Marks the dimensions of an operand that are in one of two lists. An error where a number is no
// dimension or is there twice.
absl::StatusOr<Marks> MarkBatchAndContracting(const HloInstruction& i, int64_t operand,
                                              DimensionList batch, DimensionList contracting) {
  const int64_t rank = i.operand(operand)->shape().rank();
  const absl::string_view side = operand == 0 ? "lhs" : "rhs";
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, absl::StrCat(side, "_batch_dims"), batch, rank));
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckDimensions(i, absl::StrCat(side, "_contracting_dims"), contracting, rank));
  Marks marks(rank, false);
  for (int64_t d : batch) marks[d] = true;
  for (int64_t d : contracting) {
    if (marks[d]) {
      return Error(i, "dimension ", d, " is in both ", side, "_batch_dims and ", side,
                   "_contracting_dims");
    }
    marks[d] = true;
  }
  return marks;
}

absl::Status CheckPairs(const HloInstruction& i, absl::string_view what, DimensionList lhs_dims,
                        DimensionList rhs_dims) {
  if (lhs_dims.size() != rhs_dims.size()) {
    return Error(i, "the operands have ", lhs_dims.size(), " and ", rhs_dims.size(), " ", what,
                 " dimensions");
  }
  for (size_t k = 0; k < lhs_dims.size(); ++k) {
    if (!SizesAgree(i.operand(0)->shape().dimension(lhs_dims[k]),
                    i.operand(1)->shape().dimension(rhs_dims[k]))) {
      return Error(i, what, " dimensions ", lhs_dims[k], " and ", rhs_dims[k], " differ in size");
    }
  }
  return absl::OkStatus();
}

// The dimensions of the operands of a dot that are neither batch nor contracting.
struct FreeDimensions {
  Marks lhs_bound;
  Marks rhs_bound;
};

absl::StatusOr<FreeDimensions> CheckDotDimensions(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const DotDimensionNumbers numbers = i.dot_dimension_numbers();
  XLA_INDEXING_ASSIGN_OR_RETURN(auto lhs, MarkBatchAndContracting(i, 0, numbers.lhs_batch_dims,
                                                                  numbers.lhs_contracting_dims));
  XLA_INDEXING_ASSIGN_OR_RETURN(auto rhs, MarkBatchAndContracting(i, 1, numbers.rhs_batch_dims,
                                                                  numbers.rhs_contracting_dims));
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckPairs(i, "batch", numbers.lhs_batch_dims, numbers.rhs_batch_dims));
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckPairs(i, "contracting", numbers.lhs_contracting_dims, numbers.rhs_contracting_dims));
  return FreeDimensions{std::move(lhs), std::move(rhs)};
}

void AppendUnmarked(const Shape& from, const Marks& marks, Shape* to) {
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (!marks[d]) AppendDimension(from, d, to);
  }
}

Shape DotResult(const HloInstruction& i, const FreeDimensions& free) {
  const Shape& lhs = i.operand(0)->shape();
  const Shape& rhs = i.operand(1)->shape();
  Shape result = Shape::Scalar(HigherPrecision(lhs.element_type(), rhs.element_type()));
  for (int64_t d : i.dot_dimension_numbers().lhs_batch_dims) AppendDimension(lhs, d, &result);
  AppendUnmarked(lhs, free.lhs_bound, &result);
  AppendUnmarked(rhs, free.rhs_bound, &result);
  return result;
}

// The group sizes of a ragged dot: a vector of one size for each group, or such a vector for each
// index of the dimensions `prefix` of the left operand.
absl::Status CheckGroupSizes(const HloInstruction& i, DimensionList prefix) {
  const Shape& lhs = i.operand(0)->shape();
  const Shape& sizes = i.operand(2)->shape();
  if (!IsIntegral(sizes.element_type())) return Error(i, "the group sizes are not integers");
  if (sizes.rank() == 1) return absl::OkStatus();
  if (sizes.rank() != static_cast<int64_t>(prefix.size()) + 1) {
    return Error(i, "the group sizes have rank ", sizes.rank(), " and should have 1 or ",
                 prefix.size() + 1);
  }
  for (size_t k = 0; k < prefix.size(); ++k) {
    if (!SizesAgree(sizes.dimension(static_cast<int64_t>(k)), lhs.dimension(prefix[k]))) {
      return Error(i, "dimension ", k, " of the group sizes and dimension ", prefix[k],
                   " of operand 0 differ in size");
    }
  }
  return absl::OkStatus();
}

// The scales of a scaled dot: a scalar, or along each dimension one for a block of elements.
absl::Status CheckScales(const HloInstruction& i, int64_t operand, int64_t scales) {
  const Shape& values = i.operand(operand)->shape();
  const Shape& scale = i.operand(scales)->shape();
  if (scale.rank() == 0) return absl::OkStatus();
  if (scale.rank() != values.rank()) {
    return Error(i, "operands ", operand, " and ", scales, " differ in rank");
  }
  for (int64_t d = 0; d < values.rank(); ++d) {
    if (values.IsUnboundedDimension(d) || scale.IsUnboundedDimension(d)) continue;
    const int64_t least = values.dimension(d) == 0 ? 0 : 1;
    if (scale.dimension(d) < least || scale.dimension(d) > values.dimension(d)) {
      return Error(i, scale.dimension(d), " scales along dimension ", d, " of operand ", operand,
                   " cannot scale blocks of its ", values.dimension(d), " elements");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckConvolutionLabels(const HloInstruction& i, const char* what, int64_t rank,
                                    int64_t labels, int64_t first, int64_t second,
                                    DimensionList spatial, size_t spatial_count) {
  DimensionVector all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (rank != labels || rank != static_cast<int64_t>(all.size()) ||
      spatial.size() != spatial_count) {
    return Error(i, "dim_labels names ", labels, " dimensions, ", spatial.size(),
                 " of them spatial, of the ", what, ", which has rank ", rank, "; the window has ",
                 spatial_count, " dimensions");
  }
  return CheckDimensions(i, "dim_labels", all, rank);
}

Result InferDot(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto free, CheckDotDimensions(i));
  return DotResult(i, free);
}

// The ragged dimension of the left operand consists of groups of rows. It may be
// - free: row m is multiplied with the right operand at the group of m, of its group dimension;
// - contracting: each group gives a result of its own, along a new dimension in front;
// - batch: as a dot.
Result InferRaggedDot(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(auto free, CheckDotDimensions(i));
  const Shape& lhs = i.operand(0)->shape();
  const Shape& rhs = i.operand(1)->shape();
  const Shape& sizes = i.operand(2)->shape();
  const DotDimensionNumbers numbers = i.dot_dimension_numbers();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto ragged_dims,
                                RequireIntegers(i, AttributeKey::kLhsRaggedDims));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "lhs_ragged_dims", ragged_dims, lhs.rank()));
  if (ragged_dims.size() != 1) {
    return Error(i, "lhs_ragged_dims=", Braced(ragged_dims), " is not one dimension");
  }
  if (sizes.rank() == 0) return Error(i, "the group sizes are a scalar");
  const int64_t ragged = ragged_dims.front();
  const DimensionList group_dims = i.GetIntegers(AttributeKey::kRhsGroupDims);
  const bool is_contracting = absl::c_linear_search(numbers.lhs_contracting_dims, ragged);
  const bool is_batch = absl::c_linear_search(numbers.lhs_batch_dims, ragged);

  // The dimensions of the left operand before the ragged one: batch ones, then those of its kind.
  DimensionVector prefix;
  const auto add_before_ragged = [&](DimensionList dimensions) {
    for (int64_t d : dimensions) {
      if (d == ragged) return;
      prefix.push_back(d);
    }
  };
  add_before_ragged(numbers.lhs_batch_dims);
  if (is_contracting) add_before_ragged(numbers.lhs_contracting_dims);
  if (!is_batch && !is_contracting) {
    for (int64_t d = 0; d < ragged; ++d) {
      if (!free.lhs_bound[d]) prefix.push_back(d);
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckGroupSizes(i, prefix));

  const int64_t groups_dimension = sizes.rank() - 1;
  if (is_batch || is_contracting) {
    if (!group_dims.empty()) {
      return Error(i, "rhs_group_dims=", Braced(group_dims),
                   " is given though the ragged dimension is no free one");
    }
    if (is_batch) return DotResult(i, free);
    Shape result = Shape::Scalar(HigherPrecision(lhs.element_type(), rhs.element_type()));
    AppendDimension(sizes, groups_dimension, &result);
    const Shape rest = DotResult(i, free);
    for (int64_t d = 0; d < rest.rank(); ++d) AppendDimension(rest, d, &result);
    return result;
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "rhs_group_dims", group_dims, rhs.rank()));
  if (group_dims.size() != 1 || free.rhs_bound[group_dims[0]]) {
    return Error(i, "rhs_group_dims=", Braced(group_dims), " is not one free dimension");
  }
  if (!SizesAgree(rhs.dimension(group_dims[0]), sizes.dimension(groups_dimension))) {
    return Error(i, "group dimension ", group_dims[0], " of operand 1 does not hold the ",
                 sizes.dimension(groups_dimension), " groups");
  }
  free.rhs_bound[group_dims[0]] = true;
  return DotResult(i, free);
}

Result InferScaledDot(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto free, CheckDotDimensions(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckScales(i, 0, 2));
  XLA_INDEXING_RETURN_IF_ERROR(CheckScales(i, 1, 3));
  return DotResult(i, free);
}

// The input features of the kernel, those that a sparse one leaves out included; nullopt if that is not
// known.
std::optional<int64_t> KernelFeatures(const HloInstruction& i,
                                      const ConvolutionDimensionNumbers& labels) {
  const int64_t features = i.operand(1)->shape().dimension(labels.kernel_input_feature);
  if (features == Shape::kUnboundedSize) return std::nullopt;
  if (!i.is_sparse()) return features;
  const std::optional<KernelSparsity> sparsity = i.kernel_sparsity();
  if (!sparsity || sparsity->dimension != labels.kernel_input_feature ||
      features % sparsity->kept != 0) {
    return std::nullopt;
  }
  return CheckedMul(features / sparsity->kept, sparsity->of);
}

// Whether the features and the batch can be divided into the groups that the attributes say.
absl::Status CheckConvolutionGroups(const HloInstruction& i,
                                    const ConvolutionDimensionNumbers& labels) {
  const Shape& input = i.operand(0)->shape();
  const Shape& kernel = i.operand(1)->shape();
  const int64_t feature_groups = i.feature_group_count();
  const int64_t batch_groups = i.batch_group_count();
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1)) {
    return Error(i, "feature_group_count=", feature_groups, " and batch_group_count=", batch_groups,
                 " should be at least 1, and one of them 1");
  }
  const int64_t batch = input.dimension(labels.input_batch);
  const int64_t features = input.dimension(labels.input_feature);
  const std::optional<int64_t> kernel_features = KernelFeatures(i, labels);
  const int64_t out_features = kernel.dimension(labels.kernel_output_feature);
  if (features != Shape::kUnboundedSize && kernel_features &&
      (features % feature_groups != 0 || features / feature_groups != *kernel_features)) {
    return Error(i, "the ", features, " features of the input are not ", feature_groups,
                 " groups of the ", *kernel_features, " of the kernel");
  }
  if (out_features != Shape::kUnboundedSize &&
      (out_features % feature_groups != 0 || out_features % batch_groups != 0)) {
    return Error(i, "the ", out_features, " output features are not a multiple of the ",
                 feature_groups * batch_groups, " groups");
  }
  if (batch != Shape::kUnboundedSize && batch % batch_groups != 0) {
    return Error(i, "the batch of ", batch, " is not a multiple of the ", batch_groups, " groups");
  }
  return absl::OkStatus();
}

// convolution(input, kernel), and for sparse operands the indices of what they hold.
Result InferConvolution(const HloInstruction& i) {
  if (i.operand_count() < 2 || (i.operand_count() > 2 && !i.is_sparse())) {
    return Error(i, "takes 2 operands, not ", i.operand_count());
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& input = i.operand(0)->shape();
  const Shape& kernel = i.operand(1)->shape();
  const ConvolutionDimensionNumbers* labels = i.convolution_dimension_numbers();
  if (labels == nullptr) return Error(i, "there is no dim_labels");
  absl::Span<const WindowDimension> window;
  if (i.window() != nullptr) window = i.window()->dimensions;
  XLA_INDEXING_RETURN_IF_ERROR(CheckConvolutionLabels(i, "input", input.rank(), labels->input_rank,
                                                      labels->input_batch, labels->input_feature,
                                                      labels->input_spatial, window.size()));
  XLA_INDEXING_RETURN_IF_ERROR(CheckConvolutionLabels(
      i, "kernel", kernel.rank(), labels->kernel_rank, labels->kernel_input_feature,
      labels->kernel_output_feature, labels->kernel_spatial, window.size()));
  XLA_INDEXING_RETURN_IF_ERROR(CheckConvolutionLabels(
      i, "result", labels->output_rank, labels->output_rank, labels->output_batch,
      labels->output_feature, labels->output_spatial, window.size()));

  XLA_INDEXING_RETURN_IF_ERROR(CheckConvolutionGroups(i, *labels));

  const int64_t batch = input.dimension(labels->input_batch);
  DimensionVector sizes(labels->output_rank, 0);
  absl::InlinedVector<bool, 8> dynamic(labels->output_rank, false);
  sizes[labels->output_batch] =
      batch == Shape::kUnboundedSize ? batch : batch / i.batch_group_count();
  dynamic[labels->output_batch] = input.IsDynamicDimension(labels->input_batch);
  sizes[labels->output_feature] = kernel.dimension(labels->kernel_output_feature);
  dynamic[labels->output_feature] = kernel.IsDynamicDimension(labels->kernel_output_feature);
  for (size_t k = 0; k < window.size(); ++k) {
    const int64_t kernel_size = kernel.dimension(labels->kernel_spatial[k]);
    if (!SizesAgree(kernel_size, window[k].size)) {
      return Error(i, "window dimension ", k, " has size ", window[k].size, " and the kernel has ",
                   kernel_size);
    }
    const int64_t in_input = labels->input_spatial[k];
    XLA_INDEXING_ASSIGN_OR_RETURN(
        const auto positions,
        WindowPositions(i, static_cast<int64_t>(k), input.dimension(in_input), window[k]));
    sizes[labels->output_spatial[k]] = positions;
    dynamic[labels->output_spatial[k]] = input.IsDynamicDimension(in_input);
  }
  Shape result = Shape::Scalar(HigherPrecision(input.element_type(), kernel.element_type()));
  for (size_t d = 0; d < sizes.size(); ++d) result.AddDimension(sizes[d], dynamic[d]);
  return result;
}

constexpr OpcodeRule kContractionRules[] = {
    {HloOpcode::kDot, {.infer = InferDot, .agreement = Agreement::kElementType}},
    {HloOpcode::kRaggedDot, {.infer = InferRaggedDot, .agreement = Agreement::kElementType}},
    {HloOpcode::kScaledDot, {.infer = InferScaledDot, .agreement = Agreement::kElementType}},
    {HloOpcode::kConvolution, {.infer = InferConvolution, .agreement = Agreement::kElementType}},
};

}  // namespace

OpcodeRules ContractionRules() { return kContractionRules; }

}  // namespace xla_indexing::internal::shape_rules
