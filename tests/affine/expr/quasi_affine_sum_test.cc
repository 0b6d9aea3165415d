// What sums of digits know of their values.
#include "xla_indexing/affine/expr/quasi_affine_sum.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

TEST(CornerValuesTest, AreTheValuesAtTheLeastAndTheGreatestPoint) {
  mlir::MLIRContext context;
  RandomExpr random(&context, 7);
  constexpr int kCases = 20000;
  for (int i = 0; i < Cases(kCases); ++i) {
    const int num_dims = static_cast<int>(random.Int(1, 3));
    const std::vector<Interval> box = random.Box(num_dims, 20);
    const mlir::AffineExpr expr = random.Expr(num_dims, 2);
    std::vector<int64_t> least, greatest;
    for (const Interval& interval : box) {
      least.push_back(interval.lower());
      greatest.push_back(interval.upper());
    }
    ExprSimplifier simplifier(&context, box, {});
    const std::optional<CornerValues> values = CornerValuesOf(simplifier.Evaluate(expr));
    ASSERT_TRUE(values.has_value()) << ToString(expr);
    ASSERT_EQ(values->at_least, Value(expr, least, {})) << ToString(expr);
    ASSERT_EQ(values->at_greatest, Value(expr, greatest, {})) << ToString(expr);
  }
}

TEST(CornerValuesTest, LeaveOutMultiplesWhereToldTo) {
  mlir::MLIRContext context;
  const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  const mlir::AffineExpr d1 = mlir::getAffineDimExpr(1, &context);
  ExprSimplifier simplifier(&context, {Interval::Closed(1, 5), Interval::Closed(-2, 9)}, {});
  const std::optional<CornerValues> values =
      CornerValuesOf(simplifier.Evaluate(d0 * 12 + d1 * 3 + 7), /*left_out=*/4);
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(values->at_least, 1);
  EXPECT_EQ(values->at_greatest, 34);
}

TEST(CornerValuesTest, AreUnknownWithoutAnEndAndWhereTheyDoNotFit) {
  mlir::MLIRContext context;
  const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  ExprSimplifier open(&context, {Interval::AtLeast(0)}, {});
  EXPECT_FALSE(CornerValuesOf(open.Evaluate(d0 + 1)).has_value());
  EXPECT_FALSE(CornerValuesOf(open.Evaluate(d0.floorDiv(3))).has_value());
  ExprSimplifier large(&context, {Interval::Closed(0, kInt64Max)}, {});
  EXPECT_FALSE(CornerValuesOf(large.Evaluate(d0 * 2)).has_value());
  EXPECT_TRUE(CornerValuesOf(large.Evaluate(d0 * -1)).has_value());
}

}  // namespace
}  // namespace xla_indexing::internal
