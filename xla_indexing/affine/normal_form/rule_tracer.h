// Writes down the steps of a simplifier (affine/rule_trace.h), if it is told to. Tracing looks on:
// it builds expressions of its own and leaves nothing behind that a later step could find, so that
// results are equal with and without it.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_RULE_TRACER_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_RULE_TRACER_H_

#include <cstdint>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/rule_trace.h"

namespace xla_indexing::internal {

class RuleTracer {
 public:
  // Forgets what it has seen; nothing is traced at first.
  void Start(mlir::MLIRContext* context) {
    context_ = context;
    trace_ = nullptr;
    exprs_.clear();
    summands_ = 0;
    is_full_ = false;
  }

  // From now on steps are added to `trace`; null ends that.
  void TraceTo(RuleTrace* trace) { trace_ = trace; }
  bool is_on() const { return trace_ != nullptr; }

  void AddStep(const RuleStep& step) { trace_->push_back(step); }
  // dividend floordiv m or dividend mod m has become `result`. A null rule is no step.
  void AddDivision(Atom::Kind kind, const QuasiAffineSum& dividend, int64_t m, const char* rule,
                   const QuasiAffineSum& result);
  void AddSum(const char* rule, const QuasiAffineSum& before, const QuasiAffineSum& after);
  // That a sum is written as an expression.
  void AddWritten(const char* rule, const QuasiAffineSum& sum, mlir::AffineExpr written);

 private:
  bool HasRoom();
  // The expressions as they are written; null past the bounds of a trace.
  mlir::AffineExpr ExprOf(const Atom* atom);
  mlir::AffineExpr ExprOf(const QuasiAffineSum& sum);

  mlir::MLIRContext* context_ = nullptr;
  RuleTrace* trace_ = nullptr;
  llvm::DenseMap<const Atom*, mlir::AffineExpr> exprs_;
  int64_t summands_ = 0;
  bool is_full_ = false;
};

inline mlir::AffineExprKind ExprKindOf(Atom::Kind kind) {
  return kind == Atom::Kind::kMod ? mlir::AffineExprKind::Mod : mlir::AffineExprKind::FloorDiv;
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_RULE_TRACER_H_
