// What a program can get wrong when it asks the queries: each call ends in a Status, or an unknown
// answer, that says what is wrong, with the numbers.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/query/bank_conflicts.h"
#include "xla_indexing/query/coalescing.h"
#include "xla_indexing/query/corresponding_dims.h"
#include "xla_indexing/query/equivalence.h"
#include "xla_indexing/query/symbolic_tile.h"
#include "xla_indexing/query/thread_mapping.h"
#include "xla_indexing/query/tile_computation.h"
#include "xla_indexing/query/tile_conditions.h"
#include "xla_indexing/query/tile_text.h"
#include "xla_indexing/query/utilization.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

class QueryMisuseTest : public ::testing::Test {
 protected:
  QueryMisuseTest() {
    auto module = ParseModule(R"(
      ENTRY e {
        p = f32[4,8] parameter(0)
        t = f32[8,4] transpose(p), dimensions={1,0}
        ROOT r = f32[8,4] add(t, t)
      })");
    EXPECT_TRUE(module.ok() && VerifyModule(**module).ok());
    module_ = *std::move(module);
    computation_ = module_->entry_computation();
    transpose_ = computation_->root_instruction()->operand(0);
  }

  static void ExpectRefused(const absl::Status& status, absl::string_view message) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(message)));
  }
  OperandIndexing Map(absl::string_view text) {
    return OperandIndexing::Create(ParseIndexingMap(text, &context_).value()).value();
  }
  OperandIndexing Unbounded(absl::string_view range) {
    return Map(absl::StrCat("(d0)[s0] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in ", range));
  }
  ThreadMapping Threads(absl::string_view text) {
    return ParseThreadMapping(text, &context_).value();
  }
  static Shape Array(absl::Span<const int64_t> sizes) {
    return Shape::Array(ElementType::kF32, sizes);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
  const HloComputation* computation_ = nullptr;
  const HloInstruction* transpose_ = nullptr;
};

TEST_F(QueryMisuseTest, UtilizationIsOfArraysThatTheMapsFit) {
  const OperandIndexingSet set(Map("(d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_EQ(ComputeUtilization(set, Array({4}), Array({4}))->elements_read, Interval::Point(4));
  ExpectRefused(ComputeUtilization(set, Array({4}), Array({2})).status(),
                "result 0 of (d0) -> (d0), domain: d0 in [0, 3] has values in [0, 3], and the "
                "indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(ComputeUtilization(set, Array({2}), Array({4})).status(),
                "and the indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(ComputeUtilization(set, Array({4, 4}), Array({4})).status(),
                "a map of 1 dimensions and 1 results from f32[4,4] to f32[4]");
  ExpectRefused(ComputeUtilization(set, Array({4}), Array({})).status(),
                "a map of 1 dimensions and 1 results from f32[4] to f32[]");
  ExpectRefused(ComputeUtilization(set, Array({4}), Shape::Tuple({Array({4})})).status(),
                "from array to array");
  for (const int64_t steps : {kLeast, int64_t{-1}, int64_t{0}, kGreatest}) {
    EXPECT_TRUE(ComputeUtilization(set, Array({4}), Array({4}), steps).ok());
  }
}

TEST_F(QueryMisuseTest, ReportsAreOfLeavesThatAreThere) {
  const OperandIndexingSet set(Map("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]"));
  const auto report = [&](const IndexingEntry& entry) {
    return ReportUtilization(
               {entry}, [] { return InstructionIndexing(); }, *transpose_, transpose_->operands())
        .status();
  };
  EXPECT_TRUE(report({0, 0, 0, set}).ok()) << report({0, 0, 0, set});
  ExpectRefused(report({1, 0, 0, set}),
                "an entry of output leaf 1 and leaf 0 of operand 0, and t has 1 leaves and 1 "
                "operands");
  ExpectRefused(report({0, 1, 0, set}), "leaf 0 of operand 1");
  ExpectRefused(report({0, -1, 0, set}), "leaf 0 of operand -1");
  ExpectRefused(report({0, 0, 5, set}), "leaf 5 of operand 0");
  ExpectRefused(report({0, 0, 0, OperandIndexingSet(Map("() -> ()"))}),
                "a map of 0 dimensions and 0 results");
}

TEST_F(QueryMisuseTest, BytesOfAnyNumberOfElements) {
  EXPECT_EQ(BytesOf(Interval::Empty(), Array({4})), Interval::Empty());
  EXPECT_EQ(BytesOf(Interval::AtLeast(3), Array({4})), Interval::AtLeast(12));
  EXPECT_EQ(BytesOf(Interval::All(), Array({4})), Interval::All());
}

TEST_F(QueryMisuseTest, CoalescingIsOfArraysThatTheMapsFit) {
  const auto analysis = CoalescingAnalysis::OfLoop(Array({64}), {}, &context_);
  ASSERT_TRUE(analysis.ok()) << analysis.status();
  const OperandIndexing map = Map("(d0) -> (d0), domain: d0 in [0, 63]");
  EXPECT_TRUE(analysis->OfReads(map, Array({64})).IsExact());
  EXPECT_THAT(analysis->OfReads(map, Array({32})).reason,
              HasSubstr("has values in [0, 63], and the indices of dimension 0 of f32[32] are "
                        "[0, 31]"));
  EXPECT_THAT(analysis->OfReads(map, Array({8, 8})).reason, HasSubstr("1 results"));
  EXPECT_THAT(analysis->OfReads(map, Shape::Tuple({})).reason, HasSubstr("from array to array"));
  EXPECT_THAT(analysis->OfReads(Unbounded("[0, inf]"), Array({64})).reason, HasSubstr("[0, inf]"));
}

TEST_F(QueryMisuseTest, RequestsAreOfTheLaunch) {
  const auto analysis = CoalescingAnalysis::OfLoop(Array({64}), {}, &context_);
  const OperandIndexing map = Map("(d0) -> (d0), domain: d0 in [0, 63]");
  WarpRequest good;
  good.block = {0};
  const auto addresses = [&](const WarpRequest& request, const OperandIndexing* indexing,
                             const Shape& shape) {
    return analysis->AddressesOf(request, indexing, shape).status();
  };
  good.loops.resize(analysis->mapping().map.num_ranges());
  EXPECT_TRUE(addresses(good, &map, Array({64})).ok()) << addresses(good, &map, Array({64}));
  ExpectRefused(addresses(good, &map, Array({32})), "has values in [0, 63]");
  const OperandIndexing unknown = OperandIndexing::Unknown(&context_, "no idea");
  ExpectRefused(addresses(good, &unknown, Array({64})), "an unknown map has no addresses");
  WarpRequest request = good;
  request.block = {};
  ExpectRefused(addresses(request, &map, Array({64})), "a request of 0 block coordinates");
  request = good;
  request.symbols = {1};
  ExpectRefused(addresses(request, &map, Array({64})), "1 symbols");
  request = good;
  request.loops.push_back(7);
  ExpectRefused(addresses(request, &map, Array({64})), "loops");
  for (const int64_t thread : {int64_t{-32}, int64_t{1}, kGreatest, kLeast}) {
    request = good;
    request.first_thread = thread;
    ExpectRefused(addresses(request, &map, Array({64})), "a warp that begins at thread");
  }
  for (const int64_t base : {int64_t{-1}, int64_t{1}, kGreatest}) {
    request = good;
    request.base = base;
    ExpectRefused(addresses(request, &map, Array({64})), "a tensor that begins at place");
  }
}

TEST_F(QueryMisuseTest, OptionsOfCoalescingAreFinite) {
  const auto with = [](double factor) {
    CoalescingOptions options;
    options.factor = factor;
    return options.Verify();
  };
  EXPECT_TRUE(with(1).ok());
  for (const double factor : {0.0, -1.25, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()}) {
    ExpectRefused(with(factor), "should be a finite number of at least 1");
  }
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, int64_t{3}, kGreatest}) {
    for (int64_t CoalescingOptions::* member :
         {&CoalescingOptions::warp_size, &CoalescingOptions::sector_bytes,
          &CoalescingOptions::line_bytes, &CoalescingOptions::alignment_bytes}) {
      CoalescingOptions options;
      options.*member = number;
      ExpectRefused(options.Verify(), absl::StrCat(number));
    }
    for (int64_t BankOptions::* member :
         {&BankOptions::warp_size, &BankOptions::banks, &BankOptions::word_bytes}) {
      BankOptions options;
      options.*member = number;
      ExpectRefused(options.Verify(), absl::StrCat(number));
    }
  }
}

TEST_F(QueryMisuseTest, LaunchesHaveThreads) {
  const Shape array = Array({64, 64});
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, kGreatest}) {
    EXPECT_FALSE(RowMajorLoop(array, {number, 1, 1}, &context_).ok()) << number;
    EXPECT_FALSE(RowMajorLoop(array, {128, number, number}, &context_).ok()) << number;
    EXPECT_FALSE(RowMajorLoop(array, {128, 1, number}, &context_).ok()) << number;
    EXPECT_FALSE(RowReduction(array, {number, 32, 4, 1}, &context_).ok()) << number;
    EXPECT_FALSE(RowReduction(array, {64, 32, 4, number}, &context_).ok()) << number;
    EXPECT_FALSE(ColumnReduction(array, {number, 32, 32}, &context_).ok()) << number;
    if (number != 0) {
      EXPECT_FALSE(TiledTranspose(array, {number, 1}, &context_).ok()) << number;
    }
  }
  EXPECT_FALSE(RowMajorLoop(Shape::Tuple({array}), {}, &context_).ok());
}

TEST_F(QueryMisuseTest, ThreadMappingsHaveFittingParts) {
  ThreadMapping good = Threads(
      "(th_x, bl_x) -> (th_x + bl_x * 32), domain: th_x in [0, 31], "
      "bl_x in [0, 1]");
  EXPECT_TRUE(good.VerifyFor(Array({64})).ok());
  ExpectRefused(good.VerifyFor(Array({63})), "result 0 leaves dimension 0 of f32[63]");
  ExpectRefused(good.VerifyFor(Array({64, 1})), "it has 1 results, and f32[64,1] has rank 2");
  ExpectRefused(CoverageOf(good, Array({63})).status(), "leaves dimension 0");
  ExpectRefused(CoverageOf(good, Array({})).status(), "has rank 0");
  ThreadMapping mapping = good;
  mapping.thread_dims = {5};
  ExpectRefused(mapping.Verify(), "dimension 5 of 2");
  mapping.thread_dims = {-1};
  ExpectRefused(mapping.Verify(), "dimension -1 of 2");
  mapping.thread_dims = {1};
  ExpectRefused(mapping.Verify(), "dimension");
  mapping.thread_dims = {};
  ExpectRefused(mapping.Verify(), "0 coordinates have 1 sizes");
  mapping = good;
  mapping.vector_ranges = {0};
  ExpectRefused(mapping.Verify(), "a vector range that is none of 0");
  for (const int64_t size : {int64_t{0}, int64_t{31}}) {
    mapping = good;
    mapping.thread_sizes = {size};
    ExpectRefused(mapping.Verify(), "dimension 0 is in [0, 31]");
  }
  for (const int64_t size : {kLeast, int64_t{-1}}) {
    mapping = good;
    mapping.thread_sizes = {size};
    ExpectRefused(mapping.Verify(), absl::StrCat("dimension 0 has size ", size));
  }
  mapping = good;
  mapping.thread_sizes = {kGreatest};
  mapping.block_sizes = {kGreatest};
  EXPECT_TRUE(mapping.Verify().ok());
  for (const absl::string_view text :
       {"(th_x) -> (th_x), domain: th_x in [0, inf]", "(th_x) -> (th_x), domain: th_x in [-inf, 3]",
        "(th_x)[s0] -> (th_x + s0), domain: th_x in [0, 3], s0 in [0, inf]",
        "(th_x)[vec] -> (th_x + vec), domain: th_x in [0, 3], vec in [-inf, inf]",
        "(th_x){rt0} -> (th_x + rt0), domain: th_x in [0, 3], rt0 in [0, 1]"}) {
    EXPECT_FALSE(ParseThreadMapping(text, &context_).ok()) << text;
  }
}

TEST_F(QueryMisuseTest, TilesAreOfArraysThatTheMapsFit) {
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
  for (const int64_t size : {kLeast, int64_t{-1}, int64_t{0}, int64_t{9}, kGreatest}) {
    ExpectRefused(tile.FullTile({size}).status(), "of dimension 0 is not in [1, 8]");
    ExpectRefused(tile.IsExact({size}).status(), "of dimension 0 is not in [1, 8]");
  }
  ExpectRefused(tile.FullTile({}).status(), "0 tile sizes for an array of 1 dimensions");
  ExpectRefused(tile.TileAt({4}, {}).status(), "a tile index of 0 numbers for 1 sizes");
  for (const int64_t index : {kLeast, int64_t{-1}, int64_t{2}, kGreatest}) {
    ExpectRefused(tile.TileAt({4}, {index}).status(), "which has 2 tiles of size 4");
  }
}

TEST_F(QueryMisuseTest, TilesOfInfiniteIntervalsAreNotExact) {
  for (const absl::string_view range : {"[0, inf]", "[-inf, 0]", "[-inf, inf]"}) {
    const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(Unbounded(range));
    ASSERT_TRUE(tile.ok()) << tile.status();
    EXPECT_FALSE(tile->IsExact({2})->IsYes()) << range;
    EXPECT_FALSE(tile->FullTile({2})->is_exact) << range;
    EXPECT_FALSE(tile->TileAt({2}, {1})->is_exact) << range;
    (void)TileConditions(*tile, 0);
  }
  // Of an array without end from which nothing is read.
  const absl::StatusOr<SymbolicTile> of_none = SymbolicTile::Of(
      Map("(d0)[s0] -> (d0 * -2 + s0), domain: d0 in [-inf, inf], s0 in [-3, -2], s0 in [5, inf]"));
  ASSERT_TRUE(of_none.ok()) << of_none.status();
  EXPECT_TRUE(of_none->IsExact({2}).ok());
  const absl::StatusOr<SymbolicTile> of_all =
      SymbolicTile::Of(Map("(d0) -> (d0 mod 4), domain: d0 in [-inf, inf]"));
  ASSERT_TRUE(of_all.ok()) << of_all.status();
  EXPECT_TRUE(of_all->FullTile({4}).ok());
}

TEST_F(QueryMisuseTest, OptionsOfComputationsMayBeAnything) {
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1}, kGreatest}) {
    FusionOptions options;
    options.max_steps = number;
    options.max_called_instructions = number;
    options.max_maps = static_cast<int>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX));
    options.max_call_depth = options.max_maps;
    // What is given is right or labelled; nothing more is asked for.
    (void)ComputeUtilization(*computation_, &context_, options);
    (void)TileComputation(*computation_, &context_, options);
    (void)FindCorrespondingDims(*transpose_, &context_, options);
    (void)CompareReads(*computation_, *computation_, &context_, options, number);
  }
  const auto tiled = TileComputation(*computation_, &context_);
  ASSERT_TRUE(tiled.ok()) << tiled.status();
  ExpectRefused(tiled->IsExact({1}).status(), "1 tile sizes for roots of 2 dimensions in all");
  ExpectRefused(tiled->TilesOf({1, 2, 3}).status(), "3 tile sizes for roots of 2 dimensions");
  ExpectRefused(tiled->BytesOf({0, -1}).status(), "tile size 0 of dimension 0");
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}}) {
    EXPECT_TRUE(tiled->FindGoodTileSizes(number).empty());
    (void)tiled->FindGoodTileSizes(1024, number);
  }
}

}  // namespace
}  // namespace xla_indexing
