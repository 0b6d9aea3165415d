#include "xla_indexing/fusion/internal/compositions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {
namespace {

class CompositionsTest : public ::testing::Test {
 protected:
  OperandIndexing Parse(const std::string& text) {
    return OperandIndexing(kPartsFit, *ParseIndexingMap(text, &context_));
  }
  // What the composition of the two is, and what it takes of the question's budget.
  struct Made {
    OperandIndexing map;
    int64_t steps = 0;
    int64_t spent = 0;
  };
  static Made Make(const OperandIndexing& first, const OperandIndexing& second,
                   Compositions* compositions) {
    int64_t steps = 0;
    const int64_t left = QuestionBudget::Left();
    OperandIndexing map =
        *compositions->Compose(first, second, [&](int64_t count) { steps += count; });
    return {std::move(map), steps, left - QuestionBudget::Left()};
  }
  // Pairs of which none composes to what another one does.
  std::vector<std::pair<OperandIndexing, OperandIndexing>> Pairs(int count) {
    std::vector<std::pair<OperandIndexing, OperandIndexing>> pairs;
    for (int i = 0; i < count; ++i) {
      pairs.emplace_back(
          Parse(absl::StrCat("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, ", i + 1,
                             "], d0 + s0 in [0, 9]")),
          Parse("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 1], "
                "d0 * 2 + s0 in [1, 18]"));
    }
    return pairs;
  }

  mlir::MLIRContext context_;
};

TEST_F(CompositionsTest, KeepsWhatOneQuestionComposesAndSpendsAsMuchForIt) {
  const auto pairs = Pairs(100);
  Compositions compositions;
  const QuestionBudget question;
  std::vector<Made> made;
  for (const auto& [first, second] : pairs) {
    made.push_back(Make(first, second, &compositions));
    OperandIndexing expected = *ComposeOperandIndexing(first, second);
    expected.Simplify();
    EXPECT_EQ(made.back().map, expected);
    EXPECT_GT(made.back().steps, 0);
    EXPECT_GT(made.back().spent, 0);
  }
  int num_kept = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Made again = Make(pairs[i].first, pairs[i].second, &compositions);
    EXPECT_EQ(again.map, made[i].map);
    EXPECT_EQ(again.steps, made[i].steps);
    EXPECT_EQ(again.spent, made[i].spent);
    num_kept += OperandIndexing::AreCopies(again.map, made[i].map) ? 1 : 0;
  }
  EXPECT_GE(num_kept, 60);  // The first few are not kept.
}

TEST_F(CompositionsTest, ForgetsWhatAnotherQuestionHasMade) {
  const auto pairs = Pairs(100);
  Compositions compositions;
  std::vector<OperandIndexing> made;
  for (const bool is_first : {true, false}) {
    const QuestionBudget question;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const OperandIndexing map = Make(pairs[i].first, pairs[i].second, &compositions).map;
      if (is_first) {
        made.push_back(map);
      } else {
        EXPECT_EQ(map, made[i]);
        EXPECT_FALSE(OperandIndexing::AreCopies(map, made[i]));
      }
    }
  }
}

// What is kept spends no more than there is: with too few steps left, a composition is what it is
// where nothing is kept.
TEST_F(CompositionsTest, ComposesAnewWhereFewStepsAreLeft) {
  const auto pairs = Pairs(100);
  const auto [first, second] = pairs.back();
  for (const int64_t left : {0, 1, 2, 4, 8}) {
    Compositions compositions;
    const QuestionBudget question;
    for (const auto& pair : pairs) Make(pair.first, pair.second, &compositions);
    const Made made = Make(first, second, &compositions);
    ASSERT_GT(made.spent, left);
    QuestionBudget::Spend(QuestionBudget::Left() - left);
    const Made again = Make(first, second, &compositions);
    EXPECT_FALSE(OperandIndexing::AreCopies(again.map, made.map));
  }
}

TEST_F(CompositionsTest, SaysWhatIsWrongWithMapsThatDoNotFit) {
  Compositions compositions;
  const OperandIndexing map = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  const OperandIndexing of_two = Parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]");
  const auto composed = compositions.Compose(map, of_two, [](int64_t) {});
  EXPECT_EQ(composed.status().code(), ComposeOperandIndexing(map, of_two).status().code());
  EXPECT_FALSE(composed.ok());
}

}  // namespace
}  // namespace xla_indexing::internal
