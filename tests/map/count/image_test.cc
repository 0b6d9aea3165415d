#include "xla_indexing/map/count/image.h"

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing {

namespace {

using ::testing::ElementsAre;

class ImageTest : public MapTextFixture {
 protected:
  ImageBox Image(absl::string_view text) { return ImageAsBox(Parse(text)).value(); }
};

std::vector<StridedRange> Ranges(const ImageBox& box) {
  return {box.ranges.begin(), box.ranges.end()};
}

TEST_F(ImageTest, StridesAndOffsets) {
  EXPECT_THAT(Ranges(Image("(d0) -> (d0 * 2 + 3), domain: d0 in [0, 99999999]")),
              ElementsAre(StridedRange{3, 100000000, 2}));
  EXPECT_THAT(Ranges(Image("(d0, d1) -> (d1 * 8, -d0), domain: d0 in [0, 9], d1 in [0, 2]")),
              ElementsAre(StridedRange{0, 3, 8}, StridedRange{-9, 10, 1}));
}

TEST_F(ImageTest, DigitsWithoutGapsAreOneRange) {
  EXPECT_THAT(Ranges(Image("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 9999999], d1 in [0, 3]")),
              ElementsAre(StridedRange{0, 40000000, 1}));
  EXPECT_THAT(
      Ranges(Image("(d0, d1) -> (d0 * 12 + d1 * 3), domain: d0 in [0, 9999999], d1 in [0, 5]")),
      ElementsAre(StridedRange{0, 40000002, 3}));
  EXPECT_EQ(
      Image("(d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 9999999], d1 in [0, 2]").is_box.answer,
      Answer::kNo);
}

TEST_F(ImageTest, DigitsOfOneVariableAreIndependentWhereTheyFillIt) {
  EXPECT_THAT(Ranges(Image("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 79999999]")),
              ElementsAre(StridedRange{0, 10000000, 1}, StridedRange{0, 8, 1}));
  EXPECT_EQ(Image("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 79999998]").is_box.answer,
            Answer::kNo);
}

TEST_F(ImageTest, ResultsThatDependOnOneAnotherAreNoBox) {
  EXPECT_EQ(Image("(d0) -> (d0, d0), domain: d0 in [0, 9999999]").is_box.answer, Answer::kNo);
  EXPECT_THAT(Ranges(Image("(d0) -> (d0, d0), domain: d0 in [7, 7]")),
              ElementsAre(StridedRange{7, 1, 1}, StridedRange{7, 1, 1}));
}

TEST_F(ImageTest, EmptyImages) {
  EXPECT_THAT(Ranges(Image("KNOWN EMPTY (d0) -> 2 results")),
              ElementsAre(StridedRange{}, StridedRange{}));
  EXPECT_EQ(Image("KNOWN EMPTY (d0) -> 0 results").is_box.answer, Answer::kNo);
  EXPECT_EQ(Image("(d0) -> (), domain: d0 in [0, 3]").is_box.answer, Answer::kYes);
}

TEST_F(ImageTest, InfiniteImagesAreNoBox) {
  EXPECT_EQ(Image("(d0) -> (d0 * 2), domain: d0 in [0, inf]").is_box.answer, Answer::kNo);
}

// The box that a set of points is, if it is one.
bool IsBox(const std::set<PointList>& points, int num_results, std::vector<StridedRange>* ranges) {
  ranges->assign(num_results, StridedRange{});
  if (points.empty()) return num_results > 0;
  int64_t size = 1;
  for (int i = 0; i < num_results; ++i) {
    std::set<int64_t> values;
    for (const PointList& point : points) values.insert(point[i]);
    StridedRange& range = (*ranges)[i];
    range = {*values.begin(), static_cast<int64_t>(values.size()), 1};
    if (values.size() > 1) range.stride = *std::next(values.begin()) - range.offset;
    int64_t expected = range.offset;
    for (const int64_t value : values) {
      if (value != expected) return false;
      expected += range.stride;
    }
    size *= range.count;
  }
  return size == static_cast<int64_t>(points.size());
}

TEST_F(ImageTest, AgreesWithEnumeration) {
  SmallMaps maps(41, &context_);
  int yes = 0;
  int no = 0;
  for (int i = 0; i < Cases(6000); ++i) {
    std::vector<int64_t> sizes;
    const IndexingMap map = maps.Chance(20) ? maps.Chain(&sizes) : maps.Map();
    std::set<PointList> points;
    ForAllPoints(map, [&](auto, auto, auto results) { points.insert(Join(results)); });
    std::vector<StridedRange> expected;
    const bool is_box = IsBox(points, map.num_results(), &expected);
    const absl::StatusOr<ImageBox> box = ImageAsBox(map);
    ASSERT_TRUE(box.ok()) << box.status();
    ASSERT_EQ(box->is_box.answer, is_box ? Answer::kYes : Answer::kNo) << map.ToString();
    if (is_box) {
      ASSERT_EQ(Ranges(*box), expected) << map.ToString();
    }
    ++(is_box ? yes : no);
  }
  EXPECT_GT(yes, Cases(1500));
  EXPECT_GT(no, Cases(1000));
}

TEST_F(ImageTest, LargeMapsAreNearlyAllDecided) {
  SmallMaps maps(43, &context_, /*max_size=*/1000000);
  int undecided = 0;
  for (int i = 0; i < Cases(1000); ++i) {
    undecided += ImageAsBox(maps.Map())->is_box.IsUndecided() ? 1 : 0;
  }
  EXPECT_LE(undecided, 60);
  RecordProperty("undecided_of_1000", undecided);
}

TEST_F(ImageTest, NothingGoesWrongAtTheEndsOfInt64) {
  RandomMaps maps(42, &context_);
  for (int i = 0; i < Cases(300); ++i) EXPECT_TRUE(ImageAsBox(maps.Map(), 20000).ok());
}

}  // namespace
}  // namespace xla_indexing
