#include "xla_indexing/map/count/count_image.h"

#include <cstdint>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/count/count_points.h"

namespace xla_indexing::internal {
namespace {

class CountImageTest : public MapTextFixture {
 protected:
  Interval Image(absl::string_view text, int64_t max_steps = kMaxCountingSteps) {
    StepBudget budget(max_steps);
    return CountImage(Parse(text), &budget);
  }
  Interval Pairs(absl::string_view text) {
    StepBudget budget(kMaxCountingSteps);
    return CountPairs(Parse(text), &budget);
  }
  Interval Union(std::vector<absl::string_view> texts, std::vector<int64_t> sizes,
                 int64_t max_steps = kMaxCountingSteps) {
    std::vector<IndexingMap> maps;
    for (const absl::string_view text : texts) maps.push_back(Parse(text));
    StepBudget budget(max_steps);
    return CountUnionOfImages(maps, sizes, &budget);
  }
};

TEST_F(CountImageTest, StridedBoxesAreProducts) {
  EXPECT_EQ(Image("(d0, d1) -> (d0 * 3 + 1, d1), domain: d0 in [0, 9], d1 in [0, 4]"),
            Interval::Point(50));
  EXPECT_EQ(Image("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 4]"), Interval::Point(10));
}

TEST_F(CountImageTest, OverlappingWindowsCountOnce) {
  // 0 .. 2 * 9 + 4.
  EXPECT_EQ(Image("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 4]"),
            Interval::Point(23));
  // Windows of 2 at a distance of 3.
  EXPECT_EQ(Image("(d0)[s0] -> (d0 * 3 + s0), domain: d0 in [0, 9], s0 in [0, 1]"),
            Interval::Point(20));
}

TEST_F(CountImageTest, PaddingCutsWindows) {
  const absl::string_view text =
      "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 9], s0 in [0, 2], d0 + s0 in [1, 10]";
  EXPECT_EQ(Image(text), Interval::Point(10));
  // Each of the 10 windows has 3 elements, and the first and the last one lose one.
  EXPECT_EQ(Pairs(text), Interval::Point(28));
}

TEST_F(CountImageTest, DilatedBaseIsAResidueClass) {
  // Positions d0 + s0 of a base dilated by 2: 0, 2, .., 18 hold elements 0 .. 9; of windows of 3
  // at 0 .. 16 every position up to 18 is in one.
  const absl::string_view text =
      "(d0)[s0] -> ((d0 + s0) floordiv 2), domain: d0 in [0, 16], s0 in [0, 2], "
      "(d0 + s0) mod 2 in [0, 0]";
  EXPECT_EQ(Image(text), Interval::Point(10));
  // d0 even: s0 = 0, 2; d0 odd: s0 = 1.
  EXPECT_EQ(Pairs(text), Interval::Point(9 * 2 + 8));
}

TEST_F(CountImageTest, ReshapesAreOneToOne) {
  EXPECT_EQ(Image("(d0, d1) -> ((d0 * 8 + d1) floordiv 6, (d0 * 8 + d1) mod 6), "
                  "domain: d0 in [0, 2999999], d1 in [0, 7]"),
            Interval::Point(24000000));
}

TEST_F(CountImageTest, ChainsOfInequalitiesAreCutInTheMiddle) {
  // There are as many as ways to choose 4 of 200 with repetition: 203 over 4.
  StepBudget budget(int64_t{1} << 18);
  EXPECT_EQ(CountPoints(Parse("(d0, d1, d2, d3) -> (), domain: d0 in [0, 199], d1 in [0, 199], "
                              "d2 in [0, 199], d3 in [0, 199], d1 - d0 in [0, 199], "
                              "d2 - d1 in [0, 199], d3 - d2 in [0, 199]"),
                        &budget),
            Interval::Point(68685050));
}

TEST_F(CountImageTest, UnionsOfBoxesWithStrides) {
  // Even rows and every third column of 12 x 12: 6 * 12 + 12 * 4 - 6 * 4.
  EXPECT_EQ(Union({"(d0, d1) -> (d0 * 2, d1), domain: d0 in [0, 5], d1 in [0, 11]",
                   "(d0, d1) -> (d0, d1 * 3), domain: d0 in [0, 11], d1 in [0, 3]"},
                  {12, 12}),
            Interval::Point(96));
  // A product whose sides are a billion times as long.
  EXPECT_EQ(Union({"(d0, d1) -> (d0 * 2, d1), domain: d0 in [0, 2999999999], d1 in [0, 0]",
                   "(d0, d1) -> (d0 * 3, d1), domain: d0 in [0, 1999999999], d1 in [0, 0]"},
                  {6000000000, 1}),
            Interval::Point(4000000000));
}

TEST_F(CountImageTest, DiagonalsAreCountedElementByElement) {
  EXPECT_EQ(Union({"(d0) -> (d0, d0), domain: d0 in [0, 3]",
                   "(d0, d1) -> (d0 * 2, d1), domain: d0 in [0, 1], d1 in [0, 3]"},
                  {4, 4}),
            Interval::Point(10));
}

TEST_F(CountImageTest, CountsNotFoundWithinTheStepsAreIntervals) {
  const std::vector<absl::string_view> texts = {
      "(d0) -> (d0, d0), domain: d0 in [0, 9999]",
      "(d0) -> (d0, -d0 + 9999), domain: d0 in [0, 9999]"};
  EXPECT_EQ(Union(texts, {10000, 10000}, 100000), Interval::Closed(10000, 20000));
}

TEST_F(CountImageTest, NothingGoesWrongAtTheEndsOfInt64) {
  EXPECT_EQ(Image("(d0) -> (d0), domain: d0 in [0, 9223372036854775806]"),
            Interval::Point(9223372036854775807));
  EXPECT_EQ(Pairs("(d0)[s0] -> (s0), domain: d0 in [0, 4294967295], s0 in [0, 4294967295]"),
            Interval::AtLeast(9223372036854775807));
  EXPECT_EQ(Image("(d0) -> (d0), domain: d0 in [-9223372036854775808, 9223372036854775807]"),
            Interval::AtLeast(9223372036854775807));
}

TEST_F(CountImageTest, EmptyAndSingleSizesAreOrdinary) {
  EXPECT_EQ(Image("() -> ()"), Interval::Point(1));
  EXPECT_EQ(Union({}, {}), Interval::Point(0));
  EXPECT_EQ(Union({"(d0) -> (), domain: d0 in [0, 5]"}, {}), Interval::Point(1));
  EXPECT_EQ(Union({"(d0) -> (d0), domain: d0 in [0, 5], d0 mod 2 in [3, 3]"}, {6}),
            Interval::Point(0));
}

TEST_F(CountImageTest, AgreesWithEnumeration) {
  SmallMaps random(1, &context_);
  for (int i = 0; i < Cases(4000); ++i) {
    const auto num_results = random.Int(0, 3);
    std::vector<IndexingMap> maps;
    std::set<PointList> images;
    for (int64_t k = random.Int(1, 3); k > 0; --k) {
      maps.push_back(random.Map({random.Int(0, 2), random.Int(0, 2), 0}, num_results));
      std::set<PointList> image;
      std::set<PointList> pairs;
      std::set<PointList> points;
      ForAllPoints(maps.back(), [&](auto dims, auto symbols, auto results) {
        image.insert(Join(results));
        pairs.insert(Join(dims, results));
        points.insert(Join(dims, symbols));
      });
      StepBudget budget(kMaxCountingSteps);
      const auto size_of = [](const std::set<PointList>& set) {
        return Interval::Point(static_cast<int64_t>(set.size()));
      };
      ASSERT_EQ(CountImage(maps.back(), &budget), size_of(image)) << maps.back().ToString();
      ASSERT_EQ(CountPairs(maps.back(), &budget), size_of(pairs)) << maps.back().ToString();
      ASSERT_EQ(CountPoints(maps.back(), &budget), size_of(points)) << maps.back().ToString();
      images.insert(image.begin(), image.end());
    }
    // Results of these maps may be anywhere: places that hold all of them.
    for (IndexingMap& map : maps) {
      llvm::SmallVector<mlir::AffineExpr, 4> moved;
      for (const mlir::AffineExpr result : map.results()) {
        moved.push_back(Add(result, Constant(2000, &context_)));
      }
      map = IndexingMap(
          kPartsFit, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), moved, &context_),
          Variables(map.dims()), Variables(map.ranges()), {}, Constraints(map.constraints()));
    }
    StepBudget budget(kMaxCountingSteps);
    const std::vector<int64_t> sizes(num_results, 4000);
    std::string text;
    for (const IndexingMap& map : maps) text += map.ToString() + "\n";
    ASSERT_EQ(CountUnionOfImages(maps, sizes, &budget),
              Interval::Point(static_cast<int64_t>(images.size())))
        << text;
  }
}

TEST_F(CountImageTest, BoundsHoldHoweverFewTheSteps) {
  SmallMaps random(2, &context_);
  for (int i = 0; i < Cases(2000); ++i) {
    const IndexingMap map = random.Map({random.Int(0, 2), random.Int(0, 2), 0}, random.Int(0, 3));
    std::set<PointList> image;
    std::set<PointList> pairs;
    ForAllPoints(map, [&](auto dims, auto, auto results) {
      image.insert(Join(results));
      pairs.insert(Join(dims, results));
    });
    StepBudget budget(random.Int(0, 40));
    const Interval of_image = CountImage(map, &budget);
    EXPECT_TRUE(of_image.Contains(static_cast<int64_t>(image.size()))) << map.ToString();
    const Interval of_pairs = CountPairs(map, &budget);
    EXPECT_TRUE(of_pairs.Contains(static_cast<int64_t>(pairs.size()))) << map.ToString();
  }
}

}  // namespace
}  // namespace xla_indexing::internal
