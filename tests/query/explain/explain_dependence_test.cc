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
