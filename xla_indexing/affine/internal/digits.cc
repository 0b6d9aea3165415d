// Digits that meet in a sum. For a mod atom M = X mod n with the quotient Q = floor(X / n),
//
//   k*M + k*n*Q      = k*X                                        by definition
//   n*(Z mod b) + M  = (n*Z + M) mod (n*b)                        since M is in [0, n - 1]
//   n*(Z mod b) - M  = (n*Z + n - 1 - M) mod (n*b) - (n - 1)      the same for n - 1 - M
//
// where Z has the floor atom of Q as a summand, so that it cancels when M = X - n*Q is put in.
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

void ExprSimplifier::Join(QuasiAffineSum& sum) {
  if (sum.terms().size() < 2 && facts_.empty()) return;
  const QuasiAffineSum before = trace_ ? sum : QuasiAffineSum();
  // Every step removes a mod atom, puts one in the place of two, or reduces the coefficient of a
  // floor atom for good, since the atoms of its dividend are nested less deep.
  while (sum.valid() && ((!facts_.empty() && ReplaceExactDivision(sum)) ||
                         (sum.terms().size() > 1 && JoinOnce(sum)))) {
  }
  if (trace_) TraceSum("digits that meet: X mod n + n * floor(X / n) = X", before, sum);
}

bool ExprSimplifier::JoinOnce(QuasiAffineSum& sum) {
  if (!HasMod(sum)) return false;
  llvm::SmallVector<DigitTerm, 4> mods;
  for (const DigitTerm& term : sum.terms()) {
    if (term.atom->IsMod()) mods.push_back(term);
  }
  for (const DigitTerm& low : mods) {
    const DigitAtom* low_mod = low.atom;
    int64_t n = low_mod->divisor;
    std::optional<int64_t> step = CheckedMul(low.coefficient, n);
    if (!step) continue;
    for (const DigitTerm& quotient_term : low_mod->quotient.terms()) {
      const DigitAtom* floor = quotient_term.atom;
      int64_t sign = quotient_term.coefficient;
      if (!floor->IsFloor() || (sign != 1 && sign != -1)) continue;

      if (sum.CoefficientOf(floor) == CheckedMul(*step, sign)) {
        QuasiAffineSum joined = sum;
        joined.RemoveTerm(low.atom);
        joined.AddScaled(low_mod->dividend, low.coefficient);
        joined.SubtractScaled(low_mod->quotient, *step);
        if (joined.valid()) {
          sum = std::move(joined);
          return true;
        }
      }
      for (const DigitTerm& high : mods) {
        const DigitAtom* high_mod = high.atom;
        if (high.coefficient != *step && high.coefficient != CheckedNeg(*step)) continue;
        int64_t direction = high.coefficient == *step ? 1 : -1;
        if (high_mod->dividend.CoefficientOf(floor) != direction * sign) continue;
        std::optional<int64_t> modulus = CheckedMul(n, high_mod->divisor);
        const std::optional<int64_t> factor = CheckedMul(direction, low.coefficient);
        if (!modulus || !factor) continue;
        QuasiAffineSum value = high_mod->dividend;  // n*Z + M or n*Z + n - 1 - M
        value.Scale(n);
        value.AddScaled(low_mod->dividend, direction);
        value.AddScaled(low_mod->quotient, -direction * n);
        if (direction == -1) value.AddConstant(n - 1);
        QuasiAffineSum joined = sum;
        joined.RemoveTerm(low.atom);
        joined.RemoveTerm(high.atom);
        joined.AddScaled(Modulo(value, *modulus), *factor);
        if (direction == -1) {
          joined.AddScaled(QuasiAffineSum(n - 1), low.coefficient);
        }
        if (!joined.valid() || joined.terms().size() >= sum.terms().size()) continue;
        sum = std::move(joined);
        return true;
      }
    }
  }
  return false;
}

}  // namespace xla_indexing::internal
