#include "xla_indexing/hlo/build/broadcast_util.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal {
namespace {

// The guards of all dimensions of the result.
std::vector<BroadcastGuard> FindGuards(absl::Span<const AlignedOperand> operands,
                                       absl::Span<const InferredDimension> result) {
  std::vector<BroadcastGuard> all(result.size());
  for (const AlignedOperand& operand : operands) {
    for (int64_t k = 0; k < operand.shape->rank(); ++k) {
      const DimensionSize size = DimensionSize::Of(*operand.shape, k);
      if (size.IsStatic()) continue;
      BroadcastGuard& guard = all[operand.dimensions[k]];
      guard.operands.push_back({operand.operand, k});
      guard.operand_sizes.push_back(size);
    }
  }
  std::vector<BroadcastGuard> guards;
  for (size_t d = 0; d < all.size(); ++d) {
    // One dynamic size that meets nothing but ones is the size of the result whatever it is.
    const size_t least = result[d].size.IsStatic() ? 1 : 2;
    if (all[d].operands.size() < least) continue;
    all[d].dimension = static_cast<int64_t>(d);
    all[d].size = result[d].size;
    guards.push_back(std::move(all[d]));
  }
  return guards;
}

}  // namespace

std::string DescribeDimension(int64_t operand, const Shape& shape, int64_t dimension) {
  return absl::StrCat(DescribeOperand(operand, shape), ", dimension ", dimension);
}

absl::StatusOr<std::vector<InferredDimension>> InferDimensions(
    absl::Span<const AlignedOperand> operands, int64_t rank) {
  std::vector<InferredDimension> result(rank);
  for (const AlignedOperand& operand : operands) {
    for (int64_t k = 0; k < operand.shape->rank(); ++k) {
      const DimensionSize size = DimensionSize::Of(*operand.shape, k);
      InferredDimension& inferred = result[operand.dimensions[k]];
      const bool is_first = inferred.source == nullptr;
      const auto together = is_first ? size : InferBroadcastDimension(inferred.size, size);
      if (!together.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(
            DescribeDimension(operand.operand, *operand.shape, k), ": size ", size.ToString(),
            " does not go with size ", inferred.size.ToString(), " of ",
            DescribeDimension(inferred.source->operand, *inferred.source->shape,
                              inferred.source_dimension)));
      }
      if (is_first || *together != inferred.size) inferred = {*together, &operand, k};
    }
  }
  return result;
}

absl::Status CheckIsArray(const std::string& what, const Shape& shape) {
  if (!shape.IsArray()) return absl::InvalidArgumentError(absl::StrCat(what, ", is not an array"));
  if (shape.rank() > kMaxBroadcastRank) {
    return absl::InvalidArgumentError(absl::StrCat(what, ", has rank ", shape.rank(), "; at most ",
                                                   kMaxBroadcastRank, " dimensions are broadcast"));
  }
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const DimensionSize size = DimensionSize::Of(shape, d);
    if (size.IsUnbounded() || size.size >= 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, ", dimension ", d, ": size ", size.ToString(), " is negative"));
  }
  return absl::OkStatus();
}

std::vector<int64_t> DimensionsFrom(int64_t offset, int64_t rank) {
  std::vector<int64_t> dimensions(rank);
  std::iota(dimensions.begin(), dimensions.end(), offset);
  return dimensions;
}

std::string DescribeOperand(int64_t operand, const Shape& shape) {
  return absl::StrCat("operand ", operand, ", ", shape_rules::Brief(shape));
}

absl::Status CheckBroadcastOperand(int64_t operand, const Shape& shape) {
  return CheckIsArray(DescribeOperand(operand, shape), shape);
}

absl::StatusOr<BroadcastInference> InferAlignedShape(absl::Span<const AlignedOperand> operands,
                                                     int64_t rank) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto dimensions, InferDimensions(operands, rank));
  Shape shape = Shape::Scalar(operands[0].shape->element_type());
  for (const InferredDimension& dimension : dimensions) {
    shape.AddDimension(dimension.size.size, dimension.size.is_dynamic);
  }
  return BroadcastInference{std::move(shape), FindGuards(operands, dimensions)};
}

}  // namespace xla_indexing::internal
