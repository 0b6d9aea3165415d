#include "xla_indexing/map/expr/constraint_form.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/map/sets/small_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using ConstraintFormTest = MapTextFixture;

// floor(Y/m) in [a, b] says that Y is in [m*a, m*b + m - 1].
TEST_F(ConstraintFormTest, AFloorOfASumOfVariablesIsTakenOff) {
  IndexingMap map = Parse(
      "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], (d0 * 5 + d1 * 3) floordiv 4 in "
      "[1, 3]");
  map.Simplify();
  EXPECT_EQ(map.ToString(),
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 5], d0 * 5 + d1 * 3 in [4, 15]");
  for (int64_t m = 1; m <= 5; ++m) {
    for (int64_t a = -4; a <= 4; ++a) {
      for (int64_t b = -4; b <= 4; ++b) {
        for (int64_t least = -2; least <= 2; ++least) {
          for (int64_t size = 1; size <= 3; ++size) {
            const std::string text = absl::StrCat(
                "(d0, d1) -> (d0, d1), domain: d0 in [-1, 3], d1 in [0, 4], (d0 * ", a, " + d1 * ",
                b, ") floordiv ", m, " in [", least, ", ", least + size - 1, "]");
            const IndexingMap given = Parse(text);
            IndexingMap form = given;
            form.Simplify();
            ASSERT_EQ(FunctionPoints(form), FunctionPoints(given))
                << text << " became " << form.ToString();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing
