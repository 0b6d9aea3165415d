// How the dimensions of implicitly broadcast operands line up with those of the result: the rules
// of numpy (and of front ends that follow it) and those of XLA.
//
//   numpy   the last dimensions of all operands belong together, then those before them, ..
//   XLA     operands of one rank: dimension i of each; a scalar: no dimension; an operand of lower
//           rank: as the list `broadcast_dimensions` says, which is then required: its dimension k
//           is dimension broadcast_dimensions[k] of the result
//
// The sizes that meet follow the tables of hlo/build/broadcast.h, under both rules, and so do bounds. XLA
// does what numpy does if it is given the list that NumpyBroadcastDimensions returns: consecutive
// numbers from the difference of the ranks on.
//
// Errors. InvalidArgument, naming operands, dimensions and sizes.
//
// Example: f32[10,1] and f32[6,8,1,5] give f32[6,8,10,5]; their dimensions are {2,3} and {0,1,2,3}
// of the result. XLA gives the same with broadcast_dimensions={2,3} and an error without.
//
// Sources: "Deprecate explicit shape promotion in PyTorch/XLA", XlaHelpers::getBroadcastDimensions;
// XLA's broadcasting semantics.

#ifndef XLA_INDEXING_HLO_BUILD_BROADCAST_DIMENSIONS_H_
#define XLA_INDEXING_HLO_BUILD_BROADCAST_DIMENSIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// The `broadcast_dimensions` with which XLA lines up two operands as numpy does. Empty if they
// have one rank or one of them is a scalar, where XLA needs none.
absl::StatusOr<std::vector<int64_t>> NumpyBroadcastDimensions(const Shape& lhs, const Shape& rhs);

// Operands lined up with their result.
struct ImplicitBroadcast {
  // Without layout, of the element type of operand 0.
  Shape result;
  // For each operand, the dimension of the result that each of its dimensions is; ascending.
  std::vector<std::vector<int64_t>> dimensions;
  std::vector<BroadcastGuard> guards;
};

// Lines up any number of operands, at least one, by numpy's rule.
absl::StatusOr<ImplicitBroadcast> BroadcastLikeNumpy(absl::Span<const Shape> operands);

// Lines up operands by XLA's rule. `broadcast_dimensions` are those of the operands of lower rank
// that are not scalars. Where there is no such operand, it may be empty or list all dimensions in
// order.
absl::StatusOr<ImplicitBroadcast> BroadcastLikeXla(
    absl::Span<const Shape> operands, absl::Span<const int64_t> broadcast_dimensions = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_BUILD_BROADCAST_DIMENSIONS_H_
