#include "xla_indexing/affine/expr/linear_sum.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "xla_indexing/affine/expr/build.h"

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

TEST_F(LinearSumTest, ACombinationIsTheSumOfTheMultiples) {
  EXPECT_EQ(ToString(LinearCombination({{D(1), 4}, {D(0), -1}, {D(1) + 2, 3}}, 5)),
            "-d0 + d1 * 7 + 11");
  EXPECT_EQ(ToString(LinearCombination({{D(0)}, {D(0), -1}}, 5)), "5");
  // The sum of the parts fits, and so is written.
  constexpr int64_t kLarge = int64_t{1} << 62;
  EXPECT_EQ(ToString(LinearCombination({{D(0), kLarge}, {D(0), kLarge - 1}, {D(0), -kLarge}})),
            "d0 * 4611686018427387903");
}

TEST_F(LinearSumTest, ThereIsNoCombinationOfWhatIsNotThereOrDoesNotFit) {
  EXPECT_FALSE(LinearCombination({{D(0)}, {AffineExpr(), 0}}));
  EXPECT_FALSE(LinearCombination({{D(0)}}, std::nullopt));
  EXPECT_FALSE(LinearCombination({{D(0), INT64_MAX}, {D(0)}}));
  EXPECT_FALSE(LinearCombination({{D(0) + 1, INT64_MAX}}, 1));
  EXPECT_FALSE(LinearCombination({{D(0) * 2, INT64_MAX}}));
}

}  // namespace
}  // namespace xla_indexing::internal
