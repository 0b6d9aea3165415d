// The shape rules of operations that broadcast their operands implicitly: which shapes go together,
// and what shape their result has.
//
// Mathematics. Operands are lined up with the dimensions of the result; an operand of smaller rank
// counts as having further dimensions of size 1 on the left. The sizes that meet in one dimension
// determine the size of the result there. In the table, n and m are static sizes other than 1 (0 is
// one of them), N and M are bounds, and `?` is a size without bound:
//
//   one       other    result
//   1         any      the other
//   n         n        n; n and m that differ: an error
//   n         ?        n
//   n         <=N      n where n <= N, else an error
//   ?         ?        ?
//   ?         <=N      ?
//   <=M       <=N      <=min(M, N); where one of the bounds is 1, the other
//
// The table is symmetric. With more than two operands, the size that the first two give meets that
// of the third, and so on; without bounds this order does not matter either, not even for errors.
// Operands of unknown rank are ignored, and element types may differ.
//
// Conditions on the sizes at run time that must hold beyond that, because the operation is
// undefined otherwise, are called guards.
//
// A given result shape fits the inferred one where both have the same rank, and in each dimension
//
//   inferred  given
//   dynamic   static   an error: the operands do not promise it
//   dynamic   dynamic  fine
//   static    ?        fine
//   n         <=N      fine where n <= N
//   n         n        fine; other sizes are an error
//
// and wherever one of them has no rank.
//
// Errors. InvalidArgument, naming operand, dimension and sizes, as in `operand 1, f32[2],
// dimension 0: size 2 does not go with size 3 of operand 0, f32[3], dimension 0`.
//
// Example: f32[10,1] and f32[6,8,1,5] give f32[6,8,10,5]; f32[?] and f32[4] give f32[4], guarded by
// `operand 0 dimension 0 (?): size 1 or 4`.
//
// Source: MLIR's trait Broadcastable, "Dimension inference", "Shape inference", "Verification".

#ifndef XLA_INDEXING_HLO_BUILD_BROADCAST_H_
#define XLA_INDEXING_HLO_BUILD_BROADCAST_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast_sizes.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// The shape of the result. Errors where there is no operand, one is no array, has more than
// kMaxBroadcastRank dimensions or a negative size, and where sizes do not go together.
absl::StatusOr<BroadcastInference> InferBroadcastShape(absl::Span<const MaybeRanked> operands);

// Whether `result` may be the shape of the result, by the second table. An error where the operands
// determine no shape, and where `result` does not fit the one that they determine.
absl::Status VerifyBroadcastShape(absl::Span<const MaybeRanked> operands,
                                  const MaybeRanked& result);

// Converts operands to shapes; each must have a rank.
absl::StatusOr<std::vector<Shape>> RequireRanks(absl::Span<const MaybeRanked> operands);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_BUILD_BROADCAST_H_
