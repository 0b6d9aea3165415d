#include "xla_indexing/map/sets/has_integer_point.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/seed.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

class HasIntegerPointTest : public ::testing::Test {
 protected:
  // Whether the domain of a map given as text has a point.
  Answer HasIntegerPointIn(const std::string& text) {
    const IndexingMap map = ParseIndexingMap(text, &context_).value();
    return HasIntegerPoint(map.DimBounds(), map.SymbolBounds(), map.constraints());
  }
  Answer ByPresburger(const std::string& text) {
    const IndexingMap map = ParseIndexingMap(text, &context_).value();
    return HasIntegerPointByPresburger(map.DimBounds(), map.SymbolBounds(), map.constraints());
  }
  std::string Simplified(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify({.keep_variables = true});
    return map.ToString();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(HasIntegerPointTest, ValuesWithoutGapsReachEveryWideInterval) {
  EXPECT_EQ(HasIntegerPointIn("(d0, d1) -> (d0), domain: d0 in [0, 9999999], d1 in [0, 9999999], "
                              "d0 - d1 in [5, 5]"),
            Answer::kYes);
  EXPECT_EQ(HasIntegerPointIn("(d0, d1) -> (d0), domain: d0 in [0, 9999999], d1 in [0, 9999999], "
                              "d0 * 3 - d1 * 6 in [4, 6]"),
            Answer::kYes);
}

TEST_F(HasIntegerPointTest, SumsWithACommonFactorMissNarrowIntervals) {
  EXPECT_EQ(HasIntegerPointIn("(d0, d1) -> (d0), domain: d0 in [0, 9999999], d1 in [0, 9999999], "
                              "d0 * 3 - d1 * 6 in [4, 5]"),
            Answer::kNo);
}

// 2^62 points: more than can be enumerated, and the gap lies between values near both ends.
TEST_F(HasIntegerPointTest, PresburgerDecidesLargeDomains) {
  const std::string domain =
      "(d0, d1) -> (d0), domain: d0 in [0, 2147483646], d1 in [0, 2147483646], ";
  EXPECT_EQ(HasIntegerPointIn(domain + "d0 + d1 * 3 in [100, 1000000], d0 * 2 - d1 * 4 in [9, 9]"),
            Answer::kNo);
  EXPECT_EQ(HasIntegerPointIn(domain + "d0 + d1 * 3 in [5000, 1000000], d0 * 2 - d1 * 5 in [9, 9]"),
            Answer::kYes);
  EXPECT_EQ(HasIntegerPointIn(domain + "d0 - d1 in [1, 9999], d1 - d0 in [1, 9999]"), Answer::kNo);
  EXPECT_EQ(HasIntegerPointIn(domain +
                              "d0 mod 6 in [0, 1], (d0 + 3) mod 6 in [0, 1], d0 + d1 in [7, inf]"),
            Answer::kNo);
}

TEST_F(HasIntegerPointTest, InfiniteIntervalsAreDecidedToo) {
  EXPECT_EQ(HasIntegerPointIn("(d0)[s0] -> (d0), domain: d0 in [-inf, inf], s0 in [0, inf], "
                              "d0 * 2 + s0 * 4 in [7, 7]"),
            Answer::kNo);
  EXPECT_EQ(HasIntegerPointIn("(d0)[s0] -> (d0), domain: d0 in [-inf, inf], s0 in [0, inf], "
                              "d0 * 2 + s0 * 3 in [7, 7]"),
            Answer::kYes);
}

TEST_F(HasIntegerPointTest, IsUndecidedPastTheBounds) {
  // Seven variables.
  EXPECT_EQ(ByPresburger("(d0, d1, d2, d3, d4, d5, d6) -> (d0), domain: d0 in [0, 99], "
                         "d1 in [0, 99], d2 in [0, 99], d3 in [0, 99], d4 in [0, 99], "
                         "d5 in [0, 99], d6 in [0, 99], "
                         "d0 + d1 + d2 + d3 + d4 + d5 + d6 in [5, 5]"),
            Answer::kUndecided);
  // A coefficient of 2^20.
  EXPECT_EQ(ByPresburger("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], "
                         "d0 * 1048576 + d1 in [5, 5]"),
            Answer::kUndecided);
  EXPECT_EQ(ByPresburger("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 99], "
                         "d0 * 1048575 + d1 in [5, 5]"),
            Answer::kYes);
}

// Any two of these have a point, but the sum of all of them is 0.
TEST_F(HasIntegerPointTest, OnlyDecisionsAskPresburger) {
  IndexingMap map =
      ParseIndexingMap(
          "(d0, d1, d2) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999], d2 in [0, 99999], "
          "d0 - d1 in [1, 9], d1 - d2 in [1, 9], d2 - d0 in [1, 9]",
          &context_)
          .value();
  EXPECT_EQ(HasIntegerPoint(map.DimBounds(), map.SymbolBounds(), map.constraints()), Answer::kNo);
  EXPECT_EQ(
      HasIntegerPointWithoutPresburger(map.DimBounds(), map.SymbolBounds(), map.constraints()),
      Answer::kUndecided);
  map.Simplify();
  EXPECT_FALSE(map.IsKnownEmpty());
  EXPECT_TRUE(IsEmptyDomain(map)->IsYes());
}

TEST_F(HasIntegerPointTest, ConstraintsOfOneVariableThatRepeatAreDecidedByAPeriod) {
  for (const std::string bounds : {"[0, 999999999]", "[-inf, 7]", "[5, inf]", "[-inf, inf]"}) {
    const auto has_point = [&](const std::string& constraints) {
      const IndexingMap map =
          ParseIndexingMap("(d0) -> (d0), domain: d0 in " + bounds + ", " + constraints, &context_)
              .value();
      return HasIntegerPointWithoutPresburger(map.DimBounds(), {}, map.constraints());
    };
    EXPECT_EQ(has_point("(d0 + 1) mod 5 in [0, 1], (d0 * 4 + 2) mod 5 in [0, 0]"), Answer::kNo);
    EXPECT_EQ(has_point("(d0 floordiv 2) * 2 - ((d0 + 4) floordiv 3) * 3 in [1, 3]"), Answer::kNo);
    EXPECT_EQ(has_point("(d0 floordiv 2) * 2 - ((d0 + 4) floordiv 3) * 3 in [-4, -4]"),
              Answer::kYes);
    EXPECT_EQ(has_point("((d0 floordiv 7) mod 11) * 3 + d0 mod 5 in [32, 34]"), Answer::kYes);
  }
}

TEST_F(HasIntegerPointTest, PresburgerSpendsStepsByVariablesAndNumbers) {
  const auto steps_of = [&](const std::string& text, Answer expected) {
    const QuestionBudget budget(200'000);
    EXPECT_EQ(ByPresburger(text), expected) << text;
    return 200'000 - QuestionBudget::Left();
  };
  const std::string domain =
      "(d0, d1, d2, d3) -> (d0), domain: d0 in [0, 9999], d1 in [0, 9999], "
      "d2 in [0, 9999], d3 in [0, 9999], ";
  EXPECT_EQ(steps_of(domain + "d0 - d1 in [1, 9], d1 - d2 in [1, 9], d2 - d3 in [1, 9], "
                              "d3 - d0 in [1, 9]",
                     Answer::kNo),
            20);
  EXPECT_EQ(steps_of(domain + "d0 - d1 + d2 - d3 in [7, 8]", Answer::kYes), 520);
  EXPECT_EQ(steps_of(domain + "d0 * 8 - d1 * 6 + d2 * 4 - d3 * 2 in [7, 7]", Answer::kNo), 1520);
  EXPECT_EQ(steps_of(domain + "d0 * 100 - d1 * 60 in [7, 8], d2 - d3 in [1, 1]", Answer::kNo),
            100'020);
  const QuestionBudget too_few(1000);
  EXPECT_EQ(ByPresburger(domain + "d0 * 8 - d1 * 6 + d2 * 4 - d3 * 2 in [7, 7]"),
            Answer::kUndecided);
}

// The middle and the ends of these intervals are none, but a point is found without asking Presburger,
// which a budget of so few steps would not allow.
TEST_F(HasIntegerPointTest, PointsAreFoundByMending) {
  const QuestionBudget budget(20'000);
  EXPECT_EQ(HasIntegerPointIn("(d0, d1, d2, d3, d4, d5) -> (d0), domain: d0 in [0, 999], "
                              "d1 in [0, 999], d2 in [0, 999], d3 in [0, 999], d4 in [0, 999], "
                              "d5 in [0, 999], d0 + d1 * 2 - d2 in [417, 418], "
                              "d2 - d3 + d4 * 3 in [31, 31], d5 - d0 - d4 in [100, 120]"),
            Answer::kYes);
  EXPECT_EQ(HasIntegerPointIn("(d0, d1, d2, d3) -> (d0), domain: d0 in [0, 99999], "
                              "d1 in [0, 99999], d2 in [0, 99999], d3 in [0, 99999], "
                              "(d0 + d1) mod 32 in [5, 5], d2 - d0 in [3, 7], "
                              "(d2 + d3) floordiv 7 - d1 in [40, 40]"),
            Answer::kYes);
}

// Random domains, decided by enumeration of all points here.
TEST_F(HasIntegerPointTest, AgreesWithEnumerationOnRandomDomains) {
  std::mt19937_64 rng(Seeded(11));
  const auto number = [&](int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(rng);
  };
  const auto expr = [&](int num_variables) {
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(number(-3, 3), &context_);
    for (int i = 0; i < num_variables; ++i) {
      const mlir::AffineExpr variable = mlir::getAffineDimExpr(i, &context_);
      mlir::AffineExpr term = variable;
      if (number(0, 3) == 0) term = (variable + number(-3, 3)) % number(2, 6);
      if (number(0, 5) == 0)
        term = (variable * number(1, 3) + number(-3, 3)).floorDiv(number(2, 6));
      if (number(0, 3) != 0) sum = sum + term * number(-6, 6);
    }
    return number(0, 3) == 0 ? sum % number(2, 9) : sum;
  };
  int empty = 0;
  int decided_by_presburger = 0;
  for (int i = 0; i < Cases(10000); ++i) {
    const int num_variables = static_cast<int>(number(1, 3));
    std::vector<Interval> dims;
    for (int v = 0; v < num_variables; ++v) {
      const int64_t lower = number(-4, 4);
      dims.push_back(Interval::Closed(lower, lower + number(0, 9)));
    }
    Constraints constraints;
    for (int64_t c = number(1, 4); c > 0; --c) {
      const int64_t lower = number(-8, 8);
      constraints.push_back({expr(num_variables), Interval::Closed(lower, lower + number(0, 12))});
    }
    bool expected = false;
    IndexingMap map(
        kPartsFit, mlir::AffineMap::get(num_variables, 0, &context_),
        [&] {
          Variables variables;
          for (const Interval& interval : dims) variables.push_back({interval, {}});
          return variables;
        }(),
        {}, {}, constraints);
    ASSERT_TRUE(map.ForEachPoint(1 << 20, [&](auto, auto, auto) { expected = true; }).ok());
    empty += expected ? 0 : 1;
    ASSERT_EQ(HasIntegerPoint(dims, {}, constraints), AnswerOf(expected)) << map.ToString();
    const Answer answer = HasIntegerPointByPresburger(dims, {}, constraints);
    if (answer != Answer::kUndecided) {
      ++decided_by_presburger;
      ASSERT_EQ(answer, AnswerOf(expected)) << map.ToString();
    }
    ASSERT_TRUE(map.Verify().ok());
    map.Simplify({.keep_variables = true});
    ASSERT_EQ(map.IsKnownEmpty(), !expected) << map.ToString();
  }
  EXPECT_GT(empty, Cases(1000));
  EXPECT_LT(empty, 9000);
  EXPECT_GT(decided_by_presburger, Cases(8000));
}

TEST_F(HasIntegerPointTest, ResiduesShortenResultsAndOtherConstraints) {
  EXPECT_EQ(Simplified("(d0) -> ((d0 floordiv 2) * 2, d0 mod 2), domain: d0 in [0, 98], "
                       "d0 mod 2 in [0, 0]"),
            "(d0) -> (d0, 0), domain: d0 in [0, 98], d0 mod 2 in [0, 0]");
  EXPECT_EQ(Simplified("(d0, d1) -> (d0), domain: d0 in [0, 98], d1 in [0, 98], "
                       "d0 mod 4 in [0, 0], d0 + d1 * 4 in [5, 22]"),
            "(d0, d1) -> (d0), domain: d0 in [0, 20], d1 in [0, 5], d0 + d1 * 4 in [8, 20], "
            "d0 mod 4 in [0, 0]");
}

}  // namespace
}  // namespace xla_indexing::internal
