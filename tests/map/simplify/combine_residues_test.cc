#include "xla_indexing/map/simplify/combine_residues.h"

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"

namespace xla_indexing {
namespace {

class CombineResiduesTest : public MapTextFixture {
 protected:
  std::string Simplified(absl::string_view text) {
    IndexingMap map = Parse(text);
    map.Simplify({.keep_variables = true});
    return map.ToString();
  }
};

TEST_F(CombineResiduesTest, IntervalsOfResiduesMeet) {
  EXPECT_EQ(Simplified("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 8 in [1, 5], d0 mod 8 in "
                       "[3, 7]"),
            "(d0) -> (d0), domain: d0 in [3, 99], (d0 + 5) mod 8 in [0, 2]");
}

// 6, 7, 0, 1 and 1, 2, 3 of 8 meet in 1.
TEST_F(CombineResiduesTest, IntervalsAreTakenInACircle) {
  EXPECT_EQ(Simplified("(d0) -> (d0), domain: d0 in [0, 99], (d0 + 2) mod 8 in [0, 3], d0 mod 8 in "
                       "[1, 3]"),
            "(d0) -> (d0), domain: d0 in [1, 97], (d0 + 7) mod 8 in [0, 0]");
}

// Every pair of arcs of every small circle: the same points, in one constraint wherever they are
// one arc.
TEST_F(CombineResiduesTest, AllSmallArcsKeepTheirPoints) {
  for (int64_t n = 3; n <= 7; ++n) {
    for (int64_t start = 0; start < n; ++start) {
      for (int64_t width = 1; width < n - 1; ++width) {
        for (int64_t other = 1; other < n - 1; ++other) {
          const IndexingMap map =
              Parse(absl::StrCat("(d0) -> (), domain: d0 in [-20, 20], d0 mod ", n, " in [0, ",
                                 width, "], (d0 + ", start, ") mod ", n, " in [0, ", other, "]"));
          IndexingMap simplified = map;
          simplified.Simplify({.keep_variables = true});
          ASSERT_EQ(FunctionPoints(simplified), FunctionPoints(map)) << map.ToString();
          std::set<int64_t> residues;
          for (int64_t r = 0; r <= width; ++r) {
            if ((r + start) % n <= other) residues.insert(r);
          }
          // An arc has one residue that does not follow another.
          int64_t num_arcs = 0;
          for (const int64_t r : residues) num_arcs += residues.contains((r + n - 1) % n) ? 0 : 1;
          const size_t expected = residues.empty() ? 0 : num_arcs;
          EXPECT_EQ(simplified.constraints().size(), expected) << map.ToString() << '\n'
                                                               << simplified.ToString();
          EXPECT_EQ(simplified.IsKnownEmpty(), residues.empty());
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing
