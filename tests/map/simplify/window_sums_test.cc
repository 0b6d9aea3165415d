#include "xla_indexing/map/simplify/window_sums.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class WindowSumsTest : public MapTextFixture {
 protected:
  std::string Simplified(const std::string& text) {
    IndexingMap map = Parse(text);
    map.Simplify();
    return map.ToString();
  }
  // The pairs of dimensions and results.
  static std::set<PointList> RelationOf(const IndexingMap& map) {
    std::set<PointList> relation;
    ForAllPoints(map, [&](auto dims, auto, auto results) { relation.insert(Join(dims, results)); });
    return relation;
  }
};

TEST_F(WindowSumsTest, WindowsOneAfterAnotherAreOneWindow) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 2], "
                       "s1 in [0, 3]"),
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 5]");
  // The stride of the outer one is no more than the inner one has elements.
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 * 4 + s0 * 3 + s1), domain: d0 in [0, 9], "
                       "s0 in [0, 4], s1 in [0, 3]"),
            "(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 15]");
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 * 4 + s0 * 3 - s1), domain: d0 in [0, 9], "
                       "s0 in [0, 4], s1 in [0, 2]"),
            "(d0)[s0] -> (d0 * 4 - s0), domain: d0 in [0, 9], s0 in [-12, 2]");
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 * 4 + s0 * 3 - s1), domain: d0 in [0, 9], "
                       "s0 in [0, 4], s1 in [0, 2], s0 * 3 - s1 in [0, 3]"),
            "(d0)[s0] -> (d0 * 4 - s0), domain: d0 in [0, 9], s0 in [-3, 0]");
}

TEST_F(WindowSumsTest, DigitsOfOneNumberAreThatNumber) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0, s0 * 4 + s1), domain: d0 in [0, 9], s0 in [0, 7], "
                       "s1 in [0, 3]"),
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 31]");
  EXPECT_EQ(Simplified("()[s0, s1, s2] -> (s1 + s2 * 5 + s0 * 10), domain: s0 in [0, 2], "
                       "s1 in [0, 4], s2 in [0, 1]"),
            "()[s0] -> (s0), domain: s0 in [0, 29]");
}

// Where d0 + s0 is in bounds for some s0 follows from where the sum is.
TEST_F(WindowSumsTest, WhatIsPaddedOnTheWayIsEliminated) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 + s0 + s1 - 2), domain: d0 in [0, 31], s0 in [0, 2], "
                       "s1 in [0, 2], d0 + s0 - 1 in [0, 31], d0 + s0 + s1 - 2 in [0, 31]"),
            "(d0)[s0] -> (d0 + s0 - 2), domain: d0 in [0, 31], s0 in [0, 4], d0 + s0 in [2, 33]");
}

// A window that looks back beside one that looks ahead.
TEST_F(WindowSumsTest, DifferencesAreOneVariableToo) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (d0 + s0 - s1), domain: d0 in [0, 9], s0 in [0, 2], "
                       "s1 in [0, 3]"),
            "(d0)[s0] -> (d0 - s0), domain: d0 in [0, 9], s0 in [-2, 3]");
}

// All of a row, shifted by each of three taps and cut off at its ends, is all of the row.
TEST_F(WindowSumsTest, AResultThatIsTheSumAloneIsTheVariable) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (s1 - s0 + 1), domain: d0 in [0, 3], s0 in [0, 2], "
                       "s1 in [0, 55], s1 - s0 + 1 in [0, 55]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 55]");
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (s0 * 2 - s1 + 1), domain: d0 in [0, 3], s0 in [0, 2], "
                       "s1 in [0, 55]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [-54, 5]");
}

// The same in every second place: the residue and the quotient are functions of the difference.
TEST_F(WindowSumsTest, SumsWithinDividendsAreTheVariable) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> ((s1 - s0 + 1) floordiv 2), domain: d0 in [0, 3], "
                       "s0 in [0, 2], s1 in [0, 111], s0 - s1 in [-110, 1], "
                       "(s0 + s1 + 1) mod 2 in [0, 0]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 55]");
}

TEST_F(WindowSumsTest, ConstraintsOnDividendsAreOnTheVariable) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> (s1 - s0 + 1), domain: d0 in [0, 3], s0 in [0, 2], "
                       "s1 in [0, 55], (s1 - s0 + 1) mod 3 in [0, 1]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 55], s0 mod 3 in [0, 1]");
}

// Neither (s0 + s1) floordiv 4 nor s0 floordiv 4 is a function of s0 + s1 * 2.
TEST_F(WindowSumsTest, DividendsWithAnotherSumStay) {
  for (const char* text :
       {"(d0)[s0, s1] -> (s0 + s1 * 2, (s0 + s1) floordiv 4), domain: d0 in [0, 3], s0 in [0, 8], "
        "s1 in [0, 8]",
        "(d0)[s0, s1] -> (s0 + s1 * 2, s0 floordiv 4), domain: d0 in [0, 3], s0 in [0, 8], "
        "s1 in [0, 8]"}) {
    EXPECT_EQ(Simplified(text), text);
  }
}

TEST_F(WindowSumsTest, WindowsWithGapsAndVariablesThatOccurApartStay) {
  for (const char* text :
       {"(d0)[s0, s1] -> (d0 + s0 + s1 * 4), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 3]",
        "(d0)[s0, s1] -> (d0 + s0 + s1, s1), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 3]",
        "(d0)[s0, s1] -> (d0 + s0 + s1, s0 + s1 * 2), domain: d0 in [0, 9], s0 in [0, 2], "
        "s1 in [0, 3]"}) {
    EXPECT_EQ(Simplified(text), text);
  }
}

// s0 is another name of d1: without it there would be two constraints on the sum.
TEST_F(WindowSumsTest, VariablesThatAnEqualityGivesStay) {
  IndexingMap map = Parse(
      "(d0, d1)[s0, s1] -> (s1 - s0 * 4), domain: d0 in [0, 3], d1 in [0, 3], s0 in [0, 3], "
      "s1 in [0, 15], d1 - s0 in [0, 0]");
  EXPECT_FALSE(internal::JoinWindows(&map));
}

TEST_F(WindowSumsTest, NumbersAtTheEndsOfInt64AreNoWindows) {
  for (const char* text :
       {"(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 9223372036854775807], "
        "s1 in [0, 9223372036854775807]",
        "(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, inf], s1 in [0, 2]"}) {
    IndexingMap map = Parse(text);
    EXPECT_FALSE(internal::JoinWindows(&map)) << text;
  }
  IndexingMap map = Parse(
      "(d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 2], "
      "d0 + s0 * -9223372036854775807 in [-9223372036854775808, 5]");
  internal::JoinWindows(&map);
}

TEST_F(WindowSumsTest, TheRelationStaysTheSame) {
  int joined = 0;
  int negative = 0;
  int with_constraints = 0;
  int with_divisions = 0;
  for (int seed = 0; seed < Cases(40000); ++seed) {
    Random random(seed);
    const int64_t n = random.Between(1, 3) * (random.OneIn(2) ? 1 : -1);
    const int64_t scale = random.OneIn(3) ? random.Between(-2, 2) : 1;
    const std::string sum =
        absl::StrCat("d0 * ", random.OneIn(2) ? random.Between(1, 3) : 0, " + s0 * ", n * scale,
                     " + s1 * ", scale, " + ", random.Between(-2, 2));
    const bool is_divided = random.OneIn(3);
    std::string text = absl::StrCat("(d0)[s0, s1] -> (", sum);
    if (is_divided) {
      text = absl::StrCat("(d0)[s0, s1] -> ((", sum, ") floordiv ", random.Between(2, 3));
    }
    absl::StrAppend(&text, "), domain: d0 in [0, ", random.Between(0, 4), "], s0 in [",
                    random.Between(-1, 0), ", ", random.Between(0, 4), "], s1 in [",
                    random.Between(-1, 0), ", ", random.Between(0, 4), "]");
    const int64_t num_constraints = random.Between(0, 3);
    for (int64_t i = 0; i < num_constraints; ++i) {
      const int64_t lower = random.Between(-4, 4);
      absl::StrAppend(&text, ", d0 * ", random.Between(-2, 2), " + s0 * ", random.Between(-3, 3),
                      " + s1 * ", random.Between(-1, 1), " in [", lower, ", ",
                      lower + random.Between(0, 8), "]");
    }
    if (random.OneIn(3)) {
      const int64_t modulus = random.Between(2, 3);
      const std::string other = absl::StrCat("s0 * ", random.Between(-1, 1), " + s1");
      absl::StrAppend(&text, ", (", random.OneIn(2) ? sum : other, ") mod ", modulus, " in [0, ",
                      random.Between(0, modulus - 1), "]");
    }
    const IndexingMap map = Parse(text);
    IndexingMap changed = map;
    if (!internal::JoinWindows(&changed)) continue;
    ++joined;
    negative += n < 0 ? 1 : 0;
    with_constraints += map.constraints().empty() ? 0 : 1;
    with_divisions += is_divided ? 1 : 0;
    ASSERT_EQ(RelationOf(changed), RelationOf(map)) << text << " became " << changed.ToString();
    ASSERT_LE(changed.constraints().size(), map.constraints().size()) << text;
  }
  EXPECT_GT(joined, Cases(3000));
  EXPECT_GT(negative, Cases(1000));
  EXPECT_GT(with_constraints, Cases(1000));
  EXPECT_GT(with_divisions, Cases(1000));
}

}  // namespace
}  // namespace xla_indexing
