#include "xla_indexing/base/numbers/wide_interval.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

Int128 FloorOf(Int128 a, Int128 m) {
  const Int128 quotient = a / m;
  return quotient - (a % m != 0 && (a < 0) != (m < 0) ? 1 : 0);
}

// Intervals with small ends, with ends at those of int64, and without ends.
std::vector<Interval> SomeIntervals() {
  std::vector<Interval> intervals = {Interval::Empty(), Interval::All()};
  const std::vector<int64_t> ends = {kInt64Min, kInt64Min + 1, -5,       -1, 0, 1, 2,
                                     7,         kInt64Max - 1, kInt64Max};
  for (const int64_t lower : ends) {
    intervals.push_back(Interval::AtLeast(lower));
    intervals.push_back(Interval::AtMost(lower));
    for (const int64_t upper : ends) {
      if (lower <= upper) intervals.push_back(Interval::Closed(lower, upper));
    }
  }
  return intervals;
}

const std::vector<int64_t> kFactors = {kInt64Min, kInt64Min + 1, -7,       -2, -1, 1, 2, 3,
                                       8,         kInt64Max - 1, kInt64Max};

// Whether a value is in an interval by definition.
bool IsIn(Int128 value, const Interval& interval) {
  return !interval.IsEmpty() && (!interval.has_lower() || interval.lower() <= value) &&
         (!interval.has_upper() || value <= interval.upper());
}

// Values on both sides of every end that a preimage by one of the factors can have.
std::vector<Int128> ValuesAround(const WideInterval& interval) {
  std::vector<Int128> values;
  for (Int128 d = -3; d <= 3; ++d) {
    values.push_back(d);
    if (interval.has_lower()) values.push_back(interval.lower() + d);
    if (interval.has_upper()) values.push_back(interval.upper() + d);
  }
  return values;
}

TEST(WideIntervalTest, TheSameSetAsTheInterval) {
  for (const Interval& interval : SomeIntervals()) {
    const WideInterval wide(interval);
    EXPECT_EQ(wide.Narrow(), interval);
    EXPECT_EQ(wide.Hull(), interval);
    for (const Int128 value : ValuesAround(wide)) {
      EXPECT_EQ(wide.Contains(value), IsIn(value, interval));
    }
  }
}

TEST(WideIntervalTest, PreimagesAreExact) {
  for (const Interval& interval : SomeIntervals()) {
    for (const int64_t factor : kFactors) {
      const WideInterval of_mul = WideInterval(interval).PreimageOfMul(factor);
      for (const Int128 x : ValuesAround(of_mul)) {
        EXPECT_EQ(of_mul.Contains(x), IsIn(x * factor, interval)) << interval.ToString() << factor;
      }
      const WideInterval of_floor = WideInterval(interval).PreimageOfFloorDiv(factor);
      for (const Int128 x : ValuesAround(of_floor)) {
        EXPECT_EQ(of_floor.Contains(x), IsIn(FloorOf(x, factor), interval))
            << interval.ToString() << factor;
      }
      const WideInterval moved = WideInterval(interval).Sub(factor);
      for (const Int128 x : ValuesAround(moved)) {
        EXPECT_EQ(moved.Contains(x), IsIn(x + factor, interval)) << interval.ToString() << factor;
      }
    }
  }
}

TEST(WideIntervalTest, OnlyWhatFitsIsNarrow) {
  const WideInterval past = WideInterval(Interval::Point(7)).Sub(kInt64Min);
  EXPECT_EQ(past.Narrow(), std::nullopt);
  // Rounded outward it contains a number that it did not contain.
  EXPECT_EQ(past.Hull(), Interval::AtLeast(kInt64Max));
  EXPECT_EQ(past.Intersect(WideInterval(Interval::AtMost(kInt64Max))).Narrow(), Interval::Empty());
  // 2^63 + 7 = 5 * 1844674407370955163.
  EXPECT_EQ(past.PreimageOfMul(5).Narrow(), Interval::Point(1844674407370955163));
}

TEST(WideIntervalTest, ResultsOfArithmeticAreContained) {
  for (const Interval& a : SomeIntervals()) {
    for (const int64_t factor : kFactors) {
      const WideInterval product = WideInterval(a).Mul(factor);
      const WideInterval quotient = WideInterval(a).FloorDiv(factor);
      for (const Int128 x : ValuesAround(WideInterval(a))) {
        if (!IsIn(x, a)) continue;
        EXPECT_TRUE(product.Contains(x * factor)) << a.ToString() << factor;
        EXPECT_TRUE(quotient.Contains(FloorOf(x, factor))) << a.ToString() << factor;
      }
      EXPECT_EQ(product.IsEmpty(), a.IsEmpty());
    }
    EXPECT_EQ(WideInterval(a).Neg().Neg().Narrow(), a);
  }
}

TEST(WideIntervalTest, SumsPast128BitsAreRoundedOutward) {
  WideInterval sum = WideInterval::Point(Int128{1} << 126);
  for (int i = 0; i < 3; ++i) sum = sum.Add(sum);
  EXPECT_FALSE(sum.has_upper());
  EXPECT_TRUE(sum.has_lower());
  WideInterval down = WideInterval::Point(-(Int128{1} << 126));
  for (int i = 0; i < 3; ++i) down = down.Add(down);
  EXPECT_FALSE(down.has_lower());
  EXPECT_TRUE(down.has_upper());
}

}  // namespace
}  // namespace xla_indexing::internal
