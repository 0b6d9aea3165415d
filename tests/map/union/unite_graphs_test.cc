// Fewer maps with the same pairs, judged pair by pair.

#include "xla_indexing/map/union/unite_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/union/map_graph.h"
#include "xla_indexing/map/union/piece.h"

namespace xla_indexing::internal {
namespace {

std::set<PointList> UnionPairs(const std::vector<IndexingMap>& maps) {
  std::set<PointList> pairs;
  for (const IndexingMap& map : maps) pairs.merge(RelationPoints(map));
  return pairs;
}

std::string TextOf(const std::vector<IndexingMap>& maps) {
  std::string text;
  for (const IndexingMap& map : maps) absl::StrAppend(&text, map.ToString(), "\n");
  return text;
}

class UniteGraphsTest : public ::testing::Test {
 protected:
  IndexingMap Parse(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify();
    return map;
  }
  std::string OneOf(const std::vector<std::string>& texts) {
    std::vector<IndexingMap> maps;
    for (const std::string& text : texts) maps.push_back(Parse(text));
    maps = UniteGraphs(maps);
    return maps.size() == 1 ? maps.front().ToString() : absl::StrCat(maps.size(), " maps");
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(UniteGraphsTest, RotationsByNeighbouringNumbersAreABand) {
  EXPECT_EQ(
      OneOf({"(d0) -> (d0 + 1), domain: d0 in [0, 6]", "(d0) -> (d0 + 2), domain: d0 in [0, 5]",
             "(d0) -> (d0 + 3), domain: d0 in [0, 4]"}),
      "(d0)[s0] -> (s0), domain: d0 in [0, 6], s0 in [1, 7], d0 - s0 in [-3, -1]");
}

TEST_F(UniteGraphsTest, RotationsByEverySecondNumberStepByTwo) {
  EXPECT_EQ(
      OneOf({"(d0) -> (d0), domain: d0 in [0, 7]", "(d0) -> (d0 + 2), domain: d0 in [0, 5]",
             "(d0) -> (d0 + 4), domain: d0 in [0, 3]", "(d0) -> (d0 + 6), domain: d0 in [0, 1]"}),
      "(d0)[s0] -> (d0 + s0 * 2), domain: d0 in [0, 7], s0 in [0, 3], d0 + s0 * 2 in [0, 7]");
}

// The last map contains the others.
TEST_F(UniteGraphsTest, ABandThatAnotherContainsIsLeftOut) {
  EXPECT_EQ(OneOf({"(d0) -> (0), domain: d0 in [0, 7]", "(d0) -> (d0 + 1), domain: d0 in [0, 6]",
                   "(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7]"}),
            "(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7]");
}

// The hull of both would have the pair (4, 5).
TEST_F(UniteGraphsTest, MapsOfWhichTheHullHasMoreStayApart) {
  EXPECT_EQ(OneOf({"(d0) -> (d0), domain: d0 in [0, 7]", "(d0) -> (d0 + 1), domain: d0 in [0, 3]"}),
            "2 maps");
}

// Triangles over even and over odd elements, as a level of a scan by halves has them.
TEST_F(UniteGraphsTest, TrianglesOverResidueClassesAreOne) {
  EXPECT_EQ(OneOf({"(d0)[s0] -> (s0), domain: d0 in [0, 30], s0 in [0, 30], d0 - s0 in [0, 30], "
                   "d0 mod 2 in [0, 0]",
                   "(d0)[s0] -> (s0), domain: d0 in [1, 31], s0 in [0, 31], d0 - s0 in [0, 31], "
                   "d0 mod 2 in [1, 1]"}),
            "(d0)[s0] -> (s0), domain: d0 in [0, 31], s0 in [0, 31], d0 - s0 in [0, 31]");
}

// Rectangles are bands of any factor: here of that of the line through their corners.
TEST_F(UniteGraphsTest, RectanglesMakeAStaircase) {
  EXPECT_EQ(OneOf({"(d0) -> (0), domain: d0 in [0, 0]",
                   "(d0)[s0] -> (s0), domain: d0 in [1, 1], s0 in [0, 1]",
                   "(d0)[s0] -> (s0), domain: d0 in [2, 2], s0 in [0, 2]"}),
            "(d0)[s0] -> (s0), domain: d0 in [0, 2], s0 in [0, 2], d0 - s0 in [0, 2]");
}

// What two levels of a scan by halves lead to, once XLA has made fusions of them: the line of slope
// 1/2 over two elements, lines over residue classes and rectangles.
TEST_F(UniteGraphsTest, PartsOfATriangleAreOneWhateverTheirSlopes) {
  EXPECT_EQ(OneOf({"(d0) -> (d0 floordiv 2), domain: d0 in [0, 2], d0 mod 2 in [0, 0]",
                   "(d0) -> (d0), domain: d0 in [2, 6], d0 mod 2 in [0, 0]",
                   "(d0) -> (0), domain: d0 in [1, 7]",
                   "(d0) -> (1), domain: d0 in [1, 3], (d0 + 1) mod 2 in [0, 0]",
                   "(d0) -> (1), domain: d0 in [4, 7]",
                   "(d0)[s0] -> (s0), domain: d0 in [3, 7], s0 in [2, 3]",
                   "(d0)[s0] -> (s0), domain: d0 in [5, 7], s0 in [4, 5]",
                   "(d0)[s0] -> (s0), domain: d0 in [7, 7], s0 in [6, 7]"}),
            "(d0)[s0] -> (s0), domain: d0 in [0, 7], s0 in [0, 7], d0 - s0 in [0, 7]");
}

// The range variable of the other result may be either.
TEST_F(UniteGraphsTest, RangesOfOtherResultsAreNoHindrance) {
  EXPECT_EQ(OneOf({"(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [0, 3]",
                   "(d0)[s0, s1] -> (s0, s1), domain: d0 in [1, 5], s0 in [0, 4], s1 in [0, 3], "
                   "d0 - s0 in [1, 5]"}),
            "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 5], s0 in [0, 5], s1 in [0, 3], "
            "d0 - s0 in [0, 5]");
  EXPECT_EQ(OneOf({"(d0)[s0] -> (d0, s0), domain: d0 in [0, 5], s0 in [0, 3]",
                   "(d0)[s0, s1] -> (s1, s0), domain: d0 in [1, 5], s0 in [0, 3], s1 in [0, 4], "
                   "d0 - s1 in [1, 5]"}),
            "(d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 5], s0 in [0, 5], s1 in [0, 3], "
            "d0 - s0 in [0, 5]");
}

// Several of them are named in the order of the results.
TEST_F(UniteGraphsTest, RangesOfOtherResultsMayBeInAnyOrder) {
  EXPECT_EQ(OneOf({"(d0)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 5], s0 in [0, 3], s1 in [0, 7]",
                   "(d0)[s0, s1] -> (d0 + 1, s1, s0), domain: d0 in [0, 5], s0 in [0, 7], "
                   "s1 in [0, 3]"}),
            "(d0)[s0, s1, s2] -> (d0 + s0, s1, s2), domain: d0 in [0, 5], s0 in [0, 1], "
            "s1 in [0, 3], s2 in [0, 7]");
}

// No result names the first dimension, whose values are 1 to 255 in all.
TEST_F(UniteGraphsTest, MapsThatDifferInTheValuesOfADimensionAreOne) {
  std::vector<std::string> texts;
  for (const char* values :
       {"d0 in [1, 3]", "d0 in [7, 18]", "d0 in [31, 78]", "d0 in [127, 255]",
        "d0 in [2, 254], d0 mod 2 in [0, 0]", "d0 in [5, 253], (d0 + 3) mod 4 in [0, 0]",
        "d0 in [11, 251], (d0 + 5) mod 8 in [0, 0]", "d0 in [23, 247], (d0 + 9) mod 16 in [0, 0]",
        "d0 in [47, 239], (d0 + 17) mod 32 in [0, 0]",
        "d0 in [95, 223], (d0 + 33) mod 64 in [0, 0]"}) {
    const std::string text = values;
    const size_t end = text.find(',', text.find(']'));
    texts.push_back(absl::StrCat("(d0, d1) -> (d1), domain: ", text.substr(0, end),
                                 ", d1 in [0, 3]",
                                 end == std::string::npos ? "" : text.substr(end)));
  }
  EXPECT_EQ(OneOf(texts), "(d0, d1) -> (d1), domain: d0 in [1, 255], d1 in [0, 3]");
}

// The union of maps stays equal, point by point, whatever constants and domains they have, and
// after they have been merged once already.
TEST_F(UniteGraphsTest, UnionsOfRandomMapsStayEqual) {
  Random random(1);
  size_t before = 0;
  size_t after = 0;
  for (int64_t i = Cases(3000); i > 0; --i) {
    const int64_t size = random.Between(2, 9);
    const int64_t factor = random.OneIn(4) ? random.Between(2, 3) : 1;
    const int64_t sign = random.OneIn(3) ? -1 : 1;
    std::vector<IndexingMap> maps;
    for (int64_t round = random.Between(1, 2); round > 0; --round) {
      for (int64_t n = random.Between(1, 8); n > 0; --n) {
        // Within an array of `size` elements, as what has been rotated is, or anywhere.
        const int64_t step = random.Between(1, 2);
        const int64_t offset = random.Between(-size, size) * step;
        int64_t lower = random.Between(0, size - 1);
        int64_t upper = random.Between(lower, size - 1);
        if (!random.OneIn(4) && sign * factor == 1) {
          lower = std::max<int64_t>(0, -offset);
          upper = std::min(size - 1, size - 1 - offset);
        }
        if (lower > upper) continue;
        const std::string other = random.OneIn(5) ? "d1 + 1" : "d1";
        std::string text;
        switch (random.Between(0, 12)) {
          case 0:
            text = absl::Substitute("(d0, d1) -> ($0, $1), domain: d0 in [$2, $3], d1 in [0, 1]",
                                    random.Between(0, size), other, lower, upper);
            break;
          case 1:
            text = absl::Substitute(
                "(d0, d1) -> ($0, $1), domain: d0 in [$2, $3], d1 in [0, 1], d0 mod $4 in [1, 1]",
                random.Between(0, size), other, lower, upper, random.Between(2, 3));
            break;
          case 2:
            text = absl::Substitute(
                "(d0, d1)[s0] -> (s0 + $0, $1), domain: d0 in [$2, $3], d1 in [0, 1], "
                "s0 in [0, $4], s0 - d0 * $5 in [$6, $7]",
                random.Between(0, 2), other, lower, upper, size, sign * factor, offset,
                offset + random.Between(0, 3));
            break;
          case 3:
            text = absl::Substitute(
                "(d0, d1)[s0] -> (d0 * $0 + s0 * $1 + $2, $3), domain: d0 in [$4, $5], "
                "d1 in [0, 1], s0 in [0, $6], d0 * $0 + s0 * $1 in [$7, $8]",
                sign * factor, step, offset, other, lower, upper, random.Between(1, 4),
                random.Between(0, 3), random.Between(4, 12));
            break;
          case 4: {
            // A residue class of the dimension, and often that of its quotient.
            const std::string more =
                random.OneIn(2) ? absl::Substitute(", (d0 floordiv 2 + $0) mod $1 in [0, 0]",
                                                   random.Between(0, 1), random.Between(2, 3))
                                : "";
            text = absl::Substitute(
                "(d0, d1)[s0] -> (s0, $0), domain: d0 in [$1, $2], d1 in [0, 1], s0 in [0, $3], "
                "d0 - s0 in [$4, $5], d0 mod 2 in [$6, $6]$7",
                other, lower, upper, size, -offset, random.Between(-offset, size - offset),
                random.Between(0, 1), more);
            break;
          }
          case 5:
            // Every second value, of halves of the even or of the odd dimensions.
            text = absl::Substitute(
                "(d0, d1)[s0] -> (s0 * 2 + $0, $1), domain: d0 in [$2, $3], d1 in [0, 1], "
                "s0 in [0, $4], (d0 + $5) floordiv 2 - s0 in [$6, $7], d0 mod 2 in [$8, $8]",
                random.Between(0, 1), other, lower, upper, size, random.Between(-1, 1),
                random.Between(-2, 0), random.Between(0, size), random.Between(0, 1));
            break;
          case 6:
            // A rectangle.
            text = absl::Substitute(
                "(d0, d1)[s0] -> (s0 + $0, $1), domain: d0 in [$2, $3], d1 in [0, 1], s0 in [0, "
                "$4]",
                random.Between(0, 2), other, lower, upper, random.Between(0, 3));
            break;
          case 7:
            // The other result has a range variable, before or behind that of this one.
            text = absl::Substitute(
                random.OneIn(2)
                    ? "(d0, d1)[s0, s1] -> (s0, s1 + $0), domain: d0 in [$1, $2], d1 in [0, 1], "
                      "s0 in [0, $3], s1 in [0, $4], d0 - s0 in [$5, $6]"
                    : "(d0, d1)[s0, s1] -> (s1, s0 + $0), domain: d0 in [$1, $2], d1 in [0, 1], "
                      "s0 in [0, $4], s1 in [0, $3], d0 - s1 in [$5, $6]",
                other, lower, upper, size, random.Between(0, 1), -offset,
                random.Between(-offset, size - offset));
            break;
          case 8:
            text = absl::Substitute(
                "(d0, d1)[s0] -> (d0 * $0 + $1, s0 + $2), domain: d0 in [$3, $4], d1 in [0, 1], "
                "s0 in [0, $5]",
                sign * factor, offset, other, lower, upper, random.Between(0, 1));
            break;
          case 9:
            // Slopes that are no numbers, over few values of the dimension, perhaps with a
            // constraint on both dimensions.
            text = absl::Substitute(
                "(d0, d1) -> ((d0 + $0) floordiv $1 + $2, $3), domain: d0 in [$4, $5], "
                "d1 in [0, 1]$6",
                random.Between(0, 2), random.Between(2, 3), random.Between(0, 3), other, lower,
                upper,
                random.OneIn(3) ? absl::StrCat(", d0 + d1 * 2 in [0, ", random.Between(0, 8), "]")
                                : "");
            break;
          default:
            text = absl::Substitute(
                "(d0, d1) -> (d0 * $0 + $1, $2), domain: d0 in [$3, $4], d1 in [0, 1]",
                sign * factor, offset, other, lower, upper);
        }
        IndexingMap map = Parse(text);
        if (!map.IsKnownEmpty()) maps.push_back(std::move(map));
      }
      const std::set<PointList> pairs = UnionPairs(maps);
      before += maps.size();
      const std::string given = TextOf(maps);
      maps = UniteGraphs(maps);
      after += maps.size();
      ASSERT_EQ(UnionPairs(maps), pairs) << "case " << i << "\n"
                                         << given << "became\n"
                                         << TextOf(maps);
    }
  }
  EXPECT_LT(after * 10, before * 9);
}

// Whatever maps are: of any expressions, where most have no graph or none that is one with another.
TEST_F(UniteGraphsTest, UnionsOfAnyMapsStayEqual) {
  SmallMaps random(2, &context_, /*max_size=*/6);
  int64_t with_graph = 0;
  int64_t united = 0;
  for (int64_t i = Cases(4000); i > 0; --i) {
    std::vector<IndexingMap> maps;
    const NumVariables count = {random.Int(0, 2), random.Int(0, 2), 0};
    const int64_t num_results = random.Int(1, 2);
    for (int64_t n = random.Int(1, 3); n > 0; --n) {
      const IndexingMap map = random.Map(count, num_results);
      const int64_t parts = random.Int(1, 3);
      for (int64_t part = 0; part < parts; ++part) {
        // What it is where a result has this remainder.
        IndexingMap cut = map;
        cut.AddConstraint(kPartsFit, Mod(map.results()[0], parts), Interval::Point(part));
        cut.Simplify();
        if (!cut.IsKnownEmpty()) maps.push_back(std::move(cut));
      }
    }
    for (const IndexingMap& map : maps) {
      const std::optional<Piece> graph = GraphOfMap(map);
      if (!graph) continue;
      ++with_graph;
      const std::optional<IndexingMap> back = MapOfGraph(*graph, map);
      ASSERT_TRUE(back.has_value()) << map.ToString();
      ASSERT_EQ(UnionPairs({*back}), UnionPairs({map})) << map.ToString() << "\n"
                                                        << back->ToString();
    }
    const std::vector<IndexingMap> fewer = UniteGraphs(maps);
    ASSERT_EQ(UnionPairs(fewer), UnionPairs(maps)) << TextOf(maps) << "became\n" << TextOf(fewer);
    ASSERT_LE(fewer.size(), maps.size());
    united += static_cast<int64_t>(maps.size() - fewer.size());
  }
  // What the two are worth here; they may only grow.
  std::cout << with_graph << " maps have a graph, " << united << " became part of another map\n";
  EXPECT_GT(with_graph, Cases(4000));
  EXPECT_GT(united, Cases(4000) / 10);
}

// A range in no result leaves no pairs where it has no value.
TEST_F(UniteGraphsTest, AMapWithoutPointsHasNoGraph) {
  const IndexingMap map =
      ParseIndexingMap("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [1, 0]", &context_).value();
  EXPECT_FALSE(GraphOfMap(map).has_value());
}

// Numbers at the ends of int64 make no graph, or the right one.
TEST_F(UniteGraphsTest, NumbersThatDoNotFitAreLeftAlone) {
  for (const char* text :
       {"(d0) -> (d0 + 9223372036854775807), domain: d0 in [-3, 0]",
        "(d0)[s0] -> (s0 * 4611686018427387904), domain: d0 in [0, 1], s0 in [-1, 1]",
        "(d0)[s0] -> (s0 * 3), domain: d0 in [0, 3], s0 in [0, 3], "
        "d0 * 4611686018427387904 + s0 in [-9223372036854775808, 9223372036854775807]",
        "(d0) -> ((d0 + 5) floordiv 4611686018427387904), domain: d0 in [-9, 9]"}) {
    const std::vector<IndexingMap> maps = {Parse(text), Parse(text)};
    EXPECT_EQ(UnionPairs(UniteGraphs(maps)), UnionPairs(maps)) << text;
  }
}

}  // namespace
}  // namespace xla_indexing::internal
