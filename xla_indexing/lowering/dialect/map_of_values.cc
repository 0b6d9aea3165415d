#include "xla_indexing/lowering/dialect/map_of_values.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/lowering/dialect/indexing_dialect.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/expr/replace_variables.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using mlir::AffineExpr;
using mlir::Value;

// Over the numbers from a lower to below an upper end.
Interval RangeOfLoop(mlir::LoopLikeOpInterface loop, mlir::BlockArgument variable) {
  const auto variables = loop.getLoopInductionVars();
  const auto lowers = loop.getLoopLowerBounds();
  const auto uppers = loop.getLoopUpperBounds();
  if (!variables || !lowers || !uppers) return Interval::All();
  if (auto unsigned_loop = mlir::dyn_cast<mlir::scf::ForOp>(*loop);
      unsigned_loop && unsigned_loop.getUnsignedCmp()) {
    return Interval::All();
  }
  for (const auto& [each, lower, upper] : llvm::zip(*variables, *lowers, *uppers)) {
    if (each != variable) continue;
    const std::optional<int64_t> from = mlir::getConstantIntValue(lower);
    const std::optional<int64_t> to = mlir::getConstantIntValue(upper);
    const Interval above = from ? Interval::AtLeast(*from) : Interval::All();
    if (!to) return above;
    return *to == INT64_MIN ? Interval::Empty() : above.Intersect(Interval::AtMost(*to - 1));
  }
  return Interval::All();
}

// The map with all its variables as dimensions, in their order.
absl::StatusOr<IndexingMap> OfDimensions(const IndexingMap& map) {
  return RuntimesToDimensions(map.ConvertRangeVariablesToDimensions());
}

absl::Status TooLarge() { return absl::OutOfRangeError("the composed map is too large"); }

}  // namespace

Interval KnownRange(Value value) {
  if (const std::optional<int64_t> constant = mlir::getConstantIntValue(value)) {
    return Interval::Point(*constant);
  }
  if (auto apply = value.getDefiningOp<dialect::ApplyOp>()) {
    const IndexingMap& map = apply.getMap().getMap();
    return RangeOf(map, map.results()[mlir::cast<mlir::OpResult>(value).getResultNumber()]);
  }
  const auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
  mlir::Operation* parent = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto loop = mlir::dyn_cast_if_present<dialect::LoopOp>(parent)) {
    const IndexingMap& map = loop.getMap().getMap();
    const int result = static_cast<int>(argument.getArgNumber()) - map.num_ranges();
    if (result < 0) return map.ranges()[argument.getArgNumber()].bounds;
    return result < map.num_results() ? RangeOf(map, map.results()[result]) : Interval::All();
  }
  if (auto loop = mlir::dyn_cast_if_present<mlir::LoopLikeOpInterface>(parent)) {
    return RangeOfLoop(loop, argument);
  }
  return Interval::All();
}

IndexingMap InRanges(const IndexingMap& map, llvm::ArrayRef<Interval> known) {
  IndexingMap narrowed = map;
  const bool has_ranges = static_cast<int>(known.size()) == map.num_dims() + map.num_symbols();
  const auto narrow = [&](Variable& variable) {
    variable.bounds = variable.bounds.Intersect(known.front());
    known = known.drop_front();
  };
  for (int i = 0; i < map.num_dims(); ++i) narrow(narrowed.mutable_dim(i));
  for (int i = 0; has_ranges && i < map.num_ranges(); ++i) narrow(narrowed.mutable_range(i));
  for (int i = 0; i < map.num_runtimes(); ++i) narrow(narrowed.mutable_runtime(i));
  return narrowed;
}

IndexingMap Narrowed(const IndexingMap& map, llvm::ArrayRef<Interval> known) {
  IndexingMap narrowed = InRanges(map, known);
  narrowed.Simplify({.keep_variables = true});
  return narrowed;
}

absl::StatusOr<MapOfValues> ComposedWithApplies(const IndexingMap& map, mlir::ValueRange values) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap outer, OfDimensions(map));
  llvm::MapVector<Value, unsigned> sources;  // and their dimensions
  const auto add = [&](Value value) { sources.insert({value, sources.size()}); };
  for (const Value value : values) {
    auto apply = value.getDefiningOp<dialect::ApplyOp>();
    if (!apply) add(value);
    if (apply) llvm::for_each(apply.getArgs(), add);
  }
  Variables dims;
  llvm::SmallVector<Value, 8> of_dims;
  for (const auto& [value, dim] : sources) {
    dims.push_back({KnownRange(value), {}});
    of_dims.push_back(value);
  }
  const auto dimension_of = [&](Value value) {
    return mlir::getAffineDimExpr(sources.lookup(value), map.context());
  };
  llvm::SmallVector<AffineExpr, 8> arguments;
  Constraints constraints;
  const auto require = [&](llvm::ArrayRef<Variable> variables, llvm::ArrayRef<AffineExpr> are) {
    for (const auto& [variable, expr] : llvm::zip(variables, are)) {
      constraints.push_back({expr, variable.bounds});
    }
  };
  for (const Value value : values) {
    auto apply = value.getDefiningOp<dialect::ApplyOp>();
    if (!apply) {
      arguments.push_back(dimension_of(value));
      continue;
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap inner, OfDimensions(apply.getMap().getMap()));
    const llvm::SmallVector<AffineExpr, 8> variables =
        llvm::map_to_vector<8>(apply.getArgs(), dimension_of);
    std::optional<IndexingMap> of_sources = ReplaceVariables(inner, dims, {}, {}, variables, {});
    if (!of_sources) return TooLarge();
    require(inner.dims(), variables);
    constraints.append(of_sources->constraints().begin(), of_sources->constraints().end());
    arguments.push_back(of_sources->results()[mlir::cast<mlir::OpResult>(value).getResultNumber()]);
  }
  std::optional<IndexingMap> composed = ReplaceVariables(outer, dims, {}, {}, arguments, {});
  if (!composed) return TooLarge();
  require(outer.dims(), arguments);
  for (const Constraint& constraint : constraints) {
    composed->AddConstraint(kPartsFit, constraint.expr, constraint.interval);
  }
  composed->Simplify({.keep_variables = true});
  llvm::SmallVector<int, 8> kept;
  XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap smaller, WithoutUnusedDimensions(*composed, &kept));
  return MapOfValues{std::move(smaller),
                     llvm::map_to_vector<4>(kept, [&](int dim) { return of_dims[dim]; })};
}

}  // namespace xla_indexing::internal
