#include "xla_indexing/base/numbers/box.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using Box = std::vector<Interval>;
using Point = std::vector<int64_t>;

std::vector<Point> PointsIn(const Box& box) {
  std::vector<Point> points;
  Point point;
  if (!FirstPoint(box, &point)) return points;
  do points.push_back(point);
  while (NextPoint(box, absl::MakeSpan(point)));
  EXPECT_EQ(point, points.front());
  return points;
}

TEST(BoxTest, TheLastCoordinateMovesFirst) {
  const Box box = {Interval::Closed(-1, 0), Interval::Closed(3, 5)};
  EXPECT_EQ(PointsIn(box), (std::vector<Point>{{-1, 3}, {-1, 4}, {-1, 5}, {0, 3}, {0, 4}, {0, 5}}));
  EXPECT_EQ(NumPoints(box), 6);
}

TEST(BoxTest, ABoxOfNoDimensionsHasOnePoint) {
  EXPECT_EQ(PointsIn({}), std::vector<Point>{{}});
  EXPECT_EQ(NumPoints({}), 1);
}

TEST(BoxTest, EmptyAndInfiniteBoxesAreNotEnumerated) {
  const Box empty = {Interval::All(), Interval::Empty()};
  EXPECT_TRUE(PointsIn(empty).empty());
  EXPECT_EQ(NumPoints(empty), 0);
  const Box infinite = {Interval::Point(1), Interval::AtLeast(0)};
  EXPECT_TRUE(PointsIn(infinite).empty());
  EXPECT_EQ(NumPoints(infinite), std::nullopt);
  const Box large = {Interval::OfSize(int64_t{1} << 32), Interval::OfSize(int64_t{1} << 32)};
  EXPECT_EQ(NumPoints(large), std::nullopt);
}

TEST(BoxTest, EndsOfInt64AreOrdinary) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(PointsIn({Interval::Closed(most - 1, most), Interval::Point(least)}),
            (std::vector<Point>{{most - 1, least}, {most, least}}));
}

}  // namespace
}  // namespace xla_indexing::internal
