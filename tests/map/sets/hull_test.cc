// The least intervals of values: of expressions by HullOver(), and of the variables of a simplified map.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"

namespace xla_indexing {
namespace {

using HullTest = MapTextFixture;

TEST_F(HullTest, OneSumOfTwoVariablesLeavesTheHull) {
  int64_t count = 0;
  for (int64_t a = -4; a <= 5; ++a) {
    for (int64_t b = 1; b <= 7; ++b) {
      for (int64_t size = 2; size <= 6; ++size) {
        for (int64_t lower = -9; lower <= 12; ++lower) {
          for (int64_t width = 0; width <= 3; ++width) {
            if (a == 0 || ++count % ChosenEffort().one_of != 0) continue;
            const int64_t upper = lower + width;
            std::optional<Interval> x_hull, y_hull;
            for (int64_t x = -1; x < size - 1; ++x) {
              for (int64_t y = 0; y <= 4; ++y) {
                if (a * x + b * y < lower || a * x + b * y > upper) continue;
                const Interval x_point = Interval::Point(x), y_point = Interval::Point(y);
                x_hull = x_hull ? x_hull->Union(x_point) : x_point;
                y_hull = y_hull ? y_hull->Union(y_point) : y_point;
              }
            }
            IndexingMap map = Parse(absl::StrCat("(d0, d1) -> (), domain: d0 in [-1, ", size - 2,
                                                 "], d1 in [0, 4], d0 * ", a, " + d1 * ", b,
                                                 " in [", lower, ", ", upper, "]"));
            const std::string given = map.ToString();
            map.Simplify({.keep_variables = true});
            ASSERT_EQ(map.IsKnownEmpty(), !x_hull.has_value()) << given;
            if (!x_hull) continue;
            EXPECT_EQ(map.dims()[0].bounds, *x_hull) << given << '\n' << map.ToString();
            EXPECT_EQ(map.dims()[1].bounds, *y_hull) << given << '\n' << map.ToString();
          }
        }
      }
    }
  }
}

TEST_F(HullTest, ValuesOfExpressionsHaveTheHullOfEnumeration) {
  SmallMaps maps(71, &context_);
  int narrowed = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    const IndexingMap map = maps.Map({maps.Int(0, 2), maps.Int(0, 1), maps.Int(0, 1)}, 2);
    std::vector<Interval> expected(map.num_results());
    ForAllPoints(map, [&](auto, auto, auto results) {
      for (size_t r = 0; r < results.size(); ++r) {
        expected[r] = expected[r].Union(Interval::Point(results[r]));
      }
    });
    for (int r = 0; r < map.num_results(); ++r) {
      // Whatever range is given, if it has the values.
      const int64_t more = maps.Int(0, 3);
      for (const Interval& range :
           {Interval::All(), expected[r], expected[r].Add(Interval::Closed(-more, 2 * more)),
            Interval::All().Union(expected[r]), expected[r].Add(Interval::AtLeast(-more)),
            expected[r].Add(Interval::AtMost(more))}) {
        StepBudget budget(int64_t{1} << 20);
        EXPECT_EQ(HullOver(map, map.results()[r], range, &budget), expected[r])
            << map.ToString() << " in " << range.ToString();
      }
      StepBudget nothing(0);
      const Interval wide = HullOver(map, map.results()[r], Interval::All(), &nothing);
      EXPECT_TRUE(expected[r].IsSubsetOf(wide)) << map.ToString();
      if (!(wide == expected[r])) ++narrowed;
    }
  }
  EXPECT_GT(narrowed, Cases(1000));
}

TEST_F(HullTest, EndsThatVariablesLeaveInfiniteStayAsGiven) {
  const auto hull = [&](absl::string_view text, Interval range) {
    const IndexingMap map = Parse(text);
    StepBudget budget(kDefaultSteps);
    return HullOver(map, map.results()[0], range, &budget).ToString();
  };
  const char* const open = "(d0, d1) -> (d0 - d1 * 2), domain: d0 in [0, inf], d1 in [0, 4]";
  EXPECT_EQ(hull(open, Interval::All()), "[-8, inf]");
  EXPECT_EQ(hull(open, Interval::AtMost(100)), "[-8, 100]");
  // Its least value is far from the end that the intervals give.
  const char* const far =
      "(d0, d1) -> (d0 - d1), domain: d0 in [0, inf], d1 in [0, 900], "
      "d0 - d1 * 2 in [-7, inf]";
  EXPECT_EQ(hull(far, Interval::All()), "[-3, inf]");
  EXPECT_EQ(hull("(d0) -> (-d0), domain: d0 in [-inf, inf]", Interval::All()), "[-inf, inf]");
  EXPECT_EQ(hull("(d0) -> (d0 mod 8), domain: d0 in [-inf, inf], (d0 + 1) mod 4 in [0, 0]",
                 Interval::All()),
            "[3, 7]");
  EXPECT_EQ(hull("(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 in [3, 3]", Interval::All()), "[]");
}

}  // namespace
}  // namespace xla_indexing
