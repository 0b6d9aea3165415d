#include "xla_indexing/report/advice/report_module.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/Support/JSON.h"
#include "tests/testing/check_advice.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/report_sums.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ReportModuleTest : public ::testing::Test {
 protected:
  // The report, whose advice is checked; `fuse` as XLA would.
  ModuleReport Of(absl::string_view text, bool fuse = false) {
    auto module = ParseAndVerifyModule(std::string(text));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    modules_.push_back(*std::move(module));
    auto report = ReportWithCheckedAdvice(*modules_.back(), fuse);
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return {};
    ExpectReportAddsUp(report->report);
    if (report->module != nullptr) modules_.push_back(std::move(report->module));
    return std::move(report->report);
  }

  std::vector<std::unique_ptr<HloModule>> modules_;
};

// A loop that writes one of 16 rows of 1 KiB in each of 16 iterations.
constexpr absl::string_view kCache = R"(HloModule m HEADER
b { s = (s32[], f32[16,256]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    c = f32[16,256] get-tuple-element(s), index=1
    one = s32[] constant(1)
    zero = s32[] constant(0)
    next = s32[] add(i, one)
    x = f32[] constant(2)
    row = f32[1,256] broadcast(x), dimensions={}
    u = f32[16,256] dynamic-update-slice(c, row, i, zero)
    ROOT t = (s32[], f32[16,256]) tuple(next, u) }
c { s = (s32[], f32[16,256]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(16)
    ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { j = s32[] constant(0)
          cache = f32[16,256] parameter(0), metadata={op_name="cache['k']"}
          t = (s32[], f32[16,256]) tuple(j, cache)
          w = (s32[], f32[16,256]) while(t), condition=c, body=b
          ROOT r = f32[16,256] get-tuple-element(w), index=1 })";

TEST_F(ReportModuleTest, ALoopThatUpdatesARowWritesTheRow) {
  const ModuleReport report = Of(absl::StrReplaceAll(kCache, {{"HEADER", ""}}), /*fuse=*/true);
  // The rows and the counter 16 times; the copies of the cache and of the counter.
  EXPECT_EQ(report.totals.bytes_written, Interval::Point(16 * 1024 + 16 * 4 + 16384 + 4));
  EXPECT_EQ(report.totals.bytes_read, Interval::Point(16 * 4 + 16 * 4 + 16384 + 4));
  const std::string text = ReportText(report, {.top = 20});
  EXPECT_THAT(text, HasSubstr("XLA has to copy it: cache is a parameter that is not donated"));
  EXPECT_THAT(text, HasSubstr("1. donate cache: 1 array, whose buffer a result may have"));
  ASSERT_EQ(report.advice.size(), 1u);
  EXPECT_EQ(report.advice[0].traffic, 2 * 16384);
  EXPECT_EQ(report.advice[0].memory, 16384);
  const ModuleReport donated =
      Of(absl::StrReplaceAll(kCache, {{"HEADER", ", input_output_alias={ {}: (0, {}) }"}}), true);
  EXPECT_EQ(donated.totals.traffic, report.totals.traffic - 2 * 16384);
  EXPECT_THAT(donated.advice, IsEmpty());
}

// The kernel reads and writes the row that it updates, as XLA makes it.
TEST_F(ReportModuleTest, ARowIsReadAndWrittenInPlace) {
  const ModuleReport report = Of(R"(HloModule m, is_scheduled=true
f { p = f32[16,256] parameter(0)
    i = s32[] parameter(1)
    zero = s32[] constant(0)
    row = f32[1,256] dynamic-slice(p, i, zero), dynamic_slice_sizes={1,256}
    n = f32[1,256] negate(row)
    ROOT u = f32[16,256] dynamic-update-slice(p, n, i, zero) }
ENTRY e { p = f32[16,256] parameter(0)
          i = s32[] parameter(1)
          ROOT k = f32[16,256] fusion(p, i), kind=kLoop, calls=f })");
  ASSERT_EQ(report.analyses.size(), 1u);
  EXPECT_EQ(report.analyses[0].kind, "in-place update");
  EXPECT_EQ(report.analyses[0].bytes_written, Interval::Point(1024));
  EXPECT_EQ(report.analyses[0].bytes_read, Interval::Point(1024 + 4));
}

// Every other one of 8192 floats is gathered: 32 KiB of indices are not read.
TEST_F(ReportModuleTest, AGatherOfKnownIndicesIsASlice) {
  std::vector<int64_t> even;
  for (int64_t i = 0; i < 8192; i += 2) even.push_back(i);
  const ModuleReport report = Of(absl::StrReplaceAll(R"(HloModule m
ENTRY e { p = f32[8192,1] parameter(0)
          at = s64[4096] constant({EVEN})
          ROOT g = f32[4096,1] gather(p, at), offset_dims={1}, collapsed_slice_dims={0},
            start_index_map={0}, index_vector_dim=1, slice_sizes={1,1},
            metadata={op_name="jit(f)/gather" source_file="f.py" source_line=7} })",
                                                     {{"EVEN", absl::StrJoin(even, ",")}}));
  ASSERT_FALSE(report.advice.empty());
  EXPECT_EQ(report.advice[0].kind, "index by a slice");
  EXPECT_THAT(report.advice[0].text, HasSubstr("strided slice"));
  EXPECT_EQ(report.advice[0].source.line, 7);
}

TEST_F(ReportModuleTest, AnArgumentHasAnotherAxisLast) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { w = f32[1024,1024] parameter(0), metadata={op_name="w"}
          t = f32[1024,1024] transpose(w), dimensions={1,0}
          s = f32[1024,7] slice(t), slice={[0:1024], [0:7]}
          ROOT n = f32[1024,7] negate(s) })",
                                 /*fuse=*/true);
  ASSERT_FALSE(report.advice.empty());
  EXPECT_EQ(report.advice[0].kind, "other axis");
  EXPECT_THAT(report.advice[0].text, HasSubstr("keep w with axis 0 last in memory: swap its axes"));
}

// A transpose is stated in a layout in which it would move nothing, and which XLA does not keep:
// what it takes is not what another layout of `w` saves.
TEST_F(ReportModuleTest, AnotherAxisSavesNothingElsewhere) {
  int64_t traffic[2];
  for (const bool is_stated : {false, true}) {
    const ModuleReport report = Of(absl::StrReplaceAll(R"(HloModule m
ENTRY e { w = f32[1024,1024]{1,0} parameter(0), metadata={op_name="w"}
          big = f32[256,256]{1,0} parameter(1)
          t = f32[1024,1024]{1,0} transpose(w), dimensions={1,0}
          s = f32[1024,7]{1,0} slice(t), slice={[0:1024], [0:7]}
          n = f32[1024,7]{1,0} negate(s)
          b = f32[256,256]LAYOUT transpose(big), dimensions={1,0}
          c = f32[256,256]LAYOUT custom-call(b), custom_call_target="f"
          ROOT r = (f32[1024,7]{1,0}, f32[256,256]LAYOUT) tuple(n, c) })",
                                                       {{"LAYOUT", is_stated ? "{0,1}" : "{1,0}"}}),
                                   /*fuse=*/true);
    const auto advice =
        absl::c_find_if(report.advice, [](const Advice& one) { return one.kind == "other axis"; });
    ASSERT_TRUE(advice != report.advice.end());
    traffic[is_stated ? 1 : 0] = advice->traffic;
  }
  EXPECT_EQ(traffic[0], traffic[1]);
}

TEST_F(ReportModuleTest, ArgumentsThatAreOnlyTransposedAreStoredSo) {
  constexpr absl::string_view kScan = R"(HloModule m
ENTRY e { w = f32[64,8,256] parameter(0), metadata={op_name="params['w']"}
          v = f32[64,8,128] parameter(1), metadata={op_name="params['v']"}
          t = f32[8,64,256] transpose(w), dimensions={1,0,2}
          u = f32[8,64,128] transpose(v), dimensions={1,0,2}
          ROOT c = f32[8] custom-call(t, OTHER), custom_call_target="scan" })";
  for (const bool fuse : {false, true}) {
    const ModuleReport both = Of(absl::StrReplaceAll(kScan, {{"OTHER", "u"}}), fuse);
    ASSERT_FALSE(both.advice.empty());
    EXPECT_EQ(both.advice[0].kind, "other order");
    EXPECT_EQ(both.advice[0].text,
              "store params['w'], params['v'] transposed: 2 kernels, such as t, do nothing but "
              "that, to axes 1, 0, 2");
    // Each array is read and written, and starts a kernel.
    EXPECT_EQ(both.advice[0].traffic, 2 * 4 * 64 * 8 * (256 + 128));
    EXPECT_GE(both.advice[0].microseconds, 2);
  }
  const ModuleReport one = Of(absl::StrReplaceAll(kScan, {{"OTHER", "v"}}));
  ASSERT_FALSE(one.advice.empty());
  EXPECT_EQ(one.advice[0].text,
            "store params['w'] transposed: t does nothing but that, to axes 1, 0, 2");
  // A custom call knows where elements lie.
  const ModuleReport none = Of(R"(HloModule m
ENTRY e { w = f32[64,8,256] parameter(0)
          t = f32[8,64,256] transpose(w), dimensions={1,0,2}
          ROOT c = f32[8] custom-call(t, w), custom_call_target="scan" })");
  EXPECT_THAT(none.advice, IsEmpty());
}

// The transpose of an argument that is a result, or of one whose buffer a result has, stays a kernel.
TEST_F(ReportModuleTest, ResultsAreNotStoredTransposed) {
  const auto kinds = [&](absl::string_view text) {
    std::vector<std::string> kinds;
    for (const Advice& one : Of(text).advice) kinds.push_back(one.kind);
    return kinds;
  };
  EXPECT_THAT(kinds(R"(HloModule m
ENTRY e { w = f32[64,256] parameter(0)
          t = f32[256,64] transpose(w), dimensions={1,0}
          ROOT r = (f32[256,64]) tuple(t) })"),
              Not(Contains("other order")));
  EXPECT_THAT(kinds(R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias) }
ENTRY e { w = f32[64,256] parameter(0)
          t = f32[256,64] transpose(w), dimensions={1,0}
          c = f32[8] custom-call(t), custom_call_target="f"
          n = f32[64,256] negate(w)
          ROOT r = (f32[64,256], f32[8]) tuple(n, c) })"),
              Not(Contains("other order")));
}

// A kernel more takes 1 us; 512 sums of each row, each for 512 elements, take longer.
TEST_F(ReportModuleTest, WhatIsComputedAgainHasAKernelOfItsOwn) {
  const ModuleReport report = Of(R"(HloModule m
s { a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] add(a, b) }
f { p = f32[512,512] parameter(0)
    z = f32[] constant(0)
    r = f32[512] reduce(p, z), dimensions={1}, to_apply=s
    b = f32[512,512] broadcast(r), dimensions={0}
    ROOT d = f32[512,512] divide(p, b) }
ENTRY e { p = f32[512,512] parameter(0)
          ROOT k = f32[512,512] fusion(p), kind=kLoop, calls=f })");
  ASSERT_FALSE(report.advice.empty());
  EXPECT_EQ(report.advice[0].kind, "own kernel");
  EXPECT_THAT(report.advice[0].text, HasSubstr("compute the reduce r of k before"));
}

// Two of four movements of 16 KiB are left.
TEST_F(ReportModuleTest, WhatIsTransposedForOneFusionIsReadThere) {
  const ModuleReport report = Of(R"(HloModule m, is_scheduled=true
w { p = f32[64,64] parameter(0)
    ROOT t = f32[64,64] transpose(p), dimensions={1,0} }
f { p = f32[64,64] parameter(0)
    ROOT n = f32[64,64] negate(p) }
ENTRY e { p = f32[64,64] parameter(0)
          c = f32[64,64] custom-call(p), custom_call_target="f"
          k = f32[64,64] fusion(c), kind=kInput, calls=w
          ROOT r = f32[64,64] fusion(k), kind=kLoop, calls=f })");
  ASSERT_FALSE(report.advice.empty());
  EXPECT_EQ(report.advice[0].kind, "fold");
  EXPECT_EQ(report.advice[0].traffic, 2 * 64 * 64 * 4);
  EXPECT_EQ(report.advice[0].text,
            "read c in r, which alone reads k, in its order: without that kernel");
}

// Two kernels that read p; the second one reads OTHER as well.
constexpr char kTwoReaders[] = R"(HloModule m, is_scheduled=true
f { p = f32[64,64] parameter(0)
    ROOT n = f32[64,64] negate(p) }
g { p = f32[64,64] parameter(0)
    q = f32[64,64] parameter(1)
    ROOT a = f32[64,64] add(p, q) }
ENTRY e { p = f32[64,64] parameter(0)
          q = f32[64,64] parameter(1)
          k = f32[64,64] fusion(p), kind=kLoop, calls=f
          r = f32[64,64] fusion(p, OTHER), kind=kLoop, calls=g
          ROOT t = (f32[64,64], f32[64,64]) tuple(k, r) })";

// One of two readings of 16 KiB is left.
TEST_F(ReportModuleTest, TwoKernelsThatReadOneArrayCanBeOne) {
  const ModuleReport report = Of(absl::StrReplaceAll(kTwoReaders, {{"OTHER", "q"}}));
  const auto advice =
      absl::c_find_if(report.advice, [](const Advice& one) { return one.kind == "one kernel"; });
  ASSERT_TRUE(advice != report.advice.end());
  EXPECT_EQ(advice->traffic, 64 * 64 * 4);
  EXPECT_EQ(advice->text, "compute k and r together: both read p, which is read once then");
}

// Both read both arrays, which is one change and not one for each array.
TEST_F(ReportModuleTest, TwoKernelsThatReadTwoArraysAreAdvisedOnce) {
  const ModuleReport report = Of(absl::StrReplaceAll(
      kTwoReaders,
      {{"OTHER", "q"}, {"fusion(p), kind=kLoop, calls=f", "fusion(p, q), kind=kLoop, calls=g"}}));
  EXPECT_EQ(
      absl::c_count_if(report.advice, [](const Advice& one) { return one.kind == "one kernel"; }),
      1);
}

// What the second one reads is computed by the first one.
TEST_F(ReportModuleTest, KernelsThatWaitForOneAnotherStayTwo) {
  const ModuleReport report = Of(absl::StrReplaceAll(kTwoReaders, {{"OTHER", "k"}}));
  EXPECT_TRUE(
      absl::c_none_of(report.advice, [](const Advice& one) { return one.kind == "one kernel"; }));
}

TEST_F(ReportModuleTest, NothingIsAdvisedWhereNothingIsSaved) {
  EXPECT_THAT(Of("HloModule m\nENTRY e { p = f32[64] parameter(0)\n"
                 "ROOT n = f32[64] negate(p) }")
                  .advice,
              ElementsAre(::testing::Field(&Advice::kind, "donate")));
  EXPECT_THAT(Of("HloModule m\nENTRY e { p = f32[64] parameter(0)\n"
                 "ROOT n = f32[63] slice(p), slice={[0:63]} }")
                  .advice,
              IsEmpty());
}

// Advice of a module without fusions is made on it before it is fused; that of others on them.
TEST_F(ReportModuleTest, AdviceOnRandomModulesSavesWhatIsSaid) {
  int64_t advice = 0;
  const int64_t count = Cases(300);
  for (int64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = RandomFusionModule(seed);
    advice += static_cast<int64_t>(Of(text, /*fuse=*/seed % 2 == 0).advice.size());
    if (HasFailure()) FAIL() << text;
  }
  EXPECT_GE(advice * 10, count);
}

// An object of graphs, each with `results` of numbers by node and a gradient from 0 to 1.
TEST_F(ReportModuleTest, NodeDataAreWhatModelExplorerReads) {
  const ModuleReport report = Of(absl::StrReplaceAll(kCache, {{"HEADER", ""}}), true);
  for (const absl::string_view figure : {"time", "moved", "wasted"}) {
    const auto text = NodeDataJson(report, figure);
    ASSERT_TRUE(text.ok());
    llvm::Expected<llvm::json::Value> json = llvm::json::parse(*text);
    ASSERT_TRUE(static_cast<bool>(json));
    ASSERT_EQ(json->getAsObject()->size(), 2u);  // e and b
    for (const auto& [graph, data] : *json->getAsObject()) {
      const llvm::json::Object* results = data.getAsObject()->getObject("results");
      ASSERT_NE(results, nullptr);
      for (const auto& [node, result] : *results) {
        EXPECT_TRUE(result.getAsObject()->getNumber("value").has_value()) << node.str();
      }
      const llvm::json::Array* gradient = data.getAsObject()->getArray("gradient");
      ASSERT_NE(gradient, nullptr);
      EXPECT_EQ(gradient->front().getAsObject()->getNumber("stop"), 0);
      EXPECT_EQ(gradient->back().getAsObject()->getNumber("stop"), 1);
    }
    const auto* loop = json->getAsObject()->getObject("e")->getObject("results")->getObject("w");
    ASSERT_NE(loop, nullptr);
    EXPECT_TRUE(figure != "wasted" || loop->getNumber("value") == 0);
  }
  EXPECT_THAT(NodeDataJson(report, "runs").status().message(), HasSubstr("not of 'runs'"));
}

// 2 M N K multiplications and additions, whose configuration or shapes say K.
TEST_F(ReportModuleTest, ProductsOfLibrariesHaveFlops) {
  const auto flops_of = [&](absl::string_view call) {
    const ModuleReport report =
        Of(absl::StrCat("HloModule m, is_scheduled=true\nENTRY e { a = f32[8,32] parameter(0)\n"
                        "b = f32[32,16] parameter(1)\n ROOT c = f32[8,16] custom-call(a, b), ",
                        call, " }"));
    return report.analyses.empty() ? 0 : report.analyses[0].flops;
  };
  EXPECT_EQ(flops_of("custom_call_target=\"__onednn$matmul\""), 2.0 * 8 * 16 * 32);
  EXPECT_EQ(flops_of("custom_call_target=\"__cublas$gemm\", backend_config={"
                     "\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":0,"
                     "\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],"
                     "\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],"
                     "\"rhs_batch_dimensions\":[]}}}"),
            2.0 * 8 * 16 * 32);
  EXPECT_EQ(flops_of("custom_call_target=\"foo\""), 0);
}

}  // namespace
}  // namespace xla_indexing
