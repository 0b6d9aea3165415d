#include "xla_indexing/tiling/kernel/tiled_computation.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Sizes = std::vector<int64_t>;

constexpr char kCombiners[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
)";

constexpr char kMatmul[] = R"(
  ENTRY e {
    a = f32[64,128] parameter(0)
    b = f32[128,32] parameter(1)
    d = f32[64,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[64,32] negate(d)
  })";

constexpr char kSoftmax[] = R"(
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

class TiledComputationTest : public ::testing::Test {
 protected:
  TiledComputation Tiled(const std::string& text) {
    auto module = ParseAndVerifyModule(absl::StrCat(kCombiners, text));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    auto tiled = TiledComputation::Create(*modules_.back()->entry_computation(), &context_);
    EXPECT_TRUE(tiled.ok()) << tiled.status();
    return *std::move(tiled);
  }

  TileGraph Graph(const TiledComputation& tiled, const Sizes& sizes, std::vector<int> loops = {}) {
    auto graph = tiled.Instantiate(Tiling{sizes, std::move(loops)});
    EXPECT_TRUE(graph.ok()) << graph.status();
    return *std::move(graph);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

std::vector<const TileNode*> NodesOf(const TileGraph& graph, absl::string_view name) {
  std::vector<const TileNode*> nodes;
  for (const TileNode& node : graph.nodes()) {
    if (node.instruction->name() == name) nodes.push_back(&node);
  }
  return nodes;
}

// Where a node's tile begins at these indices.
Sizes OffsetAt(const TileGraph& graph, const TileNode& node, const Sizes& indices,
               const Sizes& runtimes = {}) {
  const auto offsets = graph.tile(node).offsets.Evaluate(indices, runtimes);
  EXPECT_TRUE(offsets.ok()) << offsets.status();
  return {offsets->begin(), offsets->end()};
}

// Every index of a box.
template <typename Visit>
void ForEachPointOf(absl::Span<const int64_t> sizes, Visit visit) {
  Sizes index(sizes.size(), 0);
  for (const int64_t size : sizes) {
    if (size < 1) return;
  }
  while (true) {
    visit(index);
    size_t i = sizes.size();
    while (i > 0 && ++index[i - 1] == sizes[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

Sizes SizesOf(const TileGraph& graph, const TileNode& node) {
  const auto& sizes = graph.tile(node).sizes;
  return {sizes.begin(), sizes.end()};
}

TEST_F(TiledComputationTest, ContractedDimensionsAreSequentialAndSharedByTheOperands) {
  const TiledComputation tiled = Tiled(kMatmul);
  const auto dims = tiled.space().dims();
  ASSERT_EQ(dims.size(), 3u);
  EXPECT_EQ(dims[0].name, "d0");
  EXPECT_EQ(dims[0].kind, TilingDimension::Kind::kParallel);
  EXPECT_EQ(dims[0].owner->name(), "r");
  EXPECT_EQ(dims[2].name, "k");
  EXPECT_EQ(dims[2].kind, TilingDimension::Kind::kSequential);
  EXPECT_EQ(dims[2].owner->name(), "d");
  EXPECT_EQ(dims[2].size, 128);
  EXPECT_THAT(tiled.Conditions(), IsEmpty());

  const TileGraph graph = Graph(tiled, {16, 16, 32});
  EXPECT_THAT(graph.num_tiles(), ElementsAre(4, 2, 4));
  ASSERT_THAT(NodesOf(graph, "a"), SizeIs(1));
  const TileNode& a = *NodesOf(graph, "a")[0];
  const TileNode& b = *NodesOf(graph, "b")[0];
  const TileNode& d = *NodesOf(graph, "d")[0];
  EXPECT_EQ(OffsetAt(graph, a, {3, 1, 2}), (Sizes{48, 64}));
  EXPECT_EQ(SizesOf(graph, a), (Sizes{16, 32}));
  EXPECT_EQ(OffsetAt(graph, b, {3, 1, 2}), (Sizes{64, 16}));
  EXPECT_EQ(SizesOf(graph, b), (Sizes{32, 16}));
  // The grid, and the loop that the dot accumulates over.
  ASSERT_EQ(graph.regions().size(), 2u);
  EXPECT_THAT(graph.regions()[0].trip_counts, ElementsAre(4, 2));
  EXPECT_THAT(graph.regions()[1].trip_counts, ElementsAre(4));
  EXPECT_EQ(&graph.nodes()[graph.regions()[1].accumulators[0]], &d);
  EXPECT_EQ(a.region, 1);
  EXPECT_EQ(b.region, 1);
  EXPECT_EQ(d.region, 0);
  EXPECT_EQ(d.loop, 1);
  ASSERT_EQ(d.operands.size(), 2u);
  EXPECT_EQ(&graph.nodes()[d.operands[0].node], &a);
  EXPECT_EQ(graph.NumExecutions(a), Interval::Point(4 * 2 * 4));
  EXPECT_TRUE(graph.IsExact());
}

TEST_F(TiledComputationTest, CostIsWhatIsLoadedAndStoredAndHeldAtATime) {
  const TileCost cost = Graph(Tiled(kMatmul), {16, 16, 32}).Cost();
  // Tiles of a and b, of 16 x 32 and 32 x 16, beside the accumulator of 16 x 16.
  EXPECT_EQ(cost.resident_bytes, 4 * (16 * 32 + 32 * 16 + 16 * 16));
  // All of a for each of 2 columns of tiles, of b for each of 4 rows, and the result once.
  EXPECT_EQ(cost.moved_bytes, 4 * (64 * 128 * 2 + 128 * 32 * 4 + 64 * 32));
  EXPECT_EQ(cost.num_loads, 2 * (4 * 2 * 4));
  EXPECT_EQ(cost.num_stores, 8);
  EXPECT_EQ(cost.num_programs, 8);
}

TEST_F(TiledComputationTest, MaskedElementsAreNotMoved) {
  const TiledComputation tiled = Tiled(kMatmul);
  // 64 in tiles of 24: 24, 24, 16. 32 in one tile of 64. 128 in tiles of 50: 50, 50, 28.
  const TileGraph graph = Graph(tiled, {24, 64, 50});
  EXPECT_THAT(graph.num_tiles(), ElementsAre(3, 1, 3));
  const TileNode& a = *NodesOf(graph, "a")[0];
  EXPECT_EQ(OffsetAt(graph, a, {2, 0, 2}), (Sizes{48, 100}));
  EXPECT_EQ(SizesOf(graph, a), (Sizes{24, 50}));
  EXPECT_EQ(graph.tile(a).bounds[0], Interval::Closed(0, 63));
  EXPECT_EQ(graph.tile(a).bounds[1], Interval::Closed(0, 127));
  // b is read for each of the 3 rows of tiles.
  EXPECT_EQ(graph.Cost().moved_bytes, 4 * (64 * 128 + 128 * 32 * 3 + 64 * 32));
}

TEST_F(TiledComputationTest, TilesThatAreEqualAtTheSizesAreOneNode) {
  const TiledComputation tiled = Tiled(kSoftmax);
  ASSERT_EQ(tiled.space().num_dims(), 4);
  // Whole rows: elements, maximum and sum are computed from one tile of the parameter.
  const TileGraph rows = Graph(tiled, {4, 128, 128, 128});
  EXPECT_THAT(NodesOf(rows, "p"), SizeIs(1));
  EXPECT_THAT(NodesOf(rows, "x"), SizeIs(1));
  EXPECT_EQ(rows.Cost().resident_bytes, 4 * (4 * 128 + 4 * 128));
  EXPECT_EQ(rows.Cost().moved_bytes, 4 * (64 * 128 + 64 * 128));
  // Pieces of 32: each program of the grid goes over its rows for the maximum and the sum.
  const TileGraph pieces = Graph(tiled, {4, 32, 128, 128});
  EXPECT_THAT(NodesOf(pieces, "p"), SizeIs(2));
  EXPECT_EQ(pieces.Cost().moved_bytes, 4 * (64 * 128 + 4 * 64 * 128 + 64 * 128));
}

TEST_F(TiledComputationTest, TilesThatALoopDoesNotMoveAreComputedOnce) {
  const TiledComputation tiled = Tiled(kSoftmax);
  const TileGraph graph = Graph(tiled, {4, 32, 64, 16}, {1});
  const TileNode& m = *NodesOf(graph, "m")[0];
  const TileNode& d = *NodesOf(graph, "d")[0];
  const TileNode& q = *NodesOf(graph, "q")[0];
  EXPECT_EQ(graph.NumExecutions(m), Interval::Point(16));
  EXPECT_EQ(graph.NumExecutions(d), Interval::Point(16));
  EXPECT_EQ(graph.NumExecutions(q), Interval::Point(16 * 4));
  EXPECT_EQ(graph.regions()[q.region].kind, TileRegion::Kind::kParallelLoop);
  // The parameter three times, for the maximum, the sum and the quotient, and the result.
  EXPECT_EQ(graph.Cost().moved_bytes, 4 * 4 * 64 * 128);
  EXPECT_EQ(graph.Cost().num_programs, 16);
  // Without the loop each of the 4 pieces of a row needs its maximum and its sum anew.
  EXPECT_EQ(Graph(tiled, {4, 32, 64, 16}).Cost().moved_bytes, 4 * (4 + 4 + 1 + 1) * 64 * 128);
}

TEST_F(TiledComputationTest, TheSearchCutsTheContractionOfAMatmul) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      a = f32[1024,4096] parameter(0)
      b = f32[4096,1024] parameter(1)
      bias = f32[1024] parameter(2)
      d = f32[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      biases = f32[1024,1024] broadcast(bias), dimensions={1}
      y = f32[1024,1024] add(d, biases)
      ROOT r = f32[1024,1024] tanh(y)
    })");
  const TilingSearch search = tiled.FindTilings();
  ASSERT_FALSE(search.tilings.empty());
  const CostedTiling& best = search.tilings.front();
  EXPECT_LE(best.cost.resident_bytes, 48 << 10);
  EXPECT_LE(best.cost.moved_bytes, 600'000'000);
  EXPECT_FALSE(search.is_complete);
  EXPECT_LE(search.num_tried, TilingSearchOptions().max_tried);
}

TEST_F(TiledComputationTest, TheSearchStreamsARowThatDoesNotFit) {
  const std::string text = kSoftmax;
  std::string large;
  for (size_t i = 0; i < text.size(); ++i) {
    // f32[32,65536] instead of f32[64,128].
    if (text.compare(i, 6, "64,128") == 0) {
      large += "32,65536";
      i += 5;
    } else if (text.compare(i, 7, "f32[64]") == 0) {
      large += "f32[32]";
      i += 6;
    } else {
      large += text[i];
    }
  }
  const TiledComputation tiled = Tiled(large);
  const TilingSearch search = tiled.FindTilings();
  ASSERT_FALSE(search.tilings.empty());
  const CostedTiling& best = search.tilings.front();
  // Three times through the rows, and the result; a row has 256 KiB.
  EXPECT_EQ(best.cost.moved_bytes, int64_t{4} * 4 * 32 * 65536);
  EXPECT_THAT(best.tiling.loops, ElementsAre(1));
  // With room for rows each is loaded once.
  TilingSearchOptions options;
  options.max_resident_bytes = 2 << 20;
  EXPECT_EQ(tiled.FindTilings(options).tilings.front().cost.moved_bytes,
            int64_t{2} * 4 * 32 * 65536);
}

TEST_F(TiledComputationTest, AttentionIsComputedWithoutTheMatrixOfScores) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      q = f32[512,64] parameter(0)
      k = f32[512,64] parameter(1)
      v = f32[512,64] parameter(2)
      lowest = f32[] constant(-inf)
      zero = f32[] constant(0)
      s = f32[512,512] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
      m = f32[512] reduce(s, lowest), dimensions={1}, to_apply=max
      mb = f32[512,512] broadcast(m), dimensions={0}
      t = f32[512,512] subtract(s, mb)
      x = f32[512,512] exponential(t)
      d = f32[512] reduce(x, zero), dimensions={1}, to_apply=add
      db = f32[512,512] broadcast(d), dimensions={0}
      w = f32[512,512] divide(x, db)
      ROOT o = f32[512,64] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    })");
  // By bytes alone: 8 programs are too few for a machine.
  TilingSearchOptions options;
  options.time = [](const TileCost& cost) { return static_cast<double>(cost.moved_bytes); };
  const TilingSearch search = tiled.FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  // Rows of 64 queries: q and the result once, k three times and v once for each of 8 blocks.
  const int64_t array = int64_t{4} * 512 * 64;
  EXPECT_LE(search.tilings.front().cost.moved_bytes, (2 + 8 * 4) * array);
}

TEST_F(TiledComputationTest, LayerNormHasGoodSizes) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[256,1024] parameter(0)
      zero = f32[] constant(0)
      scale = f32[] constant(0.0009765625)
      sum = f32[256] reduce(p, zero), dimensions={1}, to_apply=add
      scales = f32[256] broadcast(scale), dimensions={}
      mean = f32[256] multiply(sum, scales)
      means = f32[256,1024] broadcast(mean), dimensions={0}
      c = f32[256,1024] subtract(p, means)
      c2 = f32[256,1024] multiply(c, c)
      sum2 = f32[256] reduce(c2, zero), dimensions={1}, to_apply=add
      var = f32[256] multiply(sum2, scales)
      inv = f32[256] rsqrt(var)
      invs = f32[256,1024] broadcast(inv), dimensions={0}
      ROOT r = f32[256,1024] multiply(c, invs)
    })");
  // Whole rows of 4 KiB: everything is moved once.
  EXPECT_EQ(tiled.FindTilings().tilings.front().cost.moved_bytes, 2 * 4 * 256 * 1024);
}

TEST_F(TiledComputationTest, ACallersPredicateChoosesAmongTilings) {
  const TiledComputation tiled = Tiled(kMatmul);
  TilingSearchOptions options;
  options.accept = [](const Tiling& tiling, const TileGraph& graph) {
    EXPECT_EQ(graph.sizes().size(), 3u);
    return tiling.sizes[2] == 8 && tiling.loops.empty();
  };
  const TilingSearch search = tiled.FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  for (const CostedTiling& found : search.tilings) EXPECT_EQ(found.tiling.sizes[2], 8);
}

TEST_F(TiledComputationTest, SmallSpacesAreSearchedCompletely) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[6,8] parameter(0)
      r = f32[48] reshape(p)
      ROOT n = f32[48] negate(r)
    })");
  TilingSearchOptions options;
  options.max_resident_bytes = 400;
  options.max_returned = 100;
  const TilingSearch search = tiled.FindTilings(options);
  EXPECT_TRUE(search.is_complete);
  std::set<int64_t> sizes;
  for (const CostedTiling& found : search.tilings) sizes.insert(found.tiling.sizes[0]);
  // Rows of 8: sizes that divide 8 or are multiples of it, of the divisors of 48 and the powers of
  // two. 32 does not divide 48: its second tile is masked.
  EXPECT_THAT(sizes, ElementsAre(1, 2, 4, 8, 16, 24, 32, 48));
}

TEST_F(TiledComputationTest, RootsShareDimensionsWhereTheirMapsSaySo) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[6,8] parameter(0)
      z = f32[] constant(0)
      n = f32[6,8] negate(p)
      t = f32[8,6] transpose(n), dimensions={1,0}
      s = f32[6] reduce(n, z), dimensions={1}, to_apply=add
      other = f32[6] parameter(1)
      o = f32[6] negate(other)
      ROOT r = (f32[6,8], f32[8,6], f32[6], f32[6]) tuple(n, t, s, o)
    })");
  const auto roots = tiled.space().roots();
  ASSERT_EQ(roots.size(), 4u);
  EXPECT_THAT(roots[0].dims, ElementsAre(0, 1));
  // The transpose reads n with its dimensions exchanged, the sum reads it row by row; the last root
  // has the dimensions of the sum.
  EXPECT_THAT(roots[1].dims, ElementsAre(1, 0));
  EXPECT_THAT(roots[2].dims, ElementsAre(0));
  EXPECT_THAT(roots[3].dims, ElementsAre(0));
  const TileGraph graph = Graph(tiled, {2, 4, 8});
  ASSERT_EQ(graph.stores().size(), 4u);
  // Both tiles of columns store the same sums.
  EXPECT_THAT(graph.stores()[0].repeated_dims, IsEmpty());
  EXPECT_THAT(graph.stores()[2].repeated_dims, ElementsAre(1));
  EXPECT_THAT(graph.regions()[0].trip_counts, ElementsAre(3, 2));
}

TEST_F(TiledComputationTest, RootsThatHaveNothingInCommonHaveGridsOfTheirOwn) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[6] parameter(0)
      q = f32[10] parameter(1)
      a = f32[6] negate(p)
      b = f32[10] negate(q)
      ROOT r = (f32[6], f32[10]) tuple(a, b)
    })");
  const TileGraph graph = Graph(tiled, {2, 5});
  ASSERT_EQ(graph.regions().size(), 2u);
  EXPECT_EQ(graph.regions()[1].parent, -1);
  EXPECT_EQ(graph.Cost().num_programs, 3 + 2);
  EXPECT_EQ(graph.Cost().moved_bytes, 4 * 2 * (6 + 10));
}

// A piece whose tile is the same for all programs: one row, or a broadcast.
TEST_F(TiledComputationTest, PiecesThatDoNotMoveAreLoadedByTheTilesThatHaveThem) {
  struct Case {
    std::string body;
    Sizes sizes;
    int64_t loads = 0;
    int64_t elements = 0;  // loaded and stored
  };
  const std::string rows = "x = f32[64,32] parameter(0)  t = f32[1,32] parameter(1)  ";
  const std::string roll =
      "x = f32[64,32] parameter(0)  a = f32[1,32] slice(x), slice={[63:64], [0:32]}  b = "
      "f32[63,32] "
      "slice(x), slice={[0:63], [0:32]}  ROOT c = f32[64,32] concatenate(a, b), dimensions={0}";
  const std::string row_in_front =
      "t = f32[1,32] parameter(0)  x = f32[63,32] parameter(1)  ROOT c = f32[64,32] concatenate(t, "
      "x), dimensions={0}";
  const std::string column_behind =
      "x = f32[64,31] parameter(0)  t = f32[64,1] parameter(1)  ROOT c = f32[64,32] concatenate(x, "
      "t), dimensions={1}";
  const std::string overwritten =
      rows +
      "z = s32[] constant(0)  five = s32[] constant(5)  ROOT c = f32[64,32] "
      "dynamic-update-slice(x, t, five, z)";
  const std::string padded =
      "t = f32[1,32] parameter(0)  z = f32[] constant(0)  ROOT c = f32[64,32] pad(t, z), "
      "padding=5_58x0_0";
  const std::string broadcast =
      "v = f32[32] parameter(0)  x = f32[56,32] parameter(1)  b = f32[8,32] broadcast(v), "
      "dimensions={1}  ROOT c = f32[64,32] concatenate(b, x), dimensions={0}";
  const std::string twice =
      "v = f32[32] parameter(0)  x = f32[48,32] parameter(1)  b = f32[8,32] broadcast(v), "
      "dimensions={1}  ROOT c = f32[64,32] concatenate(b, x, b), dimensions={0}";
  const int64_t all = 64 * 32;
  for (const Case& c : {
           Case{roll, {1, 32}, 64, 2 * all},
           // The first of 32 tiles loads the last row as well as its own one.
           Case{roll, {2, 32}, 33, 2 * all},
           Case{row_in_front, {1, 32}, 64, 2 * all},
           Case{row_in_front, {4, 16}, 2 * 17, 2 * all},
           Case{column_behind, {1, 1}, all, 2 * all},
           Case{column_behind, {8, 16}, 8 * 3, 2 * all},
           // All of what is written to is loaded, as where two rows are written.
           Case{overwritten, {1, 32}, 64 + 1, 2 * all + 32},
           Case{padded, {1, 32}, 1, all + 32},
           Case{padded, {3, 8}, 4, all + 32},
           Case{broadcast, {8, 32}, 8, 56 * 32 + 32 + all},
           // Rows 0 to 7 are in tiles 0 to 2, rows from 8 on in tiles 2 to 21.
           Case{broadcast, {3, 32}, 3 + 20, 56 * 32 + 3 * 32 + all},
           Case{twice, {8, 32}, 8, 48 * 32 + 2 * 32 + all},
           Case{twice, {64, 32}, 2, 48 * 32 + 32 + all},
       }) {
    SCOPED_TRACE(absl::StrCat(c.body, " in tiles of ", absl::StrJoin(c.sizes, ", ")));
    const TileCost cost = Graph(Tiled("ENTRY e { " + c.body + " }"), c.sizes).Cost();
    EXPECT_EQ(cost.num_loads, c.loads);
    EXPECT_EQ(cost.moved_bytes, 4 * c.elements);
    EXPECT_TRUE(cost.is_exact);
  }
}

TEST_F(TiledComputationTest, ALoopDoesNotLoadWhatNoneOfItsStepsNeeds) {
  const TiledComputation tiled = Tiled(
      "ENTRY e { t = f32[1,32] parameter(0)  x = f32[63,32] parameter(1)  ROOT c = f32[64,32] "
      "concatenate(t, x), dimensions={0} }");
  // Loops over rows: each program needs the row in front, and loads it before its loop.
  const TileGraph over_rows = Graph(tiled, {1, 16}, {0});
  EXPECT_EQ(over_rows.NumExecutions(*NodesOf(over_rows, "t")[0]), Interval::Point(2));
  // Loops over columns: the first of 64 programs alone needs it, in each of two steps.
  const TileGraph over_columns = Graph(tiled, {1, 16}, {1});
  EXPECT_EQ(over_columns.NumExecutions(*NodesOf(over_columns, "t")[0]), Interval::Point(2));
  EXPECT_EQ(over_columns.Cost().num_loads, 2 * 64);
}

TEST_F(TiledComputationTest, WhatIsReadWhereTheProgramSaysIsLoadedAtMost) {
  const TiledComputation tiled = Tiled(
      "ENTRY e { x = f32[64] parameter(0)  t = f32[1] parameter(1)  i = s32[] parameter(2)  ROOT c "
      "= "
      "f32[64] dynamic-update-slice(x, t, i) }");
  const TileGraph graph = Graph(tiled, {1});
  EXPECT_FALSE(graph.Cost().is_exact);
  EXPECT_EQ(graph.NumExecutions(*NodesOf(graph, "t")[0]), Interval::Closed(0, 64));
}

TEST(TileGraphLifetimeTest, AGraphOutlivesItsModule) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = ParseModule(
      "f { x = f32[64,32] parameter(0)  i = s32[] parameter(1)  z = s32[] constant(0)  s = "
      "f32[8,32] "
      "dynamic-slice(x, i, z), dynamic_slice_sizes={8,32}  n = f32[8,32] negate(s)  ROOT t = "
      "(f32[8,32], f32[8,32]) tuple(n, s) } ENTRY e { x = f32[64,32] parameter(0)  i = s32[] "
      "parameter(1)  ROOT t = (f32[8,32], f32[8,32]) call(x, i), to_apply=f }");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto tiled = TiledComputation::Create(*(*module)->FindComputation("f"), &context);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  const std::vector<int64_t> sizes = {4, 32};
  const auto made = tiled->Instantiate(sizes);
  ASSERT_TRUE(made.ok()) << made.status();
  const TileGraph graph = *made;
  const std::string text = graph.ToString() + graph.space().ToString();
  const int64_t moved = graph.Cost().moved_bytes;
  EXPECT_THAT(text, testing::HasSubstr("x: parameter"));
  module->reset();
  EXPECT_EQ(graph.ToString() + graph.space().ToString(), text);
  EXPECT_EQ(graph.Cost().moved_bytes, moved);
  // And so does what other graphs are made of.
  EXPECT_EQ(tiled->Instantiate(sizes)->ToString(), graph.ToString());
}

TEST_F(TiledComputationTest, PiecesOfAConcatenateAreReadByTheTilesThatHaveThem) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[6] parameter(0)
      q = f32[10] parameter(1)
      ROOT c = f32[16] concatenate(p, q), dimensions={0}
    })");
  ASSERT_EQ(tiled.borders().size(), 1u);
  EXPECT_EQ(tiled.borders()[0].at, 6);
  const TileGraph graph = Graph(tiled, {2});
  EXPECT_EQ(graph.ActiveTiles(*NodesOf(graph, "p")[0]).indices[0], Interval::Closed(0, 2));
  EXPECT_EQ(graph.ActiveTiles(*NodesOf(graph, "q")[0]).indices[0], Interval::Closed(3, 7));
  // Tiles of 4: the second one, from 4 to 7, has elements of both.
  const TileGraph across = Graph(tiled, {4});
  EXPECT_EQ(across.ActiveTiles(*NodesOf(across, "p")[0]).indices[0], Interval::Closed(0, 1));
  EXPECT_EQ(across.ActiveTiles(*NodesOf(across, "q")[0]).indices[0], Interval::Closed(1, 3));
  EXPECT_EQ(OffsetAt(across, *NodesOf(across, "q")[0], {1}), (Sizes{-2}));
  EXPECT_EQ(across.Cost().moved_bytes, 4 * (16 + 16));
  EXPECT_EQ(across.Cost().num_loads, 2 + 3);
}

TEST_F(TiledComputationTest, RuntimeOffsetsMoveTiles) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[100] parameter(0)
      i = s32[] parameter(1)
      s = f32[16] dynamic-slice(p, i), dynamic_slice_sizes={16}
      ROOT n = f32[16] negate(s)
    })");
  ASSERT_EQ(tiled.space().runtimes().size(), 1u);
  EXPECT_EQ(tiled.space().runtimes()[0].owner->name(), "i");
  EXPECT_EQ(tiled.space().runtimes()[0].size, 85);
  const TileGraph graph = Graph(tiled, {5});
  const TileNode& p = *NodesOf(graph, "p")[0];
  ASSERT_EQ(graph.tile(p).runtimes.size(), 1u);
  EXPECT_EQ(graph.tile(p).runtimes[0].instruction->name(), "i");
  EXPECT_EQ(OffsetAt(graph, p, {2}, {40}), (Sizes{50}));
  // Less the runtime offset, indices are those of the slice.
  EXPECT_EQ(graph.tile(p).moved_bounds[0], Interval::Closed(0, 15));
  EXPECT_TRUE(p.is_exact);
}

TEST_F(TiledComputationTest, OperandsThatMayBeReadHaveTilesToo) {
  // A pad's value and an update's base are not read by all elements.
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[10] parameter(0)
      z = f32[] parameter(1)
      u = f32[4] parameter(2)
      i = s32[] parameter(3)
      b = f32[16] pad(p, z), padding=2_4
      ROOT r = f32[16] dynamic-update-slice(b, u, i)
    })");
  const TileGraph graph = Graph(tiled, {4});
  EXPECT_FALSE(NodesOf(graph, "z")[0]->is_exact);
  EXPECT_FALSE(NodesOf(graph, "p")[0]->is_exact);
  EXPECT_EQ(OffsetAt(graph, *NodesOf(graph, "p")[0], {0}), (Sizes{-2}));
  EXPECT_EQ(graph.tile(*NodesOf(graph, "p")[0]).bounds[0], Interval::Closed(0, 9));
}

// What each element of a tile of the result reads on other devices, by its map, is in the tile of the
// operand, on one of the tile's devices; and no more where the tile is exact.
TEST_F(TiledComputationTest, TilesOfOtherDevicesAreWhatIsReadThere) {
  int64_t made = 0;
  int64_t exact = 0;
  for (const HloOpcode opcode : {HloOpcode::kAllGather, HloOpcode::kAllReduce, HloOpcode::kAllToAll,
                                 HloOpcode::kCollectivePermute, HloOpcode::kReduceScatter,
                                 HloOpcode::kCollectiveBroadcast}) {
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const std::string text = RandomOperationModule(opcode, seed);
      SCOPED_TRACE(text);
      const auto module = ParseModule(text);
      ASSERT_TRUE(module.ok()) << module.status();
      const auto tiled = TiledComputation::Create(*(*module)->entry_computation(), &context_);
      ASSERT_TRUE(tiled.ok()) << tiled.status();
      Random random(seed);
      Sizes sizes;
      bool has_tiles = true;
      for (const TilingDimension& dim : tiled->space().dims()) {
        sizes.push_back(random.Between(1, dim.size + 1));
        has_tiles = has_tiles && dim.size > 0;
      }
      if (!has_tiles) continue;
      const auto graph = tiled->Instantiate(sizes);
      if (!graph.ok()) continue;
      ++made;
      for (const TiledComputation::Read& read : tiled->reads()) {
        const OperandIndexing& indexing = tiled->tiles()[read.tile].indexing;
        if (indexing.replica_map() == nullptr || indexing.map().num_runtimes() > 0) continue;
        // Reader, tile indices, device, element.
        std::set<std::tuple<int64_t, Sizes, int64_t, Sizes>> needed;
        const IndexingMap device_map = indexing.DeviceMap();
        const Interval readers = indexing.replica_map()->readers;
        ASSERT_TRUE(readers.IsFinite());
        const absl::Status visited = indexing.map().ForEachPoint(
            1 << 20, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                         llvm::ArrayRef<int64_t> results) {
              Sizes tile;
              for (size_t i = 0; i < dims.size(); ++i) tile.push_back(dims[i] / sizes[i]);
              for (int64_t reader = readers.lower(); reader <= readers.upper(); ++reader) {
                llvm::SmallVector<int64_t, 6> point(dims);
                point.push_back(reader);
                if (!*device_map.Contains(point, symbols)) continue;
                needed.emplace(reader, tile, (*device_map.Evaluate(point, symbols))[0],
                               Sizes(results.begin(), results.end()));
              }
            });
        ASSERT_TRUE(visited.ok()) << visited;
        // All that some node of this leaf has; the tiles of other reads of it count as well.
        std::set<std::tuple<int64_t, Sizes, int64_t, Sizes>> said;
        bool all_exact = true;
        for (const TileNode& node : graph->nodes()) {
          const MaskedTile& tile = graph->tile(node);
          if (node.instruction != read.instruction || !tile.devices) continue;
          all_exact = all_exact && node.is_exact;
          ForEachPointOf(graph->num_tiles(), [&](const Sizes& k) {
            Sizes box_sizes(tile.sizes.begin(), tile.sizes.end());
            const Sizes offset = OffsetAt(*graph, node, k);
            ForEachPointOf(box_sizes, [&](const Sizes& step) {
              Sizes element;
              for (size_t i = 0; i < step.size(); ++i) {
                element.push_back(offset[i] + step[i] * tile.strides[i]);
                if (!tile.bounds[i].Contains(element.back())) return;
              }
              IndexingMap devices = *tile.devices;
              for (size_t i = 0; i < k.size(); ++i) {
                devices.mutable_dim(static_cast<int>(i)).bounds = Interval::Point(k[i]);
              }
              ASSERT_TRUE(devices
                              .ForEachPoint(1 << 16,
                                            [&](llvm::ArrayRef<int64_t> dims,
                                                llvm::ArrayRef<int64_t> /*symbols*/,
                                                llvm::ArrayRef<int64_t> results) {
                                              said.emplace(dims.back(), k, results[0], element);
                                            })
                              .ok());
            });
          });
        }
        for (const auto& one : needed) EXPECT_TRUE(said.contains(one));
        if (!all_exact) continue;
        ++exact;
        if (tiled->reads().size() <= 2) {
          EXPECT_EQ(said.size(), needed.size());
        }
      }
    }
  }
  EXPECT_GT(made, 100);
  EXPECT_GT(exact, 50);
}

TEST_F(TiledComputationTest, LeavesOfOneContractionShareItsLoops) {
  const TiledComputation tiled = Tiled(R"(
    both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
           x = f32[] add(a, c) y = f32[] maximum(b, d) ROOT t = (f32[], f32[]) tuple(x, y) }
    ENTRY e {
      p = f32[8,32] parameter(0)
      q = f32[8,32] parameter(1)
      z = f32[] constant(0)
      r = (f32[8], f32[8]) reduce(p, q, z, z), dimensions={1}, to_apply=both
      x = f32[8] get-tuple-element(r), index=0
      y = f32[8] get-tuple-element(r), index=1
      ROOT s = f32[8] add(x, y)
    })");
  const TileGraph graph = Graph(tiled, {2, 8});
  ASSERT_EQ(graph.regions().size(), 2u);
  EXPECT_THAT(graph.regions()[1].accumulators, SizeIs(2));
  EXPECT_THAT(NodesOf(graph, "p"), SizeIs(1));
  EXPECT_EQ(graph.Cost().num_loads, 2 * 4 * 4);
}

TEST_F(TiledComputationTest, SizesThatAreNoBoxesAreRefused) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[6,8] parameter(0)
      ROOT r = f32[48] reshape(p)
    })");
  ASSERT_THAT(tiled.Conditions(), SizeIs(1));
  EXPECT_EQ(tiled.Conditions()[0].ToString(tiled.Names()), "8 mod d0 = 0 or d0 mod 8 = 0");
  const auto graph = tiled.Instantiate(Sizes{12});
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("p: what is read through"));
}

TEST_F(TiledComputationTest, ArraysWithoutElementsHaveNoPrograms) {
  const TiledComputation tiled = Tiled(R"(
    ENTRY e {
      p = f32[0,4] parameter(0)
      q = f32[3] parameter(1)
      a = f32[0,4] negate(p)
      b = f32[3] negate(q)
      ROOT r = (f32[0,4], f32[3]) tuple(a, b)
    })");
  const TileGraph graph = Graph(tiled, {1, 2, 2});
  EXPECT_EQ(graph.Cost().num_programs, 2);
  EXPECT_EQ(graph.Cost().moved_bytes, 4 * 2 * 3);
}

TEST_F(TiledComputationTest, ManyDimensionsAndInstructionsAreSearchedWithinTheTries) {
  std::string text = "ENTRY e { p = f32[4,6,2,8,3,4,2,5,4,2,6,2] parameter(0)\n";
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&text, "n", i, " = f32[4,6,2,8,3,4,2,5,4,2,6,2] negate(",
                    i == 0 ? "p" : absl::StrCat("n", i - 1), ")\n");
  }
  absl::StrAppend(&text, "ROOT r = f32[4,6,2,8,3,4,2,5,4,2,6,2] exponential(n199) }");
  const TiledComputation tiled = Tiled(text);
  const TilingSearch search = tiled.FindTilings();
  ASSERT_FALSE(search.tilings.empty());
  EXPECT_FALSE(search.is_complete);
  EXPECT_LE(search.num_tried, TilingSearchOptions().max_tried);
}

TEST_F(TiledComputationTest, SizesHaveNamesAndPositions) {
  const TilingSpace space = Tiled(kMatmul).space();
  EXPECT_EQ(*space.ParseSizes("d0=64,d1=16,k=32"), (Sizes{64, 16, 32}));
  EXPECT_EQ(*space.ParseSizes("k0=32, d1=16, d0=64"), (Sizes{64, 16, 32}));
  EXPECT_EQ(*space.ParseSizes("64,16,32"), (Sizes{64, 16, 32}));
  // Sequential dimensions are whole unless a size is given.
  EXPECT_EQ(*space.ParseSizes("64,16"), (Sizes{64, 16, 128}));
  for (const char* text : {"", "64", "64,16,32,1", "d0=1,d1=1,x=1", "1,1,0", "1,1,-1", "d0=,d1=1",
                           "d0=1,d0=1,d1=1", "d0=1,1,d1=1", "1,1,99999999999999999999"}) {
    EXPECT_EQ(space.ParseSizes(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace xla_indexing
