#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class EvaluateTest : public ::testing::Test {
 protected:
  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *map : IndexingMap(&context_);
  }

  // Every visited point as `dims;symbols->results`.
  static std::vector<std::string> Points(const IndexingMap& map, int64_t max_points = 1000) {
    std::vector<std::string> points;
    const absl::Status status = map.ForEachPoint(
        max_points, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                        llvm::ArrayRef<int64_t> results) {
          points.push_back(absl::StrCat(absl::StrJoin(dims, ","), ";", absl::StrJoin(symbols, ","),
                                        "->", absl::StrJoin(results, ",")));
        });
    EXPECT_TRUE(status.ok()) << status;
    return points;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(EvaluateTest, ComputesTheResults) {
  const IndexingMap map = Parse(
      "(d0, d1)[s0]{rt0} -> (d0 * 8 + s0, -d1 + rt0, (d0 - 7) floordiv 3, (d0 - 7) mod 3, 4), "
      "domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 7], rt0 in [0, 5]");
  const auto results = map.Evaluate({5, 2}, {3, 1});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(*results, ElementsAre(43, -1, -1, 1, 4));
}

TEST_F(EvaluateTest, ComputesResultsOutsideTheDomain) {
  const auto results = Parse("(d0) -> (d0 * 2), domain: d0 in [0, 3]").Evaluate({-7}, {});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(*results, ElementsAre(-14));
}

TEST_F(EvaluateTest, RefusesPointsOfOtherSizes) {
  const IndexingMap map = Parse("(d0)[s0] -> (d0), domain: d0 in [0, 3], s0 in [0, 1]");
  EXPECT_EQ(map.Evaluate({1}, {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(map.Evaluate({1, 2}, {0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(map.Contains({}, {0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(map.Evaluate({1}, {}).status().message(),
            "a point of 1 dimensions and 0 symbols for a map of 1 and 1");
}

TEST_F(EvaluateTest, OverflowIsAnError) {
  const IndexingMap map = Parse("(d0) -> (d0 * 4), domain: d0 in [-inf, inf], d0 + 5 in [0, 9]");
  const absl::Status product = map.Evaluate({kInt64Max / 2}, {}).status();
  EXPECT_EQ(product.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(product.message(), "4611686018427387903 * 4 does not fit int64");
  const absl::Status sum = map.Contains({kInt64Max}, {}).status();
  EXPECT_EQ(sum.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(sum.message(), "9223372036854775807 + 5 does not fit int64");
}

TEST_F(EvaluateTest, ContainsChecksIntervalsAndConstraints) {
  const IndexingMap map = Parse(
      "(d0)[s0]{rt0} -> (), domain: d0 in [0, 9], s0 in [0, inf], rt0 in [2, 4], "
      "d0 + s0 in [5, 8]");
  const auto contains = [&](int64_t d0, int64_t s0, int64_t rt0) {
    const absl::StatusOr<bool> result = map.Contains({d0}, {s0, rt0});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() && *result;
  };
  EXPECT_TRUE(contains(5, 0, 2));
  EXPECT_TRUE(contains(0, 8, 4));
  EXPECT_FALSE(contains(4, 0, 2));
  EXPECT_FALSE(contains(9, 0, 2));
  EXPECT_FALSE(contains(10, -3, 2));
  EXPECT_FALSE(contains(5, 0, 1));
  EXPECT_FALSE(contains(5, 0, 5));
  EXPECT_FALSE(contains(9, -1, 3));
}

TEST_F(EvaluateTest, OneValueIsWhatAProgramComputes) {
  const std::vector<int64_t> dims = {INT64_MAX, -7};
  const std::vector<int64_t> symbols = {3};
  RandomMaps random(20, &context_);
  int without_value = 0;
  for (int i = 0; i < Cases(2000); ++i) {
    // The second symbol is one that the point has not.
    const mlir::AffineExpr expr = random.Expr(/*num_dims=*/2, /*num_symbols=*/2, /*depth=*/2);
    const ExprProgram program(expr);
    ExprProgram::Workspace values;
    const bool is_error = !program.Evaluate(dims, symbols, &values).ok();
    const std::optional<int64_t> value = ValueAt(expr, dims, symbols);
    ASSERT_EQ(value.has_value(), !is_error);
    if (value) {
      ASSERT_EQ(*value, program.Result(values, 0));
    }
    without_value += is_error ? 1 : 0;
  }
  EXPECT_GT(without_value, Cases(100));
  EXPECT_LT(without_value, 1900);
}

TEST_F(EvaluateTest, VisitsTheDomainInLexicographicOrder) {
  EXPECT_THAT(Points(Parse("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [-1, 0], s0 in [0, 1]")),
              ElementsAre("-1;0->-2", "-1;1->-1", "0;0->0", "0;1->1"));
}

TEST_F(EvaluateTest, VisitsOnlyPointsThatSatisfyTheConstraints) {
  EXPECT_THAT(Points(Parse("(d0, d1) -> (d1), domain: d0 in [0, 2], d1 in [0, 2], "
                           "d0 + d1 in [2, 2], d0 mod 2 in [0, 0]")),
              ElementsAre("0,2;->2", "2,0;->0"));
}

TEST_F(EvaluateTest, VisitsTheOnePointOfAMapWithoutVariables) {
  EXPECT_THAT(Points(Parse("() -> (7)")), ElementsAre(";->7"));
}

TEST_F(EvaluateTest, VisitsNothingInAnEmptyDomain) {
  EXPECT_THAT(Points(Parse("KNOWN EMPTY (d0) -> 1 results")), IsEmpty());
  EXPECT_THAT(Points(Parse("KNOWN EMPTY () -> 1 results")), IsEmpty());
  // An empty interval beside an infinite one: nothing to visit, and no error.
  IndexingMap map = Parse("(d0)[s0] -> (d0), domain: d0 in [-inf, inf], s0 in [0, 3]");
  map.mutable_range(0).bounds = Interval::Empty();
  EXPECT_THAT(Points(map), IsEmpty());
}

TEST_F(EvaluateTest, RefusesDomainsThatAreInfiniteOrTooLarge) {
  int visits = 0;
  const auto count = [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                         llvm::ArrayRef<int64_t>) { ++visits; };
  const absl::Status infinite =
      Parse("(d0) -> (d0), domain: d0 in [0, inf]").ForEachPoint(100, count);
  EXPECT_EQ(infinite.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(infinite.message()), HasSubstr("[0, inf]"));
  const IndexingMap square = Parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]");
  EXPECT_EQ(square.ForEachPoint(99, count).code(), absl::StatusCode::kResourceExhausted);
  const IndexingMap huge = Parse(
      "(d0, d1, d2) -> (), domain: d0 in [-9223372036854775808, 9223372036854775807], "
      "d1 in [-9223372036854775808, 9223372036854775807], d2 in [0, 9223372036854775807]");
  EXPECT_EQ(huge.ForEachPoint(kInt64Max, count).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(visits, 0);
  EXPECT_TRUE(square.ForEachPoint(100, count).ok());
  EXPECT_EQ(visits, 100);
}

TEST_F(EvaluateTest, EnumerationStopsAtAnOverflow) {
  const IndexingMap map =
      Parse("(d0) -> (d0 + 1), domain: d0 in [9223372036854775806, 9223372036854775807]");
  int visits = 0;
  const absl::Status status = map.ForEachPoint(
      10,
      [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>) { ++visits; });
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(visits, 1);
}

// The value of an expression by its definition, with wide intermediates.
Int128 Definition(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                  llvm::ArrayRef<int64_t> symbols) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) return constant.getValue();
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return dims[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return symbols[symbol.getPosition()];
  }
  auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const Int128 a = Definition(binary.getLHS(), dims, symbols);
  const Int128 b = Definition(binary.getRHS(), dims, symbols);
  const mlir::AffineExprKind kind = expr.getKind();
  if (kind == mlir::AffineExprKind::Add) return a + b;
  if (kind == mlir::AffineExprKind::Mul) return a * b;
  const Int128 divisor = std::max(b, Int128{1});  // they are positive
  const Int128 remainder = ((a % divisor) + divisor) % divisor;
  if (kind == mlir::AffineExprKind::Mod) return remainder;
  if (kind == mlir::AffineExprKind::FloorDiv) return (a - remainder) / divisor;
  return (a + (divisor - remainder) % divisor) / divisor;
}

TEST_F(EvaluateTest, ProgramsComputeWhatTheExpressionsMean) {
  RandomMaps random(11, &context_);
  ExprProgram::Workspace values;
  int computed = 0;
  for (int i = 0; i < Cases(5000); ++i) {
    const mlir::AffineExpr exprs[] = {random.Expr(2, 2, 3), random.Expr(2, 2, 3)};
    const ExprProgram program(exprs);
    ASSERT_EQ(program.num_results(), 2);
    for (int j = 0; j < 10; ++j) {
      const int64_t dims[] = {random.Int(-20, 20), random.Int(-20, 20)};
      const int64_t symbols[] = {random.Int(-20, 20), random.Int(-20, 20)};
      if (!program.Evaluate(dims, symbols, &values).ok()) continue;
      ++computed;
      for (int k = 0; k < 2; ++k) {
        ASSERT_TRUE(program.Result(values, k) == Definition(exprs[k], dims, symbols));
      }
    }
  }
  EXPECT_GT(computed, Cases(20000));
}

TEST_F(EvaluateTest, ProgramsComputeSharedSubexpressionsOnce) {
  // Twelve doublings of one subexpression: as a tree, 4,096 divisions.
  mlir::AffineExpr expr = mlir::getAffineDimExpr(0, &context_);
  for (int i = 0; i < 12; ++i) {
    expr = mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::Add, expr.floorDiv(3), expr % 5);
  }
  const ExprProgram program(expr);
  ExprProgram::Workspace values;
  ASSERT_TRUE(program.Evaluate({100}, {}, &values).ok());
  EXPECT_LT(values.size(), 50u);
}

TEST_F(EvaluateTest, ProgramsRefuseMissingVariablesAndBadDivisors) {
  const mlir::AffineExpr d1 = mlir::getAffineDimExpr(1, &context_);
  const mlir::AffineExpr s0 = mlir::getAffineSymbolExpr(0, &context_);
  ExprProgram::Workspace values;
  EXPECT_EQ(ExprProgram(d1).Evaluate({3}, {}, &values).message(), "dimension 1 of a point with 1");
  EXPECT_EQ(ExprProgram(s0).Evaluate({3}, {}, &values).message(), "symbol 0 of a point with 0");
  const absl::Status status = ExprProgram(d1.floorDiv(s0)).Evaluate({0, 7}, {0}, &values);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the divisor of 7 floordiv 0 is below 1");
}

}  // namespace
}  // namespace xla_indexing::internal
