// Checked construction of affine expressions.
//
// `mlir::AffineExpr`'s own operators wrap silently on int64 overflow and keep whatever tree they
// are given. The functions here are the only place of the library that calls them: constants are
// checked first, and every sum that comes out is the left-nested sum in summand order
// (affine/expr/linear_sum.h), so that two sums of the same summands are the same pointer.
//
// A null expression means: the result has a constant that does not fit int64, a divisor below 1,
// more than `kMaxSummands` summands or nests deeper than `kMaxExprDepth`. Null operands give null,
// so that a chain of calls needs one check at its end.
//
//   AffineExpr d0 = mlir::getAffineDimExpr(0, context);
//   AffineExpr e = Add(Scale(d0, 8), Constant(3, context));   // d0 * 8 + 3
//   AffineExpr q = FloorDiv(e, 4);                            // (d0 * 8 + 3) floordiv 4
//   AffineExpr bad = Scale(e, int64_t{1} << 62);              // null
#ifndef XLA_INDEXING_AFFINE_EXPR_BUILD_H_
#define XLA_INDEXING_AFFINE_EXPR_BUILD_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

// MLIR walks expressions recursively; these bounds keep every such walk small.
inline constexpr int kMaxExprDepth = 256;
inline constexpr int kMaxSummands = 4096;

mlir::AffineExpr Constant(int64_t value, mlir::MLIRContext* context);

// factor * expr.
struct Summand {
  mlir::AffineExpr expr;
  int64_t factor = 1;
};

// The sum of at least one summand and the constant, without the expressions of parts of it. Null if
// a summand is, or where there is no constant.
mlir::AffineExpr LinearCombination(llvm::ArrayRef<Summand> summands,
                                   std::optional<int64_t> constant = 0);

// a + b and a - b.
mlir::AffineExpr Add(mlir::AffineExpr a, mlir::AffineExpr b);
mlir::AffineExpr Sub(mlir::AffineExpr a, mlir::AffineExpr b);

// factor * e, distributed over the sum e.
mlir::AffineExpr Scale(mlir::AffineExpr e, int64_t factor);

// floor(e / divisor), ceil(e / divisor) = -floor(-e / divisor), and the remainder
// e - divisor * floor(e / divisor). Divisors are positive.
mlir::AffineExpr FloorDiv(mlir::AffineExpr e, int64_t divisor);
mlir::AffineExpr CeilDiv(mlir::AffineExpr e, int64_t divisor);
mlir::AffineExpr Mod(mlir::AffineExpr e, int64_t divisor);

// e with dimension i replaced by dims[i] and symbol j by symbols[j]. Null entries keep the
// variable; variables beyond the lists stay too. Shared subexpressions are visited once.
mlir::AffineExpr Substitute(mlir::AffineExpr e, llvm::ArrayRef<mlir::AffineExpr> dims,
                            llvm::ArrayRef<mlir::AffineExpr> symbols);

// Whether the dividend e has at most kMaxSummands summands in all, those of its own dividends
// counted, and nests less than kMaxExprDepth deep. MLIR walks every occurrence of a shared
// subexpression anew, so occurrences are counted here too. With `depth`, e is measured as if it
// stood below that many other divisions.
bool IsSmallDividend(mlir::AffineExpr e, int depth = 0);

// e floordiv divisor or e mod divisor, where e is small and the divisor positive.
mlir::AffineExpr DivideSmall(mlir::AffineExprKind kind, mlir::AffineExpr e, int64_t divisor);

// The nesting depth of e: 0 for variables and constants, one more for each floordiv or mod above
// it.
int DivisionDepth(mlir::AffineExpr e);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_BUILD_H_
