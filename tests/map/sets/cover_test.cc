#include "xla_indexing/map/sets/cover.h"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "absl/algorithm/container.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing {
namespace {

class CoverTest : public MapTextFixture {
 protected:
  Answer Covered(absl::string_view a, std::vector<absl::string_view> others) {
    std::vector<IndexingMap> maps;
    for (const absl::string_view text : others) maps.push_back(Parse(text));
    StepBudget budget(kDefaultSteps);
    return IsCovered(Parse(a), maps, &budget);
  }
};

TEST_F(CoverTest, PiecesOfADomainCoverIt) {
  const absl::string_view whole = "(d0) -> (d0), domain: d0 in [0, 999999999]";
  EXPECT_EQ(Covered(whole, {"(d0) -> (d0), domain: d0 in [0, 499999999]",
                            "(d0) -> (d0), domain: d0 in [500000000, 999999999]"}),
            Answer::kYes);
  EXPECT_EQ(Covered(whole, {"(d0) -> (d0), domain: d0 in [0, 499999999]",
                            "(d0) -> (d0), domain: d0 in [500000001, 999999999]"}),
            Answer::kNo);
}

TEST_F(CoverTest, RangesOfOthersNeedNotBeTheSame) {
  EXPECT_EQ(Covered("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]",
                    {"(d0)[s0] -> (d0, s0 * 2), domain: d0 in [0, 9], s0 in [0, 3]",
                     "(d0)[s0] -> (d0, s0 * 2 + 1), domain: d0 in [0, 9], s0 in [0, 3]"}),
            Answer::kYes);
}

TEST_F(CoverTest, NothingCoversSomethingAndEverythingCoversNothing) {
  EXPECT_EQ(Covered("(d0) -> (d0), domain: d0 in [0, 9]", {}), Answer::kNo);
  EXPECT_EQ(Covered("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [2, 2]", {}), Answer::kYes);
}

TEST_F(CoverTest, AgreesWithEnumeration) {
  SmallMaps random(3, &context_);
  int decided = 0;
  const int cases = Cases(3000);
  for (int i = 0; i < cases; ++i) {
    const NumVariables count{random.Int(0, 2), random.Int(0, 2), random.Chance(25) ? 1 : 0};
    const int64_t num_results = random.Int(0, 2);
    const IndexingMap a = random.Map(count, num_results);
    std::vector<IndexingMap> others;
    std::set<PointList> pairs;
    for (int64_t k = random.Int(0, 3); k > 0; --k) {
      others.push_back(random.Chance(60) ? random.Nudged(random.WithOtherRanges(a))
                                         : random.Map(count, num_results));
      pairs.merge(RelationPoints(others.back()));
    }
    const bool is_covered = absl::c_includes(pairs, RelationPoints(a));
    StepBudget budget(kDefaultSteps);
    const Answer answer = IsCovered(a, others, &budget);
    if (answer == Answer::kUndecided) continue;
    ++decided;
    std::string text;
    for (const IndexingMap& other : others) text += "\n" + other.ToString();
    ASSERT_EQ(answer, AnswerOf(is_covered)) << a.ToString() << " by" << text;
  }
  EXPECT_GT(decided, cases * 3 / 4);
}

}  // namespace
}  // namespace xla_indexing
