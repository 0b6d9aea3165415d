// How a function of one integer v repeats itself:  f(v + period) = f(v) + change  for all v.
//
// Mathematics. v has the shift (1, 1), and a constant any. A sum shifts as its terms do, by the least
// common multiple of their periods. Where f shifts by P and c, with n = m / gcd(m, c),
//
//   f mod m        shifts by n*P and 0
//   f floordiv m   shifts by n*P and n*c / m
//
// Example: 4 * (v mod 6) + v floordiv 6 shifts by 6 and 1.
#ifndef XLA_INDEXING_MAP_EXPR_SHIFT_H_
#define XLA_INDEXING_MAP_EXPR_SHIFT_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

struct Shift {
  int64_t period = 1;
  int64_t change = 0;

  // The shift of f + factor * g. None, here and below, where a number does not fit int64.
  std::optional<Shift> Plus(const Shift& g, int64_t factor) const {
    const std::optional<int64_t> both = CheckedMul(period / Gcd(period, g.period), g.period);
    if (!both) return std::nullopt;
    const std::optional<int64_t> of_g = CheckedMul(g.change, *both / g.period);
    if (!of_g) return std::nullopt;
    const std::optional<int64_t> sum =
        NarrowToInt64(Int128{change} * (*both / period) + Int128{*of_g} * factor);
    return sum ? std::optional(Shift{*both, *sum}) : std::nullopt;
  }

  // The shift of f mod divisor, or else of f floordiv divisor; the divisor is positive.
  std::optional<Shift> Divided(int64_t divisor, bool is_mod) const {
    const int64_t times = divisor / Gcd(divisor, change);
    const std::optional<int64_t> many = CheckedMul(period, times);
    const std::optional<int64_t> change_of_all = CheckedMul(change, times);
    if (!many || !change_of_all) return std::nullopt;
    return Shift{*many, is_mod ? 0 : *change_of_all / divisor};
  }

  friend bool operator==(const Shift& a, const Shift& b) = default;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_SHIFT_H_
