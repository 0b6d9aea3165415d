// The normal form of quasi-affine expressions over variables with known intervals.
//
// Mathematics. An expression is a sum of integer multiples of *digits*: variables, floor atoms
// T = floor(Y / m) and mod atoms M = X mod n, with dividends that are sums of digits themselves. A
// floor atom is made only after these rules, each exact for all integers under its side condition:
//
//   floor((m*Q + R) / m) = Q + floor(R / m)
//   floor((g*H + L) / m) = floor((H + t) / (m/g))           g | m, L in [t*g, t*g + g - 1]
//   floor((c*(X mod n) + R) / m)
//       = floor((c*X + R) / m) - (c*n/m) * floor(X / n)     m | c*n
//   floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m))  a*m fits int64
//   floor(-X / m) = -floor((X - 1) / m) - 1                 the leading coefficient is > 0
//
// with coefficients reduced to (-m/2, m/2], or to [0, m - 1] where they cannot all be positive, and
// the constant shifted so that the least value of the dividend is in [0, m - 1]; a mod atom
// likewise. With T = floor(X / n) the definition of mod,
//
//   X = (X mod n) + n * T,
//
// joins digits of one expression wherever they meet in a sum (digits.cc). Read as an elimination of
// all mods it gives the *mod-free form*: an integer combination of variables and floor atoms alone, in
// which equal sums cancel by linear algebra. The result is written with as few summands as the
// mod-free form and its digits allow. docs/simplifier.md goes through all of it.
//
// Ranges. Digits of one expression are independent, so x - 6 * floor(x / 6), which is x mod 6, has
// the range [0, 5] and not the difference of two ranges.
//
// Congruences. Besides intervals, values have residue classes: from coefficients, and from what
// Assume() says of sums, such as that d0 is even. They feed the same decisions:
//
//   X mod m = r                                        X = r (mod m)
//   floor(X / m) = floor((X - r) / m)                  X = r (mod g), g | m, r in [0, g - 1]
//   k*floor(X / m) = s*floor(X / m) + q*(X - r)        X = r (mod m), k = q*m + s
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
// Bounds. An object does at most a fixed amount of work (kMaxWork steps of a few microseconds,
// nested at most kMaxRecursion deep), and no more than the question that is asked has steps left
// (base/question_budget.h); what comes after is left as it is. Expressions beyond the
// bounds of affine/internal/build.h are not made.
//
// Errors. Where a number of a rule would not fit int64 the rule is not applied; where even a
// coefficient of the result would not, the expression comes back as it was. Results are equal at
// every point of the intervals (as mathematical integers).
#ifndef XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_H_
#define XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/division.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/quasi_affine_sum.h"
#include "xla_indexing/affine/internal/simplifier_memory.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/internal/congruence.h"
#include "xla_indexing/base/internal/wide_interval.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

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

  // The normal form of `e`; `e` itself, but for the constants of its dividends, where the form
  // would have more divisions.
  mlir::AffineExpr Simplify(mlir::AffineExpr e);

  // An interval that contains every value of `e`; the hull of them for sums of independent digits.
  Interval Range(mlir::AffineExpr e);

  // The least residue class known to contain every value of `e`.
  Congruence Residues(mlir::AffineExpr e);

  // Adds the fact that `sum` is in `residues` (neither empty nor a single value). Sums of digits
  // made before become meaningless. Facts that contradict each other make no result wrong, since
  // the domain then has no point.
  void Assume(const LinearSum& sum, const Congruence& residues);

  // Adds the fact that `sum` is in `interval`, likewise.
  void Assume(const LinearSum& sum, const Interval& interval);

  // From now on records every use of a rule that changes something in `trace`; null ends that.
  // Results that are cached already are not recorded again. Results do not depend on tracing.
  void TraceTo(RuleTrace* trace) { trace_ = trace; }

  // --- Sums of digits, for callers that compose or do linear algebra

  // `e` as a sum of digits; invalid on overflow.
  QuasiAffineSum Evaluate(mlir::AffineExpr e);
  QuasiAffineSum Evaluate(const LinearSum& sum);

  // The expression of a sum of digits; null when the sum is invalid.
  mlir::AffineExpr ToExpr(const QuasiAffineSum& digits);
  Interval RangeOf(const QuasiAffineSum& digits);
  // Like RangeOf, with ends that may exceed int64.
  WideInterval WideRangeOf(const QuasiAffineSum& digits);
  Congruence ResiduesOf(const QuasiAffineSum& digits) const;
  // The sum without mod atoms. Equal functions have equal mod-free forms as far as linear algebra can
  // tell.
  QuasiAffineSum ModFreeForm(const QuasiAffineSum& digits) const;

  // The sum over the expressions of its atoms, as it is; invalid past the bounds of
  // affine/internal/build.h.
  LinearSum Written(const QuasiAffineSum& digits);
  // The atom that an expression in normal form is; null where it is none.
  const DigitAtom* AtomOf(mlir::AffineExpr e);

  // floor(sum / divisor) and sum mod divisor, divisor >= 1.
  QuasiAffineSum FloorDivide(const QuasiAffineSum& digits, int64_t divisor);
  QuasiAffineSum Modulo(const QuasiAffineSum& digits, int64_t divisor);

 private:
  mlir::AffineExpr WithShiftedConstants(mlir::AffineExpr e);
  // sum += coefficient * variable.
  void AddVariable(QuasiAffineSum& sum, const Term& term);
  // Evaluates a floordiv or mod expression.
  QuasiAffineSum EvaluateAtom(mlir::AffineExpr atom);
  QuasiAffineSum EvaluateDividend(mlir::AffineExpr dividend);
  // A new atom that has no dividend and is not in any table.
  DigitAtom* NewAtom(DigitAtom::Kind kind);
  void Remember(mlir::AffineExpr atom, const QuasiAffineSum& sum);
  QuasiAffineSum OpaqueAtom(mlir::AffineExpr atom);
  // Like ModFreeForm(digits); uses `eliminated` as storage where the mod-free form differs from
  // `digits`.
  static const QuasiAffineSum& ModFreeForm(const QuasiAffineSum& digits,
                                           QuasiAffineSum& eliminated);
  Interval RangeOfVariable(mlir::AffineExpr variable) const;
  Interval SumOfRanges(const QuasiAffineSum& sum) const;
  Interval RangeOfFloorForm(const QuasiAffineSum& mod_free_form);

  // Congruences (residues.cc).
  // The fact that `sum`, a variable or a sum of digits without a constant, is in `residues`.
  struct Fact {
    QuasiAffineSum sum;
    Congruence residues;
  };
  // The fact that `sum` is in `interval`.
  struct Bound {
    QuasiAffineSum sum;
    Interval interval;
  };
  QuasiAffineSum AssumedSum(const LinearSum& sum, int64_t* constant);
  Congruence StructuralResidues(const QuasiAffineSum& digits) const;
  void ReduceToResidue(Division& division, int64_t m) const;
  bool ReplaceExactDivision(QuasiAffineSum& sum) const;

  // Division (floor_division.cc). The functions return the rule that applied, null where none did.
  // The result, which is large, is made where the caller wants it: it has to be an empty sum
  // before.
  const char* FloorDivideByRule(const QuasiAffineSum& digits, int64_t m, QuasiAffineSum& result);
  const char* ModuloByRule(const QuasiAffineSum& digits, int64_t m, QuasiAffineSum& result);
  static bool LinearInTwoValues(const QuasiAffineSum& digits,
                                llvm::function_ref<int64_t(int64_t)> f, QuasiAffineSum& result);
  const char* FloorOfNormal(Division& division, int64_t m, QuasiAffineSum& result);
  const char* ModuloOfSplit(const DivisionSplit& split, int64_t m, QuasiAffineSum& result);
  const char* ModuloOfNormal(Division& division, int64_t m, QuasiAffineSum& result);
  // How the sum was divided when its floor was taken; its mod is found in the same way. Null where
  // it was not divided yet, or where the mod cannot be told from that.
  KnownDivision* FindDivision(const QuasiAffineSum& digits, int64_t m);
  KnownDivision* RememberDivision(const QuasiAffineSum& digits, int64_t m, bool is_split);
  // Whether there are no facts, so that every point of the box of the variables counts.
  bool HasNoAssumptions() const { return facts_.empty() && bounds_.empty(); }
  const Interval& RangeOfRest(Division& division);
  static void MoveConstantToQuotient(Division& division, int64_t amount, int64_t m);
  static void ExtractMultiples(Division& division, int64_t m);
  static bool ReduceResidues(Division& division, int64_t m);
  bool DropCoarserMods(Division& division, int64_t m);
  // Each returns whether there is a split.
  bool SplitWithoutCarry(Division& division, int64_t m, DivisionSplit& split);
  bool SplitByRadix(const QuasiAffineSum& rest, int64_t m, DivisionSplit& split);
  bool Normalize(Division& division, int64_t m, DivisionSplit& split);
  bool ChooseMods(Division& division, int64_t m);
  bool UnnestDivision(const Division& division, int64_t m, QuasiAffineSum& result);
  static void Negate(Division& division);
  static void NormalizeSignAndResidues(Division& division, int64_t m);
  void ShiftConstant(Division& division, int64_t m);

  // Atoms (atoms.cc).
  const DigitAtom* FindAtom(DigitAtom::Kind kind, const QuasiAffineSum& dividend_mod_free_form,
                            int64_t m, size_t hash) const;
  const DigitAtom* FindIrreducible(DigitAtom::Kind kind, const QuasiAffineSum& digits,
                                   int64_t m) const;
  bool IsIrreducible(const Division& division) const;
  static const QuasiAffineSum* NumberOfMod(const DigitAtom& mod);
  bool ChooseWrittenDividend(const QuasiAffineSum& dividend, DigitAtom* atom);
  // Null where the atom cannot be made.
  const DigitAtom* MakeFloorAtom(Division& division, int64_t m);
  const DigitAtom* MakeModAtom(Division& division, int64_t m);

  // Digits that meet in a sum (digits.cc).
  void Join(QuasiAffineSum& sum);
  bool JoinOnce(QuasiAffineSum& sum);

  // Expressions (write.cc).
  mlir::AffineExpr ExprOf(const DigitAtom* atom);
  mlir::AffineExpr ExprOfDividend(const DigitAtom* atom);
  mlir::AffineExpr ExprOfSum(const QuasiAffineSum& sorted);
  bool ShowsMod(const QuasiAffineSum& sorted);
  // Like ExprOfSum(sorted), but returns `from` instead of building it anew where `from` is the
  // result.
  mlir::AffineExpr ExprOfSum(const QuasiAffineSum& sorted, mlir::AffineExpr from);
  // Gives the atom that `digits` consists of the expression `e`, where it would be written as `e`,
  // so that it need not be built.
  static void KeepExpr(const QuasiAffineSum& digits, mlir::AffineExpr e);

  // Tracing (trace.cc).
  bool MayTrace();
  mlir::AffineExpr ExprForTrace(const DigitAtom* atom);
  mlir::AffineExpr ExprForTrace(const QuasiAffineSum& digits);
  void TraceDivision(mlir::AffineExprKind kind, const QuasiAffineSum& digits, int64_t m,
                     const char* rule, const QuasiAffineSum& result);
  void TraceSum(const char* rule, const QuasiAffineSum& before, const QuasiAffineSum& after);

  // Ways to write a mod-free form (views.cc).
  const SumViews& ViewsOf(const QuasiAffineSum& mod_free_form);
  static bool MayHaveStep(const QuasiAffineSum& mod_free_form,
                          llvm::function_ref<bool(const DigitTerm&)> has_step);
  static bool MayHaveOtherWays(const QuasiAffineSum& mod_free_form);
  bool MayHaveShorterWay(const QuasiAffineSum& mod_free_form) const;
  // The shortest way that ViewsOf gives; the sum itself where there is only one way to write it.
  const QuasiAffineSum& ShortestWay(const QuasiAffineSum& mod_free_form);
  const QuasiAffineSum& WayOfDigits(const QuasiAffineSum& mod_free_form);
  Interval RangeOfWays(const QuasiAffineSum& mod_free_form);
  // The shortest way to write `digits`, in summand order; invalid where `digits` or the result is.
  QuasiAffineSum AsWritten(const QuasiAffineSum& digits);
  llvm::SmallVector<const DigitAtom*, 4> FloorAtomsOf(const QuasiAffineSum& sum) const;
  std::pair<QuasiAffineSum, int64_t> DigitBelow(const DigitAtom* floor_atom,
                                                const QuasiAffineSum& sum,
                                                llvm::ArrayRef<const DigitAtom*> atoms);
  void SplitDigit(const QuasiAffineSum& sum, const DigitAtom* floor_atom,
                  llvm::ArrayRef<const DigitAtom*> atoms,
                  llvm::SmallVectorImpl<QuasiAffineSum>& ways,
                  llvm::SmallVectorImpl<QuasiAffineSum>& swapped);

  mlir::MLIRContext* context_;
  llvm::SmallVector<Interval, 8> dims_;
  llvm::SmallVector<Interval, 8> symbols_;
  static constexpr int kMaxWork = 50000;
  static constexpr int kMaxRecursion = 128;

  // Whether work on a sum of that many terms may be done: within kMaxWork, and within the budget of
  // the question (base/question_budget.h). Terms are looked for one by one, so that long sums take
  // the square of their length.
  bool MayWork(size_t terms);

  RuleTrace* trace_ = nullptr;
  llvm::DenseMap<const DigitAtom*, mlir::AffineExpr> exprs_for_trace_;
  int64_t traced_summands_ = 0;
  bool is_trace_full_ = false;
  int depth_ = 0;
  int work_ = 0;
  int64_t steps_ = 0;  // that the budget of the question has not been asked for yet
  bool is_spent_ = false;
  int recursion_ = 0;
  int unnesting_ = 0;

  llvm::SmallVector<Fact, 2> facts_;
  llvm::SmallVector<Bound, 2> bounds_;
  std::unique_ptr<SimplifierMemory> memory_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_H_
