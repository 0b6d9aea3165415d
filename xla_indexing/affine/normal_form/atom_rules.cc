// Floors and mods of a dividend R that no rule takes apart any further. They become atoms, with
// what is known of their values: for the floor and the mod
//
//   range       floor(range(R) / m)                                [0, m - 1], and of the residues
//   residues    floor(residues(R) / m)                             residues(R) mod m
//   corners     floor(corners(R) / m)                              corners(R) mod m
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// Takes the shortest form of the dividend, unless MLIR would fold what it shows: a floordiv or mod
// whose dividend has a multiple of m, and a sum that shows a mod as floor. The dividend as it came
// never shows one.
QuasiAffineSum DividendToWrite(SimplifierState& state, const Atom& atom) {
  QuasiAffineSum written = ShortestForm(state, atom.dividend_mod_free_form);
  const auto is_multiple = [&](int64_t k) { return k != 0 && k % atom.divisor == 0; };
  const bool shows_multiple =
      is_multiple(written.constant()) || llvm::any_of(written.terms(), [&](const AtomTerm& term) {
        return is_multiple(term.coefficient);
      });
  if (!shows_multiple) {
    written.Sort();
    if (!state.writer.ShowsMod(written)) return written;
  }
  written = atom.dividend;
  written.Sort();
  return written;
}

// Decides how the atom is written. Returns false past the bounds of affine/expr/build.h.
bool DecideHowWritten(SimplifierState& state, Atom& atom) {
  WrittenAtom& written = atom.written;
  written.dividend = DividendToWrite(state, atom);
  const int64_t constant = written.dividend.constant();
  // A constant that m divides has left the dividend, unless it does not fit in the quotient's
  // place: MLIR would take it out, and add it to others without a check.
  if (atom.IsFloor() && constant != 0 && constant % atom.divisor == 0) return false;
  bool has_dim = false;
  int64_t summands = constant == 0 ? 0 : 1;
  written.depth = 0;
  written.divisions = 1;
  for (const AtomTerm& term : written.dividend.terms()) {
    const WrittenAtom& part = term.atom->written;
    has_dim = has_dim || part.summand_class <= SummandClass::kDimMod;
    summands += part.summands;
    written.divisions += part.divisions;
    written.depth = std::max(written.depth, part.depth);
  }
  if (!written.dividend.valid() || summands > kMaxSummands || ++written.depth >= kMaxExprDepth) {
    return false;
  }
  written.summands = static_cast<int>(summands);
  if (atom.IsMod()) {
    written.summand_class = has_dim ? SummandClass::kDimMod : SummandClass::kMod;
  } else {
    written.summand_class = has_dim ? SummandClass::kDimFloorDiv : SummandClass::kFloorDiv;
  }
  return true;
}

// Whether dividing the rest anew would change nothing: it is a sum of variables, which nothing but
// their ranges decides about, and has been found to have no split.
bool IsIrreducible(const SimplifierState& state, const Division& division) {
  return division.is_normal && !state.known.HasFacts() && IsLinear(division.rest) &&
         !IsOfTwoValues(division.rest);
}

// The values of f at the corners of the sum.
template <typename F>
std::optional<CornerValues> CornersOf(const QuasiAffineSum& sum, F f) {
  const std::optional<CornerValues> values = CornerValuesOf(sum);
  if (!values) return std::nullopt;
  return CornerValues{f(values->at_least), f(values->at_greatest)};
}

void CompleteFloor(SimplifierState& state, Division& division, Atom& atom) {
  const int64_t m = division.m;
  atom.range = RangeOfRest(state, division).FloorDiv(m);
  atom.residues = state.known.ResiduesOf(atom.dividend).FloorDiv(m);
  atom.corners = CornersOf(atom.dividend, [m](int64_t x) { return FloorDiv(x, m); });
}

// Returns whether the mod has a quotient and a mod-free form.
bool CompleteMod(SimplifierState& state, Division& division, Atom& atom) {
  const int64_t m = division.m;
  if (atom.is_irreducible) {
    const Atom* floor = MakeFloorAtom(state, division);
    if (floor == nullptr) return false;
    atom.quotient.AddNewTerm(floor, 1);
  } else {
    atom.quotient = FloorDivide(state, atom.dividend, m);
  }
  atom.mod_free_form = atom.dividend_mod_free_form;
  atom.mod_free_form.AddScaled(ModFreeForm(atom.quotient), -m);
  if (!atom.mod_free_form.valid()) return false;
  atom.residues = state.known.ResiduesOf(atom.dividend).Mod(m);
  atom.range = atom.residues.Tighten(Interval::OfSize(m));
  atom.corners = CornersOf(atom.dividend, [m](int64_t x) { return FloorMod(x, m); });
  const Atom* floor = LoneAtom(atom.quotient);
  atom.is_digit = !state.known.HasFacts() && floor != nullptr && floor->IsFloor() &&
                  floor->divisor == m && IsLinear(atom.dividend) &&
                  floor->dividend_mod_free_form == atom.dividend_mod_free_form;
  return true;
}

const Atom* MakeAtom(SimplifierState& state, Atom::Kind kind, Division& division) {
  QuasiAffineSum storage;
  const QuasiAffineSum& mod_free_form = ModFreeForm(division.rest, storage);
  // What is left of a dividend whose numbers do not fit may be a number in its mod-free form, but
  // an atom has variables.
  if (!mod_free_form.valid() || mod_free_form.IsConstant()) return nullptr;
  if (const Atom* known = state.atoms.Find(kind, mod_free_form, division.m)) return known;
  Atom& atom = *state.atoms.New();
  atom.kind = kind;
  atom.divisor = division.m;
  atom.dividend = division.rest;
  atom.dividend_mod_free_form = mod_free_form;
  atom.is_irreducible = IsIrreducible(state, division);
  if (!DecideHowWritten(state, atom)) return nullptr;
  if (atom.IsFloor()) {
    CompleteFloor(state, division, atom);
  } else if (!CompleteMod(state, division, atom)) {
    return nullptr;
  }
  return state.atoms.Insert(&atom);
}

}  // namespace

const Atom* MakeFloorAtom(SimplifierState& state, Division& division) {
  return MakeAtom(state, Atom::Kind::kFloor, division);
}

const Atom* MakeModAtom(SimplifierState& state, Division& division) {
  return MakeAtom(state, Atom::Kind::kMod, division);
}

}  // namespace xla_indexing::internal
