// What an indexer keeps changes no answer, whatever was asked before and wherever a budget ends.

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fusion/own_answers.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/repeating_modules.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {
namespace {

TEST(KeptAnswersTest, KeptMapsOfCalledComputationsChangeNoAnswer) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  CheckModule(*module);
}

TEST(KeptAnswersTest, AnswersCutShortByTheBudgetAreNotKept) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  int weaker = 0;
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    const auto own = Entries(*instruction, Direction::kOutputToInput, &context);
    ASSERT_TRUE(own.ok());
    for (int64_t steps = 0; steps < 40; ++steps) {
      const QuestionBudget budget(steps);
      const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
      ASSERT_TRUE(entries.ok());
      weaker += AreEqual(**entries, *own) ? 0 : 1;
    }
    const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
    ASSERT_TRUE(entries.ok());
    EXPECT_TRUE(AreEqual(**entries, *own)) << instruction->ToString();
  }
  EXPECT_GT(weaker, 20);
}

// The leaves of an instruction are asked about one after another: what the budget has paid for is there
// when it is spent.
TEST(KeptAnswersTest, WhatABudgetHasPaidForIsKeptUntilItIsClosed) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    for (int64_t steps = 0; steps < 400; steps += 7) {
      const QuestionBudget budget(steps);
      const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
      ASSERT_TRUE(entries.ok());
      QuestionBudget::Spend(steps + 1);
      const auto again = indexer.Index(*instruction, Direction::kOutputToInput);
      ASSERT_TRUE(again.ok());
      EXPECT_TRUE(AreEqual(**again, **entries)) << steps << " " << instruction->ToString();
    }
  }
}

// Whatever the budget is, and so wherever it cuts a question, with all that was kept before it.
TEST(KeptAnswersTest, EarlierQuestionsChangeNoAnswerThatTheBudgetCuts) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CasesInTurn cases;
  for (int64_t steps = 0; steps < 3000; steps += 1 + steps / 20) {
    if (!cases.IsNextTried()) continue;
    HloIndexer indexer(&context);
    for (const HloInstruction* instruction : InstructionsOf(*module)) {
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        ASSERT_TRUE(indexer.Index(*instruction, direction).ok());
        const auto cut = [&](const auto& ask) {
          const QuestionBudget budget(steps);
          return ask();
        };
        const auto entries = cut([&] { return indexer.Index(*instruction, direction); });
        const auto own = cut([&] { return Entries(*instruction, direction, &context); });
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << steps << " " << instruction->ToString();
      }
    }
  }
}

// What one leaf of an instruction needed, another one has, even where the budget that they share has
// too few steps to make it again.
TEST(KeptAnswersTest, QuestionsThatShareABudgetMakeThingsOnce) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloInstruction& root = *module->entry_computation()->root_instruction();
  const OperandLeaf last{0, root.shape().LeafCount() - 1};
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    HloIndexer alone(&context);
    const QuestionBudget enough(int64_t{1} << 40);
    const int64_t before = QuestionBudget::Left();
    const auto own = alone.Index(root, direction, last);
    ASSERT_TRUE(own.ok());
    const int64_t steps = before - QuestionBudget::Left();
    HloIndexer indexer(&context);
    ASSERT_GT(steps, 100);
    ASSERT_TRUE(QuestionBudget::Spend(QuestionBudget::Left() - steps - steps / 4));
    for (int round = 0; round < 3; ++round) {
      const auto entries = indexer.Index(root, direction, last);
      ASSERT_TRUE(entries.ok());
      EXPECT_TRUE(AreEqual(**entries, **own));
      EXPECT_FALSE(QuestionBudget::IsSpent());
    }
  }
}

TEST(KeptAnswersTest, EarlierQuestionsChangeNoAnswerAboutAComputation) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (int round = 0; round < 2; ++round) {
    for (const HloComputation* computation : module->computations()) {
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        const auto entries = indexer.Index(*computation, direction);
        const auto own = Entries(*computation, direction, &context);
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << computation->ToString();
      }
    }
  }
}

// Each is asked about when the one before has ended, so that addresses come again.
TEST(KeptAnswersTest, ModulesMayEndBeforeTheIndexer) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (int seed = 0; seed < Cases(40); ++seed) {
    for (const uint64_t again : {seed, seed + 1, seed}) {
      const auto module = Parse(again % 2 == 0 ? RandomCallsOfEqualComputations(again)
                                               : RandomReadsOfOffsets(again));
      ASSERT_NE(module, nullptr);
      for (const HloInstruction* instruction : InstructionsOf(*module)) {
        const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
        const auto own = Own(*instruction, Direction::kOutputToInput, &context, {});
        ASSERT_TRUE(entries.ok());
        EXPECT_TRUE(AreEqual(**entries, own)) << instruction->ToString();
      }
      for (const HloComputation* computation : module->computations()) {
        const auto entries = indexer.Index(*computation, Direction::kOutputToInput);
        const auto own = Entries(*computation, Direction::kOutputToInput, &context);
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << computation->ToString();
      }
    }
  }
}

TEST(KeptAnswersTest, WhatIsKeptIsBounded) {
  std::string text = "ENTRY e {\n  x = f32[400,400] parameter(0)\n";
  constexpr int kSlices = 30'000;
  for (int i = 0; i < kSlices; ++i) {
    absl::StrAppend(&text, "  s", i, " = f32[1,1] slice(x), slice={[", i / 400, ":", i / 400 + 1,
                    "], [", i % 400, ":", i % 400 + 1, "]}\n");
  }
  const auto module = Parse(text + "  ROOT r = f32[400,400] negate(x)\n}\n");
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const HloInstruction& first = *module->entry_computation()->FindInstruction("s0");
  ASSERT_TRUE(indexer.Index(first, Direction::kInputToOutput).ok());
  const SharedIndexing before = *indexer.Index(first, Direction::kOutputToInput);
  EXPECT_EQ(*indexer.Index(first, Direction::kOutputToInput), before);
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    ASSERT_TRUE(indexer.Index(*instruction, Direction::kOutputToInput).ok());
  }
  // Forgotten, and the same when it is made again.
  const SharedIndexing after = *indexer.Index(first, Direction::kOutputToInput);
  EXPECT_NE(after, before);
  EXPECT_TRUE(AreEqual(*after, *before));
}

}  // namespace
}  // namespace xla_indexing
