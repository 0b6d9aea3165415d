// Maps that are written in another way say the same: every pair of random maps, before and after.

#include "xla_indexing/ops/internal/few_maps.h"

#include <cstdint>
#include <iostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/random.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {
namespace {

using MapPairs = std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>>;

class FewMapsTest : public ::testing::Test {
 protected:
  OperandIndexing Map(const std::string& text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status() << text;
    OperandIndexing indexing(kPartsFit, *map);
    indexing.Simplify();
    return indexing;
  }

  static void AddPairs(const OperandIndexing& indexing, MapPairs* pairs) {
    const absl::Status status = indexing.map().ForEachPoint(
        1'000'000,
        [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> /*symbols*/,
            llvm::ArrayRef<int64_t> results) { pairs->emplace(dims.vec(), results.vec()); });
    ASSERT_TRUE(status.ok()) << status;
  }

  // The map with its sums joined, which says the same.
  OperandIndexing Joined(const std::string& text) {
    const OperandIndexing map = Map(text);
    OperandIndexing joined = WithSumsJoined(map);
    MapPairs before;
    MapPairs after;
    AddPairs(map, &before);
    AddPairs(joined, &after);
    EXPECT_EQ(before, after) << text << "\n" << joined.ToString();
    return joined;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

// s0 makes d0 - s0 <= 3 easier the larger it is.
// A range variable between others, of which each asks for an interval of numbers.
TEST_F(FewMapsTest, RangesBetweenOthersAreGone) {
  int gone = 0;
  for (int seed = 0; seed < 400; ++seed) {
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
  EXPECT_GT(gone, 380);
}

TEST_F(FewMapsTest, RangesThatAllRestrictionsWantLargeAre) {
  const OperandIndexing joined = Joined(
      "(d0)[s0, s1] -> (s1), domain: d0 in [0, 9], s0 in [0, 4], s1 in [0, 9], "
      "d0 - s0 - s1 in [-20, 3]");
  EXPECT_EQ(joined.map().num_ranges(), 1);
}

TEST_F(FewMapsTest, RangesThatOneRestrictionWantsSmallAndOneLargeStay) {
  const OperandIndexing joined = Joined(
      "(d0)[s0, s1] -> (s1), domain: d0 in [0, 9], s0 in [0, 4], s1 in [0, 9], "
      "d0 - s0 - s1 in [-2, 3], d0 + s0 * 2 - s1 in [-20, 6]");
  EXPECT_EQ(joined.map().num_ranges(), 2);
}

// What is reached after s0 iterations, and has stayed for s1.
TEST_F(FewMapsTest, SumsInResultsAreOneRange) {
  const OperandIndexing joined = Joined(
      "(d0, d1)[s0, s1, s2] -> (d0 - s0 - s1, s2), domain: d0 in [0, 9], d1 in [0, 9], "
      "s0 in [1, 9], s1 in [1, 9], s2 in [0, 9], d0 - s0 - s1 in [0, 9], "
      "d1 - s2 - s0 in [-30, 0], d1 - s2 + s0 in [0, 30]");
  EXPECT_EQ(joined.map().num_ranges(), 2);
}

// A row of one device of several, and which row it is of the whole array.
TEST_F(FewMapsTest, DifferencesAreOneRange) {
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

TEST_F(FewMapsTest, RangesThatCountAreRemainders) {
  const OperandIndexing joined =
      Joined("(d0)[s0] -> (0), domain: d0 in [0, 20], s0 in [1, 4], d0 - s0 * 3 in [1, 1]");
  EXPECT_EQ(joined.map().num_ranges(), 0);
}

TEST_F(FewMapsTest, RandomMapsSayTheSame) {
  int fewer = 0;
  for (int seed = 0; seed < 3000; ++seed) {
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
  std::cout << fewer << " of 3000 maps have fewer ranges\n";
  EXPECT_GT(fewer, 10);  // Windows of one sum are one window already.
}

// Two iterations and every second one from the fourth on are every second one.
TEST_F(FewMapsTest, IntervalsGrowByTheStrideOfTheirVariable) {
  OperandIndexingSet set(Map("(d0) -> (0), domain: d0 in [4, 20], d0 mod 2 in [0, 0]"));
  set.Add(Map("(d0) -> (0), domain: d0 in [2, 2]"));
  WriteWithFewMaps(&set);
  ASSERT_EQ(set.size(), 1);
  MapPairs pairs;
  AddPairs(set.maps()[0], &pairs);
  EXPECT_EQ(pairs.size(), 10);
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
  int fewer = 0;
  for (int seed = 0; seed < 2000; ++seed) {
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
    MapPairs before;
    MapPairs after;
    OperandIndexingSet written = set;
    WriteAnswer(&written);
    for (const OperandIndexing& map : set) AddPairs(map, &before);
    for (const OperandIndexing& map : written) AddPairs(map, &after);
    ASSERT_EQ(before, after) << seed;
    fewer += written.size() < set.size() ? 1 : 0;
  }
  std::cout << fewer << " of 2000 unions have fewer maps\n";
  EXPECT_GT(fewer, 200);
}

}  // namespace
}  // namespace xla_indexing::internal
