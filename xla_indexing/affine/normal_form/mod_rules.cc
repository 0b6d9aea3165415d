// The rules for X mod m, in the order in which they are tried. X is m*Q + R (division.h).
//
//   X mod 1 = 0
//   c mod m                                                        a number
//   X mod m, known to be irreducible
//   f(x) = f(l) + (f(l+1) - f(l))*(x - l)                          X depends on x in [l, l+1] alone
//   X mod m = r                                                    X = r (mod m)
//   (m*Q + g*H + L) mod m = g*((H + t) mod (m/g)) + L - t*g        g | m, L in [t*g, t*g + g - 1]
//   (c*(Y mod n) + R) mod m = (c*Y - c*n*floor(Y/n) + R) mod m     the sum becomes no longer
//   (k*x + Y) mod m = (k*x + u) mod m + Y - u                      Y in [u, v], and floor((k*x + u) / m)
//                                                                  is the same with v for all x
//   (Z + 1) mod 2 = 1 - Z mod 2
//   (-X) mod m = m - 1 - (X - 1) mod m                             the leading coefficient is > 0
//   R mod m, an atom                                               min R in [0, m - 1]
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

constexpr const char* kLinearInTwoValues = "of two values: linear";

// The sum with a mod instead of c*Y, where floor(Y / n) is the floor of `term` and c the
// coefficient of Y's first variable, if all of Y and the floor go by that, modulo m:
//
//   c*Y - c*n*floor(Y / n) = c*(Y mod n)
std::optional<QuasiAffineSum> WithModOf(SimplifierState& state, const AtomTerm& term,
                                        const QuasiAffineSum& sum, int64_t m) {
  const Atom* floor = term.atom;
  if (!floor->IsFloor() || !IsLinear(floor->dividend)) return std::nullopt;
  const AtomTerm& leading = floor->dividend.terms()[0];
  const int64_t c = sum.CoefficientOf(leading.atom);
  if (c == 0 || leading.coefficient != 1) return std::nullopt;
  const auto goes = [&](const AtomTerm& part, Int128 amount) {
    return (sum.CoefficientOf(part.atom) - amount) % m == 0;
  };
  const bool all_go = goes(term, -static_cast<Int128>(c) * floor->divisor) &&
                      llvm::all_of(floor->dividend.terms(), [&](const AtomTerm& part) {
                        return goes(part, static_cast<Int128>(c) * part.coefficient);
                      });
  if (!all_go) return std::nullopt;
  QuasiAffineSum with_mod = sum;
  with_mod.RemoveTerm(floor);
  for (const AtomTerm& part : floor->dividend.terms()) with_mod.RemoveTerm(part.atom);
  with_mod.AddScaled(QuasiAffineSum(floor->dividend.constant()), -c);
  with_mod.AddScaled(Modulo(state, floor->dividend, floor->divisor), c);
  if (!with_mod.valid()) return std::nullopt;
  return with_mod;
}

// Which digits X was made of does not tell its mod. All mods in it go, c*(Y mod n) = c*Y -
// c*n*floor(Y/n), coefficients become their residues, and those mods come back which take all of Y
// and its floor along. Returns whether that is another sum, and no longer.
bool ChooseMods(SimplifierState& state, Division& division) {
  if (IsLinear(division.rest)) return false;
  // A floor alone is what it is.
  const AtomTerm& first = division.rest.terms()[0];
  if (division.rest.terms().size() == 1 && first.atom->IsFloor() && first.coefficient > 0) {
    return false;
  }
  Division chosen(ModFreeForm(division.rest), division.m);
  chosen.TakeSymmetricResidues();
  const QuasiAffineSum floors = chosen.rest;
  for (const AtomTerm& term : floors.terms()) {
    std::optional<QuasiAffineSum> with_mod = WithModOf(state, term, chosen.rest, division.m);
    if (!with_mod) continue;
    chosen.rest = *std::move(with_mod);
    chosen.TakeSymmetricResidues();
  }
  if (!chosen.rest.valid()) return false;
  chosen.MoveConstant(FloorDiv(chosen.rest.constant(), division.m));
  if (chosen.rest.terms().size() > division.rest.terms().size() || chosen.rest == division.rest) {
    return false;
  }
  // The quotient does not count: what went with the mod is a multiple of m.
  division.rest = std::move(chosen.rest);
  division.RestHasChanged();
  return true;
}

QuasiAffineSum ModuloOfSplit(SimplifierState& state, const DivisionSplit& split, int64_t m,
                             const char*& rule) {
  rule = "(g*H + L) mod m = g*((H + t) mod (m/g)) + L - t*g";
  QuasiAffineSum result = Modulo(state, split.high, m / split.radix);
  result.Scale(split.radix);
  result.AddScaled(split.low, 1);
  Join(state, result);
  return result;
}

// The mod of a division whose rest is the dividend of an atom.
QuasiAffineSum ModuloOfNormal(SimplifierState& state, Division& division, const char*& rule) {
  rule = division.negated ? "(-X) mod m = m - 1 - (X - 1) mod m" : "(m*Q + R) mod m = R mod m";
  const Atom* mod = MakeModAtom(state, division);
  if (mod == nullptr) return QuasiAffineSum::Invalid();
  QuasiAffineSum result(division.negated ? division.m - 1 : 0);
  result.AddNewTerm(mod, division.negated ? -1 : 1);
  return result;
}

QuasiAffineSum ModuloByRule(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m,
                            const char*& rule) {
  QuasiAffineSum result;
  if (const Atom* known = state.atoms.FindIrreducible(Atom::Kind::kMod, dividend, m)) {
    result.AddNewTerm(known, 1);
    return result;
  }
  const auto remainder = [m](int64_t x) { return FloorMod(x, m); };
  if (LinearInTwoValues(state, dividend, remainder, result)) {
    rule = kLinearInTwoValues;
    return result;
  }
  if (state.known.HasFacts()) {
    if (const auto residue = state.known.ResiduesOf(dividend).ResidueModulo(m)) {
      rule = "X mod m = r where X = r (mod m)";
      result.AddConstant(*residue);
      return result;
    }
  }
  if (!state.MayDivide(dividend)) return QuasiAffineSum::Invalid();
  const Nested nested(&state.division_depth);
  Division division(dividend, m);
  if (state.atoms.FindIrreducible(Atom::Kind::kFloor, dividend, m) != nullptr) {
    division.is_normal = true;
    return ModuloOfNormal(state, division, rule);
  }
  DivisionSplit split;
  if (SplitAsItComes(state, division, split) || NormalizeUnsplit(state, division, split)) {
    return ModuloOfSplit(state, split, m, rule);
  }
  if (ChooseMods(state, division)) {
    if (SplitWithoutCarry(state, division, split)) return ModuloOfSplit(state, split, m, rule);
    division.is_normal = IsLinear(division.rest);
  }
  if (LinearInTwoValues(state, division.rest, remainder, result)) {
    rule = kLinearInTwoValues;
    return result;
  }
  if (const auto dropped = DropWithoutCarry(state, division)) {
    rule = "(k*x + Y) mod m = (k*x + u) mod m + Y - u";
    result = Modulo(state, division.rest, m);
    result.AddScaled(*dropped, 1);
    Join(state, result);
    return result;
  }
  if (m == 2 && division.rest.constant() == 1) {
    division.rest.AddConstant(-1);
    division.RestHasChanged();
    division.negated = true;
  } else {
    division.NormalizeSignAndResidues();
    ShiftConstant(state, division);
  }
  return ModuloOfNormal(state, division, rule);
}

}  // namespace

QuasiAffineSum Modulo(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m) {
  if (m == 1) return QuasiAffineSum();
  if (!dividend.valid()) return dividend;
  if (dividend.IsConstant()) return QuasiAffineSum(FloorMod(dividend.constant(), m));
  const char* rule = nullptr;
  QuasiAffineSum result = ModuloByRule(state, dividend, m, rule);
  if (state.tracer.is_on()) {
    state.tracer.AddDivision(Atom::Kind::kMod, dividend, m, rule, result);
  }
  return result;
}

}  // namespace xla_indexing::internal
