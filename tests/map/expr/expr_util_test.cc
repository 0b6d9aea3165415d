#include "xla_indexing/map/expr/expr_util.h"

#include <gtest/gtest.h>

#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Sums, products, quotients and remainders of variables and numbers, two operations deep.
std::vector<AffineExpr> SmallExpressions(mlir::MLIRContext* context) {
  std::vector<AffineExpr> expressions = {
      mlir::getAffineDimExpr(0, context), mlir::getAffineDimExpr(1, context),
      mlir::getAffineSymbolExpr(0, context), mlir::getAffineSymbolExpr(1, context),
      mlir::getAffineConstantExpr(1, context)};
  for (int depth = 0; depth < 2; ++depth) {
    std::vector<AffineExpr> deeper = expressions;
    for (const AffineExpr a : expressions) {
      deeper.insert(deeper.end(), {a * 3, a % 5, a.floorDiv(7), a.ceilDiv(7)});
      for (const AffineExpr b : expressions) deeper.push_back(a + b);
    }
    expressions = deeper;
  }
  return expressions;
}

TEST(ExprUtilTest, SymbolsOccurWhereMlirSaysThatTheyDo) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (AffineExpr expr : SmallExpressions(&context)) {
    for (const int symbol : {0, 1, 2}) {
      EXPECT_EQ(HasSymbol(expr, symbol), expr.isFunctionOfSymbol(static_cast<unsigned>(symbol)))
          << symbol;
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
