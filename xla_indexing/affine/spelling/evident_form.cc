#include "xla_indexing/affine/spelling/evident_form.h"

#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/linear_sum.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// The atom of a summand, or null if it is multiplied by anything but a constant.
AffineExpr AtomOfSummand(AffineExpr summand) {
  if (summand.getKind() != AffineExprKind::Mul) return summand;
  const auto product = llvm::cast<AffineBinaryOpExpr>(summand);
  return llvm::isa<AffineConstantExpr>(product.getRHS()) ? product.getLHS() : AffineExpr();
}

}  // namespace

bool IsEvidentForm(AffineExpr expr, llvm::function_ref<const Interval*(AffineExpr)> range_of) {
  if (expr.getKind() == AffineExprKind::Constant) return true;
  AffineExpr next;  // the variable after the one that is looked at
  for (bool is_last = true; expr; is_last = false) {
    AffineExpr summand = expr;
    expr = {};
    if (summand.getKind() == AffineExprKind::Add) {
      const auto sum = llvm::cast<AffineBinaryOpExpr>(summand);
      expr = sum.getLHS();
      summand = sum.getRHS();
      if (is_last && summand.getKind() == AffineExprKind::Constant) continue;
    }
    const AffineExpr variable = AtomOfSummand(summand);
    if (!variable || !IsVariable(variable)) return false;
    const Interval* range = range_of(variable);
    if (range == nullptr || range->IsPoint() || (next && !SummandLess(variable, next)))
      return false;
    next = variable;
  }
  return true;
}

}  // namespace xla_indexing::internal
