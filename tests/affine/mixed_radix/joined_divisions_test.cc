// Divisions of which one is left: floors in floors, floors and mods of one sum that meet, and mods that
// take a constant in. The conditions are found by looking at all residues, here by the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class JoinedDivisionsTest : public ExprFixture {
 protected:
  // Expects that the form has the values of the expression, and no more divisions than told.
  AffineExpr ExpectFewDivisions(AffineExpr e, int64_t divisions) {
    const AffineExpr form = ExprSimplifier(&context_, box_, {}).Simplify(e);
    ForEachPoint(box_, [&](const std::vector<int64_t>& point) {
      EXPECT_EQ(static_cast<int64_t>(Value(form, point, {})),
                static_cast<int64_t>(Value(e, point, {})))
          << ToString(e) << " became " << ToString(form);
    });
    EXPECT_LE(SizeOf(form).divisions, divisions) << ToString(e) << " became " << ToString(form);
    return form;
  }
  AffineExpr Linear(int64_t factor, int64_t constant) {
    return Add(Scale(D(0), factor), Constant(constant, &context_));
  }

  std::vector<Interval> box_ = {Interval::Closed(-9, 23)};
};

// floor((g*(p*x + floor((q*x + r)/a)) + t) / m) where g divides m.
TEST_F(JoinedDivisionsTest, AFloorInAFloorIsOne) {
  for (const int64_t sign : {-1, 1}) {
    for (int64_t a = 2; a <= 4; ++a) {
      for (int64_t m = 2; m <= 6; ++m) {
        for (int64_t g = 1; g <= m; ++g) {
          if (m % g != 0) continue;
          for (int64_t p = -2; p <= 2; ++p) {
            for (int64_t q = 1; q <= 3; ++q) {
              for (int64_t t = -1; t <= 4; t += 2) {
                const AffineExpr inner = FloorDiv(Linear(q, t - 1), a);
                const AffineExpr sum = Add(Linear(p, 0), Scale(inner, sign));
                const AffineExpr outer = Add(Scale(sum, g), Constant(t, &context_));
                ExpectFewDivisions(FloorDiv(outer, m), 1);
                if (HasFailure()) return;
              }
            }
          }
        }
      }
    }
  }
}

// The floor of the digits x floordiv 2 + x mod 2, which are x - x floordiv 2, is one as well.
TEST_F(JoinedDivisionsTest, AFloorInAFloorIsFoundAmongDigits) {
  for (int64_t m = 2; m <= 5; ++m) {
    for (int64_t c = -3; c <= 3; ++c) {
      const AffineExpr x = Linear(1, c);
      ExpectFewDivisions(FloorDiv(Add(FloorDiv(x, 2), Mod(x, 2)), m), 1);
      ExpectFewDivisions(FloorDiv(Add(Linear(3, c), Mod(D(0), 2)), 4), 1);
    }
  }
}

// Whether a'*(Y mod a) + b'*(Z mod b) takes values less than m = lcm(a, b) apart.
bool AreNear(int64_t y0, int64_t y1, int64_t a, int64_t z0, int64_t z1, int64_t b) {
  const int64_t m = std::lcm(a, b);
  std::vector<int64_t> rests;
  for (int64_t x = 0; x < m; ++x) {
    rests.push_back(m / a * FloorMod(y0 * x + y1, a) + m / b * FloorMod(z0 * x + z1, b));
  }
  const auto [least, greatest] = std::minmax_element(rests.begin(), rests.end());
  return *greatest - *least < m;
}

TEST_F(JoinedDivisionsTest, FloorsWhoseRestsAreNearAreOne) {
  int joined = 0;
  for (int64_t a = 2; a <= 4; ++a) {
    for (int64_t b = 2; b <= 6; ++b) {
      for (int64_t y0 = 1; y0 <= 3; ++y0) {
        for (int64_t z0 = -3; z0 <= 4; ++z0) {
          for (int64_t z1 = -2; z1 <= 3; ++z1) {
            for (const int64_t k : {1, -2}) {
              if (z0 == 0) continue;
              const AffineExpr first = Scale(FloorDiv(Linear(y0, 1), a), k);
              const AffineExpr second = Scale(FloorDiv(Linear(z0, z1), b), k);
              if (AreNear(y0, 1, a, z0, z1, b)) {
                ++joined;
                ExpectFewDivisions(Add(first, second), 1);
              }
              if (AreNear(y0, 1, a, -z0, -z1 - 1, b)) {
                ++joined;
                ExpectFewDivisions(Sub(first, second), 1);
              }
              if (HasFailure()) return;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(joined, 500);
}

// Divisors that are too large for the forms of a sum to be looked at one by one.
TEST_F(JoinedDivisionsTest, DivisionsOfOneSumByLargeNumbersAreOne) {
  box_ = {Interval::Closed(-20, 40), Interval::Closed(0, 12)};
  const AffineExpr l = Add(Scale(D(0), 2), Scale(D(1), 3));
  const auto multiple = [&](int64_t factor, int64_t constant) {
    return Add(Scale(l, factor), Constant(constant, &context_));
  };
  int floors = 0;
  int mods = 0;
  for (const int64_t m : {15, 20, 45}) {
    for (const auto& [y0, z0] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {2, -1}, {3, 3}, {5, 5}}) {
      for (int64_t z1 = 0; z1 < m; ++z1) {
        if (!AreNear(y0, 7, m, z0, z1, m)) continue;
        ++floors;
        ExpectFewDivisions(Add(FloorDiv(multiple(y0, 7), m), FloorDiv(multiple(z0, z1), m)), 1);
        // Mods of a negative multiple have another form before they meet.
        if (z0 < 0) continue;
        ++mods;
        ExpectFewDivisions(Add(Mod(multiple(y0, 7), m), Mod(multiple(z0, z1), m)), 1);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(floors, 20);
  EXPECT_GT(mods, 20);
}

// A mod whose coefficients have a divisor in common with m is a multiple of another mod.
TEST_F(JoinedDivisionsTest, ModsThatAreNearAreOne) {
  int joined = 0;
  for (int64_t m = 2; m <= 6; ++m) {
    for (int64_t y0 = 1; y0 < m; ++y0) {
      for (int64_t z0 = 1; z0 < m; ++z0) {
        if (std::gcd(y0, m) > 1 || std::gcd(z0, m) > 1) continue;
        for (int64_t z1 = 0; z1 < m; ++z1) {
          const AffineExpr first = Mod(Linear(y0, 0), m);
          const AffineExpr second = Mod(Linear(z0, z1), m);
          if (AreNear(y0, 0, m, z0, z1, m)) {
            ++joined;
            ExpectFewDivisions(Add(first, second), 1);
          }
          if (AreNear(y0, 0, m, -z0, -z1 - 1, m)) {
            ++joined;
            ExpectFewDivisions(Sub(first, second), 1);
          }
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(joined, 50);
}

// k*(Y mod m) + c = (k*Y + c) mod (k*m) for c in [0, k - 1], and so for k < 0 with another sign of Y.
TEST_F(JoinedDivisionsTest, AModTakesAConstantIn) {
  for (int64_t m = 3; m <= 6; ++m) {
    for (int64_t k = 2; k <= 4; ++k) {
      for (int64_t y1 = 0; y1 < m; ++y1) {
        for (int64_t c = 0; c < k; ++c) {
          const AffineExpr outside = Add(Scale(Mod(Linear(1, y1), m), k), Constant(c, &context_));
          const AffineExpr inside = Mod(Linear(k, k * y1 + c), k * m);
          const AffineExpr negative = Sub(Constant(k * m - 1, &context_), inside);
          EXPECT_EQ(ExpectFewDivisions(outside, 1), ExpectFewDivisions(inside, 1));
          EXPECT_EQ(ExpectFewDivisions(negative, 1),
                    ExpectFewDivisions(Mod(Linear(-k, -k * y1 - c - 1), k * m), 1));
          if (HasFailure()) return;
        }
      }
    }
  }
}

// What is left of a dividend may take two values only when its multiples have left.
TEST_F(JoinedDivisionsTest, WhatIsLeftOfTwoValuesIsLinear) {
  for (int64_t m = 2; m <= 5; ++m) {
    for (int64_t k = 1; k < m; ++k) {
      for (int64_t c = 0; c < m; ++c) {
        const AffineExpr digit = Scale(Mod(D(0), 2), k);
        const AffineExpr sum = Add(Add(Linear(m, c), digit), Scale(FloorDiv(D(0), 3), m));
        ExpectFewDivisions(FloorDiv(sum, m), 2);
        ExpectFewDivisions(Mod(sum, m), 1);
        if (HasFailure()) return;
      }
    }
  }
}

// X mod 2 - 2*(Z mod 2) joins like X mod 2 + 2*(Z mod 2), since -(Z mod 2) = (Z + 1) mod 2 - 1.
TEST_F(JoinedDivisionsTest, DigitsBelowTwoJoinWithEitherSign) {
  for (int64_t n = 2; n <= 4; ++n) {
    const AffineExpr low = Mod(D(0), n);
    const AffineExpr high = Mod(FloorDiv(D(0), n), 2);
    ExpectFewDivisions(Add(low, Scale(high, n)), 1);
    ExpectFewDivisions(Sub(low, Scale(high, n)), 1);
    ExpectFewDivisions(Sub(Scale(high, n), low), 1);
  }
}

}  // namespace
}  // namespace xla_indexing::internal
