#include "xla_indexing/affine/normal_form/simplifier.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class SimplifierTest : public ExprFixture {
 protected:
  // The simplified text for dimensions d_i in [0, sizes[i] - 1].
  std::string Simplified(AffineExpr e, const std::vector<int64_t>& sizes) {
    std::vector<Interval> dims;
    dims.reserve(sizes.size());
    for (int64_t size : sizes) dims.push_back(Interval::OfSize(size));
    return SimplifiedIn(e, dims);
  }
  std::string SimplifiedIn(AffineExpr e, const std::vector<Interval>& dims) {
    ExprSimplifier simplifier(&context_, dims, {});
    return ToString(simplifier.Simplify(e));
  }
  Interval Range(AffineExpr e, const std::vector<Interval>& dims) {
    ExprSimplifier simplifier(&context_, dims, {});
    return simplifier.Range(e);
  }
};

// The examples of the indexing document, "Indexing Map Simplifier".
TEST_F(SimplifierTest, DocumentExample1SumWithVanishingQuotient) {
  EXPECT_EQ(Simplified(D(0) + D(1).floorDiv(16), {7, 15}), "d0");
  EXPECT_EQ(Simplified(D(1) % 16, {7, 15}), "d1");
}

TEST_F(SimplifierTest, DocumentExample2DelinearizeOfLinearize) {
  AffineExpr linear = D(0) * 100 + D(1) * 10 + D(2);
  EXPECT_EQ(Simplified(linear.floorDiv(100), {10, 10, 10}), "d0");
  EXPECT_EQ(Simplified((linear % 100).floorDiv(10), {10, 10, 10}), "d1");
  EXPECT_EQ(Simplified(D(2) % 10, {10, 10, 10}), "d2");
}

TEST_F(SimplifierTest, DocumentExample3MultiplesLeaveTheDivision) {
  AffineExpr linear = D(0) * 16 + D(1) * 4 + D(2);
  EXPECT_EQ(Simplified(linear.floorDiv(8), {10, 10, 10}), "d0 * 2 + (d1 * 4 + d2) floordiv 8");
  EXPECT_EQ(Simplified(linear % 8, {10, 10, 10}), "(d1 * 4 + d2) mod 8");
}

TEST_F(SimplifierTest, DocumentExample4NegatedQuotient) {
  AffineExpr e = -((D(0) * -11 - D(1) + 109).floorDiv(11)) + 9;
  EXPECT_EQ(Simplified(e, {10, 11}), "d0");
}

// A dividend that has a large divisor in it is not looked into; it has its place among the others
// all the same: (d0 * 2 ..) before (.. mod ..), as variables stand before mods.
TEST_F(SimplifierTest, OpaqueExpressionsKeepTheOrderOfSummands) {
  const int64_t large = std::numeric_limits<int64_t>::max() - 1;
  const AffineExpr opaque = ((D(0) * -1 - 5) % large + 80).floorDiv(3);
  const AffineExpr other = (D(0) * 2 + 11).floorDiv(9);
  const std::vector<Interval> dims = {Interval::Closed(-2, 18)};
  const std::string expected =
      "(d0 * 2 + 11) floordiv 9 + ((-d0 - 5) mod 9223372036854775806 + 80) floordiv 3";
  EXPECT_EQ(SimplifiedIn(opaque + other, dims), expected);
  EXPECT_EQ(SimplifiedIn(other + opaque, dims), expected);
}

// The shortest way to write the dividend may show a constant that the divisor divides, which MLIR
// would take out of the division; it is written as it was divided then, and the sum stays flat.
TEST_F(SimplifierTest, NoDivisionShowsAMultipleOfItsDivisor) {
  const AffineExpr inner = (D(0) * 2 + D(1) * 2 + D(2) + 2).floorDiv(4);
  const AffineExpr e = (D(0) * 5 - inner + D(1) * 8 + D(2)).floorDiv(6) + 1;
  const AffineExpr simplified =
      ExprSimplifier(&context_, {Interval::AtMost(-8), Interval::AtLeast(-9), Interval::All()}, {})
          .Simplify(e);
  EXPECT_EQ(simplified, LinearSum::FromExpr(simplified).ToExpr(&context_)) << ToString(simplified);
}

// A mod that the shortest way would show as e - (e floordiv m) * m has its place among the mods.
TEST_F(SimplifierTest, ModsInADividendKeepTheOrderOfSummands) {
  EXPECT_EQ(SimplifiedIn((D(1) % 2 + (D(0) * 2 + D(1) + D(2)) % 3 + 3) % 4,
                         {Interval::AtMost(-2), Interval::Closed(-6, 7), Interval::Closed(-9, 15)}),
            "((d0 * 2 + d1 + d2) mod 3 + d1 mod 2 + 3) mod 4");
}

// The reshapes of the document.
TEST_F(SimplifierTest, DocumentReshapes) {
  AffineExpr linear = D(0) * 16 + D(1) * 4 + D(2);  // f32[2,4,4] to f32[4,8]
  EXPECT_EQ(Simplified(linear.floorDiv(8), {2, 4, 4}), "d0 * 2 + d1 floordiv 2");
  EXPECT_EQ(Simplified(linear % 8, {2, 4, 4}), "d2 + (d1 mod 2) * 4");
  linear = D(0) * 8 + D(1);  // f32[4,8] to f32[2,4,4]
  EXPECT_EQ(Simplified(linear.floorDiv(16), {4, 8}), "d0 floordiv 2");
  EXPECT_EQ(Simplified(linear.floorDiv(4) % 4, {4, 8}), "d1 floordiv 4 + (d0 mod 2) * 2");
  EXPECT_EQ(Simplified(linear % 4, {4, 8}), "d1 mod 4");
}

TEST_F(SimplifierTest, DigitsOfOneExpressionJoin) {
  for (int64_t a = 1; a <= 6; ++a) {
    for (int64_t b = 1; b <= 6; ++b) {
      AffineExpr joined = D(0) % a + (D(0).floorDiv(a) % b) * a;
      EXPECT_EQ(Simplified(joined, {100}), Simplified(D(0) % (a * b), {100})) << a << " " << b;
      AffineExpr whole = D(0) % a + D(0).floorDiv(a) * a;
      EXPECT_EQ(Simplified(whole, {100}), "d0") << a;
      AffineExpr quotient = D(0).floorDiv(a).floorDiv(b);
      EXPECT_EQ(Simplified(quotient, {100}), Simplified(D(0).floorDiv(a * b), {100}));
    }
  }
}

TEST_F(SimplifierTest, ModOfAMultipleDisappearsInsideAMod) {
  for (int64_t n = 2; n <= 6; ++n) {
    for (int64_t k = 1; k <= 4; ++k) {
      EXPECT_EQ(Simplified((D(0) % (n * k) + D(1)) % n, {100, 100}),
                Simplified((D(0) + D(1)) % n, {100, 100}));
    }
  }
}

TEST_F(SimplifierTest, CoefficientsAreReducedAcrossDivisions) {
  EXPECT_EQ(Simplified((D(0) * 5).floorDiv(3) - (D(0) * 2).floorDiv(3), {100}), "d0");
  AffineExpr linear = D(0) * 4 + D(1);
  EXPECT_EQ(Simplified(linear % 8 + linear.floorDiv(8) * 8, {100, 100}), "d0 * 4 + d1");
}

// The quotient of the mod by 6 has the mod by 4, so that this one's coefficient is another when the
// first has left the division.
TEST_F(SimplifierTest, ModsThatLeaveADivisionTogetherAreEachCountedOnce) {
  const AffineExpr low = (D(1) + 10) % 4;
  const AffineExpr sum = (-((D(0) + low + 10) % 6) - low * 3).floorDiv(2);
  const std::vector<Interval> box = {Interval::Closed(-1, 1), Interval::Closed(0, 3)};
  ExprSimplifier simplifier(&context_, box, {});
  const AffineExpr simplified = simplifier.Simplify(sum);
  ForEachPoint(box, [&](const std::vector<int64_t>& point) {
    EXPECT_TRUE(Value(simplified, point, {}) == Value(sum, point, {})) << ToString(simplified);
  });
}

// Inside, the least value of a dividend over the intervals is in [0, divisor - 1], so that equal
// quotients are one atom. They are written with the constants of the shortest form.
TEST_F(SimplifierTest, ConstantsOfADividendAndOfTheSumAreOne) {
  for (int64_t c = -15; c <= 15; ++c) {
    const AffineExpr sum = (D(0) + 4 + 7 * c).floorDiv(7) - c;
    EXPECT_EQ(SimplifiedIn(sum, {Interval::Closed(3, 17)}), "(d0 + 4) floordiv 7");
    EXPECT_EQ(SimplifiedIn(sum, {Interval::Closed(-300, -200)}), "(d0 + 4) floordiv 7");
    EXPECT_EQ(SimplifiedIn((D(0) + 4 + 7 * c) % 7, {Interval::Closed(3, 17)}), "(d0 + 4) mod 7");
  }
  EXPECT_EQ(SimplifiedIn((D(0) - 7).floorDiv(7), {Interval::Closed(3, 17)}), "d0 floordiv 7 - 1");
  EXPECT_EQ(SimplifiedIn((D(0) - 1).floorDiv(7), {Interval::All()}), "(d0 - 1) floordiv 7");
}

TEST_F(SimplifierTest, VariableOfOneValueIsReplacedByIt) {
  EXPECT_EQ(SimplifiedIn(D(0) * 3 + D(1), {Interval::Point(5), Interval::OfSize(4)}), "d1 + 15");
}

TEST_F(SimplifierTest, SummandsComeInTheContractsOrder) {
  AffineExpr e = S(0).floorDiv(2) + S(0) + (D(0) % 4) * 3 + D(1) + D(0).floorDiv(7) + 5 + S(1) % 3;
  ExprSimplifier simplifier(&context_, {Interval::All(), Interval::All()},
                            {Interval::All(), Interval::All()});
  EXPECT_EQ(ToString(simplifier.Simplify(e)),
            "d1 + d0 floordiv 7 + (d0 mod 4) * 3 + s0 + s0 floordiv 2 + s1 mod 3 + 5");
}

// Ranges.
TEST_F(SimplifierTest, RangeOfDigitsIsExact) {
  Interval d0 = Interval::OfSize(100);
  EXPECT_EQ(Range(D(0) - D(0).floorDiv(6) * 6, {d0}), Interval::Closed(0, 5));
  EXPECT_EQ(Range(D(0).floorDiv(6) * 6, {d0}), Interval::Closed(0, 96));
  EXPECT_EQ(Range(-(D(0) % 6) + 5, {d0}), Interval::Closed(0, 5));
  // ceildiv: -floor(-x / 4) over [0, 99] is [0, 25].
  EXPECT_EQ(Range(-((-D(0)).floorDiv(4)), {d0}), Interval::Closed(0, 25));
}

// d0 + 2*d1 + d2 is the sum of two bounded sums, and neither bound alone is enough.
TEST_F(SimplifierTest, BoundsOfSumsAddUp) {
  const std::vector<Interval> box(3, Interval::OfSize(10));
  const AffineExpr e = D(0) + D(1) * 2 + D(2);
  ExprSimplifier simplifier(&context_, box, {});
  simplifier.Assume(LinearSum::FromExpr(D(0) + D(1)), Interval::Closed(0, 3));
  EXPECT_EQ(ToString(simplifier.Simplify(e % 7)), "(d0 + d1 * 2 + d2) mod 7");
  simplifier.Assume(LinearSum::FromExpr(D(1) + D(2)), Interval::Closed(0, 3));
  EXPECT_EQ(simplifier.Range(e), Interval::Closed(0, 6));
  EXPECT_EQ(simplifier.Simplify(e % 7), e);
  EXPECT_EQ(simplifier.Range(e * 2 + 1), Interval::Closed(1, 13));
}

// Numbers near the ends of int64.
TEST_F(SimplifierTest, HugeCoefficientsLeaveTheExpressionAsItIs) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  std::vector<Interval> unbounded = {Interval::All(), Interval::All()};
  for (AffineExpr e :
       {(D(0) * kHuge + D(1)).floorDiv(3), (D(0) * -kHuge + D(1) * kHuge) % kHuge,
        (D(0) * std::numeric_limits<int64_t>::min() + D(1)) % 5,
        (D(0).floorDiv(kHuge) + D(1)).floorDiv(kHuge), (D(0) + D(1) * 3) % (kHuge + 1),
        (D(0) * 3 + std::numeric_limits<int64_t>::max()).floorDiv(2),
        (D(0) * 3 + std::numeric_limits<int64_t>::min()).floorDiv(7)}) {
    ExprSimplifier simplifier(&context_, unbounded, {});
    AffineExpr simplified = simplifier.Simplify(e);
    for (int64_t x : {int64_t{0}, int64_t{1}, int64_t{-1}, kHuge, -kHuge, int64_t{12345}}) {
      for (int64_t y : {int64_t{0}, int64_t{-7}, kHuge - 1}) {
        ASSERT_TRUE(Value(e, {x, y}, {}) == Value(simplified, {x, y}, {}))
            << ToString(e) << " became " << ToString(simplified) << " at " << x << ", " << y;
      }
    }
  }
}

TEST_F(SimplifierTest, ManyDivisionsEndInReasonableTime) {
  AffineExpr e = D(0);
  for (int i = 2; i < 60; ++i) e = (e * 3 + D(1)).floorDiv(i) + D(0) % i;
  ExprSimplifier simplifier(&context_, {Interval::OfSize(1000), Interval::OfSize(1000)}, {});
  AffineExpr simplified = simplifier.Simplify(e);
  EXPECT_TRUE(Value(e, {17, 5}, {}) == Value(simplified, {17, 5}, {}));
}

// Equal at every point and within the range. Nearly always simplified once and for all: the
// shortest way to write a sum of several divisions may offer itself only when the sum is read
// again.
TEST_F(SimplifierTest, RandomExpressionsKeepTheirValues) {
  RandomExpr random(&context_, 20240601);
  int not_stable = 0;
  const int kCases = Cases(6000);
  for (int i = 0; i < kCases; ++i) {
    int num_dims = static_cast<int>(random.Int(1, 3));
    std::vector<Interval> box = random.Box(num_dims, 9);
    AffineExpr e = random.Expr(num_dims, static_cast<int>(random.Int(0, 3)));
    ExprSimplifier simplifier(&context_, box, {});
    AffineExpr simplified = simplifier.Simplify(e);
    Interval range = simplifier.Range(e);
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      Int128 expected = Value(e, point, {});
      ASSERT_TRUE(expected == Value(simplified, point, {}))
          << ToString(e) << " became " << ToString(simplified);
      ASSERT_TRUE(range.Contains(static_cast<int64_t>(expected)))
          << ToString(e) << " leaves " << range.ToString();
    });
    ExprSimplifier again(&context_, box, {});
    if (again.Simplify(simplified) != simplified) ++not_stable;
  }
  EXPECT_LE(not_stable, kCases * 3 / 100);
}

}  // namespace
}  // namespace xla_indexing::internal
