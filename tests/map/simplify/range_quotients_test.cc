#include "xla_indexing/map/simplify/range_quotients.h"

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

class RangeQuotientsTest : public MapTextFixture {
 protected:
  std::string Simplified(const std::string& text) {
    IndexingMap map = Parse(text);
    map.Simplify();
    return map.ToString();
  }
};

// The outputs o of a window of three elements with stride 2 that read element d0, o * 2 - 1 + s0 = d0.
TEST_F(RangeQuotientsTest, ThePositionInAWindowWithAStrideBecomesTheOutput) {
  EXPECT_EQ(Simplified("(d0)[s0] -> ((d0 - s0 + 1) floordiv 2), domain: d0 in [0, 9], "
                       "s0 in [0, 2], (d0 + s0 + 1) mod 2 in [0, 0]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 5], d0 - s0 * 2 in [-1, 1]");
}

// Two windows one after another leave one variable, without a division.
TEST_F(RangeQuotientsTest, AWindowAfterAWindowWithAStrideIsOneWindow) {
  EXPECT_EQ(Simplified("(d0)[s0, s1] -> ((d0 - s0 + 1) floordiv 2 - s1 + 1), domain: "
                       "d0 in [0, 9], s0 in [0, 2], s1 in [0, 2], (d0 + s0 + 1) mod 2 in [0, 0]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [-1, 6], d0 - s0 * 2 in [-3, 3]");
}

// A window in two dimensions whose outputs are numbered in a row: in the normal form of its index the
// quotients would be products, and their residues constraints.
TEST_F(RangeQuotientsTest, TheOutputsOfAWindowStayVariablesWhereTheyAreNumberedTogether) {
  EXPECT_EQ(
      Simplified("(d0, d1)[s0, s1] -> (((d0 - s0 + 1) floordiv 2) * 5 + (d1 - s1 + 1) floordiv "
                 "2), domain: d0 in [0, 8], d1 in [0, 8], s0 in [0, 2], s1 in [0, 2], "
                 "(d0 - s0 + 1) mod 2 in [0, 0], (d1 - s1 + 1) mod 2 in [0, 0]"),
      "(d0, d1)[s0, s1] -> (s0 + s1 * 5), domain: d0 in [0, 8], d1 in [0, 8], s0 in [0, 4], "
      "s1 in [0, 4], d0 - s1 * 2 in [-1, 1], d1 - s0 * 2 in [-1, 1]");
}

// What a multiple of the divisor hides may be known: here that s0 is d0, and the quotient d0.
TEST_F(RangeQuotientsTest, DividendsWithMultiplesOfTheDivisorStay) {
  IndexingMap map = Parse(
      "(d0)[s0] -> ((d0 * 6 - s0) floordiv 5), domain: d0 in [0, 4], s0 in [0, 4], "
      "(d0 * 6 - s0) mod 5 in [0, 0]");
  EXPECT_FALSE(internal::ReplaceByQuotient(&map));
}

TEST_F(RangeQuotientsTest, VariablesThatOccurApartOrLeaveARemainderStay) {
  for (const char* text :
       {"(d0)[s0] -> (s0, (d0 + s0) floordiv 2), domain: d0 in [0, 9], s0 in [0, 2], "
        "(d0 + s0) mod 2 in [0, 0]",
        "(d0)[s0] -> ((d0 * 2 + s0) floordiv 2, (d0 + s0) floordiv 2), domain: d0 in [0, 9], "
        "s0 in [0, 2], (d0 + s0) mod 2 in [0, 0]",
        "(d0)[s0] -> ((d0 + s0) floordiv 3), domain: d0 in [0, 9], s0 in [0, 2], "
        "(d0 + s0) mod 2 in [0, 0]"}) {
    IndexingMap map = Parse(text);
    EXPECT_FALSE(internal::ReplaceByQuotient(&map)) << text;
  }
}

TEST_F(RangeQuotientsTest, NumbersAtTheEndsOfInt64StayInRange) {
  for (const char* text :
       {"(d0)[s0] -> ((d0 + s0) floordiv 2 + 9223372036854775807), domain: d0 in [0, 9], "
        "s0 in [0, 9], (d0 + s0) mod 2 in [0, 0]",
        "(d0)[s0] -> ((d0 * -9223372036854775808 + s0) floordiv 2), domain: d0 in [0, 1], "
        "s0 in [0, 9], s0 mod 2 in [0, 0]",
        "(d0)[s0] -> ((d0 + s0 * -9223372036854775808) floordiv 2), domain: d0 in [0, 1], "
        "s0 in [0, 9], (d0 + s0) mod 2 in [0, 0]",
        "(d0)[s0] -> ((s0 + 2) floordiv 9223372036854775807), domain: d0 in [0, 1], "
        "s0 in [-9223372036854775807, 9223372036854775803], "
        "s0 mod 9223372036854775807 in [0, 0]"}) {
    IndexingMap map = Parse(text);
    internal::ReplaceByQuotient(&map);
    map.Simplify();
  }
}

TEST_F(RangeQuotientsTest, TheRelationStaysTheSame) {
  int replaced = 0;
  int with_other_constraints = 0;
  for (int seed = 0; seed < Cases(40000); ++seed) {
    Random random(seed);
    const int64_t divisor = random.Between(2, 4);
    const int64_t of_d0 = random.Between(-3, 3);
    const int64_t of_s1 = random.Between(-1, 1);
    const int64_t sign = random.OneIn(2) ? 1 : -1;
    const std::string dividend = absl::StrCat("d0 * ", of_d0, " + s0 * ", sign, " + s1 * ", of_s1,
                                              " + ", random.Between(-3, 3));
    // The same modulo the divisor, its negative, or anything.
    const int64_t scale = random.OneIn(2) ? 1 : -1;
    const int64_t other = random.OneIn(6) ? 1 : 0;
    const std::string remainder =
        absl::StrCat("d0 * ", of_d0 * scale + divisor * random.Between(-1, 1) + other, " + s0 * ",
                     sign * scale + divisor * random.Between(-1, 1), " + s1 * ",
                     of_s1 * scale + divisor * random.Between(-1, 1));
    std::string text = absl::StrCat(
        "(d0)[s0, s1] -> ((", dividend, ") floordiv ", divisor, " + d0 * ", random.Between(-1, 1),
        " + s1 * ", random.Between(-1, 1), " + ", random.Between(-1, 1), ", s1 * ",
        random.Between(0, 1), "), domain: d0 in [0, ", random.Between(0, 5), "], s0 in [",
        random.Between(-1, 1), ", ", random.Between(1, 6), "], s1 in [0, ", random.Between(0, 3),
        "], (", remainder, ") mod ", divisor, " in [", divisor - 1, ", ", divisor - 1, "]");
    const bool has_other = random.OneIn(2);
    if (has_other) {
      const int64_t lower = random.Between(-4, 4);
      absl::StrAppend(&text, ", d0 * ", random.Between(-2, 2), " + s0 * ", random.Between(-3, 3),
                      " + (s0 + s1) mod 3 in [", lower, ", ", lower + random.Between(0, 8), "]");
    }
    const IndexingMap map = Parse(text);
    IndexingMap changed = map;
    changed.Simplify({.keep_variables = true});
    if (!internal::ReplaceByQuotient(&changed)) continue;
    ++replaced;
    with_other_constraints += has_other ? 1 : 0;
    ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
        << text << " became " << changed.ToString();
  }
  EXPECT_GT(replaced, Cases(3000));
  EXPECT_GT(with_other_constraints, Cases(1000));
}

// Two variables may also have one quotient in common, which can be only one of them.
TEST_F(RangeQuotientsTest, SeveralQuotientsAtOnceLeaveTheRelationTheSame) {
  int with_two = 0;
  int in_common = 0;
  for (int seed = 0; seed < Cases(20000); ++seed) {
    Random random(seed);
    const auto sign = [&random] { return random.OneIn(2) ? 1 : -1; };
    const bool is_in_common = random.OneIn(4);
    std::string results;
    std::string constraints;
    for (const char* variable : {"s0", "s1"}) {
      const int64_t divisor = random.Between(2, 3);
      const std::string dividend = absl::StrCat(
          "d0 * ", random.Between(-1, 1), " + ", variable, " * ", sign(),
          is_in_common ? absl::StrCat(" + s1 * ", sign()) : "", " + ", random.Between(-2, 2));
      absl::StrAppend(&results, results.empty() ? "" : ", ", "(", dividend, ") floordiv ", divisor);
      absl::StrAppend(&constraints, ", (", dividend, ") mod ", divisor, " in [1, 1]");
      if (is_in_common) break;
    }
    const IndexingMap map = Parse(absl::StrCat(
        "(d0)[s0, s1] -> (", results, "), domain: d0 in [0, ", random.Between(0, 5), "], s0 in [",
        random.Between(-1, 1), ", ", random.Between(1, 5), "], s1 in [0, ", random.Between(1, 4),
        "], s0 + s1 in [0, ", random.Between(2, 6), "]", constraints));
    IndexingMap changed = map;
    if (!internal::ReplaceByQuotient(&changed)) continue;
    (is_in_common ? in_common : with_two) += 1;
    ASSERT_EQ(RelationPoints(changed), RelationPoints(map))
        << map.ToString() << " became " << changed.ToString();
  }
  EXPECT_GT(with_two, Cases(10000));
  EXPECT_GT(in_common, Cases(3000));
}

}  // namespace
}  // namespace xla_indexing
