// Uses MLIR and the library side by side; prints the range of d0 floordiv 4 for d0 in [0, 9].

#include <iostream>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  if (d0 != mlir::getAffineDimExpr(0, &context)) return 1;
  std::cout << xla_indexing::Interval::Closed(0, 9).FloorDiv(4).ToString() << "\n";
}
