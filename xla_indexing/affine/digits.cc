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
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

LinearSum ExprSimplifier::Join(LinearSum sum) {
  // Every step removes a mod atom, puts one in the place of two, or reduces the coefficient of a
  // floor atom for good, since the atoms of its dividend are nested less deep.
  while (sum.valid() && ((!facts_.empty() && ReplaceExactDivision(sum)) ||
                         (sum.terms().size() > 1 && JoinOnce(sum)))) {
  }
  return sum;
}

bool ExprSimplifier::JoinOnce(LinearSum& sum) {
  llvm::SmallVector<std::pair<Term, const ModAtom*>, 4> mods;
  for (const Term& term : sum.terms()) {
    if (const ModAtom* mod = LookUpModAtom(term.atom)) mods.push_back({term, mod});
  }
  for (const auto& [low, low_mod] : mods) {
    int64_t n = low_mod->modulus;
    std::optional<int64_t> step = CheckedMul(low.coefficient, n);
    if (!step) continue;
    for (const Term& quotient_term : low_mod->quotient.terms()) {
      AffineExpr floor = quotient_term.atom;
      int64_t sign = quotient_term.coefficient;
      if (!LookUpFloorAtom(floor) || (sign != 1 && sign != -1)) continue;

      if (sum.CoefficientOf(floor) == *step * sign) {
        LinearSum joined = sum;
        joined.AddTerm(low.atom, -low.coefficient);
        joined.AddScaled(low_mod->dividend, low.coefficient);
        joined.AddScaled(low_mod->quotient, -*step);
        if (joined.valid()) {
          sum = std::move(joined);
          return true;
        }
      }
      for (const auto& [high, high_mod] : mods) {
        if (high.coefficient != *step && high.coefficient != -*step) continue;
        int64_t direction = high.coefficient == *step ? 1 : -1;
        if (high_mod->dividend.CoefficientOf(floor) != direction * sign) continue;
        std::optional<int64_t> modulus = CheckedMul(n, high_mod->modulus);
        if (!modulus) continue;
        LinearSum value = high_mod->dividend;  // n*Z + M or n*Z + n - 1 - M
        value.Scale(n);
        value.AddScaled(low_mod->dividend, direction);
        value.AddScaled(low_mod->quotient, -direction * n);
        if (direction == -1) value.AddConstant(n - 1);
        LinearSum joined = sum;
        joined.AddTerm(low.atom, -low.coefficient);
        joined.AddTerm(high.atom, -high.coefficient);
        joined.AddScaled(Modulo(value, *modulus), direction * low.coefficient);
        if (direction == -1) {
          joined.AddScaled(LinearSum(n - 1), low.coefficient);
        }
        if (!joined.valid() || joined.terms().size() >= sum.terms().size()) continue;
        sum = std::move(joined);
        return true;
      }
    }
  }
  return false;
}

}  // namespace xla_indexing
