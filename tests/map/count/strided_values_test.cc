#include "xla_indexing/map/count/strided_values.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "gtest/gtest.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing::internal {
namespace {

class StridedValuesTest : public MapTextFixture {
 protected:
  // The values of the first result, where variables take the values of their intervals.
  std::optional<StridedRange> ValuesOf(const IndexingMap& map) {
    return StridedValuesOf(map.results()[0], [&](mlir::AffineExpr variable) {
      const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable);
      const unsigned position =
          dim ? dim.getPosition() : llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
      return ElementsOf(Congruence::All(),
                        dim ? map.dims()[position].bounds : map.ranges()[position].bounds);
    });
  }
};

TEST_F(StridedValuesTest, WindowsJoinWhereTheyLeaveNoGap) {
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 4]")),
            (StridedRange{0, 23, 1}));
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * -6 + s0 * 2), domain: d0 in [0, 9], s0 in [0, 2]")),
            (StridedRange{-54, 30, 2}));
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * 6 + s0), domain: d0 in [0, 9], s0 in [0, 4]")),
            std::nullopt);
}

TEST_F(StridedValuesTest, AVariableThatOccursTwiceHasNoAnswer) {
  EXPECT_EQ(ValuesOf(Parse("(d0) -> (d0 + d0 floordiv 3), domain: d0 in [0, 9]")), std::nullopt);
}

TEST_F(StridedValuesTest, ElementsFarApartDoNotOverflow) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const StridedRange ends{kLeast, 3, kMost};
  EXPECT_EQ(LastOf(ends), kMost - 1);
  EXPECT_EQ(IntersectWith(ends, Interval::AtLeast(0)), (StridedRange{kMost - 1, 1, 1}));
  EXPECT_EQ(IntersectWith(ends, Interval::Closed(0, 5)), StridedRange{});
}

TEST_F(StridedValuesTest, AgreeWithEnumeration) {
  SmallMaps random(4, &context_);
  int answered = 0;
  for (int i = 0; i < Cases(4000); ++i) {
    const IndexingMap map = random.Map({2, 2, 0}, 1);
    if (map.IsKnownEmpty() || !map.constraints().empty()) continue;
    const std::optional<StridedRange> said = ValuesOf(map);
    if (!said) continue;
    ++answered;
    std::set<int64_t> values;
    ForAllPoints(map, [&](auto, auto, auto results) { values.insert(results[0]); });
    std::set<int64_t> of_range;
    for (int64_t k = 0; k < said->count; ++k) of_range.insert(said->offset + k * said->stride);
    ASSERT_EQ(of_range, values) << map.ToString();
  }
  EXPECT_GT(answered, Cases(500));
}

}  // namespace
}  // namespace xla_indexing::internal
