#include "xla_indexing/map/expr/shift.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

TEST(ShiftTest, SumsAndDivisionsRepeatAsTheShiftSays) {
  for (int64_t k = -7; k <= 7; ++k) {
    for (int64_t m = 1; m <= 9; ++m) {
      for (const bool is_mod : {false, true}) {
        for (const int64_t n : {2, 6}) {
          // f(v) = k*v + 2 * ((3*v + 1) floordiv n), and its quotient or remainder.
          const Shift inner = *Shift().Plus(Shift{1, 1}, 3)->Divided(n, /*is_mod=*/false);
          const Shift sum = *Shift().Plus(Shift{1, 1}, k)->Plus(inner, 2);
          const Shift divided = *sum.Divided(m, is_mod);
          const auto f = [&](int64_t v) { return k * v + 2 * FloorDiv(3 * v + 1, n); };
          const auto g = [&](int64_t v) { return is_mod ? FloorMod(f(v), m) : FloorDiv(f(v), m); };
          for (int64_t v = -20; v <= 20; ++v) {
            ASSERT_EQ(f(v + sum.period), f(v) + sum.change) << k << ' ' << n;
            ASSERT_EQ(g(v + divided.period), g(v) + divided.change) << k << ' ' << m << ' ' << n;
          }
        }
      }
    }
  }
}

TEST(ShiftTest, NumbersThatDoNotFitAreNone) {
  EXPECT_EQ((Shift{kInt64Max, 1}).Plus(Shift{2, 1}, 1), std::nullopt);
  EXPECT_EQ((Shift{1, kInt64Max}).Plus(Shift{1, 1}, 1), std::nullopt);
  EXPECT_EQ((Shift{3, 1}).Divided(kInt64Max, /*is_mod=*/true), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal
