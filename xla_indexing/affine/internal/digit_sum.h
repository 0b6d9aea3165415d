// The atoms of the normal form, and sums of them (affine/internal/simplifier.h).
//
// An atom is a variable, a floor floor(Y / m), a mod X mod n, or an expression that has no normal
// form and counts as a variable (opaque). Atoms belong to a simplifier, which makes one of each:
// they are equal where they are the same object. What an atom is made of, its range and its
// residues stand in it, so that nothing is looked up and no expression is built before the end.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_DIGIT_SUM_H_
#define XLA_INDEXING_AFFINE_INTERNAL_DIGIT_SUM_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/sum.h"
#include "xla_indexing/base/internal/congruence.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

struct DigitAtom;

// Two values that an atom or a sum has, at two corners of the box of the variables: where each has
// its least value, and where each has its greatest.
struct CornerValues {
  int64_t at_least = 0;
  int64_t at_greatest = 0;
};

class DigitSum : public Sum<const DigitAtom*> {
 public:
  using Sum::Sum;
  static DigitSum Of(const DigitAtom* atom, int64_t coefficient = 1) {
    DigitSum sum;
    sum.AddTerm(atom, coefficient);
    return sum;
  }
  static DigitSum Invalid() {
    DigitSum sum;
    sum.valid_ = false;
    return sum;
  }

  // Puts the terms into summand order (affine/internal/linear_sum.h).
  void Sort();
  // The same for sums that are equal, in whichever order their terms are.
  size_t Hash() const;
};
using DigitTerm = DigitSum::Term;

struct DigitAtom {
  enum class Kind : uint8_t { kVariable, kOpaque, kFloor, kMod };

  Kind kind = Kind::kVariable;
  SummandClass summand_class = SummandClass::kDim;
  uint32_t position = 0;  // of a variable

  // Of floors and mods.
  int64_t divisor = 1;
  DigitSum dividend;             // digits
  DigitSum dividend_floor_form;  // the same without mods
  DigitSum shown;                // the way in which the dividend is written, in summand order
  DigitSum quotient;             // of a mod: floor(dividend / divisor), digits
  DigitSum floor_form;           // of a mod: without mods

  Interval range = Interval::All();
  Congruence residues = Congruence::All();
  // None of opaque atoms, and where a variable has no such value.
  std::optional<CornerValues> corners;

  // The division of the dividend by the divisor is this atom, without a rule that changes anything;
  // the dividend is a sum of variables.
  bool is_its_own = false;

  // Of a mod: its dividend is a sum of variables of which no facts are known, and its quotient is
  // the floor atom of that.
  bool is_digit = false;

  // Of a floor(X/a), X mod a or floor(X/a) mod n, where that is its own, and has no other way to be
  // written, alone or beside atoms of other variables: X, a sum of variables. Null otherwise.
  const DigitSum* number = nullptr;

  // Of a floor: of the floors in it, however deep, that have none in their dividends, itself among
  // them, the first with the greatest divisor. Null otherwise.
  const DigitAtom* coarsest = nullptr;

  // As written: occurrences of summands and divisions, and how deep divisions nest.
  int summands = 1;
  int divisions = 0;  // floordivs and mods in it, itself counted
  int depth = 0;
  // Null until it is asked for; of variables and opaque atoms there from the beginning.
  mutable mlir::AffineExpr expr;

  size_t hash = 0;
  DigitAtom* next = nullptr;

  bool IsFloor() const { return kind == Kind::kFloor; }
  bool IsMod() const { return kind == Kind::kMod; }
};

// The atom that the sum is, without a factor or a constant; null where it is none.
inline const DigitAtom* LoneAtom(const DigitSum& sum) {
  const bool is_atom = sum.valid() && sum.constant() == 0 && sum.terms().size() == 1 &&
                       sum.terms()[0].coefficient == 1;
  return is_atom ? sum.terms()[0].atom : nullptr;
}

// Of the sum without its multiples of `left_out`, where that is not 0. None where an atom has none,
// and where they do not fit.
std::optional<CornerValues> CornersOf(const DigitSum& sum, int64_t left_out = 0);

// Of the floors in a sum, however deep, that have none in their dividends the first one with the
// greatest divisor; null where there is no floor.
const DigitAtom* CoarsestFloor(const DigitSum& sum);

// Whether an atom of a sum is a floor, is a mod, and whether none is either.
inline bool HasFloorAtom(const DigitSum& sum) {
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsFloor()) return true;
  }
  return false;
}
inline bool HasMod(const DigitSum& sum) {
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsMod()) return true;
  }
  return false;
}
inline bool IsLinear(const DigitSum& sum) { return !HasFloorAtom(sum) && !HasMod(sum); }
// Whether the atoms are variables and digits that have a number, no variable is in two of them, and
// the sum has a floor form.
bool IsOfDistinctNumbers(const DigitSum& sum);
// Whether the sum depends on nothing but one atom, which has two values.
bool IsOfTwoValues(const DigitSum& sum);

// Whether atom `a` is written before atom `b`.
bool AtomLess(const DigitAtom* a, const DigitAtom* b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_DIGIT_SUM_H_
