// Unions of fewer maps say the same: every pair of points of random maps, before and after.

#include "xla_indexing/ops/unions/few_maps.h"

#include <cstdint>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

class FewMapsTest : public MapPairsTest {};

// Two iterations and every second one from the fourth on are every second one.
TEST_F(FewMapsTest, IntervalsGrowByTheStrideOfTheirVariable) {
  OperandIndexingSet set(Map("(d0) -> (0), domain: d0 in [4, 20], d0 mod 2 in [0, 0]"));
  set.Add(Map("(d0) -> (0), domain: d0 in [2, 2]"));
  WriteWithFewMaps(&set);
  ASSERT_EQ(set.size(), 1);
  EXPECT_EQ(MapPairsOf(set).size(), 10);
}

// What follows from the rest of a map is no reason not to join it: d0 is at least 1 where s0 is at least
// 0 and d0 - s0 at least 1.
TEST_F(FewMapsTest, AnswersAreJoinedAlongOneInterval) {
  OperandIndexingSet set(Map("(d0) -> (d0), domain: d0 in [0, 4]"));
  set.Add(Map("(d0)[s0] -> (d0 - s0), domain: d0 in [1, 4], s0 in [1, 4], d0 - s0 in [0, 3]"));
  WriteAnswer(&set);
  ASSERT_EQ(set.size(), 1);
  EXPECT_EQ(set.maps()[0].ToString(),
            "(d0)[s0] -> (s0), domain: d0 in [0, 4], s0 in [0, 4], d0 - s0 in [0, 4]");
}

// Random pieces of one triangle, cut along one of its sides, and of others that only touch.
TEST_F(FewMapsTest, RandomAnswersSayTheSame) {
  const int cases = Cases(2000);
  int fewer = 0;
  for (int seed = 0; seed < cases; ++seed) {
    Random random(seed);
    OperandIndexingSet set;
    const int64_t factor = random.Between(1, 2) * (random.OneIn(2) ? 1 : -1);
    for (int64_t k = random.Between(2, 3); k > 0; --k) {
      const auto interval = [&](int64_t least, int64_t most) {
        const int64_t lower = random.Between(least, most);
        return absl::StrCat("[", lower, ", ", lower + random.Between(0, 5), "]");
      };
      const std::string index = absl::StrCat("d0 + s0 * ", factor, " + ", random.OneIn(3) ? 1 : 0);
      std::string text = absl::StrCat("(d0)[s0] -> (", index, "), domain: d0 in ", interval(0, 2),
                                      ", s0 in ", interval(-1, 2));
      if (random.OneIn(2)) absl::StrAppend(&text, ", ", index, " in ", interval(-3, 3));
      const OperandIndexing map = Map(text);
      if (!map.IsKnownEmpty()) set.Add(map);
    }
    OperandIndexingSet written = set;
    WriteAnswer(&written);
    ASSERT_EQ(MapPairsOf(set), MapPairsOf(written)) << seed;
    fewer += written.size() < set.size() ? 1 : 0;
  }
  std::cout << fewer << " of " << cases << " unions have fewer maps\n";
  EXPECT_GT(fewer, Cases(200));
}

}  // namespace
}  // namespace xla_indexing::internal
