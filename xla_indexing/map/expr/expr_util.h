// Small questions about affine expressions: which variables occur in one, and which of two comes
// first.
#ifndef XLA_INDEXING_MAP_EXPR_EXPR_UTIL_H_
#define XLA_INDEXING_MAP_EXPR_EXPR_UTIL_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// The variables that occur in an expression, in ascending order. Dimension i has the number i,
// symbol j the number num_dims + j.
llvm::SmallVector<int, 4> VariablesOf(mlir::AffineExpr expr, int num_dims);

// Whether a symbol occurs in an expression. As AffineExpr::isFunctionOfSymbol(), which takes several
// times as long, since it makes an expression of the symbol for each variable that it meets.
bool HasSymbol(mlir::AffineExpr expr, int symbol);

// The value of an expression that is a constant; none for others and null.
std::optional<int64_t> ConstantIn(mlir::AffineExpr expr);

// Sets the bits of the symbols that occur in an expression; symbols past the end of `used` are left
// out.
void MarkSymbols(mlir::AffineExpr expr, llvm::BitVector* used);

// Negative, zero or positive as `a` stands before, with or after `b`. A total order on the
// expressions that affine/expr/build.h makes: that of summands, constants by their value.
int CompareExprs(mlir::AffineExpr a, mlir::AffineExpr b);

// Likewise of intervals: by lower, then by upper bounds. The empty one comes first, infinite bounds
// are less or greater than all others.
int CompareIntervals(const Interval& a, const Interval& b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_EXPR_UTIL_H_
