#include "xla_indexing/affine/internal/expr_size.h"

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

ExprSize SizeOf(mlir::AffineExpr e) {
  ExprSize size;
  llvm::SmallVector<mlir::AffineExpr, 16> pending = {e};
  while (!pending.empty()) {
    const mlir::AffineExpr next = pending.pop_back_val();
    if (++size.nodes > kMostNodes) return {kMostNodes, kMostNodes, 0};
    if (const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(next)) {
      size.divisions += next.getKind() == mlir::AffineExprKind::FloorDiv ||
                        next.getKind() == mlir::AffineExprKind::Mod ||
                        next.getKind() == mlir::AffineExprKind::CeilDiv;
      pending.push_back(binary.getLHS());
      pending.push_back(binary.getRHS());
    } else if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(next)) {
      size.greatest = std::max(size.greatest, MagnitudeOf(constant.getValue()));
    }
  }
  return size;
}

}  // namespace xla_indexing::internal
