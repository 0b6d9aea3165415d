#include "xla_indexing/query/utilization/utilization.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

class UtilizationTest : public ::testing::Test {
 protected:
  // The report about the root of an entry, whose calls are looked into, or about the entry as one
  // fusion.
  UtilizationReport Of(absl::string_view entry, bool as_fusion = false) {
    auto module = ParseAndVerifyModule(absl::StrCat(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
        "ENTRY e {\n",
        entry, "\n}\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    modules_.push_back(*std::move(module));
    const HloComputation& computation = *modules_.back()->entry_computation();
    const auto report = as_fusion ? ComputeUtilization(computation, &context_)
                                  : ComputeUtilization(*computation.root_instruction(), &context_);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    // Indexers that were asked about all modules before give the same report.
    const auto kept = as_fusion ? ComputeUtilization(computation, indexers_)
                                : ComputeUtilization(*computation.root_instruction(), indexers_);
    EXPECT_TRUE(kept.ok() && kept->operands == report->operands && kept->total == report->total);
    return *report;
  }

  static void Expect(const UtilizationReport& report, size_t operand, Interval elements_read,
                     Interval reads) {
    ASSERT_LT(operand, report.operands.size());
    EXPECT_EQ(report.operands[operand].utilization.elements_read, elements_read);
    EXPECT_EQ(report.operands[operand].utilization.reads, reads);
  }
  static void Expect(const UtilizationReport& report, size_t operand, int64_t elements_read,
                     int64_t reads) {
    Expect(report, operand, Interval::Point(elements_read), Interval::Point(reads));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloIndexers indexers_{&context_};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

// Tiles make 8 rows of 128 of one column; the alignment, 12 of 10; without either there is none.
TEST_F(UtilizationTest, BuffersHaveThePaddingOfTheirLayout) {
  const auto of = [&](absl::string_view shape) {
    const UtilizationReport report = Of(absl::StrCat("p = ", shape, R"( parameter(0)
        b = f32[] constant(1)
        ROOT r = )",
                                                     shape, " negate(p)"));
    EXPECT_EQ(report.operands.size(), 1u);
    return report.operands[0].utilization;
  };
  EXPECT_EQ(of("f32[8,1]{1,0:T(8,128)}").bytes, Interval::Point(32));
  EXPECT_EQ(of("f32[8,1]{1,0:T(8,128)}").buffer_bytes, Interval::Point(4096));
  EXPECT_EQ(of("f32[8,1]{1,0:T(8,128)}").PaddingFactor(), 128);
  EXPECT_EQ(of("f32[10]{0:L(4)}").buffer_bytes, Interval::Point(48));
  EXPECT_EQ(of("f32[10]").buffer_bytes, Interval::Point(40));
  EXPECT_EQ(of("f32[10]").PaddingFactor(), 1);
  EXPECT_EQ(of("s4[3]{0:E(4)}").buffer_bytes, Interval::Point(2));
  EXPECT_EQ(of("f32[0,8]{1,0:T(8,128)}").buffer_bytes, Interval::Point(0));
  EXPECT_EQ(of("f32[0,8]{1,0:T(8,128)}").PaddingFactor(), std::nullopt);
  EXPECT_EQ(of("f32[4]{0:SC(0:2)}").buffer_bytes, std::nullopt);
}

// What names memory that is there moves none of it; one fusion writes what its root is.
// Steps that are one-to-one are so together.
TEST_F(UtilizationTest, ChainsReadEachElementOnce) {
  constexpr size_t kSteps = 5;
  const std::vector<std::string> shapes = {"f32[8,128,12,64]", "f32[16,48,1024]", "f32[6,2048,64]",
                                           "f32[96,4,2048]", "f32[1024,768]"};
  std::string chain = "x0 = f32[8,128,12,64] parameter(0)";
  for (size_t i = 0; i < kSteps; ++i) {
    // The dimensions in reverse.
    std::vector<std::string> sizes =
        absl::StrSplit(absl::StripSuffix(shapes[i % shapes.size()].substr(4), "]"), ',');
    std::string order;
    for (size_t k = sizes.size(); k-- > 0;) absl::StrAppend(&order, k, k > 0 ? "," : "");
    std::reverse(sizes.begin(), sizes.end());
    absl::StrAppend(&chain, "\ny", i, " = f32[", absl::StrJoin(sizes, ","), "] transpose(x", i,
                    "), dimensions={", order, "}\n", i + 1 == kSteps ? "ROOT " : "", "x", i + 1,
                    " = ", shapes[(i + 1) % shapes.size()], " reshape(y", i, ")");
  }
  const UtilizationReport report = Of(chain, /*as_fusion=*/true);
  Expect(report, 0, 786432, 786432);
}

// The gradient of an embedding: an element of the updates goes to one row of the table, or to none
// where its index is outside.
TEST_F(UtilizationTest, UpdatesOfAScatterAreReadOnceAtMost) {
  constexpr absl::string_view kBegin = R"(table = f32[50000,1024] parameter(0)
      i = s32[4096,1] parameter(1)
      u = f32[4096,1024] parameter(2)
      )";
  constexpr absl::string_view kEnd =
      ", u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add\n";
  const std::string anywhere =
      absl::StrCat(kBegin, "ROOT s = f32[50000,1024] scatter(table, i", kEnd);
  Expect(Of(anywhere), 2, Interval::Closed(0, 4194304), Interval::Closed(0, 4194304));
  const std::string inside = absl::StrCat(
      kBegin, "m = s32[] constant(32767) ms = s32[4096,1] broadcast(m), dimensions={}\n",
      "c = s32[4096,1] and(i, ms)\nROOT s = f32[50000,1024] scatter(table, c", kEnd);
  Expect(Of(inside), 2, 4194304, 4194304);
  Expect(Of(inside, /*as_fusion=*/true), 2, 4194304, 4194304);
  const std::string flat = absl::StrCat(kBegin, "s = f32[50000,1024] scatter(table, i", kEnd,
                                        "t = f32[1024,50000] transpose(s), dimensions={1,0}\n",
                                        "ROOT r = f32[512,100000] reshape(t)");
  Expect(Of(flat, /*as_fusion=*/true), 2, Interval::Closed(0, 4194304),
         Interval::Closed(0, 4194304));
}

TEST_F(UtilizationTest, AliasesAreNoTraffic) {
  constexpr absl::string_view kTuple = R"(p = f32[8] parameter(0)
         q = f32[4] parameter(1)
         ROOT t = (f32[8], f32[4]) tuple(p, q))";
  EXPECT_EQ(Of(kTuple).total, Traffic());
  EXPECT_EQ(Of(kTuple).operands.size(), 2u);
  EXPECT_EQ(Of(kTuple, /*as_fusion=*/true).total.bytes_written, Interval::Point(48));
  EXPECT_EQ(Of("p = f32[8] parameter(0)\nROOT b = f32[2,4] bitcast(p)").total, Traffic());
  EXPECT_EQ(Of("p = (f32[8], f32[4]) parameter(0)\n"
               "ROOT g = f32[4] get-tuple-element(p), index=1")
                .total,
            Traffic());
}

TEST_F(UtilizationTest, LeavesThatALoopPassesThroughAreNoTraffic) {
  auto module = ParseAndVerifyModule(R"(HloModule m
c { s = (pred[], f32[100], f32[8]) parameter(0)
    ROOT i = pred[] get-tuple-element(s), index=0 }
b { s = (pred[], f32[100], f32[8]) parameter(0)
    i = pred[] get-tuple-element(s), index=0
    n = pred[] not(i)
    big = f32[100] get-tuple-element(s), index=1
    v = f32[8] get-tuple-element(s), index=2
    w = f32[8] negate(v)
    ROOT r = (pred[], f32[100], f32[8]) tuple(n, big, w) }
ENTRY e { s = (pred[], f32[100], f32[8]) parameter(0)
          ROOT w = (pred[], f32[100], f32[8]) while(s), condition=c, body=b })");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto report =
      ComputeUtilization(*(*module)->entry_computation()->root_instruction(), &context_);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->total.bytes_written, Interval::Point(1 + 32));
  EXPECT_EQ(report->total.bytes_read.upper(), 1 + 32);
}

TEST_F(UtilizationTest, WindowsOverlapAndPaddingIsNotRead) {
  const UtilizationReport report = Of(
      R"(p = f32[10] parameter(0)
         z = f32[] parameter(1)
         ROOT r = f32[10] reduce-window(p, z), window={size=3 pad=1_1}, to_apply=add)");
  // Windows of 3 around each of 10; two of the 30 places are padding.
  Expect(report, 0, 10, 28);
}

TEST_F(UtilizationTest, ConvolutionReadsWindowsAndTheWholeKernel) {
  const UtilizationReport report = Of(
      R"(x = f32[2,11,11,3] parameter(0)
         k = f32[3,3,3,8] parameter(1)
         ROOT c = f32[2,5,5,8] convolution(x, k), window={size=3x3 stride=2x2},
           dim_labels=b01f_01io->b01f)");
  // Windows at 0, 2, .., 8 of 3 cover 0 .. 10. Each of 2*5*5*8 outputs reads 27 and 27.
  Expect(report, 0, 2 * 11 * 11 * 3, 400 * 27);
  Expect(report, 1, 3 * 3 * 3 * 8, 400 * 27);
}

TEST_F(UtilizationTest, StrideBeyondTheWindowLeavesGaps) {
  Expect(Of(R"(p = f32[100,100] parameter(0)
               z = f32[] parameter(1)
               ROOT r = f32[25,50] reduce-window(p, z), window={size=3x1 stride=4x2}, to_apply=add)"),
         0, 75 * 50, 25 * 50 * 3);
}

TEST_F(UtilizationTest, PaddingIsCountedExactly) {
  const UtilizationReport report = Of(R"(p = f32[10] parameter(0)
      v = f32[] parameter(1)
      ROOT q = f32[24] pad(p, v), padding=2_3_1)");
  Expect(report, 0, 10, 10);
  // 10 + 9 + 2 + 3 elements, of which 10 are the operand's.
  Expect(report, 1, 1, 14);
}

TEST_F(UtilizationTest, UpdatedElementsAreNotReadWhereverTheUpdateIs) {
  const UtilizationReport report = Of(R"(p = f32[20,30] parameter(0)
      u = f32[5,10] parameter(1)
      i = s32[] parameter(2)
      j = s32[] parameter(3)
      ROOT d = f32[20,30] dynamic-update-slice(p, u, i, j))");
  Expect(report, 0, 550, 550);
  Expect(report, 1, 50, 50);
  EXPECT_TRUE(report.operands[0].utilization.has_runtime_values);
}

TEST_F(UtilizationTest, SlicesOfOneSizeAreThatSizeWhereverTheyAre) {
  const UtilizationReport report = Of(R"(p = f32[1000000] parameter(0)
      i = s64[] parameter(1)
      ROOT d = f32[7] dynamic-slice(p, i), dynamic_slice_sizes={7})");
  Expect(report, 0, 7, 7);
  Expect(report, 1, 1, 7);
}

TEST_F(UtilizationTest, GatheredRowsMayBeTheSame) {
  const UtilizationReport report = Of(R"(t = f32[100,8] parameter(0)
      i = s32[5,1] parameter(1)
      ROOT g = f32[5,8] gather(t, i), offset_dims={1}, collapsed_slice_dims={0},
        start_index_map={0}, index_vector_dim=1, slice_sizes={1,8})");
  Expect(report, 0, Interval::Closed(8, 40), Interval::Point(40));
}

TEST_F(UtilizationTest, TwoSlicesOverlapAsTheirStartsSay) {
  const UtilizationReport report = Of(
      R"(p = f32[10] parameter(0)
         i = s32[] parameter(1)
         a = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
         b = f32[4] slice(p), slice={[0:4]}
         ROOT r = f32[4] add(a, b))",
      /*as_fusion=*/true);
  Expect(report, 0, Interval::Closed(4, 8), Interval::Point(8));
}

// All updates are one value, and update k goes to places[k]: no output may need it, or both, each
// for another update.
TEST_F(UtilizationTest, EachOutputMayNeedAnotherOfTheValuesOfOneBinding) {
  const UtilizationReport report = Of(
      R"(x = f32[2] parameter(0)
         u = f32[] parameter(1)
         places = s32[7] parameter(2)
         all = f32[7] broadcast(u), dimensions={}
         ROOT s = f32[2] scatter(x, places, all), update_window_dims={}, inserted_window_dims={0},
           scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)",
      /*as_fusion=*/true);
  Expect(report, 1, Interval::Closed(0, 1), Interval::Closed(0, 2));
}

TEST_F(UtilizationTest, BytesArePackedAndRoundedUp) {
  const UtilizationReport report =
      Of("p = s4[9] parameter(0)\nROOT s = s4[3] slice(p), slice={[0:9:3]}");
  const Utilization& utilization = report.operands[0].utilization;
  EXPECT_EQ(utilization.bytes, Interval::Point(5));
  EXPECT_EQ(utilization.bytes_read, Interval::Point(2));
  EXPECT_EQ(report.total.bytes_written, Interval::Point(2));
  EXPECT_EQ(BytesOf(Interval::Point(3), *ParseShape("s4[9]{0:E(8)}")), Interval::Point(3));
  EXPECT_EQ(BytesOf(Interval::Point(3), *ParseShape("pred[9]")), Interval::Point(3));
}

TEST_F(UtilizationTest, ACacheReadsAValueOnceForAllOperandsAndOutputs) {
  const UtilizationReport report = Of(
      R"(p = f32[10] parameter(0)
         a = f32[6] slice(p), slice={[0:6]}
         b = f32[6] slice(p), slice={[4:10]}
         ROOT t = (f32[6], f32[6]) tuple(a, b))",
      /*as_fusion=*/true);
  EXPECT_EQ(report.total.bytes_of_reads, Interval::Point(48));
  EXPECT_EQ(report.total.bytes_read, Interval::Point(40));
  EXPECT_EQ(report.total.bytes_written, Interval::Point(48));
  const UtilizationReport twice = Of("p = f32[10] parameter(0)\nROOT r = f32[10] add(p, p)");
  EXPECT_EQ(twice.total.bytes_of_reads, Interval::Point(80));
  EXPECT_EQ(twice.total.bytes_read, Interval::Point(40));
}

TEST_F(UtilizationTest, SizesOfZeroAndOneAreOrdinary) {
  Expect(Of("p = f32[0,5] parameter(0)\nROOT n = f32[0,5] negate(p)"), 0, 0, 0);
  Expect(Of("p = f32[] parameter(0)\nROOT b = f32[1,0] broadcast(p), dimensions={}"), 0, 0, 0);
  Expect(Of("p = f32[1,1] parameter(0)\nROOT r = f32[] reshape(p)"), 0, 1, 1);
}

TEST_F(UtilizationTest, CountsPastInt64AreIntervals) {
  const UtilizationReport report = Of(R"(a = pred[2147483648,1048576] parameter(0)
            b = pred[1048576,2147483648] parameter(1)
            ROOT d = pred[2147483648,2147483648] dot(a, b), lhs_contracting_dims={1},
              rhs_contracting_dims={0})");
  // 2^31 * 2^20 elements; 2^31 * 2^31 * 2^20 reads.
  Expect(report, 0, Interval::Point(int64_t{1} << 51), Interval::AtLeast(INT64_MAX));
  EXPECT_FALSE(report.operands[0].utilization.IsExact());
  Expect(Of("p = s8[9223372036854775807] parameter(0)\n"
            "ROOT n = s8[9223372036854775807] negate(p)"),
         0, INT64_MAX, INT64_MAX);
  EXPECT_EQ(BytesOf(Interval::Point(INT64_MAX), *ParseShape("f32[2]")),
            Interval::AtLeast(INT64_MAX));
}

TEST_F(UtilizationTest, OperandsThatAreNotAnalysedMayBeReadOrNot) {
  const UtilizationReport report =
      Of("p = f32[4] parameter(0)\nROOT c = f32[4] custom-call(p), custom_call_target=\"f\"");
  Expect(report, 0, Interval::Closed(0, 4), Interval::Closed(0, 16));
}

TEST_F(UtilizationTest, OperandsThatNothingReadsHaveNoReads) {
  const UtilizationReport report =
      Of("p = f32[4] parameter(0)\nq = f32[3] parameter(1)\nROOT n = f32[4] negate(p)",
         /*as_fusion=*/true);
  ASSERT_EQ(report.operands.size(), 2);
  EXPECT_EQ(report.operands[1].operand, 1);
  Expect(report, 1, 0, 0);
}

}  // namespace
}  // namespace xla_indexing
