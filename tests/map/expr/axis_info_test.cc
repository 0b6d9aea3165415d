// What is said of an index along a variable, at every point of small maps.

#include "xla_indexing/map/expr/axis_info.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

class AxisInfoTest : public MapTextFixture {
 protected:
  // How the first result behaves along a variable.
  AxisInfo Of(const IndexingMap& map, mlir::AffineExpr variable) {
    const absl::StatusOr<AxisInfo> info = AxisInfoOf(map, map.results()[0], variable);
    EXPECT_TRUE(info.ok()) << info.status();
    return info.ok() ? *info : AxisInfo();
  }
  AxisInfo AlongDim(const char* text, unsigned dim) {
    return Of(Parse(text), mlir::getAffineDimExpr(dim, &context_));
  }
};

int64_t FloorOf(int64_t value, int64_t divisor) {
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

// Checks it at all points; `number` is that of the variable among dimensions and symbols.
void CheckAxis(const IndexingMap& map, const AxisInfo& info, size_t number) {
  // Blocks, by size and the other variables: the value of the variable and the index there.
  std::map<std::pair<int64_t, PointList>, std::vector<std::pair<int64_t, int64_t>>> blocks;
  ForAllPoints(map, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                        llvm::ArrayRef<int64_t> results) {
    PointList point = Join(dims, symbols);
    const int64_t value = point[number];
    for (const int64_t size : {info.contiguity, info.constancy}) {
      point[number] = FloorOf(value, size);
      blocks[{size, point}].emplace_back(value, results[0]);
    }
    if (value % info.contiguity == 0) {
      EXPECT_EQ(results[0] % info.divisibility, 0) << map.ToString();
    }
  });
  for (const auto& [block, values] : blocks) {
    const auto& [first, index] = values.front();
    for (const auto& [value, other] : values) {
      if (block.first == info.contiguity && info.contiguity > 1) {
        EXPECT_EQ(other - index, value - first) << map.ToString();
      }
      if (block.first == info.constancy && info.constancy > 1 &&
          info.constancy != info.contiguity) {
        EXPECT_EQ(other, index) << map.ToString();
      }
    }
  }
}

TEST_F(AxisInfoTest, WhatIsSaidHoldsAtEveryPoint) {
  SmallMaps maps(7, &context_);
  int proven = 0;
  for (int i = 0; i < Cases(2000); ++i) {
    const IndexingMap map = maps.Map();
    if (map.num_results() == 0) continue;
    for (int k = 0; k < map.num_dims() + map.num_symbols(); ++k) {
      const mlir::AffineExpr variable =
          k < map.num_dims() ? mlir::getAffineDimExpr(k, &context_)
                             : mlir::getAffineSymbolExpr(k - map.num_dims(), &context_);
      const AxisInfo info = Of(map, variable);
      proven += info.contiguity > 1 || info.constancy > 1 ? 1 : 0;
      CheckAxis(map, info, static_cast<size_t>(k));
    }
  }
  EXPECT_GT(proven, Cases(2000) / 10);
}

TEST_F(AxisInfoTest, RowsAreContiguousAsFarAsTheyGo) {
  const char* const rows = "(d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 63], d1 in [0, 127]";
  EXPECT_EQ(AlongDim(rows, 1).contiguity, 128);
  EXPECT_EQ(AlongDim(rows, 1).divisibility, 128);
  EXPECT_EQ(AlongDim(rows, 0).contiguity, 1);
  EXPECT_EQ(AlongDim(rows, 0).divisibility, 1);
  const char* const shifted =
      "(d0, d1) -> (d0 * 96 + d1 + 4), domain: d0 in [0, 63], d1 in [0, 95]";
  EXPECT_EQ(AlongDim(shifted, 1).contiguity, 64);
  EXPECT_EQ(AlongDim(shifted, 1).divisibility, 4);
}

TEST_F(AxisInfoTest, DigitsAreContiguousOrConstantInTheirBlocks) {
  EXPECT_EQ(AlongDim("(d0) -> (d0 mod 16), domain: d0 in [0, 255]", 0).contiguity, 16);
  EXPECT_EQ(AlongDim("(d0) -> (d0 mod 12), domain: d0 in [0, 255]", 0).contiguity, 4);
  EXPECT_EQ(AlongDim("(d0) -> (d0 floordiv 8), domain: d0 in [0, 255]", 0).constancy, 8);
  EXPECT_EQ(AlongDim("(d0) -> (d0 floordiv 12), domain: d0 in [0, 255]", 0).constancy, 4);
  // Along a variable that the index does not have it is the same.
  EXPECT_EQ(AlongDim("(d0, d1) -> (d1), domain: d0 in [0, 31], d1 in [0, 3]", 0).constancy, 32);
}

TEST_F(AxisInfoTest, ConstraintsHelp) {
  const std::string wraps =
      "(d0, d1) -> ((d0 + d1 * 16) mod 32), domain: d0 in [0, 63], d1 in [0, 3]";
  EXPECT_EQ(AlongDim(wraps.c_str(), 0).contiguity, 16);
  EXPECT_GE(AlongDim((wraps + ", d0 + d1 * 16 in [0, 31]").c_str(), 0).contiguity, 32);
}

TEST_F(AxisInfoTest, WhatIsNoVariableIsAnError) {
  const IndexingMap map = Parse("(d0) -> (d0), domain: d0 in [0, 3]");
  EXPECT_EQ(AxisInfoOf(map, map.results()[0], mlir::getAffineDimExpr(1, &context_)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      AxisInfoOf(map, map.results()[0], mlir::getAffineConstantExpr(1, &context_)).status().code(),
      absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xla_indexing
