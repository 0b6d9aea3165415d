// Affine expressions as text, in MLIR's way of writing them.
//
//   sum        d0 * 8 + d1 - s0 * 3 - 5         negative summands are subtracted
//   product    d0 * 8, d0 * -8, -d0             -1 times something is a unary minus, which binds
//                                               tightest
//   division   (d0 + 1) floordiv 8, d1 mod 2    operands other than a variable or a number take ( )
//
// For default variable names and coefficients above the least int64 this is, to the letter, what
// `mlir::AffineExpr::print` writes; for the least int64, MLIR prints a wrong magnitude.
//
// Example: AppendAffineExpr(e, {"d0", "d1"}, {}, &out) appends `(d0 floordiv 2) * 4 + d1 mod 2`.

#ifndef XLA_INDEXING_MAP_TEXT_AFFINE_TEXT_H_
#define XLA_INDEXING_MAP_TEXT_AFFINE_TEXT_H_

#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

// Appends the text of `expr`, with dimension i written dim_names[i] and symbol j symbol_names[j]; a
// variable past the end of its list is written by its default name, d<i> or s<j>.
void AppendAffineExpr(mlir::AffineExpr expr, llvm::ArrayRef<std::string> dim_names,
                      llvm::ArrayRef<std::string> symbol_names, std::string* out);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_TEXT_AFFINE_TEXT_H_
