// The intervals of the variables of a simplified map are no wider than they have to be.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

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

}  // namespace
}  // namespace xla_indexing
