#include "xla_indexing/affine/positional_lowering.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/expr_testing.h"
#include "xla_indexing/affine/positional.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {
namespace {

constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

// What digit(x, place, size) of a variable is, for every such digit of a variable of that many
// values, as it is and flipped.
std::vector<Digit> DigitsOf(const Number& variable) {
  std::vector<Digit> digits;
  const int64_t values = variable.front().size;
  for (int64_t place = 1; place <= values; ++place) {
    for (int64_t size = 2; place * size <= values; ++size) {
      if (values % (place * size) != 0) continue;
      for (const bool flipped : {false, true}) {
        digits.push_back({place, size, variable.front().source, flipped});
      }
    }
  }
  return digits;
}

int64_t ValueOfDigit(const Digit& digit, int64_t x) {
  const int64_t value = x / digit.place % digit.size;
  return digit.flipped ? digit.size - 1 - value : value;
}

// Of two variables, one digit each and a constant between them: all of all sizes up to 12.
TEST(PositionalLoweringTest, DigitsOfDistinctVariablesAreWrittenInTheirNormalForm) {
  mlir::MLIRContext context(kNoThreading);
  const mlir::AffineExpr dims[] = {mlir::getAffineDimExpr(0, &context),
                                   mlir::getAffineDimExpr(1, &context)};
  int64_t count = 0;
  for (int64_t size_x = 2; size_x <= 12; ++size_x) {
    for (int64_t size_y = 2; size_y <= 12; ++size_y) {
      PositionalAlgebra algebra;
      const Number x = algebra.AddVariable(size_x);
      const Number y = algebra.AddVariable(size_y);
      const Interval box[] = {Interval::OfSize(size_x), Interval::OfSize(size_y)};
      ExprSimplifier simplifier(&context, box, {});
      PositionalLowering lowering(&algebra, &simplifier, dims);
      for (const Digit& low : DigitsOf(x)) {
        for (const Digit& high : DigitsOf(y)) {
          for (const int64_t constant : {0, 2}) {
            const Number number = {low, Digit::Constant(constant, 3), high};
            const mlir::AffineExpr expr = lowering.Lower(number);
            ASSERT_TRUE(expr);
            ++count;
            ForEachPoint({box[0], box[1]}, [&](const std::vector<int64_t>& at) {
              ASSERT_EQ(
                  Value(expr, at, {}),
                  ValueOfDigit(low, at[0]) + low.size * (constant + 3 * ValueOfDigit(high, at[1])))
                  << ToString(expr);
            });
            ExprSimplifier other(&context, box, {});
            ASSERT_EQ(other.Simplify(expr), expr) << ToString(other.Simplify(expr));
          }
        }
      }
    }
  }
  EXPECT_GT(count, 10000);
}

}  // namespace
}  // namespace xla_indexing
