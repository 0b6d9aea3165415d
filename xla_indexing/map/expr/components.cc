#include "xla_indexing/map/expr/components.h"

#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/expr/replace_variables.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

llvm::SmallVector<int, 8> ClassesByVariables(llvm::ArrayRef<llvm::SmallVector<int, 4>> lists,
                                             int num_variables) {
  llvm::IntEqClasses classes(num_variables);
  for (const llvm::SmallVector<int, 4>& variables : lists) {
    for (const int variable : variables) classes.join(variables[0], variable);
  }
  constexpr int kNone = -1;
  llvm::SmallVector<int, 8> number_of_leader(num_variables, kNone);
  llvm::SmallVector<int, 8> numbers;
  int next = 0;
  for (const llvm::SmallVector<int, 4>& variables : lists) {
    int own = kNone;
    int& number = variables.empty() ? own : number_of_leader[classes.findLeader(variables[0])];
    if (number == kNone) number = next++;
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<Component> ComponentsOf(const IndexingMap& map) {
  const int num_variables = map.num_dims() + map.num_symbols();
  // Each variable begins by itself; then the variables of each result are united, then those of
  // each constraint.
  std::vector<llvm::SmallVector<int, 4>> lists;
  lists.reserve(num_variables + map.num_results() + map.constraints().size());
  for (int i = 0; i < num_variables; ++i) lists.push_back({i});
  const auto add_list = [&](AffineExpr expr) {
    lists.push_back(VariablesOf(expr, map.num_dims()));
    llvm::erase_if(lists.back(), [&](int variable) { return BoundsOf(map, variable).IsPoint(); });
  };
  for (const AffineExpr result : map.results()) add_list(result);
  for (const Constraint& constraint : map.constraints()) add_list(constraint.expr);
  const llvm::SmallVector<int, 8> numbers = ClassesByVariables(lists, num_variables);

  std::vector<Component> components(numbers.empty() ? 0 : *llvm::max_element(numbers) + 1);
  const int first_constraint = num_variables + map.num_results();
  for (const auto [index, number] : llvm::enumerate(numbers)) {
    Component& component = components[number];
    const int i = static_cast<int>(index);
    if (i < num_variables) {
      component.variables.push_back(i);
    } else if (i < first_constraint) {
      component.results.push_back(i - num_variables);
    } else {
      component.constraints.push_back(i - first_constraint);
    }
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
  for (const int i : component.results) results.push_back(map.results()[i]);
  Constraints constraints;
  for (const int i : component.constraints) constraints.push_back(map.constraints()[i]);
  const auto affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context());
  const IndexingMap part(kPartsFit, affine_map, Variables(map.dims()), Variables(map.ranges()),
                         Variables(map.runtimes()), std::move(constraints));
  return ReplaceVariables(part, std::move(own_dims), std::move(ranges), {}, dims, symbols);
}

}  // namespace xla_indexing::internal
