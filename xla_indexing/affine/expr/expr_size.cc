#include "xla_indexing/affine/expr/expr_size.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AffineExpr.h"

namespace xla_indexing::internal {

namespace {

std::string TextOf(mlir::AffineExpr e) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  e.print(stream);
  return text;
}

}  // namespace

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

bool ComesBefore(mlir::AffineExpr a, mlir::AffineExpr b) {
  if (a == b) return false;
  const ExprSize size_a = SizeOf(a);
  const ExprSize size_b = SizeOf(b);
  return size_a != size_b ? size_a < size_b : TextOf(a) < TextOf(b);
}

}  // namespace xla_indexing::internal
