#include "xla_indexing/gpu/coalescing.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

struct Counts {
  Interval requests;
  Interval sectors;
  Interval least;
  Interval lines;

  friend bool operator==(const Counts& a, const Counts& b) = default;
  friend std::ostream& operator<<(std::ostream& os, const Counts& c) {
    return os << c.requests.ToString() << " requests, " << c.sectors.ToString() << " sectors, "
              << c.least.ToString() << " least, " << c.lines.ToString() << " lines";
  }
};

Counts Exactly(int64_t requests, int64_t sectors, int64_t least, int64_t lines) {
  return {Interval::Point(requests), Interval::Point(sectors), Interval::Point(least),
          Interval::Point(lines)};
}

Counts CountsOf(const Coalescing& coalescing) {
  EXPECT_FALSE(coalescing.IsUnknown()) << coalescing.reason;
  return {coalescing.requests, coalescing.sectors, coalescing.least_sectors, coalescing.lines};
}

class CoalescingTest : public ::testing::Test {
 protected:
  CoalescingTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  // The maps of a parameter of an entry, whose root is taken with what it calls, in order.
  std::vector<Coalescing> Reads(absl::string_view entry, int64_t parameter = 0) {
    auto module = ParseModule(absl::StrCat(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
        "ENTRY e {\n",
        entry, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module);
    modules_.push_back(*std::move(module));
    const HloComputation& computation = *modules_.back()->entry_computation();
    const auto entries = Entries(computation, Direction::kOutputToInput, &context_);
    EXPECT_TRUE(entries.ok()) << entries.status();
    const Shape& output = computation.root_instruction()->shape();
    auto analysis = mapping_.empty()
                        ? CoalescingAnalysis::OfLoop(output, loop_, &context_, options_)
                        : CoalescingAnalysis::Create(
                              ParseThreadMapping(mapping_, &context_).value(), output, options_);
    EXPECT_TRUE(analysis.ok()) << analysis.status();
    if (!analysis.ok()) return {};
    writes_ = analysis->OfWrites();
    std::vector<Coalescing> reads;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != parameter) continue;
      for (const OperandIndexing& map : entry.indexing) {
        reads.push_back(analysis->OfReads(map, computation.parameters()[parameter]->shape()));
      }
    }
    return reads;
  }
  Coalescing Read(absl::string_view entry, int64_t parameter = 0) {
    const std::vector<Coalescing> reads = Reads(entry, parameter);
    EXPECT_EQ(reads.size(), 1);
    return reads.empty() ? Coalescing() : reads[0];
  }

  mlir::MLIRContext context_;
  std::vector<std::unique_ptr<HloModule>> modules_;
  LoopOptions loop_;
  CoalescingOptions options_;
  std::string mapping_;
  Coalescing writes_;
};

TEST_F(CoalescingTest, TransposeAdd) {
  const auto reads = Reads(
      "p = f32[1024,1024] parameter(0)\n"
      "t = f32[1024,1024] transpose(p), dimensions={1,0}\n"
      "ROOT r = f32[1024,1024] add(p, t)");
  ASSERT_EQ(reads.size(), 2);
  // 2^20 elements, 32 a warp. Each of 128 bytes in a row; each of 32 rows.
  EXPECT_EQ(CountsOf(reads[0]), Exactly(32768, 4 * 32768, 4 * 32768, 32768));
  EXPECT_EQ(CountsOf(reads[1]), Exactly(32768, 32 * 32768, 4 * 32768, 32 * 32768));
  EXPECT_EQ(reads[0].coalesced, true);
  EXPECT_EQ(reads[1].coalesced, false);
  EXPECT_EQ(reads[1].Efficiency(), 0.125);
  EXPECT_EQ(CountsOf(writes_), Exactly(32768, 4 * 32768, 4 * 32768, 32768));
}

// The elements are followed through the chain, step by step.
TEST_F(CoalescingTest, ChainsAreCountedExactly) {
  constexpr size_t kSteps = 6;
  const std::vector<std::vector<int64_t>> shapes = {
      {8, 4, 12, 4}, {16, 6, 16}, {6, 32, 8}, {12, 4, 32}, {64, 24}};
  const auto text = [](const std::vector<int64_t>& sizes) {
    return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]");
  };
  std::string chain = absl::StrCat("x0 = ", text(shapes[0]), " parameter(0)");
  std::vector<int64_t> source(1536);  // the element of the operand that each element comes from
  std::iota(source.begin(), source.end(), 0);
  for (size_t i = 0; i < kSteps; ++i) {
    // All dimensions in reverse, and a reshape.
    const std::vector<int64_t>& sizes = shapes[i % shapes.size()];
    const std::vector<int64_t> reversed(sizes.rbegin(), sizes.rend());
    std::vector<size_t> order(sizes.size());
    std::iota(order.rbegin(), order.rend(), 0);
    absl::StrAppend(&chain, "\ny", i, " = ", text(reversed), " transpose(x", i, "), dimensions={",
                    absl::StrJoin(order, ","), "}\n", i + 1 == kSteps ? "ROOT " : "", "x", i + 1,
                    " = ", text(shapes[(i + 1) % shapes.size()]), " reshape(y", i, ")");
    std::vector<int64_t> moved;
    for (int64_t place = 0; place < 1536; ++place) {
      int64_t rest = place;
      int64_t from = 0;
      // The last dimension of the result is the first of what is transposed.
      for (const int64_t size : sizes) {
        from = from * size + rest % size;
        rest /= size;
      }
      moved.push_back(source[from]);
    }
    source = std::move(moved);
  }
  int64_t sectors = 0;
  int64_t lines = 0;
  for (size_t first = 0; first < source.size(); first += 32) {
    std::set<int64_t> of_warp;
    std::set<int64_t> lines_of_warp;
    for (size_t lane = first; lane < first + 32; ++lane) {
      of_warp.insert(source[lane] * 4 / 32);
      lines_of_warp.insert(source[lane] * 4 / 128);
    }
    sectors += static_cast<int64_t>(of_warp.size());
    lines += static_cast<int64_t>(lines_of_warp.size());
  }
  EXPECT_EQ(CountsOf(Read(chain)), Exactly(48, sectors, 48 * 4, lines));
}

TEST_F(CoalescingTest, TheLayoutSaysWhatIsInARow) {
  // Column-major operand and output: the same order of memory.
  EXPECT_EQ(CountsOf(Read("p = f32[64,64]{0,1} parameter(0)\n"
                          "ROOT r = f32[64,64]{0,1} negate(p)")),
            Exactly(128, 512, 512, 128));
  // The transpose undoes a layout.
  EXPECT_EQ(CountsOf(Read("p = f32[64,64]{0,1} parameter(0)\n"
                          "ROOT r = f32[64,64]{1,0} transpose(p), dimensions={1,0}")),
            Exactly(128, 512, 512, 128));
}

TEST_F(CoalescingTest, ThreadsPastTheEndDoNothing) {
  // Warps of 32, 32, 32 and 4 threads.
  EXPECT_EQ(CountsOf(Read("p = f32[100] parameter(0) ROOT r = f32[100] negate(p)")),
            Exactly(4, 4 + 4 + 4 + 1, 13, 4));
  EXPECT_EQ(CountsOf(Read("p = f32[] parameter(0) ROOT r = f32[] negate(p)")), Exactly(1, 1, 1, 1));
  EXPECT_EQ(CountsOf(Read("p = f32[1] parameter(0) ROOT r = f32[1] negate(p)")),
            Exactly(1, 1, 1, 1));
}

TEST_F(CoalescingTest, WithoutRequestsAccessesAreCoalesced) {
  for (const char* entry : {"p = f32[0] parameter(0) ROOT r = f32[0] negate(p)",
                            "p = f32[7,0,3] parameter(0) ROOT r = f32[7,0,3] negate(p)"}) {
    for (const Coalescing& read : Reads(entry)) {
      EXPECT_EQ(CountsOf(read), Exactly(0, 0, 0, 0));
    }
    EXPECT_EQ(CountsOf(writes_), Exactly(0, 0, 0, 0));
    EXPECT_EQ(writes_.coalesced, true);
    EXPECT_EQ(writes_.Efficiency(), 1);
    EXPECT_FALSE(writes_.worst.has_value());
  }
}

TEST_F(CoalescingTest, AShiftCostsASector) {
  // Bytes 4 to 131 of 128: sectors 0 to 4, lines 0 and 1.
  constexpr char kSlice[] =
      "p = f32[1025] parameter(0) ROOT r = f32[1024] slice(p), slice={[1:1025]}";
  EXPECT_EQ(CountsOf(Read(kSlice)), Exactly(32, 5 * 32, 4 * 32, 2 * 32));
  EXPECT_EQ(Read(kSlice).coalesced, true);
  options_.factor = 1.2;
  EXPECT_EQ(Read(kSlice).coalesced, false);
}

TEST_F(CoalescingTest, Strides) {
  // Every third float: 31 * 12 + 4 bytes, 12 sectors all of which have one, 3 lines; from 384 * w.
  EXPECT_EQ(CountsOf(Read("p = f32[3072] parameter(0)\n"
                          "ROOT r = f32[1024] slice(p), slice={[0:3072:3]}")),
            Exactly(32, 12 * 32, 4 * 32, 3 * 32));
  // Backwards is as good as forwards.
  EXPECT_EQ(CountsOf(Read("p = f32[1024] parameter(0)\n"
                          "ROOT r = f32[1024] reverse(p), dimensions={0}")),
            Exactly(32, 128, 128, 32));
}

TEST_F(CoalescingTest, OneElementForAll) {
  EXPECT_EQ(CountsOf(Read("p = f32[] parameter(0)\n"
                          "ROOT r = f32[1024] broadcast(p), dimensions={}")),
            Exactly(32, 32, 32, 32));
}

TEST_F(CoalescingTest, ReductionsAskOncePerStep) {
  // Each of 125 columns is a request; 64 rows are 2 warps. Lanes are 500 bytes apart, no two of
  // which are in one sector: 32 sectors for what fits in 4.
  const Coalescing read = Read(
      "p = f32[64,125] parameter(0) z = f32[] constant(0)\n"
      "ROOT r = f32[64] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(CountsOf(read), Exactly(250, 250 * 32, 250 * 4, 250 * 32));
}

TEST_F(CoalescingTest, WidthsOfElements) {
  const auto of = [&](absl::string_view type) {
    return CountsOf(
        Read(absl::StrCat("p = ", type, "[1024] parameter(0) ROOT r = ", type, "[1024] copy(p)")));
  };
  EXPECT_EQ(of("s4"), Exactly(32, 32, 32, 32));           // 16 bytes
  EXPECT_EQ(of("u2"), Exactly(32, 32, 32, 32));           // 8 bytes
  EXPECT_EQ(of("pred"), Exactly(32, 32, 32, 32));         // 32 bytes
  EXPECT_EQ(of("bf16"), Exactly(32, 64, 64, 32));         // 64 bytes
  EXPECT_EQ(of("f64"), Exactly(32, 8 * 32, 8 * 32, 64));  // 256 bytes
  EXPECT_EQ(of("c128"), Exactly(32, 16 * 32, 16 * 32, 4 * 32));
  // The layout's width of an element.
  EXPECT_EQ(CountsOf(Read("p = s4[1024]{0:E(8)} parameter(0) ROOT r = s4[1024] copy(p)")),
            Exactly(32, 32, 32, 32));
  EXPECT_EQ(CountsOf(Read("p = f32[1024]{0:E(64)} parameter(0) ROOT r = f32[1024] copy(p)")),
            Exactly(32, 8 * 32, 8 * 32, 64));
}

TEST_F(CoalescingTest, ElementsPerThread) {
  constexpr char kCopy[] = "p = f32[1024] parameter(0) ROOT r = f32[1024] copy(p)";
  // Four requests a warp, each of every fourth float of 512 bytes.
  loop_ = {128, 4, 1};
  EXPECT_EQ(CountsOf(Read(kCopy)), Exactly(32, 16 * 32, 4 * 32, 4 * 32));
  // One request of 16 bytes a lane.
  loop_ = {128, 4, 4};
  EXPECT_EQ(CountsOf(Read(kCopy)), Exactly(8, 16 * 8, 16 * 8, 4 * 8));
  // Two of 8 bytes, 16 apart.
  loop_ = {128, 4, 2};
  EXPECT_EQ(CountsOf(Read(kCopy)), Exactly(16, 16 * 16, 8 * 16, 4 * 16));
}

TEST_F(CoalescingTest, WarpsOfABlockThatIsNoMultiple) {
  // 40 threads a block: warps of 32 and 8; elements 40*b and 40*b + 32 on, 160 bytes apart.
  loop_.threads_per_block = 40;
  EXPECT_EQ(CountsOf(Read("p = f32[80] parameter(0) ROOT r = f32[80] copy(p)")),
            // Bytes [0, 128), [128, 160), [160, 288), [288, 320).
            Exactly(4, 4 + 1 + 4 + 1, 10, 1 + 1 + 2 + 1));
}

TEST_F(CoalescingTest, SizesOfTheMachine) {
  options_.warp_size = 64;
  EXPECT_EQ(CountsOf(Read("p = f32[1024] parameter(0) ROOT r = f32[1024] copy(p)")),
            Exactly(16, 8 * 16, 8 * 16, 2 * 16));
  options_ = {};
  options_.sector_bytes = 64;
  options_.line_bytes = 256;
  EXPECT_EQ(CountsOf(Read("p = f32[1024] parameter(0) ROOT r = f32[1024] copy(p)")),
            Exactly(32, 2 * 32, 2 * 32, 32));
}

TEST_F(CoalescingTest, WhereOperandsBegin) {
  // 128 bytes from a multiple of 4: 4 sectors or 5, 1 line or 2.
  options_.alignment_bytes = 4;
  const Coalescing read = Read("p = f32[1024] parameter(0) ROOT r = f32[1024] copy(p)");
  EXPECT_EQ(CountsOf(read), (Counts{Interval::Point(32), Interval::Closed(128, 160),
                                    Interval::Point(128), Interval::Closed(32, 64)}));
  EXPECT_FALSE(read.IsExact());
  EXPECT_EQ(read.coalesced, true);  // 5 of 4 at worst.
  options_.alignment_bytes = 32;
  EXPECT_EQ(CountsOf(Read("p = f32[1024] parameter(0) ROOT r = f32[1024] copy(p)")).sectors,
            Interval::Point(128));
}

TEST_F(CoalescingTest, ASliceWhereverItIs) {
  // The start is one value: 2 requests of 4 sectors or of 5, both the same.
  const Coalescing read = Read(
      "p = f32[1000] parameter(0) i = s32[] parameter(1)\n"
      "ROOT r = f32[64] dynamic-slice(p, i), dynamic_slice_sizes={64}");
  EXPECT_EQ(CountsOf(read), (Counts{Interval::Point(2), Interval::Closed(8, 10), Interval::Point(8),
                                    Interval::Closed(2, 4)}));
  EXPECT_EQ(read.coalesced, true);
  // Rows of 256 bytes begin at multiples of a line.
  EXPECT_EQ(CountsOf(Read("p = f32[100,64] parameter(0) i = s32[] parameter(1) z = s32[] "
                          "constant(0)\n"
                          "ROOT r = f32[1,64] dynamic-slice(p, i, z), dynamic_slice_sizes={1,64}")),
            Exactly(2, 8, 8, 2));
}

TEST_F(CoalescingTest, GatheredRowsAndElements) {
  // A warp is in one row of 256 bytes, wherever that is.
  EXPECT_EQ(CountsOf(Read("p = f32[100,64] parameter(0) i = s32[10,1] parameter(1)\n"
                          "ROOT r = f32[10,64] gather(p, i), offset_dims={1}, "
                          "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, "
                          "slice_sizes={1,64}")),
            Exactly(20, 80, 80, 20));
  // Every lane has an index of its own: all the same, or all apart.
  const Coalescing read = Read(
      "p = f32[100000] parameter(0) i = s32[64,1] parameter(1)\n"
      "ROOT r = f32[64] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1}");
  EXPECT_EQ(read.requests, Interval::Point(2));
  EXPECT_EQ(read.sectors, Interval::Closed(2, 64));
  EXPECT_EQ(read.lines, Interval::Closed(2, 64));
  EXPECT_TRUE(read.least_sectors.Contains(2) && read.least_sectors.Contains(8));
  EXPECT_EQ(read.coalesced, std::nullopt);
  EXPECT_FALSE(read.IsExact());
}

TEST_F(CoalescingTest, ReadsThatMayNotHappenHaveNoLeastNumber) {
  // One map for all four sides of a frame does not say which elements read the value.
  const Coalescing read = Read(
      "p = f32[6,6] parameter(0) z = f32[] parameter(1) ROOT r = f32[12,8] pad(p, z), "
      "padding=1_5x1_1",
      1);
  EXPECT_EQ(CountsOf(read), (Counts{Interval::Closed(0, 3), Interval::Closed(0, 3),
                                    Interval::Closed(0, 3), Interval::Closed(0, 3)}));
  EXPECT_EQ(read.coalesced, std::nullopt);
}

// Rows of a tile of 8 x 128 are 128 floats one after the other, and the tile is 8 of them: a warp
// reads 128 bytes of one row, in whichever tile.
TEST_F(CoalescingTest, TiledLayoutsAreReadInTheirTiles) {
  EXPECT_EQ(CountsOf(Read("p = f32[64,256]{1,0:T(8,128)} parameter(0)\n"
                          "ROOT r = f32[64,256] negate(p)")),
            Exactly(512, 2048, 2048, 512));
  // Each element of f32[64,1] is in a row of its own, 512 bytes from the next.
  EXPECT_EQ(CountsOf(Read("p = f32[64,1]{1,0:T(8,128)} parameter(0)\n"
                          "ROOT r = f32[64,1] negate(p)")),
            Exactly(2, 64, 8, 64));
  // Pairs of rows of bf16: 32 columns of a row are every other of 64 places, 128 bytes.
  EXPECT_EQ(CountsOf(Read("p = bf16[16,128]{1,0:T(8,128)(2,1)} parameter(0)\n"
                          "ROOT r = bf16[16,128] negate(p)")),
            Exactly(64, 256, 128, 64));
}

TEST_F(CoalescingTest, LayoutsWithoutAddresses) {
  const Coalescing read = Read(
      "p = f32[64,64]{1,0:SC(0:32)} parameter(0)\n"
      "ROOT r = f32[64,64] negate(p)");
  EXPECT_TRUE(read.IsUnknown());
  EXPECT_THAT(read.reason, HasSubstr("split"));
  EXPECT_FALSE(read.IsExact());
  EXPECT_EQ(read.coalesced, std::nullopt);
}

TEST_F(CoalescingTest, LargeArrays) {
  // 2^48 elements; 2^60 do not fit bits into 2^62.
  EXPECT_EQ(CountsOf(Read("p = f32[16777216,16777216] parameter(0)\n"
                          "ROOT r = f32[16777216,16777216] transpose(p), dimensions={1,0}")),
            Exactly(int64_t{1} << 43, int64_t{1} << 48, int64_t{1} << 45, int64_t{1} << 48));
  const Coalescing read =
      Read("p = f32[1152921504606846976] parameter(0)\nROOT r = f32[1152921504606846976] copy(p)");
  EXPECT_TRUE(read.IsUnknown());
  EXPECT_THAT(read.reason, HasSubstr("2^62"));
}

TEST_F(CoalescingTest, StepsThatAreNotEnoughLeaveBounds) {
  constexpr char kOdd[] =
      "p = f32[100,37,53] parameter(0) ROOT r = f32[53,100,37] transpose(p), dimensions={2,0,1}";
  const Counts counts = CountsOf(Read(kOdd));
  EXPECT_TRUE(Read(kOdd).IsExact());
  for (const int64_t steps : {0, 1, 100, 300, 1000, 1500}) {
    options_.max_steps = steps;
    const Coalescing read = Read(kOdd);
    EXPECT_FALSE(read.IsExact()) << steps;
    EXPECT_TRUE(counts.requests.IsSubsetOf(read.requests)) << steps;
    EXPECT_TRUE(counts.sectors.IsSubsetOf(read.sectors)) << steps;
    EXPECT_TRUE(counts.least.IsSubsetOf(read.least_sectors)) << steps;
    EXPECT_TRUE(counts.lines.IsSubsetOf(read.lines)) << steps;
    EXPECT_EQ(read.coalesced, std::nullopt);
  }
}

TEST_F(CoalescingTest, AThreadMapOfOnesOwn) {
  // Lanes down the columns of a row-major array.
  mapping_ =
      "(th_x, bl_x)[s0] -> (th_x, bl_x * 4 + s0), domain: th_x in [0, 31], "
      "bl_x in [0, 7], s0 in [0, 3]";
  EXPECT_EQ(CountsOf(Read("p = f32[32,32] parameter(0) ROOT r = f32[32,32] copy(p)")),
            Exactly(32, 32 * 32, 4 * 32, 32 * 32));
  // The four columns of a block as a vector: 32 rows of 16 bytes, 16 sectors' worth in 32.
  mapping_ =
      "(th_x, bl_x)[vec] -> (th_x, bl_x * 4 + vec), domain: th_x in [0, 31], "
      "bl_x in [0, 7], vec in [0, 3]";
  EXPECT_EQ(CountsOf(Read("p = f32[32,32] parameter(0) ROOT r = f32[32,32] copy(p)")),
            Exactly(8, 32 * 8, 16 * 8, 32 * 8));
  // Ids count th_x first: two rows of 16 a warp.
  mapping_ = "(th_x, th_y) -> (th_y, th_x), domain: th_x in [0, 15], th_y in [0, 15]";
  EXPECT_EQ(CountsOf(Read("p = f32[16,64] parameter(0)\n"
                          "ROOT r = f32[16,16] slice(p), slice={[0:16], [0:16]}")),
            Exactly(8, 4 * 8, 4 * 8, 2 * 8));
}

TEST_F(CoalescingTest, LanesThatShareALine) {
  // 96 bytes a lane, 128 apart, from byte 64 on: 3 sectors each, in lines l and l + 1.
  mapping_ = "(th_x)[vec] -> (th_x * 32 + vec), domain: th_x in [0, 31], vec in [0, 23]";
  EXPECT_EQ(CountsOf(Read("p = f32[1040] parameter(0)\n"
                          "ROOT r = f32[1024] slice(p), slice={[16:1040]}")),
            Exactly(1, 96, 96, 33));
}

TEST_F(CoalescingTest, TheWorstRequest) {
  // Rows of 40 floats, each 2 lines (32 floats and 8) of 64. Five warps are four rows:
  //   floats of row 0: 0 to 31           1 line
  //   0: 32 to 39, 1: 0 to 23            2
  //   1: 24 to 39, 2: 0 to 15            3
  //   2: 16 to 39, 3: 0 to 7             3
  //   3: 8 to 39                         2
  // All parts begin and end at multiples of 8 floats, a sector.
  const Coalescing read =
      Read("p = f32[40,64] parameter(0) ROOT r = f32[40,40] slice(p), slice={[0:40], [0:40]}");
  EXPECT_EQ(CountsOf(read), Exactly(50, 4 * 50, 4 * 50, 11 * 10));
  // Rows of 36: 1296 floats are 40 warps and a half. Warp 1 has floats 32 to 35 of row 0, half a
  // sector, and 0 to 27 of row 1, three and a half: 5 sectors of 4. The last warp has 16 floats, 20
  // to 35 of row 35, and half of its first and of its last sector: 3 of 2, which is worse.
  const Coalescing odd =
      Read("p = f32[36,64] parameter(0) ROOT r = f32[36,36] slice(p), slice={[0:36], [0:36]}");
  ASSERT_TRUE(odd.worst.has_value());
  EXPECT_EQ(odd.worst_cost.units, 3);
  EXPECT_EQ(odd.worst_cost.least, 2);
  EXPECT_EQ(odd.worst->block, (llvm::SmallVector<int64_t, 3>{10}));
  EXPECT_EQ(odd.worst->first_thread, 0);
}

TEST_F(CoalescingTest, Errors) {
  const Shape shape = Shape::Array(ElementType::kF32, {64});
  const auto error = [&](const CoalescingOptions& options) {
    return std::string(
        CoalescingAnalysis::OfLoop(shape, {}, &context_, options).status().message());
  };
  CoalescingOptions options;
  options.warp_size = 48;
  EXPECT_THAT(error(options), HasSubstr("48, and should be 32 or 64"));
  options = {};
  options.sector_bytes = 33;
  EXPECT_THAT(error(options), HasSubstr("a sector is 33 bytes"));
  options = {};
  options.line_bytes = 16;
  EXPECT_THAT(error(options), HasSubstr("a line of 16 bytes is less than a sector of 32"));
  options = {};
  options.alignment_bytes = 0;
  EXPECT_THAT(error(options), HasSubstr("the alignment is 0 bytes"));
  options = {};
  options.factor = 0.5;
  EXPECT_THAT(error(options), HasSubstr("factor is 0.5"));
  options = {};
  options.factor = std::numeric_limits<double>::infinity();
  EXPECT_THAT(error(options), HasSubstr("factor is inf"));
}

}  // namespace
}  // namespace xla_indexing
