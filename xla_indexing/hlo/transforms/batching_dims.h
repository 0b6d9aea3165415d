// Gathers and scatters with batching dimensions, and without.
//
// Batching dimensions say that a dimension of the operand and one of the indices run together. This
// can be said without them: the dimension of the operand is collapsed (inserted) and addressed by
// one more component of the index vectors, which is an iota along the dimension of the indices,
//
//   gather(operand, indices), operand_batching_dims={0}, start_indices_batching_dims={1},
//     start_index_map={2,1}, collapsed_slice_dims={1}, index_vector_dim=3, ..
//
//   iota = s64[2,2,3,1] iota(), iota_dimension=1
//   both = s64[2,2,3,3] concatenate(iota, indices), dimensions={3}
//   gather(operand, both), start_index_map={0,2,1}, collapsed_slice_dims={0,1},
//     index_vector_dim=3, ..
//
// Both forms have the same value and the same indexing maps. The clamp of a gather never acts on
// the iota, and no window of a scatter is outside by it.
//
// Source: the StableHLO RFC on batching dimensions. (index_vector_dim keeps its place: what grows
// is the size of that dimension.)

#ifndef XLA_INDEXING_HLO_TRANSFORMS_BATCHING_DIMS_H_
#define XLA_INDEXING_HLO_TRANSFORMS_BATCHING_DIMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

// A copy of the module (which must verify) whose gathers, or scatters, have no batching dimensions.
//
//   - Indices that are index vectors of one component each (index_vector_dim is their rank) get a
//     further dimension for the vectors at the end.
//   - Indices of a type in which the iota would wrap are converted to the narrowest type of equal
//     signedness that holds it.
//   - indices_are_sorted is dropped unless it follows: the batching dimensions come first, in the
//     same order, among the dimensions of the operand and of the indices (dimensions of size 1 left
//     aside), and the indices were sorted, or there are none.
//   - unique_indices stays, since every element goes where it went before.
//   - A gather with a dimension that is batching and indexed (hlo/types/attribute_values.h) stays as it is.
//
// InvalidArgument where a batching dimension has no bound, so that there is no iota of its size.
absl::StatusOr<std::unique_ptr<HloModule>> DecomposeGatherBatchingDims(const HloModule& module);
absl::StatusOr<std::unique_ptr<HloModule>> DecomposeScatterBatchingDims(const HloModule& module);

// The reverse transformation: a copy of the module (which must verify) in which components of the
// index vectors that are iotas have become batching dimensions. Such a component is an operand of
// the concatenate that makes the indices, or all of the indices; its dimension of the operand is
// collapsed (inserted), as long as the iota's, and not yet a batching dimension.
//
// indices_are_sorted is dropped unless no component is left. Instructions that become unused stay
// in the module.
absl::StatusOr<std::unique_ptr<HloModule>> RecognizeGatherBatchingDims(const HloModule& module);
absl::StatusOr<std::unique_ptr<HloModule>> RecognizeScatterBatchingDims(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_BATCHING_DIMS_H_
