// How an index behaves along one variable: what a compiler asks before it loads several elements at once.
//
// Values of the variable are taken in aligned blocks, of n from a multiple of n on, where n is a power of 2. In
// each block, with all other variables the same and at the points of the domain,
//
//   contiguity     the index grows by 1 with each value
//   constancy      the index is the same
//   divisibility   the index at the first value of a contiguous block is a multiple of this power of 2
//
// Each is the greatest that was proven, at least 1.
//
// Example: of d0 * 128 + d1, with d1 in [0, 127]: along d1 contiguity is 128 and divisibility 128. Of d1 floordiv 4
// constancy is 4.
//
// Errors. InvalidArgument for what is no variable of the map.
//
// Source: Triton's AxisInfo.
#ifndef XLA_INDEXING_MAP_EXPR_AXIS_INFO_H_
#define XLA_INDEXING_MAP_EXPR_AXIS_INFO_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

struct AxisInfo {
  int64_t contiguity = 1;
  int64_t constancy = 1;
  int64_t divisibility = 1;
};

// How `expr`, over the map's variables, behaves along one of them, a dimension or a symbol.
absl::StatusOr<AxisInfo> AxisInfoOf(const IndexingMap& map, mlir::AffineExpr expr,
                                    mlir::AffineExpr variable);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_EXPR_AXIS_INFO_H_
