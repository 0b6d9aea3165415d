// How many steps of the question's budget loops take: their bodies are walked once for each leaf, and
// not at all from where a walk would say nothing.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing {
namespace {

// A loop over (i, x, w0, .., w`weights`-1), arrays of 4 numbers, of 8 iterations. `body` computes
// `next` from p's elements i, x and w0, .., which the body returns as they are or, `rotated`, each as
// the one before.
std::string Loop(int weights, const std::string& body, bool rotated = false) {
  std::string state = "(s32[], f32[4]";
  std::string elements;
  std::string parameters;
  std::string names;
  std::string returned;
  for (int k = 0; k < weights; ++k) {
    absl::StrAppend(&state, ", f32[4]");
    absl::StrAppend(&elements, " w", k, " = f32[4] get-tuple-element(p), index=", k + 2, "\n");
    absl::StrAppend(&parameters, " w", k, " = f32[4] parameter(", k + 1, ")\n");
    absl::StrAppend(&names, ", w", k);
    absl::StrAppend(&returned, ", w", rotated ? (k + 1) % weights : k);
  }
  state.push_back(')');
  return absl::StrCat(
      "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
      " ROOT s = f32[] add(a, b)\n}\nbody {\n p = ", state, " parameter(0)\n",
      " i = s32[] get-tuple-element(p), index=0\n x = f32[4] get-tuple-element(p), index=1\n",
      elements, " one = s32[] constant(1)\n j = s32[] add(i, one)\n", body, "\n ROOT t = ", state,
      " tuple(j, next", returned, ")\n}\ncondition {\n p = ", state, " parameter(0)\n",
      " i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(8)\n",
      " ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n zero = s32[] constant(0)\n",
      " x = f32[4] parameter(0)\n", parameters, " s = ", state, " tuple(zero, x", names,
      ")\n ROOT w = ", state, " while(s), condition=condition, body=body\n}\n");
}

// `result` as the last of a chain of so many negations of `operand`.
std::string Chain(const std::string& operand, int length, const std::string& result) {
  std::string text;
  std::string last = operand;
  for (int k = 0; k < length; ++k) {
    const std::string next = k + 1 == length ? result : absl::StrCat(result, "_", k);
    absl::StrAppend(&text, " ", next, " = f32[4] negate(", last, ")\n");
    last = next;
  }
  return text;
}

struct Asked {
  int64_t steps = 0;
  // The weakest label.
  ExactnessLabel label;
};

Asked Ask(const std::string& text, Direction direction, const FusionOptions& options = {}) {
  Asked asked;
  const auto module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return asked;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context, options);
  const QuestionBudget budget(int64_t{1} << 40);
  const int64_t before = QuestionBudget::Left();
  const auto entries =
      indexer.Index(*(*module)->entry_computation()->root_instruction(), direction);
  asked.steps = before - QuestionBudget::Left();
  EXPECT_TRUE(entries.ok()) << entries.status();
  if (!entries.ok()) return asked;
  for (const IndexingEntry& entry : **entries) {
    asked.label = ExactnessLabel::Weaker(asked.label, entry.indexing.label());
  }
  return asked;
}

// x is all of itself in each iteration, as far as is known, so that what leads to it leads to all of
// it in the next iteration, on whichever way.
TEST(LoopCostTest, NothingIsWalkedIntoWhatIsAllOfItself) {
  const auto text = [](int length) {
    std::string body = " y = f32[4] custom-call(x), custom_call_target=\"unknown\"\n";
    std::string last = "y";
    for (int k = 0; k < 8; ++k) {
      const std::string to = absl::StrCat("v", k);
      absl::StrAppend(&body, Chain(absl::StrCat("w", k), length, to));
      const std::string sum = k == 7 ? "next" : absl::StrCat("s", k);
      absl::StrAppend(&body, " ", sum, " = f32[4] add(", last, ", ", to, ")\n");
      last = sum;
    }
    return Loop(8, body);
  };
  const Asked few = Ask(text(2), Direction::kInputToOutput);
  const Asked many = Ask(text(200), Direction::kInputToOutput);
  EXPECT_EQ(few.label.reason, "whole operand: custom-call is not analysed: unknown");
  EXPECT_EQ(many.label.reason, few.label.reason);
  EXPECT_EQ(many.steps, few.steps);
}

// Whether the tightest maps are asked for or not: those are what iterations are composed of.
TEST(LoopCostTest, BodiesAreWalkedOnce) {
  const std::string text =
      Loop(1, absl::StrCat(Chain("w0", 100, "v"),
                           " row = f32[1] dynamic-slice(v, i), dynamic_slice_sizes={1}\n"
                           " next = f32[4] dynamic-update-slice(x, row, i)"));
  FusionOptions tightest;
  tightest.indexing.exact = true;
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const Asked usual = Ask(text, direction);
    EXPECT_EQ(usual.steps, Ask(text, direction, tightest).steps);
    EXPECT_TRUE(usual.label.IsExact());
  }
}

// Large bodies of few leaves are worth their steps.
TEST(LoopCostTest, ALongBodyOfFewLeavesIsExact) {
  const std::string text = Loop(18, Chain("x", 18000, "next"));
  EXPECT_TRUE(Ask(text, Direction::kOutputToInput).label.IsExact());
  EXPECT_TRUE(Ask(text, Direction::kInputToOutput).label.IsExact());
}

// A walk may take an eighth of the steps, however many leaves are passed through.
TEST(LoopCostTest, LeavesThatArePassedThroughTakeNoStepsFromOthers) {
  FusionOptions options;
  options.max_steps = 20'000;
  EXPECT_TRUE(
      Ask(Loop(100, Chain("x", 2000, "next")), Direction::kOutputToInput, options).label.IsExact());
}

// Where the walk from one of many leaves is stopped, it is not tried how iterations follow one
// another.
TEST(LoopCostTest, ManyLeavesOfWhichNothingIsKnownAreNotComposed) {
  const std::string body = absl::StrCat(
      " zero = f32[] constant(0)\n all = f32[] reduce(x, zero), dimensions={0}, to_apply=sum\n",
      " y = f32[4] broadcast(all), dimensions={}\n", Chain("y", 2000, "z"),
      " next = f32[4] add(z, w0)");
  FusionOptions options;
  options.max_steps = 8'000;
  const Asked asked = Ask(Loop(40, body, /*rotated=*/true), Direction::kInputToOutput, options);
  EXPECT_EQ(asked.label.reason, "whole tensor: it takes too many steps to compose the maps");
  EXPECT_LT(asked.steps, options.max_steps / 2);
}

}  // namespace
}  // namespace xla_indexing
