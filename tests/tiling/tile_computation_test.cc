#include "xla_indexing/tiling/tile_computation.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using TileSizesOf = std::vector<int64_t>;

constexpr char kSoftmax[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
  ENTRY e {
    p = f32[64,128] parameter(0)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[64] reduce(p, lowest), dimensions={1}, to_apply=max
    mb = f32[64,128] broadcast(m), dimensions={0}
    s = f32[64,128] subtract(p, mb)
    x = f32[64,128] exponential(s)
    d = f32[64] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[64,128] broadcast(d), dimensions={0}
    ROOT q = f32[64,128] divide(x, db)
  })";

class TileComputationTest : public ::testing::Test {
 protected:
  absl::StatusOr<TiledComputation> Tiled(const std::string& text) {
    auto module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    return TileComputation(*modules_.back()->entry_computation(), &context_);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

// The sizes of the tiles of each instruction.
std::map<std::string, std::multiset<TileSizesOf>> TileSizes(const TiledComputation& tiled,
                                                            const TileSizesOf& sizes) {
  std::map<std::string, std::multiset<TileSizesOf>> all;
  const auto tiles = tiled.TilesOf(sizes);
  EXPECT_TRUE(tiles.ok()) << tiles.status();
  if (!tiles.ok()) return all;
  for (size_t i = 0; i < tiles->size(); ++i) {
    TileSizesOf own;
    for (const TileRange& range : (*tiles)[i].ranges) own.push_back(range.size);
    all[std::string(tiled.instructions()[i].instruction->name())].insert(own);
  }
  return all;
}

TEST_F(TileComputationTest, InstructionsHaveATileForEachWayInWhichTheyAreRead) {
  const auto tiled = Tiled(kSoftmax);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  auto sizes = TileSizes(*tiled, {4, 32});
  // The quotient reads its own exponentials, and those of its rows for their sum.
  EXPECT_THAT(sizes["q"], ElementsAre(TileSizesOf{4, 32}));
  EXPECT_THAT(sizes["x"], UnorderedElementsAre(TileSizesOf{4, 32}, TileSizesOf{4, 128}));
  EXPECT_THAT(sizes["d"], ElementsAre(TileSizesOf{4}));
  // Through either exponential it is the same rows' maximum.
  EXPECT_THAT(sizes["m"], ElementsAre(TileSizesOf{4}));
  EXPECT_THAT(sizes["p"], UnorderedElementsAre(TileSizesOf{4, 32}, TileSizesOf{4, 128}));
  EXPECT_THAT(tiled->Conditions(), IsEmpty());
}

TEST_F(TileComputationTest, BytesAreThoseOfParametersAndResult) {
  const auto tiled = Tiled(kSoftmax);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  // The result, and the parameter as it is and in whole rows.
  EXPECT_EQ(*tiled->BytesOf({4, 32}), 4 * (4 * 32 + 4 * 32 + 4 * 128));
}

TEST_F(TileComputationTest, NoTileIsLargerThanItsArray) {
  const auto tiled = Tiled(R"(
    ENTRY e {
      p = f32[4] parameter(0)
      q = f32[5] parameter(1)
      ROOT c = f32[9] concatenate(p, q), dimensions={0}
    })");
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  EXPECT_EQ(*tiled->BytesOf({9}), 4 * (9 + 4 + 5));
}

TEST_F(TileComputationTest, GoodSizesAreExactAndWithinTheBudget) {
  const auto tiled = Tiled(R"(
    ENTRY e {
      p = f32[6,8] parameter(0)
      r = f32[48] reshape(p)
      ROOT n = f32[48] negate(r)
    })");
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  EXPECT_THAT(tiled->Conditions(), ElementsAre("8 mod t0 = 0 or t0 mod 8 = 0"));
  std::vector<TileSizesOf> sizes;
  int64_t last = INT64_MAX;
  for (const GoodTileSizes& good : tiled->FindGoodTileSizes(/*max_bytes=*/200)) {
    EXPECT_LE(good.bytes, last);
    last = good.bytes;
    sizes.push_back(good.sizes);
  }
  // The candidates are the divisors 1, 2, 3, 4, 6, 8, 12, 16, 24 and 48 of 48 and the powers of
  // two. Good are those that divide 8 or are multiples of it and fit: the tiles of parameter and
  // root both have 4 bytes an element.
  EXPECT_THAT(sizes, ElementsAre(TileSizesOf{24}, TileSizesOf{16}, TileSizesOf{8}, TileSizesOf{4},
                                 TileSizesOf{2}, TileSizesOf{1}));
}

TEST_F(TileComputationTest, RootsOfOneShapeShareSizesAndOthersHaveTheirOwn) {
  const auto tiled = Tiled(R"(
    ENTRY e {
      p = f32[6,8] parameter(0)
      a = f32[6,8] negate(p)
      t = f32[8,6] transpose(p), dimensions={1,0}
      b = f32[6,8] exponential(a)
      ROOT r = (f32[6,8], f32[8,6], f32[6,8]) tuple(a, t, b)
    })");
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  EXPECT_THAT(tiled->dim_sizes(), ElementsAre(6, 8, 8, 6));
  ASSERT_EQ(tiled->roots().size(), 3);
  EXPECT_EQ(tiled->roots()[0].first_size, 0);
  EXPECT_EQ(tiled->roots()[1].first_size, 2);
  EXPECT_EQ(tiled->roots()[2].first_size, 0);
  EXPECT_THAT(TileSizes(*tiled, {2, 4, 1, 3})["p"],
              UnorderedElementsAre(TileSizesOf{2, 4}, TileSizesOf{3, 1}, TileSizesOf{2, 4}));
}

TEST_F(TileComputationTest, CandidatesAreAtMostAsManyAsAllowed) {
  const auto tiled = Tiled(R"(
    ENTRY e {
      p = f32[720,720,720,720] parameter(0)
      ROOT n = f32[720,720,720,720] negate(p)
    })");
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  const auto good = tiled->FindGoodTileSizes(INT64_MAX);
  EXPECT_LE(good.size(), 10000);
  EXPECT_GT(good.size(), 1000);
  // The whole array is one of them.
  EXPECT_THAT(good.front().sizes, ElementsAre(720, 720, 720, 720));
  EXPECT_LE(tiled->FindGoodTileSizes(INT64_MAX, 10).size(), 10);
}

TEST_F(TileComputationTest, WithoutAnArrayThereAreNoTiles) {
  EXPECT_EQ(Tiled("ENTRY e { ROOT t = token[] after-all() }").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TileComputationTest, SizesAreAsManyAsDimensions) {
  const auto tiled = Tiled(kSoftmax);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  EXPECT_EQ(tiled->IsExact({4}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(tiled->TilesOf({4, 5, 6}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(tiled->BytesOf({4, 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xla_indexing
