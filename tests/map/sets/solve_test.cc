#include "xla_indexing/map/sets/solve.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ResidueValueTest = ExprFixture;

TEST_F(ResidueValueTest, NothingIsKnownOfIntegersWithoutEquations) {
  const ResidueValue x;
  EXPECT_EQ(x.In(Interval::Closed(0, 1)), mlir::AffineExpr());
  EXPECT_EQ(x.Modulo(2), mlir::AffineExpr());
}

TEST_F(ResidueValueTest, AnEquationIsDividedModuloItsOtherSummand) {
  ResidueValue x;
  x.Know(3, 7, D(0));
  EXPECT_EQ(ToString(x.In(Interval::Closed(0, 6))), "(d0 * 5) mod 7");
  EXPECT_EQ(ToString(x.Modulo(7)), "(d0 * 5) mod 7");
  EXPECT_EQ(x.In(Interval::Closed(0, 7)), mlir::AffineExpr());
  EXPECT_EQ(x.In(Interval::AtLeast(0)), mlir::AffineExpr());
  EXPECT_EQ(x.Modulo(14), mlir::AffineExpr());
}

// c*x + g*y = d0 and c'*x + g'*z = d1: x is known of as many values as the least common multiple of
// g/gcd(c, g) and g'/gcd(c', g') says, and no more.
TEST_F(ResidueValueTest, TwoEquationsSayWhatChineseRemaindersDo) {
  const auto for_all_factors = [](auto visit) {
    for (const int64_t c : {-3, -1, 2, 4, 5}) {
      for (const int64_t g : {1, 3, 4, 6, 10}) visit(c, g);
    }
  };
  int known = 0;
  for_all_factors([&](int64_t c, int64_t g) {
    for_all_factors([&](int64_t c2, int64_t g2) {
      ResidueValue x;
      x.Know(c, g, D(0));
      x.Know(c2, g2, D(1));
      const int64_t lcm = std::lcm(g / std::gcd(c, g), g2 / std::gcd(c2, g2));
      for (const int64_t size : {2, 3, 5, 6, 12, 15, 30, 31}) {
        const int64_t least = -size / 2;
        const mlir::AffineExpr value = x.In(Interval::Closed(least, least + size - 1));
        const mlir::AffineExpr remainder = x.Modulo(size);
        ASSERT_EQ(static_cast<bool>(value), size <= lcm) << c << " " << g << " " << c2 << " " << g2;
        ASSERT_EQ(static_cast<bool>(remainder), lcm % size == 0)
            << c << " " << g << " " << c2 << " " << g2 << " " << size;
        for (int64_t i = 0; i < size; ++i) {
          for (const int64_t y : {-7, 0, 4}) {
            const int64_t at = least + i;
            const std::vector<int64_t> point = {c * at + g * y, c2 * at + g2 * (y * 3 - 1)};
            if (value) {
              ASSERT_EQ(Value(value, point, {}), at) << ToString(value);
              ++known;
            }
            if (remainder) {
              ASSERT_EQ(Value(remainder, point, {}), FloorMod(at, size)) << ToString(remainder);
            }
          }
        }
      }
    });
  });
  EXPECT_GT(known, 10000);
}

TEST_F(ResidueValueTest, ValuesThatDoNotFitAreNotKnown) {
  ResidueValue x;
  x.Know(1, kInt64Max, D(0));
  x.Know(1, kInt64Max - 1, D(1));
  // Their least common multiple does not fit; one of them says enough.
  EXPECT_EQ(ToString(x.In(Interval::Closed(0, kInt64Max - 1))), "d0 mod 9223372036854775807");
  EXPECT_EQ(x.In(Interval::AtLeast(0)), mlir::AffineExpr());
  ResidueValue least;
  least.Know(kInt64Min, 6, D(0));
  // -2^63 / 2 = -1 (mod 3), so that x = -d0 / 2.
  EXPECT_EQ(Value(least.Modulo(3), {6}, {}), 0);
  EXPECT_EQ(Value(least.Modulo(3), {-2}, {}), 1);
}

}  // namespace
}  // namespace xla_indexing::internal
