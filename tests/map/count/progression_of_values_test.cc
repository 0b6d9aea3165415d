#include "xla_indexing/map/count/progression_of_values.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing::internal {
namespace {

class ProgressionOfValuesTest : public MapTextFixture {
 protected:
  // The values of the first result, where variables take the values of their intervals.
  std::optional<Progression> ValuesOf(const IndexingMap& map) {
    return ProgressionOfValues(map.results()[0], [&](mlir::AffineExpr variable) {
      const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable);
      const unsigned position =
          dim ? dim.getPosition() : llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
      return Progression::Of(dim ? map.dims()[position].bounds : map.ranges()[position].bounds,
                             Congruence::All());
    });
  }
};

TEST_F(ProgressionOfValuesTest, WindowsJoinWhereTheyLeaveNoGap) {
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 4]")),
            Progression::Of(Interval::Closed(0, 22), Congruence::All()));
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * -6 + s0 * 2), domain: d0 in [0, 9], s0 in [0, 2]")),
            Progression::Of(Interval::Closed(-54, 4), Congruence::Of(0, 2)));
  EXPECT_EQ(ValuesOf(Parse("(d0)[s0] -> (d0 * 6 + s0), domain: d0 in [0, 9], s0 in [0, 4]")),
            std::nullopt);
}

TEST_F(ProgressionOfValuesTest, AVariableThatOccursTwiceHasNoAnswer) {
  EXPECT_EQ(ValuesOf(Parse("(d0) -> (d0 + d0 floordiv 3), domain: d0 in [0, 9]")), std::nullopt);
}

TEST_F(ProgressionOfValuesTest, ElementsFarApartDoNotOverflow) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  // {-2^63, -1, 2^63 - 2}
  const Progression far =
      Progression::Of(Interval::Closed(kLeast, kMost - 1), Congruence::Of(-1, kMost));
  const auto of = [&](absl::string_view result, const Progression& values) {
    const IndexingMap map = Parse(absl::StrCat("(d0) -> (", result, "), domain: d0 in [0, 2]"));
    return ProgressionOfValues(map.results()[0], [&](mlir::AffineExpr) { return values; });
  };
  EXPECT_EQ(of("d0", far), far);
  EXPECT_EQ(of("d0 + 1", far),
            Progression::Of(Interval::Closed(kLeast + 1, kMost), Congruence::Of(0, kMost)));
  EXPECT_EQ(of("d0 + 2", far), std::nullopt);
  EXPECT_EQ(of("d0 mod 9223372036854775807", far), Progression::Point(kMost - 1));
  const Progression all = Progression::Of(Interval::Closed(kLeast, kMost), Congruence::All());
  EXPECT_EQ(of("d0", all), all);
  EXPECT_EQ(of("-d0", all), std::nullopt);
}

TEST_F(ProgressionOfValuesTest, AgreeWithEnumeration) {
  SmallMaps random(4, &context_);
  int answered = 0;
  for (int i = 0; i < Cases(4000); ++i) {
    const IndexingMap map = random.Map({2, 2, 0}, 1);
    if (map.IsKnownEmpty() || !map.constraints().empty()) continue;
    const std::optional<Progression> said = ValuesOf(map);
    if (!said) continue;
    ++answered;
    std::set<int64_t> values;
    ForAllPoints(map, [&](auto, auto, auto results) { values.insert(results[0]); });
    std::set<int64_t> elements;
    for (int64_t k = 0; k < *said->Count(); ++k) {
      elements.insert(said->first() + k * said->stride());
    }
    ASSERT_EQ(elements, values) << map.ToString();
  }
  EXPECT_GT(answered, Cases(500));
}

}  // namespace
}  // namespace xla_indexing::internal
