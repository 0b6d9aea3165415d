#include "xla_indexing/base/numbers/checked.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing::internal {
namespace {

// Values around 0 and around both ends of int64.
std::vector<int64_t> InterestingValues() {
  std::vector<int64_t> values;
  for (int64_t i = -9; i <= 9; ++i) values.push_back(i);
  for (int64_t i = 0; i < 5; ++i) {
    values.push_back(kInt64Min + i);
    values.push_back(kInt64Max - i);
    values.push_back(kInt64Min / 2 + i - 2);
    values.push_back(kInt64Max / 2 + i - 2);
    values.push_back((int64_t{1} << 32) + i - 2);
    values.push_back(-(int64_t{1} << 32) + i - 2);
  }
  return values;
}

TEST(CheckedTest, SumDifferenceAndProductAreExactOrAbsent) {
  for (const int64_t a : InterestingValues()) {
    for (const int64_t b : InterestingValues()) {
      EXPECT_EQ(CheckedAdd(a, b), NarrowToInt64(Int128{a} + b)) << a << " " << b;
      EXPECT_EQ(CheckedSub(a, b), NarrowToInt64(Int128{a} - b)) << a << " " << b;
      EXPECT_EQ(CheckedMul(a, b), NarrowToInt64(Int128{a} * b)) << a << " " << b;
    }
    EXPECT_EQ(CheckedNeg(a), NarrowToInt64(-Int128{a})) << a;
  }
}

TEST(CheckedTest, TheEndsOfInt64AreKeptAndPassedByOne) {
  EXPECT_EQ(CheckedAdd(kInt64Max, 0), kInt64Max);
  EXPECT_EQ(CheckedAdd(kInt64Max, 1), std::nullopt);
  EXPECT_EQ(CheckedSub(kInt64Min, 1), std::nullopt);
  EXPECT_EQ(CheckedMul(kInt64Min, -1), std::nullopt);
  EXPECT_EQ(CheckedMul(kInt64Min, 1), kInt64Min);
  EXPECT_EQ(CheckedNeg(kInt64Min), std::nullopt);
  EXPECT_EQ(CheckedNeg(kInt64Max), -kInt64Max);
}

TEST(CheckedTest, NarrowKeepsExactlyTheValuesOfInt64) {
  EXPECT_EQ(NarrowToInt64(Int128{kInt64Max}), kInt64Max);
  EXPECT_EQ(NarrowToInt64(Int128{kInt64Max} + 1), std::nullopt);
  EXPECT_EQ(NarrowToInt64(Int128{kInt64Min}), kInt64Min);
  EXPECT_EQ(NarrowToInt64(Int128{kInt64Min} - 1), std::nullopt);
}

TEST(CheckedTest, DivisionRoundsDownUpAndLeavesANonNegativeRemainder) {
  for (const int64_t a : InterestingValues()) {
    for (const int64_t m : InterestingValues()) {
      if (m <= 0) continue;
      const int64_t floor = FloorDiv(a, m);
      const int64_t ceil = CeilDiv(a, m);
      const int64_t mod = FloorMod(a, m);
      EXPECT_LE(Int128{floor} * m, a) << a << " " << m;
      EXPECT_GT((Int128{floor} + 1) * m, a) << a << " " << m;
      EXPECT_GE(Int128{ceil} * m, a) << a << " " << m;
      EXPECT_LT((Int128{ceil} - 1) * m, a) << a << " " << m;
      EXPECT_EQ(Int128{floor} * m + mod, a) << a << " " << m;
      EXPECT_GE(mod, 0) << a << " " << m;
      EXPECT_LT(mod, m) << a << " " << m;
    }
  }
}

TEST(CheckedTest, DivisionWorksInConstantExpressions) {
  static_assert(FloorDiv(-7, 2) == -4);
  static_assert(CeilDiv(-7, 2) == -3);
  static_assert(FloorMod(-7, 2) == 1);
  static_assert(Gcd(-12, 18) == 6);
  static_assert(CheckedAdd(2, 3) == 5);
}

TEST(CheckedTest, GcdIsTheGreatestCommonDivisor) {
  for (int64_t a = -40; a <= 40; ++a) {
    for (int64_t b = -40; b <= 40; ++b) {
      int64_t expected = 0;
      for (int64_t d = 1; d <= 40; ++d) {
        if ((a != 0 || b != 0) && a % d == 0 && b % d == 0) expected = d;
      }
      EXPECT_EQ(Gcd(a, b), expected) << a << " " << b;
    }
  }
}

TEST(CheckedTest, InverseModuloGivesOne) {
  for (int64_t m = 1; m <= 60; ++m) {
    for (int64_t a = -70; a <= 70; ++a) {
      if (Gcd(a, m) != 1) continue;
      const int64_t inverse = InverseModulo(a, m);
      EXPECT_TRUE(inverse >= 0 && inverse < m) << a << " " << m;
      EXPECT_EQ(FloorMod(a * inverse, m), 1 % m) << a << " " << m;
    }
  }
  for (const int64_t m : {kInt64Max, kInt64Max - 1, (int64_t{1} << 61) - 1}) {
    for (const int64_t a : {kInt64Max - 4, kInt64Min + 1, int64_t{3}, int64_t{-5}}) {
      if (Gcd(a, m) != 1) continue;
      const Int128 product = Int128{InverseModulo(a, m)} * FloorMod(a, m);
      EXPECT_TRUE(product % m == 1) << a << " " << m;
    }
  }
}

TEST(CheckedTest, GcdOfTheLeastInt64Fits) {
  EXPECT_EQ(Gcd(kInt64Min, 6), 2);
  EXPECT_EQ(Gcd(kInt64Min, kInt64Max), 1);
  EXPECT_EQ(Gcd(kInt64Min, int64_t{1} << 40), int64_t{1} << 40);
  EXPECT_EQ(Gcd(kInt64Min, 0), int64_t{1} << 62);
  EXPECT_EQ(Gcd(kInt64Min, kInt64Min), int64_t{1} << 62);
  EXPECT_EQ(Gcd(kInt64Max, kInt64Max), kInt64Max);
}

}  // namespace
}  // namespace xla_indexing::internal
