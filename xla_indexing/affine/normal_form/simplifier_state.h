// What the rules of the normal form work with (affine/normal_form/simplifier.h): what is known of the
// variables, the atoms that were made, what sums were found to be, and how much work is left.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_STATE_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_STATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/node_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/assumptions.h"
#include "xla_indexing/affine/normal_form/atom_table.h"
#include "xla_indexing/affine/normal_form/expr_writer.h"
#include "xla_indexing/affine/normal_form/rule_tracer.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {

// How much work a simplifier may do: a fixed number of steps of a few microseconds, and no more than
// the question that is asked has left (base/question_budget.h). What comes after stays as it is.
class WorkLimit {
 public:
  // Whether a step on a sum of that many terms may be taken. Terms are looked for one by one, so
  // that a step on a long sum counts as the square of its length.
  bool Take(size_t terms) {
    constexpr int kMaxSteps = 50000;
    constexpr int64_t kTermsOfStep = 64;
    constexpr int64_t kUnitsAtOnce = 8;
    const auto length = static_cast<int64_t>(terms) / kTermsOfStep;
    units_ += 1 + length + length * length;
    if (++steps_ > kMaxSteps || is_spent_) return false;
    if (units_ >= kUnitsAtOnce) {
      is_spent_ = !QuestionBudget::Spend(units_);
      units_ = 0;
    }
    return !is_spent_;
  }

 private:
  int steps_ = 0;
  int64_t units_ = 0;  // that the budget of the question has not been asked for yet
  bool is_spent_ = false;
};

// The forms of one sum without mods (sum_forms.cc).
struct SumForms {
  QuasiAffineSum shortest;
  QuasiAffineSum digits;
  Interval range = Interval::All();
};

struct SimplifierState {
  // Starts anew, with nothing but the memory that was taken.
  void Start(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
             llvm::ArrayRef<Interval> symbols) {
    Forget();
    atoms.Clear();
    known.Start(dims, symbols);
    writer = ExprWriter(context, &atoms);
    tracer.Start(context);
    work = WorkLimit();
  }

  // Whether a sum may be divided: divisions may nest so deep, and take so much work.
  bool MayDivide(const QuasiAffineSum& dividend) {
    constexpr int kMaxDepth = 128;
    return work.Take(dividend.terms().size()) && division_depth < kMaxDepth;
  }

  // Forgets what was found out, since more is assumed now. Atoms stay where they are.
  void Forget() {
    atoms.Forget();
    forms.clear();
    last_dividend = {};
  }

  Assumptions known;
  AtomTable atoms;
  ExprWriter writer{nullptr, &atoms};
  RuleTracer tracer;
  WorkLimit work;
  // How deep divisions, the unnesting of floors in them, and ranges nest at the moment.
  int division_depth = 0;
  int unnesting_depth = 0;
  int range_depth = 0;

  absl::node_hash_map<QuasiAffineSum, SumForms> forms;  // by the mod-free form
  // The sum that was divided last, and what it is; null if none was.
  mlir::AffineExpr last_dividend;
  QuasiAffineSum last_evaluated;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_STATE_H_
