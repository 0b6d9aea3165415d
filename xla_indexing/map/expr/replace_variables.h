// A map over other variables.
//
// Example: (d0)[s0] -> (d0 + s0), d0 + s0 in [0, 9]  with d0 replaced by d1 and s0 by d0 * 2 over
// two dimensions and no symbols is  (d0, d1) -> (d1 + d0 * 2), d1 + d0 * 2 in [0, 9].
#ifndef XLA_INDEXING_MAP_EXPR_REPLACE_VARIABLES_H_
#define XLA_INDEXING_MAP_EXPR_REPLACE_VARIABLES_H_

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces dimension i by dim_values[i] and symbol j by symbol_values[j] in results and
// constraints, over the given variables. Null values and those past the end of a list keep the
// variable. The intervals of the old variables are not taken along. Nullopt if a number does not
// fit int64 or a bound of affine/expr/build.h is passed.
std::optional<IndexingMap> ReplaceVariables(const IndexingMap& map, Variables dims,
                                            Variables ranges, Variables runtimes,
                                            llvm::ArrayRef<mlir::AffineExpr> dim_values,
                                            llvm::ArrayRef<mlir::AffineExpr> symbol_values);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_REPLACE_VARIABLES_H_
