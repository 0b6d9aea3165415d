#include "xla_indexing/ops/answers/fits_shapes.h"

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/map_builder.h"

namespace xla_indexing::internal {
namespace {

// The interval that a constraint says an expression is in, on it or on what a constant is added to;
// all integers where none does.
Interval ConstrainedTo(const IndexingMap& map, mlir::AffineExpr expr) {
  for (const Constraint& constraint : map.constraints()) {
    const auto constant =
        llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(Sub(expr, constraint.expr));
    if (constant) return constraint.interval.Add(constant.getValue());
  }
  return Interval::All();
}

// Whether the expressions, what a map calls `what`, are indices of an array.
absl::Status VerifyIndices(const IndexingMap& map, llvm::ArrayRef<mlir::AffineExpr> exprs,
                           absl::string_view what, const Shape& array) {
  // Most are variables, whose values need no simplifier.
  std::optional<ExprSimplifier> simplifier;
  const auto values_of = [&](mlir::AffineExpr expr) {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
      return map.dims()[dim.getPosition()].bounds;
    }
    if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
      return map.symbols()[symbol.getPosition()].bounds;
    }
    if (!simplifier) simplifier.emplace(map.context(), map.DimBounds(), map.SymbolBounds());
    return simplifier->Range(expr);
  };
  StepBudget budget(kDefaultSteps);
  for (const auto& [i, expr] : llvm::enumerate(exprs)) {
    const Interval indices = IndicesOfAxis(array.dimension(static_cast<int64_t>(i)));
    Interval values = values_of(expr);
    if (values.IsSubsetOf(indices)) continue;
    values = values.Intersect(ConstrainedTo(map, expr));
    if (values.IsSubsetOf(indices)) continue;
    if (HoldsEverywhere(map, expr, indices, &budget) != Answer::kNo) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", i, " of ", map.ToString(), " has values in ", values.ToString(),
                     ", and the indices of dimension ", i, " of ", array.ToStringWithoutLayout(),
                     " are ", indices.ToString()));
  }
  return absl::OkStatus();
}

// Where intervals are wider than the axes, as constraints may narrow them.
absl::Status VerifyDims(const IndexingMap& map, const Shape& from) {
  llvm::SmallVector<mlir::AffineExpr, 4> dims;
  for (int i = 0; i < map.num_dims(); ++i) {
    dims.push_back(mlir::getAffineDimExpr(i, map.context()));
  }
  return VerifyIndices(map, dims, "dimension", from);
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
  const bool dims_fit = llvm::all_of(llvm::enumerate(map.dims()), [&](const auto& dim) {
    return dim.value().bounds.IsSubsetOf(
        IndicesOfAxis(from.dimension(static_cast<int64_t>(dim.index()))));
  });
  absl::Status status = dims_fit ? absl::OkStatus() : VerifyDims(map, from);
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

}  // namespace xla_indexing::internal
