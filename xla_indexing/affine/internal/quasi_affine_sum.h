// The atoms of the normal form, and sums of them (affine/internal/simplifier.h).
//
// An atom is a variable, a floor floor(Y / m), a mod X mod n, or an opaque expression, which has no
// normal form and is treated like a variable. Atoms belong to a simplifier, which makes each of
// them once: two atoms are equal exactly where they are the same object. An atom holds its
// dividend, range and residues, so that nothing is looked up and no expression is built before the
// result is written.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_QUASI_AFFINE_SUM_H_
#define XLA_INDEXING_AFFINE_INTERNAL_QUASI_AFFINE_SUM_H_

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

// The values of an atom or a sum at two at_ends of the box of the variables: where every variable
// has its least value, and where every variable has its greatest.
struct ValuesAtEnds {
  int64_t at_least = 0;
  int64_t at_greatest = 0;
};

class QuasiAffineSum : public Sum<const DigitAtom*> {
 public:
  using Sum::Sum;
  static QuasiAffineSum Of(const DigitAtom* atom, int64_t coefficient = 1) {
    QuasiAffineSum sum;
    sum.AddTerm(atom, coefficient);
    return sum;
  }
  static QuasiAffineSum Invalid() {
    QuasiAffineSum sum;
    sum.valid_ = false;
    return sum;
  }

  // Puts the terms into summand order (affine/internal/linear_sum.h).
  void Sort();
  // Equal sums have equal hashes, whatever the order of their terms.
  size_t Hash() const;
};
using DigitTerm = QuasiAffineSum::Term;

struct DigitAtom {
  enum class Kind : uint8_t { kVariable, kOpaque, kFloor, kMod };

  Kind kind = Kind::kVariable;
  SummandClass summand_class = SummandClass::kDim;
  uint32_t position = 0;  // of a variable

  // The fields of floors and mods.
  int64_t divisor = 1;
  QuasiAffineSum dividend;                // digits
  QuasiAffineSum dividend_mod_free_form;  // `dividend` without mods
  QuasiAffineSum written_dividend;  // the way in which the dividend is written, in summand order
  QuasiAffineSum quotient;          // of a mod: floor(dividend / divisor), digits
  QuasiAffineSum mod_free_form;     // of a mod: without mods

  Interval range = Interval::All();
  Congruence residues = Congruence::All();
  // Opaque atoms have none, and neither has a variable without such values.
  std::optional<ValuesAtEnds> at_ends;

  // Dividing the dividend by the divisor gives this atom again, and no rule changes anything; the
  // dividend is a sum of variables.
  bool is_irreducible = false;

  // True only for a mod whose dividend is a sum of variables about which no facts are known, and
  // whose quotient is the floor atom of that dividend.
  bool is_digit = false;

  // For an atom floor(X/a), X mod a or floor(X/a) mod n that `is_irreducible` and cannot be written in
  // another way, alone or beside atoms of other variables: X, a sum of variables. Null for all
  // other atoms.
  const QuasiAffineSum* number = nullptr;

  // The size of the written expression: the occurrences of summands and of divisions, and how deep
  // divisions nest.
  int summands = 1;
  int divisions = 0;  // floordivs and mods in it, itself counted
  int depth = 0;
  // Built when it is first asked for, null before; variables and opaque atoms have it from the
  // start.
  mutable mlir::AffineExpr expr;

  size_t hash = 0;
  DigitAtom* next = nullptr;

  bool IsFloor() const { return kind == Kind::kFloor; }
  bool IsMod() const { return kind == Kind::kMod; }
};

// The atom that the sum consists of, with coefficient 1 and no constant; null for any other sum.
inline const DigitAtom* LoneAtom(const QuasiAffineSum& sum) {
  const bool is_atom = sum.valid() && sum.constant() == 0 && sum.terms().size() == 1 &&
                       sum.terms()[0].coefficient == 1;
  return is_atom ? sum.terms()[0].atom : nullptr;
}

// The corner values of the sum without its multiples of `left_out` (of all of it where that is 0).
// None where an atom of the sum has no corner values, and on overflow.
std::optional<ValuesAtEnds> ValuesAtEndsOf(const QuasiAffineSum& sum, int64_t left_out = 0);

// Whether an atom of the sum is a floor; whether one is a mod; whether all are neither.
inline bool HasFloorAtom(const QuasiAffineSum& sum) {
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsFloor()) return true;
  }
  return false;
}
inline bool HasMod(const QuasiAffineSum& sum) {
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsMod()) return true;
  }
  return false;
}
inline bool IsLinear(const QuasiAffineSum& sum) { return !HasFloorAtom(sum) && !HasMod(sum); }
// Whether every atom is a variable or a digit with a `number`, no variable occurs in two of them,
// and the sum has a mod-free form.
bool IsOfDistinctNumbers(const QuasiAffineSum& sum);
// Whether the sum depends on a single atom, and that atom takes only two values.
bool IsOfTwoValues(const QuasiAffineSum& sum);

// Whether atom `a` is written before atom `b`.
bool AtomLess(const DigitAtom* a, const DigitAtom* b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_QUASI_AFFINE_SUM_H_
