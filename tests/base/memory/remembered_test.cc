#include "xla_indexing/base/memory/remembered.h"

#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing {
namespace {

using Squares = Remembered<int64_t, int64_t>;

// The square of n in n steps, or -1 where there are too few.
class Squarer {
 public:
  int64_t Of(int64_t n) {
    return Squares::Of(n, [&] {
      ++made_;
      return QuestionBudget::Spend(n) ? n * n : -1;
    });
  }
  // How many were made and not taken from a table.
  int made() const { return made_; }

 private:
  int made_ = 0;
};

TEST(RememberedTest, AValueIsMadeOnceWhileATableIsOpen) {
  const QuestionBudget budget;
  Squares::Table table;
  Squarer square;
  {
    const Squares::Open open(&table);
    EXPECT_EQ(square.Of(3), 9);
    EXPECT_EQ(square.Of(3), 9);
    EXPECT_EQ(square.Of(4), 16);
    EXPECT_EQ(square.made(), 2);
  }
  EXPECT_EQ(square.Of(3), 9);
  EXPECT_EQ(square.made(), 3) << "no table is open";
  const Squares::Open open(&table);
  EXPECT_EQ(square.Of(3), 9);
  EXPECT_EQ(square.made(), 3) << "a table keeps what it has when it is opened again";
}

TEST(RememberedTest, ATableThatIsOpenedInsideJoinsTheOneThatIsOpen) {
  const QuestionBudget budget;
  Squares::Table outer;
  Squares::Table inner;
  Squarer square;
  const Squares::Open open_outer(&outer);
  square.Of(3);
  {
    const Squares::Open open_inner(&inner);
    square.Of(3);
  }
  EXPECT_TRUE(Squares::IsOpen());
  EXPECT_EQ(square.made(), 1);
  EXPECT_EQ(inner.size(), 0);
}

TEST(RememberedTest, ATableIsOpenOnOneThread) {
  Squares::Table table;
  const Squares::Open open(&table);
  bool is_open = true;
  std::thread([&] { is_open = Squares::IsOpen(); }).join();
  EXPECT_FALSE(is_open);
}

TEST(RememberedTest, NothingIsRememberedWhereStepsAreNotCounted) {
  Squares::Table table;
  const Squares::Open open(&table);
  Squarer square;
  EXPECT_EQ(square.Of(3), 9);
  EXPECT_EQ(table.size(), 0);
}

TEST(RememberedTest, AValueThatWasCutShortIsNotKept) {
  Squares::Table table;
  const Squares::Open open(&table);
  Squarer square;
  {
    const QuestionBudget budget(2);
    EXPECT_EQ(square.Of(3), -1);
  }
  const QuestionBudget budget;
  EXPECT_EQ(square.Of(3), 9);
}

TEST(RememberedTest, AFullTableForgets) {
  const QuestionBudget budget(INT64_MAX);
  Squares::Table table;
  const Squares::Open open(&table);
  Squarer square;
  constexpr auto kMax = static_cast<int64_t>(Squares::Table::kMaxValues);
  for (int64_t n = 0; n < kMax; ++n) square.Of(n);
  EXPECT_EQ(table.size(), Squares::Table::kMaxValues);
  EXPECT_EQ(square.Of(kMax), kMax * kMax);
  EXPECT_EQ(table.size(), 1);
}

// All values of a question that has so many steps, and the steps that are left at the end.
std::vector<int64_t> Answers(int64_t steps, Squares::Table* table) {
  const QuestionBudget budget(steps);
  const Squares::Open open(table);
  Squarer square;
  std::vector<int64_t> answers;
  for (const int64_t n : {5, 3, 5, 0, 3, 7, 5}) answers.push_back(square.Of(n));
  answers.push_back(QuestionBudget::Left());
  return answers;
}

TEST(RememberedTest, AQuestionHasTheSameAnswersWhateverTheTableHolds) {
  for (int64_t steps = 0; steps < 40; ++steps) {
    Squares::Table empty;
    const std::vector<int64_t> anew = Answers(steps, &empty);
    for (int64_t before = 0; before < 40; ++before) {
      Squares::Table table;
      Answers(before, &table);
      EXPECT_EQ(Answers(steps, &table), anew) << steps << " steps after " << before;
    }
  }
}

}  // namespace
}  // namespace xla_indexing
