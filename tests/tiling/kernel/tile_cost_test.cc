// What tiles cost, and the ranking of tilings: against formulas, and against an exhaustive search under the
// same model.
#include "xla_indexing/tiling/kernel/tile_cost.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tile_meter.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;

constexpr char kReducersText[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
)";

constexpr char kTransposeText[] = R"(
  ENTRY e { p = f32[M,N] parameter(0)  ROOT r = f32[N,M] transpose(p), dimensions={1,0} })";

constexpr char kMatmulText[] = R"(
  ENTRY e {
    a = f32[M,K] parameter(0)
    b = f32[K,N] parameter(1)
    d = f32[M,N] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    ROOT r = f32[M,N] tanh(d)
  })";

constexpr char kSumText[] = R"(
  ENTRY e {
    p = f32[M,N] parameter(0)
    zero = f32[] constant(0)
    ROOT r = f32[M] reduce(p, zero), dimensions={1}, to_apply=add
  })";

constexpr char kColumnSumText[] = R"(
  ENTRY e {
    p = f32[M,N] parameter(0)
    zero = f32[] constant(0)
    ROOT r = f32[N] reduce(p, zero), dimensions={0}, to_apply=add
  })";

constexpr char kSoftmaxText[] = R"(
  ENTRY e {
    p = f32[M,N] parameter(0)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[M] reduce(p, lowest), dimensions={1}, to_apply=max
    mb = f32[M,N] broadcast(m), dimensions={0}
    s = f32[M,N] subtract(p, mb)
    x = f32[M,N] exponential(s)
    d = f32[M] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[M,N] broadcast(d), dimensions={0}
    ROOT q = f32[M,N] divide(x, db)
  })";

constexpr char kLayerNormText[] = R"(
  ENTRY e {
    p = f32[M,N] parameter(0)
    zero = f32[] constant(0)
    scale = f32[] constant(0.001)
    sum = f32[M] reduce(p, zero), dimensions={1}, to_apply=add
    scales = f32[M] broadcast(scale), dimensions={}
    mean = f32[M] multiply(sum, scales)
    means = f32[M,N] broadcast(mean), dimensions={0}
    c = f32[M,N] subtract(p, means)
    c2 = f32[M,N] multiply(c, c)
    sum2 = f32[M] reduce(c2, zero), dimensions={1}, to_apply=add
    var = f32[M] multiply(sum2, scales)
    inv = f32[M] rsqrt(var)
    invs = f32[M,N] broadcast(inv), dimensions={0}
    ROOT r = f32[M,N] multiply(c, invs)
  })";

constexpr char kAttentionText[] = R"(
  ENTRY e {
    q = f32[M,K] parameter(0)
    k = f32[N,K] parameter(1)
    v = f32[N,K] parameter(2)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    s = f32[M,N] dot(q, k), lhs_contracting_dims={1}, rhs_contracting_dims={1}
    m = f32[M] reduce(s, lowest), dimensions={1}, to_apply=max
    mb = f32[M,N] broadcast(m), dimensions={0}
    t = f32[M,N] subtract(s, mb)
    x = f32[M,N] exponential(t)
    d = f32[M] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[M,N] broadcast(d), dimensions={0}
    w = f32[M,N] divide(x, db)
    ROOT o = f32[M,K] dot(w, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  })";

constexpr char kConvolutionText[] = R"(
  ENTRY e {
    x = f32[1,M,M,K] parameter(0)
    w = f32[3,3,K,N] parameter(1)
    ROOT c = f32[1,M,M,N] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  })";

class TileCostTest : public ::testing::Test {
 protected:
  TiledComputation Tiled(absl::string_view text, int64_t m, int64_t n, int64_t k = 1,
                         TiledLoops loops = TiledLoops::kSeparate) {
    auto module = ParseAndVerifyModule(
        absl::StrCat(kReducersText, absl::StrReplaceAll(text, {{"ENTRY", "ENTRY"},
                                                               {"M", absl::StrCat(m)},
                                                               {"N", absl::StrCat(n)},
                                                               {"K", absl::StrCat(k)}})));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    auto tiled =
        TiledComputation::Create(*modules_.back()->entry_computation(), &context_, {}, loops);
    EXPECT_TRUE(tiled.ok()) << tiled.status();
    return *std::move(tiled);
  }

  static TileCost Cost(const TiledComputation& tiled, std::vector<int64_t> sizes,
                       const TileCostOptions& options = {}, std::vector<int> loops = {}) {
    const auto graph = tiled.Instantiate(Tiling{std::move(sizes), std::move(loops)});
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? graph->Cost(options) : TileCost();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

const TileAccess& StoreOf(const TileCost& cost) {
  return *std::find_if(cost.accesses.begin(), cost.accesses.end(),
                       [](const TileAccess& access) { return access.is_store; });
}

TEST_F(TileCostTest, ColumnsTakeASectorForEachElement) {
  const TiledComputation tiled = Tiled(kTransposeText, 1024, 1024);
  // Tiles of the result: a row of it is a column of the operand. 2^20 elements, 8 to a sector.
  const TileCost columns = Cost(tiled, {1, 1024});
  EXPECT_TRUE(columns.are_requests_exact);
  EXPECT_EQ(columns.sectors, (1 << 20) + (1 << 17));
  EXPECT_EQ(StoreOf(columns).sectors, Interval::Point(1 << 17));
  EXPECT_EQ(StoreOf(columns).lines, Interval::Point(1 << 15));
  const TileCost squares = Cost(tiled, {32, 32});
  EXPECT_EQ(squares.sectors, 2 << 17);
  EXPECT_EQ(squares.lines, 2 << 15);
}

// A warp that reads a column of a tile of 32 x 32 finds all of it in one bank, unless rows are one word
// longer or the rows are swizzled into the columns. Accesses are of one word: 4 bytes at most.
TEST_F(TileCostTest, TransposesThroughSharedMemoryHaveBankConflicts) {
  const TiledComputation tiled = Tiled(kTransposeText, 1024, 1024);
  TileCostOptions options;
  options.vector_bytes = 4;
  // 1024 tiles, each of 32 warps that write a row and 32 that read a column.
  const TileCost conflicts = Cost(tiled, {32, 32}, options);
  EXPECT_EQ(conflicts.wavefronts, 1024 * (32 + 32 * 32));
  EXPECT_EQ(conflicts.least_wavefronts, 1024 * (32 + 32));
  options.shared_padding = 1;
  EXPECT_EQ(Cost(tiled, {32, 32}, options).wavefronts, 1024 * (32 + 32));
  options.shared_padding = 0;
  options.swizzle = {5, 2, 7};
  EXPECT_EQ(Cost(tiled, {32, 32}, options).wavefronts, 1024 * (32 + 32));
  // A row or a column is the same in both orders.
  EXPECT_EQ(Cost(tiled, {1, 1024}, options).wavefronts, 0);
}

TEST_F(TileCostTest, WorkIsCountedEachTimeItIsDone) {
  const TileCost matmul = Cost(Tiled(kMatmulText, 64, 32, 128), {16, 16, 32});
  EXPECT_EQ(matmul.multiply_adds, 64.0 * 32 * 128);
  EXPECT_EQ(matmul.transcendentals, 64.0 * 32);
  EXPECT_EQ(matmul.elements, 2 * 64 * 32);
  const TiledComputation softmax = Tiled(kSoftmaxText, 64, 128);
  // max, subtract, add and divide of each element, and one exponential.
  const TileCost rows = Cost(softmax, {4, 128, 128, 128});
  EXPECT_EQ(rows.transcendentals, 64.0 * 128);
  EXPECT_EQ(rows.other_operations, 4.0 * 64 * 128);
  // Pieces of a row: exponentials for the sum, in each of the 4 programs of a row, and for the result. The
  // maximum is found twice in each.
  const TileCost pieces = Cost(softmax, {4, 32, 32, 32});
  EXPECT_GE(pieces.transcendentals, 64.0 * 128 * (4 + 1));
}

// Rows of 128 in 4 steps: an exponential of each element for the sum and one for the result, and in
// each step one for each row, which rescales its sum. Others: max, subtract, add, and subtract and
// divide for the result; in each step a subtraction and a product for each row.
TEST_F(TileCostTest, RescalingInOnePassIsWork) {
  const TileCost rows = Cost(Tiled(kSoftmaxText, 64, 128, 1, TiledLoops::kOnePass), {4, 128, 32});
  EXPECT_EQ(rows.transcendentals, 2.0 * 64 * 128 + 64 * 4);
  EXPECT_EQ(rows.other_operations, 5.0 * 64 * 128 + 2 * 64 * 4);
  // 32 queries, 64 keys in 4 steps, 16 columns: each score is found, exponentiated and added up
  // once; in each step the sums and the columns of the result are rescaled, and after them the
  // result is divided, not the scores.
  const TileCost attention =
      Cost(Tiled(kAttentionText, 32, 64, 16, TiledLoops::kOnePass), {32, 16, 16, 16});
  EXPECT_EQ(attention.multiply_adds, 2.0 * 32 * 64 * 16);
  EXPECT_EQ(attention.transcendentals, 32.0 * 64 + 32 * 4);
  EXPECT_EQ(attention.other_operations, 3.0 * 32 * 64 + 4 * (32 + 32 + 32 * 16) + 32 * 16);
}

TEST_F(TileCostTest, TilesAreHeldFromTheirFirstToTheirLastUse) {
  // Whole rows: x and the maxima, then what is left of x, then the sums; a tile of 4 rows has 2048 bytes.
  const TileCost rows = Cost(Tiled(kSoftmaxText, 64, 128), {4, 128, 128, 128});
  EXPECT_EQ(rows.register_bytes, 2048 + 16);
  EXPECT_EQ(rows.shared_bytes, 0);
  // The factors of a product are in shared memory, the sums in registers.
  const TiledComputation matmul = Tiled(kMatmulText, 64, 32, 128);
  const TileCost cost = Cost(matmul, {16, 16, 32});
  EXPECT_EQ(cost.shared_bytes, 4 * (16 * 32 + 32 * 16));
  EXPECT_EQ(cost.register_bytes, 4 * 16 * 16);
  TileCostOptions options;
  options.place = [](const TileNode&) { return TilePlace::kRegisters; };
  EXPECT_EQ(Cost(matmul, {16, 16, 32}, options).register_bytes, 4 * (16 * 32 + 32 * 16 + 16 * 16));
}

TEST_F(TileCostTest, ATransposeIsCutIntoTilesThatAreReadAndWrittenInWholeSectors) {
  TilingSearchOptions options;
  options.max_resident_bytes = 8 << 10;
  const TilingSearch search = Tiled(kTransposeText, 1024, 1024).FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  const CostedTiling& best = search.tilings.front();
  EXPECT_EQ(best.cost.sectors, 2 << 17);
  EXPECT_GE(best.tiling.sizes[0], 8);
  EXPECT_GE(best.tiling.sizes[1], 8);
}

TEST_F(TileCostTest, ConstraintsOnSizesAreMet) {
  const TiledComputation tiled = Tiled(kMatmulText, 96, 80, 48);
  TilingSearchOptions options;
  options.powers_of_two = true;
  options.divisors = true;
  options.multiples = {16, 16, 8};
  options.accept = [](const Tiling& tiling, const TileGraph&) {
    return tiling.sizes[0] == tiling.sizes[1];
  };
  const TilingSearch search = tiled.FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  for (const CostedTiling& found : search.tilings) {
    EXPECT_THAT(found.tiling.sizes, ElementsAre(16, 16, ::testing::AnyOf(8, 16)));
  }
  // Without a candidate that divides, a tile is larger than its dimension.
  options.divisors = false;
  options.multiples = {128, 128, 64};
  for (const CostedTiling& found : tiled.FindTilings(options).tilings) {
    EXPECT_THAT(found.tiling.sizes, ElementsAre(128, 128, 64));
  }
}

TEST_F(TileCostTest, TheCallersTimeRanks) {
  TilingSearchOptions options;
  options.time = [](const TileCost& cost) { return 1.0 / static_cast<double>(cost.num_programs); };
  const TilingSearch search = Tiled(kTransposeText, 16, 16).FindTilings(options);
  ASSERT_FALSE(search.tilings.empty());
  EXPECT_THAT(search.tilings.front().tiling.sizes, ElementsAre(1, 1));
}

TEST_F(TileCostTest, TheBoundIsWhatTakesTheTime) {
  TileCost cost;
  cost.num_programs = 132;
  cost.transcendentals = 4.18e6;
  EXPECT_EQ(TimeOf(cost, DefaultMachine()).bound, TimeBound::kTranscendentals);
  EXPECT_NEAR(TimeOf(cost, DefaultMachine()).microseconds, 1, 1e-9);
  // One program more keeps all others waiting.
  cost.num_programs = 133;
  EXPECT_NEAR(TimeOf(cost, DefaultMachine()).microseconds, 2 * 132 / 133.0, 1e-9);
  EXPECT_EQ(NameOf(TimeBound::kTranscendentals), "transcendentals");
}

// --- The first choice against all tilings ---

struct Ranked {
  const char* name;
  const char* text;
  int64_t m;
  int64_t n;
  int64_t k;
};

constexpr Ranked kRankedShapes[] = {
    {"transpose", kTransposeText, 64, 64, 1},
    {"transpose", kTransposeText, 1024, 1024, 1},
    {"transpose", kTransposeText, 4096, 32, 1},
    {"transpose", kTransposeText, 48, 2000, 1},
    {"transpose", kTransposeText, 100, 100, 1},
    {"transpose", kTransposeText, 3, 5000, 1},
    {"matmul", kMatmulText, 64, 64, 64},
    {"matmul", kMatmulText, 256, 256, 256},
    {"matmul", kMatmulText, 1024, 1024, 1024},
    {"matmul", kMatmulText, 1024, 64, 512},
    {"matmul", kMatmulText, 16, 512, 512},
    {"matmul", kMatmulText, 96, 80, 48},
    {"matmul", kMatmulText, 1, 256, 1024},
    {"sum", kSumText, 64, 64, 1},
    {"sum", kSumText, 1024, 1024, 1},
    {"sum", kSumText, 8, 65536, 1},
    {"sum", kSumText, 65536, 8, 1},
    {"sum", kSumText, 100, 1000, 1},
    {"column sum", kColumnSumText, 64, 64, 1},
    {"column sum", kColumnSumText, 1024, 1024, 1},
    {"column sum", kColumnSumText, 65536, 8, 1},
    {"column sum", kColumnSumText, 8, 65536, 1},
    {"softmax", kSoftmaxText, 64, 64, 1},
    {"softmax", kSoftmaxText, 512, 1024, 1},
    {"softmax", kSoftmaxText, 1024, 128, 1},
    {"softmax", kSoftmaxText, 16, 4096, 1},
    {"softmax", kSoftmaxText, 33, 257, 1},
    {"layer norm", kLayerNormText, 64, 64, 1},
    {"layer norm", kLayerNormText, 256, 1024, 1},
    {"layer norm", kLayerNormText, 2048, 256, 1},
    {"layer norm", kLayerNormText, 16, 2048, 1},
    {"attention", kAttentionText, 64, 64, 16},
    {"attention", kAttentionText, 128, 128, 64},
    {"attention", kAttentionText, 64, 256, 32},
    {"attention", kAttentionText, 256, 64, 64},
    {"convolution", kConvolutionText, 8, 16, 8},
    {"convolution", kConvolutionText, 16, 16, 16},
    {"convolution", kConvolutionText, 32, 8, 3},
    {"convolution", kConvolutionText, 7, 64, 64},
    {"convolution", kConvolutionText, 14, 32, 16},
};

// The powers of a base up to the first that is no less than a size.
std::vector<int64_t> PowersOf(int64_t base, int64_t size) {
  std::vector<int64_t> powers = {1};
  while (powers.back() < size) powers.push_back(base * powers.back());
  return powers;
}

// The least time of all tilings of powers of two (of four in spaces of more than four dimensions), with all
// parallel dimensions in the grid, the last one in a loop, or all. A tiling that takes longer than another
// one even if each byte is moved once for all needs no count.
double LeastTime(const TiledComputation& tiled, int64_t max_bytes, const Machine& machine,
                 int64_t* tried) {
  const TilingSpace& space = tiled.space();
  std::vector<std::vector<int64_t>> candidates;
  std::vector<int> parallel;
  for (int i = 0; i < space.num_dims(); ++i) {
    candidates.push_back(PowersOf(space.num_dims() > 4 ? 4 : 2, space.dims()[i].size));
    if (space.IsParallel(i)) parallel.push_back(i);
  }
  std::set<std::vector<int>> loops = {{}, parallel};
  if (!parallel.empty()) loops.insert({parallel.back()});
  double least = std::numeric_limits<double>::infinity();
  const TileCostOptions options = TileCostOptions::For(machine);
  const internal::TileMeter meter(options);
  std::vector<size_t> at(candidates.size(), 0);
  while (true) {
    Tiling tiling;
    for (size_t i = 0; i < at.size(); ++i) tiling.sizes.push_back(candidates[i][at[i]]);
    for (const std::vector<int>& looped : loops) {
      tiling.loops = looped;
      const auto graph = tiled.Instantiate(tiling);
      if (!graph.ok()) continue;
      ++*tried;
      TileCost bound = meter.MeasureWithoutRequests(*graph);
      if (bound.resident_bytes > max_bytes) continue;
      const int64_t fewest = std::exchange(bound.sectors, bound.moved_bytes / options.sector_bytes);
      if (TimeOf(bound, machine).microseconds >= least) continue;
      const TileCost cost = graph->Cost(options);
      EXPECT_LE(fewest, cost.sectors) << graph->ToString();
      least = std::min(least, TimeOf(cost, machine).microseconds);
    }
    size_t i = at.size();
    while (i > 0 && at[i - 1] + 1 == candidates[i - 1].size()) at[--i] = 0;
    if (i == 0) return least;
    ++at[i - 1];
  }
}

TEST_F(TileCostTest, TheFirstChoiceIsNearTheBestOfAll) {
  const Machine* const machines[] = {FindMachine("h100"), FindMachine("mi300x"),
                                     FindMachine("cpu")};
  int64_t tried = 0;
  double worst = 1;
  CasesInTurn cases;
  for (int64_t i = 0; i < static_cast<int64_t>(std::size(kRankedShapes)); ++i) {
    if (!cases.IsNextTried()) continue;
    const Ranked& shape = kRankedShapes[i];
    SCOPED_TRACE(absl::StrCat(shape.name, " ", shape.m, " ", shape.n, " ", shape.k));
    const TiledComputation tiled = Tiled(shape.text, shape.m, shape.n, shape.k);
    TilingSearchOptions options;
    options.powers_of_two = true;
    options.machine = machines[i % 3];
    const TilingSearch search = tiled.FindTilings(options);
    ASSERT_FALSE(search.tilings.empty());
    const double least = LeastTime(tiled, options.max_resident_bytes, *options.machine, &tried);
    const double ratio = search.tilings.front().time.microseconds / least;
    worst = std::max(worst, ratio);
    EXPECT_LE(ratio, 1.1) << search.tilings.front().time.microseconds << " and " << least;
  }
  std::printf("%lld tilings, the first choice takes %.3f times the least at most\n",
              static_cast<long long>(tried), worst);
}

}  // namespace
}  // namespace xla_indexing
