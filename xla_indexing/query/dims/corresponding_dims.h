// Which dimensions of an instruction's operands and results run together.
//
// Dimension b of a result and dimension a of an operand correspond where both have size n and every
// element of the result reads only elements of this operand with index d_b along a: where both are
// cut into parts in the same way, a part of the result needs only that part of the operand.
// Correspondence is read off the indexing maps. So it holds for every instruction and for whole
// fusions, however the program expresses it: for the batching dimensions of a gather, and for the
// same gather whose indices hold an iota; for the batch dimensions of a dot; for the dimensions
// that a reduce keeps.
//
// Dimensions that correspond through others form one group. A group is a batch where it has a
// dimension of every operand and result (scalars aside) and they correspond pairwise wherever one
// is read: the instruction is then n independent ones, and partitioning along the group needs no
// communication. Otherwise every part needs the operands that are not in the group as a whole.
//
// Example: dot of f32[5,8,3] and f32[5,3,7] with batch dimensions 0 and 0 and contracted dimensions
// 2 and 1, result f32[5,8,7]:
//
//   size 5: result 0 dim 0, operand 0 dim 0, operand 1 dim 0  (batch)
//   size 8: result 0 dim 1, operand 0 dim 1
//   size 7: result 0 dim 2, operand 1 dim 2
//
// Dimensions of size 0 or 1 correspond to nothing: there is nothing to cut. One of unbounded size
// corresponds to another of unbounded size.
//
// Source: the property that the StableHLO RFC on batching dimensions of gather and scatter wants
// for the propagation of shardings.

#ifndef XLA_INDEXING_QUERY_DIMS_CORRESPONDING_DIMS_H_
#define XLA_INDEXING_QUERY_DIMS_CORRESPONDING_DIMS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

// A dimension of a leaf of an instruction's result or of one of its operands.
struct LeafDim {
  static constexpr int64_t kResult = -1;

  int64_t operand = kResult;
  int64_t leaf = 0;
  int64_t dim = 0;

  friend bool operator==(const LeafDim& a, const LeafDim& b) = default;
  friend bool operator<(const LeafDim& a, const LeafDim& b) {
    return std::tie(a.operand, a.leaf, a.dim) < std::tie(b.operand, b.leaf, b.dim);
  }
};

struct CorrespondingDims {
  int64_t size = 0;           // Shape::kUnboundedSize where there is no bound.
  std::vector<LeafDim> dims;  // Results come before operands; there are two or more.
  bool is_batch = false;

  // As in the example above; a leaf other than 0 as `operand 1#3 dim 0`.
  std::string ToString() const;

  friend bool operator==(const CorrespondingDims& a, const CorrespondingDims& b) = default;
};

// The groups of an instruction, or of a computation's root and parameters (the module verifies), in
// the order of their first dimensions. Called computations are looked into. Errors as those of HloIndexer::Index.
absl::StatusOr<std::vector<CorrespondingDims>> FindCorrespondingDims(
    IndexingTarget target, mlir::MLIRContext* context, const FusionOptions& options = {});
// The same through an indexer that is kept, for one instruction after another.
absl::StatusOr<std::vector<CorrespondingDims>> FindCorrespondingDims(IndexingTarget target,
                                                                     HloIndexer& indexer);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_DIMS_CORRESPONDING_DIMS_H_
