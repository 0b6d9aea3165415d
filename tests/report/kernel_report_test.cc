#include "xla_indexing/report/kernel_report.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/report_sums.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/report/analysis/group_kernels.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {
namespace {

using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KernelReportTest : public ::testing::Test {
 protected:
  ModuleReport Of(absl::string_view text, const ReportOptions& options = {}) {
    auto module = ParseAndVerifyModule(std::string(text));
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return {};
    modules_.push_back(*std::move(module));
    auto report = ReportKernels(*modules_.back(), options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : ModuleReport();
  }

  static std::vector<std::string> Findings(const ModuleReport& report, size_t row = 0) {
    std::vector<std::string> texts;
    for (const Finding& finding : report.rows[row].findings) texts.push_back(finding.text);
    return texts;
  }

  static std::vector<std::string> Names(const ModuleReport& report) {
    std::vector<std::string> names;
    names.reserve(report.rows.size());
    for (const KernelRow& row : report.rows) names.emplace_back(row.instruction->name());
    return names;
  }

  std::vector<std::unique_ptr<HloModule>> modules_;
};

// 1024 floats are 4096 bytes and 128 sectors; every other of 2048 lies in 256 sectors.
TEST_F(KernelReportTest, CountsWhatAKernelMovesAndWastes) {
  const ModuleReport report = Of(R"(HloModule m
f { a = f32[1024] parameter(0)
    b = f32[2048] parameter(1)
    s = f32[1024] slice(b), slice={[0:2048:2]}
    ROOT r = f32[1024] add(a, s) }
ENTRY e { x = f32[1024] parameter(0)
          y = f32[2048] parameter(1)
          ROOT k = f32[1024] fusion(x, y), kind=kLoop, calls=f })");
  ASSERT_EQ(report.rows.size(), 1u);
  const KernelAnalysis& analysis = report.AnalysisOf(report.rows[0]);
  EXPECT_EQ(analysis.kind, "loop");
  EXPECT_EQ(analysis.bytes_read, Interval::Point(8192));
  EXPECT_EQ(analysis.bytes_written, Interval::Point(4096));
  EXPECT_EQ(analysis.sectors, Interval::Point(128 + 256 + 128));
  EXPECT_EQ(analysis.least_sectors, Interval::Point(3 * 128));
  EXPECT_EQ(analysis.bytes_wasted, Interval::Point(32 * 128));
  EXPECT_EQ(report.rows[0].worst_operand, "y");
  EXPECT_THAT(
      Findings(report),
      ElementsAre("reading y makes lanes 8 bytes apart, each 2 elements of dimension 0 on: copy "
                  "what is needed of y beforehand: 128 instead of 256 sectors"));
  EXPECT_EQ(report.totals.bytes_wasted, Interval::Point(32 * 128));
  EXPECT_THAT(ReportText(report, {}), HasSubstr("e/k  (y: (d0) -> (d0 * 2))\n"));
  EXPECT_THAT(report.rows[0].not_known, IsEmpty());
}

// 1024 windows of k elements each, 4 apart. A request for one place of 32 windows has 32 elements in
// 128 * 4 bytes, 16 sectors, where 4 would do; of 32 requests for each of the k places.
TEST_F(KernelReportTest, AdvisesACopyOnlyWhereNothingBetweenIsNeeded) {
  const auto finding = [&](absl::string_view window) {
    const ModuleReport report = Of(absl::StrCat(R"(HloModule m
s { a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT r = f32[] add(a, b) }
ENTRY e { x = f32[4096] parameter(0)
          z = f32[] constant(0)
          ROOT w = f32[1024] reduce-window(x, z), window={)",
                                                window, "}, to_apply=s }"));
    return report.rows.size() == 1 && !report.rows[0].findings.empty()
               ? report.rows[0].findings[0].text
               : "";
  };
  constexpr absl::string_view kApart =
      "reading x makes lanes 16 bytes apart, each 4 elements of "
      "dimension 0 on: ";
  EXPECT_EQ(
      finding("size=1 stride=4"),
      absl::StrCat(kApart, "copy what is needed of x beforehand: 128 instead of 512 sectors"));
  constexpr absl::string_view kBetween =
      "other requests have the elements between; tile through shared memory: ";
  EXPECT_EQ(finding("size=4 stride=4"),
            absl::StrCat(kApart, kBetween, "512 instead of 2048 sectors"));
  EXPECT_EQ(finding("size=3 stride=4 pad=0_0"),
            absl::StrCat(kApart, kBetween, "384 instead of 1536 sectors"));
  // All places are multiples of 4. The second ones begin in the middle of a sector and take 17 of them,
  // but for the last request, whose last lane is in the padding: 512 + 31 * 17 + 16.
  EXPECT_EQ(
      finding("size=2 stride=4 rhs_dilate=4 pad=0_4"),
      absl::StrCat(kApart, "copy what is needed of x beforehand: 256 instead of 1055 sectors"));
}

// Elements 2 * i and 2 * i + 1 of 1024, each through a map of its own: 32 requests of 8 sectors for 64
// * 4 bytes, where 4 would do.
TEST_F(KernelReportTest, SaysOnceWhatIsWrongWithSeveralMaps) {
  const ModuleReport report = Of(R"(HloModule m
f { a = f32[2048] parameter(0)
    s = f32[1024] slice(a), slice={[0:2048:2]}
    t = f32[1024] slice(a), slice={[1:2048:2]}
    ROOT r = f32[1024] subtract(s, t) }
ENTRY e { x = f32[2048] parameter(0)
          ROOT k = f32[1024] fusion(x), kind=kLoop, calls=f })");
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_THAT(
      Findings(report),
      ElementsAre("reading x makes lanes 8 bytes apart, each 2 elements of dimension 0 on: other "
                  "requests have the elements between; tile through shared memory: 128 instead of "
                  "256 sectors, through each of 2 maps"));
}

// Element {i} is {2 * i, 0} of f32[64,8]: lanes are 64 bytes apart, one in a sector, and a dense copy of
// rows leaves them 32 bytes apart.
TEST_F(KernelReportTest, EveryOtherRowIsCopiedTransposed) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { x = f32[64,8] parameter(0)
          ROOT s = f32[32,1] slice(x), slice={[0:64:2], [0:1]} })");
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_THAT(
      Findings(report),
      ElementsAre("reading x makes lanes 64 bytes apart, each 2 elements of dimension 0 on: "
                  "transpose what is needed of x beforehand: 4 instead of 32 sectors"));
}

// Lanes down a column of f32[1024,4] are 16 bytes apart: 16 sectors where 4 would do.
TEST_F(KernelReportTest, SaysThatATransposeMakesLanesFarApart) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { x = f32[1024,4] parameter(0)
          ROOT k = f32[4,1024] transpose(x), dimensions={1,0} })");
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).kind, "loop");
  // 4096 elements in 128 requests, and as many bytes as 512 sectors have.
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).sectors, Interval::Point(128 * 16 + 512));
  ASSERT_EQ(report.rows[0].findings.size(), 1u);
  EXPECT_EQ(
      report.rows[0].findings[0].text,
      "reading x makes lanes 16 bytes apart, along dimension 0: transpose x beforehand, or tile "
      "through shared memory: 512 instead of 2048 sectors");
}

TEST_F(KernelReportTest, AliasesAreNoKernels) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { p = (f32[8], f32[8]) parameter(0)
          g = f32[8] get-tuple-element(p), index=0
          b = f32[2,4] bitcast(g)
          c = f32[2,4] constant(0)
          n = f32[2,4] negate(b)
          ROOT t = (f32[2,4], f32[2,4]) tuple(n, c) })");
  EXPECT_THAT(Names(report), ElementsAre("n"));
  EXPECT_EQ(report.totals.bytes_read, Interval::Point(32));
  EXPECT_EQ(report.totals.bytes_written, Interval::Point(32));
}

constexpr absl::string_view kLoop = R"(HloModule m
c { s = (s32[], f32[64]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    n = s32[] constant(LIMIT)
    ROOT r = pred[] compare(i, n), direction=LT }
b { s = (s32[], f32[64]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    one = s32[] constant(1)
    next = s32[] add(i, one)
    v = f32[64] get-tuple-element(s), index=1
    w = f32[64] negate(v)
    ROOT r = (s32[], f32[64]) tuple(next, w) }
ENTRY e { z = s32[] BEGIN
          v = f32[64] parameter(1)
          s = (s32[], f32[64]) tuple(z, v)
          ROOT w = (s32[], f32[64]) while(s), condition=c, body=b CONFIG })";

TEST_F(KernelReportTest, KernelsOfALoopRunAsOftenAsTheLoop) {
  const ModuleReport report = Of(absl::StrReplaceAll(kLoop, {{"LIMIT", "7"},
                                                             {"BEGIN", "constant(0)"},
                                                             {"parameter(1)", "parameter(0)"},
                                                             {"CONFIG", ""}}));
  // The kernel `w` of the body and the loop of that name.
  EXPECT_THAT(Names(report), ::testing::UnorderedElementsAre("next", "w", "w"));
  for (const KernelRow& row : report.rows) {
    const bool is_loop = row.instruction->opcode() == HloOpcode::kWhile;
    EXPECT_EQ(row.runs, Interval::Point(is_loop ? 1 : 7));
  }
  // 7 negations of 256 bytes, 7 additions of two numbers. XLA does not ask the condition.
  EXPECT_EQ(report.totals.bytes_read, Interval::Point(7 * 256 + 7 * 8));
}

TEST_F(KernelReportTest, TheConditionOfALoopThatXlaCouldNotCountIsAskedOnceMore) {
  const std::string scheduled =
      absl::StrReplaceAll(kLoop, {{"HloModule m", "HloModule m, is_scheduled=true"},
                                  {"LIMIT", "7"},
                                  {"BEGIN", "constant(0)"},
                                  {"parameter(1)", "parameter(0)"}});
  for (const bool is_counted : {false, true}) {
    const ModuleReport report = Of(absl::StrReplaceAll(
        scheduled,
        {{"CONFIG", is_counted ? R"(, backend_config={"known_trip_count":{"n":"7"}})" : ""}}));
    // 8 comparisons of two numbers.
    EXPECT_EQ(report.totals.bytes_read,
              Interval::Point(7 * 256 + 7 * 8 + (is_counted ? 0 : 8 * 8)));
  }
}

TEST_F(KernelReportTest, RunsThatAreNotKnownAreSaidAndNotCounted) {
  const std::string text =
      absl::StrReplaceAll(kLoop, {{"LIMIT", "7"}, {"BEGIN", "parameter(0)"}, {"CONFIG", ""}});
  const ModuleReport report = Of(text);
  EXPECT_EQ(report.totals.with_unknown_runs, 3);
  // One comparison at least.
  EXPECT_EQ(report.totals.bytes_read, Interval::AtLeast(8));
  // The loop stands before what is inside.
  EXPECT_EQ(report.rows[0].instruction->opcode(), HloOpcode::kWhile);
  for (const KernelRow& row : report.rows) {
    const bool is_loop = row.instruction->opcode() == HloOpcode::kWhile;
    EXPECT_THAT(row.runs_reason, HasSubstr(is_loop ? "" : "loop w"));
    if (!is_loop) continue;
    EXPECT_EQ(report.AnalysisOf(row).loop->iterations, Interval::AtLeast(0));
    EXPECT_THAT(row.notes, Contains(HasSubstr("its body b runs any number of times")));
    EXPECT_THAT(row.not_known, Contains("how often it runs its body is not known"));
  }
  // What the compiler knows counts.
  const ModuleReport known = Of(absl::StrReplaceAll(
      kLoop, {{"LIMIT", "7"},
              {"BEGIN", "parameter(0)"},
              {"CONFIG", R"(, backend_config={"known_trip_count":{"n":"5"}})"}}));
  EXPECT_EQ(known.totals.with_unknown_runs, 0);
  EXPECT_EQ(known.totals.bytes_read, Interval::Point(5 * 256 + 5 * 8));
}

// Five iterations of a sum of rows: 256 bytes of the 4096 of `rows` and all of `step` are read in each.
// The negation `n` runs in every iteration and once outside of the loop.
constexpr absl::string_view kSumOfRows = R"(HloModule m
called { a = f32[64] parameter(0)
         ROOT n = f32[64] negate(a) }
c { s = (s32[], f32[16,64], f32[64], f32[64]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    five = s32[] constant(5)
    ROOT r = pred[] compare(i, five), direction=LT }
b { s = (s32[], f32[16,64], f32[64], f32[64]) parameter(0)
    i = s32[] get-tuple-element(s), index=0
    one = s32[] constant(1)
    zero = s32[] constant(0)
    next = s32[] add(i, one)
    all = f32[16,64] get-tuple-element(s), index=1
    sum = f32[64] get-tuple-element(s), index=2
    by = f32[64] get-tuple-element(s), index=3
    row = f32[1,64] dynamic-slice(all, i, zero), dynamic_slice_sizes={1,64}
    flat = f32[64] bitcast(row)
    minus = f32[64] call(flat), to_apply=called
    scaled = f32[64] multiply(minus, by)
    added = f32[64] add(sum, scaled)
    ROOT t = (s32[], f32[16,64], f32[64], f32[64]) tuple(next, all, added, by) }
ENTRY e { begin = s32[] constant(0)
          rows = f32[16,64] parameter(0)
          step = f32[64] parameter(1)
          start = f32[64] call(step), to_apply=called
          s = (s32[], f32[16,64], f32[64], f32[64]) tuple(begin, rows, start, step)
          ROOT w = (s32[], f32[16,64], f32[64], f32[64]) while(s), condition=c, body=b })";

TEST_F(KernelReportTest, ALoopHasARowThatSaysWhatOneIterationReads) {
  const ModuleReport report = Of(kSumOfRows);
  // It moves all that the others move but for the negation outside.
  const KernelRow& loop = report.rows[0];
  ASSERT_EQ(loop.instruction->name(), "w");
  const KernelAnalysis& analysis = report.AnalysisOf(loop);
  EXPECT_EQ(analysis.kind, "while");
  EXPECT_EQ(loop.runs, Interval::Point(1));
  ASSERT_TRUE(analysis.loop);
  EXPECT_EQ(analysis.loop->iterations, Interval::Point(5));
  // next, row, n, scaled and added five times.
  EXPECT_EQ(analysis.loop->kernel_runs, Interval::Point(5 * 5));
  ASSERT_EQ(analysis.loop->reads.size(), 2u);
  EXPECT_EQ(analysis.loop->reads[0].leaf, 1);
  EXPECT_EQ(analysis.loop->reads[0].bytes_read, Interval::Point(256));
  EXPECT_EQ(analysis.loop->reads[0].bytes, Interval::Point(4096));
  EXPECT_EQ(analysis.loop->reads[1].leaf, 3);
  EXPECT_EQ(analysis.loop->reads[1].bytes_read, Interval::Point(256));
  EXPECT_THAT(
      loop.notes,
      ElementsAre("its body b runs 5 times, and the kernels inside run 25 times, all together",
                  "one iteration reads 256 B of the 4.0 KiB of rows: (d0){rt0} -> (rt0, d0)",
                  "one iteration reads 256 B of the 256 B of step: (d0) -> (d0)"));
  EXPECT_THAT(ReportText(report), HasSubstr("5 kernels, 5 distinct, 1 loop\n"));
}

TEST_F(KernelReportTest, ALoopMovesWhatTheKernelsInsideMove) {
  const ModuleReport report = Of(kSumOfRows);
  Interval moved = Interval::Point(0);
  Interval all = Interval::Point(0);
  for (const KernelRow& row : report.rows) {
    if (row.instruction->name() == "w") continue;
    // The negation runs six times, of which five are those of the loop.
    const Interval inside = row.instruction->name() == "n" ? Interval::Point(5) : row.runs;
    moved = moved.Add(report.AnalysisOf(row).bytes_moved.Mul(inside));
    all = all.Add(report.AnalysisOf(row).bytes_moved.Mul(row.runs));
  }
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).bytes_moved, moved);
  // Totals have the kernels once.
  EXPECT_EQ(report.totals.bytes_moved, all);
  EXPECT_EQ(report.totals.kernels, 5);
}

// Three times the loop of kLoop, which negates seven times.
TEST_F(KernelReportTest, ALoopInALoopRunsAsOftenAsThatRunsIt) {
  const std::string inner = absl::StrReplaceAll(
      kLoop, {{"LIMIT", "7"},
              {"BEGIN", "constant(0)"},
              {"CONFIG", ""},
              {"ENTRY e { z", "around { p = (s32[], f32[64]) parameter(0)\n z"},
              {"v = f32[64] parameter(1)", "v = f32[64] get-tuple-element(p), index=1"},
              {"ROOT w = (s32[], f32[64]) while(s), condition=c, body=b",
               "w = (s32[], f32[64]) while(s), condition=c, body=b\n"
               "j = s32[] get-tuple-element(p), index=0  one = s32[] constant(1)\n"
               "more = s32[] add(j, one)  x = f32[64] get-tuple-element(w), index=1\n"
               "ROOT r = (s32[], f32[64]) tuple(more, x)"}});
  const ModuleReport report = Of(absl::StrCat(inner, R"(
until { s = (s32[], f32[64]) parameter(0)
        i = s32[] get-tuple-element(s), index=0
        n = s32[] constant(3)
        ROOT again = pred[] compare(i, n), direction=LT }
ENTRY e { z = s32[] constant(0)
          v = f32[64] parameter(0)
          s = (s32[], f32[64]) tuple(z, v)
          ROOT outer = (s32[], f32[64]) while(s), condition=until, body=around })"));
  ASSERT_EQ(report.rows[0].instruction->name(), "outer");
  ASSERT_EQ(report.rows[1].instruction->name(), "w");
  EXPECT_EQ(report.totals.loops, 2);
  const KernelAnalysis& outer = report.AnalysisOf(report.rows[0]);
  const KernelAnalysis& within = report.AnalysisOf(report.rows[1]);
  EXPECT_EQ(report.rows[1].runs, Interval::Point(3));
  EXPECT_EQ(within.loop->kernel_runs, Interval::Point(7 + 7));
  // `more` three times.
  EXPECT_EQ(outer.loop->kernel_runs, Interval::Point(3 * (7 + 7) + 3));
}

TEST_F(KernelReportTest, KernelsThatDifferInNamesOnlyAreAnalysedOnce) {
  const ModuleReport report = Of(R"(HloModule m
f { a = f32[64] parameter(0)
    ROOT r = f32[64] negate(a), metadata={op_name="first"} }
g { other = f32[64] parameter(0)
    ROOT name = f32[64] negate(other), metadata={op_name="second"} }
h { a = f32[64] parameter(0)
    ROOT r = f32[64] reverse(a), dimensions={0} }
ENTRY e { x = f32[64] parameter(0)
          k = f32[64] fusion(x), kind=kLoop, calls=f
          l = f32[64] fusion(k), kind=kLoop, calls=g
          ROOT o = f32[64] fusion(l), kind=kLoop, calls=h })");
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_EQ(report.totals.distinct_kernels, 2);
  EXPECT_EQ(report.rows[0].analysis, report.rows[1].analysis);
  EXPECT_NE(report.rows[0].analysis, report.rows[2].analysis);
  EXPECT_EQ(report.rows[0].source.op_name, "first");
  EXPECT_EQ(report.rows[1].source.op_name, "second");
  EXPECT_THAT(report.rows[1].operands, ElementsAre("k"));
}

// The starts are known outside of the fusions: what they read differs.
TEST_F(KernelReportTest, KernelsWithOtherKnownIndicesAreOthers) {
  const ModuleReport report = Of(R"(HloModule m
f { a = f32[64] parameter(0)
    i = s32[] parameter(1)
    ROOT r = f32[8] dynamic-slice(a, i), dynamic_slice_sizes={8} }
g { a = f32[64] parameter(0)
    i = s32[] parameter(1)
    ROOT r = f32[8] dynamic-slice(a, i), dynamic_slice_sizes={8} }
ENTRY e { x = f32[64] parameter(0)
          one = s32[] constant(1)
          two = s32[] constant(2)
          k = f32[8] fusion(x, one), kind=kLoop, calls=f
          l = f32[8] fusion(x, two), kind=kLoop, calls=g
          ROOT t = (f32[8], f32[8]) tuple(k, l) })");
  EXPECT_EQ(report.totals.distinct_kernels, 2);
}

// Each of 16250 elements computes the maximum of its row, of which there are 130, and so the sum.
TEST_F(KernelReportTest, RecomputationIsSaidWithBothFigures) {
  const ModuleReport report = Of(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { x = f32[130,125] parameter(0)
    z = f32[] constant(0)
    s = f32[130] reduce(x, z), dimensions={1}, to_apply=add
    b = f32[130,125] broadcast(s), dimensions={0}
    ROOT d = f32[130,125] divide(x, b) }
ENTRY e { x = f32[130,125] parameter(0)
          ROOT k = f32[130,125] fusion(x), kind=kLoop, calls=f })");
  const KernelAnalysis& analysis = report.AnalysisOf(report.rows[0]);
  ASSERT_EQ(analysis.recomputed.size(), 1u);
  EXPECT_EQ(analysis.recomputed[0].instruction, "s");
  EXPECT_EQ(analysis.recomputed[0].elements, Interval::Point(130));
  EXPECT_EQ(analysis.recomputed[0].computations, Interval::Point(16250));
  // Itself once and its whole row.
  EXPECT_EQ(analysis.reads_per_element, 126);
}

// XLA fuses sums of a few elements into all of their readers, and so does FuseLikeXla.
TEST_F(KernelReportTest, SmallSumsThatAreComputedAgainAreNoRecomputation) {
  for (const int size : {1, 15, 16}) {
    const ModuleReport report = Of(absl::StrReplaceAll(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
f { x = f32[130,SIZE] parameter(0)
    z = f32[] constant(0)
    s = f32[130] reduce(x, z), dimensions={1}, to_apply=add
    ROOT b = f32[130,125] broadcast(s), dimensions={0} }
ENTRY e { x = f32[130,SIZE] parameter(0)
          ROOT k = f32[130,125] fusion(x), kind=kLoop, calls=f })",
                                                       {{"SIZE", absl::StrCat(size)}}));
    EXPECT_EQ(report.AnalysisOf(report.rows[0]).recomputed.size(), size < 16 ? 0u : 1u) << size;
  }
}

TEST_F(KernelReportTest, LibraryCallsAreMarkedAndNotCharged) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { a = f32[8,4] parameter(0)
          b = f32[4,8] parameter(1)
          ROOT d = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} })");
  const KernelAnalysis& analysis = report.AnalysisOf(report.rows[0]);
  EXPECT_EQ(analysis.kind, "library");
  EXPECT_FALSE(analysis.has_sectors);
  EXPECT_EQ(analysis.bytes_read, Interval::Point(2 * 128));
  EXPECT_EQ(report.totals.without_sectors, 1);
  // Each element is read for 8 of the result, which is what a product of matrices is.
  EXPECT_EQ(analysis.reads_per_element, 8);
  EXPECT_THAT(report.rows[0].findings, IsEmpty());
  EXPECT_EQ(report.totals.bytes_moved, Interval::Point(0));
  EXPECT_FALSE(analysis.IsExact());
}

// Rows of 8 floats are sectors of their own: how many a warp asks for depends on which rows are gathered.
// Both kernels are one analysis, and each row of the report has its own names.
TEST_F(KernelReportTest, NamesTheOperandOfWhichSomethingIsNotKnown) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { tokens = s32[64,1] parameter(0)
          places = s32[64,1] parameter(1)
          words = f32[100,8] parameter(2)
          positions = f32[100,8] parameter(3)
          a = f32[64,8] gather(words, tokens), offset_dims={1}, collapsed_slice_dims={0},
            start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
          b = f32[64,8] gather(positions, places), offset_dims={1}, collapsed_slice_dims={0},
            start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
          ROOT r = (f32[64,8], f32[64,8]) tuple(a, b) })");
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[0].analysis, report.rows[1].analysis);
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).kernel, "e/a");
  EXPECT_FALSE(report.AnalysisOf(report.rows[0]).IsExact());
  EXPECT_THAT(report.rows[0].not_known,
              Contains("reading words: it depends on values at run time"));
  EXPECT_THAT(report.rows[1].not_known,
              Contains("reading positions: it depends on values at run time"));
  EXPECT_EQ(report.totals.not_exact, 2);
  EXPECT_THAT(ReportText(report, {}), HasSubstr("not exact: reading words: it depends on"));
}

// Each element of the result depends on all 64 indices, and the kernel reads an index for an update.
TEST_F(KernelReportTest, AScatterIsNotSaidToReadItsIndicesForEachElementOfTheResult) {
  const ModuleReport report = Of(R"(HloModule m
add { x = f32[] parameter(0)
      y = f32[] parameter(1)
      ROOT s = f32[] add(x, y) }
ENTRY e { operand = f32[100,32] parameter(0)
          places = s32[64,1] parameter(1)
          updates = f32[64,32] parameter(2)
          ROOT r = f32[100,32] scatter(operand, places, updates), update_window_dims={1},
            inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1,
            to_apply=add })");
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).kind, "scatter");
  EXPECT_EQ(report.AnalysisOf(report.rows[0]).reads_per_element, std::nullopt);
  EXPECT_THAT(report.rows[0].findings, IsEmpty());
}

TEST_F(KernelReportTest, SaysWhereAKernelComesFrom) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { a = f32[8] parameter(0)
          ROOT n = f32[8] negate(a), metadata={op_type="neg" op_name="jit(f)/a \"b\"" source_file="m.py" source_line=12} })");
  EXPECT_EQ(report.rows[0].source.op_name, "jit(f)/a \"b\"");
  EXPECT_EQ(report.rows[0].source.file, "m.py");
  EXPECT_EQ(report.rows[0].source.line, 12);
}

// Frame 2 is line 7 of b.py, called from frame 1; the fusion has what its root has.
TEST_F(KernelReportTest, SourcesAreFoundThroughStackFrames) {
  const ModuleReport report = Of(R"(HloModule m

FileNames
1 "a.py"
2 "b.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=2}
2 {file_name_id=2 function_name_id=1 line=7 end_line=7 column=1 end_column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

f { a = f32[8] parameter(0)
    ROOT n = f32[8] negate(a), metadata={op_name="neg" stack_frame_id=2} }
ENTRY e { a = f32[8] parameter(0)
          ROOT k = f32[8] fusion(a), kind=kLoop, calls=f })");
  EXPECT_EQ(report.rows[0].source.op_name, "neg");
  EXPECT_EQ(report.rows[0].source.file, "b.py");
  EXPECT_EQ(report.rows[0].source.line, 7);
}

TEST_F(KernelReportTest, DoesNotDependOnTheNumberOfThreads) {
  std::string text = "HloModule m\nENTRY e {\n  p0 = f32[64,64] parameter(0)\n";
  for (int i = 1; i < 100; ++i) {
    absl::StrAppend(&text, "  p", i, " = f32[64,64] reverse(p", i - 1, "), dimensions={", i % 2,
                    "}\n");
    absl::StrAppend(&text, "  s", i, " = f32[", i % 64 + 1, ",64] slice(p", i,
                    "), slice={[0:", i % 64 + 1, "],[0:64]}\n");
  }
  text += "}\n";
  ReportOptions options;
  int64_t done = 0;
  int64_t all = 0;
  options.progress = [&](int64_t a, int64_t b) {
    done = a, all = b;
    return true;
  };
  const std::string one = ReportJson(Of(text, options));
  EXPECT_EQ(done, all);
  EXPECT_EQ(done, 2 + 64);
  options.jobs = 4;
  EXPECT_EQ(ReportJson(Of(text, options)), one);
}

TEST_F(KernelReportTest, IsCancelledWhereProgressSaysSo) {
  for (int jobs : {1, 4}) {
    ReportOptions options;
    options.jobs = jobs;
    int64_t calls = 0;
    options.progress = [&](int64_t /*done*/, int64_t /*all*/) { return ++calls < 2; };
    std::string text = "HloModule m\nENTRY e {\n  p0 = f32[100] parameter(0)\n";
    for (int i = 1; i < 100; ++i) {
      absl::StrAppend(&text, "  s", i, " = f32[", i, "] slice(p0), slice={[0:", i, "]}\n");
    }
    auto module = ParseAndVerifyModule(text + "}\n");
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(ReportKernels(**module, options).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(calls, 2);
  }
}

TEST_F(KernelReportTest, TextOfAModuleDoesNotControlTheTerminal) {
  const ModuleReport report =
      Of("HloModule m\nENTRY e { p = f32[64] parameter(0)\n"
         "  ROOT n = f32[64] negate(p), metadata={op_name=\"a\x1b[31m\"} }");
  EXPECT_THAT(ReportText(report), ::testing::HasSubstr("    a?[31m\n"));
}

TEST_F(KernelReportTest, WithoutStepsTheReportSaysSo) {
  ReportOptions options;
  options.max_steps = 0;
  std::string text = "HloModule m\nENTRY e {\n  p0 = f32[64] parameter(0)\n";
  for (int i = 1; i < 3000; ++i) {
    absl::StrAppend(&text, "  p", i, " = f32[64] negate(p", i - 1, ")\n");
  }
  const ModuleReport report = Of(text + "}\n", options);
  EXPECT_EQ(report.rows.size(), 2999u);
}

TEST_F(KernelReportTest, RefusesOptionsOutOfBounds) {
  auto module = ParseAndVerifyModule("ENTRY e { ROOT p = f32[] parameter(0) }");
  ASSERT_TRUE(module.ok());
  ReportOptions options;
  options.jobs = 0;
  EXPECT_EQ(ReportKernels(**module, options).status().code(), absl::StatusCode::kInvalidArgument);
  options = {};
  options.memory.warp_size = 7;
  EXPECT_FALSE(ReportKernels(**module, options).ok());
}

// A transpose kernel goes through tiles in shared memory already; those do not help where what it reads
// is transposed once more.
TEST_F(KernelReportTest, DoesNotAdviseTilesToAKernelThatHasThem) {
  const ModuleReport report = Of(R"(HloModule m
f { a = f32[4,8,32,64] parameter(0)
    t = f32[4,64,8,32] transpose(a), dimensions={0,3,1,2}
    b = f32[4,64,256] reshape(t)
    u = f32[256,4,64] transpose(b), dimensions={2,0,1}
    ROOT c = f32[256,4,64]{2,1,0} copy(u) }
ENTRY e { x = f32[4,8,32,64] parameter(0)
          y = f32[1024,4] parameter(1)
          k = f32[256,4,64] fusion(x), kind=kLoop, calls=f
          l = f32[4,1024] transpose(y), dimensions={1,0}
          ROOT r = (f32[256,4,64], f32[4,1024]) tuple(k, l) })");
  ASSERT_EQ(report.rows.size(), 2u);
  for (const KernelRow& row : report.rows) {
    const bool is_tiled = report.AnalysisOf(row).kind == "transpose";
    EXPECT_EQ(is_tiled, row.instruction->name() == "k");
    ASSERT_THAT(row.findings, ::testing::SizeIs(1));
    EXPECT_THAT(row.findings[0].text, HasSubstr("beforehand"));
    EXPECT_EQ(row.findings[0].text.find("shared memory") == std::string::npos, is_tiled);
  }
}

// What takes most time comes first, whether its sectors are known or not. A product of two arrays of 256
// bytes moves 512 bytes at least, as the negation of one does.
TEST_F(KernelReportTest, PutsWhatTakesMostTimeFirst) {
  const ModuleReport report = Of(R"(HloModule m
ENTRY e { a = f32[8,8] parameter(0)
          c = f32[8,8] parameter(2)
          d = f32[8,8] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          small = f32[8,8] negate(a)
          b = f32[64,64] parameter(1)
          large = f32[64,64] negate(b)
          ROOT r = (f32[8,8], f32[8,8], f32[64,64]) tuple(d, small, large) })");
  EXPECT_THAT(Names(report), ElementsAre("large", "d", "small"));
}

TEST_F(KernelReportTest, SortsByTheColumnThatIsAskedFor) {
  ModuleReport report = Of(R"(HloModule m
ENTRY e { a = f32[800] parameter(0)
          n = f32[800] negate(a)
          b = f32[10] slice(a), slice={[0:10]}
          ROOT m = f32[10] negate(b) })");
  EXPECT_TRUE(SortRows("written", &report).ok());
  EXPECT_EQ(Names(report).front(), "n");
  EXPECT_TRUE(SortRows("name", &report).ok());
  EXPECT_THAT(Names(report), ElementsAre("b", "m", "n"));
  EXPECT_THAT(std::string(SortRows("nmae", &report).message()), HasSubstr("time, wasted, moved"));
  EXPECT_THAT(ReportText(report, {.top = 1}), HasSubstr("and 2 more kernels: "));
}

// 64 Mi floats do not fit into a cache: 512 MiB from memory at 3.35 TB/s. 1 Mi floats are 8 MiB from memory,
// which is slower than 8 MiB from the cache. A kernel on a GPU takes 1 us to start.
TEST_F(KernelReportTest, TakesAsLongAsMemoryDoes) {
  const auto time = [&](int64_t elements, const char* machine) {
    const std::string shape = absl::StrCat("f32[", elements, "]");
    return Of(absl::StrCat("ENTRY e { x = ", shape, " parameter(0)\n ROOT n = ", shape,
                           " negate(x) }"),
              ReportOptions::For(*FindMachine(machine)))
        .totals.microseconds;
  };
  EXPECT_THAT(time(1 << 26, "h100"), DoubleNear(1 + (512 << 20) / 3.35e6, 1e-6));
  EXPECT_THAT(time(1 << 20, "h100"), DoubleNear(1 + (8 << 20) / 3.35e6, 1e-6));
  EXPECT_THAT(time(1 << 26, "cpu"), DoubleNear((512 << 20) / 0.4608e6, 1e-6));
  EXPECT_THAT(time(1 << 26, "mi300x"), DoubleNear(1 + (512 << 20) / 5.3e6, 1e-6));
}

// Lanes down columns of f32[2048,1024] take a sector each: 8 times 8 MiB, and 8 MiB are written. The 8 MiB fit
// into the cache of 50 MB, so that memory has to give 16 MiB and the cache 72 MiB.
TEST_F(KernelReportTest, WhatFitsIntoTheCacheComesFromMemoryOnce) {
  const auto report_of = [&](int64_t rows) {
    return Of(absl::StrCat("ENTRY e { x = f32[", rows, ",1024]{0,1} parameter(0)\n ROOT n = f32[",
                           rows, ",1024]{1,0} negate(x) }"));
  };
  const ModuleReport small = report_of(2048);
  ASSERT_EQ(small.AnalysisOf(small.rows[0]).bytes_moved, Interval::Point(int64_t{72} << 20));
  EXPECT_THAT(small.totals.microseconds, DoubleNear(1 + (72 << 20) / 9.4e6, 1e-6));
  // 128 MiB do not.
  const ModuleReport large = report_of(int64_t{32} << 10);
  EXPECT_THAT(large.totals.microseconds, DoubleNear(1 + 9 * (128.0 * (1 << 20)) / 3.35e6, 1e-6));
}

// 2 * 4096^3 operations at 989.4 or 494.7 e12 a second, and a convolution of 64 * 56 * 56 * 256 results of
// 3 * 3 * 128 products each.
TEST_F(KernelReportTest, ProductsTakeAsLongAsTheirFlops) {
  const auto report_of = [&](absl::string_view type) {
    return Of(absl::StrReplaceAll(
        "ENTRY e { a = T[4096,4096] parameter(0)\n b = T[4096,4096] parameter(1)\n"
        "  ROOT d = T[4096,4096] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
        {{"T[", absl::StrCat(type, "[")}}));
  };
  EXPECT_THAT(report_of("bf16").totals.microseconds, DoubleNear(1 + 137438953472 / 989.4e6, 1e-6));
  EXPECT_THAT(report_of("f32").totals.microseconds, DoubleNear(1 + 137438953472 / 494.7e6, 1e-6));
  // 96 MiB, each once: the sectors are not known.
  EXPECT_EQ(report_of("bf16").totals.traffic, int64_t{96} << 20);
  EXPECT_THAT(ReportText(report_of("bf16")),
              HasSubstr(">= 96.0 MiB            ?       ?       1  library"));
  const ModuleReport convolution = Of(R"(ENTRY e {
    x = f32[64,56,56,128] parameter(0)
    k = f32[3,3,128,256] parameter(1)
    ROOT c = f32[64,56,56,256] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f })");
  EXPECT_EQ(convolution.AnalysisOf(convolution.rows[0]).flops,
            2.0 * 64 * 56 * 56 * 256 * 3 * 3 * 128);
}

// The row of 512 stays in the cache. The 80 MiB do not, and are asked for 8 times.
TEST_F(KernelReportTest, OnlyABroadcastOfALargeOperandIsAFinding) {
  EXPECT_THAT(Findings(Of("ENTRY e { x = f32[512] parameter(0)\n"
                          "  ROOT b = f32[4096,512] broadcast(x), dimensions={1} }")),
              IsEmpty());
  // A sector for each 8 bytes of 80 MiB, 240 MiB too much, are less than 5% of 5.3 GiB.
  EXPECT_THAT(Findings(Of("ENTRY e { x = f32[20971520] parameter(0)\n"
                          "  ROOT b = f32[20971520,64] broadcast(x), dimensions={0} }")),
              IsEmpty());
  const ModuleReport report =
      Of("ENTRY e { x = f32[20971520] parameter(0)\n"
         "  ROOT b = f32[8,20971520] broadcast(x), dimensions={1} }");
  EXPECT_THAT(Findings(report), ElementsAre("each element of x that is read is read 8 times"));
  EXPECT_EQ(report.rows[0].findings[0].bytes, int64_t{7 * 80} << 20);
}

constexpr absl::string_view kOfACpu = R"(HloModule m, is_scheduled=true
ENTRY e { x = f32[1024,4]{1,0} parameter(0)
          y = f32[1024]{0} custom-call(x), custom_call_target="TARGET"
          ROOT k = f32[4,1024]{1,0} transpose(x), dimensions={1,0} })";

TEST_F(KernelReportTest, SpeaksOfWarpsOfGpusOnly) {
  const auto report_of = [&](absl::string_view target) {
    return Of(absl::StrReplaceAll(kOfACpu, {{"TARGET", target}}));
  };
  const ModuleReport cpu = report_of("lapack_sgetrf_ffi");
  EXPECT_EQ(cpu.platform, "cpu");
  EXPECT_THAT(cpu.about, Contains(HasSubstr("compiled for cpu, as a custom call lapack_ says")));
  EXPECT_THAT(cpu.about, Contains(HasSubstr("memory as on a GPU with warps of 32")));
  const std::string finding =
      "reading x makes neighbours 16 bytes apart, along dimension 0: transpose x "
      "beforehand, or work in tiles: 512 instead of 2048 sectors";
  EXPECT_THAT(Findings(cpu), ElementsAre(finding));
  const ModuleReport gpu = report_of("__cublas$gemm");
  EXPECT_EQ(gpu.platform, "gpu");
  EXPECT_THAT(Findings(gpu)[0], HasSubstr("tile through shared memory"));
  EXPECT_THAT(report_of("f").about, Contains("compiled for: not known"));
  // On a machine that is none.
  EXPECT_THAT(Findings(Of(absl::StrReplaceAll(kOfACpu, {{"TARGET", "f"}}),
                          ReportOptions::For(*FindMachine("cpu"))))[0],
              HasSubstr("work in tiles"));
}

TEST_F(KernelReportTest, SaysForWhatAModuleIs) {
  const auto about = [&](absl::string_view text) { return absl::StrJoin(Of(text).about, "; "); };
  EXPECT_THAT(about("ENTRY e { x = f32[4,4] parameter(0)\n ROOT n = f32[4,4] negate(x) }"),
              ::testing::AllOf(HasSubstr("compiled for: not known; not scheduled"),
                               HasSubstr("no layouts are given")));
  EXPECT_THAT(about("ENTRY e { x = f32[4,4]{1,0} parameter(0)\n ROOT n = f32[4,4] negate(x) }"),
              HasSubstr("the layouts of 1 of 2 arrays are not given"));
  EXPECT_THAT(
      about("ENTRY e { x = f32[4,4]{1,0} parameter(0)\n ROOT n = f32[4,4]{1,0} negate(x) }"),
      ::testing::Not(HasSubstr("given")));
  EXPECT_THAT(about("HloModule m, is_scheduled=true\n"
                    "ENTRY e { x = f32[16,128]{1,0:T(8,128)} parameter(0)\n"
                    "  ROOT n = f32[16,128]{1,0:T(8,128)} negate(x) }"),
              HasSubstr("compiled for tpu, as a layout in tiles says"));
  constexpr absl::string_view kDot =
      "ENTRY e { x = f32[4,4]{1,0} parameter(0)\n  ROOT d = f32[4,4]{1,0} dot(x, x), "
      "lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
  EXPECT_THAT(about(absl::StrCat("HloModule m, is_scheduled=true\n", kDot)), HasSubstr("for cpu"));
  EXPECT_THAT(about(absl::StrCat("HloModule m\n", kDot)), HasSubstr("compiled for: not known"));
}

// A body of slices is made as a fusion would be; one with a product reads each element once at least.
TEST_F(KernelReportTest, LibrariesAreModelledFromTheirBodies) {
  const auto report_of = [&](absl::string_view body) {
    return Of(absl::StrCat("f { a = f32[64,64] parameter(0)\n ROOT r = f32[64,64] ", body,
                           " }\nENTRY e { x = f32[64,64] parameter(0)\n"
                           "  ROOT k = f32[64,64] fusion(x), kind=kCustom, calls=f }"));
  };
  const ModuleReport negation = report_of("negate(a)");
  EXPECT_EQ(negation.AnalysisOf(negation.rows[0]).kind, "loop");
  EXPECT_EQ(negation.totals.bytes_moved, Interval::Point(2 * 64 * 64 * 4));
  const ModuleReport product =
      report_of("dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
  EXPECT_EQ(product.AnalysisOf(product.rows[0]).kind, "library");
  EXPECT_EQ(product.totals.traffic, 2 * 64 * 64 * 4);
  EXPECT_EQ(product.AnalysisOf(product.rows[0]).flops, 2.0 * 64 * 64 * 64);
  const ModuleReport sum = Of(R"(s { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
f { a = f32[64,64] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[64] reduce(a, z), dimensions={1}, to_apply=s }
ENTRY e { x = f32[64,64] parameter(0)
  ROOT k = f32[64] fusion(x), kind=kCustom, calls=f })");
  EXPECT_EQ(sum.AnalysisOf(sum.rows[0]).kind, "library");
}

// Negations of 64 and 128 floats in two blocks, 512 and 1024 bytes each.
TEST_F(KernelReportTest, EqualKernelsAreOneGroup) {
  const auto negation = [](absl::string_view name, int64_t size, absl::string_view of,
                           absl::string_view op_name) {
    return absl::StrCat("  ", name, " = f32[", size, "] negate(", of, "), metadata={op_name=\"",
                        op_name, "\" source_file=\"/a/site-packages/net.py\" source_line=", size,
                        "}\n");
  };
  const ModuleReport report =
      Of(absl::StrCat("ENTRY e {\n  x = f32[64] parameter(0)\n  y = f32[128] parameter(1)\n",
                      negation("a", 64, "x", "jit(f)/Net/block_0/mlp/neg"),
                      negation("b", 64, "a", "jit(f)/Net/block_1/mlp/neg"),
                      negation("c", 128, "y", "jit(f)/Net/block_1/mlp/neg"),
                      negation("d", 64, "b", "jit(f)/Net/head/neg"),
                      "  ROOT t = (f32[64], f32[128]) tuple(d, c)\n}"));
  ASSERT_EQ(report.groups.size(), 2u);
  EXPECT_EQ(report.groups[0].name, "e/a");
  EXPECT_EQ(report.groups[0].totals.kernels, 3);
  EXPECT_EQ(report.groups[0].runs, Interval::Point(3));
  EXPECT_EQ(report.groups[0].totals.traffic, 3 * 512);
  EXPECT_EQ(report.groups[0].source.op_name, "jit(f)/Net/block_*/mlp/neg");
  EXPECT_EQ(report.groups[0].places, 2);
  EXPECT_EQ(report.groups[1].totals.traffic, 1024);
  ASSERT_EQ(report.by_module.size(), 2u);
  EXPECT_EQ(report.by_module[0].name, "Net/block_*/mlp");
  EXPECT_EQ(report.by_module[0].totals.bytes_moved, Interval::Point(2 * 512 + 1024));
  EXPECT_EQ(report.by_module[1].name, "Net/head");
  ASSERT_EQ(report.by_source.size(), 2u);
  EXPECT_EQ(report.by_source[0].name, "net.py:64");
  EXPECT_EQ(report.by_source[0].totals.kernels, 3);
  // Three of four kernels, each of which takes about as long as it takes to start it.
  EXPECT_THAT(ReportText(report),
              HasSubstr("75.0%       1.5 KiB          0 B    100%       3  loop"));
  EXPECT_THAT(ReportText(report),
              HasSubstr("e/a x3\n    net.py:64  jit(f)/Net/block_*/mlp/neg, and 1 "));
  ExpectReportAddsUp(report);
}

// 200 negations of 200 sizes, each less than 1% of all but for a last one that is 200 times as large.
TEST_F(KernelReportTest, WhatIsSmallIsOneLine) {
  std::string text = "ENTRY e {\n  p = f32[100000] parameter(0)\n  n = f32[100000] negate(p)\n";
  for (int i = 1; i <= 200; ++i) {
    absl::StrAppend(&text, "  s", i, " = f32[", i, "] slice(p), slice={[0:", i, "]}\n");
  }
  const ModuleReport report = Of(text + "}");
  const std::string shown = ReportText(report);
  EXPECT_THAT(shown, HasSubstr("and 200 more kernels: "));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("e/s200")));
  EXPECT_THAT(ReportText(report, {.top = 2}), HasSubstr("e/s200"));
  EXPECT_THAT(ReportText(report, {.top = 1000}), ::testing::Not(HasSubstr("more kernel")));
  ExpectReportAddsUp(report);
}

TEST_F(KernelReportTest, WhatRunsAnUnknownNumberOfTimesCountsOnce) {
  const ModuleReport report =
      Of(absl::StrReplaceAll(kLoop, {{"LIMIT", "7"}, {"BEGIN", "parameter(0)"}, {"CONFIG", ""}}));
  // The negation of 64 floats, the addition of two numbers and the comparison; a sector for each number.
  EXPECT_EQ(report.totals.traffic, 2 * 256 + 3 * 32 + 3 * 32);
  ExpectReportAddsUp(report);
}

// Either branch runs once at most, and counts so: negations of 64 floats.
TEST_F(KernelReportTest, BranchesCountAsOftenAsTheyMayRun) {
  const ModuleReport report = Of(R"(t { a = f32[64] parameter(0)
  ROOT n = f32[64] negate(a) }
f { a = f32[64] parameter(0)
  ROOT m = f32[64] negate(a) }
ENTRY e { p = pred[] parameter(0)
  x = f32[64] parameter(1)
  ROOT c = f32[64] conditional(p, x, x), true_computation=t, false_computation=f })");
  EXPECT_EQ(report.totals.bytes_moved, Interval::Closed(0, 2 * 512));
  EXPECT_EQ(report.totals.traffic, 2 * 512);
  ExpectReportAddsUp(report);
}

// The negation runs five times in the loop and once outside.
TEST_F(KernelReportTest, SumsByLoopCountWhatIsOutsideApart) {
  const ModuleReport report = Of(kSumOfRows);
  ASSERT_EQ(report.by_loop.size(), 2u);
  EXPECT_EQ(report.by_loop[0].name, "e/w");
  EXPECT_EQ(report.by_loop[1].name, "outside of loops");
  EXPECT_EQ(report.by_loop[1].totals.bytes_moved, Interval::Point(2 * 256));
  ExpectReportAddsUp(report);
}

TEST_F(KernelReportTest, SumsOfRandomModulesAddUp) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    ExpectReportAddsUp(Of(RandomFusionModule(seed)));
  }
}

TEST(ModulePathTest, IsWithoutTheFunctionAndTheOperation) {
  using internal::ModulePathOf;
  EXPECT_EQ(ModulePathOf("jit(step)/jit(main)/jvp(Net)/Block_3/attention/dot_general"),
            "jvp(Net)/Block_3/attention");
  EXPECT_EQ(ModulePathOf("jit(f)/vmap(a/b)/c/add"), "vmap(a/b)/c");
  EXPECT_EQ(ModulePathOf("jit(f)/add"), "");
  EXPECT_EQ(ModulePathOf("x"), "");
  EXPECT_EQ(ModulePathOf(""), "");
  EXPECT_EQ(ModulePathOf("a/jit(relu)/max"), "a/jit(relu)");
  EXPECT_EQ(ModulePathOf("a)/b("), "a)");
  EXPECT_EQ(ModulePathOf("fold/angles/broadcast_in_dim;fold/squeeze"), "fold/angles");
}

TEST(ModulePathTest, NumbersOfLayersAreLeftOut) {
  using internal::WithoutNumbers;
  EXPECT_EQ(WithoutNumbers("Net/block12/unit_03/7"), "Net/block*/unit_*/*");
  EXPECT_EQ(WithoutNumbers("FlaxT5For/conv_2d"), "FlaxT5For/conv_2d");
  EXPECT_EQ(WithoutNumbers(""), "");
}

TEST(TimeTextTest, TakesTheUnitThatFits) {
  EXPECT_EQ(TimeText(0), "0.0 ns");
  EXPECT_EQ(TimeText(0.0128), "12.8 ns");
  EXPECT_EQ(TimeText(0.9999), "999.9 ns");
  EXPECT_EQ(TimeText(0.99996), "1.0 us");
  EXPECT_EQ(TimeText(999.9), "999.9 us");
  EXPECT_EQ(TimeText(999.96), "1.0 ms");
  EXPECT_EQ(TimeText(2.5e6), "2.5 s");
}

TEST(BytesTextTest, TakesTheUnitThatFits) {
  EXPECT_EQ(BytesText(Interval::Point(1023)), "1023 B");
  EXPECT_EQ(BytesText(Interval::Point(1024)), "1.0 KiB");
  EXPECT_EQ(BytesText(Interval::Point((1 << 20) - 1)), "1.0 MiB");
  EXPECT_EQ(BytesText(Interval::Closed(1, 2048)), "1 B to 2.0 KiB");
  EXPECT_EQ(BytesText(Interval::AtLeast(2048)), ">= 2.0 KiB");
  EXPECT_EQ(BytesText(Interval::AtLeast(0)), "?");
  EXPECT_EQ(BytesText(Interval::Point(INT64_MAX)), "8.0 EiB");
  // Halves are rounded up, on the page as well.
  EXPECT_EQ(BytesText(Interval::Point(7424)), "7.3 KiB");
}

}  // namespace
}  // namespace xla_indexing
