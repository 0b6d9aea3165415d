#include "xla_indexing/map/expr/replace_variables.h"

#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"

namespace xla_indexing::internal {

std::optional<IndexingMap> ReplaceVariables(const IndexingMap& map, Variables dims,
                                            Variables ranges, Variables runtimes,
                                            llvm::ArrayRef<mlir::AffineExpr> dim_values,
                                            llvm::ArrayRef<mlir::AffineExpr> symbol_values) {
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (const mlir::AffineExpr result : map.results()) {
    results.push_back(Substitute(result, dim_values, symbol_values));
    if (!results.back()) return std::nullopt;
  }
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back(
        {Substitute(constraint.expr, dim_values, symbol_values), constraint.interval});
    if (!constraints.back().expr) return std::nullopt;
  }
  const auto affine_map =
      mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges), std::move(runtimes),
                     std::move(constraints));
}

}  // namespace xla_indexing::internal
