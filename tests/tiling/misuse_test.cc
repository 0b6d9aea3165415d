#include "tests/testing/misuse.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::internal {
namespace {

using TilingMisuseTest = QueryMisuseTest;

TEST_F(TilingMisuseTest, TilesAreOfArraysThatTheMapsFit) {
  const OperandIndexing map = Map("(d0) -> (d0 * 2), domain: d0 in [0, 7]");
  EXPECT_TRUE(SymbolicTile::Of(map).ok());
  EXPECT_TRUE(SymbolicTile::Of(map, {8}).ok());
  EXPECT_TRUE(SymbolicTile::Of(map, {kGreatest}).ok());
  ExpectRefused(SymbolicTile::Of(map, {8, 8}).status(), "sizes of 2 dimensions for a map of 1");
  for (const int64_t size : {kLeast, int64_t{-1}, int64_t{0}, int64_t{7}}) {
    ExpectRefused(SymbolicTile::Of(map, {size}).status(),
                  absl::StrCat("is in [0, 7], and the size of the array is ", size));
    ExpectRefused(SymbolicTile::OfMap(map.map(), {size}).status(),
                  absl::StrCat("is in [0, 7], and the size of the array is ", size));
  }
  ExpectRefused(SymbolicTile::Of(OperandIndexing::Unknown(&context_, "no idea")).status(),
                "an unknown map has no tile: no idea");
  const SymbolicTile tile = SymbolicTile::Of(map).value();
  for (const int64_t size : {kLeast, int64_t{-1}, int64_t{0}}) {
    ExpectRefused(tile.FullTile({size}).status(), "of dimension 0 is below 1");
    ExpectRefused(tile.IsExact({size}).status(), "of dimension 0 is below 1");
    ExpectRefused(tile.CountedSizes({size}).status(), "of dimension 0 is below 1");
    ExpectRefused(tile.IsExactWhenMasked({size}).status(), "of dimension 0 is below 1");
    ExpectRefused(tile.CoversWhenMasked({size}).status(), "of dimension 0 is below 1");
  }
  for (const int64_t size : {int64_t{9}, kGreatest}) {
    EXPECT_TRUE(tile.IsExact({size})->IsYes());
    EXPECT_TRUE(tile.IsExactWhenMasked({size})->IsYes());
    EXPECT_EQ(tile.FullTile({size})->ranges[0].size, size);
    EXPECT_EQ(tile.TileAt({size}, {0})->ranges[0].size, 8);
    ExpectRefused(tile.TileAt({size}, {1}).status(), "which has 1 tiles of size");
  }
  ExpectRefused(tile.FullTile({}).status(), "0 tile sizes for an array of 1 dimensions");
  ExpectRefused(tile.TileAt({4}, {}).status(), "a tile index of 0 numbers for 1 sizes");
  for (const int64_t index : {kLeast, int64_t{-1}, int64_t{2}, kGreatest}) {
    ExpectRefused(tile.TileAt({4}, {index}).status(), "which has 2 tiles of size 4");
  }
}

// Nothing but an answer is asked for.
TEST_F(TilingMisuseTest, NumbersOfMapsMayBeAsLargeAsTheyCan) {
  for (const absl::string_view text : {
           "(d0) -> (d0 * 4611686018427387904), domain: d0 in [0, 9223372036854775806]",
           "(d0) -> ((d0 - 9223372036854775807 - 1) mod 4, (d0 - 9223372036854775807 - 1) floordiv "
           "4), domain: d0 in [0, 9223372036854775806]",
           "(d0) -> (d0), domain: d0 in [0, 9223372036854775806], d0 mod 6917529027641081857 in "
           "[3, 3]",
           "(d0, d1)[s0] -> (d0 * 9223372036854775807 + d1 * -9223372036854775807 + s0, d1 "
           "floordiv "
           "9223372036854775807), domain: d0 in [5, 9223372036854775806], d1 in [0, "
           "9223372036854775800], s0 in [-9223372036854775807, 9223372036854775807]",
           "(d0) -> (d0 * -9223372036854775807), domain: d0 in [1, 100], d0 * 2 in [7, "
           "9223372036854775807]",
       }) {
    const OperandIndexing map = Map(text);
    const auto tile = SymbolicTile::Of(map);
    ASSERT_TRUE(tile.ok()) << tile.status();
    for (const int64_t size : {int64_t{1}, int64_t{3}, int64_t{4}, kGreatest / 2, kGreatest}) {
      const std::vector<int64_t> sizes(tile->num_sizes(), size);
      EXPECT_TRUE(tile->IsExact(sizes).ok());
      EXPECT_TRUE(tile->FullTile(sizes).ok());
      EXPECT_TRUE(tile->IsExactWhenMasked(sizes).ok());
      EXPECT_TRUE(tile->CoversWhenMasked(sizes).ok());
      (void)tile->MaskedBox(sizes);
      for (const TileCondition& condition : tile->Conditions()) (void)condition.Holds(sizes);
      for (const auto& exprs : {tile->Offsets(), tile->Sizes(), tile->Strides()}) {
        for (const TileExpr& expr : exprs) (void)expr.WithSizes(sizes).ToAffine(&context_, 0);
      }
    }
    EXPECT_EQ(tile->Bounds().size(), tile->map().num_results());
  }
}

TEST_F(TilingMisuseTest, TilesOfInfiniteIntervalsAreNotExact) {
  for (const absl::string_view range : {"[0, inf]", "[-inf, 0]", "[-inf, inf]"}) {
    const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(Unbounded(range));
    ASSERT_TRUE(tile.ok()) << tile.status();
    EXPECT_FALSE(tile->IsExact({2})->IsYes()) << range;
    EXPECT_FALSE(tile->FullTile({2})->is_exact) << range;
    EXPECT_FALSE(tile->TileAt({2}, {1})->is_exact) << range;
    (void)TileConditions(*tile, 0);
  }
  for (const absl::string_view range : {"[0, inf]", "[-inf, 0]", "[-inf, inf]"}) {
    const SymbolicTile tile = SymbolicTile::Of(Unbounded(range)).value();
    for (const int64_t size : {int64_t{1}, int64_t{2}, kGreatest}) {
      EXPECT_TRUE(tile.IsExactWhenMasked({size}).ok());
      EXPECT_TRUE(tile.CoversWhenMasked({size}).ok());
      (void)tile.MaskedBox({size});
    }
    (void)tile.Bounds();
    (void)tile.Offsets();
    (void)tile.Sizes();
  }
  // An array without end from which nothing is read.
  const absl::StatusOr<SymbolicTile> of_none = SymbolicTile::Of(
      Map("(d0)[s0] -> (d0 * -2 + s0), domain: d0 in [-inf, inf], s0 in [-3, -2], s0 in [5, inf]"));
  ASSERT_TRUE(of_none.ok()) << of_none.status();
  EXPECT_TRUE(of_none->IsExact({2}).ok());
  const absl::StatusOr<SymbolicTile> of_all =
      SymbolicTile::Of(Map("(d0) -> (d0 mod 4), domain: d0 in [-inf, inf]"));
  ASSERT_TRUE(of_all.ok()) << of_all.status();
  EXPECT_TRUE(of_all->FullTile({4}).ok());
}

TEST_F(TilingMisuseTest, OptionsOfComputationsMayBeAnything) {
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1}, kGreatest}) {
    FusionOptions options;
    options.max_steps = number;
    options.max_called_instructions = number;
    options.max_maps = static_cast<int>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX));
    options.max_call_depth = options.max_maps;
    // Answers have to be right or labelled, and nothing more is asked of them.
    (void)TiledComputation::Create(*computation_, &context_, options);
  }
  const auto tiled = TiledComputation::Create(*computation_, &context_);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  ExpectRefused(tiled->Instantiate(std::vector<int64_t>{1}).status(), "1 tile sizes for 2");
  ExpectRefused(tiled->Instantiate(std::vector<int64_t>{1, 2, 3}).status(), "3 tile sizes for 2");
  ExpectRefused(tiled->Instantiate(std::vector<int64_t>{0, -1}).status(),
                "tile size 0 of d0 is less than 1");
  ExpectRefused(tiled->Instantiate({{1, 1}, {2}}).status(), "dimension 2, which is no parallel");
  ExpectRefused(tiled->Instantiate({{1, 1}, {-1}}).status(), "dimension -1, which is no parallel");
  ExpectRefused(tiled->Instantiate({{1, 1}, {1, 1}}).status(), "two loops over d1");
  EXPECT_TRUE(tiled->Instantiate(std::vector<int64_t>{1, kGreatest}).ok());
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}}) {
    TilingSearchOptions search;
    search.max_resident_bytes = number;
    EXPECT_TRUE(tiled->FindTilings(search).tilings.empty());
    search = {};
    search.max_tried = number;
    EXPECT_TRUE(tiled->FindTilings(search).tilings.empty());
    search = {};
    search.max_returned = number;
    EXPECT_TRUE(tiled->FindTilings(search).tilings.empty());
  }
}

}  // namespace
}  // namespace xla_indexing::internal
