// Small questions about affine expressions that the operations ask.

#ifndef XLA_INDEXING_OPS_INTERNAL_EXPR_UTIL_H_
#define XLA_INDEXING_OPS_INTERNAL_EXPR_UTIL_H_

#include "llvm/ADT/BitVector.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

// Sets the bits of the symbols that `expr` mentions; symbols past the end of `used` are left out.
void MarkSymbols(mlir::AffineExpr expr, llvm::BitVector* used);
void MarkDims(mlir::AffineExpr expr, llvm::BitVector* used);

// Negative, zero or positive as `a` stands before, with or after `b`. A total order on the
// expressions that affine/internal/build.h makes: that of summands, constants by their value.
int CompareExprs(mlir::AffineExpr a, mlir::AffineExpr b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_EXPR_UTIL_H_
