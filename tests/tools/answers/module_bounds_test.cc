#include "xla_indexing/tools/answers/module_bounds.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {
namespace {

class ModuleBoundsTest : public ::testing::Test {
 protected:
  void Read(const std::string& text) {
    auto module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    CommandLine line;
    line.all_instructions = true;
    line.instruction = "all";
    subjects_ = SelectSubjects(*module_, nullptr, line);
  }
  ModuleBounds Bounds() const { return {*module_, subjects_}; }
  absl::Span<const Subject> Subjects(size_t begin, size_t count) const {
    return absl::MakeConstSpan(subjects_).subspan(begin, count);
  }

  std::unique_ptr<HloModule> module_;
  std::vector<Subject> subjects_;
};

constexpr int64_t kOne = ModuleBounds::kStepsOfSubject;

TEST_F(ModuleBoundsTest, AQuestionAloneHasTheBudgetOfAQuestion) {
  Read("ENTRY e { ROOT p = f32[2] parameter(0) }");
  EXPECT_EQ(Bounds().ShareOf(subjects_).StepsOfNext(Direction::kOutputToInput),
            QuestionBudget::kDefaultSteps);
}

TEST_F(ModuleBoundsTest, UnitsShareByTheInstructionsThatTheirsCall) {
  // Weights: x 1, n 1, p 1, q to w 1 each, and r 3, which calls two instructions.
  Read(R"(c { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }
          ENTRY e { p = f32[2] parameter(0) q = f32[] constant(0) s = f32[] constant(0)
            t = f32[] constant(0) u = f32[] constant(0) v = f32[] constant(0)
            w = f32[] constant(0) ROOT r = f32[2] call(p), to_apply=c })");
  ASSERT_EQ(subjects_.size(), 10);
  const ModuleBounds bounds = Bounds();
  const auto share_of = [&](size_t begin, size_t count) {
    return bounds.ShareOf(Subjects(begin, count)).StepsOfNext(Direction::kOutputToInput) - kOne;
  };
  // The first of several subjects may take two thirds of what they share.
  EXPECT_EQ(share_of(0, 3), ModuleBounds::kSteps * 3 / 12 * 2 / 3);
  EXPECT_EQ(share_of(0, 1), ModuleBounds::kSteps / 12);
  EXPECT_EQ(share_of(9, 1), ModuleBounds::kSteps * 3 / 12);
}

// A loop over `size` arrays, all of which it passes through, in an entry of 34 instructions.
std::string LoopOver(int size) {
  std::string state = "(";
  for (int k = 0; k < size; ++k) absl::StrAppend(&state, k == 0 ? "" : ", ", "f32[2]");
  state.push_back(')');
  std::string others;
  for (int k = 1; k < 33; ++k) absl::StrAppend(&others, " q", k, " = f32[] parameter(", k, ")");
  return absl::StrCat("b { ROOT p = ", state, " parameter(0) }\nc { p = ", state,
                      " parameter(0) ROOT r = pred[] constant(false) }\nENTRY e { p = ", state,
                      " parameter(0)", others, " ROOT w = ", state,
                      " while(p), condition=c, body=b }");
}

TEST_F(ModuleBoundsTest, ALoopOfManyLeavesWeighsMore) {
  // The loop weighs 4, as its computations have three instructions, and the others 36.
  const auto steps_of_loop = [&](int leaves) {
    Read(LoopOver(leaves));
    return Bounds().ShareOf(Subjects(36, 1)).StepsOfNext(Direction::kOutputToInput) - kOne;
  };
  EXPECT_EQ(steps_of_loop(2), ModuleBounds::kSteps * 4 / 40);
  EXPECT_EQ(steps_of_loop(64), ModuleBounds::kSteps * 8 / 44);
  EXPECT_EQ(steps_of_loop(1000), ModuleBounds::kSteps * 12 / 48);
}

TEST_F(ModuleBoundsTest, CallsThatDoubleManyTimesWeighNoMoreThanThereIsRoomFor) {
  std::string text = "c0 { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }\n";
  for (int i = 1; i < 100; ++i) {
    absl::StrAppend(&text, "c", i, " { x = f32[2] parameter(0) a = f32[2] call(x), to_apply=c",
                    i - 1, " ROOT b = f32[2] call(a), to_apply=c", i - 1, " }\n");
  }
  Read(absl::StrCat(text, "ENTRY e { p = f32[2] parameter(0) ROOT r = f32[2] call(p), ",
                    "to_apply=c99 }"));
  const int64_t steps = Bounds().ShareOf(subjects_).StepsOfNext(Direction::kOutputToInput);
  EXPECT_EQ(steps, QuestionBudget::kDefaultSteps);
  EXPECT_GT(
      Bounds().ShareOf(Subjects(subjects_.size() - 1, 1)).StepsOfNext(Direction::kOutputToInput),
      kOne);
}

TEST(UnitShareTest, ASubjectMaySpendTwoThirdsOfWhatIsLeft) {
  UnitShare share(/*steps=*/900, /*pairs=*/0);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 600);
  share.SpendSteps(Direction::kOutputToInput, kOne);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 600)
      << "its own steps come out of no share";
  share.SpendSteps(Direction::kOutputToInput, kOne + 600);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 200);
  share.SpendSteps(Direction::kOutputToInput, kOne + 10'000);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne);
  EXPECT_EQ(share.StepsOfNext(Direction::kInputToOutput), kOne + 600) << "a direction has its own";
}

TEST(UnitShareTest, ASubjectMaySpendItsPartByWeight) {
  UnitShare share(/*steps=*/900, /*pairs=*/0, /*weights=*/{1, 8, 1, 1});
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 600);
  share.SpendSteps(Direction::kOutputToInput, kOne);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 720);
  share.SpendSteps(Direction::kOutputToInput, kOne + 720);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 120);
  share.SpendSteps(Direction::kOutputToInput, kOne);
  EXPECT_EQ(share.StepsOfNext(Direction::kOutputToInput), kOne + 180) << "the last one";
}

TEST(UnitShareTest, PairsAreListedUntilTheShareIsUsedUpAndAFewForEachSubject) {
  UnitShare share(/*steps=*/0, /*pairs=*/5000);
  EXPECT_TRUE(share.MayListMore(Direction::kOutputToInput, 2000));
  share.ListPairs(Direction::kOutputToInput, 4999);
  EXPECT_TRUE(share.MayListMore(Direction::kOutputToInput, 4999));
  share.ListPairs(Direction::kOutputToInput, 1000);
  EXPECT_FALSE(share.MayListMore(Direction::kOutputToInput, 5999));
  EXPECT_FALSE(share.MayListMore(Direction::kOutputToInput, ModuleBounds::kPairsOfSubject));
  EXPECT_TRUE(share.MayListMore(Direction::kOutputToInput, ModuleBounds::kPairsOfSubject - 1));
  EXPECT_TRUE(share.MayListMore(Direction::kInputToOutput, 2000)) << "a direction has its own";
}

}  // namespace
}  // namespace xla_indexing
