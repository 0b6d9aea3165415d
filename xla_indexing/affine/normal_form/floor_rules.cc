// The rules for floor(X / m), in the order in which they are tried. X is m*Q + R (division.h).
//
//   floor(X / 1) = X
//   floor(c / m)                                                   a number
//   floor(X / m), known to be irreducible
//   f(x) = f(l) + (f(l+1) - f(l))*(x - l)                          X depends on x in [l, l+1] alone
//   floor((m*Q + g*H + L) / m) = Q + floor((H + t) / (m/g))        g | m, L in [t*g, t*g + g - 1]
//   floor((k*x + Y) / m) = floor((k*x + u) / m)                    Y in [u, v], the same with v for all x
//   floor(R / m) = floor((R - r) / m)                              R = r (mod g), g | m, 0 <= r < g
//   floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m))         a*m fits int64
//   floor((R - floor(Y/a)) / m) = floor((a*R - Y + a - 1) / (a*m)) a*m fits int64
//   floor((Z + 1) / 2) = Z - floor(Z / 2)
//   floor(-X / m) = -floor((X - 1) / m) - 1                        the leading coefficient is > 0
//   floor(R / m), an atom                                          min R in [0, m - 1]
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/nested.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m)), and for a summand -floor(Y/a), which is
// floor((-Y - 1) / a) + 1, likewise. The first such summand in summand order is unnested.
std::optional<QuasiAffineSum> Unnest(SimplifierState& state, const Division& division) {
  // A split may undo an unnesting, which may then be undone again.
  constexpr int kMaxUnnesting = 4;
  if (state.unnesting_depth >= kMaxUnnesting) return std::nullopt;
  const Nested nested(&state.unnesting_depth);
  for (const AtomTerm& term : division.rest.terms()) {
    if (!term.atom->IsFloor() || (term.coefficient != 1 && term.coefficient != -1)) continue;
    const int64_t a = term.atom->divisor;
    const std::optional<int64_t> divisor = CheckedMul(a, division.m);
    if (!divisor) continue;
    QuasiAffineSum dividend = division.rest;
    dividend.RemoveTerm(term.atom);
    dividend.Scale(a);
    dividend.AddScaled(term.atom->dividend, term.coefficient);
    if (term.coefficient == -1) dividend.AddConstant(a - 1);
    if (!dividend.valid()) continue;
    Join(state, dividend);
    QuasiAffineSum unnested = FloorDivide(state, dividend, *divisor);
    unnested.AddScaled(division.quotient, 1);
    if (unnested.valid()) return unnested;
  }
  return std::nullopt;
}

constexpr const char* kOfTwoValues = "of two values: linear";
constexpr const char* kUnnesting = "floor((R + floor(Y/a)) / m) = floor((a*R + Y) / (a*m))";

// The floor where the rest, with its mods gone, is g*H + c and the floor of H has the coefficient 1 or
// -1, g divides m, and there is no other floor: then one division is left, whatever digits the rest was
// made of.
std::optional<QuasiAffineSum> UnnestLoneFloor(SimplifierState& state, const Division& division) {
  QuasiAffineSum storage;
  const QuasiAffineSum& without_mods = ModFreeForm(division.rest, storage);
  if (!without_mods.valid()) return std::nullopt;
  // The floor that does not leave with the multiples of m.
  const AtomTerm* floor = nullptr;
  for (const AtomTerm& term : without_mods.terms()) {
    if (!term.atom->IsFloor() || term.coefficient % division.m == 0) continue;
    if (floor != nullptr || division.m % term.coefficient != 0) return std::nullopt;
    floor = &term;
  }
  if (floor == nullptr || !IsLinear(floor->atom->dividend)) return std::nullopt;
  const int64_t g = floor->coefficient < 0 ? -floor->coefficient : floor->coefficient;
  Division lone = division;
  lone.rest = without_mods;
  lone.ExtractMultiples();
  if (lone.rest.CoefficientGcd() != g) return std::nullopt;
  // Here g is less than m, whose multiples have left.
  const int64_t constant = lone.rest.constant();
  lone.rest.RemoveConstant();
  lone.rest.DivideExactly(g);
  lone.rest.AddConstant(FloorDiv(constant, g));
  lone.m /= g;
  return Unnest(state, lone);
}

// The floor of a dividend whose rest has no split.
QuasiAffineSum FloorOfNormal(SimplifierState& state, Division& division, const char*& rule) {
  division.rest.Sort();
  ReduceToResidue(state, division);
  if (std::optional<QuasiAffineSum> unnested = Unnest(state, division)) {
    rule = kUnnesting;
    return *std::move(unnested);
  }
  QuasiAffineSum result = std::exchange(division.quotient, {});
  if (division.m == 2 && division.rest.constant() == 1) {
    // No sign of Z is better than the other, but one constant is.
    rule = "floor((Z + 1) / 2) = Z - floor(Z / 2)";
    division.rest.AddConstant(-1);
    result.AddScaled(division.rest, 1);
    result.AddScaled(FloorDivide(state, division.rest, 2), -1);
    return result;
  }
  rule = "floor((m*Q + R) / m) = Q + floor(R / m)";
  division.NormalizeSignAndResidues();
  ReduceToResidue(state, division);
  ShiftConstant(state, division);
  const Atom* floor = MakeFloorAtom(state, division);
  if (floor == nullptr) return QuasiAffineSum::Invalid();
  const int sign = division.negated ? -1 : 1;
  result.AddTerm(floor, sign);
  result.AddScaled(division.quotient, sign);
  if (division.negated) result.AddConstant(-1);
  return result;
}

QuasiAffineSum FloorByRule(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m,
                           const char*& rule) {
  QuasiAffineSum result;
  if (const Atom* known = state.atoms.FindIrreducible(Atom::Kind::kFloor, dividend, m)) {
    result.AddNewTerm(known, 1);
    return result;
  }
  const auto quotient = [m](int64_t x) { return FloorDiv(x, m); };
  if (LinearInTwoValues(state, dividend, quotient, result)) {
    rule = kOfTwoValues;
    return result;
  }
  if (!state.MayDivide(dividend)) return QuasiAffineSum::Invalid();
  const Nested nested(&state.division_depth);
  Division division(dividend, m);
  DivisionSplit split;
  const bool splits = SplitAsItComes(state, division, split);
  std::optional<QuasiAffineSum> unnested;
  if (!splits) unnested = UnnestLoneFloor(state, division);
  if (unnested) {
    rule = kUnnesting;
    result = *std::move(unnested);
  } else if (splits || NormalizeUnsplit(state, division, split)) {
    rule = "floor((g*H + L) / m) = floor((H + t) / (m/g))";
    result = FloorDivide(state, split.high, m / split.radix);
    result.AddScaled(division.quotient, 1);
  } else if (LinearInTwoValues(state, division.rest, quotient, result)) {
    rule = kOfTwoValues;
    result.AddScaled(division.quotient, 1);
  } else if (DropWithoutCarry(state, division)) {
    rule = "floor((k*x + Y) / m) = floor((k*x + u) / m)";
    result = FloorDivide(state, division.rest, m);
    result.AddScaled(division.quotient, 1);
  } else {
    result = FloorOfNormal(state, division, rule);
  }
  Join(state, result);
  return result;
}

}  // namespace

QuasiAffineSum FloorDivide(SimplifierState& state, const QuasiAffineSum& dividend, int64_t m) {
  if (m == 1 || !dividend.valid()) return dividend;
  if (dividend.IsConstant()) return QuasiAffineSum(FloorDiv(dividend.constant(), m));
  const char* rule = nullptr;
  QuasiAffineSum result = FloorByRule(state, dividend, m, rule);
  if (state.tracer.is_on()) {
    state.tracer.AddDivision(Atom::Kind::kFloor, dividend, m, rule, result);
  }
  return result;
}

}  // namespace xla_indexing::internal
