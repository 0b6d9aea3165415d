// Writing a sum of atoms as an expression.
#ifndef XLA_INDEXING_AFFINE_EXPR_WRITE_SUM_H_
#define XLA_INDEXING_AFFINE_EXPR_WRITE_SUM_H_

#include <cstddef>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/sum.h"

namespace xla_indexing::internal {

// The left-nested sum of the terms as they stand, written with the expressions of their atoms. Null
// where an atom has none, or where the sum is invalid or longer than affine/expr/build.h allows.
template <typename Atom, typename ExprOfAtom>
mlir::AffineExpr WriteSum(const Sum<Atom>& sum, mlir::MLIRContext* context,
                          ExprOfAtom expr_of_atom) {
  if (!sum.valid() || sum.terms().size() > static_cast<size_t>(kMaxSummands)) return {};
  mlir::AffineExpr result;
  for (const auto& term : sum.terms()) {
    mlir::AffineExpr summand = expr_of_atom(term.atom);
    if (!summand) return {};
    if (term.coefficient != 1) {
      summand = mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::Mul, summand,
                                            mlir::getAffineConstantExpr(term.coefficient, context));
    }
    result =
        result ? mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::Add, result, summand) : summand;
  }
  if (!result) return mlir::getAffineConstantExpr(sum.constant(), context);
  if (sum.constant() == 0) return result;
  return mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::Add, result,
                                     mlir::getAffineConstantExpr(sum.constant(), context));
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_WRITE_SUM_H_
