#include "xla_indexing/map/simplify/determined_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/map/sets/small_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::Determination;
using internal::DeterminedOptions;
using internal::ReplaceDeterminedRanges;

class DeterminedRangesTest : public MapTextFixture {
 protected:
  std::string Simplified(const std::string& text) {
    IndexingMap map = Parse(text);
    map.Simplify();
    return map.ToString();
  }
};

constexpr DeterminedOptions kAnyConstraint = {.by = Determination::kConstraint};

// Element d0 is in the one window of two elements that begins at an even place.
TEST_F(DeterminedRangesTest, WindowsThatDoNotOverlapAreAQuotient) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 4], "
                       "d0 - s0 * 2 in [0, 1]"),
            "(d0) -> (d0 floordiv 2), domain: d0 in [0, 9]");
}

// Windows of two elements, three apart: every third element is in none.
TEST_F(DeterminedRangesTest, ElementsBetweenWindowsAreLeftOut) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 10], s0 in [0, 3], "
                       "d0 - s0 * 3 in [0, 1]"),
            "(d0) -> (d0 floordiv 3), domain: d0 in [0, 10], d0 mod 3 in [0, 1]");
}

// Elements before the first and behind the last window are in none.
TEST_F(DeterminedRangesTest, WindowsThatEndBeforeTheElementsDoLeaveTheRestOut) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 20], s0 in [0, 3], "
                       "d0 - s0 * 4 in [2, 5]"),
            "(d0) -> ((d0 - 2) floordiv 4), domain: d0 in [2, 17]");
}

TEST_F(DeterminedRangesTest, OneOfFewValuesIsGivenByItsResidue) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 1], s0 in [0, 1], "
                       "(d0 + s0) mod 2 in [0, 0]"),
            "(d0) -> (d0), domain: d0 in [0, 1]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3], "
                       "(d0 * 3 + s0) mod 4 in [0, 0]"),
            "(d0) -> (d0 mod 4), domain: d0 in [0, 9]");
}

// d0 + s0 * 4 says in a shorter way what d0 mod 4 with two constraints does.
TEST_F(DeterminedRangesTest, ASumThatResultsHaveAsItIsStays) {
  const std::string text =
      "(d0)[s0] -> (d0 + s0 * 4), domain: d0 in [1, 99], s0 in [-24, 0], d0 + s0 * 4 in [1, 3]";
  EXPECT_EQ(Simplified(text), text);
}

// All  (d0)[s0] -> (s0, d0 + s0 * x)  with  p*d0 + c*s0 in [a, a + width]: what becomes a quotient is
// the same relation, and everything does but where the width or the second result forbids it.
TEST_F(DeterminedRangesTest, QuotientsAreTheSameRelationForAllSmallNumbers) {
  int replaced = 0;
  for (int64_t p = -3; p <= 3; ++p) {
    for (int64_t c = -4; c <= 4; ++c) {
      for (int64_t width = 0; width <= 4; ++width) {
        for (int64_t a = -5; a <= 5; ++a) {
          if (c == 0) continue;
          for (const bool has_result : {true, false}) {
            const IndexingMap map =
                Parse(absl::StrCat("(d0)[s0] -> (", has_result ? "s0, " : "", "d0 + s0 * ", c,
                                   "), domain: d0 in [0, 6], s0 in [-1, 3], d0 * ", p, " + s0 * ",
                                   c, " in [", a, ", ", a + width, "]"));
            if (map.constraints().empty()) continue;  // Intervals say all.
            IndexingMap changed = map;
            const bool is_replaced = ReplaceDeterminedRanges(&changed, kAnyConstraint);
            EXPECT_EQ(is_replaced, width < std::abs(c) && (has_result || width == 0))
                << map.ToString();
            if (!is_replaced) continue;
            ++replaced;
            ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
                << map.ToString() << " became " << changed.ToString();
          }
        }
      }
    }
  }
  EXPECT_GT(replaced, 1000);
}

// All  (d0)[s0] -> (s0 * 2 + d0)  with  (p*d0 + c*s0) mod n = r.
TEST_F(DeterminedRangesTest, ResiduesAreTheSameRelationForAllSmallNumbers) {
  int replaced = 0;
  for (int64_t n = 2; n <= 6; ++n) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t c = 1; c < n; ++c) {
        for (int64_t r = 0; r < n; ++r) {
          for (int64_t values = 2; values <= 7; ++values) {
            const IndexingMap map = Parse(absl::StrCat(
                "(d0)[s0] -> (s0 * 2 + d0), domain: d0 in [0, 7], s0 in [-2, ", values - 3,
                "], (d0 * ", p, " + s0 * ", c, ") mod ", n, " in [", r, ", ", r, "]"));
            if (map.constraints().empty()) continue;  // Intervals say all.
            IndexingMap changed = map;
            const bool is_replaced = ReplaceDeterminedRanges(&changed, kAnyConstraint);
            EXPECT_EQ(is_replaced, std::gcd(c, n) == 1 && values <= n) << map.ToString();
            if (!is_replaced) continue;
            ++replaced;
            ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
                << map.ToString() << " became " << changed.ToString();
          }
        }
      }
    }
  }
  EXPECT_GT(replaced, 800);
}

TEST_F(DeterminedRangesTest, NumbersAtTheEndsOfInt64StayInRange) {
  for (const char* text :
       {"(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], "
        "d0 + s0 * -9223372036854775807 in [-9223372036854775807, 0]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], "
        "d0 + s0 * 9223372036854775807 in [-9223372036854775808, 9223372036854775807]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], "
        "d0 + s0 * -9223372036854775808 in [0, 9223372036854775807]",
        "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], "
        "(d0 + s0 * 5) mod 9223372036854775807 in [9223372036854775806, 9223372036854775806]"}) {
    IndexingMap map = Parse(text);
    IndexingMap changed = map;
    ReplaceDeterminedRanges(&changed, kAnyConstraint);
    map.Simplify();
  }
}

}  // namespace
}  // namespace xla_indexing
