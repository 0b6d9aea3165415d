#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::Substitute;
using ::mlir::AffineExpr;

// The symbols of a map of the composition: `num_ranges` range variables from `first_range` on, then
// its runtime variables from `first_runtime` on.
llvm::SmallVector<AffineExpr, 8> SymbolsFrom(const IndexingMap& map, unsigned first_range,
                                             unsigned first_runtime) {
  llvm::SmallVector<AffineExpr, 8> symbols;
  for (int i = 0; i < map.num_ranges(); ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(first_range + i, map.context()));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(first_runtime + i, map.context()));
  }
  return symbols;
}

absl::Status TooLarge(const IndexingMap& first, const IndexingMap& second) {
  return absl::OutOfRangeError(
      absl::StrCat("the composition of ", first.ToString(), " and ", second.ToString(),
                   " has a number that does not fit int64 or an expression that is too large"));
}

}  // namespace

absl::StatusOr<IndexingMap> ComposeIndexingMaps(const IndexingMap& first,
                                                const IndexingMap& second) {
  if (first.num_results() != second.num_dims()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a map with ", first.num_results(), " results cannot be followed by one with ",
        second.num_dims(), " dimensions: ", first.ToString(), " and ", second.ToString()));
  }
  mlir::MLIRContext* context = first.context();
  if (second.context() != context) {
    return absl::InvalidArgumentError(absl::StrCat("maps of two MLIRContexts cannot be composed: ",
                                                   first.ToString(), " and ", second.ToString()));
  }
  const unsigned num_ranges = second.num_ranges() + first.num_ranges();
  const llvm::SmallVector<AffineExpr, 8> second_symbols = SymbolsFrom(second, 0, num_ranges);
  const llvm::SmallVector<AffineExpr, 8> first_symbols =
      SymbolsFrom(first, second.num_ranges(), num_ranges + second.num_runtimes());

  llvm::SmallVector<AffineExpr, 4> middle;
  for (AffineExpr result : first.results()) {
    middle.push_back(Substitute(result, {}, first_symbols));
    if (!middle.back()) return TooLarge(first, second);
  }
  Constraints constraints;
  for (const Constraint& constraint : first.constraints()) {
    constraints.push_back({Substitute(constraint.expr, {}, first_symbols), constraint.interval});
    if (!constraints.back().expr) return TooLarge(first, second);
  }
  for (auto [expr, dim] : llvm::zip_equal(middle, second.dims())) {
    constraints.push_back({expr, dim.bounds});
  }
  for (const Constraint& constraint : second.constraints()) {
    constraints.push_back(
        {Substitute(constraint.expr, middle, second_symbols), constraint.interval});
    if (!constraints.back().expr) return TooLarge(first, second);
  }
  llvm::SmallVector<AffineExpr, 4> results;
  for (AffineExpr result : second.results()) {
    results.push_back(Substitute(result, middle, second_symbols));
    if (!results.back()) return TooLarge(first, second);
  }

  Variables dims(first.dims());
  Variables ranges(second.ranges());
  ranges.append(first.ranges().begin(), first.ranges().end());
  Variables runtimes(second.runtimes());
  runtimes.append(first.runtimes().begin(), first.runtimes().end());
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, context);
  return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges), std::move(runtimes),
                     std::move(constraints));
}

}  // namespace xla_indexing
