#include "xla_indexing/base/numbers/interval.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kFarthest = 6;

// The empty interval and every interval with finite ends in [-6, 6].
std::vector<Interval> FiniteIntervals() {
  std::vector<Interval> intervals = {Interval::Empty()};
  for (int64_t lower = -kFarthest; lower <= kFarthest; ++lower) {
    for (int64_t upper = lower; upper <= kFarthest; ++upper) {
      intervals.push_back(Interval::Closed(lower, upper));
    }
  }
  return intervals;
}

std::vector<Interval> AllIntervals() {
  std::vector<Interval> intervals = FiniteIntervals();
  for (int64_t end = -kFarthest; end <= kFarthest; ++end) {
    intervals.push_back(Interval::AtLeast(end));
    intervals.push_back(Interval::AtMost(end));
  }
  intervals.push_back(Interval::All());
  return intervals;
}

// The elements of an interval, infinity replaced by `infinity`.
std::vector<int64_t> Elements(const Interval& interval, int64_t infinity) {
  std::vector<int64_t> elements;
  for (int64_t x = -infinity; x <= infinity; ++x) {
    if (interval.Contains(x)) elements.push_back(x);
  }
  return elements;
}

Interval HullOf(const std::set<int64_t>& values) {
  if (values.empty()) return Interval::Empty();
  return Interval::Closed(*values.begin(), *values.rbegin());
}

// The hull of {f(x)} over the elements, found by evaluating f; an end that grows with the
// truncation of infinity is infinite.
Interval HullOfImage(const std::function<std::set<int64_t>(int64_t infinity)>& image) {
  const Interval near = HullOf(image(40));
  const Interval far = HullOf(image(60));
  if (near.IsEmpty()) return near;
  const bool has_lower = near.lower() == far.lower();
  const bool has_upper = near.upper() == far.upper();
  if (has_lower && has_upper) return near;
  if (has_lower) return Interval::AtLeast(near.lower());
  if (has_upper) return Interval::AtMost(near.upper());
  return Interval::All();
}

Interval HullOfUnary(const Interval& a, const std::function<int64_t(int64_t)>& f) {
  return HullOfImage([&](int64_t infinity) {
    std::set<int64_t> values;
    for (const int64_t x : Elements(a, infinity)) values.insert(f(x));
    return values;
  });
}

Interval HullOfBinary(const Interval& a, const Interval& b,
                      const std::function<int64_t(int64_t, int64_t)>& f) {
  return HullOfImage([&](int64_t infinity) {
    std::set<int64_t> values;
    const std::vector<int64_t> b_elements = Elements(b, infinity);
    for (const int64_t x : Elements(a, infinity)) {
      for (const int64_t y : b_elements) values.insert(f(x, y));
    }
    return values;
  });
}

// floor(x / c) and ceil(x / c) for c of either sign, by search.
int64_t FloorOfQuotient(int64_t x, int64_t c) {
  int64_t q = -200;
  while (c > 0 ? (q + 1) * c <= x : (q + 1) * c >= x) ++q;
  return q;
}
int64_t CeilOfQuotient(int64_t x, int64_t c) { return -FloorOfQuotient(-x, c); }

TEST(IntervalTest, IsSmallAndTriviallyCopyable) {
  static_assert(std::is_trivially_copyable_v<Interval>);
  static_assert(sizeof(Interval) <= 24);
}

TEST(IntervalTest, MakersGiveWhatTheyName) {
  EXPECT_TRUE(Interval().IsEmpty());
  EXPECT_TRUE(Interval::Empty().IsEmpty());
  EXPECT_FALSE(Interval::Empty().has_lower());
  EXPECT_FALSE(Interval::Empty().has_upper());
  EXPECT_TRUE(Interval::All().IsAll());
  EXPECT_FALSE(Interval::All().IsFinite());
  EXPECT_TRUE(Interval::Point(3).IsPoint());
  EXPECT_FALSE(Interval::Closed(3, 4).IsPoint());
  EXPECT_FALSE(Interval::All().IsPoint());
  EXPECT_EQ(Interval::AtLeast(3).lower(), 3);
  EXPECT_FALSE(Interval::AtLeast(3).has_upper());
  EXPECT_EQ(Interval::AtMost(3).upper(), 3);
  EXPECT_FALSE(Interval::AtMost(3).has_lower());
  EXPECT_EQ(Interval::OfSize(5), Interval::Closed(0, 4));
  EXPECT_EQ(Interval::OfSize(0), Interval::Empty());
}

TEST(IntervalTest, EndsInTheWrongOrderAreTheEmptyInterval) {
  EXPECT_TRUE(Interval::Closed(8, -1).IsEmpty());
  EXPECT_EQ(Interval::Closed(8, -1), Interval::Empty());
  EXPECT_EQ(Interval::Closed(1, 0), Interval::Closed(kInt64Max, kInt64Min));
}

TEST(IntervalTest, AnIntersectionWithoutElementsIsSeenToBeEmpty) {
  const Interval result = Interval::AtLeast(8).Intersect(Interval::AtMost(-1));
  EXPECT_TRUE(result.IsEmpty());
  EXPECT_EQ(result.Add(Interval::All()), Interval::Empty());
  EXPECT_EQ(result.Size(), 0);
}

TEST(IntervalTest, InfinityIsNoInt64Value) {
  EXPECT_NE(Interval::AtLeast(0), Interval::Closed(0, kInt64Max));
  EXPECT_NE(Interval::AtMost(0), Interval::Closed(kInt64Min, 0));
  EXPECT_TRUE(Interval::AtLeast(0).Contains(kInt64Max));
  EXPECT_FALSE(Interval::AtLeast(0).IsSubsetOf(Interval::Closed(0, kInt64Max)));
}

TEST(IntervalTest, SizeCountsElements) {
  for (const Interval& a : FiniteIntervals()) {
    EXPECT_EQ(a.Size(), static_cast<int64_t>(Elements(a, 10).size())) << a.ToString();
  }
  EXPECT_EQ(Interval::AtLeast(0).Size(), std::nullopt);
  EXPECT_EQ(Interval::Closed(1, kInt64Max).Size(), kInt64Max);
  EXPECT_EQ(Interval::Closed(0, kInt64Max).Size(), std::nullopt);
  EXPECT_EQ(Interval::Closed(kInt64Min, kInt64Max).Size(), std::nullopt);
}

TEST(IntervalTest, SubsetIntersectionAndUnionAreThoseOfSets) {
  const std::vector<Interval> intervals = AllIntervals();
  for (const Interval& a : intervals) {
    for (const Interval& b : intervals) {
      bool subset = true;
      const Interval both = a.Intersect(b);
      const Interval either = a.Union(b);
      for (int64_t x = -20; x <= 20; ++x) {
        if (a.Contains(x) && !b.Contains(x)) subset = false;
        EXPECT_EQ(both.Contains(x), a.Contains(x) && b.Contains(x))
            << a.ToString() << " " << b.ToString();
      }
      EXPECT_EQ(a.IsSubsetOf(b), subset) << a.ToString() << " " << b.ToString();
      const Interval hull = HullOfImage([&](int64_t infinity) {
        std::set<int64_t> values;
        for (const int64_t x : Elements(a, infinity)) values.insert(x);
        for (const int64_t x : Elements(b, infinity)) values.insert(x);
        return values;
      });
      EXPECT_EQ(either, hull) << a.ToString() << " " << b.ToString();
      bool has_gap = a.IsEmpty() || b.IsEmpty();
      for (int64_t x = -20; x <= 20; ++x) {
        has_gap = has_gap || (either.Contains(x) && !a.Contains(x) && !b.Contains(x));
      }
      EXPECT_EQ(a.TouchesOrOverlaps(b), !has_gap) << a.ToString() << " " << b.ToString();
    }
  }
}

TEST(IntervalTest, NegationIsTheHullOfNegatedElements) {
  for (const Interval& a : AllIntervals()) {
    EXPECT_EQ(a.Neg(), HullOfUnary(a, [](int64_t x) { return -x; })) << a.ToString();
  }
}

TEST(IntervalTest, SumDifferenceAndProductAreHullsOfResults) {
  // Smaller ends than elsewhere: the check is of the fourth order in them.
  std::vector<Interval> intervals;
  for (const Interval& a : AllIntervals()) {
    if (a.has_lower() && (a.lower() < -3 || a.lower() > 3)) continue;
    if (a.has_upper() && (a.upper() < -3 || a.upper() > 3)) continue;
    intervals.push_back(a);
  }
  for (const Interval& a : intervals) {
    for (const Interval& b : intervals) {
      EXPECT_EQ(a.Add(b), HullOfBinary(a, b, [](int64_t x, int64_t y) { return x + y; }))
          << a.ToString() << " " << b.ToString();
      EXPECT_EQ(a.Sub(b), HullOfBinary(a, b, [](int64_t x, int64_t y) { return x - y; }))
          << a.ToString() << " " << b.ToString();
      EXPECT_EQ(a.Mul(b), HullOfBinary(a, b, [](int64_t x, int64_t y) { return x * y; }))
          << a.ToString() << " " << b.ToString();
    }
  }
}

TEST(IntervalTest, ArithmeticWithConstantsIsThatWithPoints) {
  for (const Interval& a : AllIntervals()) {
    for (int64_t c = -kFarthest; c <= kFarthest; ++c) {
      EXPECT_EQ(a.Add(c), HullOfUnary(a, [&](int64_t x) { return x + c; })) << a.ToString() << c;
      EXPECT_EQ(a.Sub(c), HullOfUnary(a, [&](int64_t x) { return x - c; })) << a.ToString() << c;
      EXPECT_EQ(a.Mul(c), HullOfUnary(a, [&](int64_t x) { return x * c; })) << a.ToString() << c;
    }
  }
}

TEST(IntervalTest, DivisionIsTheHullOfRoundedQuotientsForDivisorsOfBothSigns) {
  for (const Interval& a : AllIntervals()) {
    for (int64_t c = -kFarthest; c <= kFarthest; ++c) {
      if (c == 0) continue;
      EXPECT_EQ(a.FloorDiv(c), HullOfUnary(a, [&](int64_t x) { return FloorOfQuotient(x, c); }))
          << a.ToString() << " floordiv " << c;
      EXPECT_EQ(a.CeilDiv(c), HullOfUnary(a, [&](int64_t x) { return CeilOfQuotient(x, c); }))
          << a.ToString() << " ceildiv " << c;
    }
  }
}

TEST(IntervalTest, TheRangeOfACeilDivRoundsBothEndsUp) {
  EXPECT_EQ(Interval::Closed(-7, 7).CeilDiv(4), Interval::Closed(-1, 2));
  EXPECT_EQ(Interval::Closed(0, 8).CeilDiv(4), Interval::Closed(0, 2));
  EXPECT_EQ(Interval::Closed(1, 9).CeilDiv(4), Interval::Closed(1, 3));
  EXPECT_EQ(Interval::Closed(1, 9).CeilDiv(-4), Interval::Closed(-2, 0));
}

TEST(IntervalTest, NegativeEndsRoundDownAndNotTowardZero) {
  EXPECT_EQ(Interval::Closed(-7, -5).FloorDiv(4), Interval::Closed(-2, -2));
  EXPECT_EQ(Interval::Closed(-7, -1).PreimageOfMul(4), Interval::Closed(-1, -1));
  EXPECT_EQ(Interval::Closed(-3, -1).PreimageOfMul(4), Interval::Empty());
  EXPECT_EQ(Interval::Closed(-5, 5).PreimageOfMul(4), Interval::Closed(-1, 1));
}

TEST(IntervalTest, ModIsTheHullOfResidues) {
  for (const Interval& a : AllIntervals()) {
    for (int64_t m = 1; m <= 9; ++m) {
      EXPECT_EQ(a.Mod(m), HullOfUnary(a, [&](int64_t x) { return ((x % m) + m) % m; }))
          << a.ToString() << " mod " << m;
    }
  }
}

TEST(IntervalTest, PreimagesAreTheSetsTheyName) {
  for (const Interval& a : AllIntervals()) {
    for (int64_t c = -kFarthest; c <= kFarthest; ++c) {
      const Interval of_mul = a.PreimageOfMul(c);
      for (int64_t x = -40; x <= 40; ++x) {
        EXPECT_EQ(of_mul.Contains(x), a.Contains(x * c)) << x << "*" << c << " " << a.ToString();
        if (c == 0) continue;
        EXPECT_EQ(a.PreimageOfFloorDiv(c).Contains(x), a.Contains(FloorOfQuotient(x, c)))
            << x << " floordiv " << c << " " << a.ToString();
      }
    }
  }
}

TEST(IntervalTest, PreimagesUnderNegativeDivisorsExchangeTheEnds) {
  // floor(x / -3) in [1, 2]  <=>  x in {-3, ..., -8}.
  EXPECT_EQ(Interval::Closed(1, 2).PreimageOfFloorDiv(-3), Interval::Closed(-8, -3));
  EXPECT_EQ(Interval::AtLeast(1).PreimageOfFloorDiv(-3), Interval::AtMost(-3));
  EXPECT_EQ(Interval::AtMost(2).PreimageOfFloorDiv(-3), Interval::AtLeast(-8));
  EXPECT_EQ(Interval::Closed(1, 6).PreimageOfMul(-3), Interval::Closed(-2, -1));
}

TEST(IntervalTest, TheEndPastAFloorDivPreimageMayPassInt64) {
  // (upper + 1) * divisor does not fit: unbounded above, and never negative.
  EXPECT_EQ(Interval::Closed(0, kInt64Max).PreimageOfFloorDiv(2), Interval::AtLeast(0));
  EXPECT_EQ(Interval::Closed(0, kInt64Max / 2).PreimageOfFloorDiv(4), Interval::AtLeast(0));
  // (2^62 - 1 + 1) * 2 - 1 = 2^63 - 1 just fits, although (upper + 1) * divisor does not.
  EXPECT_EQ(Interval::Closed(0, (int64_t{1} << 62) - 1).PreimageOfFloorDiv(2),
            Interval::Closed(0, kInt64Max));
  EXPECT_EQ(Interval::Closed(kInt64Min, 0).PreimageOfFloorDiv(3), Interval::AtMost(2));
  EXPECT_EQ(Interval::Closed(0, kInt64Max).PreimageOfFloorDiv(kInt64Min), Interval::AtMost(0));
}

TEST(IntervalTest, DivisionByZeroAndModByLessThanOneSayNothing) {
  EXPECT_EQ(Interval::Closed(1, 5).FloorDiv(0), Interval::All());
  EXPECT_EQ(Interval::Closed(1, 5).CeilDiv(0), Interval::All());
  EXPECT_EQ(Interval::Closed(1, 5).PreimageOfFloorDiv(0), Interval::All());
  EXPECT_EQ(Interval::Closed(1, 5).Mod(0), Interval::All());
  EXPECT_EQ(Interval::Closed(1, 5).Mod(-2), Interval::All());
  EXPECT_EQ(Interval::Empty().FloorDiv(0), Interval::Empty());
  EXPECT_EQ(Interval::Empty().Mod(0), Interval::Empty());
}

TEST(IntervalTest, EndsThatDoNotFitInt64WidenOutward) {
  const Interval most = Interval::Closed(0, kInt64Max);
  const Interval least = Interval::Closed(kInt64Min, 0);
  EXPECT_EQ(most.Add(1), Interval::AtLeast(1));
  EXPECT_EQ(least.Sub(1), Interval::AtMost(-1));
  EXPECT_EQ(least.Neg(), Interval::AtLeast(0));
  EXPECT_EQ(most.Neg(), Interval::Closed(-kInt64Max, 0));
  EXPECT_EQ(most.Mul(2), Interval::AtLeast(0));
  EXPECT_EQ(most.Mul(-2), Interval::AtMost(0));
  EXPECT_EQ(least.Mul(least), Interval::AtLeast(0));
  EXPECT_EQ(least.FloorDiv(-1), Interval::AtLeast(0));
  EXPECT_EQ(least.CeilDiv(-1), Interval::AtLeast(0));
  EXPECT_EQ(Interval::Closed(kInt64Min, kInt64Max).Mod(kInt64Max),
            Interval::Closed(0, kInt64Max - 1));
  EXPECT_EQ(Interval::Closed(kInt64Min, kInt64Max).Mul(kInt64Min), Interval::All());
}

TEST(IntervalTest, EndsThatPassInt64InwardStopAtItsEnds) {
  EXPECT_EQ(Interval::Point(kInt64Max).Add(1), Interval::AtLeast(kInt64Max));
  EXPECT_EQ(Interval::Point(kInt64Min).Sub(1), Interval::AtMost(kInt64Min));
  EXPECT_EQ(Interval::Closed(kInt64Max - 1, kInt64Max).Mul(4), Interval::AtLeast(kInt64Max));
}

TEST(IntervalTest, PrintsItsEnds) {
  EXPECT_EQ(Interval::Closed(0, 9).ToString(), "[0, 9]");
  EXPECT_EQ(Interval::AtMost(5).ToString(), "[-inf, 5]");
  EXPECT_EQ(Interval::AtLeast(0).ToString(), "[0, inf]");
  EXPECT_EQ(Interval::All().ToString(), "[-inf, inf]");
  EXPECT_EQ(Interval::Empty().ToString(), "[]");
  EXPECT_EQ(Interval::Closed(kInt64Min, kInt64Max).ToString(),
            "[-9223372036854775808, 9223372036854775807]");
}

TEST(IntervalTest, EqualIntervalsHashEqually) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(AllIntervals()));
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {Interval::Closed(5, 1), Interval::AtLeast(3).Intersect(Interval::AtMost(2)),
       Interval::Empty(), Interval::Point(0), Interval::All(), Interval::AtLeast(0)}));
}

using IntervalDeathTest = ::testing::Test;

TEST_F(IntervalDeathTest, EndsThatAreNotFiniteAreNoNumbers) {
  EXPECT_DEATH(Interval::All().lower(), "without a finite lower end");
  EXPECT_DEATH(Interval::All().upper(), "without a finite upper end");
  EXPECT_DEATH(Interval::AtMost(3).lower(), "without a finite lower end");
  EXPECT_DEATH(Interval::AtLeast(3).upper(), "without a finite upper end");
  EXPECT_DEATH(Interval::Empty().lower(), "without a finite lower end");
  EXPECT_DEATH(Interval::Empty().upper(), "without a finite upper end");
  EXPECT_EQ(Interval::AtLeast(3).lower(), 3);
  EXPECT_EQ(Interval::AtMost(3).upper(), 3);
}

}  // namespace
}  // namespace xla_indexing::internal
