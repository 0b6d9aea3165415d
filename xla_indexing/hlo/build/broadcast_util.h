// What the rules of broadcasting share: operands that have been lined up with their result, and how
// messages call operands. Not for users of the library.

#ifndef XLA_INDEXING_HLO_BUILD_BROADCAST_UTIL_H_
#define XLA_INDEXING_HLO_BUILD_BROADCAST_UTIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast_sizes.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// An array whose dimension k is dimension `dimensions[k]` of the result.
struct AlignedOperand {
  int64_t operand = 0;  // Its number, for messages and guards.
  const Shape* shape = nullptr;
  std::vector<int64_t> dimensions;
};

// The size that operands give a dimension of the result, and where it comes from.
struct InferredDimension {
  DimensionSize size;
  const AlignedOperand* source = nullptr;
  int64_t source_dimension = 0;
};
absl::StatusOr<std::vector<InferredDimension>> InferDimensions(
    absl::Span<const AlignedOperand> operands, int64_t rank);

// The inferred shape of operands that have been lined up with a result of this rank, whatever rule
// did it; numbers in `dimensions` are different and less than `rank`. There is at least one operand
// and every one is valid (CheckBroadcastOperand).
absl::StatusOr<BroadcastInference> InferAlignedShape(absl::Span<const AlignedOperand> operands,
                                                     int64_t rank);

// An error that begins with `what` unless `shape` is an array of at most kMaxBroadcastRank
// dimensions, none of a negative size.
absl::Status CheckIsArray(const std::string& what, const Shape& shape);

// An error unless `shape` can be operand number `operand`: an array of at most kMaxBroadcastRank
// dimensions, none of a negative size.
absl::Status CheckBroadcastOperand(int64_t operand, const Shape& shape);

// `{offset, offset + 1, ..}`, `rank` numbers: the dimensions of an array that is lined up with the
// last ones of a larger one.
std::vector<int64_t> DimensionsFrom(int64_t offset, int64_t rank);

// `operand 1, f32[2]`.
std::string DescribeOperand(int64_t operand, const Shape& shape);
// `operand 1, f32[2], dimension 0`.
std::string DescribeDimension(int64_t operand, const Shape& shape, int64_t dimension);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_BUILD_BROADCAST_UTIL_H_
