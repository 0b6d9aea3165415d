// Quasi-affine sums and the atoms that they are sums of (affine/normal_form/simplifier.h).
//
// Mathematics. A quasi-affine sum is  c + sum_i k_i * a_i  with distinct atoms a_i. An atom is a
// variable, a floor floor(Y / m), a mod Y mod m, or an opaque expression, which has no normal form
// and is treated like a variable. The dividend Y is a quasi-affine sum itself. With X = n * floor(X
// / n) + X mod n every mod can be eliminated: what is left is the mod-free form of a sum.
//
// Atoms belong to a table (affine/normal_form/atom_table.h), which makes each of them once: two atoms
// are equal exactly where they are the same object. An atom carries what is known of its values, so
// that nothing is looked up and no expression is built before the result is written.
#ifndef XLA_INDEXING_AFFINE_EXPR_QUASI_AFFINE_SUM_H_
#define XLA_INDEXING_AFFINE_EXPR_QUASI_AFFINE_SUM_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/expr/sum.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing::internal {

struct Atom;

class QuasiAffineSum : public Sum<const Atom*> {
 public:
  using Sum::Sum;
  static QuasiAffineSum Of(const Atom* atom, int64_t coefficient = 1) {
    QuasiAffineSum sum;
    sum.AddTerm(atom, coefficient);
    return sum;
  }
  static QuasiAffineSum Invalid() {
    QuasiAffineSum sum;
    sum.valid_ = false;
    return sum;
  }

  // Puts the terms into summand order (affine/expr/linear_sum.h).
  void Sort();
  // Equal sums have equal hashes, whatever the order of their terms.
  size_t Hash() const;
  template <typename H>
  friend H AbslHashValue(H h, const QuasiAffineSum& sum) {
    return H::combine(std::move(h), sum.Hash());
  }
};
using AtomTerm = QuasiAffineSum::Term;

// The values of an atom or a sum at two opposite corners of the box of the variables: where every
// variable has its least value, and where every variable has its greatest.
struct CornerValues {
  int64_t at_least = 0;
  int64_t at_greatest = 0;
};

// How an atom is written.
struct WrittenAtom {
  SummandClass summand_class = SummandClass::kDim;
  // The dividend of a floor or a mod in the form in which it is written, in summand order.
  QuasiAffineSum dividend;
  // The size of the expression: how often summands and divisions occur in it (the division of the
  // atom itself is counted), and how deep divisions nest.
  int summands = 1;
  int divisions = 0;
  int depth = 0;
  // The expression of a floor or a mod is built when it is first asked for, and null before.
  mutable mlir::AffineExpr expr;
};

struct Atom {
  enum class Kind : uint8_t { kVariable, kOpaque, kFloor, kMod };

  // --- What the atom is. A floor or a mod is told from others by its kind, its divisor and its
  // dividend in mod-free form.
  Kind kind = Kind::kVariable;
  uint32_t position = 0;  // of a variable
  int64_t divisor = 1;
  QuasiAffineSum dividend;
  QuasiAffineSum dividend_mod_free_form;
  // Only a mod has these: floor(dividend / divisor), and itself in mod-free form, dividend - divisor *
  // quotient.
  QuasiAffineSum quotient;
  QuasiAffineSum mod_free_form;

  // --- What is known of its values. Opaque atoms have no corner values, and neither has a variable
  // without a least and a greatest value.
  Interval range = Interval::All();
  Congruence residues = Congruence::All();
  std::optional<CornerValues> corners;
  // Dividing the dividend by the divisor gives this atom again, because no rule changes anything.
  // The dividend is then a sum of variables.
  bool is_irreducible = false;
  // The atom is a mod whose dividend is a sum of variables about which no facts are known, and
  // whose quotient is the floor atom of that dividend.
  bool is_digit = false;

  WrittenAtom written;

  bool IsFloor() const { return kind == Kind::kFloor; }
  bool IsMod() const { return kind == Kind::kMod; }
};

// The atom that the sum consists of, with coefficient 1 and no constant; null for any other sum.
inline const Atom* LoneAtom(const QuasiAffineSum& sum) {
  const bool is_atom = sum.valid() && sum.constant() == 0 && sum.terms().size() == 1 &&
                       sum.terms()[0].coefficient == 1;
  return is_atom ? sum.terms()[0].atom : nullptr;
}

inline bool HasFloorAtom(const QuasiAffineSum& sum) {
  for (const AtomTerm& term : sum.terms()) {
    if (term.atom->IsFloor()) return true;
  }
  return false;
}
inline bool HasMod(const QuasiAffineSum& sum) {
  for (const AtomTerm& term : sum.terms()) {
    if (term.atom->IsMod()) return true;
  }
  return false;
}
inline bool IsLinear(const QuasiAffineSum& sum) { return !HasFloorAtom(sum) && !HasMod(sum); }

// The sum with every mod eliminated. Equal functions have equal mod-free forms as far as linear
// algebra can tell.
QuasiAffineSum ModFreeForm(const QuasiAffineSum& sum);
// Makes no copy: the result is `sum` itself where that has no mods, and otherwise `storage`.
const QuasiAffineSum& ModFreeForm(const QuasiAffineSum& sum, QuasiAffineSum& storage);

// The sum of the ranges of the terms. It is the range of the sum where they are independent. The
// wide one has ends in 128 bits.
Interval SumOfRanges(const QuasiAffineSum& sum);
WideInterval WideSumOfRanges(const QuasiAffineSum& sum);

// The corner values of the sum without its multiples of `left_out`, or of all of it where that is
// 0. Nullopt if an atom of the sum has none, and on overflow.
std::optional<CornerValues> CornerValuesOf(const QuasiAffineSum& sum, int64_t left_out = 0);

// The X of an irreducible digit floor(X/a), X mod a or floor(X/a) mod n, which cannot be written in
// another way, alone or in a sum with atoms of other variables. X is a sum of variables. Null for all
// other atoms.
const QuasiAffineSum* NumberOfDigit(const Atom& atom);
// Whether every atom is a variable or a digit that has a number, no variable occurs in two of them,
// and the sum has a mod-free form.
bool IsOfDistinctNumbers(const QuasiAffineSum& sum);
// Whether the sum depends on a single atom, and that atom takes only two values.
bool IsOfTwoValues(const QuasiAffineSum& sum);

// Whether atom `a` is written before atom `b`.
bool AtomLess(const Atom* a, const Atom* b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_QUASI_AFFINE_SUM_H_
