#include "xla_indexing/hlo/build/broadcast.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast_util.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing {
namespace {

using internal::AlignedOperand;
using internal::CheckBroadcastOperand;
using internal::CheckIsArray;
using internal::DescribeDimension;
using internal::DescribeOperand;
using internal::DimensionsFrom;
using internal::InferAlignedShape;
using internal::InferDimensions;
using internal::InferredDimension;

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

}  // namespace

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

absl::StatusOr<BroadcastInference> InferBroadcastShape(absl::Span<const MaybeRanked> operands) {
  const int64_t rank = LargestRank(operands);
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto aligned, Align(operands, rank));
  if (aligned.empty()) return BroadcastInference{};
  return InferAlignedShape(aligned, rank);
}

absl::Status VerifyBroadcastShape(absl::Span<const MaybeRanked> operands,
                                  const MaybeRanked& result) {
  const int64_t rank = LargestRank(operands);
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto aligned, Align(operands, rank));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto dimensions, InferDimensions(aligned, rank));
  if (!result.has_value()) return absl::OkStatus();
  const std::string what = absl::StrCat("the result, ", internal::shape_rules::Brief(*result));
  XLA_INDEXING_RETURN_IF_ERROR(CheckIsArray(what, *result));
  if (aligned.empty()) return absl::OkStatus();
  if (result->rank() != rank) {
    const AlignedOperand& largest = *std::max_element(
        aligned.begin(), aligned.end(),
        [](const auto& a, const auto& b) { return a.shape->rank() < b.shape->rank(); });
    return absl::InvalidArgumentError(absl::StrCat(what, ", has rank ", result->rank(), ", but ",
                                                   DescribeOperand(largest.operand, *largest.shape),
                                                   ", gives it rank ", rank));
  }
  for (int64_t d = 0; d < rank; ++d) {
    const InferredDimension& inferred = dimensions[d];
    const DimensionSize given = DimensionSize::Of(*result, d);
    if (MayBeGiven(inferred.size, given)) continue;
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
