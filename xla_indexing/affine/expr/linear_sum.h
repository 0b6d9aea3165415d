// A sum of integer multiples of atoms, and the order in which sums are written.
//
// Mathematics. Every affine expression is  c + sum_i k_i * a_i  with int64 c, non-zero int64 k_i
// and distinct atoms a_i. An atom is a dimension, a symbol, a floordiv or a mod. `LinearSum` is
// that sum; `ToExpr` writes it as the left-nested `mlir::AffineExpr` in summand order, which is the
// only tree of sums that this library builds, so equal sums become the same pointer.
//
// Summand order: atoms that contain a dimension (plain, then floordiv, then mod), then atoms
// without one (symbols, then floordiv, then mod), the constant last. Within a class: by position,
// and for floordiv and mod by dividend (compared summand by summand), then divisor.
// `mlir::AffineExpr` keeps this order.
//
//   LinearSum sum = LinearSum::FromExpr(e);   // (d1 mod 2) * 4 + d2  ->  d2 + (d1 mod 2) * 4
//   sum.AddTerm(d0, 3);
//   AffineExpr r = sum.ToExpr(context);       // d0 * 3 + d2 + (d1 mod 2) * 4; null on overflow
//
// Overflow of a coefficient or of the constant makes a sum invalid; it stays so and `ToExpr` gives
// null.
#ifndef XLA_INDEXING_AFFINE_EXPR_LINEAR_SUM_H_
#define XLA_INDEXING_AFFINE_EXPR_LINEAR_SUM_H_

#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/sum.h"

namespace xla_indexing::internal {

using Term = Sum<mlir::AffineExpr>::Term;

class LinearSum : public Sum<mlir::AffineExpr> {
 public:
  using Sum::Sum;
  static LinearSum Of(mlir::AffineExpr atom, int64_t coefficient = 1);
  static LinearSum Invalid();

  // Flattens additions and multiplications by constants; floordiv and mod become atoms as they are.
  // ceildiv and products of two variables make the sum invalid.
  static LinearSum FromExpr(mlir::AffineExpr e);

  void Sort();
  // Null when invalid or longer than the bounds of affine/expr/build.h. Sorts.
  mlir::AffineExpr ToExpr(mlir::MLIRContext* context);
};

// A dimension or a symbol.
inline bool IsVariable(mlir::AffineExpr e) {
  return e.getKind() == mlir::AffineExprKind::DimId ||
         e.getKind() == mlir::AffineExprKind::SymbolId;
}

// Whether summand `a` is written before summand `b`; a strict weak order on expressions.
bool SummandLess(mlir::AffineExpr a, mlir::AffineExpr b);

// The classes of summands, in the order in which they are written.
enum class SummandClass : uint8_t {
  kDim,
  kDimFloorDiv,
  kDimMod,
  kSymbol,
  kFloorDiv,
  kMod,
  kConstant
};
SummandClass SummandClassOf(mlir::AffineExpr atom);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_LINEAR_SUM_H_
