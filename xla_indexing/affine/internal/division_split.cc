// Splits of a dividend whose low part never carries (affine/internal/floor_division.cc).
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// The t with range within [t*m, t*m + m - 1]; none where t*m does not fit.
std::optional<int64_t> CommonQuotient(const Interval& range, int64_t m) {
  if (!range.has_lower() || !range.has_upper() ||
      static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower()) >=
          static_cast<uint64_t>(m)) {
    return std::nullopt;
  }
  const int64_t quotient = FloorDiv(range.lower(), m);
  if (quotient != FloorDiv(range.upper(), m) || !CheckedMul(quotient, m)) return std::nullopt;
  return quotient;
}

// Whether the terms whose coefficients g does not divide take values g or more apart, as far as the
// ranges of their atoms say.
bool IsWideBelow(const QuasiAffineSum& sum, int64_t g) {
  uint64_t width = 0;
  for (const DigitTerm& term : sum.terms()) {
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
  for (const DigitTerm& term : sum.terms()) all = Gcd(all, term.coefficient);
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

// Whether values at at_ends have different quotients by m.
bool HaveTwoQuotients(const std::optional<ValuesAtEnds>& values, int64_t m) {
  return values && FloorDiv(values->at_least, m) != FloorDiv(values->at_greatest, m);
}

}  // namespace

// rest = g*H + L where g divides m and L in [t*g, t*g + g - 1]: the low part never carries into H.
// The greatest g that works is taken, first m itself; what is left splits further.
bool ExprSimplifier::SplitWithoutCarry(Division& division, int64_t m, DivisionSplit& split) {
  // Two values tell sooner than the range that there is no common quotient.
  const bool carries = HasNoAssumptions() && HaveTwoQuotients(ValuesAtEndsOf(division.rest), m);
  const auto carry = carries ? std::nullopt : CommonQuotient(RangeOfRest(division), m);
  if (carry) {
    split.high = QuasiAffineSum(*carry);
    split.low = division.rest;
    split.low.SubtractConstant(*carry * m);
    split.radix = m;
    return true;
  }
  return SplitByRadix(division.rest, m, split);
}

bool ExprSimplifier::SplitByRadix(const QuasiAffineSum& rest, int64_t m, DivisionSplit& split) {
  const bool has_exact_range = bounds_.empty() && IsLinear(rest);
  for (const int64_t g : RadixCandidates(rest, m)) {
    if (has_exact_range && IsWideBelow(rest, g)) continue;
    if (HasNoAssumptions() && HaveTwoQuotients(ValuesAtEndsOf(rest, g), g)) continue;
    split.low = QuasiAffineSum(rest.constant());
    for (const DigitTerm& term : rest.terms()) {
      if (term.coefficient % g != 0) split.low.AddNewTerm(term.atom, term.coefficient);
    }
    const std::optional<int64_t> carry = CommonQuotient(RangeOf(split.low), g);
    if (!carry) continue;
    split.high = QuasiAffineSum(*carry);
    for (const DigitTerm& term : rest.terms()) {
      if (term.coefficient % g == 0) split.high.AddNewTerm(term.atom, term.coefficient / g);
    }
    split.low.SubtractConstant(*carry * g);
    split.radix = g;
    return true;
  }
  return false;
}

}  // namespace xla_indexing::internal
