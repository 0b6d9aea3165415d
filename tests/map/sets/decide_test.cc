#include "xla_indexing/map/sets/decide.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing {
namespace {

class DecideTest : public MapTextFixture {
 protected:
  Answer Functions(absl::string_view a, absl::string_view b, int64_t max_steps = kDefaultSteps) {
    return SameFunction(Parse(a), Parse(b), max_steps)->answer;
  }
  Answer Relations(absl::string_view a, absl::string_view b) {
    return SameRelation(Parse(a), Parse(b))->answer;
  }
  Answer Subrelation(absl::string_view a, absl::string_view b) {
    return IsSubrelation(Parse(a), Parse(b))->answer;
  }
};

// What the answers to many questions were.
struct Tally {
  int yes = 0;
  int no = 0;
  int undecided = 0;

  void Count(const Decision& decision) {
    ++(decision.IsYes() ? yes : decision.IsNo() ? no : undecided);
  }
};

// An answer is what enumeration says, or open.
::testing::AssertionResult Agrees(const Decision& decision, bool expected) {
  if (decision.IsUndecided() || decision.IsYes() == expected) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << ::testing::PrintToString(decision) << " where enumeration says " << expected;
}

constexpr char kBig[] = "d0 in [0, 999999999], d1 in [0, 999999999]";

TEST_F(DecideTest, WaysToWriteOnePositionAreOneFunction) {
  EXPECT_EQ(Functions("(d0) -> ((d0 floordiv 4) * 4 + d0 mod 4), domain: d0 in [0, 99]",
                      "(d0) -> (d0), domain: d0 in [0, 99]"),
            Answer::kYes);
  EXPECT_EQ(Functions("(d0) -> ((d0 floordiv 4) * 4 + d0 mod 4), domain: d0 in [0, 99]",
                      "(d0) -> (d0), domain: d0 in [0, 98]"),
            Answer::kNo);
}

// The normal form prints these differently (docs/simplifier.md, "What the form does not do").
TEST_F(DecideTest, DigitsThatCutAcrossEachOtherAreOneFunction) {
  const std::string domain = ", domain: d0 in [0, 23], d1 in [0, 3]";
  EXPECT_EQ(
      Functions("(d0, d1) -> (d0 + (d0 + d1) floordiv 3)" + domain,
                "(d0, d1) -> (d0 + (d0 * 2 + d1 + (d1 floordiv 2) * 2 + 1) floordiv 6)" + domain),
      Answer::kYes);
}

TEST_F(DecideTest, FunctionsOnLargeDomainsAreTold) {
  const std::string domain = absl::StrCat(", domain: ", kBig, ", d0 - d1 in [0, 0]");
  // Equal on the diagonal alone.
  EXPECT_EQ(Functions("(d0, d1) -> (d0 * 2)" + domain, "(d0, d1) -> (d0 + d1)" + domain),
            Answer::kYes);
  EXPECT_EQ(Functions("(d0, d1) -> (d0 * 2)" + domain, "(d0, d1) -> (d0 + d1 * 2)" + domain),
            Answer::kNo);
  // One point of 10^18 differs.
  const std::string corner = absl::StrCat(", domain: ", kBig, ", d0 + d1 in [0, 1999999997]");
  EXPECT_EQ(
      Functions(absl::StrCat("(d0, d1) -> (d0), domain: ", kBig), "(d0, d1) -> (d0)" + corner),
      Answer::kNo);
}

TEST_F(DecideTest, WithoutABudgetTheNormalFormAnswersAlone) {
  const std::string mod3 = "(d0) -> (d0 mod 3), domain: d0 in [0, 9]";
  const std::string mod4 = "(d0) -> (d0 mod 4), domain: d0 in [0, 9]";
  EXPECT_EQ(Functions(mod3, "(d0) -> (d0 - (d0 floordiv 3) * 3), domain: d0 in [0, 9]", 0),
            Answer::kYes);
  EXPECT_EQ(Functions(mod3, mod4, /*max_steps=*/0), Answer::kUndecided);
  EXPECT_EQ(Functions(mod3, mod4, /*max_steps=*/100), Answer::kNo);
}

TEST_F(DecideTest, NoMoreStepsAreTakenThanAllowed) {
  SmallMaps maps(6, &context_);
  for (int i = 0; i < Cases(1000); ++i) {
    const IndexingMap map = maps.Map();
    const int64_t max_steps = maps.Int(0, 3000);
    EXPECT_LE(SameFunction(map, maps.Nudged(map), max_steps)->steps, max_steps);
    EXPECT_LE(SameRelation(map, maps.WithOtherRanges(map), max_steps)->steps, max_steps);
    EXPECT_LE(IsEmptyDomain(map, max_steps)->steps, max_steps);
  }
}

TEST_F(DecideTest, RangesCutOtherwiseAreOneRelation) {
  const std::string one = "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9999999], s0 in [0, 7999]";
  const std::string two =
      "(d0)[s0, s1] -> (d0, s0 + s1 * 2), domain: d0 in [0, 9999999], s0 in [0, 1], s1 in [0, "
      "3999]";
  const std::string less =
      "(d0)[s0, s1] -> (d0, s0 + s1 * 2), domain: d0 in [0, 9999999], s0 in [0, 1], s1 in [0, "
      "3998]";
  EXPECT_EQ(Relations(one, two), Answer::kYes);
  EXPECT_EQ(Relations(one, less), Answer::kNo);
  EXPECT_EQ(Subrelation(less, one), Answer::kYes);
  EXPECT_EQ(Subrelation(one, less), Answer::kNo);
}

TEST_F(DecideTest, SumsOfRangesAreOneRange) {
  EXPECT_EQ(Relations("(d0)[s0, s1] -> (d0 * 8 + s0 + s1), domain: d0 in [0, 9999999], "
                      "s0 in [0, 3], s1 in [0, 2]",
                      "(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9999999], s0 in [0, 5]"),
            Answer::kYes);
}

TEST_F(DecideTest, ResiduesOfARangeAreARange) {
  const std::string residues =
      "(d0)[s0] -> (d0 + s0 mod 5), domain: d0 in [0, 9999999], s0 in [0, 9999999]";
  const std::string range = "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9999999], s0 in [0, ";
  EXPECT_EQ(Relations(residues, range + "4]"), Answer::kYes);
  EXPECT_EQ(Relations(residues, range + "5]"), Answer::kNo);
  // No result is past the last of the residues' relation.
  EXPECT_EQ(Subrelation(range + "5], d0 + s0 in [0, 10000003]", residues), Answer::kNo);
}

TEST_F(DecideTest, RuntimeVariablesCorrespondByPosition) {
  const std::string head = "(d0){rt0, rt1} -> (d0 + ";
  const std::string tail = "), domain: d0 in [0, 999999], rt0 in [0, 99999], rt1 in [0, 99999]";
  EXPECT_EQ(Relations(head + "rt0" + tail, head + "rt0" + tail), Answer::kYes);
  EXPECT_EQ(Relations(head + "rt0" + tail, head + "rt1" + tail), Answer::kNo);
}

TEST_F(DecideTest, RefusesMapsOfOtherNumbers) {
  const IndexingMap one = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  const IndexingMap two = Parse("(d0) -> (d0, d0), domain: d0 in [0, 9]");
  const IndexingMap range = Parse("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 1]");
  EXPECT_EQ(SameFunction(one, two).status().message(),
            "a map of 1 dimensions, 1 results and 0 runtime variables and one of 1 dimensions, "
            "2 results and 0 runtime variables");
  EXPECT_EQ(SameFunction(one, range).status().message(),
            "a function of 0 range variables and one of 1");
  EXPECT_EQ(SameRelation(one, two).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(IsSubrelation(one, two).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SameRelation(one, range)->answer, Answer::kNo);
}

TEST_F(DecideTest, EmptinessIsExactOnRandomDomains) {
  SmallMaps maps(1, &context_);
  Tally tally;
  for (int i = 0; i < Cases(10000); ++i) {
    IndexingMap map = maps.Map({maps.Int(1, 3), 0, maps.Int(0, 1)}, 0);
    for (int64_t c = maps.Int(0, 2); c > 0; --c) {
      const int64_t lower = maps.Int(-8, 8);
      map.AddConstraint(kPartsFit, maps.Expr(map.num_dims(), map.num_runtimes()),
                        Interval::Closed(lower, lower + maps.Int(0, 4)));
    }
    const absl::StatusOr<Decision> empty = IsEmptyDomain(map);
    ASSERT_TRUE(empty.ok()) << empty.status();
    ASSERT_EQ(empty->answer, FunctionPoints(map).empty() ? Answer::kYes : Answer::kNo)
        << map.ToString();
    tally.Count(*empty);
  }
  EXPECT_GT(tally.yes, Cases(1500));
  EXPECT_GT(tally.no, Cases(1500));
}

TEST_F(DecideTest, SameFunctionAgreesWithEnumeration) {
  SmallMaps maps(2, &context_);
  Tally tally;
  for (int i = 0; i < Cases(6000); ++i) {
    const IndexingMap map = maps.Map();
    IndexingMap other = maps.Rewritten(map);
    if (maps.Chance(40)) other = maps.Nudged(other);
    const absl::StatusOr<Decision> same = SameFunction(map, other);
    ASSERT_TRUE(same.ok()) << same.status();
    ASSERT_TRUE(Agrees(*same, FunctionPoints(map) == FunctionPoints(other)))
        << map.ToString() << '\n'
        << other.ToString();
    tally.Count(*same);
  }
  EXPECT_GT(tally.yes, Cases(1500));
  EXPECT_GT(tally.no, Cases(500));
  EXPECT_EQ(tally.undecided, 0);
}

// With too many points to enumerate. Other ways to write a map are the same function and relation.
TEST_F(DecideTest, LargeMapsAreNearlyAllDecided) {
  SmallMaps maps(3, &context_, /*max_size=*/1000000);
  Tally rewritten;
  Tally nudged;
  Tally other_ranges;
  for (int i = 0; i < Cases(1500); ++i) {
    const IndexingMap map = maps.Map();
    const Decision same = *SameFunction(map, maps.Rewritten(map));
    EXPECT_FALSE(same.IsNo()) << map.ToString();
    rewritten.Count(same);
    nudged.Count(*SameFunction(map, maps.Nudged(map)));
    const IndexingMap other = maps.WithOtherRanges(map);
    const Decision relations = *SameRelation(map, other);
    EXPECT_FALSE(relations.IsNo()) << map.ToString() << ' ' << other.ToString();
    other_ranges.Count(relations);
  }
  EXPECT_EQ(rewritten.undecided, 0);
  EXPECT_EQ(nudged.undecided, 0);
  // Range variables that stay, such as one with two floors or mods, that no result tells apart.
  EXPECT_LE(other_ranges.undecided, 75);
  RecordProperty("undecided_rewritten", rewritten.undecided);
  RecordProperty("undecided_nudged", nudged.undecided);
  RecordProperty("undecided_other_ranges", other_ranges.undecided);
}

TEST_F(DecideTest, RelationsAgreeWithEnumeration) {
  SmallMaps maps(4, &context_);
  Tally same_tally;
  Tally subset_tally;
  for (int i = 0; i < Cases(6000); ++i) {
    const IndexingMap map = maps.Map();
    IndexingMap other = maps.Chance(80)
                            ? maps.WithOtherRanges(map)
                            : maps.Map({map.num_dims(), 1, map.num_runtimes()}, map.num_results());
    if (maps.Chance(40)) other = maps.Nudged(other);
    const std::set<PointList> points = RelationPoints(map);
    const std::set<PointList> other_points = RelationPoints(other);
    const absl::StatusOr<Decision> same = SameRelation(map, other);
    ASSERT_TRUE(same.ok()) << same.status();
    ASSERT_TRUE(Agrees(*same, points == other_points)) << map.ToString() << '\n'
                                                       << other.ToString();
    same_tally.Count(*same);
    const absl::StatusOr<Decision> subset = IsSubrelation(map, other);
    ASSERT_TRUE(subset.ok()) << subset.status();
    ASSERT_TRUE(Agrees(*subset, std::includes(other_points.begin(), other_points.end(),
                                              points.begin(), points.end())))
        << map.ToString() << '\n'
        << other.ToString();
    subset_tally.Count(*subset);
  }
  EXPECT_GT(same_tally.yes, Cases(1500));
  EXPECT_GT(same_tally.no, Cases(500));
  EXPECT_EQ(same_tally.undecided, 0);
  EXPECT_GT(subset_tally.yes, Cases(1500));
  EXPECT_GT(subset_tally.no, Cases(500));
  EXPECT_EQ(subset_tally.undecided, 0);
}

TEST_F(DecideTest, NothingGoesWrongAtTheEndsOfInt64) {
  RandomMaps maps(5, &context_);
  std::vector<IndexingMap> all;
  all.reserve(Cases(250));
  for (int i = 0; i < Cases(250); ++i) all.push_back(maps.Map());
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    for (const IndexingMap& other : {all[i], all[i + 1]}) {
      const bool same_numbers = all[i].num_dims() == other.num_dims() &&
                                all[i].num_results() == other.num_results() &&
                                all[i].num_runtimes() == other.num_runtimes();
      EXPECT_EQ(IsSubrelation(all[i], other, 20000).ok(), same_numbers);
      EXPECT_EQ(SameRelation(all[i], other, 20000).ok(), same_numbers);
      EXPECT_EQ(SameFunction(all[i], other, 20000).ok(),
                same_numbers && all[i].num_ranges() == other.num_ranges());
    }
    EXPECT_FALSE(SameFunction(all[i], all[i])->IsNo()) << all[i].ToString();
    EXPECT_FALSE(SameRelation(all[i], all[i])->IsNo()) << all[i].ToString();
    EXPECT_TRUE(IsEmptyDomain(all[i], 20000).ok());
  }
}

TEST(StepBudgetTest, StepsAreThoseOfTheQuestionToo) {
  const QuestionBudget question(/*steps=*/10);
  StepBudget coarse(/*max_steps=*/100, /*steps_in_one_of_question=*/32);
  EXPECT_TRUE(coarse.Take(31));
  EXPECT_EQ(QuestionBudget::Left(), 10);
  EXPECT_TRUE(coarse.Take(33));
  EXPECT_EQ(QuestionBudget::Left(), 8);
  EXPECT_FALSE(coarse.WasExceeded());
  // More than is left takes nothing.
  EXPECT_FALSE(coarse.Take(37));
  EXPECT_TRUE(coarse.WasExceeded());
  EXPECT_EQ(coarse.used(), 64);
  EXPECT_EQ(coarse.left(), 36);
  EXPECT_EQ(QuestionBudget::Left(), 8);
  // The question ends before the part does.
  StepBudget fine(/*max_steps=*/100, /*steps_in_one_of_question=*/1);
  EXPECT_TRUE(fine.Take(8));
  EXPECT_FALSE(fine.Take(1));
  EXPECT_TRUE(QuestionBudget::IsSpent());
}

}  // namespace
}  // namespace xla_indexing
