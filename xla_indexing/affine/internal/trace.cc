// What is written down as a trace. Tracing looks on: it builds expressions of its own and leaves
// nothing behind that a later step could find, so that results are the same with and without it.
#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/affine/rule_trace.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// What ExprOf(atom) is or will be. Divisions nest less deep in an atom's dividend.
AffineExpr ExprSimplifier::ExprForTrace(const DigitAtom* atom) {
  if (atom->expr) return atom->expr;
  if (const AffineExpr known = exprs_for_trace_.lookup(atom)) return known;
  const AffineExpr dividend = ExprForTrace(atom->written_dividend);
  if (!dividend) return {};
  const auto kind = atom->IsMod() ? AffineExprKind::Mod : AffineExprKind::FloorDiv;
  const AffineExpr expr = mlir::getAffineBinaryOpExpr(
      kind, dividend, mlir::getAffineConstantExpr(atom->divisor, context_));
  exprs_for_trace_[atom] = expr;
  return expr;
}

AffineExpr ExprSimplifier::ExprForTrace(const QuasiAffineSum& digits) {
  if (!digits.valid()) return {};
  int64_t summands = 0;
  for (const DigitTerm& term : digits.terms()) summands += term.atom->summands;
  traced_summands_ += summands;
  if (summands > kMaxTracedSummands) return {};
  LinearSum sum(digits.constant());
  for (const DigitTerm& term : digits.terms()) {
    const AffineExpr atom = ExprForTrace(term.atom);
    if (!atom) return {};
    sum.AddTerm(atom, term.coefficient);
  }
  return sum.ToExpr(context_);
}

bool ExprSimplifier::MayTrace() {
  if (trace_->size() < kMaxTracedSteps && traced_summands_ < kMaxTracedSummandsInAll) return true;
  if (!is_trace_full_) trace_->push_back({"more steps are not written down"});
  is_trace_full_ = true;
  return false;
}

void ExprSimplifier::TraceDivision(AffineExprKind kind, const QuasiAffineSum& digits, int64_t m,
                                   const char* rule, const QuasiAffineSum& result) {
  if (rule == nullptr || !MayTrace()) return;
  const AffineExpr dividend = ExprForTrace(digits);
  const AffineExpr after = ExprForTrace(result);
  if (!dividend || !after) return;
  const AffineExpr before =
      mlir::getAffineBinaryOpExpr(kind, dividend, mlir::getAffineConstantExpr(m, context_));
  if (before != after) trace_->push_back({rule, before, after});
}

void ExprSimplifier::TraceSum(const char* rule, const QuasiAffineSum& before,
                              const QuasiAffineSum& after) {
  if (before == after || !MayTrace()) return;
  const AffineExpr from = ExprForTrace(before);
  const AffineExpr to = ExprForTrace(after);
  if (from && to && from != to) trace_->push_back({rule, from, to});
}

}  // namespace xla_indexing::internal
