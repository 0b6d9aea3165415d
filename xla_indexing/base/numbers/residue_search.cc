#include "xla_indexing/base/numbers/residue_search.h"

#include <cstdint>
#include <optional>

#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// The remainder in [0, m - 1] of any value.
int64_t Remainder(Int128 value, int64_t m) {
  const auto remainder = static_cast<int64_t>(value % m);
  return remainder < 0 ? remainder + m : remainder;
}

// The least t >= 0 with a*t mod m in [l, u], where 0 <= a < m and 0 <= l <= u < m.
std::optional<int64_t> FirstMultiple(int64_t a, int64_t m, int64_t l, int64_t u) {
  if (l == 0) return 0;
  if (a == 0) return std::nullopt;
  const int64_t t = CeilDiv(l, a);
  if (Int128{a} * t <= u) return t;
  // No multiple of a is in [l, u]. Where a*t - m*y is, m*y is in [-u, -l] modulo a.
  const std::optional<int64_t> y =
      FirstMultiple(m % a, a, Remainder(-Int128{u}, a), Remainder(-Int128{l}, a));
  if (!y) return std::nullopt;
  return static_cast<int64_t>((Int128{m} * *y + l + a - 1) / a);
}

// The least t >= 0 with (factor*t + offset) mod m in [l, u].
std::optional<int64_t> First(Int128 factor, Int128 offset, const LinearResidues& residues) {
  const int64_t m = residues.modulus;
  const int64_t l = Remainder(residues.lower - offset, m);
  const int64_t u = Remainder(residues.upper - offset, m);
  // Where the interval wraps around past 0, or is all residues, 0 is in it.
  if (l > u || Int128{residues.upper} - residues.lower == m - 1) return 0;
  return FirstMultiple(Remainder(factor, m), m, l, u);
}

}  // namespace

Interval TightenToResidues(const Interval& interval, const LinearResidues& residues) {
  Interval result = interval;
  const Int128 factor = residues.factor;
  // factor * x + offset, computed with residues of factor and x so that the product fits.
  const auto at = [&](int64_t x) {
    return Int128{Remainder(factor, residues.modulus)} * Remainder(x, residues.modulus) %
               residues.modulus +
           residues.offset;
  };
  if (interval.has_lower()) {
    const std::optional<int64_t> first = First(factor, at(interval.lower()), residues);
    const std::optional<int64_t> lower =
        first ? CheckedAdd(interval.lower(), *first) : std::nullopt;
    if (!first) return Interval::Empty();
    if (!lower) return interval.has_upper() ? Interval::Empty() : interval;
    result = result.Intersect(Interval::AtLeast(*lower));
  }
  if (interval.has_upper()) {
    const std::optional<int64_t> first = First(-factor, at(interval.upper()), residues);
    const std::optional<int64_t> upper =
        first ? CheckedSub(interval.upper(), *first) : std::nullopt;
    if (!first) return Interval::Empty();
    if (!upper) return interval.has_lower() ? Interval::Empty() : interval;
    result = result.Intersect(Interval::AtMost(*upper));
  }
  return result;
}

}  // namespace xla_indexing::internal
