#include "xla_indexing/query/explain/explain_dependence.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

class ExplainDependenceTest : public ::testing::Test {
 protected:
  absl::StatusOr<DependenceReport> Explain(absl::string_view text,
                                           const DependenceQuestion& question) {
    auto module = ParseAndVerifyModule(text);
    if (!module.ok()) return module.status();
    return ExplainDependence(*(*module)->entry_computation(), question, indexers_);
  }

  // `n {0}, r {0}, p {3}`.
  static std::string ChainOf(const DependenceReport& report) {
    std::string text;
    for (const DependenceStep& step : report.steps) {
      absl::StrAppend(&text, text.empty() ? "" : ", ", step.instruction, " {");
      for (size_t i = 0; i < step.element.size(); ++i) {
        absl::StrAppend(&text, i == 0 ? "" : ",", step.element[i]);
      }
      absl::StrAppend(&text, "}");
    }
    return text;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloIndexers indexers_{&context_};
};

TEST_F(ExplainDependenceTest, TakesTheShorterOfTwoWays) {
  const auto report = Explain(R"(ENTRY e { p = f32[4] parameter(0)  a = f32[4] negate(p)
      b = f32[4] abs(a)  c = f32[4] reverse(p), dimensions={0}
      d = f32[4] reverse(c), dimensions={0}
      ROOT r = f32[4] add(b, p) })",
                              {0, {1}, 0, 0, {1}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kYes);
  EXPECT_EQ(ChainOf(*report), "r {1}, p {1}");
}

TEST_F(ExplainDependenceTest, GoesThroughFusionsAndSumsOfProducts) {
  const auto report = Explain(R"(f { x = f32[2,3] parameter(0)
      ROOT t = f32[3,2] transpose(x), dimensions={1,0} }
      ENTRY e { p = f32[2,3] parameter(0)  q = f32[2,5] parameter(1)
      c = f32[3,2] fusion(p), kind=kLoop, calls=f
      ROOT r = f32[3,5] dot(c, q), lhs_contracting_dims={1}, rhs_contracting_dims={0},
        metadata={op_name="jit(f)/dot" source_file="m.py" source_line=12} })",
                              {0, {2, 4}, 0, 0, {1, 2}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kYes);
  EXPECT_EQ(ChainOf(*report), "r {2,4}, t {2,1}, p {1,2}");
  EXPECT_EQ(report->steps[0].op_name, "jit(f)/dot");
  EXPECT_EQ(report->steps[0].source_line, 12);
  EXPECT_EQ(report->steps[1].computation, "f");
}

TEST_F(ExplainDependenceTest, SaysThatAnElementIsNotRead) {
  const auto report = Explain(R"(ENTRY e { p = f32[4] parameter(0)  q = f32[4] parameter(1)
      ROOT s = f32[2] slice(p), slice={[1:3]} })",
                              {0, {0}, 0, 0, {2}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kNo);
  EXPECT_TRUE(report->steps.empty());
}

TEST_F(ExplainDependenceTest, NamesTheValuesForWhichAnElementIsRead) {
  const auto report = Explain(R"(ENTRY e { p = f32[9] parameter(0)  row = s32[] parameter(1)
      s = f32[4] dynamic-slice(p, row), dynamic_slice_sizes={4}
      ROOT n = f32[4] negate(s) })",
                              {0, {1}, 0, 0, {4}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kYes);
  EXPECT_TRUE(report->depends_on_values);
  ASSERT_EQ(ChainOf(*report), "n {1}, s {1}, p {4}");
  ASSERT_EQ(report->steps[1].runtime_values.size(), 1);
  EXPECT_EQ(report->steps[1].runtime_values[0].first, "row");
  EXPECT_EQ(report->steps[1].runtime_values[0].second, 3);
}

// Three iterations, in each of which x is turned by one place and added to itself.
constexpr absl::string_view kTurningLoop = R"(
body { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  tail = f32[7] slice(x), slice={[1:8]}
  head = f32[1] slice(x), slice={[0:1]}
  turned = f32[8] concatenate(tail, head), dimensions={0}
  sum = f32[8] add(x, turned)
  ROOT t = (s32[], f32[8]) tuple(next, sum) }
until { s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[8] parameter(0)  zero = s32[] constant(0)
  state = (s32[], f32[8]) tuple(zero, p)
  w = (s32[], f32[8]) while(state), condition=until, body=body
  ROOT r = f32[8] get-tuple-element(w), index=1 })";

TEST_F(ExplainDependenceTest, GoesThroughTheIterationsOfALoop) {
  for (int64_t by = 0; by < 8; ++by) {
    const auto report = Explain(kTurningLoop, {0, {0}, 0, 0, {by}});
    ASSERT_TRUE(report.ok()) << report.status();
    // After three iterations it is at most three places further on.
    EXPECT_EQ(report->answer, by <= 3 ? Answer::kYes : Answer::kNo);
    if (by > 3) continue;
    // A sum in each iteration, the last first, and two steps more for each turn; then p.
    std::vector<int64_t> sums;
    int64_t turns = 0;
    int64_t steps = 0;
    for (const DependenceStep& step : report->steps) {
      for (int64_t i = 0; step.instruction == "sum" && i < step.repeats; ++i) {
        sums.push_back(step.iterations.at(0) - i);
      }
      turns += step.instruction == "turned" ? step.repeats : 0;
      steps += step.repeats;
    }
    EXPECT_EQ(sums, (std::vector<int64_t>{2, 1, 0}));
    EXPECT_EQ(turns, by);
    EXPECT_EQ(steps, 4 + 2 * by);
    // Iterations that only add are one.
    if (by == 0) {
      EXPECT_EQ(ChainOf(*report), "sum {0}, p {0}");
    }
    EXPECT_TRUE(report->steps.back().iterations.empty());
  }
}

TEST_F(ExplainDependenceTest, TakesWhatAnIterationCountsAsItsNumber) {
  // Iteration i of four reads element 2 * i.
  const auto report = Explain(R"(
body { s = (s32[], f32[4], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  y = f32[4] get-tuple-element(s), index=1
  x = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  at = s32[] add(i, i)
  part = f32[1] dynamic-slice(x, at), dynamic_slice_sizes={1}
  new = f32[4] dynamic-update-slice(y, part, i)
  ROOT t = (s32[], f32[4], f32[8]) tuple(next, new, x) }
until { s = (s32[], f32[4], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { p = f32[8] parameter(0)  zero = s32[] constant(0)  none = f32[] constant(0)
  nones = f32[4] broadcast(none), dimensions={}
  state = (s32[], f32[4], f32[8]) tuple(zero, nones, p)
  w = (s32[], f32[4], f32[8]) while(state), condition=until, body=body
  ROOT r = f32[4] get-tuple-element(w), index=1 })",
                              {0, {2}, 0, 0, {4}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kYes);
  EXPECT_EQ(ChainOf(*report), "new {2}, new {2}, part {0}, p {4}");
  EXPECT_EQ(report->steps[0].iterations, std::vector<int64_t>{3});
  EXPECT_EQ(report->steps[2].iterations, std::vector<int64_t>{2});
}

TEST_F(ExplainDependenceTest, GoesThroughTheBranchOfAConditional) {
  const auto report = Explain(R"(
yes { a = f32[4] parameter(0)  n = f32[4] negate(a)  ROOT t = f32[4] reverse(n), dimensions={0} }
no { a = f32[4] parameter(0)  ROOT c = f32[4] copy(a) }
ENTRY e { p = f32[4] parameter(0)  q = f32[4] parameter(1)  which = pred[] parameter(2)
  ROOT r = f32[4] conditional(which, p, q), true_computation=yes, false_computation=no })",
                              {0, {0}, 0, 0, {3}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->answer, Answer::kYes);
  EXPECT_EQ(ChainOf(*report), "r {0}, t {0}, n {3}, p {3}");
  EXPECT_TRUE(report->depends_on_values);
}

TEST_F(ExplainDependenceTest, RefusesWhatIsNotThere) {
  const std::string text = "ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }";
  for (const DependenceQuestion& question : std::vector<DependenceQuestion>{{0, {4}, 0, 0, {0}},
                                                                            {0, {-1}, 0, 0, {0}},
                                                                            {0, {0, 0}, 0, 0, {0}},
                                                                            {0, {0}, 0, 0, {}},
                                                                            {1, {0}, 0, 0, {0}},
                                                                            {0, {0}, 1, 0, {0}},
                                                                            {0, {0}, -1, 0, {0}},
                                                                            {0, {0}, 0, 1, {0}}}) {
    EXPECT_EQ(Explain(text, question).status().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(ExplainDependenceTest, TextHasNoCommandsForATerminal) {
  DependenceReport report;
  report.answer = Answer::kYes;
  DependenceStep& step = report.steps.emplace_back();
  step.instruction = "a";
  step.op_name = "x\x1b[2Jy";
  EXPECT_EQ(DependenceText(report).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace xla_indexing
