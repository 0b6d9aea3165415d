#include "xla_indexing/base/question_budget.h"

#include <chrono>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing {
namespace {

TEST(QuestionBudgetTest, WorkIsNotCountedWithoutABudget) {
  EXPECT_TRUE(QuestionBudget::Spend(INT64_MAX));
  EXPECT_TRUE(QuestionBudget::Spend(INT64_MAX));
  EXPECT_FALSE(QuestionBudget::IsSpent());
}

TEST(QuestionBudgetTest, IsSpentByMoreStepsThanItHas) {
  QuestionBudget budget(3);
  EXPECT_TRUE(QuestionBudget::Spend());
  EXPECT_TRUE(QuestionBudget::Spend(2));
  EXPECT_TRUE(QuestionBudget::Spend(0));
  EXPECT_FALSE(QuestionBudget::IsSpent());
  EXPECT_FALSE(QuestionBudget::Spend());
  EXPECT_TRUE(QuestionBudget::IsSpent());
  EXPECT_EQ(QuestionBudget::Reason(), "the question takes more than 3 steps");
}

TEST(QuestionBudgetTest, StaysSpentAfterAStepThatDidNotFit) {
  QuestionBudget budget(3);
  EXPECT_FALSE(QuestionBudget::Spend(4));
  EXPECT_FALSE(QuestionBudget::Spend());
}

TEST(QuestionBudgetTest, AQuestionWithinAQuestionJoinsItsBudget) {
  {
    QuestionBudget outer(2);
    {
      QuestionBudget inner(100);
      EXPECT_TRUE(QuestionBudget::Spend(2));
      EXPECT_FALSE(QuestionBudget::Spend());
    }
    EXPECT_TRUE(QuestionBudget::IsSpent());
    EXPECT_EQ(QuestionBudget::Reason(), "the question takes more than 2 steps");
  }
  EXPECT_FALSE(QuestionBudget::IsSpent());
  QuestionBudget next(1);
  EXPECT_TRUE(QuestionBudget::Spend());
}

TEST(QuestionBudgetTest, NumbersOfSeveralThreadsDiffer) {
  constexpr int kThreads = 4;
  constexpr int kBudgets = 100;
  std::vector<std::vector<int64_t>> of_threads(kThreads);
  for (std::vector<int64_t>& numbers : of_threads) {
    std::thread([&] {
      for (int i = 0; i < kBudgets; ++i) {
        const QuestionBudget budget(10);
        numbers.push_back(QuestionBudget::Number());
      }
    }).join();
  }
  std::set<int64_t> all;
  for (const std::vector<int64_t>& numbers : of_threads) all.insert(numbers.begin(), numbers.end());
  EXPECT_EQ(all.size(), kThreads * kBudgets);
  EXPECT_FALSE(all.contains(0));
}

TEST(QuestionBudgetTest, EachHasANumberOfItsOwn) {
  EXPECT_EQ(QuestionBudget::Number(), 0);
  int64_t first = 0;
  {
    const QuestionBudget outer(2);
    first = QuestionBudget::Number();
    EXPECT_NE(first, 0);
    const QuestionBudget inner(2);
    EXPECT_EQ(QuestionBudget::Number(), first);
  }
  const QuestionBudget next(2);
  EXPECT_NE(QuestionBudget::Number(), first);
  int64_t elsewhere = 0;
  std::thread([&] {
    const QuestionBudget other(2);
    elsewhere = QuestionBudget::Number();
  }).join();
  EXPECT_NE(elsewhere, QuestionBudget::Number());
}

TEST(QuestionBudgetTest, GivesBackWhatWasTakenForAnAnswerThatIsThrownAway) {
  QuestionBudget::RefundTo(5);
  EXPECT_EQ(QuestionBudget::Left(), INT64_MAX);
  QuestionBudget budget(3);
  EXPECT_TRUE(QuestionBudget::Spend());
  const int64_t left = QuestionBudget::Left();
  EXPECT_FALSE(QuestionBudget::Spend(3));
  QuestionBudget::RefundTo(left);
  EXPECT_FALSE(QuestionBudget::IsSpent());
  EXPECT_TRUE(QuestionBudget::Spend(2));
  EXPECT_FALSE(QuestionBudget::Spend());
  // Spent before the question began, it stays so.
  QuestionBudget::RefundTo(QuestionBudget::Left());
  EXPECT_TRUE(QuestionBudget::IsSpent());
}

TEST(QuestionBudgetTest, EachThreadHasItsOwn) {
  QuestionBudget budget(0);
  EXPECT_FALSE(QuestionBudget::Spend());
  std::thread([] { EXPECT_TRUE(QuestionBudget::Spend()); }).join();
}

// Spends until it is told to stop, or for a long time.
bool IsStopped() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (std::chrono::steady_clock::now() < end) {
    if (!QuestionBudget::Spend(0)) return true;
  }
  return false;
}

TEST(InterruptionTest, EndsQuestionsAsLongAsItLives) {
  EXPECT_FALSE(Interruption::IsOpen());
  {
    int asked = 0;
    const auto is_wanted = [&] { return ++asked == 2; };
    const Interruption interruption(is_wanted);
    EXPECT_TRUE(Interruption::IsOpen());
    EXPECT_FALSE(Interruption::Happened());
    const QuestionBudget budget(int64_t{1} << 60);
    const int64_t left = QuestionBudget::Left();
    EXPECT_TRUE(QuestionBudget::Spend());
    EXPECT_TRUE(IsStopped());
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(Interruption::Happened());
    EXPECT_TRUE(QuestionBudget::IsSpent());
    EXPECT_EQ(QuestionBudget::Left(), 0);
    EXPECT_EQ(QuestionBudget::Reason(), "the question was interrupted");
    // What is given back does not let it go on.
    QuestionBudget::RefundTo(left);
    EXPECT_FALSE(QuestionBudget::Spend());
    EXPECT_EQ(asked, 2);
  }
  EXPECT_FALSE(Interruption::Happened());
  EXPECT_TRUE(QuestionBudget::Spend());
}

TEST(InterruptionTest, EndsWhatHasNoBudgetAndIsOneOnAThread) {
  const auto at_once = [] { return true; };
  const auto never = [] { return false; };
  const Interruption interruption(at_once);
  {
    const Interruption inner(never);
    EXPECT_TRUE(IsStopped());
  }
  EXPECT_TRUE(Interruption::Happened());
  std::thread([] { EXPECT_FALSE(Interruption::IsOpen()); }).join();
}

}  // namespace
}  // namespace xla_indexing
