// Maps that are made to take long. Without the bounds they do not end in any time that a test would
// wait for.
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class HostileMapsTest : public MapTextFixture {
 protected:
  // Simplifies the map, traced and not, and compares values at some points: what is left as it is
  // is right, too.
  void ExpectEnds(const std::string& text) {
    const IndexingMap map = Parse(text);
    IndexingMap simplified = map;
    simplified.Simplify({.keep_variables = true});
    IndexingMap traced = map;
    RuleTrace trace;
    traced.Simplify({.keep_variables = true, .trace = &trace});
    EXPECT_EQ(traced, simplified);
    EXPECT_LE(trace.size(), 2 * kMaxTracedSteps);
    Random random(1);
    for (int i = 0; i < 20; ++i) {
      llvm::SmallVector<int64_t, 8> point;
      for (int d = 0; d < map.num_dims(); ++d) point.push_back(random.Between(0, 4));
      const auto before = map.Evaluate(point, {});
      const auto after = simplified.Evaluate(point, {});
      if (before.ok() && after.ok()) {
        EXPECT_EQ(*before, *after);
      }
    }
  }
};

TEST_F(HostileMapsTest, DivisionsOfSumsNestedDeep) {
  for (const int depth : {60, 80, 250}) {
    Random random(static_cast<uint64_t>(depth));
    std::string expr = "d0";
    for (int i = 0; i < depth; ++i) {
      expr =
          absl::StrCat("((", expr, " + d", random.Between(0, 3), " * ", random.Between(1, 7), ")",
                       random.OneIn(2) ? " mod " : " floordiv ", random.Between(2, 699), ")");
    }
    ExpectEnds(absl::StrCat("(d0, d1, d2, d3) -> (", expr, "), domain: d0 in [0, 900], ",
                            "d1 in [0, 70], d2 in [0, 4000], d3 in [0, 333]"));
  }
}

TEST_F(HostileMapsTest, ModsOfMods) {
  std::string expr = "d0";
  const int depth = IsFullEffort() ? 250 : 100;
  for (int i = 0; i < depth; ++i) expr = absl::StrCat("(", expr, " mod ", 100000 - i * 97, ")");
  ExpectEnds(absl::StrCat("(d0) -> (", expr, "), domain: d0 in [0, 9999999999]"));
}

TEST_F(HostileMapsTest, SumsOfFloorsThatCross) {
  std::string sum = "0";
  for (int i = 0; i < 1000; ++i) {
    absl::StrAppend(&sum, " + (d0 + d1 * ", i % 5 + 1, ") mod ", i + 2);
  }
  ExpectEnds(absl::StrCat("(d0, d1) -> ((", sum, ") mod 1001), domain: d0 in [0, 99999], ",
                          "d1 in [0, 9999]"));
}

TEST_F(HostileMapsTest, ABudgetThatIsSpentLeavesMapsAsTheyAre) {
  const QuestionBudget question(20);
  for (int i = 0; i < 50; ++i) {
    IndexingMap map = Parse(absl::StrCat("(d0, d1) -> ((d0 * 8 + d1 + ", i * 7,
                                         ") floordiv 6 + ((d0 + d1) mod 7) floordiv 3 + ",
                                         "((d0 * 3 + d1) mod 11) floordiv 4), domain: ",
                                         "d0 in [0, 11], d1 in [0, 7], d0 + d1 in [2, 9]"));
    const IndexingMap before = map;
    map.Simplify({.keep_variables = true});
    EXPECT_EQ(FunctionPoints(map), FunctionPoints(before)) << map.ToString();
  }
  EXPECT_TRUE(QuestionBudget::IsSpent());
}

}  // namespace
}  // namespace xla_indexing
