#include "xla_indexing/map/text/affine_text.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/seed.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

std::string Print(AffineExpr expr, const std::vector<std::string>& dim_names = {},
                  const std::vector<std::string>& symbol_names = {}) {
  std::string out;
  AppendAffineExpr(expr, dim_names, symbol_names, &out);
  return out;
}

std::string PrintedByMlir(AffineExpr expr) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  expr.print(stream);
  return out;
}

class AffineTextTest : public ::testing::Test {
 protected:
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  AffineExpr d0_ = mlir::getAffineDimExpr(0, &context_);
  AffineExpr d1_ = mlir::getAffineDimExpr(1, &context_);
  AffineExpr s0_ = mlir::getAffineSymbolExpr(0, &context_);
};

TEST_F(AffineTextTest, WritesLeaves) {
  EXPECT_EQ(Print(d1_), "d1");
  EXPECT_EQ(Print(s0_), "s0");
  EXPECT_EQ(Print(mlir::getAffineConstantExpr(-7, &context_)), "-7");
}

TEST_F(AffineTextTest, WritesSumsAndProducts) {
  EXPECT_EQ(Print(d0_ * 8 + d1_), "d0 * 8 + d1");
  EXPECT_EQ(Print(d0_ - d1_), "d0 - d1");
  EXPECT_EQ(Print(d0_ - d1_ * 3 - 5), "d0 - d1 * 3 - 5");
  EXPECT_EQ(Print(-d0_ + 16), "-d0 + 16");
  EXPECT_EQ(Print(d0_ * -3 + 16), "d0 * -3 + 16");
}

TEST_F(AffineTextTest, PutsParenthesesAroundOperandsOfProductsAndDivisions) {
  EXPECT_EQ(Print(d0_.floorDiv(8)), "d0 floordiv 8");
  EXPECT_EQ(Print((d1_ % 2) * 4), "(d1 mod 2) * 4");
  EXPECT_EQ(Print(-(d0_.floorDiv(2)) + 9), "-(d0 floordiv 2) + 9");
  EXPECT_EQ(Print(d0_ - d1_.floorDiv(2)), "d0 - d1 floordiv 2");
  EXPECT_EQ(Print(d0_ - d1_.floorDiv(2) * 3), "d0 - (d1 floordiv 2) * 3");
  EXPECT_EQ(Print((d0_ + s0_).floorDiv(3) % 5), "((d0 + s0) floordiv 3) mod 5");
  EXPECT_EQ(Print(d0_.ceilDiv(4)), "d0 ceildiv 4");
}

TEST_F(AffineTextTest, WritesTheNamesThatItIsGiven) {
  EXPECT_EQ(Print(d0_ * 2 + d1_ + s0_, {"row", "column"}, {"k"}), "row * 2 + column + k");
  EXPECT_EQ(Print(d0_ * 2 + d1_, {"row"}), "row * 2 + d1");
}

TEST_F(AffineTextTest, WritesTheLeastInt64) {
  EXPECT_EQ(Print(d0_ + INT64_MIN), "d0 - 9223372036854775808");
  EXPECT_EQ(Print(d0_ + d1_ * INT64_MIN), "d0 - d1 * 9223372036854775808");
  EXPECT_EQ(Print(d1_ * INT64_MIN), "d1 * -9223372036854775808");
}

TEST_F(AffineTextTest, AgreesWithMlirOnRandomExpressions) {
  std::mt19937 random(Seeded(20240607));
  const auto number = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  std::vector<AffineExpr> exprs = {d0_, d1_, s0_};
  for (int i = 0; i < Cases(20000); ++i) {
    // Operands are mostly recent expressions, so that trees grow, and start over now and then.
    const auto operand = [&] {
      const int64_t size = static_cast<int64_t>(exprs.size());
      return exprs[number(0, 2) == 0 ? number(0, 2)
                                     : number(std::max<int64_t>(0, size - 6), size - 1)];
    };
    AffineExpr expr;
    switch (number(0, 5)) {
      case 0:
      case 1:
        expr = operand() + operand();
        break;
      case 2:
        expr = operand() + number(-9, 9);
        break;
      case 3:
        expr = operand() * number(-4, 4);
        break;
      case 4:
        expr = operand().floorDiv(number(1, 9));
        break;
      default:
        expr = number(0, 1) == 0 ? operand() % number(1, 9) : operand().ceilDiv(number(1, 9));
        break;
    }
    const std::string expected = PrintedByMlir(expr);
    ASSERT_EQ(Print(expr), expected);
    if (expected.size() > 300) {
      exprs.resize(3);
    } else {
      exprs.push_back(expr);
    }
  }
}

TEST_F(AffineTextTest, LongSumsNeedNoDeepStack) {
  AffineExpr sum = d0_;
  std::string expected = "d0";
  for (unsigned i = 1; i < 4096; ++i) {
    sum = sum + mlir::getAffineDimExpr(i, &context_);
    expected += " + d" + std::to_string(i);
  }
  EXPECT_EQ(Print(sum), expected);
}

}  // namespace
}  // namespace xla_indexing::internal
