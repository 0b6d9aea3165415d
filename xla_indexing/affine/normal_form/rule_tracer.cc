#include "xla_indexing/affine/normal_form/rule_tracer.h"

#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/rule_trace.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

// Divisions nest less deep in an atom's dividend, so that the recursion ends.
AffineExpr RuleTracer::ExprOf(const Atom* atom) {
  if (atom->written.expr) return atom->written.expr;
  if (const AffineExpr known = exprs_.lookup(atom)) return known;
  const AffineExpr dividend = ExprOf(atom->written.dividend);
  if (!dividend) return {};
  const AffineExpr expr = mlir::getAffineBinaryOpExpr(
      ExprKindOf(atom->kind), dividend, mlir::getAffineConstantExpr(atom->divisor, context_));
  exprs_[atom] = expr;
  return expr;
}

AffineExpr RuleTracer::ExprOf(const QuasiAffineSum& sum) {
  if (!sum.valid()) return {};
  int64_t summands = 0;
  for (const AtomTerm& term : sum.terms()) summands += term.atom->written.summands;
  summands_ += summands;
  if (summands > kMaxTracedSummands) return {};
  LinearSum written(sum.constant());
  for (const AtomTerm& term : sum.terms()) {
    const AffineExpr atom = ExprOf(term.atom);
    if (!atom) return {};
    written.AddTerm(atom, term.coefficient);
  }
  return written.ToExpr(context_);
}

bool RuleTracer::HasRoom() {
  if (trace_->size() < kMaxTracedSteps && summands_ < kMaxTracedSummandsInAll) return true;
  if (!is_full_) trace_->push_back({"more steps are not written down"});
  is_full_ = true;
  return false;
}

void RuleTracer::AddDivision(Atom::Kind kind, const QuasiAffineSum& dividend, int64_t m,
                             const char* rule, const QuasiAffineSum& result) {
  if (rule == nullptr || !HasRoom()) return;
  const AffineExpr from = ExprOf(dividend);
  const AffineExpr after = ExprOf(result);
  if (!from || !after) return;
  const AffineExpr before =
      mlir::getAffineBinaryOpExpr(ExprKindOf(kind), from, mlir::getAffineConstantExpr(m, context_));
  if (before != after) trace_->push_back({rule, before, after});
}

void RuleTracer::AddSum(const char* rule, const QuasiAffineSum& before,
                        const QuasiAffineSum& after) {
  if (before == after || !HasRoom()) return;
  const AffineExpr from = ExprOf(before);
  const AffineExpr to = ExprOf(after);
  if (from && to && from != to) trace_->push_back({rule, from, to});
}

void RuleTracer::AddWritten(const char* rule, const QuasiAffineSum& sum, AffineExpr written) {
  if (!HasRoom()) return;
  const AffineExpr from = ExprOf(sum);
  if (from && from != written) trace_->push_back({rule, from, written});
}

}  // namespace xla_indexing::internal
