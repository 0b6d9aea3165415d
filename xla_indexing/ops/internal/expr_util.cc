#include "xla_indexing/ops/internal/expr_util.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/linear_sum.h"

namespace xla_indexing::internal {
namespace {

// The bound on the terms of an expression (affine/internal/build.h) bounds the walk too.
template <typename VariableExpr>
void MarkVariables(mlir::AffineExpr expr, llvm::BitVector* used) {
  expr.walk([used](mlir::AffineExpr e) {
    if (auto variable = llvm::dyn_cast<VariableExpr>(e)) {
      if (variable.getPosition() < used->size()) used->set(variable.getPosition());
    }
  });
}

}  // namespace

void MarkSymbols(mlir::AffineExpr expr, llvm::BitVector* used) {
  MarkVariables<mlir::AffineSymbolExpr>(expr, used);
}

void MarkDims(mlir::AffineExpr expr, llvm::BitVector* used) {
  MarkVariables<mlir::AffineDimExpr>(expr, used);
}

int CompareExprs(mlir::AffineExpr a, mlir::AffineExpr b) {
  if (a == b) return 0;
  auto constant_a = llvm::dyn_cast<mlir::AffineConstantExpr>(a);
  auto constant_b = llvm::dyn_cast<mlir::AffineConstantExpr>(b);
  if (constant_a && constant_b) return constant_a.getValue() < constant_b.getValue() ? -1 : 1;
  if (SummandLess(a, b)) return -1;
  return SummandLess(b, a) ? 1 : 0;
}

}  // namespace xla_indexing::internal
