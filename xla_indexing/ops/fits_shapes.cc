#include "xla_indexing/ops/fits_shapes.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/ops/map_builder.h"

namespace xla_indexing {
namespace {

// Whether the expressions, what a map calls `what`, are indices of an array.
absl::Status VerifyIndices(const IndexingMap& map, llvm::ArrayRef<mlir::AffineExpr> exprs,
                           absl::string_view what, const Shape& array) {
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  StepBudget budget(kDefaultSteps);
  for (const auto& [i, expr] : llvm::enumerate(exprs)) {
    const Interval indices = IndicesOfAxis(array.dimension(static_cast<int64_t>(i)));
    const Interval values = simplifier.Range(expr);
    if (values.IsSubsetOf(indices)) continue;
    if (HoldsEverywhere(map, expr, indices, &budget) != false) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", i, " of ", map.ToString(), " has values in ", values.ToString(),
                     ", and the indices of dimension ", i, " of ", array.ToStringWithoutLayout(),
                     " are ", indices.ToString()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyFits(const OperandIndexing& indexing, const Shape& from, const Shape& to) {
  if (!from.IsArray() || !to.IsArray()) {
    return absl::InvalidArgumentError(absl::StrCat("a map leads from array to array, not from ",
                                                   from.ToStringWithoutLayout(), " to ",
                                                   to.ToStringWithoutLayout()));
  }
  if (indexing.IsUnknown()) return absl::OkStatus();
  const IndexingMap& map = indexing.map();
  if (map.num_dims() != from.rank() || map.num_results() != to.rank()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a map of ", map.num_dims(), " dimensions and ", map.num_results(), " results from ",
        from.ToStringWithoutLayout(), " to ", to.ToStringWithoutLayout(), ": ", map.ToString()));
  }
  if (map.IsKnownEmpty()) return absl::OkStatus();
  llvm::SmallVector<mlir::AffineExpr, 4> dims;
  for (int i = 0; i < map.num_dims(); ++i) {
    dims.push_back(mlir::getAffineDimExpr(i, map.context()));
  }
  absl::Status status = VerifyIndices(map, dims, "dimension", from);
  return status.ok() ? VerifyIndices(map, map.results(), "result", to) : status;
}

absl::Status VerifyFits(const OperandIndexingSet& set, const Shape& from, const Shape& to) {
  for (const OperandIndexing& indexing : set) {
    if (indexing.map().context() != set.maps().front().map().context()) {
      return absl::InvalidArgumentError(
          absl::StrCat("maps of two MLIRContexts in one set: ", set.maps().front().MapToString(),
                       " and ", indexing.MapToString()));
    }
    if (absl::Status status = VerifyFits(indexing, from, to); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing
