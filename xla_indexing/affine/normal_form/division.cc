#include "xla_indexing/affine/normal_form/division.h"

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

namespace {

// The residue of c in (-m/2, m/2].
int64_t SymmetricResidue(int64_t c, int64_t m) {
  const int64_t residue = FloorMod(c, m);
  return residue > m - residue ? residue - m : residue;
}

}  // namespace

// Leaves residue(term) of the coefficient of every term in the rest; what is taken away must be a
// multiple of m and goes to the quotient, unless the numbers do not fit int64. Returns whether
// anything was taken.
template <typename Residue>
bool Division::MoveToQuotient(Residue residue) {
  return rest.ReplaceCoefficients([&](const AtomTerm& term) {
    const int64_t left = residue(term);
    if (left == term.coefficient) return left;
    const Int128 taken = static_cast<Int128>(term.coefficient) - left;
    if (!NarrowToInt64(-taken)) return term.coefficient;
    const std::optional<int64_t> narrow = NarrowToInt64(taken);
    quotient.AddTerm(term.atom, narrow ? *narrow / m : static_cast<int64_t>(taken / m));
    return left;
  });
}

void Division::MoveConstant(int64_t amount) {
  if (amount == 0) return;
  const std::optional<int64_t> taken = NarrowToInt64(-static_cast<Int128>(amount) * m);
  if (!taken || !CheckedAdd(rest.constant(), *taken)) return;
  quotient.AddConstant(amount);
  rest.AddConstant(*taken);
  if (range) range = range->Add(*taken);
}

void Division::ExtractMultiples() {
  const bool moved = MoveToQuotient(
      [this](const AtomTerm& term) { return term.coefficient % m == 0 ? 0 : term.coefficient; });
  if (moved) RestHasChanged();
  MoveConstant(FloorDiv(rest.constant(), m));
}

bool Division::ReduceResidues() {
  const bool moved = MoveToQuotient([this](const AtomTerm& term) {
    const int64_t residue = SymmetricResidue(term.coefficient, m);
    const bool keeps_sign =
        residue > 0 && residue == m - residue && term.coefficient < 0 && term.atom->IsFloor();
    return keeps_sign ? -residue : residue;
  });
  if (moved) RestHasChanged();
  return moved;
}

void Division::TakeSymmetricResidues() {
  if (MoveToQuotient(
          [this](const AtomTerm& term) { return SymmetricResidue(term.coefficient, m); })) {
    RestHasChanged();
  }
}

// A split of one is a split of the other, -(g*H + L) - 1 = g*(-H - 1) + (g - 1 - L), so that the
// rest stays normal.
void Division::Negate() {
  rest.Scale(-1);
  rest.AddConstant(-1);
  if (range) range = range->Mul(-1).Add(-1);
  quotient.Scale(-1);
  negated = !negated;
}

void Division::NormalizeSignAndResidues() {
  // A coefficient m/2 has no sign of its own: m/2 and -m/2 are one residue. Only floors keep the
  // sign of such a coefficient; they decide where there is no other.
  rest.Sort();
  const auto is_small_and_positive = [this](const AtomTerm& term) {
    return term.coefficient > 0 && term.coefficient <= m - term.coefficient;
  };
  if (llvm::all_of(rest.terms(), is_small_and_positive)) return;  // as they nearly always are
  const auto is_half = [this](const AtomTerm& term) {
    const Int128 twice = static_cast<Int128>(term.coefficient) * 2;
    return twice == m || twice == -static_cast<Int128>(m);
  };
  const AtomTerm* leading = llvm::find_if_not(rest.terms(), is_half);
  if (leading == rest.terms().end()) {
    leading =
        llvm::find_if(rest.terms(), [](const AtomTerm& term) { return term.atom->IsFloor(); });
  }
  if (leading != rest.terms().end() && leading->coefficient < 0) Negate();
  ReduceResidues();  // m/2 may have become -m/2
  const auto is_negative = [](const AtomTerm& term) { return term.coefficient < 0; };
  if (llvm::none_of(rest.terms(), is_negative)) return;

  rest.Sort();
  Int128 sum = 0;
  Int128 negated_sum = 0;
  int first_greater = 0;  // where the coefficients differ first
  for (const AtomTerm& term : rest.terms()) {
    const int64_t residue = FloorMod(term.coefficient, m);
    sum += residue;
    negated_sum += m - residue;
    if (first_greater == 0 && residue != m - residue) {
      first_greater = residue > m - residue ? 1 : -1;
    }
  }
  if (negated_sum < sum || (negated_sum == sum && first_greater < 0)) Negate();
  MoveToQuotient([this](const AtomTerm& term) { return FloorMod(term.coefficient, m); });
  RestHasChanged();
}

}  // namespace xla_indexing::internal
