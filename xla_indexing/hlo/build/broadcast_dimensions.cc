#include "xla_indexing/hlo/build/broadcast_dimensions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast_util.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing {
namespace {

using internal::AlignedOperand;
using internal::CheckBroadcastOperand;
using internal::DescribeOperand;
using internal::DimensionsFrom;
using internal::InferAlignedShape;

using internal::shape_rules::Braced;

absl::Status CheckOperands(absl::Span<const Shape> operands) {
  if (operands.empty()) {
    return absl::InvalidArgumentError("an operation that broadcasts takes at least one operand");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckBroadcastOperand(static_cast<int64_t>(i), operands[i]));
  }
  return absl::OkStatus();
}

// The number of the first operand of the largest rank.
int64_t LargestOperand(absl::Span<const Shape> operands) {
  return std::max_element(operands.begin(), operands.end(),
                          [](const Shape& a, const Shape& b) { return a.rank() < b.rank(); }) -
         operands.begin();
}

// The broadcast of operands with these dimensions of a result of this rank.
absl::StatusOr<ImplicitBroadcast> Combine(absl::Span<const Shape> operands,
                                          std::vector<std::vector<int64_t>> dimensions,
                                          int64_t rank) {
  std::vector<AlignedOperand> aligned;
  aligned.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    aligned.push_back({static_cast<int64_t>(i), &operands[i], dimensions[i]});
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(BroadcastInference inferred, InferAlignedShape(aligned, rank));
  return ImplicitBroadcast{*std::move(inferred.shape), std::move(dimensions),
                           std::move(inferred.guards)};
}

std::string ListText(absl::Span<const int64_t> broadcast_dimensions) {
  return absl::StrCat("broadcast_dimensions=", Braced(broadcast_dimensions));
}

absl::Status LengthError(absl::Span<const int64_t> broadcast_dimensions, absl::string_view operand,
                         int64_t rank) {
  return absl::InvalidArgumentError(absl::StrCat(ListText(broadcast_dimensions), " has length ",
                                                 broadcast_dimensions.size(), ", but ", operand,
                                                 ", has rank ", rank));
}

// Checks that a list says where the dimensions of operand `number`, of a lower rank, are in operand
// `largest`.
absl::Status CheckBroadcastDimensions(absl::Span<const Shape> operands, int64_t number,
                                      int64_t largest,
                                      absl::Span<const int64_t> broadcast_dimensions) {
  const std::string operand = DescribeOperand(number, operands[number]);
  const std::string larger = DescribeOperand(largest, operands[largest]);
  const int64_t rank = operands[number].rank();
  if (broadcast_dimensions.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        operand, ", has rank ", rank, " and ", larger, ", has rank ", operands[largest].rank(),
        ": operands of different ranks need broadcast_dimensions"));
  }
  const std::string list = ListText(broadcast_dimensions);
  if (static_cast<int64_t>(broadcast_dimensions.size()) != rank) {
    return LengthError(broadcast_dimensions, operand, rank);
  }
  for (int64_t k = 0; k < rank; ++k) {
    const int64_t d = broadcast_dimensions[k];
    if (d < 0 || d >= operands[largest].rank()) {
      return absl::InvalidArgumentError(
          absl::StrCat(list, ": ", d, ", for ", operand, ", dimension ", k, " of size ",
                       DimensionSize::Of(operands[number], k).ToString(),
                       ", is not a dimension of ", larger, ", of rank ", operands[largest].rank()));
    }
    if (k > 0 && d <= broadcast_dimensions[k - 1]) {
      return absl::InvalidArgumentError(
          absl::StrCat(list, ": ", d, ", for ", operand, ", dimension ", k, " of size ",
                       DimensionSize::Of(operands[number], k).ToString(), ", comes after ",
                       broadcast_dimensions[k - 1], "; they should ascend"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> NumpyBroadcastDimensions(const Shape& lhs, const Shape& rhs) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckBroadcastOperand(0, lhs));
  XLA_INDEXING_RETURN_IF_ERROR(CheckBroadcastOperand(1, rhs));
  const int64_t lower = std::min(lhs.rank(), rhs.rank());
  const int64_t higher = std::max(lhs.rank(), rhs.rank());
  if (lower == 0 || lower == higher) return std::vector<int64_t>();
  return DimensionsFrom(higher - lower, lower);
}

absl::StatusOr<ImplicitBroadcast> BroadcastLikeNumpy(absl::Span<const Shape> operands) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckOperands(operands));
  const int64_t rank = operands[LargestOperand(operands)].rank();
  std::vector<std::vector<int64_t>> dimensions;
  for (const Shape& operand : operands) {
    dimensions.push_back(DimensionsFrom(rank - operand.rank(), operand.rank()));
  }
  return Combine(operands, std::move(dimensions), rank);
}

absl::StatusOr<ImplicitBroadcast> BroadcastLikeXla(absl::Span<const Shape> operands,
                                                   absl::Span<const int64_t> broadcast_dimensions) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckOperands(operands));
  const int64_t largest = LargestOperand(operands);
  const int64_t rank = operands[largest].rank();
  bool is_list_used = broadcast_dimensions.empty();
  int64_t scalar = -1;
  std::vector<std::vector<int64_t>> dimensions;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].rank() == rank || operands[i].IsScalar()) {
      if (operands[i].rank() < rank) scalar = static_cast<int64_t>(i);
      dimensions.push_back(DimensionsFrom(0, operands[i].rank()));
      continue;
    }
    XLA_INDEXING_RETURN_IF_ERROR(
        CheckBroadcastDimensions(operands, static_cast<int64_t>(i), largest, broadcast_dimensions));
    dimensions.emplace_back(broadcast_dimensions.begin(), broadcast_dimensions.end());
    is_list_used = true;
  }
  if (!is_list_used && scalar >= 0) {
    return LengthError(broadcast_dimensions, DescribeOperand(scalar, operands[scalar]), 0);
  }
  if (!is_list_used && broadcast_dimensions != absl::MakeConstSpan(dimensions[largest])) {
    return absl::InvalidArgumentError(absl::StrCat(ListText(broadcast_dimensions),
                                                   ": all operands have rank ", rank, ", as ",
                                                   DescribeOperand(largest, operands[largest]),
                                                   "; their dimensions belong together in order"));
  }
  return Combine(operands, std::move(dimensions), rank);
}

}  // namespace xla_indexing
