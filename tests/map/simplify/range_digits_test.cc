#include "xla_indexing/map/simplify/range_digits.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class RangeDigitsTest : public MapTextFixture {
 protected:
  std::string Simplified(const std::string& text) {
    IndexingMap map = Parse(text);
    map.Simplify();
    return map.ToString();
  }
};

// A row that is read as an array of several dimensions.
TEST_F(RangeDigitsTest, EachDigitBecomesAVariable) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0 floordiv 1024, (s0 floordiv 32) mod 32, s0 mod 32), "
                       "domain: d0 in [0, 3], s0 in [0, 2047]"),
            "(d0)[s0, s1, s2] -> (s0, s1, s2), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 31], "
            "s2 in [0, 31]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0 floordiv 8, s0 mod 8 + d0), domain: d0 in [0, 3], "
                       "s0 in [8, 31]"),
            "(d0)[s0, s1] -> (s0, d0 + s1), domain: d0 in [0, 3], s0 in [1, 3], s1 in [0, 7]");
}

// The second digit is the array's, to which a window of three elements is centred.
TEST_F(RangeDigitsTest, DigitsMeetOtherRulesEachByItself) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (s0 floordiv 8, s0 mod 8 + s1 - 1), domain: d0 in [0, 3], "
                       "s0 in [0, 31], s1 in [0, 2], s0 mod 8 + s1 - 1 in [0, 7]"),
            "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 7]");
}

// Values that are added have the digit of another one.
TEST_F(RangeDigitsTest, TheOnlyDigitThatOccursNeedsNoFullMultiples) {
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0 mod 4 + d0), domain: d0 in [0, 9], s0 in [2, 9]"),
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3]");
  EXPECT_EQ(Simplified("(d0)[s0] -> (s0 floordiv 4 + d0), domain: d0 in [0, 9], s0 in [-6, 9]"),
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [-2, 2]");
  // Three of four remainders.
  const std::string text = "(d0)[s0] -> (d0 + s0 mod 4), domain: d0 in [0, 9], s0 in [2, 4]";
  EXPECT_EQ(Simplified(text), text);
}

// Whichever place a rotation ends at, the element there is read.
TEST_F(RangeDigitsTest, ARemainderThatTakesEveryValueOnceBecomesTheVariable) {
  EXPECT_EQ(Simplified("(d0)[s0] -> ((s0 + d0) mod 7), domain: d0 in [0, 6], s0 in [1, 20]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 6], s0 in [0, 6]");
  EXPECT_EQ(Simplified("(d0)[s0] -> ((s0 * 3) mod 7 + 1, d0), domain: d0 in [0, 6], s0 in [0, 6]"),
            "(d0)[s0] -> (s0 + 1, d0), domain: d0 in [0, 6], s0 in [0, 6]");
  // The neighbour of the element, where it is not beyond the last one.
  EXPECT_EQ(Simplified("(d0)[s0] -> ((d0 + s0) mod 32 + 1), domain: d0 in [0, 31], "
                       "s0 in [-16, 16], (d0 + s0) mod 32 in [0, 30]"),
            "(d0)[s0] -> (s0 + 1), domain: d0 in [0, 31], s0 in [0, 30]");
  for (const char* text :
       {// Every other value only.
        "(d0)[s0] -> ((d0 + s0 * 2) mod 8), domain: d0 in [0, 9], s0 in [0, 3]",
        // One value twice, and the remainder by another number.
        "(d0)[s0] -> ((d0 + s0) mod 8, (d0 + s0) mod 3), domain: d0 in [0, 9], s0 in [0, 7]",
        // The element itself tells s0.
        "(d0)[s0] -> ((d0 + s0) mod 8, s0), domain: d0 in [0, 9], s0 in [0, 7]"}) {
    EXPECT_EQ(Simplified(text), text);
  }
}

// Its element might be read at s0.
TEST_F(RangeDigitsTest, ARemainderWithARuntimeVariableStays) {
  IndexingMap map = Parse(
      "(d0)[s0]{rt0} -> ((s0 + rt0) mod 4), domain: d0 in [0, 6], s0 in [0, 3], rt0 in [0, 3]");
  EXPECT_FALSE(internal::ReplaceByRemainder(&map));
}

TEST_F(RangeDigitsTest, RemaindersThatBecomeVariablesAreTheSameRelation) {
  int replaced = 0;
  for (int seed = 0; seed < Cases(20000); ++seed) {
    Random random(seed);
    const int64_t n = random.Between(2, 7);
    const auto remainder = [&] {
      return absl::StrCat("(d0 * ", random.Between(-2, 2), " + s1 * ", random.Between(-1, 1),
                          " + s0 * ", random.Between(-3, 4), " + ((s0 + d0) mod ",
                          random.OneIn(2) ? n : 2, ") * ", random.OneIn(4) ? 1 : 0, " + ",
                          random.Between(0, 3), ") mod ", random.OneIn(10) ? n + 1 : n);
    };
    const int64_t first = random.Between(-2, 2);
    const int64_t lower = random.Between(0, 3);
    const std::string text =
        absl::StrCat("(d0)[s0, s1] -> (", remainder(), " + d0 * ", random.Between(-1, 1), ", ",
                     random.OneIn(2) ? remainder() : "s1", "), domain: d0 in [0, 4], s0 in [",
                     first, ", ", first + n - (random.OneIn(8) ? 2 : 1), "], s1 in [0, 2], ",
                     remainder(), " + s1 in [", lower, ", ", lower + random.Between(0, 3), "]");
    const IndexingMap map = Parse(text);
    IndexingMap changed = map;
    if (!internal::ReplaceByRemainder(&changed)) continue;
    ++replaced;
    ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
        << text << " became " << changed.ToString();
  }
  EXPECT_GT(replaced, Cases(3000));
}

TEST_F(RangeDigitsTest, VariablesWithoutDigitsOfTheirOwnStay) {
  for (const char* text :
       {"(d0)[s0] -> (s0 floordiv 8, s0 + d0), domain: d0 in [0, 3], s0 in [0, 31]",
        "(d0)[s0] -> (s0 floordiv 8, s0 mod 8), domain: d0 in [0, 3], s0 in [0, 30]",
        "(d0)[s0] -> (s0 floordiv 8, s0 mod 8), domain: d0 in [0, 3], s0 in [1, 32]",
        "(d0)[s0] -> ((s0 + d0) floordiv 8, s0 mod 8), domain: d0 in [0, 3], s0 in [0, 31]",
        ("(d0)[s0] -> (s0 floordiv 8, s0 mod 8), domain: d0 in [0, 3], s0 in [0, 31], "
         "s0 - d0 in [0, 9]"),
        "(d0)[s0] -> (s0 floordiv 4, s0 mod 8), domain: d0 in [0, 3], s0 in [0, 31]"}) {
    IndexingMap map = Parse(text);
    EXPECT_FALSE(internal::SplitRangeVariable(&map)) << text;
  }
}

TEST_F(RangeDigitsTest, NumbersAtTheEndsOfInt64StayInRange) {
  for (const char* text :
       {"(d0)[s0] -> ((s0 * 4611686018427387904) floordiv 4611686018427387904), "
        "domain: d0 in [0, 1], s0 in [0, 1]",
        "(d0)[s0] -> (s0 floordiv 4611686018427387904, s0 mod 4611686018427387904), "
        "domain: d0 in [0, 1], s0 in [0, 9223372036854775807]",
        "(d0)[s0] -> (((s0 floordiv 4294967296) * -9223372036854775808 + d0) mod 4294967296), "
        "domain: d0 in [0, 1], s0 in [0, 9223372036854775806]"}) {
    IndexingMap map = Parse(text);
    internal::SplitRangeVariable(&map);
    map.Simplify();
  }
}

// Random ways in which a variable occurs, most of which have no digits.
TEST_F(RangeDigitsTest, TheRelationStaysTheSame) {
  int split = 0;
  int with_constraints = 0;
  int without_equality = 0;
  for (int seed = 0; seed < Cases(40000); ++seed) {
    Random random(seed);
    const auto occurrence = [&] {
      const std::string s = absl::StrCat("s0 * ", random.OneIn(4) ? random.Between(-2, 3) : 1);
      const std::string dividend =
          random.OneIn(3)
              ? absl::StrCat(s, " + d0 * ", random.Between(-4, 4), " + ", random.Between(-2, 4))
              : s;
      const int64_t a = random.Between(1, 6);
      const int64_t b = random.Between(1, 6);
      switch (random.Between(0, 4)) {
        case 0:
          return absl::StrCat("(", dividend, ") floordiv ", a);
        case 1:
          return absl::StrCat("(", dividend, ") mod ", a);
        case 2:
          return absl::StrCat("((", dividend, ") floordiv ", a, ") mod ", b);
        case 3:
          return absl::StrCat("((", dividend, ") mod ", a * b, ") floordiv ", b);
        default:
          return absl::StrCat("(d0 + ((", dividend, ") floordiv ", a, ") * ", random.Between(-2, 3),
                              ") mod ", b);
      }
    };
    const int64_t factor = random.Between(1, 6);
    const int64_t first = factor * random.Between(-1, 2) + (random.OneIn(3) ? 1 : 0);
    const int64_t size = random.OneIn(3) ? random.Between(1, 12) : factor * random.Between(1, 5);
    std::string text =
        absl::StrCat("(d0)[s0] -> (", occurrence(), ", ", occurrence(), "), domain: d0 in [0, ",
                     random.Between(0, 4), "], s0 in [", first, ", ", first + size - 1, "]");
    const bool has_constraint = random.OneIn(2);
    if (has_constraint) {
      const int64_t lower = random.Between(-2, 2);
      absl::StrAppend(&text, ", ", occurrence(), " + d0 * ", random.Between(-1, 1), " in [", lower,
                      ", ", lower + random.Between(0, 3), "]");
    }
    const IndexingMap map = Parse(text);
    IndexingMap changed = map;
    if (!internal::SplitRangeVariable(&changed)) continue;
    ++split;
    with_constraints += has_constraint ? 1 : 0;
    ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
        << text << " became " << changed.ToString();
    // Each result has one of the two, unless an equality gives it the other one for the dimension.
    IndexingMap simplified = changed;
    simplified.Simplify({.keep_variables = true});
    if (absl::c_any_of(simplified.constraints(), [](const Constraint& constraint) {
          return constraint.interval.IsPoint();
        })) {
      continue;
    }
    ++without_equality;
    for (const mlir::AffineExpr result : simplified.results()) {
      EXPECT_FALSE(result.isFunctionOfSymbol(0) && result.isFunctionOfSymbol(1))
          << text << " became " << simplified.ToString();
    }
  }
  EXPECT_GT(split, Cases(2000));
  EXPECT_GT(with_constraints, Cases(500));
  EXPECT_GT(without_equality, Cases(1500));
}

}  // namespace
}  // namespace xla_indexing
