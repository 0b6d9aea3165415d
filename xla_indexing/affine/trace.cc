#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/affine/simplifier.h"

namespace xla_indexing {

void ExprSimplifier::TraceDivision(mlir::AffineExprKind kind, const DigitSum& digits, int64_t m,
                                   const char* rule, const DigitSum& result) {
  if (rule == nullptr || !result.valid()) return;
  // Expressions are written without being looked at again, which would be traced.
  const mlir::AffineExpr dividend = Written(digits).ToExpr(context_);
  const mlir::AffineExpr after = Written(result).ToExpr(context_);
  if (!dividend || !after) return;
  const mlir::AffineExpr before =
      mlir::getAffineBinaryOpExpr(kind, dividend, mlir::getAffineConstantExpr(m, context_));
  if (before != after) trace_->push_back({rule, before, after});
}

void ExprSimplifier::TraceSum(const char* rule, const DigitSum& before, const DigitSum& after) {
  const mlir::AffineExpr from = Written(before).ToExpr(context_);
  const mlir::AffineExpr to = Written(after).ToExpr(context_);
  if (from && to && from != to) trace_->push_back({rule, from, to});
}

}  // namespace xla_indexing
