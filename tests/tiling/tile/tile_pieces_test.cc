// Tiles of arrays that are put together from pieces, against the points of the maps: over all small
// pieces and all tile sizes.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "tests/tiling/tile/condition_text.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

using TileSizesOf = std::vector<int64_t>;

// All points of [0, sizes[0]) x [0, sizes[1]) x ..
std::vector<TileSizesOf> PointsOf(absl::Span<const int64_t> sizes) {
  std::vector<TileSizesOf> points = {{}};
  for (const int64_t size : sizes) {
    std::vector<TileSizesOf> longer;
    for (const TileSizesOf& point : points) {
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

struct CheckedTiles {
  int64_t exact = 0;
  int64_t refused = 0;
};

class TilePiecesTest : public ::testing::Test {
 protected:
  const HloComputation& Parse(const std::string& text) {
    auto module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.status() << text;
    EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module) << text;
    modules_.push_back(*std::move(module));
    return *modules_.back()->entry_computation();
  }

  // Each element of a result is one element of a parameter. Sizes are exact for a map just where of
  // every tile, as far as it lies in the result, all elements are read through the map or none; all
  // of whole tiles are a box of the size and stride that are said.
  void Check(const std::string& text, CheckedTiles* counts) {
    SCOPED_TRACE(text);
    const HloComputation& entry = Parse(text);
    const auto dimensions = entry.root_instruction()->shape().dimensions();
    const TileSizesOf dims(dimensions.begin(), dimensions.end());
    FusionOptions options;
    options.indexing.exact = true;
    const auto entries = Entries(entry, Direction::kOutputToInput, &context_, options);
    ASSERT_TRUE(entries.ok()) << entries.status();
    TilePieces pieces;
    for (const IndexingEntry& of_parameter : *entries) {
      for (const OperandIndexing& map : of_parameter.indexing) pieces.Add(map.map());
    }
    for (const IndexingEntry& of_parameter : *entries) {
      for (const OperandIndexing& map : of_parameter.indexing) {
        const auto tile = SymbolicTile::Of(map, dims, pieces);
        ASSERT_TRUE(tile.ok()) << tile.status();
        for (TileSizesOf sizes : PointsOf(dims)) {
          for (int64_t& size : sizes) ++size;
          CheckSizes(map.map(), *tile, dims, sizes, counts);
        }
      }
    }
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;

 private:
  static void CheckSizes(const IndexingMap& map, const SymbolicTile& symbolic,
                         const TileSizesOf& dims, const TileSizesOf& sizes, CheckedTiles* counts) {
    SCOPED_TRACE(absl::StrCat(map.ToString(), " tiles ", absl::StrJoin(sizes, ",")));
    const auto exact = symbolic.IsExact(sizes);
    const auto full = symbolic.FullTile(sizes);
    ASSERT_TRUE(exact.ok() && full.ok());
    ASSERT_FALSE(exact->IsUndecided());
    EXPECT_EQ(full->is_exact, exact->IsYes());
    ++(exact->IsYes() ? counts->exact : counts->refused);
    bool all_hold = true;
    for (const std::string& condition : TileConditions(symbolic)) {
      const auto holds = ConditionText(condition, sizes).Holds();
      ASSERT_TRUE(holds.has_value()) << condition;
      all_hold = all_hold && *holds;
    }
    EXPECT_EQ(all_hold, exact->IsYes());

    TileSizesOf num_tiles;
    for (size_t i = 0; i < dims.size(); ++i) num_tiles.push_back((dims[i] - 1) / sizes[i] + 1);
    bool goes_across = false;
    for (const TileSizesOf& k : PointsOf(num_tiles)) {
      std::set<TileSizesOf> read;
      int64_t num_points = 0;
      int64_t num_read = 0;
      bool is_whole = true;
      for (TileSizesOf d : PointsOf(sizes)) {
        bool is_inside = true;
        for (size_t i = 0; i < d.size(); ++i) {
          d[i] += k[i] * sizes[i];
          is_inside = is_inside && d[i] < dims[i];
        }
        is_whole = is_whole && is_inside;
        if (!is_inside) continue;
        ++num_points;
        if (!map.Contains(d, {}).value_or(false)) continue;
        ++num_read;
        const auto element = map.Evaluate(d, {});
        ASSERT_TRUE(element.ok());
        read.insert(TileSizesOf(element->begin(), element->end()));
      }
      goes_across = goes_across || (num_read > 0 && num_read < num_points);
      if (!exact->IsYes() || num_read == 0 || !is_whole) continue;
      for (size_t r = 0; r < full->ranges.size(); ++r) {
        std::set<int64_t> values;
        for (const TileSizesOf& element : read) values.insert(element[r]);
        ASSERT_EQ(static_cast<int64_t>(values.size()), full->ranges[r].size);
        int64_t next = *values.begin();
        for (const int64_t value : values) {
          EXPECT_EQ(value, next);
          next += std::abs(full->ranges[r].stride);
        }
      }
    }
    EXPECT_EQ(exact->IsYes(), !goes_across);
  }
};

TEST_F(TilePiecesTest, PiecesOfConcatenatesLieInOneOperand) {
  CheckedTiles counts;
  for (const TileSizesOf& sizes : PointsOf({5, 5, 5})) {
    const int64_t sum = sizes[0] + sizes[1] + sizes[2];
    if (sum == 0) continue;
    const std::string concatenate =
        absl::StrCat("p = f32[", sizes[0], "] parameter(0) q = f32[", sizes[1],
                     "] parameter(1) r = f32[", sizes[2], "] parameter(2) ");
    Check(absl::StrCat("ENTRY e { ", concatenate, "ROOT c = f32[", sum,
                       "] concatenate(p, q, r), dimensions={0} }"),
          &counts);
    Check(absl::StrCat("ENTRY e { ", concatenate, "c = f32[", sum,
                       "] concatenate(p, q, r), dimensions={0} ROOT v = f32[", sum,
                       "] reverse(c), dimensions={0} }"),
          &counts);
  }
  EXPECT_GT(counts.exact, 500);
  EXPECT_GT(counts.refused, 500);
}

TEST_F(TilePiecesTest, PiecesOfConcatenatesOfOneOperandLieInOneSlice) {
  CheckedTiles counts;
  for (const TileSizesOf& at : PointsOf({5, 7})) {
    const int64_t size = at[0] + 7 - at[1];
    if (size == 0) continue;
    Check(absl::StrCat("ENTRY e { p = f32[3,7] parameter(0) a = f32[3,", at[0],
                       "] slice(p), slice={[0:3], [0:", at[0], "]} b = f32[3,", 7 - at[1],
                       "] slice(p), slice={[0:3], [", at[1], ":7]} ROOT c = f32[3,", size,
                       "] concatenate(a, b), dimensions={1} }"),
          &counts);
  }
  EXPECT_GT(counts.exact, 100);
  EXPECT_GT(counts.refused, 100);
}

TEST_F(TilePiecesTest, PiecesOfExactPaddingLieInTheOperandOrBesideIt) {
  CheckedTiles counts;
  for (const TileSizesOf& of : PointsOf({4, 4, 5})) {
    const int64_t size = of[2] + 1;
    Check(absl::StrCat("ENTRY e { p = f32[", size, "] parameter(0) z = f32[] parameter(1) ",
                       "ROOT r = f32[", of[0] + size + of[1], "] pad(p, z), padding=", of[0], "_",
                       of[1], " }"),
          &counts);
  }
  EXPECT_GT(counts.refused, 100);
}

TEST_F(TilePiecesTest, PiecesOfExactUpdatesAtFixedOffsetsLieInTheUpdateOrBesideIt) {
  CheckedTiles counts;
  for (const TileSizesOf& of : PointsOf({6, 6, 2, 2})) {
    const int64_t size = of[1] + 1;
    if (of[0] + size > 6) continue;
    Check(
        absl::StrCat("ENTRY e { p = f32[6,3] parameter(0) u = f32[", size, ",", of[3] + 2,
                     "] parameter(1) i = s32[] constant(", of[0], ") j = s32[] constant(",
                     of[2] * (1 - of[3]), ") ROOT r = f32[6,3] dynamic-update-slice(p, u, i, j) }"),
        &counts);
  }
  EXPECT_GT(counts.exact, 100);
  EXPECT_GT(counts.refused, 100);
}

TEST_F(TilePiecesTest, OneMapAloneHasNoBorders) {
  const HloComputation& entry = Parse(R"(
    ENTRY e {
      p = f32[6] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[13] pad(p, z), padding=4_3
    })");
  const auto entries = Entries(entry, Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 1u);
  const OperandIndexing& map = entries->front().indexing.maps().front();
  TilePieces pieces;
  pieces.Add(map.map());
  EXPECT_TRUE(pieces.BordersOf(map.map()).empty());
}

TEST_F(TilePiecesTest, TilingsOfAComputationAreCutWherePiecesEnd) {
  const auto tiled = TiledComputation::Create(Parse(R"(
    ENTRY e {
      p = f32[4] parameter(0)
      q = f32[12] parameter(1)
      n = f32[12] negate(q)
      ROOT c = f32[16] concatenate(p, n), dimensions={0}
    })"),
                                              &context_);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  ASSERT_EQ(tiled->borders().size(), 1u);
  EXPECT_EQ(tiled->borders()[0].at, 4);
  std::set<int64_t> good;
  for (const CostedTiling& found : tiled->FindTilings().tilings) {
    good.insert(found.tiling.sizes[0]);
  }
  EXPECT_THAT(good, ElementsAre(1, 2, 4));
  TilingSearchOptions options;
  options.cut_at_pieces = false;
  // One program moves no more bytes than several.
  options.time = [](const TileCost& cost) { return static_cast<double>(cost.moved_bytes); };
  EXPECT_EQ(tiled->FindTilings(options).tilings.front().tiling.sizes[0], 16);
}

}  // namespace
}  // namespace xla_indexing::internal
