// The functions that the rules of the normal form are in. They call each other, so that they are
// declared together; each rule stands, with its side condition, where it is applied:
//
//   sum_rules.cc        sums whose atoms meet                  Join
//   floor_rules.cc      floor(X / m)                           FloorDivide
//   mod_rules.cc        X mod m                                Modulo
//   dividend_rules.cc   X as m*Q + R, and splits of R          SplitAsItComes, ..
//   atom_rules.cc       floors and mods that no rule takes apart
//   sum_forms.cc        the ways to write a sum                ShortestForm, ..
//   range.cc            intervals of sums                      RangeOf
//
// A sum in which a number would not fit int64, and one that takes more work than there is, is
// invalid, and so is what is made of it.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_RULES_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_RULES_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/division.h"
#include "xla_indexing/affine/normal_form/simplifier_state.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing::internal {

// --- Sums, floors and mods

// Joins atoms that meet in the sum for as long as a rule holds.
void Join(SimplifierState& state, QuasiAffineSum& sum);

// floor(dividend / m) and dividend mod m, m >= 1.
QuasiAffineSum FloorDivide(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m);
QuasiAffineSum Modulo(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m);

// --- What floors and mods share: X = m*Q + R (affine/normal_form/division.h)

// Sets `result` to f(sum) where the sum depends on nothing but an atom of two values, of which f is
// linear. Returns whether that is so.
bool LinearInTwoValues(SimplifierState& state, const QuasiAffineSum& sum,
                       llvm::function_ref<int64_t(int64_t)> f, QuasiAffineSum& result);
// Moves multiples of m to Q, and finds a split of what is left, if there is one.
bool SplitAsItComes(SimplifierState& state, Division& division, DivisionSplit& split);
// Where there is none, moves to Q what else can be moved, and finds a split of R in another form if
// there is one; otherwise R is left with reduced coefficients. Returns whether there is a split.
bool NormalizeUnsplit(SimplifierState& state, Division& division, DivisionSplit& split);
// Finds a split of R as it is.
bool SplitWithoutCarry(SimplifierState& state, Division& division, DivisionSplit& split);
// Where floor(R/m) is that of one term and a constant, since no other values of the rest lead to another
// multiple of m, the other terms leave R, but for that constant. Returns them, less the constant.
std::optional<QuasiAffineSum> DropWithoutCarry(SimplifierState& state, Division& division);
// Takes the residue that R is known to have away from it.
void ReduceToResidue(SimplifierState& state, Division& division);
// Brings the least value of R into [0, m - 1].
void ShiftConstant(SimplifierState& state, Division& division);
const Interval& RangeOfRest(SimplifierState& state, Division& division);

// floor(R / m) and R mod m as atoms; null if they cannot be made.
const Atom* MakeFloorAtom(SimplifierState& state, Division& division);
const Atom* MakeModAtom(SimplifierState& state, Division& division);

// --- Ways to write a sum

// The shortest form of a sum without mods, and that with the most digits. What has no other form is
// the sum itself and not a copy.
const QuasiAffineSum& ShortestForm(SimplifierState& state, const QuasiAffineSum& mod_free_form);
const QuasiAffineSum& FormOfDigits(SimplifierState& state, const QuasiAffineSum& mod_free_form);
// The intersection of what the terms of all forms say.
Interval RangeOfForms(SimplifierState& state, const QuasiAffineSum& mod_free_form);
// The shortest form of any sum, in summand order.
QuasiAffineSum FormToWrite(SimplifierState& state, const QuasiAffineSum& sum);
// The expression of any sum: its shortest form in the one spelling of that
// (affine/spelling/spelling.h). `from`, which may be null, where that is the result; null for an
// invalid sum and past the bounds of affine/expr/build.h.
mlir::AffineExpr WriteCanonically(SimplifierState& state, const QuasiAffineSum& sum,
                                  mlir::AffineExpr from);

// --- Ranges

// An interval that contains the values of the sum: their hull where terms are independent, and all
// integers for an invalid sum. The ends of the wide one may exceed int64.
Interval RangeOf(SimplifierState& state, const QuasiAffineSum& sum);
WideInterval WideRangeOf(SimplifierState& state, const QuasiAffineSum& sum);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_RULES_H_
