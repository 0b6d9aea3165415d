#include "xla_indexing/hlo/broadcast.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/broadcast_util.h"
#include "xla_indexing/hlo/shape_inference_util.h"

namespace xla_indexing {
namespace {

// The size that operands give a dimension of the result, and where it comes from.
struct InferredDimension {
  DimensionSize size;
  const AlignedOperand* source = nullptr;
  int64_t source_dimension = 0;
};

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

int64_t LargestRank(absl::Span<const MaybeRanked> operands) {
  int64_t rank = 0;
  for (const MaybeRanked& operand : operands) {
    if (operand.has_value()) rank = std::max(rank, operand->rank());
  }
  return rank;
}

// The operands that have a rank, lined up on the right.
absl::StatusOr<std::vector<AlignedOperand>> Align(absl::Span<const MaybeRanked> operands,
                                                  int64_t rank) {
  if (operands.empty()) {
    return absl::InvalidArgumentError("an operation that broadcasts takes at least one operand");
  }
  std::vector<AlignedOperand> aligned;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].has_value()) continue;
    const Shape& shape = *operands[i];
    const auto number = static_cast<int64_t>(i);
    XLA_INDEXING_RETURN_IF_ERROR(CheckBroadcastOperand(number, shape));
    aligned.push_back({number, &shape, DimensionsFrom(rank - shape.rank(), shape.rank())});
  }
  return aligned;
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

bool MayBe(DimensionSize inferred, DimensionSize given) {
  if (inferred.is_dynamic) return given.is_dynamic;
  if (given.IsUnbounded()) return true;
  return given.is_dynamic ? inferred.size <= given.size : inferred.size == given.size;
}

}  // namespace

DimensionSize DimensionSize::Of(const Shape& shape, int64_t i) {
  if (shape.IsUnboundedDimension(i)) return Unbounded();
  return {shape.dimension(i), shape.IsDynamicDimension(i)};
}

std::string DimensionSize::ToString() const {
  return IsUnbounded() ? "?" : absl::StrCat(is_dynamic ? "<=" : "", size);
}

absl::StatusOr<DimensionSize> InferBroadcastDimension(DimensionSize a, DimensionSize b) {
  if (a.IsStaticOne() || b.IsStaticOne()) return a.IsStaticOne() ? b : a;
  if (a.is_dynamic && b.is_dynamic) {
    if (a.IsUnbounded() || b.IsUnbounded()) return DimensionSize::Unbounded();
    if (a.size == 1 || b.size == 1) return a.size == 1 ? b : a;
    return a.size <= b.size ? a : b;
  }
  // A static size, if it is one that the other can be.
  const DimensionSize known = a.is_dynamic ? b : a;
  const DimensionSize other = a.is_dynamic ? a : b;
  if (MayBe(known, other)) return known;
  return absl::InvalidArgumentError(
      absl::StrCat("size ", b.ToString(), " does not go with size ", a.ToString()));
}

std::string BroadcastGuard::ToString() const {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_last = i + 1 == operands.size();
    absl::StrAppend(&text, i == 0 ? "" : (is_last ? " and " : ", "), "operand ",
                    operands[i].operand, " dimension ", operands[i].dimension, " (",
                    operand_sizes[i].ToString(), ")");
  }
  if (size.IsStatic()) return absl::StrCat(text, ": size 1 or ", size.size);
  return absl::StrCat(text, ": size 1 or one size in common",
                      size.IsUnbounded() ? "" : absl::StrCat(", at most ", size.size));
}

absl::StatusOr<std::vector<Shape>> RequireRanks(absl::Span<const MaybeRanked> operands) {
  std::vector<Shape> shapes;
  for (const MaybeRanked& operand : operands) {
    if (!operand.has_value()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "operand ", shapes.size(), " has no rank; its dimensions and sizes must be known here"));
    }
    shapes.push_back(*operand);
  }
  return shapes;
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
  const auto dimensions = InferDimensions(operands, rank);
  if (!dimensions.ok()) return dimensions.status();
  Shape shape = Shape::Scalar(operands[0].shape->element_type());
  for (const InferredDimension& dimension : *dimensions) {
    shape.AddDimension(dimension.size.size, dimension.size.is_dynamic);
  }
  return BroadcastInference{std::move(shape), FindGuards(operands, *dimensions)};
}

absl::StatusOr<BroadcastInference> InferBroadcastShape(absl::Span<const MaybeRanked> operands) {
  const int64_t rank = LargestRank(operands);
  const auto aligned = Align(operands, rank);
  if (!aligned.ok()) return aligned.status();
  if (aligned->empty()) return BroadcastInference{};
  return InferAlignedShape(*aligned, rank);
}

absl::Status VerifyBroadcastShape(absl::Span<const MaybeRanked> operands,
                                  const MaybeRanked& result) {
  const int64_t rank = LargestRank(operands);
  const auto aligned = Align(operands, rank);
  if (!aligned.ok()) return aligned.status();
  const auto dimensions = InferDimensions(*aligned, rank);
  if (!dimensions.ok()) return dimensions.status();
  if (!result.has_value()) return absl::OkStatus();
  const std::string what = absl::StrCat("the result, ", shape_rules::Brief(*result));
  XLA_INDEXING_RETURN_IF_ERROR(CheckIsArray(what, *result));
  if (aligned->empty()) return absl::OkStatus();
  if (result->rank() != rank) {
    const AlignedOperand& largest = *std::max_element(
        aligned->begin(), aligned->end(),
        [](const auto& a, const auto& b) { return a.shape->rank() < b.shape->rank(); });
    return absl::InvalidArgumentError(absl::StrCat(what, ", has rank ", result->rank(), ", but ",
                                                   DescribeOperand(largest.operand, *largest.shape),
                                                   ", gives it rank ", rank));
  }
  for (int64_t d = 0; d < rank; ++d) {
    const InferredDimension& inferred = (*dimensions)[d];
    const DimensionSize given = DimensionSize::Of(*result, d);
    if (MayBe(inferred.size, given)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, ", dimension ", d, ": size ", given.ToString(), " is not the size ",
                     inferred.size.ToString(), " that ",
                     DescribeDimension(inferred.source->operand, *inferred.source->shape,
                                       inferred.source_dimension),
                     " gives it"));
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing
