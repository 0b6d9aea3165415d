// The arithmetic of reshapes: an index of one array turned into the index of another array that has
// as many elements, where both stand at the same place of the row-major order.

#ifndef XLA_INDEXING_OPS_RULES_MOVEMENT_RESHAPE_INDICES_H_
#define XLA_INDEXING_OPS_RULES_MOVEMENT_RESHAPE_INDICES_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/answers/map_builder.h"

namespace xla_indexing::internal {

// The index in an array of `to_sizes` of the element that stands at `indices` in an array of
// `from_sizes`. The products of both lists of sizes are equal and not 0, sizes are bounded, and
// indices[i] is in [0, from_sizes[i] - 1].
//
// Dimensions are taken in the smallest groups of neighbours with equal products, so that a
// dimension that both arrays have stays as it is: f32[32,3,4] to f32[4,8,12] is (32 -> 4x8), (3x4
// -> 12). In a group the index is linearized and taken apart again, in normal form over `builder`'s
// domain.
llvm::SmallVector<mlir::AffineExpr, 4> ReshapeIndices(llvm::ArrayRef<mlir::AffineExpr> indices,
                                                      llvm::ArrayRef<int64_t> from_sizes,
                                                      llvm::ArrayRef<int64_t> to_sizes,
                                                      const MapBuilder& builder);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_MOVEMENT_RESHAPE_INDICES_H_
