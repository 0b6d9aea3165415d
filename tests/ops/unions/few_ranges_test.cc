// A map with fewer range variables says the same: every pair of points of random maps, before and after.

#include "xla_indexing/ops/unions/few_ranges.h"

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

class FewRangesTest : public MapPairsTest {
 protected:
  // The map with its sums joined, which says the same.
  OperandIndexing Joined(const std::string& text) {
    const OperandIndexing map = Map(text);
    OperandIndexing joined = WithSumsJoined(map);
    EXPECT_EQ(MapPairsOf(map), MapPairsOf(joined)) << text << "\n" << joined.ToString();
    return joined;
  }
};

// A range variable between others, of which each asks for an interval of numbers.
TEST_F(FewRangesTest, RangesBetweenOthersAreGone) {
  int gone = 0;
  for (int seed = 0; seed < Cases(400); ++seed) {
    Random random(seed);
    std::string constraints;
    for (const char* other : {"d0", "s0"}) {
      const int64_t least = random.Between(-6, 3);
      absl::StrAppend(&constraints, ", ", random.OneIn(2) ? "" : "-", "s1 + ", other, " * ",
                      random.Between(-2, 2), " in [", least, ", ", least + random.Between(0, 5),
                      "]");
    }
    const OperandIndexing joined =
        Joined(absl::StrCat("(d0)[s0, s1] -> (s0), domain: d0 in [0, 6], s0 in [0, 5], s1 in [",
                            random.Between(-3, 0), ", ", random.Between(0, 6), "]", constraints));
    ASSERT_FALSE(HasFailure());
    gone += joined.map().num_ranges() < 2 ? 1 : 0;
  }
  std::cout << gone << " ranges are gone\n";
  EXPECT_GT(gone, Cases(380));
}

// s0 makes d0 - s0 - s1 <= 3 easier the larger it is.
TEST_F(FewRangesTest, RangesThatAllRestrictionsWantLargeAre) {
  const OperandIndexing joined = Joined(
      "(d0)[s0, s1] -> (s1), domain: d0 in [0, 9], s0 in [0, 4], s1 in [0, 9], "
      "d0 - s0 - s1 in [-20, 3]");
  EXPECT_EQ(joined.map().num_ranges(), 1);
}

TEST_F(FewRangesTest, RangesThatOneRestrictionWantsSmallAndOneLargeStay) {
  const OperandIndexing joined = Joined(
      "(d0)[s0, s1] -> (s1), domain: d0 in [0, 9], s0 in [0, 4], s1 in [0, 9], "
      "d0 - s0 - s1 in [-2, 3], d0 + s0 * 2 - s1 in [-20, 6]");
  EXPECT_EQ(joined.map().num_ranges(), 2);
}

// What is reached after s0 iterations, and has stayed for s1.
TEST_F(FewRangesTest, SumsInResultsAreOneRange) {
  const OperandIndexing joined = Joined(
      "(d0, d1)[s0, s1, s2] -> (d0 - s0 - s1, s2), domain: d0 in [0, 9], d1 in [0, 9], "
      "s0 in [1, 9], s1 in [1, 9], s2 in [0, 9], d0 - s0 - s1 in [0, 9], "
      "d1 - s2 - s0 in [-30, 0], d1 - s2 + s0 in [0, 30]");
  EXPECT_EQ(joined.map().num_ranges(), 2);
}

// A row of one device of several, and which row it is of the whole array.
TEST_F(FewRangesTest, DifferencesAreOneRange) {
  const OperandIndexing joined = Joined(
      "(d0)[s0, s1, s2] -> (d0, s1 - s0, s2), domain: d0 in [0, 3], s0 in [0, 6], s1 in [0, 9], "
      "s2 in [0, 2], s0 - s1 in [-3, 0]");
  EXPECT_EQ(joined.map().num_ranges(), 2);
  // The sum and the difference are two.
  EXPECT_EQ(Joined("(d0)[s0, s1] -> (s1 - s0, s1 + s0), domain: d0 in [0, 3], s0 in [0, 6], "
                   "s1 in [0, 9]")
                .map()
                .num_ranges(),
            2);
}

TEST_F(FewRangesTest, RangesThatCountAreRemainders) {
  const OperandIndexing joined =
      Joined("(d0)[s0] -> (0), domain: d0 in [0, 20], s0 in [1, 4], d0 - s0 * 3 in [1, 1]");
  EXPECT_EQ(joined.map().num_ranges(), 0);
}

TEST_F(FewRangesTest, RandomMapsSayTheSame) {
  int fewer = 0;
  const int cases = Cases(3000);
  for (int seed = 0; seed < cases; ++seed) {
    Random random(seed);
    const auto term = [&](const std::string& variable) {
      return absl::StrCat(variable, " * ", random.Between(-2, 2));
    };
    const int64_t results = random.Between(0, 3);
    std::string text = absl::StrCat(
        "(d0)[s0, s1, s2] -> (",
        results == 0 ? "d0"
                     : absl::StrCat(term("d0"), " + ", results > 1 ? "s0 + s1" : term("s0"),
                                    results > 2 ? " + s2" : ""),
        "), domain: d0 in [0, ", random.Between(0, 4), "]");
    for (int s = 0; s < 3; ++s) {
      const int64_t least = random.Between(-2, 2);
      absl::StrAppend(&text, ", s", s, " in [", least, ", ", least + random.Between(0, 4), "]");
    }
    for (int64_t count = random.Between(0, 3); count > 0; --count) {
      const int64_t least = random.Between(-6, 4);
      absl::StrAppend(&text, ", ", term("d0"), " + ", term("s0"), " + ", term("s1"), " + ",
                      term("s2"), random.OneIn(5) ? " + s1 floordiv 2" : "", " in [", least, ", ",
                      least + (random.OneIn(3) ? 0 : random.Between(0, 12)), "]");
    }
    const OperandIndexing joined = Joined(text);
    if (HasFailure()) return;
    fewer += joined.map().num_ranges() < Map(text).map().num_ranges() ? 1 : 0;
  }
  std::cout << fewer << " of " << cases << " maps have fewer ranges\n";
  EXPECT_GT(fewer, Cases(10));  // Windows of one sum are one window already.
}

}  // namespace
}  // namespace xla_indexing::internal
