// The rules for sums: atoms that meet in a sum become one. M is a mod X mod n, and Q its quotient
// floor(X / n).
//
//   k*M + k*n*Q = k*X                                              the definition of mod
//   n*(Z mod b) + M = (n*Z + M) mod (n*b)                          Q is a summand of Z
//   n*(Z mod b) - M = (n*Z + n - 1 - M) mod (n*b) - (n - 1)        -Q is a summand of Z
//   k*floor(X / m) = s*floor(X / m) + q*(X - r)                    X = r (mod m), k = q*m + s,
//                                                                  s in (-m/2, m/2]
//
// The second holds since M is in [0, n - 1] and n*(Z mod b) is a multiple of n, the third since n - 1
// - M is in [0, n - 1] too. Where Q is a summand of Z it cancels when M = X - n*Q is put in.
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// k*M + k*n*Q = k*X  where `floor`, with coefficient `sign` in Q, has the coefficient that it has in
// k*n*Q.
std::optional<QuasiAffineSum> JoinWithQuotient(const QuasiAffineSum& sum, const AtomTerm& mod,
                                               const AtomTerm& floor) {
  const std::optional<int64_t> step = CheckedMul(mod.coefficient, mod.atom->divisor);
  if (sum.CoefficientOf(floor.atom) != CheckedMul(*step, floor.coefficient)) return std::nullopt;
  QuasiAffineSum joined = sum;
  joined.RemoveTerm(mod.atom);
  joined.AddScaled(mod.atom->dividend, mod.coefficient);
  joined.SubtractScaled(mod.atom->quotient, *step);
  if (!joined.valid()) return std::nullopt;
  return joined;
}

// k*n*(Z mod b) + k*M = k*((n*Z + M) mod (n*b))  and, for the negative coefficient of Z mod b,
// k*n*(Z mod b) - k*M = k*((n*Z + n - 1 - M) mod (n*b)) - k*(n - 1),  where `floor` is in Q and Z.
std::optional<QuasiAffineSum> JoinMods(SimplifierState& state, const QuasiAffineSum& sum,
                                       const AtomTerm& low, const AtomTerm& high,
                                       const AtomTerm& floor) {
  const int64_t n = low.atom->divisor;
  const std::optional<int64_t> step = CheckedMul(low.coefficient, n);
  if (high.coefficient != *step && high.coefficient != CheckedNeg(*step)) return std::nullopt;
  const int64_t direction = high.coefficient == *step ? 1 : -1;
  const Int128 apart = static_cast<Int128>(high.atom->dividend.CoefficientOf(floor.atom)) -
                       direction * floor.coefficient;
  if (apart % high.atom->divisor != 0) return std::nullopt;
  const std::optional<int64_t> modulus = CheckedMul(n, high.atom->divisor);
  const std::optional<int64_t> factor = CheckedMul(direction, low.coefficient);
  if (!modulus || !factor) return std::nullopt;
  QuasiAffineSum dividend = high.atom->dividend;  // becomes n*Z + M or n*Z + n - 1 - M
  dividend.Scale(n);
  dividend.AddScaled(low.atom->dividend, direction);
  dividend.AddScaled(low.atom->quotient, -direction * n);
  if (direction == -1) dividend.AddConstant(n - 1);
  QuasiAffineSum joined = sum;
  joined.RemoveTerm(low.atom);
  joined.RemoveTerm(high.atom);
  joined.AddScaled(Modulo(state, dividend, *modulus), *factor);
  if (direction == -1) joined.AddScaled(QuasiAffineSum(n - 1), low.coefficient);
  if (!joined.valid() || joined.terms().size() >= sum.terms().size()) return std::nullopt;
  return joined;
}

// The sum with the first mod joined that can be.
std::optional<QuasiAffineSum> JoinMod(SimplifierState& state, const QuasiAffineSum& sum) {
  llvm::SmallVector<AtomTerm, 4> mods;
  for (const AtomTerm& term : sum.terms()) {
    if (term.atom->IsMod()) mods.push_back(term);
  }
  for (const AtomTerm& low : mods) {
    if (!CheckedMul(low.coefficient, low.atom->divisor)) continue;
    for (const AtomTerm& floor : low.atom->quotient.terms()) {
      if (!floor.atom->IsFloor() || (floor.coefficient != 1 && floor.coefficient != -1)) continue;
      if (auto joined = JoinWithQuotient(sum, low, floor)) return joined;
      for (const AtomTerm& high : mods) {
        if (auto joined = JoinMods(state, sum, low, high, floor)) return joined;
      }
    }
  }
  return std::nullopt;
}

// k*floor(X / m) = s*floor(X / m) + q*(X - r)  with k = q*m + s, s in (-m/2, m/2], where X = r (mod
// m), so that the division has no remainder but r; for the first floor for which this holds.
std::optional<QuasiAffineSum> DivideExactly(const SimplifierState& state,
                                            const QuasiAffineSum& sum) {
  for (const AtomTerm& term : sum.terms()) {
    const Atom* floor = term.atom;
    if (!floor->IsFloor()) continue;
    const int64_t m = floor->divisor;
    const int64_t residue = FloorMod(term.coefficient, m);
    const int64_t kept = residue > m - residue ? residue - m : residue;
    if (kept == term.coefficient) continue;
    const std::optional<int64_t> r = state.known.ResiduesOf(floor->dividend).ResidueModulo(m);
    const Int128 multiple = (static_cast<Int128>(term.coefficient) - kept) / m;
    if (!r || !NarrowToInt64(-multiple * m)) continue;
    QuasiAffineSum exact = floor->dividend;
    exact.AddConstant(-*r);
    QuasiAffineSum replaced = sum;
    replaced.AddTerm(term.atom, static_cast<int64_t>(-multiple * m));
    replaced.AddScaled(exact, static_cast<int64_t>(multiple));
    if (replaced.valid()) return replaced;
  }
  return std::nullopt;
}

// Every step removes a mod or a floor, replaces two mods by one, or reduces the coefficient of a
// floor for good, since the atoms of its dividend are nested less deep. So steps end.
std::optional<QuasiAffineSum> JoinOnce(SimplifierState& state, const QuasiAffineSum& sum) {
  if (!sum.valid()) return std::nullopt;
  if (state.known.HasFacts()) {
    if (auto divided = DivideExactly(state, sum)) return divided;
  }
  return sum.terms().size() < 2 || !HasMod(sum) ? std::nullopt : JoinMod(state, sum);
}

}  // namespace

void Join(SimplifierState& state, QuasiAffineSum& sum) {
  if (!HasMod(sum) && !state.known.HasFacts()) return;
  const bool traces = state.tracer.is_on();
  const QuasiAffineSum before = traces ? sum : QuasiAffineSum();
  while (std::optional<QuasiAffineSum> joined = JoinOnce(state, sum)) sum = *std::move(joined);
  if (traces) {
    state.tracer.AddSum("digits that meet: X mod n + n * floor(X / n) = X", before, sum);
  }
}

}  // namespace xla_indexing::internal
