#include "xla_indexing/gpu/fusion_mapping.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAdd[] =
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";

class FusionMappingTest : public ::testing::Test {
 protected:
  void Parse(absl::string_view entry) {
    auto module = ParseAndVerifyModule(absl::StrCat(kAdd, "ENTRY e {\n", entry, "\n}"));
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }
  const HloComputation& entry() const { return *module_->entry_computation(); }

  FusionMapping Map(absl::string_view text, const EmitterOptions& options = {}) {
    Parse(text);
    auto mapping = MappingForFusion(entry(), &context_, options);
    EXPECT_TRUE(mapping.ok()) << mapping.status();
    for (const RootMapping& root : mapping->roots) {
      for (const ThreadedArray& array : root.reads) ExpectOnce(array);
      for (const ThreadedArray& array : root.writes) ExpectOnce(array);
    }
    return *std::move(mapping);
  }
  // `kind hero`.
  std::string KindOf(absl::string_view text) {
    const FusionMapping mapping = Map(text);
    return absl::StrCat(EmitterKindName(mapping.kind), " ", mapping.hero().name());
  }

  // Every element of an array is that of one thread.
  static void ExpectOnce(const ThreadedArray& array) {
    const auto coverage = CoverageOf(array.mapping, array.shape());
    ASSERT_TRUE(coverage.ok()) << coverage.status() << "\n" << array.mapping.map.ToString();
    EXPECT_TRUE(coverage->IsOnce())
        << array.instruction->name() << ": " << array.mapping.map.ToString();
  }

  // `threads of a block x blocks, elements of an access`.
  static std::string LaunchOf(const ThreadMapping& mapping) {
    int64_t width = 1;
    for (const int range : mapping.vector_ranges) {
      const Interval& bounds = mapping.map.ranges()[range].bounds;
      width *= bounds.upper() - bounds.lower() + 1;
    }
    return absl::StrCat(mapping.ThreadsPerBlock(), " x ", mapping.NumBlocks(), ", ", width);
  }
  // The element of a thread of a block, given by their linear ids, at values of the range variables;
  // none where it has none.
  static std::vector<int64_t> ElementOf(const ThreadMapping& mapping, int64_t thread, int64_t block,
                                        std::vector<int64_t> ranges) {
    std::vector<int64_t> dims(mapping.map.num_dims());
    for (size_t i = 0; i < mapping.thread_dims.size(); ++i) {
      dims[mapping.thread_dims[i]] = thread % mapping.thread_sizes[i];
      thread /= mapping.thread_sizes[i];
    }
    for (size_t i = 0; i < mapping.block_dims.size(); ++i) {
      dims[mapping.block_dims[i]] = block % mapping.block_sizes[i];
      block /= mapping.block_sizes[i];
    }
    EXPECT_EQ(static_cast<int>(ranges.size()), mapping.map.num_ranges());
    if (!mapping.map.Contains(dims, ranges).value()) return {};
    const auto element = mapping.map.Evaluate(dims, ranges).value();
    return {element.begin(), element.end()};
  }

  static std::string CountOf(const Interval& count) {
    return count.IsPoint() ? absl::StrCat(count.lower()) : count.ToString();
  }
  // `reads 0: sectors of least` or `writes 0: ..` of each map of each access.
  std::vector<std::string> SectorsOf(const HloComputation& computation) {
    const auto fusion = CoalescingOfFusion(computation, &context_);
    EXPECT_TRUE(fusion.ok()) << fusion.status();
    std::vector<std::string> texts;
    for (const AccessCoalescing& access : fusion->accesses) {
      const bool is_read = access.access.kind == ThreadAccess::Kind::kRead;
      for (const Coalescing& coalescing : access.coalescing) {
        EXPECT_FALSE(coalescing.IsUnknown()) << coalescing.reason;
        texts.push_back(absl::StrCat(
            is_read ? "reads " : "writes ", is_read ? access.access.number : access.access.leaf,
            ": ", CountOf(coalescing.sectors), " of ", CountOf(coalescing.least_sectors)));
      }
    }
    return texts;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

TEST_F(FusionMappingTest, LoopsHaveVectorsWhereThereAreMoreElementsThanThreads) {
  // 2^20 elements are more than 132 * 2048 threads: 4 a thread, 512 a block.
  FusionMapping mapping =
      Map("p = f32[1024,1024] parameter(0) q = f32[1024,1024] parameter(1)\n"
          "ROOT r = f32[1024,1024] add(p, q)");
  EXPECT_EQ(mapping.kind, EmitterKind::kLoop);
  EXPECT_EQ(mapping.hero().name(), "r");
  EXPECT_EQ(mapping.array().instruction->name(), "r");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "128 x 2048, 4");
  // Element 3 * 512 + 5 * 4 + 2 = 1558 in memory.
  EXPECT_THAT(ElementOf(mapping.array().mapping, 5, 3, {2}), ElementsAre(1, 534));

  const auto launch = [&](absl::string_view text) { return LaunchOf(Map(text).array().mapping); };
  // 270338 elements are 2 more than there are threads, and no multiple of 4.
  EXPECT_EQ(launch("p = f32[135169,2] parameter(0) ROOT r = f32[135169,2] negate(p)"),
            "128 x 1057, 2");
  EXPECT_EQ(launch("p = f32[270335] parameter(0) ROOT r = f32[270335] negate(p)"), "128 x 2112, 1");
  EXPECT_EQ(launch("p = f32[1024,1024] parameter(0) ROOT r = f32[1024,1024] sine(p)"),
            "128 x 8192, 1");
  EXPECT_EQ(launch("p = f32[33] parameter(0) ROOT r = f32[33] negate(p)"), "33 x 1, 1");
  EXPECT_EQ(launch("p = f32[] parameter(0) ROOT r = f32[] negate(p)"), "1 x 1, 1");
  EXPECT_EQ(launch("p = f32[0,3] parameter(0) ROOT r = f32[0,3] negate(p)"), "1 x 0, 1");
  // Two of them fill a byte.
  EXPECT_EQ(launch("p = s4[100] parameter(0) ROOT r = s4[100] negate(p)"), "50 x 1, 2");
}

TEST_F(FusionMappingTest, OutputsOfALoopHaveTheSameThreads) {
  const FusionMapping mapping =
      Map("p = f32[64,8] parameter(0) n = f32[64,8] negate(p) b = f32[512] bitcast(n)\n"
          "ROOT r = (f32[64,8], f32[512]) tuple(n, b)");
  EXPECT_EQ(mapping.kind, EmitterKind::kLoop);
  ASSERT_EQ(mapping.roots.size(), 2u);
  EXPECT_EQ(mapping.roots[1].output_leaf, 1);
  EXPECT_THAT(ElementOf(mapping.roots[0].reads[0].mapping, 9, 1, {}), ElementsAre(17, 1));
  EXPECT_THAT(ElementOf(mapping.roots[1].reads[0].mapping, 9, 1, {}), ElementsAre(137));
  // 512 floats in 64 sectors; the first output reads p through an identity, the second through the
  // bitcast.
  EXPECT_THAT(SectorsOf(entry()), ElementsAre("reads 0: 64 of 64", "reads 0: 64 of 64",
                                              "writes 0: 64 of 64", "writes 1: 64 of 64"));
}

TEST_F(FusionMappingTest, TransposesGoThroughSharedMemory) {
  const FusionMapping mapping =
      Map("p = f32[64,96] parameter(0) q = f32[96,64] parameter(1) n = f32[64,96] negate(p)\n"
          "t = f32[96,64] transpose(n), dimensions={1,0} m = f32[96,64] multiply(t, q)\n"
          "ROOT r = f32[96,64] exponential(m)");
  EXPECT_EQ(mapping.kind, EmitterKind::kTranspose);
  EXPECT_EQ(mapping.hero().name(), "t");
  ASSERT_EQ(mapping.roots.size(), 1u);
  const ThreadedArray& reads = mapping.roots[0].reads[0];
  const ThreadedArray& writes = mapping.roots[0].writes[0];
  EXPECT_EQ(reads.instruction->name(), "n");
  EXPECT_EQ(writes.instruction->name(), "t");
  EXPECT_EQ(LaunchOf(reads.mapping), "128 x 6, 1");
  EXPECT_EQ(LaunchOf(writes.mapping), "128 x 6, 1");
  // Thread 37 is lane 5 of row 1; the third time it is in row 1 + 2 * 4, on both sides.
  EXPECT_THAT(ElementOf(reads.mapping, 37, 0, {2}), ElementsAre(9, 5));
  EXPECT_THAT(ElementOf(writes.mapping, 37, 0, {2}), ElementsAre(9, 5));
  // 6144 floats in 768 sectors; q is read where the result is written.
  EXPECT_THAT(SectorsOf(entry()),
              ElementsAre("reads 0: 768 of 768", "reads 1: 768 of 768", "writes 0: 768 of 768"));
}

TEST_F(FusionMappingTest, TransposesAreSeenWithNeighboursJoined) {
  // As f32[50,100] to f32[100,50]; both tiles of the first dimension are joined in memory.
  const FusionMapping mapping =
      Map("p = f32[5,10,1,100] parameter(0)\n"
          "ROOT t = f32[100,5,1,10] transpose(p), dimensions={3,0,2,1}");
  EXPECT_EQ(mapping.kind, EmitterKind::kTranspose);
  const ThreadMapping& reads = mapping.array().mapping;
  EXPECT_EQ(LaunchOf(reads), "128 x 8, 1");
  // Row 1 + 4 * 4 = 17 of 50, lane 5.
  EXPECT_THAT(ElementOf(reads, 37, 0, {4}), ElementsAre(1, 7, 0, 5));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 37, 0, {4}), ElementsAre(17, 0, 0, 5));
}

TEST_F(FusionMappingTest, WhichTransposesAreTiled) {
  const auto kind = [&](absl::string_view operand, absl::string_view result,
                        absl::string_view dimensions) {
    return Map(absl::Substitute("p = $0 parameter(0)\nROOT t = $1 transpose(p), dimensions=$2",
                                operand, result, dimensions))
        .kind;
  };
  EXPECT_EQ(kind("f32[16,16]", "f32[16,16]", "{1,0}"), EmitterKind::kTranspose);
  EXPECT_EQ(kind("f32[15,64]", "f32[64,15]", "{1,0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[8,1024]", "f32[1024,8]", "{1,0}"), EmitterKind::kTranspose);
  EXPECT_EQ(kind("f32[8,1023]", "f32[1023,8]", "{1,0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[7,4096]", "f32[4096,7]", "{1,0}"), EmitterKind::kLoop);
  // The minor dimension stays: 8 bytes, 12, one byte 15 times and 16 times.
  EXPECT_EQ(kind("f32[32,48,2]", "f32[48,32,2]", "{1,0,2}"), EmitterKind::kTranspose);
  EXPECT_EQ(kind("f32[32,48,3]", "f32[48,32,3]", "{1,0,2}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("s8[7,48,2]", "s8[48,7,2]", "{1,0,2}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("s8[8,48,2]", "s8[48,8,2]", "{1,0,2}"), EmitterKind::kTranspose);
  EXPECT_EQ(kind("s4[8,48,2]", "s4[48,8,2]", "{1,0,2}"), EmitterKind::kTranspose);
  EXPECT_EQ(kind("f32[64,3,32]", "f32[32,3,64]", "{2,1,0}"), EmitterKind::kTranspose);
  // It moves nothing: the layouts make up for it.
  EXPECT_EQ(kind("f32[64,32]{0,1}", "f32[32,64]{1,0}", "{1,0}"), EmitterKind::kLoop);
  EXPECT_EQ(KindOf("p = f32[64,32]{0,1} parameter(0) ROOT c = f32[64,32]{1,0} copy(p)"),
            "transpose c");
  EXPECT_EQ(KindOf("p = f32[64,32]{1,0} parameter(0) ROOT c = f32[64,32]{1,0} copy(p)"), "loop c");
}

TEST_F(FusionMappingTest, TransposesThatKeepTheirMinorDimensionMoveItWhole) {
  const FusionMapping mapping =
      Map("p = s8[160,170,3] parameter(0)\n"
          "ROOT t = s8[170,160,3] transpose(p), dimensions={1,0,2}");
  EXPECT_EQ(mapping.kind, EmitterKind::kTranspose);
  const ThreadMapping& reads = mapping.array().mapping;
  // 5 x 6 tiles of 32 x 32 pixels of 3 bytes. Tile 7 is the second of rows and of columns.
  EXPECT_EQ(LaunchOf(reads), "128 x 30, 3");
  EXPECT_THAT(ElementOf(reads, 37, 7, {2, 1}), ElementsAre(41, 37, 1));
  // The same block writes that tile.
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 37, 7, {2, 1}), ElementsAre(41, 37, 1));
}

TEST_F(FusionMappingTest, OtherOutputsOfATransposeAreWrittenWhereItReads) {
  const FusionMapping mapping = Map(R"(
    p = f64[24,2,36] parameter(0) q = f64[36,2,24] parameter(1)
    t = f64[36,2,24] transpose(p), dimensions={2,1,0}
    n = f64[36,2,24] negate(q) l = f64[24,2,36] log(p)
    ROOT r = (f64[36,2,24], f64[36,2,24], f64[24,2,36]) tuple(n, t, l))");
  EXPECT_EQ(mapping.kind, EmitterKind::kTranspose);
  EXPECT_EQ(mapping.main_root, 1u);
  // The place in memory of element (9, 0, 5) of p, 9 * 72 + 5 = 653, is (13, 1, 5) of q.
  EXPECT_THAT(ElementOf(mapping.roots[2].reads[0].mapping, 37, 0, {2}), ElementsAre(9, 0, 5));
  EXPECT_THAT(ElementOf(mapping.roots[0].reads[0].mapping, 37, 0, {2}), ElementsAre(13, 1, 5));
}

TEST_F(FusionMappingTest, RowsAreReducedWithTheirEpilogue) {
  Parse(R"(
    p = f32[4096,1024] parameter(0)
    bias = f32[4096] parameter(1)
    init = f32[] parameter(2)
    square = f32[4096,1024] multiply(p, p)
    sum = f32[4096] reduce(square, init), dimensions={1}, to_apply=add
    exp = f32[4096] exponential(sum)
    ROOT r = f32[4096] add(exp, bias))");
  // Neither is fused in the module. A sum with a second operand is no trivial one on the way to a
  // reduce, so that the fusion with all of it is a loop; up to the exponential it is a reduction.
  const auto find = [&](absl::string_view name) { return entry().FindInstruction(name); };
  EXPECT_EQ(MappingForFusion(entry(), &context_)->kind, EmitterKind::kLoop);
  const auto view = FusionView::OfInstructions({find("square"), find("sum"), find("exp")});
  ASSERT_TRUE(view.ok()) << view.status();
  const auto mapping = MappingForFusion(view->computation(), &context_);
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->kind, EmitterKind::kReduction);
  EXPECT_EQ(view->OriginalOf(mapping->hero()), find("sum"));
  EXPECT_EQ(view->OriginalOf(*mapping->array().instruction), find("square"));
  // 1024 / 16 = 64 threads a row, 4 rows in 256 threads; 2 floats at once, 8 times.
  const ThreadMapping& reads = mapping->array().mapping;
  EXPECT_EQ(LaunchOf(reads), "256 x 1024, 2");
  EXPECT_THAT(ElementOf(reads, 64 + 5, 10, {3, 1}), ElementsAre(41, 3 * 128 + 11));
  const ThreadMapping& writes = mapping->roots[0].writes[0].mapping;
  EXPECT_THAT(ElementOf(writes, 64, 10, {}), ElementsAre(41));
  EXPECT_THAT(ElementOf(writes, 65, 10, {}), ElementsAre());
  ExpectOnce(mapping->array());
  ExpectOnce(mapping->roots[0].writes[0]);
  // p: 2^22 floats in 2^19 sectors. The value that sums begin with and the result: a thread of its
  // own warp for each of 4096.
  EXPECT_THAT(
      SectorsOf(view->computation()),
      ElementsAre("reads 0: 524288 of 524288", "reads 1: 4096 of 4096", "writes 0: 4096 of 4096"));
}

TEST_F(FusionMappingTest, ShortRowsShareAWarp) {
  // 8 floats are 4 threads of 2; 256 / 4 = 64 rows a block, 1563 blocks for 132 cores.
  FusionMapping mapping =
      Map("p = f32[100000,8] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[100000] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "256 x 1563, 2");
  EXPECT_THAT(ElementOf(mapping.array().mapping, 4 * 3 + 2, 7, {1}), ElementsAre(451, 5));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 4 * 3, 7, {}), ElementsAre(451));
  // 1000 rows are too few for vectors: 8 threads a row, 32 rows a block.
  mapping =
      Map("p = f32[1000,8] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[1000] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "256 x 32, 1");
}

TEST_F(FusionMappingTest, RowsOfSeveralPartsAreReducedTogether) {
  // [8, 128, 64] with the first and the last reduced. 64 floats would be 32 threads of 2, but the
  // 16 blocks are fewer than 132, and 64 threads are no warp: so 32 threads, 8 rows, vectors of 2.
  const FusionMapping mapping =
      Map("p = f32[8,128,64] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[128] reduce(p, z), dimensions={0,2}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "256 x 16, 2");
  EXPECT_THAT(ElementOf(mapping.array().mapping, 32 * 3 + 5, 2, {7, 1}), ElementsAre(7, 19, 11));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 32 * 3, 2, {}), ElementsAre(19));
}

TEST_F(FusionMappingTest, ColumnsAreReducedInTilesOfWarps) {
  // 32 x 32 threads, 2 columns each: 8 blocks for 512 columns.
  FusionMapping mapping =
      Map("p = f32[2048,512] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[512] reduce(p, z), dimensions={0}, to_apply=add");
  EXPECT_EQ(mapping.kind, EmitterKind::kReduction);
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "1024 x 8, 2");
  // Row 2 + 5 * 32, column 64 + 3 * 2 + 1.
  EXPECT_THAT(ElementOf(mapping.array().mapping, 32 * 2 + 3, 1, {5, 1}), ElementsAre(162, 71));
  // The first lane of warp 3 has the columns 64 + 6 and 64 + 7.
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 96, 1, {1}), ElementsAre(71));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 97, 1, {1}), ElementsAre());
  // A part after the other: the block says which.
  mapping =
      Map("p = f32[3,100,70] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[3,70] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "1024 x 6, 2");
  EXPECT_THAT(ElementOf(mapping.array().mapping, 32 * 2 + 1, 3, {1, 0}), ElementsAre(1, 34, 66));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 32, 3, {0}), ElementsAre(1, 66));
}

TEST_F(FusionMappingTest, FewColumnsAreGoneOverAsOneRow) {
  // 8 columns: 128 threads with 2 floats each have 32 rows at once, 128 times.
  const FusionMapping mapping =
      Map("p = f32[2,4096,8] parameter(0) z = f32[] constant(0)\n"
          "ROOT sum = f32[2,8] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "128 x 2, 2");
  // Element 3 * 256 + 2 * 9 + 1 = 787 of the second part: row 98, column 3.
  EXPECT_THAT(ElementOf(mapping.array().mapping, 9, 1, {3, 1}), ElementsAre(1, 98, 3));
  // Thread 64 comes after 64 and then 192 others: in columns of 32 it is the first of 2 and of 6.
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 64, 1, {1}), ElementsAre(1, 6));
  EXPECT_THAT(ElementOf(mapping.roots[0].writes[0].mapping, 65, 1, {1}), ElementsAre());
}

TEST_F(FusionMappingTest, WhichReductionsAreWorthIt) {
  const auto kind = [&](absl::string_view shape, absl::string_view result,
                        absl::string_view dimensions) {
    return Map(absl::Substitute("p = $0 parameter(0) z = f32[] constant(0)\n"
                                "ROOT r = $1 reduce(p, z), dimensions=$2, to_apply=add",
                                shape, result, dimensions))
        .kind;
  };
  EXPECT_EQ(kind("f32[64,32]", "f32[64]", "{1}"), EmitterKind::kReduction);
  EXPECT_EQ(kind("f32[64,31]", "f32[64]", "{1}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[64,16]", "f32[64]", "{1}"), EmitterKind::kReduction);
  EXPECT_EQ(kind("f32[31,64]", "f32[64]", "{0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[32,64]", "f32[64]", "{0}"), EmitterKind::kReduction);
  EXPECT_EQ(kind("f32[63,31]", "f32[31]", "{0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[127,7]", "f32[7]", "{0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[255,2]", "f32[2]", "{0}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[256,2]", "f32[2]", "{0}"), EmitterKind::kReduction);
  // Neither rows nor columns; all of it, which is a row; nothing of it.
  EXPECT_EQ(kind("f32[8,64,8,64]", "f32[64,64]", "{0,2}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[8,64]", "f32[]", "{0,1}"), EmitterKind::kReduction);
  EXPECT_EQ(kind("f32[64,1]", "f32[64]", "{1}"), EmitterKind::kLoop);
  EXPECT_EQ(kind("f32[0,64]", "f32[0]", "{1}"), EmitterKind::kLoop);
  // A column in one layout is a row in the other.
  EXPECT_EQ(kind("f32[64,31]{1,0}", "f32[31]", "{0}"), EmitterKind::kReduction);
  EXPECT_EQ(kind("f32[33,64]{0,1}", "f32[64]", "{0}"), EmitterKind::kReduction);
  const FusionMapping rows =
      Map("p = f32[33,64]{0,1} parameter(0) z = f32[] constant(0)\n"
          "ROOT r = f32[64] reduce(p, z), dimensions={0}, to_apply=add");
  EXPECT_EQ(LaunchOf(rows.array().mapping), "256 x 8, 1");
}

TEST_F(FusionMappingTest, OtherOutputsOfAReductionAreWrittenWhereItReads) {
  const FusionMapping mapping = Map(R"(
    p = f32[256,64] parameter(0) z = f32[] constant(0)
    x = f32[256,64] negate(p)
    sum = f32[256] reduce(x, z), dimensions={1}, to_apply=add
    ROOT r = (f32[256,64], f32[256]) tuple(x, sum))");
  EXPECT_EQ(mapping.kind, EmitterKind::kReduction);
  EXPECT_EQ(mapping.main_root, 1u);
  EXPECT_EQ(mapping.hero().name(), "sum");
  EXPECT_TRUE(mapping.roots[0].reads[0].mapping.map == mapping.roots[1].reads[0].mapping.map);
  // An operand that both read in the same way is read once: 2^14 floats in 2^11 sectors.
  EXPECT_THAT(SectorsOf(entry()), ElementsAre("reads 0: 2048 of 2048", "writes 0: 2048 of 2048",
                                              "writes 1: 256 of 256"));
}

TEST_F(FusionMappingTest, SeveralValuesAreReducedTogether) {
  Parse("p = f32[1] parameter(0) ROOT r = f32[1] negate(p)");
  auto module = ParseAndVerifyModule(R"(
    both {
      a = f32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = s32[] parameter(3)
      x = f32[] add(a, c) y = s32[] add(b, d) ROOT t = (f32[], s32[]) tuple(x, y) }
    ENTRY e {
      p = f32[256,64] parameter(0) q = s32[256,64] parameter(1)
      z = f32[] constant(0) i = s32[] constant(0)
      two = (f32[256], s32[256]) reduce(p, q, z, i), dimensions={1}, to_apply=both
      first = f32[256] get-tuple-element(two), index=0
      second = s32[256] get-tuple-element(two), index=1
      n = s32[256] negate(second)
      ROOT r = (f32[256], s32[256]) tuple(first, n) })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto mapping = MappingForFusion(*(*module)->entry_computation(), &context_);
  ASSERT_TRUE(mapping.ok()) << mapping.status();
  EXPECT_EQ(mapping->kind, EmitterKind::kReduction);
  EXPECT_EQ(mapping->hero().name(), "two");
  ASSERT_EQ(mapping->roots.size(), 2u);
  EXPECT_EQ(mapping->roots[1].writes[0].leaf, 1);
  EXPECT_THAT(SectorsOf(*(*module)->entry_computation()),
              ElementsAre("reads 0: 2048 of 2048", "reads 1: 2048 of 2048", "writes 0: 256 of 256",
                          "writes 1: 256 of 256"));
}

TEST_F(FusionMappingTest, PiecesAreWrittenByTheThreadsOfTheLargest) {
  const FusionMapping mapping = Map(R"(
    p = f32[64,100] parameter(0) q = f32[64,28] parameter(1) s = f32[64,128] parameter(2)
    n = f32[64,28] negate(q)
    c = f32[64,128] concatenate(p, n), dimensions={1}
    ROOT r = f32[64,128] add(c, s))");
  EXPECT_EQ(mapping.kind, EmitterKind::kConcatenate);
  EXPECT_EQ(mapping.hero().name(), "c");
  const std::vector<ThreadedArray>& pieces = mapping.roots[0].reads;
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_EQ(LaunchOf(pieces[0].mapping), "128 x 50, 1");
  EXPECT_EQ(pieces[1].instruction->name(), "n");
  // Element 128 + 10 = 138 of the first is (1, 38), which the second does not have; 110 is (1, 10).
  EXPECT_THAT(ElementOf(pieces[0].mapping, 10, 1, {}), ElementsAre(1, 38));
  EXPECT_THAT(ElementOf(pieces[1].mapping, 10, 1, {}), ElementsAre());
  EXPECT_THAT(ElementOf(pieces[1].mapping, 110, 0, {}), ElementsAre(1, 10));
  // Both pieces are written into rows of 128 floats, the first from their beginnings on; s is read
  // where they are written.
  const auto fusion = CoalescingOfFusion(entry(), &context_);
  ASSERT_TRUE(fusion.ok()) << fusion.status();
  ASSERT_EQ(fusion->accesses.size(), 6u);
  EXPECT_EQ(fusion->accesses[2].access.number, 2);
  EXPECT_TRUE(fusion->accesses[2].coalescing[0].sectors ==
              fusion->accesses[4].coalescing[0].sectors);
}

TEST_F(FusionMappingTest, VectorsOfPiecesStayInThem) {
  const auto launch = [&](int64_t a, int64_t b) {
    return LaunchOf(
        Map(absl::Substitute("p = f32[1024,$0] parameter(0) q = f32[1024,$1] parameter(1)\n"
                             "ROOT c = f32[1024,$2] concatenate(p, q), dimensions={1}",
                             a, b, a + b))
            .array()
            .mapping);
  };
  EXPECT_EQ(launch(512, 100), "128 x 1024, 4");
  EXPECT_EQ(launch(512, 102), "128 x 2048, 2");
  EXPECT_EQ(launch(512, 101), "128 x 4096, 1");
}

constexpr char kUpdate[] = R"(
    p = f32[100,64] parameter(0) u = f32[2,64] parameter(1) i = s32[] parameter(2)
    z = s32[] constant(0) n = f32[2,64] negate(u)
    d = f32[100,64] dynamic-update-slice(p, n, i, z)
    ROOT r = f32[6400] bitcast(d))";

TEST_F(FusionMappingTest, UpdatesInPlaceTouchNothingElse) {
  const FusionMapping mapping = Map(kUpdate);
  EXPECT_EQ(mapping.kind, EmitterKind::kInPlaceUpdate);
  EXPECT_EQ(mapping.hero().name(), "d");
  EXPECT_EQ(mapping.array().instruction->name(), "n");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "128 x 1, 1");
  // 128 floats are read and written in 16 sectors, wherever the row begins; each of 4 warps reads
  // the start. p is not read.
  EXPECT_THAT(SectorsOf(entry()),
              ElementsAre("reads 1: 16 of 16", "reads 2: 4 of 4", "writes 0: 16 of 16"));
}

TEST_F(FusionMappingTest, SeveralUpdatesAreMadeInPlaceTogether) {
  const FusionMapping mapping = Map(R"(
    p = f32[100,64] parameter(0) q = f32[50,64] parameter(1) u = f32[2,64] parameter(2)
    i = s32[] parameter(3)
    d = f32[100,64] dynamic-update-slice(p, u, i, i) e = f32[50,64] dynamic-update-slice(q, u, i, i)
    ROOT r = (f32[100,64], f32[50,64]) tuple(d, e))");
  EXPECT_EQ(mapping.kind, EmitterKind::kInPlaceUpdate);
  EXPECT_THAT(SectorsOf(entry()), ElementsAre("reads 2: 16 of 16", "reads 3: 4 of 4",
                                              "writes 0: 16 of 16", "writes 1: 16 of 16"));
}

TEST_F(FusionMappingTest, UpdatesOfWhatIsReadElsewhereAreLoops) {
  EXPECT_EQ(KindOf("p = f32[100,64] parameter(0) u = f32[2,64] parameter(1)\n"
                   "i = s32[] parameter(2) n = f32[100,64] negate(p)\n"
                   "ROOT d = f32[100,64] dynamic-update-slice(n, u, i, i)"),
            "loop d");
  EXPECT_EQ(KindOf("p = f32[100,64] parameter(0) i = s32[] parameter(1)\n"
                   "u = f32[2,64] slice(p), slice={[0:2], [0:64]}\n"
                   "ROOT d = f32[100,64] dynamic-update-slice(p, u, i, i)"),
            "loop d");
}

TEST_F(FusionMappingTest, UpdatesOfAScatterAreGoneOver) {
  Map(R"(
    p = f32[100,64] parameter(0) i = s32[30,1] parameter(1) u = f32[30,64] parameter(2)
    ROOT s = f32[100,64] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)");
  const auto fusion = CoalescingOfFusion(entry(), &context_);
  ASSERT_TRUE(fusion.ok()) << fusion.status();
  EXPECT_EQ(fusion->mapping.kind, EmitterKind::kScatter);
  EXPECT_EQ(fusion->mapping.array().instruction->name(), "u");
  // 1920 floats in 240 sectors; each of 60 warps reads the index of its row.
  EXPECT_THAT(SectorsOf(entry()), ElementsAre("reads 1: 60 of 60", "reads 2: 240 of 240",
                                              "writes 0: [0, 240] of [0, 240]"));
}

TEST_F(FusionMappingTest, HeroesAreFoundThroughTrivialInstructions) {
  constexpr char kTransposed[] =
      "p = f32[64,64] parameter(0) q = f32[64,64] parameter(1)\n"
      "t = f32[64,64] transpose(p), dimensions={1,0}\n";
  const auto kind = [&](absl::string_view rest) { return KindOf(absl::StrCat(kTransposed, rest)); };
  EXPECT_EQ(kind("n = f32[64,64] negate(t) ROOT b = f32[4096] bitcast(n)"), "transpose t");
  EXPECT_EQ(kind("ROOT a = f32[64,64] add(t, q)"), "transpose t");
  EXPECT_EQ(kind("l = pred[64,64] compare(q, t), direction=LT\n"
                 "ROOT a = f32[64,64] select(l, q, t)"),
            "transpose t");
  // Another transpose beside it; something else than elementwise on the way; used twice.
  EXPECT_EQ(kind("u = f32[64,64] transpose(q), dimensions={1,0} ROOT a = f32[64,64] add(t, u)"),
            "loop a");
  EXPECT_EQ(kind("ROOT a = f32[64,64] reverse(t), dimensions={0}"), "loop a");
  EXPECT_EQ(kind("v = f32[64,64] reverse(t), dimensions={0} ROOT a = f32[64,64] add(t, v)"),
            "loop a");
  EXPECT_EQ(kind("ROOT a = f32[64,64] add(p, q)"), "loop a");
  constexpr char kReduced[] =
      "p = f32[64,64] parameter(0) z = f32[] constant(0)\n"
      "s = f32[64] reduce(p, z), dimensions={1}, to_apply=add\n";
  const auto reduced = [&](absl::string_view rest) { return KindOf(absl::StrCat(kReduced, rest)); };
  EXPECT_EQ(reduced("n = f32[64] negate(s) ROOT b = f32[8,8] reshape(n)"), "reduction s");
  EXPECT_EQ(reduced("ROOT b = f32[64,2] broadcast(s), dimensions={0}"), "loop b");
  // Reductions of two forms are not made together.
  EXPECT_EQ(reduced("c = f32[64] reduce(p, z), dimensions={0}, to_apply=add\n"
                    "ROOT b = (f32[64], f32[64]) tuple(s, c)"),
            "loop s");
}

TEST_F(FusionMappingTest, ThreadsLeadToParameters) {
  const FusionMapping mapping =
      Map("p = f32[64,96] parameter(0)\nROOT t = f32[96,64] transpose(p), dimensions={1,0}");
  const auto accesses = AccessesOf(mapping, &context_);
  ASSERT_TRUE(accesses.ok()) << accesses.status();
  ASSERT_EQ(accesses->accesses.size(), 2u);
  const ThreadAccess& read = accesses->accesses[0];
  EXPECT_EQ(read.kind, ThreadAccess::Kind::kRead);
  const auto threads = FromThreads(read);
  ASSERT_TRUE(threads.ok()) << threads.status();
  ASSERT_EQ(threads->size(), 1u);
  // Tiles are counted along the lanes first, 3 of them.
  EXPECT_EQ(
      threads->begin()->ToString(),
      "(th_x, th_y, bl_x)[s0] -> (th_y + (bl_x floordiv 3) * 32 + s0 * 4, th_x + (bl_x mod 3) "
      "* 32), domain: th_x in [0, 31], th_y in [0, 3], bl_x in [0, 5], s0 in [0, 7]");
}

using Indices = std::vector<int64_t>;

// The elements of an array that each block goes over.
std::vector<std::set<Indices>> ElementsOfBlocks(const ThreadedArray& array) {
  std::vector<std::set<Indices>> elements(array.mapping.NumBlocks());
  const absl::Status status = array.mapping.map.ForEachPoint(
      int64_t{1} << 24,
      [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> results) {
        elements[dims[array.mapping.block_dims[0]]].insert(results.vec());
      });
  EXPECT_TRUE(status.ok()) << status;
  return elements;
}

// A block of a tiled transpose can only write what it has put into its shared memory.
TEST_F(FusionMappingTest, BlocksOfTransposesWriteWhatTheyRead) {
  const std::vector<std::pair<Indices, Indices>> transposes = {{{64, 96}, {1, 0}},
                                                               {{40, 70}, {1, 0}},
                                                               {{3, 64, 33}, {0, 2, 1}},
                                                               {{2, 33, 3, 40}, {0, 3, 2, 1}},
                                                               {{33, 2, 40}, {2, 1, 0}},
                                                               {{33, 3, 40}, {2, 0, 1}},
                                                               {{2, 48, 3, 40}, {2, 3, 0, 1}},
                                                               {{40, 3, 48, 2}, {2, 1, 0, 3}}};
  for (const auto& [sizes, permutation] : transposes) {
    const auto permuted = [&](const Indices& of) {
      Indices result;
      for (const int64_t i : permutation) result.push_back(of[i]);
      return result;
    };
    const std::string shape = absl::StrJoin(sizes, ",");
    const FusionMapping mapping = Map(absl::StrCat(
        "p = f32[", shape, "] parameter(0)\nROOT t = f32[", absl::StrJoin(permuted(sizes), ","),
        "] transpose(p), dimensions={", absl::StrJoin(permutation, ","), "}"));
    ASSERT_EQ(mapping.kind, EmitterKind::kTranspose) << shape;
    std::vector<std::set<Indices>> read = ElementsOfBlocks(mapping.roots[0].reads[0]);
    for (std::set<Indices>& of_block : read) {
      std::set<Indices> transposed;
      for (const Indices& element : of_block) transposed.insert(permuted(element));
      of_block = std::move(transposed);
    }
    EXPECT_EQ(ElementsOfBlocks(mapping.roots[0].writes[0]), read) << shape;
  }
}

// p is read twice: into shared memory, and for the sum, by threads that go over the result.
TEST_F(FusionMappingTest, WhatIsReadAgainAfterTheExchangeCountsAgain) {
  const FusionMapping mapping =
      Map("p = f32[64,64] parameter(0)\nt = f32[64,64] transpose(p), dimensions={1,0}\n"
          "ROOT a = f32[64,64] add(p, t)");
  const auto accesses = AccessesOf(mapping, &context_);
  ASSERT_TRUE(accesses.ok()) << accesses.status();
  ASSERT_EQ(accesses->accesses.size(), 3u);
  EXPECT_EQ(accesses->accesses[0].array.instruction->name(), "p");
  EXPECT_EQ(accesses->accesses[1].kind, ThreadAccess::Kind::kRead);
  EXPECT_EQ(accesses->accesses[1].array.instruction->name(), "t");
  EXPECT_EQ(accesses->accesses[2].kind, ThreadAccess::Kind::kWrite);
}

TEST_F(FusionMappingTest, EveryNumberOfACoreCounts) {
  constexpr char kText[] = "p = f32[64,64] parameter(0) ROOT r = f32[64,64] negate(p)";
  EXPECT_EQ(LaunchOf(Map(kText).array().mapping), "128 x 32, 1");
  EmitterOptions small{.warp_size = 64, .core_count = 2, .threads_per_core = 1024};
  EXPECT_EQ(LaunchOf(Map(kText, small).array().mapping), "256 x 4, 4");
}

TEST_F(FusionMappingTest, SaysWhatIsWrong) {
  const auto expect = [&](const EmitterOptions& options, absl::string_view message) {
    const auto mapping = MappingForFusion(entry(), &context_, options);
    EXPECT_EQ(mapping.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(mapping.status().message()), HasSubstr(std::string(message)));
    EXPECT_FALSE(CoalescingOfFusion(entry(), &context_, options).ok());
  };
  Parse("p = f32[4] parameter(0) ROOT n = f32[4] negate(p)");
  expect({.warp_size = 16}, "the warp size is 16");
  expect({.core_count = 0}, "a GPU of 0 cores");
  expect({.core_count = int64_t{1} << 40, .threads_per_core = int64_t{1} << 40}, "int64");
  EXPECT_FALSE(CoalescingOfFusion(entry(), &context_, {}, {.warp_size = 7}).ok());
  Parse("ROOT t = token[] after-all()");
  expect({}, "computation 'e' computes no array that threads could go over");
  Parse("p = f32[?] parameter(0) ROOT n = f32[?] negate(p)");
  expect({}, "unbounded");
}

TEST_F(FusionMappingTest, QuestionsThatTakeTooMuchSaySo) {
  // 2^13 arrays, all of them one.
  std::string text = "t0 = f32[4] parameter(0)\n";
  std::string shape = "f32[4]";
  for (int i = 0; i < 13; ++i) {
    shape = absl::Substitute("($0, $0)", shape);
    absl::StrAppend(&text, absl::Substitute("$0 t$1 = $2 tuple(t$3, t$3)\n", i == 12 ? "ROOT" : "",
                                            i + 1, shape, i));
  }
  Parse(text);
  const absl::Status many = MappingForFusion(entry(), &context_).status();
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.message()), HasSubstr("8192 arrays, more than 4096"));
  Parse("p = f32[4] parameter(0) n = f32[4] negate(p) ROOT m = f32[4] abs(n)");
  const auto mapping = MappingForFusion(entry(), &context_);
  ASSERT_TRUE(mapping.ok());
  const QuestionBudget budget(1);
  EXPECT_EQ(MappingForFusion(entry(), &context_).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AccessesOf(*mapping, &context_).status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(FusionMappingTest, HugeArraysAreOrdinary) {
  FusionMapping mapping =
      Map("p = f32[4611686018427387904] parameter(0) ROOT n = f32[4611686018427387904] negate(p)");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "128 x 9007199254740992, 4");
  mapping =
      Map("p = f32[2147483648,2147483648] parameter(0) z = f32[] constant(0)\n"
          "ROOT s = f32[2147483648] reduce(p, z), dimensions={1}, to_apply=add");
  EXPECT_EQ(LaunchOf(mapping.array().mapping), "1024 x 2147483648, 2");
}

}  // namespace
}  // namespace xla_indexing
