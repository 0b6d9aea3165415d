#include "xla_indexing/affine/mixed_radix/positional_lowering.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "tests/testing/number_value.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

// What digit(x, place, size) of a variable is, for every such digit of a variable of that many
// values, as it is and flipped.
std::vector<Digit> DigitsOf(const Number& variable) {
  std::vector<Digit> digits;
  const int64_t values = variable.front().extent;
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
  const int64_t value = x / digit.lower_factor % digit.extent;
  return digit.flipped ? digit.extent - 1 - value : value;
}

// All numbers of two variables, with one digit each and a constant between them, for all sizes up
// to 12.
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
              ASSERT_EQ(Value(expr, at, {}),
                        ValueOfDigit(low, at[0]) +
                            low.extent * (constant + 3 * ValueOfDigit(high, at[1])))
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

// An array of 10 * 3 * 3 * 3 * 4 elements with 10 in a row. The algebra cuts d0 into five and two
// and d4 into two and two, and makes runs of what is between.
TEST(PositionalLoweringTest, RunsAreWrittenWithWholeVariables) {
  mlir::MLIRContext context(kNoThreading);
  PositionalAlgebra algebra;
  llvm::SmallVector<Number, 5> indices;
  llvm::SmallVector<mlir::AffineExpr, 5> dims;
  llvm::SmallVector<Interval, 5> box;
  for (const int64_t size : {10, 3, 3, 3, 4}) {
    dims.push_back(mlir::getAffineDimExpr(dims.size(), &context));
    box.push_back(Interval::OfSize(size));
    indices.push_back(algebra.AddVariable(size));
  }
  const auto rows = algebra.Reshape(indices, {108, 10});
  ASSERT_TRUE(rows.has_value());
  ExprSimplifier simplifier(&context, box, {});
  PositionalLowering lowering(&algebra, &simplifier, dims);
  EXPECT_EQ(ToString(lowering.Lower((*rows)[0])),
            "(d0 * 108 + d1 * 36 + d2 * 12 + d3 * 4 + d4) floordiv 10");
  EXPECT_EQ(ToString(lowering.Lower((*rows)[1])),
            "(d0 * 108 + d1 * 36 + d2 * 12 + d3 * 4 + d4) mod 10");
  // The upper half of d4 below the run, which begins with it too.
  const Number twice = {Digit{2, 2, indices[4][0].source, false}, (*rows)[1][1]};
  const mlir::AffineExpr expr = lowering.Lower(twice);
  ForEachPoint({box.begin(), box.end()}, [&](const std::vector<int64_t>& at) {
    ASSERT_EQ(Value(expr, at, {}), ValueOfNumber(algebra, twice, at)) << ToString(expr);
  });
}

// Three to five indices of random sizes, some of them reversed, in another order and reshaped,
// again and again: what is written is the number, long and short, at every point.
TEST(PositionalLoweringTest, NumbersOfRandomReshapesHaveTheirValues) {
  int64_t of_runs = 0;
  for (int i = 0; i < Cases(2000); ++i) {
    Random random(i);
    std::vector<int64_t> sizes;
    for (int64_t n = random.Between(3, 5); n > 0; --n) sizes.push_back(random.Between(2, 6));
    PositionalAlgebra algebra;
    llvm::SmallVector<Number, 4> indices;
    mlir::MLIRContext context(kNoThreading);
    llvm::SmallVector<mlir::AffineExpr, 6> dims;
    std::vector<Interval> box;
    for (const int64_t size : sizes) {
      dims.push_back(mlir::getAffineDimExpr(dims.size(), &context));
      box.push_back(Interval::OfSize(size));
      indices.push_back(algebra.AddVariable(size));
    }
    for (int64_t step = random.Between(1, 5); step > 0; --step) {
      for (Number& index : indices) {
        if (random.Between(0, 2) == 0) Reverse(index);
        std::swap(index, indices[random.Between(0, static_cast<int64_t>(indices.size()) - 1)]);
      }
      int64_t elements = 1;
      for (const int64_t size : sizes) elements *= size;
      llvm::SmallVector<int64_t, 3> to;
      for (int64_t axis = random.Between(1, 3); axis > 0; --axis) {
        int64_t size = random.Between(1, elements);
        while (elements % size != 0) --size;
        to.push_back(size);
        elements /= size;
      }
      to.push_back(elements);
      auto reshaped = algebra.Reshape(indices, to);
      ASSERT_TRUE(reshaped.has_value());
      indices = *std::move(reshaped);
    }
    ExprSimplifier simplifier(&context, box, {});
    PositionalLowering lowering(&algebra, &simplifier, dims);
    for (const Number& index : indices) {
      const mlir::AffineExpr expr = lowering.Lower(index);
      if (2 * algebra.NodesOf(index) >= kMaxSummands) continue;
      ASSERT_TRUE(expr);
      if (algebra.NodesOf(index) > kMaxSimplifiedDigits) ++of_runs;
      ForEachPoint(box, [&](const std::vector<int64_t>& at) {
        ASSERT_EQ(Value(expr, at, {}), ValueOfNumber(algebra, index, at))
            << "case " << i << ": " << ToString(expr);
      });
    }
  }
  EXPECT_GT(of_runs, Cases(2000) / 2);
}

}  // namespace
}  // namespace xla_indexing::internal
