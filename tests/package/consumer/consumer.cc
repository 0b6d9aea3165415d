// Uses MLIR and the library side by side: reads a map, simplifies it and prints it.

#include <iostream>

#include "absl/status/statusor.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

int main() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  absl::StatusOr<xla_indexing::IndexingMap> map = xla_indexing::ParseIndexingMap(
      "(d0, d1) -> ((d0 * 10 + d1) floordiv 10, (d0 * 10 + d1) mod 10), "
      "domain: d0 in [0, 4], d1 in [0, 9]",
      &context);
  if (!map.ok()) {
    std::cerr << map.status() << "\n";
    return 1;
  }
  map->Simplify();
  if (map->affine_map().getResult(0) != mlir::getAffineDimExpr(0, &context)) return 1;
  std::cout << map->ToString() << "\n";
}
