#include "xla_indexing/map/internal/components.h"

#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

llvm::SmallVector<int, 4> VariablesOf(AffineExpr expr, int num_dims) {
  llvm::SmallVector<int, 4> variables;
  expr.walk([&](AffineExpr e) {
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(e)) {
      variables.push_back(static_cast<int>(dim.getPosition()));
    } else if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(e)) {
      variables.push_back(num_dims + static_cast<int>(symbol.getPosition()));
    }
  });
  llvm::sort(variables);
  variables.erase(llvm::unique(variables), variables.end());
  return variables;
}

std::vector<Component> ComponentsOf(const IndexingMap& map) {
  const int num_variables = map.num_dims() + map.num_symbols();
  llvm::IntEqClasses classes(num_variables);
  // The first variable of each expression; none for a constant.
  constexpr int kNone = -1;
  const auto first_variable = [&](AffineExpr expr) {
    llvm::SmallVector<int, 4> variables = VariablesOf(expr, map.num_dims());
    llvm::erase_if(variables, [&](int variable) { return BoundsOf(map, variable).IsPoint(); });
    for (const int variable : variables) classes.join(variables[0], variable);
    return variables.empty() ? kNone : variables[0];
  };
  llvm::SmallVector<int, 4> of_result;
  for (const AffineExpr result : map.results()) of_result.push_back(first_variable(result));
  llvm::SmallVector<int, 4> of_constraint;
  for (const Constraint& constraint : map.constraints()) {
    of_constraint.push_back(first_variable(constraint.expr));
  }
  classes.compress();

  std::vector<Component> components(classes.getNumClasses());
  for (int i = 0; i < num_variables; ++i) components[classes[i]].variables.push_back(i);
  const auto component_of = [&](int variable) -> Component& {
    return variable == kNone ? components.emplace_back() : components[classes[variable]];
  };
  for (const auto [i, variable] : llvm::enumerate(of_result)) {
    component_of(variable).results.push_back(static_cast<int>(i));
  }
  for (const auto [i, variable] : llvm::enumerate(of_constraint)) {
    component_of(variable).constraints.push_back(static_cast<int>(i));
  }
  return components;
}

Component AllOf(const IndexingMap& map) {
  Component all;
  for (int i = 0; i < map.num_dims() + map.num_symbols(); ++i) all.variables.push_back(i);
  for (int i = 0; i < map.num_results(); ++i) all.results.push_back(i);
  const auto num_constraints = static_cast<int>(map.constraints().size());
  for (int i = 0; i < num_constraints; ++i) all.constraints.push_back(i);
  return all;
}

std::optional<IndexingMap> MapOfComponent(const IndexingMap& map, const Component& component) {
  llvm::SmallVector<AffineExpr, 8> dims(map.num_dims());
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  for (int i = 0; i < map.num_dims() + map.num_symbols(); ++i) {
    const Interval& bounds = BoundsOf(map, i);
    if (!bounds.IsPoint()) continue;
    (i < map.num_dims() ? dims[i] : symbols[i - map.num_dims()]) =
        Constant(bounds.lower(), map.context());
  }
  Variables own_dims;
  Variables ranges;
  for (const int variable : component.variables) {
    if (variable < map.num_dims()) {
      dims[variable] = mlir::getAffineDimExpr(own_dims.size(), map.context());
      own_dims.push_back({BoundsOf(map, variable), {}});
    } else {
      symbols[variable - map.num_dims()] = mlir::getAffineSymbolExpr(ranges.size(), map.context());
      ranges.push_back({BoundsOf(map, variable), {}});
    }
  }
  llvm::SmallVector<AffineExpr, 4> results;
  for (const int i : component.results) {
    results.push_back(Substitute(map.results()[i], dims, symbols));
    if (!results.back()) return std::nullopt;
  }
  Constraints constraints;
  for (const int i : component.constraints) {
    const Constraint& constraint = map.constraints()[i];
    constraints.push_back({Substitute(constraint.expr, dims, symbols), constraint.interval});
    if (!constraints.back().expr) return std::nullopt;
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(own_dims.size(), ranges.size(), results, map.context());
  return IndexingMap(kPartsFit, affine_map, std::move(own_dims), std::move(ranges), {},
                     std::move(constraints));
}

}  // namespace xla_indexing::internal
