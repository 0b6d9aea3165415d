// The rules that floors and mods share: they take the dividend apart. X is m*Q + R (division.h).
//
//   k*a in X goes to Q                                             m divides k
//   f(x) = f(l) + (f(l+1) - f(l))*(x - l)                          X depends on x in [l, l+1] alone
//   R = g*(H + t) + (L - t*g), a split                             g | m, L in [t*g, t*g + g - 1]
//   floor((k*x + Y)/m) = floor((k*x + u)/m)                        Y in [u, v], and the same with v, for
//                                                                  each of the few values of x
//   R in its form with the most digits                             it has no more terms
//   c*(X mod n) + R = c*X + R',  R' = R - c*n*floor(X/n)           m divides what floor(X/n) has in R'
//   coefficients become their residues in (-m/2, m/2]
//   R becomes R - r                                                R = r (mod g), g | m, 0 <= r < g
//   the constant becomes such that min R is in [0, m - 1]          R has a least value
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

const Interval& RangeOfRest(SimplifierState& state, Division& division) {
  if (!division.range) division.range = RangeOf(state, division.rest);
  return *division.range;
}

bool LinearInTwoValues(SimplifierState& state, const QuasiAffineSum& sum,
                       llvm::function_ref<int64_t(int64_t)> f, QuasiAffineSum& result) {
  if (!IsOfTwoValues(sum)) return false;
  const AtomTerm& term = sum.terms()[0];
  const Interval& range = term.atom->range;
  const auto at = [&](int64_t x) {
    return NarrowToInt64(static_cast<Int128>(term.coefficient) * x + sum.constant());
  };
  const std::optional<int64_t> first = at(range.lower());
  const std::optional<int64_t> second = at(range.upper());
  if (!first || !second) return false;
  const std::optional<int64_t> step = CheckedSub(f(*second), f(*first));
  const std::optional<int64_t> start =
      step ? NarrowToInt64(f(*first) - static_cast<Int128>(*step) * range.lower()) : std::nullopt;
  if (!start) return false;
  result = QuasiAffineSum(*start);
  result.AddTerm(term.atom, *step);
  Join(state, result);
  return true;
}

void ReduceToResidue(SimplifierState& state, Division& division) {
  if (!state.known.HasFacts()) return;
  const Congruence residues = state.known.ResiduesOf(division.rest);
  if (residues.IsPoint()) return;
  const int64_t g = Gcd(residues.modulus(), division.m);
  const int64_t r = FloorMod(residues.residue(), g);
  if (r == 0 || !CheckedSub(division.rest.constant(), r)) return;
  division.rest.SubtractConstant(r);
  division.RestHasChanged();
}

void ShiftConstant(SimplifierState& state, Division& division) {
  const int64_t constant = division.rest.constant();
  int64_t amount = FloorDiv(constant, division.m);
  if (constant % division.m != 0) {
    const Interval& range = RangeOfRest(state, division);
    if (range.has_lower()) amount = FloorDiv(range.lower(), division.m);
  }
  division.MoveConstant(amount);
}

// --- Splits

namespace {

// The t with range within [t*g, t*g + g - 1]; nullopt if t*g does not fit.
std::optional<int64_t> CommonQuotient(const Interval& range, int64_t g) {
  if (!range.has_lower() || !range.has_upper() ||
      static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower()) >=
          static_cast<uint64_t>(g)) {
    return std::nullopt;
  }
  const int64_t quotient = FloorDiv(range.lower(), g);
  if (quotient != FloorDiv(range.upper(), g) || !CheckedMul(quotient, g)) return std::nullopt;
  return quotient;
}

// Whether the terms whose coefficients g does not divide take values g or more apart, as far as the
// ranges of their atoms say.
bool IsWideBelow(const QuasiAffineSum& sum, int64_t g) {
  uint64_t width = 0;
  for (const AtomTerm& term : sum.terms()) {
    if (term.coefficient % g == 0) continue;
    const Interval& range = term.atom->range;
    if (!range.has_lower() || !range.has_upper()) return true;
    const uint64_t magnitude = term.coefficient < 0 ? -static_cast<uint64_t>(term.coefficient)
                                                    : static_cast<uint64_t>(term.coefficient);
    uint64_t part = static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower());
    if (__builtin_mul_overflow(part, magnitude, &part) ||
        __builtin_add_overflow(width, part, &width) || width >= static_cast<uint64_t>(g)) {
      return true;
    }
  }
  return false;
}

// All gcds of m with the coefficients, and of pairs of those, above 1, greatest first.
llvm::SmallVector<int64_t, 8> RadixCandidates(const QuasiAffineSum& sum, int64_t m) {
  constexpr size_t kMostInPairs = 16;
  llvm::SmallVector<int64_t, 8> candidates;
  size_t num_in_pairs = 0;
  for (const auto& [i, term] : llvm::enumerate(sum.terms())) {
    const int64_t gcd = Gcd(m, term.coefficient);
    if (gcd > 1 && !llvm::is_contained(candidates, gcd)) candidates.push_back(gcd);
    if (i < kMostInPairs) num_in_pairs = candidates.size();
  }
  if (candidates.size() < 2) return candidates;
  int64_t all = m;
  for (const AtomTerm& term : sum.terms()) all = Gcd(all, term.coefficient);
  candidates.push_back(all);
  for (size_t i = 0; i < num_in_pairs; ++i) {
    for (size_t j = i + 1; j < num_in_pairs; ++j) {
      candidates.push_back(Gcd(candidates[i], candidates[j]));
    }
  }
  llvm::sort(candidates, std::greater<>());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  while (!candidates.empty() && candidates.back() <= 1) candidates.pop_back();
  return candidates;
}

// Whether the values at two corners show that there is no common quotient: where every point of the
// box counts they tell it sooner than the range.
bool HaveTwoQuotients(const SimplifierState& state, const std::optional<CornerValues>& values,
                      int64_t g) {
  return state.known.IsBox() && values &&
         FloorDiv(values->at_least, g) != FloorDiv(values->at_greatest, g);
}

bool SplitByRadix(SimplifierState& state, const QuasiAffineSum& rest, int64_t g,
                  DivisionSplit& split) {
  split.low = QuasiAffineSum(rest.constant());
  for (const AtomTerm& term : rest.terms()) {
    if (term.coefficient % g != 0) split.low.AddNewTerm(term.atom, term.coefficient);
  }
  const std::optional<int64_t> carry = CommonQuotient(RangeOf(state, split.low), g);
  if (!carry) return false;
  split.high = QuasiAffineSum(*carry);
  for (const AtomTerm& term : rest.terms()) {
    if (term.coefficient % g == 0) split.high.AddNewTerm(term.atom, term.coefficient / g);
  }
  split.low.SubtractConstant(*carry * g);
  split.radix = g;
  return true;
}

}  // namespace

// First m itself is tried; what is left of H splits further.
bool SplitWithoutCarry(SimplifierState& state, Division& division, DivisionSplit& split) {
  const QuasiAffineSum& rest = division.rest;
  const int64_t m = division.m;
  if (!HaveTwoQuotients(state, CornerValuesOf(rest), m)) {
    if (const auto carry = CommonQuotient(RangeOfRest(state, division), m)) {
      split.high = QuasiAffineSum(*carry);
      split.low = rest;
      split.low.SubtractConstant(*carry * m);
      split.radix = m;
      return true;
    }
  }
  const bool has_exact_range = !state.known.HasBounds() && IsLinear(rest);
  return llvm::any_of(RadixCandidates(rest, m), [&](int64_t g) {
    return !(has_exact_range && IsWideBelow(rest, g)) &&
           !HaveTwoQuotients(state, CornerValuesOf(rest, g), g) &&
           SplitByRadix(state, rest, g, split);
  });
}

// --- Terms without effect

namespace {

// Whether k*x has few values, and not all multiples of gcd(k, m) as residues.
bool HasFewResidues(const AtomTerm& term, int64_t m) {
  constexpr uint64_t kMostValues = 64;
  const Interval& range = term.atom->range;
  if (!range.has_lower() || !range.has_upper()) return false;
  const uint64_t width =
      static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower());
  return width < kMostValues && width + 1 < static_cast<uint64_t>(m) &&
         width + 1 < static_cast<uint64_t>(m / Gcd(term.coefficient, m));
}

// Whether the other terms take values less than m apart, as far as the ranges of their atoms say.
bool AreOthersNarrow(const QuasiAffineSum& sum, const AtomTerm& term, int64_t m) {
  Int128 width = 0;
  return llvm::all_of(sum.terms(), [&](const AtomTerm& other) {
    const Interval& range = other.atom->range;
    if (other.atom == term.atom) return true;
    if (!range.has_lower() || !range.has_upper()) return false;
    const Int128 apart = Int128{range.upper()} - range.lower();
    const Int128 factor = other.coefficient < 0 ? -Int128{other.coefficient} : other.coefficient;
    if (apart >= m || factor >= m) return false;
    width += apart * factor;
    return width < m;
  });
}

// Whether floor((k*x + u)/m) = floor((k*x + v)/m) for every x of its few values.
bool HaveEqualQuotients(const AtomTerm& term, const Interval& other, int64_t m) {
  if (!other.has_lower() || !other.has_upper()) return false;
  const Interval& range = term.atom->range;
  // The residues of the numbers are below m, so that their sum may be looked at in 128 bits.
  const Int128 step = FloorMod(term.coefficient, m);
  Int128 residue = (step * FloorMod(range.lower(), m) + FloorMod(other.lower(), m)) % m;
  const Int128 apart = Int128{other.upper()} - other.lower();
  for (Int128 x = range.lower(); x <= range.upper(); ++x) {
    if (residue + apart >= m) return false;
    residue += step;
    if (residue >= m) residue -= m;
  }
  return true;
}

}  // namespace

std::optional<QuasiAffineSum> DropWithoutCarry(SimplifierState& state, Division& division) {
  const QuasiAffineSum& rest = division.rest;
  if (rest.terms().size() < 2) return std::nullopt;
  for (const AtomTerm& term : rest.terms()) {
    if (!AreOthersNarrow(rest, term, division.m) || !HasFewResidues(term, division.m)) continue;
    QuasiAffineSum others = rest;
    others.RemoveTerm(term.atom);
    const Interval range = state.known.SumOfRanges(others);
    if (!HaveEqualQuotients(term, range, division.m)) continue;
    others.SubtractConstant(range.lower());
    if (!others.valid()) continue;
    QuasiAffineSum kept(range.lower());
    kept.AddNewTerm(term.atom, term.coefficient);
    division.rest = std::move(kept);
    division.RestHasChanged();
    return others;
  }
  return std::nullopt;
}

// --- Normalization

namespace {

// c * (X mod n) + R = c*X + R' with R' = R - c*n*floor(X / n), where the terms of floor(X / n) are
// multiples of m in R', as they are wherever m divides c*n: they leave the division, in which the
// mod of a coarser digit is of no use.
bool DropCoarserMods(SimplifierState& state, Division& division) {
  if (!HasMod(division.rest)) return false;
  QuasiAffineSum rest = division.rest;
  bool found = false;
  for (const AtomTerm& term : division.rest.terms()) {
    const Atom* mod = term.atom;
    if (!mod->IsMod()) continue;
    // The quotient of a mod that has left may have others.
    const int64_t coefficient = rest.CoefficientOf(mod);
    const Int128 step = static_cast<Int128>(coefficient) * mod->divisor;
    if (coefficient == 0 || !NarrowToInt64(-step)) continue;
    QuasiAffineSum without = rest;
    without.RemoveTerm(mod);
    without.AddScaled(mod->dividend, coefficient);
    without.AddScaled(mod->quotient, static_cast<int64_t>(-step));
    const auto leaves = [&](const AtomTerm& of_quotient) {
      return without.CoefficientOf(of_quotient.atom) % division.m == 0;
    };
    if (!without.valid() || !llvm::all_of(mod->quotient.terms(), leaves)) continue;
    rest = std::move(without);
    found = true;
  }
  if (!found) return false;
  division.rest = std::move(rest);
  Join(state, division.rest);
  division.RestHasChanged();
  division.ExtractMultiples();
  return true;
}

// The rest as a sum with as many digits as possible. Whether that is another sum.
bool TakeFormOfDigits(SimplifierState& state, Division& division) {
  if (IsOfDistinctNumbers(division.rest)) return false;
  const QuasiAffineSum mod_free_form = ModFreeForm(division.rest);
  if (!mod_free_form.valid() || !HasFloorAtom(mod_free_form)) return false;
  const QuasiAffineSum& digits = FormOfDigits(state, mod_free_form);
  if (digits.terms().size() > division.rest.terms().size() || digits == division.rest) return false;
  division.rest = digits;
  division.RestHasChanged();
  division.ExtractMultiples();
  return true;
}

}  // namespace

// The sum is tried first as it comes: it has the ranges that whoever made it had in mind.
bool SplitAsItComes(SimplifierState& state, Division& division, DivisionSplit& split) {
  division.ExtractMultiples();
  return SplitWithoutCarry(state, division, split);
}

bool NormalizeUnsplit(SimplifierState& state, Division& division, DivisionSplit& split) {
  bool is_unchanged = true;  // since the multiples were moved
  const auto changed_and_splits = [&](bool changed) {
    if (changed) is_unchanged = false;
    return changed && SplitWithoutCarry(state, division, split);
  };
  if (!IsLinear(division.rest)) {
    if (changed_and_splits(TakeFormOfDigits(state, division))) return true;
    if (changed_and_splits(DropCoarserMods(state, division))) return true;
  }
  if (changed_and_splits(division.ReduceResidues())) return true;
  division.is_normal = is_unchanged || IsLinear(division.rest);
  return false;
}

}  // namespace xla_indexing::internal
