// Making floor and mod atoms of dividends that no rule takes apart any further.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

size_t HashOfAtom(DigitAtom::Kind kind, const QuasiAffineSum& dividend_mod_free_form, int64_t m) {
  return dividend_mod_free_form.Hash() + static_cast<size_t>(m) * 2 +
         (kind == DigitAtom::Kind::kMod ? 1 : 0);
}

}  // namespace

const DigitAtom* ExprSimplifier::FindAtom(DigitAtom::Kind kind, const QuasiAffineSum& mod_free_form,
                                          int64_t m, size_t hash) const {
  for (const DigitAtom* atom = memory_->atom_table.First(hash); atom != nullptr;
       atom = atom->next) {
    if (atom->hash == hash && atom->kind == kind && atom->divisor == m &&
        atom->dividend_mod_free_form == mod_free_form) {
      return atom;
    }
  }
  return nullptr;
}

// The atom that the division of these digits is, where it is known without dividing them: an atom
// of the dividend that came out of its division as it went in.
const DigitAtom* ExprSimplifier::FindIrreducible(DigitAtom::Kind kind, const QuasiAffineSum& digits,
                                                 int64_t m) const {
  const DigitAtom* known = FindAtom(kind, digits, m, HashOfAtom(kind, digits, m));
  return known != nullptr && known->is_irreducible ? known : nullptr;
}

KnownDivision* ExprSimplifier::FindDivision(const QuasiAffineSum& digits, int64_t m) {
  const size_t hash = HashOfAtom(DigitAtom::Kind::kFloor, digits, m);
  for (KnownDivision* known = memory_->division_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash == hash && known->divisor == m && known->digits == digits) return known;
  }
  return nullptr;
}

// Splits are the same for floor and mod. Without one, halves have rules of their own, and so have
// floors, mods and what facts are known of.
KnownDivision* ExprSimplifier::RememberDivision(const QuasiAffineSum& digits, int64_t m,
                                                bool is_split) {
  if (!is_split && (m == 2 || !facts_.empty() || !IsLinear(digits))) return nullptr;
  KnownDivision* known = memory_->divisions.New();
  known->digits = digits;
  known->divisor = m;
  known->is_split = is_split;
  memory_->division_table.Insert(HashOfAtom(DigitAtom::Kind::kFloor, digits, m), known);
  return known;
}

// How the atom is written: the shortest way to write the dividend. MLIR folds a floordiv or mod
// whose dividend shows a multiple of m, and a sum that shows a mod as floor; the shortest way may
// show one, its digits never do. False past the bounds of affine/internal/build.h.
bool ExprSimplifier::ChooseWrittenDividend(const QuasiAffineSum& dividend, DigitAtom* atom) {
  const QuasiAffineSum& mod_free_form = atom->dividend_mod_free_form;
  const QuasiAffineSum& shortest = ShortestWay(mod_free_form);
  const int64_t m = atom->divisor;
  const bool shows_multiple = (shortest.constant() != 0 && shortest.constant() % m == 0) ||
                              llvm::any_of(shortest.terms(), [m](const DigitTerm& term) {
                                return term.coefficient % m == 0;
                              });
  atom->written_dividend = shows_multiple ? dividend : shortest;
  // A constant that m divides has left the dividend, unless it does not fit in the quotient's
  // place: MLIR would take it out, and add it to others without a check.
  if (atom->IsFloor() && atom->written_dividend.constant() != 0 &&
      atom->written_dividend.constant() % m == 0) {
    return false;
  }
  atom->written_dividend.Sort();
  if (!shows_multiple && ShowsMod(atom->written_dividend)) {
    atom->written_dividend = dividend;
    atom->written_dividend.Sort();
  }
  bool has_dim = false;
  int64_t summands = atom->written_dividend.constant() == 0 ? 0 : 1;
  atom->depth = 0;
  atom->divisions = 1;
  for (const DigitTerm& term : atom->written_dividend.terms()) {
    has_dim = has_dim || term.atom->summand_class <= SummandClass::kDimMod;
    summands += term.atom->summands;
    atom->divisions += term.atom->divisions;
    atom->depth = std::max(atom->depth, term.atom->depth);
  }
  if (!atom->written_dividend.valid() || summands > kMaxSummands ||
      ++atom->depth >= kMaxExprDepth) {
    return false;
  }
  atom->summands = static_cast<int>(summands);
  if (atom->IsMod()) {
    atom->summand_class = has_dim ? SummandClass::kDimMod : SummandClass::kMod;
  } else {
    atom->summand_class = has_dim ? SummandClass::kDimFloorDiv : SummandClass::kFloorDiv;
  }
  return true;
}

// Whether dividing the rest anew would change nothing: it is a sum of variables, which nothing but
// their ranges decides about, and has been found to have no split.
bool ExprSimplifier::IsIrreducible(const Division& division) const {
  return division.is_normal && facts_.empty() && IsLinear(division.rest) &&
         !IsOfTwoValues(division.rest);
}

// What is left of a dividend whose numbers do not fit may be a number in its mod-free form: an atom
// has variables.
const DigitAtom* ExprSimplifier::MakeFloorAtom(Division& division, int64_t m) {
  const QuasiAffineSum& dividend = division.rest;
  QuasiAffineSum eliminated;
  const QuasiAffineSum& mod_free_form = ModFreeForm(dividend, eliminated);
  if (!mod_free_form.valid() || mod_free_form.IsConstant()) return nullptr;
  const size_t hash = HashOfAtom(DigitAtom::Kind::kFloor, mod_free_form, m);
  if (const DigitAtom* known = FindAtom(DigitAtom::Kind::kFloor, mod_free_form, m, hash)) {
    return known;
  }
  DigitAtom& atom = *NewAtom(DigitAtom::Kind::kFloor);
  atom.divisor = m;
  atom.dividend_mod_free_form = mod_free_form;
  if (!ChooseWrittenDividend(dividend, &atom)) return nullptr;
  atom.range = RangeOfRest(division).FloorDiv(m);
  if (const std::optional<ValuesAtEnds> values = ValuesAtEndsOf(dividend)) {
    atom.at_ends = {FloorDiv(values->at_least, m), FloorDiv(values->at_greatest, m)};
  }
  atom.residues = ResiduesOf(dividend).FloorDiv(m);
  atom.dividend = dividend;
  atom.is_irreducible = IsIrreducible(division);
  if (atom.is_irreducible) atom.number = &atom.dividend_mod_free_form;
  memory_->atom_table.Insert(hash, &atom);
  return &atom;
}

// What X mod a and floor(X/a) mod n are a digit of. Their mod-free forms, X - a*floor(X/a) and
// floor(X/a) - n*floor(X/(a*n)), have no other way to be written than they themselves and the mod,
// which has as many divisions and fewer summands. Beside atoms of other variables nothing is added:
// every step (views.cc) needs a multiple of what is divided.
const QuasiAffineSum* ExprSimplifier::NumberOfMod(const DigitAtom& mod) {
  const DigitAtom* floor = LoneAtom(mod.quotient);
  if (floor == nullptr || floor->number == nullptr || !floor->IsFloor()) return nullptr;
  if (mod.is_digit) return floor->number;
  const DigitAtom* above = LoneAtom(mod.dividend);
  const bool is_digit_above = above != nullptr && above->IsFloor() && above->number != nullptr &&
                              floor->divisor % mod.divisor == 0 &&
                              floor->divisor / mod.divisor == above->divisor &&
                              *floor->number == *above->number;
  return is_digit_above ? floor->number : nullptr;
}

const DigitAtom* ExprSimplifier::MakeModAtom(Division& division, int64_t m) {
  const QuasiAffineSum& dividend = division.rest;
  QuasiAffineSum eliminated;
  const QuasiAffineSum& mod_free_form = ModFreeForm(dividend, eliminated);
  if (!mod_free_form.valid() || mod_free_form.IsConstant()) return nullptr;
  const size_t hash = HashOfAtom(DigitAtom::Kind::kMod, mod_free_form, m);
  if (const DigitAtom* known = FindAtom(DigitAtom::Kind::kMod, mod_free_form, m, hash)) {
    return known;
  }
  DigitAtom& atom = *NewAtom(DigitAtom::Kind::kMod);
  atom.divisor = m;
  atom.dividend_mod_free_form = mod_free_form;
  if (!ChooseWrittenDividend(dividend, &atom)) return nullptr;
  atom.is_irreducible = IsIrreducible(division);
  if (atom.is_irreducible) {
    const DigitAtom* itself = MakeFloorAtom(division, m);
    if (itself == nullptr) return nullptr;
    atom.quotient = QuasiAffineSum();
    atom.quotient.AddNewTerm(itself, 1);
  } else {
    atom.quotient = FloorDivide(dividend, m);
  }
  atom.mod_free_form = atom.dividend_mod_free_form;
  atom.mod_free_form.AddScaled(ModFreeForm(atom.quotient), -m);
  if (!atom.mod_free_form.valid()) return nullptr;
  atom.residues = ResiduesOf(dividend).Mod(m);
  atom.range = atom.residues.Tighten(Interval::OfSize(m));
  if (const std::optional<ValuesAtEnds> values = ValuesAtEndsOf(dividend)) {
    atom.at_ends = {FloorMod(values->at_least, m), FloorMod(values->at_greatest, m)};
  }
  atom.dividend = dividend;
  const DigitAtom* floor = LoneAtom(atom.quotient);
  atom.is_digit = facts_.empty() && floor != nullptr && floor->IsFloor() && floor->divisor == m &&
                  IsLinear(dividend) &&
                  floor->dividend_mod_free_form == atom.dividend_mod_free_form;
  atom.number = NumberOfMod(atom);
  memory_->atom_table.Insert(hash, &atom);
  return &atom;
}

}  // namespace xla_indexing::internal
