#include "xla_indexing/affine/internal/linear_sum.h"

#include <gtest/gtest.h>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/expr_testing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

using LinearSumTest = ExprFixture;

TEST_F(LinearSumTest, WritesSummandsInOrder) {
  LinearSum sum = LinearSum::FromExpr((D(1) % 2) * 4 + D(2) + 7);
  sum.AddTerm(D(0), 3);
  EXPECT_EQ(ToString(sum.ToExpr(&context_)), "d0 * 3 + d2 + (d1 mod 2) * 4 + 7");
}

// MLIR folds d1 + (d1 floordiv 2) * -2, and a mod comes after other mods.
TEST_F(LinearSumTest, WritesWhatIsFoldedInOrderToo) {
  LinearSum sum(5);
  sum.AddTerm(D(1), 1);
  sum.AddTerm(D(1).floorDiv(2), -2);
  sum.AddTerm((D(0) + 9) % 7, 3);
  sum.AddTerm(D(0), 4);
  const AffineExpr expr = sum.ToExpr(&context_);
  EXPECT_EQ(ToString(expr), "d0 * 4 + ((d0 + 9) mod 7) * 3 + d1 mod 2 + 5");
  EXPECT_EQ(LinearSum::FromExpr(expr).ToExpr(&context_), expr);
}

}  // namespace
}  // namespace xla_indexing::internal
