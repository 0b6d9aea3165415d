// The rules for sums: atoms that meet in a sum become one. M is a mod X mod n, and Q its quotient
// floor(X / n).
//
//   k*M + k*n*Q = k*X                                              the definition of mod
//   n*(Z mod b) + M = (n*Z + M) mod (n*b)                          Q is a summand of Z
//   n*(Z mod b) - M = (n*Z + n - 1 - M) mod (n*b) - (n - 1)        -Q is a summand of Z
//   k*floor(X / m) = s*floor(X / m) + q*(X - r)                    X = r (mod m), k = q*m + s,
//                                                                  s in (-m/2, m/2]
//   k*floor(Y/a) + k*floor(Z/b) = k*floor((a'*Y + b'*Z - c) / m)   a*a' = b*b' = m, for all integers
//                                                                  a'*(Y mod a) + b'*(Z mod b) is in
//                                                                  [c, c + m - 1]
//   k*(Y mod m) + k*(Z mod m) = k*((Y + Z - c) mod m) + k*c        Y mod m + Z mod m is there as well
//
// The second holds since M is in [0, n - 1] and n*(Z mod b) is a multiple of n, the third since n - 1
// - M is in [0, n - 1] too. Where Q is a summand of Z it cancels when M = X - n*Q is put in.
#include <algorithm>
#include <cstddef>
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

// Y = factor*L + constant, where L is a sum of multiples of variables without a common divisor.
struct MultipleOfSum {
  int64_t factor = 0;
  int64_t constant = 0;
};

// The residues of Y modulo m for L = 0, 1, ..
class ResiduesInTurn {
 public:
  ResiduesInTurn(const MultipleOfSum& y, int64_t m)
      : m_(m), step_(FloorMod(y.factor, m)), residue_(FloorMod(y.constant, m)) {}
  int64_t Next() {
    const int64_t residue = residue_;
    residue_ += step_;
    if (residue_ >= m_) residue_ -= m_;
    return residue;
  }

 private:
  int64_t m_;
  int64_t step_;
  int64_t residue_;
};

// Both dividends as multiples of the L of the first; nullopt if the second is no multiple of that.
std::optional<std::pair<MultipleOfSum, MultipleOfSum>> AsMultiplesOfOneSum(
    const QuasiAffineSum& first, const QuasiAffineSum& second) {
  const int64_t g = first.CoefficientGcd();
  if (g == 0 || first.terms().size() != second.terms().size()) return std::nullopt;
  const std::optional<int64_t> factor =
      ExactQuotient(second.CoefficientOf(first.terms()[0].atom), first.terms()[0].coefficient / g);
  if (!factor || *factor == 0) return std::nullopt;
  const auto is_multiple = [&](const AtomTerm& term) {
    return static_cast<Int128>(term.coefficient / g) * *factor == second.CoefficientOf(term.atom);
  };
  if (!llvm::all_of(first.terms(), is_multiple)) return std::nullopt;
  return std::pair(MultipleOfSum{g, first.constant()}, MultipleOfSum{*factor, second.constant()});
}

// The c for which a'*(Y mod a) + b'*(Z mod b) is in [c, c + m - 1] for all integers L, of which Y and Z
// are made; a*a' = b*b' = m. Nullopt if there is no such c, and where m is large.
constexpr int64_t kMostResidues = 64;
std::optional<int64_t> LeastSumOfResidues(const QuasiAffineSum& y, int64_t a,
                                          const QuasiAffineSum& z, int64_t b, int64_t m) {
  const auto multiples = AsMultiplesOfOneSum(y, z);
  if (!multiples) return std::nullopt;
  ResiduesInTurn of_y(multiples->first, a);
  ResiduesInTurn of_z(multiples->second, b);
  const int64_t times_y = m / a;
  const int64_t times_z = m / b;
  int64_t least = kInt64Max;
  int64_t greatest = 0;
  for (int64_t i = 0; i < m; ++i) {
    const int64_t rest = times_y * of_y.Next() + times_z * of_z.Next();
    least = std::min(least, rest);
    greatest = std::max(greatest, rest);
    if (greatest - least >= m) return std::nullopt;
  }
  return least;
}

// k*floor(Y/a) + k*floor(Z/b) = k*floor((a'*Y + b'*Z - c) / m)  and, where a = b = m,
// k*(Y mod m) + k*(Z mod m) = k*((Y + Z - c) mod m) + k*c.  What is taken away is one of -Z - 1:
// -floor(Z/b) = floor((-Z - 1)/b) + 1 and -(Z mod b) = (-Z - 1) mod b - (b - 1).
std::optional<QuasiAffineSum> JoinDivisions(SimplifierState& state, const QuasiAffineSum& sum,
                                            const AtomTerm& first, const AtomTerm& second) {
  const int64_t k = first.coefficient;
  const bool is_negative = k != second.coefficient;
  if (is_negative && k != CheckedNeg(second.coefficient)) return std::nullopt;
  const int64_t a = first.atom->divisor;
  const int64_t b = second.atom->divisor;
  if (first.atom->kind != second.atom->kind || (first.atom->IsMod() && a != b) ||
      a > kMostResidues || b > kMostResidues) {
    return std::nullopt;
  }
  const int64_t m = a / Gcd(a, b) * b;
  if (m > kMostResidues || !IsLinear(first.atom->dividend) || !IsLinear(second.atom->dividend)) {
    return std::nullopt;
  }
  QuasiAffineSum z = second.atom->dividend;
  if (is_negative) {
    z.Scale(-1);
    z.SubtractConstant(1);
  }
  if (!z.valid()) return std::nullopt;
  const std::optional<int64_t> c = LeastSumOfResidues(first.atom->dividend, a, z, b, m);
  if (!c) return std::nullopt;
  QuasiAffineSum dividend(-*c);
  dividend.AddScaled(first.atom->dividend, m / a);
  dividend.AddScaled(z, m / b);
  QuasiAffineSum joined = sum;
  joined.RemoveTerm(first.atom);
  joined.RemoveTerm(second.atom);
  if (first.atom->IsMod()) {
    joined.AddScaled(Modulo(state, dividend, m), k);
    joined.AddScaled(QuasiAffineSum(*c - (is_negative ? m - 1 : 0)), k);
  } else {
    joined.AddScaled(FloorDivide(state, dividend, m), k);
    if (is_negative) joined.AddConstant(k);
  }
  if (!joined.valid()) return std::nullopt;
  return joined;
}

// Whether two terms are divisions of one kind, with the same factor but for its sign.
bool HasLikeDivisions(const QuasiAffineSum& sum) {
  const llvm::ArrayRef<AtomTerm> terms = sum.terms();
  for (size_t i = 1; i < terms.size(); ++i) {
    if (!terms[i].atom->IsFloor() && !terms[i].atom->IsMod()) continue;
    for (size_t j = 0; j < i; ++j) {
      if (terms[i].atom->kind == terms[j].atom->kind &&
          (terms[i].coefficient == terms[j].coefficient ||
           terms[i].coefficient == CheckedNeg(terms[j].coefficient))) {
        return true;
      }
    }
  }
  return false;
}

// The sum with the first two divisions joined that can be, in summand order.
std::optional<QuasiAffineSum> JoinTwoDivisions(SimplifierState& state, const QuasiAffineSum& sum) {
  llvm::SmallVector<AtomTerm, 4> divisions;
  for (const AtomTerm& term : sum.terms()) {
    const bool is_division = term.atom->IsFloor() || term.atom->IsMod();
    if (is_division && term.atom->divisor <= kMostResidues) divisions.push_back(term);
  }
  llvm::sort(divisions,
             [](const AtomTerm& a, const AtomTerm& b) { return AtomLess(a.atom, b.atom); });
  for (size_t i = 0; i < divisions.size(); ++i) {
    for (size_t j = i + 1; j < divisions.size(); ++j) {
      if (auto joined = JoinDivisions(state, sum, divisions[i], divisions[j])) return joined;
    }
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
  if (sum.terms().size() < 2) return std::nullopt;
  if (HasMod(sum)) {
    if (auto joined = JoinMod(state, sum)) return joined;
  }
  return HasLikeDivisions(sum) ? JoinTwoDivisions(state, sum) : std::nullopt;
}

}  // namespace

void Join(SimplifierState& state, QuasiAffineSum& sum) {
  if (!HasMod(sum) && !state.known.HasFacts() && !HasLikeDivisions(sum)) return;
  const bool traces = state.tracer.is_on();
  const QuasiAffineSum before = traces ? sum : QuasiAffineSum();
  while (std::optional<QuasiAffineSum> joined = JoinOnce(state, sum)) sum = *std::move(joined);
  if (traces) {
    state.tracer.AddSum("digits that meet: X mod n + n * floor(X / n) = X", before, sum);
  }
}

}  // namespace xla_indexing::internal
