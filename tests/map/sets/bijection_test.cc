#include "xla_indexing/map/sets/bijection.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing {
namespace {

class BijectionTest : public MapTextFixture {
 protected:
  Answer Injective(absl::string_view text) { return IsInjective(Parse(text))->answer; }
  Answer Onto(absl::string_view text, const std::vector<int64_t>& sizes) {
    return IsBijectionOnto(Parse(text), sizes)->answer;
  }
};

// The (rt, r) of a map, and how many points have them.
struct ImagePoints {
  std::set<PointList> points;
  int64_t num_visited = 0;
};

ImagePoints ImageOf(const IndexingMap& map) {
  ImagePoints image;
  ForAllPoints(map, [&](auto, auto symbols, auto results) {
    image.points.insert(Join(symbols.drop_front(map.num_ranges()), results));
    ++image.num_visited;
  });
  return image;
}

bool IsInjectiveByPoints(const IndexingMap& map) {
  const ImagePoints image = ImageOf(map);
  return image.num_visited == static_cast<int64_t>(image.points.size());
}

TEST_F(BijectionTest, LargePositionsAreInjective) {
  EXPECT_EQ(Injective("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 99999999], d1 in [0, 7]"),
            Answer::kYes);
  EXPECT_EQ(Injective("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 99999999], d1 in [0, 8]"),
            Answer::kNo);
  EXPECT_EQ(Injective("(d0) -> (d0 floordiv 12, (d0 floordiv 4) mod 3, d0 mod 4), "
                      "domain: d0 in [0, 999999999]"),
            Answer::kYes);
  EXPECT_EQ(Injective("(d0) -> (d0 floordiv 12, d0 mod 4), domain: d0 in [0, 999999999]"),
            Answer::kNo);
}

TEST_F(BijectionTest, ConstraintsCanMakeAMapInjective) {
  EXPECT_EQ(Injective("(d0, d1) -> (d0), domain: d0 in [0, 99999999], d1 in [0, 99999999], "
                      "d0 - d1 in [3, 3]"),
            Answer::kYes);
  EXPECT_EQ(Injective("(d0, d1) -> (d0), domain: d0 in [0, 99999999], d1 in [0, 99999999], "
                      "d0 - d1 in [3, 4]"),
            Answer::kNo);
}

// The first domain has as many points as there are results, the second has one more.
TEST_F(BijectionTest, MultiplicationModuloAPrimeIsInjective) {
  EXPECT_EQ(Injective("(d0) -> ((d0 * 3) mod 99991), domain: d0 in [0, 99990]"), Answer::kYes);
  EXPECT_EQ(Injective("(d0) -> ((d0 * 3) mod 99991), domain: d0 in [0, 99991]"), Answer::kNo);
}

TEST_F(BijectionTest, RuntimeVariablesAreHeldFixed) {
  EXPECT_EQ(Injective("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 999999], rt0 in [0, 99999]"),
            Answer::kYes);
  EXPECT_EQ(
      Onto("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 999999], rt0 in [0, 99999]", {1000000}),
      Answer::kNo);
  EXPECT_EQ(Onto("(d0){rt0} -> ((d0 + rt0) mod 8), domain: d0 in [0, 7], rt0 in [0, 99]", {8}),
            Answer::kYes);
}

TEST_F(BijectionTest, SlicesAreOntoNoLargerBox) {
  const std::string slice = "(d0) -> (d0 + 5), domain: d0 in [0, 99999999]";
  EXPECT_EQ(Onto(slice, {100000005}), Answer::kNo);
  EXPECT_EQ(Onto("(d0) -> (99999999 - d0), domain: d0 in [0, 99999999]", {100000000}),
            Answer::kYes);
  EXPECT_EQ(Onto("(d0) -> (d0), domain: d0 in [0, 9]", {9}), Answer::kNo);
}

TEST_F(BijectionTest, EmptyBoxesHaveTheEmptyMap) {
  EXPECT_EQ(Onto("KNOWN EMPTY (d0) -> 2 results", {0, 9}), Answer::kYes);
  EXPECT_EQ(Onto("(d0) -> (d0, 7), domain: d0 in [0, 1]", {0, 9}), Answer::kNo);
  EXPECT_EQ(Onto("() -> ()", {}), Answer::kYes);
}

TEST_F(BijectionTest, RefusesSizesThatDoNotFitTheResults) {
  const IndexingMap map = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_EQ(IsBijectionOnto(map, {10, 1}).status().message(),
            "a box of 2 sizes for a map with 1 results");
  EXPECT_EQ(IsBijectionOnto(map, {-1}).status().message(), "a box of size -1");
}

TEST_F(BijectionTest, InjectivityAgreesWithEnumeration) {
  SmallMaps maps(21, &context_);
  int yes = 0;
  int no = 0;
  for (int i = 0; i < Cases(6000); ++i) {
    const IndexingMap map = maps.Map();
    const bool expected = IsInjectiveByPoints(map);
    ASSERT_EQ(IsInjective(map)->answer, expected ? Answer::kYes : Answer::kNo) << map.ToString();
    ++(expected ? yes : no);
  }
  EXPECT_GT(yes, Cases(1000));
  EXPECT_GT(no, Cases(1000));
}

// With more points than are enumerated first, so that pairs and counts are looked at.
TEST_F(BijectionTest, InjectivityOfLargerMapsAgreesWithEnumeration) {
  SmallMaps maps(25, &context_, /*max_size=*/120);
  int yes = 0;
  int no = 0;
  for (int i = 0; i < Cases(250); ++i) {
    const NumVariables count{2, 0, maps.Chance(10) ? 1 : 0};
    const IndexingMap map = maps.Map(count, maps.Int(1, 3));
    const bool expected = IsInjectiveByPoints(map);
    ASSERT_EQ(IsInjective(map, int64_t{1} << 22)->answer, expected ? Answer::kYes : Answer::kNo)
        << map.ToString();
    ++(expected ? yes : no);
  }
  EXPECT_GT(yes, Cases(40));
  EXPECT_GT(no, Cases(40));
}

TEST_F(BijectionTest, LargeMapsAreNearlyAllDecided) {
  SmallMaps maps(26, &context_, /*max_size=*/1000000);
  int undecided = 0;
  for (int i = 0; i < Cases(1500); ++i) {
    undecided += IsInjective(maps.Map())->IsUndecided() ? 1 : 0;
  }
  EXPECT_LE(undecided, 15);
  RecordProperty("undecided_of_1500", undecided);
}

// Chains onto their sizes, other maps onto boxes that they rarely fill; now and then a number more.
TEST_F(BijectionTest, BijectionsOntoBoxesAgreeWithEnumeration) {
  SmallMaps maps(22, &context_);
  int yes = 0;
  int no = 0;
  for (int i = 0; i < Cases(6000); ++i) {
    IndexingMap map = maps.Map();
    std::vector<int64_t> sizes;
    if (maps.Chance(60)) {
      map = maps.Chain(&sizes);
    } else {
      for (int r = 0; r < map.num_results(); ++r) sizes.push_back(maps.Int(0, 9));
    }
    if (maps.Chance(20)) map = maps.Nudged(map);
    if (!sizes.empty() && maps.Chance(10)) ++sizes[0];
    int64_t num_expected = 1;
    for (const int64_t size : sizes) num_expected *= size;
    for (const Variable& runtime : map.runtimes()) num_expected *= *runtime.bounds.Size();
    const ImagePoints image = ImageOf(map);
    bool expected = IsInjectiveByPoints(map) && image.num_visited == num_expected;
    for (const PointList& point : image.points) {
      for (size_t r = 0; r < sizes.size(); ++r) {
        const int64_t result = point[map.num_runtimes() + r];
        expected &= 0 <= result && result < sizes[r];
      }
    }
    const absl::StatusOr<Decision> onto = IsBijectionOnto(map, sizes);
    ASSERT_TRUE(onto.ok()) << onto.status();
    ASSERT_EQ(onto->answer, expected ? Answer::kYes : Answer::kNo) << map.ToString();
    ++(expected ? yes : no);
  }
  EXPECT_GT(yes, Cases(1500));
  EXPECT_GT(no, Cases(1000));
}

TEST_F(BijectionTest, ChainsOfReshapesAreShownWithoutEnumeration) {
  SmallMaps maps(23, &context_);
  int yes = 0;
  const int kChains = Cases(2000);
  for (int i = 0; i < kChains; ++i) {
    std::vector<int64_t> sizes;
    const IndexingMap map = maps.Chain(&sizes);
    yes += IsInjective(map, /*max_steps=*/0)->IsYes() ? 1 : 0;
  }
  EXPECT_GE(yes, kChains * 994 / 1000);
  RecordProperty("yes", yes);
}

TEST_F(BijectionTest, NothingGoesWrongAtTheEndsOfInt64) {
  RandomMaps maps(24, &context_);
  for (int i = 0; i < Cases(200); ++i) {
    const IndexingMap map = maps.Map();
    EXPECT_TRUE(IsInjective(map, 20000).ok());
    const std::vector<int64_t> sizes(map.num_results(), maps.Chance(50) ? INT64_MAX : 7);
    EXPECT_TRUE(IsBijectionOnto(map, sizes, 20000).ok());
  }
}

}  // namespace
}  // namespace xla_indexing
