#include "xla_indexing/tiling/tile/symbolic_tile.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Sizes = std::vector<int64_t>;

class SymbolicTileTest : public ::testing::Test {
 protected:
  SymbolicTile Tile(const std::string& text) {
    auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return SymbolicTile::OfMap(*map).value();
  }

  // The tile of the first map of an operand of the root of a module's entry.
  SymbolicTile OfRoot(const std::string& text, int64_t operand = 0) {
    auto module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    const HloInstruction& root = *modules_.back()->entry_computation()->root_instruction();
    const auto entries = Entries(root, Direction::kOutputToInput, &context_);
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != operand) continue;
      auto tile = SymbolicTile::Of(
          entry.indexing.maps().front(),
          Sizes(root.shape().dimensions().begin(), root.shape().dimensions().end()));
      EXPECT_TRUE(tile.ok()) << tile.status();
      return *std::move(tile);
    }
    ADD_FAILURE() << "nothing is read of operand " << operand;
    return Tile("() -> ()");
  }

  // `offset+stride*size` of each result, and what there is to say of the tile.
  static std::string Text(const absl::StatusOr<ConcreteTile>& tile) {
    if (!tile.ok()) return std::string(tile.status().message());
    std::string text = absl::StrJoin(tile->ranges, ", ", [](std::string* out, const TileRange& r) {
      absl::StrAppend(out,
                      r.offset.IsPoint() ? absl::StrCat(r.offset.lower()) : r.offset.ToString(),
                      " size ", r.size);
      if (r.size > 1 && r.stride != 1) absl::StrAppend(out, " stride ", r.stride);
    });
    absl::StrAppend(&text, tile->is_exact ? "; exact" : "; bounding");
    if (tile->excess.value_or(0) != 0) absl::StrAppend(&text, ", ", *tile->excess, " too many");
    if (tile->is_clipped) absl::StrAppend(&text, "; clipped");
    if (tile->is_empty) absl::StrAppend(&text, "; empty");
    return text;
  }

  static bool IsExact(const SymbolicTile& tile, const Sizes& sizes) {
    const auto exact = tile.IsExact(sizes);
    EXPECT_TRUE(exact.ok()) << exact.status();
    EXPECT_FALSE(exact->IsUndecided());
    return exact->IsYes();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

TEST_F(SymbolicTileTest, TheTileOfATransposeHasTheSizesInItsOrder) {
  const SymbolicTile tile = Tile("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 5]");
  EXPECT_EQ(OffsetMapText(tile), "(k0, k1)[t0, t1] -> (k1 * t1, k0 * t0)");
  EXPECT_EQ(SizeMapText(tile), "(t0, t1) -> (t1, t0)");
  EXPECT_EQ(StrideMapText(tile), "(t0, t1) -> (1, 1)");
  EXPECT_THAT(TileConditions(tile), IsEmpty());
  EXPECT_EQ(Text(tile.TileAt({4, 2}, {1, 2})), "4 size 2, 4 size 4; exact");
}

TEST_F(SymbolicTileTest, AtTheEdgeOfTheOutputIsClipped) {
  const SymbolicTile tile = Tile("(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_EQ(Text(tile.TileAt({4}, {2})), "8 size 2; exact; clipped");
}

TEST_F(SymbolicTileTest, TheTileOfSplitDimensionsNeedsSizesThatDivide) {
  const SymbolicTile tile = Tile("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("8 mod t0 = 0 or t0 mod 8 = 0"));
  EXPECT_EQ(OffsetMapText(tile), "(k0)[t0] -> ((k0 * t0) floordiv 8, (k0 * t0) mod 8)");
  EXPECT_EQ(SizeMapText(tile), "(t0) -> (t0 ceildiv 8, min(t0, 8))");
  EXPECT_EQ(Text(tile.FullTile({4})), "0 size 1, 0 size 4; exact");
  EXPECT_EQ(Text(tile.TileAt({4}, {3})), "1 size 1, 4 size 4; exact");
  EXPECT_EQ(Text(tile.FullTile({16})), "0 size 2, 0 size 8; exact");
  // Tiles of 6 begin at 6, which has the rest of a row and a part of the next: 2 x 8 elements hold
  // them all, of which the first tile reads 6.
  EXPECT_FALSE(IsExact(tile, {6}));
  EXPECT_EQ(Text(tile.FullTile({6})), "0 size 2, 0 size 8; bounding, 10 too many");
}

// The digits begin at an element that is no multiple of them: d0 = 1, 5, 9, ..
TEST_F(SymbolicTileTest, TheTileOfSplitDimensionsThatBeginInsideIsOneOfTheirDigits) {
  const SymbolicTile tile =
      Tile("(d0) -> ((d0 - 1) floordiv 4, (d0 + 3) mod 4), domain: d0 in [1, 12]");
  EXPECT_TRUE(IsExact(tile, {1}));
  EXPECT_FALSE(IsExact(tile, {4}));
  EXPECT_EQ(Text(tile.TileAt({1}, {7})), "1 size 1, 2 size 1; exact");
}

TEST_F(SymbolicTileTest, TheTileOfReversedSplitDimensionsNeedsSizesThatDivide) {
  const SymbolicTile tile =
      Tile("(d0) -> ((-d0 + 11) floordiv 4, (-d0 + 11) mod 4), domain: d0 in [0, 11]");
  for (const int64_t size : {1, 2, 4, 8}) EXPECT_TRUE(IsExact(tile, {size})) << size;
  EXPECT_FALSE(IsExact(tile, {3}));
}

TEST_F(SymbolicTileTest, TheTileOfJoinedDimensionsNeedsWholeRowsOrOneOfThem) {
  const SymbolicTile tile = Tile(
      "(d0, d1, d2) -> (d0 * 32 + d1 * 8 + d2), domain: d0 in [0, 2], d1 in [0, 3], "
      "d2 in [0, 7]");
  EXPECT_THAT(TileConditions(tile),
              ElementsAre("t1 = 1 or t2 = 1 or t2 = 8", "t0 = 1 or (t2 = 1 and t1 = 1) or t1 = 4"));
  EXPECT_EQ(StrideMapText(tile), "(t0, t1, t2) -> ((t2 > 1 ? 1 : (t1 > 1 ? 8 : 32)))");
  EXPECT_EQ(Text(tile.FullTile({1, 2, 8})), "0 size 16; exact");
  EXPECT_EQ(Text(tile.FullTile({1, 3, 1})), "0 size 3 stride 8; exact");
  EXPECT_EQ(Text(tile.FullTile({3, 4, 1})), "0 size 12 stride 8; exact");
  EXPECT_EQ(Text(tile.FullTile({3, 1, 1})), "0 size 3 stride 32; exact");
  EXPECT_FALSE(IsExact(tile, {2, 1, 8}));
  EXPECT_FALSE(IsExact(tile, {1, 2, 4}));
}

TEST_F(SymbolicTileTest, TheTileOfANearestUpsamplingMayBeginInsideOfAnElement) {
  // Tiles of 12 read two elements each, whether they begin at a multiple of 8 or 4 beyond one;
  // those of 11 read two or three.
  const SymbolicTile tile = Tile("(d0) -> (d0 floordiv 8), domain: d0 in [0, 799]");
  EXPECT_TRUE(IsExact(tile, {12}));
  EXPECT_TRUE(IsExact(tile, {9}));
  EXPECT_FALSE(IsExact(tile, {11}));
  EXPECT_EQ(Text(tile.TileAt({12}, {1})), "1 size 2; exact");
  EXPECT_THAT(TileConditions(tile), ElementsAre("t0 mod 8 = 0 or 8 mod (t0 mod 8) = 0"));
}

TEST_F(SymbolicTileTest, TheTileOfARepetitionHasEverythingPastItsLength) {
  const SymbolicTile tile = Tile("(d0) -> (d0 mod 8), domain: d0 in [0, 799]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("8 mod t0 = 0 or t0 >= 8"));
  EXPECT_EQ(OffsetMapText(tile), "(k0)[t0] -> ((t0 >= 8 ? 0 : (k0 * t0) mod 8))");
  EXPECT_EQ(Text(tile.TileAt({11}, {1})), "0 size 8; exact");
  EXPECT_FALSE(IsExact(tile, {3}));
}

TEST_F(SymbolicTileTest, TheTileOfAReverseFalls) {
  const SymbolicTile tile = Tile("(d0) -> (-d0 + 9), domain: d0 in [0, 9]");
  EXPECT_EQ(Text(tile.TileAt({4}, {1})), "5 size 4 stride -1; exact");
  EXPECT_EQ(StrideMapText(tile), "(t0) -> (-1)");
}

// Also where the digit is given as a mod of a negative multiple.
TEST_F(SymbolicTileTest, TheTileOfADigitThatIsReversedFalls) {
  auto map = ParseIndexingMap("(d0) -> (d0 floordiv 6, (d0 * 5 + 5) mod 6), domain: d0 in [0, 29]",
                              &context_);
  ASSERT_TRUE(map.ok()) << map.status();
  map->Simplify();
  const SymbolicTile tile = SymbolicTile::OfMap(*map).value();
  EXPECT_EQ(OffsetMapText(tile), "(k0)[t0] -> ((k0 * t0) floordiv 6, -((k0 * t0) mod 6) + 5)");
  EXPECT_EQ(SizeMapText(tile), "(t0) -> (t0 ceildiv 6, min(t0, 6))");
}

TEST_F(SymbolicTileTest, TheTileOfAStridedSliceHasItsStride) {
  const SymbolicTile tile = Tile("(d0) -> (d0 * 3 + 2), domain: d0 in [0, 9]");
  EXPECT_EQ(Text(tile.TileAt({4}, {1})), "14 size 4 stride 3; exact");
  EXPECT_THAT(TileConditions(tile), IsEmpty());
}

TEST_F(SymbolicTileTest, TheTileOfWindowsHasTheirHalo) {
  const SymbolicTile tile = Tile("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 2]");
  EXPECT_EQ(SizeMapText(tile), "(t0) -> ((t0 - 1) * 2 + 3)");
  EXPECT_EQ(Text(tile.TileAt({4}, {1})), "8 size 9; exact");
  EXPECT_THAT(TileConditions(tile), IsEmpty());
}

TEST_F(SymbolicTileTest, TheTileOfWindowsWithGapsIsOneWindow) {
  // Windows of 2 at multiples of 4 are no progression: 0, 1, 4, 5.
  const SymbolicTile tile = Tile("(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, 9], s0 in [0, 1]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("t0 = 1"));
  EXPECT_EQ(Text(tile.FullTile({2})), "0 size 6; bounding, 2 too many");
}

TEST_F(SymbolicTileTest, TheTileOfDilatedWindowsNeedsSizesThatFillTheGaps) {
  // Steps of 3 between the window's elements: tiles of 3 and more leave none.
  const SymbolicTile tile = Tile("(d0)[s0] -> (d0 + s0 * 3), domain: d0 in [0, 9], s0 in [0, 4]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("t0 = 1 or t0 >= 3"));
  EXPECT_EQ(Text(tile.FullTile({1})), "0 size 5 stride 3; exact");
  EXPECT_EQ(Text(tile.FullTile({3})), "0 size 15; exact");
}

TEST_F(SymbolicTileTest, TheTileOfAReductionReadsTheWholeRange) {
  const SymbolicTile tile = Tile("(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 124]");
  EXPECT_EQ(SizeMapText(tile), "(t0) -> (t0, 125)");
  EXPECT_EQ(Text(tile.TileAt({2}, {3})), "6 size 2, 0 size 125; exact");
}

TEST_F(SymbolicTileTest, TheTileOfADiagonalIsOneElement) {
  const SymbolicTile tile = Tile("(d0) -> (d0, d0), domain: d0 in [0, 9]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("t0 = 1"));
  EXPECT_EQ(Text(tile.FullTile({2})), "0 size 2, 0 size 2; bounding, 2 too many");
}

TEST_F(SymbolicTileTest, TheTileOfAReshapeThatSplitsNoFactorIsFoundPointByPoint) {
  // f32[4,9] as f32[6,6]: three rows of 6 are two of 9, three elements are a third of each.
  const SymbolicTile tile = Tile(
      "(d0, d1) -> ((d0 * 6 + d1) floordiv 9, (d0 * 6 + d1) mod 9), domain: d0 in [0, 5], "
      "d1 in [0, 5]");
  EXPECT_THAT(TileConditions(tile), ElementsAre("(t0, t1) in {(1, 1), (1, 3), (3, 6), (6, 6)}"));
  EXPECT_EQ(SizeMapText(tile), "(t0, t1) -> (?, ?)");
  EXPECT_EQ(Text(tile.TileAt({3, 6}, {1, 0})), "2 size 2, 0 size 9; exact");
  EXPECT_EQ(Text(tile.FullTile({1, 3})), "0 size 1, 0 size 3; exact");
}

TEST_F(SymbolicTileTest, TheTileOfPaddingIsClipped) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[14] pad(p, z), padding=3_1
    })");
  EXPECT_THAT(TileConditions(tile), IsEmpty());
  EXPECT_EQ(Text(tile.TileAt({4}, {0})), "0 size 1; exact; clipped");
  EXPECT_EQ(Text(tile.TileAt({4}, {1})), "1 size 4; exact");
  EXPECT_EQ(Text(tile.TileAt({4}, {3})), "9 size 1; exact; clipped");
  EXPECT_EQ(Text(tile.TileAt({2}, {0})), "0 size 0; exact; clipped; empty");
}

TEST_F(SymbolicTileTest, TheTileOfInteriorPaddingNeedsWholeSteps) {
  // Elements at 0, 3, 6, .. of the output.
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[30] pad(p, z), padding=0_2_2
    })");
  EXPECT_TRUE(IsExact(tile, {6}));
  EXPECT_FALSE(IsExact(tile, {4}));
  EXPECT_EQ(Text(tile.TileAt({6}, {2})), "4 size 2; exact");
  EXPECT_EQ(Text(tile.TileAt({1}, {1})), "0 size 0; exact; empty");
}

TEST_F(SymbolicTileTest, TheTileOfPaddingBelowDilatedWindowsIsFoundPointByPoint) {
  // d1 and s0 are known by their sum alone: even ones have elements.
  const SymbolicTile tile = Tile(
      "(d0, d1)[s0] -> (d0 + 1, (d1 + s0) floordiv 2), domain: d0 in [0, 7], d1 in [0, 12], "
      "s0 in [0, 2], (d1 + s0) mod 2 in [0, 0]");
  EXPECT_TRUE(IsExact(tile, {3, 2}));
  EXPECT_EQ(Text(tile.TileAt({3, 2}, {1, 1})), "4 size 3, 1 size 2; exact");
}

TEST_F(SymbolicTileTest, TheTileOfADynamicSliceBeginsAtItsStart) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      i = s32[] parameter(1)
      ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
    })");
  EXPECT_EQ(OffsetMapText(tile), "(k0)[t0]{rt0} -> (k0 * t0 + rt0)");
  EXPECT_EQ(Text(tile.TileAt({2}, {1})), "[2, 8] size 2; exact");
}

TEST_F(SymbolicTileTest, TheTileOfAGatherIsOneRowOfIndices) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[20,8] parameter(0)
      i = s32[6,1] parameter(1)
      ROOT r = f32[6,8] gather(p, i), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
    })");
  EXPECT_THAT(TileConditions(tile), ElementsAre("t0 = 1"));
  EXPECT_EQ(Text(tile.FullTile({1, 4})), "[0, 19] size 1, 0 size 4; exact");
  // Two rows can be any.
  EXPECT_EQ(Text(tile.FullTile({2, 4})), "0 size 20, 0 size 4; bounding");
}

TEST_F(SymbolicTileTest, TheTileOfResiduesThatRuntimeValuesDecideIsNotExact) {
  // Where rt0 is odd nothing is read.
  EXPECT_FALSE(IsExact(
      Tile("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 9], rt0 mod 2 in [0, 0]"),
      {4}));
}

TEST_F(SymbolicTileTest, AResultOfRuntimeValuesAloneIsOnePointWhateverTheirInterval) {
  const SymbolicTile tile =
      Tile("(d0){rt0} -> (d0, rt0 mod 2, rt0 floordiv 3), domain: d0 in [0, 7], rt0 in [0, inf]");
  EXPECT_TRUE(IsExact(tile, {4}));
  EXPECT_EQ(Text(tile.FullTile({4})), "0 size 4, [0, 1] size 1, [0, inf] size 1; exact");
  EXPECT_EQ(Text(tile.TileAt({4}, {1})), "4 size 4, [0, 1] size 1, [0, inf] size 1; exact");
}

TEST_F(SymbolicTileTest, TheTileOfAnOverApproximateMapIsABoxThatIsNotExact) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[4,4] parameter(0)
      u = f32[2,2] parameter(1)
      i = s32[] parameter(2)
      ROOT r = f32[4,4] dynamic-update-slice(p, u, i, i)
    })");
  EXPECT_FALSE(IsExact(tile, {1, 1}));
  EXPECT_FALSE(tile.IsOfExactMap());
  EXPECT_TRUE(tile.IsBox({1, 1})->IsYes());
  EXPECT_TRUE(tile.IsBox({3, 2})->IsYes());
  EXPECT_THAT(TileConditions(tile), IsEmpty());
}

TEST_F(SymbolicTileTest, TheTileOfAnUnknownMapIsAnError) {
  const auto tile = SymbolicTile::Of(OperandIndexing::Unknown(&context_, "for a test"));
  EXPECT_EQ(tile.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(tile.status().message(), HasSubstr("for a test"));
}

TEST_F(SymbolicTileTest, TheTileOfAScalarHasNoSizes) {
  const SymbolicTile tile = Tile("()[s0] -> (s0), domain: s0 in [0, 4]");
  EXPECT_EQ(Text(tile.TileAt({}, {})), "0 size 5; exact");
}

TEST_F(SymbolicTileTest, TheTileOfAnEmptyArrayIsEmpty) {
  const SymbolicTile tile =
      SymbolicTile::OfMap(IndexingMap::MakeEmpty(&context_, 1, 0, 0, 1), {0}).value();
  EXPECT_EQ(Text(tile.TileAt({1}, {0})), "0 size 0; exact; clipped; empty");
}

TEST_F(SymbolicTileTest, SizesAndIndicesAreChecked) {
  const SymbolicTile tile = Tile("(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 5]");
  EXPECT_EQ(Text(tile.FullTile({4})), "1 tile sizes for an array of 2 dimensions");
  EXPECT_EQ(Text(tile.FullTile({4, 1, 1})), "3 tile sizes for an array of 2 dimensions");
  EXPECT_EQ(Text(tile.FullTile({0, 1})), "tile size 0 of dimension 0 is below 1");
  EXPECT_EQ(Text(tile.FullTile({1, -2})), "tile size -2 of dimension 1 is below 1");
  EXPECT_EQ(Text(tile.TileAt({3, 6}, {3, 0})),
            "tile 3 of dimension 0, which has 3 tiles of size 3");
  EXPECT_EQ(Text(tile.TileAt({3, 6}, {-1, 0})),
            "tile -1 of dimension 0, which has 3 tiles of size 3");
  EXPECT_EQ(Text(tile.TileAt({3, 6}, {1})), "a tile index of 1 numbers for 2 sizes");
}

TEST_F(SymbolicTileTest, TheTileOfALargerSizeThanTheDimensionKeepsItWhereBoundsMaskIt) {
  const SymbolicTile plain = Tile("(d0, d1) -> (d1, -d0 + 6), domain: d0 in [0, 6], d1 in [0, 4]");
  EXPECT_THAT(*plain.CountedSizes({8, 8}), ElementsAre(8, 8));
  EXPECT_EQ(Text(plain.FullTile({8, 8})), "0 size 8, 6 size 8 stride -1; exact");
  EXPECT_EQ(Text(plain.TileAt({8, 8}, {0, 0})), "0 size 5, 6 size 7 stride -1; exact; clipped");
  EXPECT_THAT(plain.Bounds(), ElementsAre(Interval::Closed(0, 4), Interval::Closed(0, 6)));
  EXPECT_TRUE(plain.IsExactWhenMasked({8, 8})->IsYes());
  // Rows of 8 end at 5, where the next row begins. The last row has nothing after it, and where
  // rows are whole so has the last of them.
  const SymbolicTile joined = Tile("(d0, d1) -> (d0 * 5 + d1), domain: d0 in [0, 6], d1 in [0, 4]");
  EXPECT_THAT(*joined.CountedSizes({8, 8}), ElementsAre(8, 5));
  EXPECT_THAT(*joined.CountedSizes({8, 4}), ElementsAre(7, 4));
  EXPECT_EQ(Text(joined.FullTile({8, 8})), "0 size 40; exact");
  EXPECT_TRUE(joined.IsExactWhenMasked({8, 8})->IsYes());
}

TEST_F(SymbolicTileTest, TheTileOfPaddingIsMaskedByItsBounds) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      z = f32[] constant(0)
      ROOT r = f32[14] pad(p, z), padding=3_1
    })");
  EXPECT_THAT(tile.Bounds(), ElementsAre(Interval::Closed(0, 9)));
  for (int64_t size = 1; size <= 20; ++size) {
    EXPECT_TRUE(tile.IsExactWhenMasked({size})->IsYes()) << size;
  }
}

TEST_F(SymbolicTileTest, TheTileOfPaddedWindowsIsMaskedByTheConstraintOnTheResult) {
  const SymbolicTile tile = Tile(
      "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 9], s0 in [0, 2], d0 * 2 + s0 in [1, 20]");
  EXPECT_THAT(tile.Bounds(), ElementsAre(Interval::Closed(0, 19)));
  EXPECT_TRUE(tile.IsExactWhenMasked({4})->IsYes());
  EXPECT_TRUE(tile.IsExactWhenMasked({16})->IsYes());
}

TEST_F(SymbolicTileTest, TheTileOfHalfRowsIsNotMaskedByBounds) {
  // Two halves of rows of 8 are 5 and 3 long. What the second one lacks is the next row's.
  const SymbolicTile tile = Tile("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]");
  EXPECT_TRUE(tile.IsExactWhenMasked({1, 5})->IsNo());
  EXPECT_TRUE(tile.CoversWhenMasked({1, 5})->IsYes());
}

TEST_F(SymbolicTileTest, TheTileOfTrianglesIsCoveredAndNotJustRead) {
  const SymbolicTile tile =
      Tile("(d0)[s0] -> (d0, s0), domain: d0 in [0, 7], s0 in [0, 7], d0 - s0 in [0, 7]");
  EXPECT_TRUE(tile.IsExactWhenMasked({2})->IsNo());
  EXPECT_TRUE(tile.CoversWhenMasked({2})->IsYes());
}

TEST_F(SymbolicTileTest, TheTileOfRuntimeOffsetsIsMaskedRelativeToThem) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      i = s32[] parameter(1)
      ROOT r = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
    })");
  EXPECT_THAT(tile.Bounds(), ElementsAre(Interval::Closed(0, 3)));
  EXPECT_EQ(tile.RuntimeOffsets()[0].ToString(), "rt0");
  EXPECT_TRUE(tile.IsExactWhenMasked({3})->IsYes());
  // A window that the array's end cuts is cut relative to the runtime value.
  const SymbolicTile cut =
      Tile("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 7], rt0 in [0, 9], d0 + rt0 in [0, 12]");
  EXPECT_THAT(cut.Bounds(), ElementsAre(Interval::Closed(0, 7)));
  EXPECT_TRUE(cut.IsExactWhenMasked({3})->IsNo());
  EXPECT_TRUE(cut.CoversWhenMasked({3})->IsYes());
}

TEST_F(SymbolicTileTest, TheTileOfRowsThatAreGatheredIsMaskedForSingleRows) {
  const SymbolicTile tile = OfRoot(R"(
    ENTRY e {
      p = f32[20,8] parameter(0)
      i = s32[6,1] parameter(1)
      ROOT r = f32[6,8] gather(p, i), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
    })");
  EXPECT_TRUE(tile.IsExactWhenMasked({1, 3})->IsYes());
  EXPECT_TRUE(tile.IsExactWhenMasked({2, 3})->IsNo());
  EXPECT_TRUE(tile.CoversWhenMasked({2, 3})->IsNo());
}

TEST_F(SymbolicTileTest, ASingleElementIsATileWhateverTheMap) {
  const SymbolicTile tile = Tile(
      "(d0, d1) -> ((d0 * 6 + d1) floordiv 9, (d0 * 6 + d1) mod 9), domain: d0 in [0, 5999999], "
      "d1 in [0, 5]");
  EXPECT_TRUE(tile.IsExactWhenMasked({1, 1})->IsYes());
  EXPECT_TRUE(tile.CoversWhenMasked({1, 1})->IsYes());
  EXPECT_TRUE(tile.IsExactWhenMasked({1, 2})->IsUndecided());
}

TEST_F(SymbolicTileTest, TheTileOfManyTilesIsMaskedWithoutLookingAtEach) {
  const SymbolicTile tile = Tile(
      "(d0, d1) -> (d1, d0 * 1000 + 5), domain: d0 in [7, 1000000000000], d1 in [0, 999999999]");
  EXPECT_TRUE(tile.IsExactWhenMasked({64, 48})->IsYes());
}

// No combination of the conditions on dimensions is written out.
TEST_F(SymbolicTileTest, TheTileOfManyJoinedDimensionsHasAConditionForEach) {
  std::vector<std::string> dims;
  std::vector<std::string> results;
  std::string domain;
  for (int group = 0; group < 6; ++group) {
    std::string sum;
    for (int i = 0; i < 4; ++i) {
      const int dim = group * 4 + i;
      dims.push_back(absl::StrCat("d", dim));
      absl::StrAppend(&sum, i == 0 ? "" : " + ", "d", dim, " * ", 1 << (2 * (3 - i)));
      absl::StrAppend(&domain, ", d", dim, " in [0, 3]");
    }
    results.push_back(sum);
  }
  const SymbolicTile tile =
      Tile(absl::StrCat("(", absl::StrJoin(dims, ", "), ") -> (", absl::StrJoin(results, ", "),
                        "), domain: ", domain.substr(2)));
  EXPECT_EQ(TileConditions(tile).size(), 6 * 3);
  Sizes sizes(24, 4);
  EXPECT_TRUE(IsExact(tile, sizes));
  sizes[2] = 2;
  EXPECT_FALSE(IsExact(tile, sizes));
  sizes[0] = sizes[1] = 1;
  EXPECT_TRUE(IsExact(tile, sizes));
}

// The first tile lies in one row; the second has the end of it and the beginning of the next.
TEST_F(SymbolicTileTest, TheBoxOfATileTooLargeToLookAtHoldsEveryTile) {
  const SymbolicTile tile =
      Tile("(d0) -> (d0 floordiv 1000, d0 mod 1000), domain: d0 in [0, 9999999]");
  const auto full = tile.FullTile({600});
  ASSERT_TRUE(full.ok());
  EXPECT_FALSE(full->is_exact);
  EXPECT_GE(full->ranges[0].size, 2);
  EXPECT_EQ(full->ranges[1].size, 1000);
}

TEST_F(SymbolicTileTest, NumbersPastInt64AreNoNumbers) {
  const SymbolicTile tile =
      Tile("(d0) -> (d0 * 4611686018427387904), domain: d0 in [0, 9223372036854775806]");
  const auto last = tile.TileAt({1}, {9223372036854775806});
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE(last->ranges[0].offset.IsAll());
  EXPECT_TRUE(tile.TileAt({9223372036854775807}, {0}).ok());
}

}  // namespace
}  // namespace xla_indexing::internal
