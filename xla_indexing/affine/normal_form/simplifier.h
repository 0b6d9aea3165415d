// The normal form of quasi-affine expressions over variables with known intervals.
//
// Mathematics. An expression is a sum of integer multiples of *atoms*: variables, floors floor(Y / m)
// and mods Y mod n, whose dividends are such sums themselves. A floor or a mod is made only where no
// rule takes it apart; affine/normal_form/rules.h says in which file each rule stands. Each is an
// equality at every point of the variables' intervals, under its side condition. With T = floor(X /
// n) the definition of mod,
//
//   X = (X mod n) + n*T,
//
// joins atoms wherever they meet in a sum. Read as an elimination of all mods it gives the *mod-free
// form*: an integer combination of variables and floors alone, in which equal sums cancel by linear
// algebra. The result is written with as few divisions as the forms of the sum allow.
// docs/simplifier.md goes through all of it.
//
// Ranges and residue classes of values decide which rules hold: those of the variables, those that
// coefficients give, and what Assume() says of sums, such as that d0 is even. Atoms of one sum need
// not be independent: x - 6*floor(x / 6), which is x mod 6, has the range [0, 5] and not the
// difference of two ranges.
//
// One pass, bottom up; atoms, their ranges and the results for subexpressions are cached in the
// object, so one object should serve all expressions of one domain.
//
//   ExprSimplifier simplifier(context, {Interval::Closed(0, 6), Interval::Closed(0, 14)}, {});
//   simplifier.Simplify(d0 + d1 floordiv 16)   // d0
//   simplifier.Range((d0 * 15 + d1) mod 4)     // [0, 3]
//   simplifier.Assume(LinearSum::Of(d0), Congruence::Of(0, 2));
//   simplifier.Simplify((d0 floordiv 2) * 2)   // d0
//
// Bounds. An object does at most a fixed amount of work (affine/normal_form/simplifier_state.h); what
// comes after is left as it is. Expressions beyond the bounds of affine/expr/build.h are not
// made.
//
// Errors. Where a number of a rule would not fit int64 the rule is not applied; where even a
// coefficient of the result would not, the expression comes back as it was. Results are equal at
// every point of the intervals (as mathematical integers).
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_H_

#include <cstdint>
#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing::internal {

struct SimplifierState;

class ExprSimplifier {
 public:
  // dims[i] and symbols[j] are the intervals of the variables; all must be non-empty. Variables
  // beyond the lists are unbounded. A variable of one value is replaced by it.
  ExprSimplifier(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims,
                 llvm::ArrayRef<Interval> symbols);
  ~ExprSimplifier();

  ExprSimplifier(const ExprSimplifier&) = delete;
  ExprSimplifier& operator=(const ExprSimplifier&) = delete;

  mlir::MLIRContext* context() const { return context_; }

  // The normal form of `e`; `e` itself, with its summands in order, where that has fewer divisions, or is
  // shorter (affine/expr/expr_size.h) than a form that would not be simplified to itself.
  mlir::AffineExpr Simplify(mlir::AffineExpr e);

  // An interval that contains every value of `e`; the hull of them for sums of independent digits.
  Interval Range(mlir::AffineExpr e);

  // The least residue class known to contain every value of `e`.
  Congruence Residues(mlir::AffineExpr e);

  // Adds the fact that `sum` is in `residues` (neither empty nor a single value), or that it is in
  // `interval`. Quasi-affine sums made before become meaningless.
  void Assume(const LinearSum& sum, const Congruence& residues);
  void Assume(const LinearSum& sum, const Interval& interval);

  // From now on records every use of a rule that changes something in `trace`; null ends that.
  // Results that are cached already are not recorded again. Results do not depend on tracing.
  void TraceTo(RuleTrace* trace);

  // --- Quasi-affine sums, for callers that compose or do linear algebra

  // Invalid on overflow.
  QuasiAffineSum Evaluate(mlir::AffineExpr e);
  QuasiAffineSum Evaluate(const LinearSum& sum);

  // The expression of a sum; null when the sum is invalid.
  mlir::AffineExpr ToExpr(const QuasiAffineSum& sum);
  Interval RangeOf(const QuasiAffineSum& sum);
  // The ends of this range may exceed int64.
  WideInterval WideRangeOf(const QuasiAffineSum& sum);
  Congruence ResiduesOf(const QuasiAffineSum& sum) const;

  // The sum over the expressions of its atoms, as it is; invalid past the bounds of
  // affine/expr/build.h.
  LinearSum Written(const QuasiAffineSum& sum);
  // The atom that an expression in normal form is; null if it is none.
  const Atom* AtomOf(mlir::AffineExpr e);

  // floor(sum / divisor) and sum mod divisor, divisor >= 1.
  QuasiAffineSum FloorDivide(const QuasiAffineSum& sum, int64_t divisor);
  QuasiAffineSum Modulo(const QuasiAffineSum& sum, int64_t divisor);

 private:
  QuasiAffineSum EvaluateDivision(mlir::AffineExpr division);
  QuasiAffineSum EvaluateDividend(mlir::AffineExpr dividend);
  mlir::AffineExpr ShorterAsItWas(mlir::AffineExpr e, const QuasiAffineSum& sum,
                                  mlir::AffineExpr result);
  mlir::AffineExpr Sorted(mlir::AffineExpr e);

  mlir::MLIRContext* context_;
  std::unique_ptr<SimplifierState> state_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_SIMPLIFIER_H_
