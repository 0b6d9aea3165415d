#include "xla_indexing/base/question_budget.h"

#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "absl/status/status.h"
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

TEST(QuestionBudgetTest, AWatchStopsTheWorkOfItsThread) {
  std::vector<double> shares;
  const auto stop_the_second_time = [&](double share) {
    shares.push_back(share);
    return shares.size() == 2;
  };
  {
    const QuestionBudget::Watch watch(stop_the_second_time);
    QuestionBudget budget(int64_t{1} << 62);
    const int64_t left = QuestionBudget::Left();
    while (QuestionBudget::Spend(int64_t{1} << 20)) {
    }
    EXPECT_EQ(shares.size(), 2);
    EXPECT_TRUE(QuestionBudget::IsSpent());
    EXPECT_EQ(QuestionBudget::CheckGoesOn().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(QuestionBudget::Left(), 0);
    // No budget of the thread has anything from then on.
    QuestionBudget::RefundTo(left);
    EXPECT_FALSE(QuestionBudget::Spend());
    EXPECT_EQ(shares.size(), 2);
  }
  EXPECT_GT(shares[1], shares[0]);
  EXPECT_LE(shares[1], 1);
  EXPECT_TRUE(QuestionBudget::CheckGoesOn().ok());
  EXPECT_TRUE(QuestionBudget::Spend());
}

TEST(QuestionBudgetTest, EachThreadHasItsOwn) {
  QuestionBudget budget(0);
  EXPECT_FALSE(QuestionBudget::Spend());
  std::thread([] { EXPECT_TRUE(QuestionBudget::Spend()); }).join();
}

}  // namespace
}  // namespace xla_indexing
