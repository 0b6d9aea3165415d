// The independent parts of a map: results and constraints that share no variable.
//
// Mathematics. Two expressions (results or constraints) belong together where one variable occurs
// in both, and so on along chains of such. The classes part the variables, and with X_1, X_2, ..
// the points of the classes,
//
//   domain = X_1 x X_2 x ..      image = f_1(X_1) x f_2(X_2) x ..
//
// so that what is to be counted is counted class by class and multiplied. Dimensions, range and
// runtime variables are all alike here; one of a single value is a constant and joins nothing.
//
// Example: (d0, d1)[s0] -> (d0 + s0, d1), d0 + s0 in [0, 9] has the components
//   variables d0, s0, result 0, the constraint;    variable d1, result 1.
#ifndef XLA_INDEXING_MAP_EXPR_COMPONENTS_H_
#define XLA_INDEXING_MAP_EXPR_COMPONENTS_H_

#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct Component {
  // Numbered as by VariablesOf (map/expr/expr_util.h). All lists are ascending.
  llvm::SmallVector<int, 4> variables;
  llvm::SmallVector<int, 4> results;
  llvm::SmallVector<int, 2> constraints;
};

// The interval of a variable numbered as in Component.
inline const Interval& BoundsOf(const IndexingMap& map, int variable) {
  return variable < map.num_dims() ? map.dims()[variable].bounds
                                   : map.symbol(variable - map.num_dims()).bounds;
}

// Which lists of variables (numbered as above, below `num_variables`) belong together: the number of
// the class of each, the classes in the order of their first lists. A list without variables is a
// class of its own.
llvm::SmallVector<int, 8> ClassesByVariables(llvm::ArrayRef<llvm::SmallVector<int, 4>> lists,
                                             int num_variables);

// The components in the order of their first variables, followed by results and constraints without
// variables, one by one. Every variable is in exactly one component.
std::vector<Component> ComponentsOf(const IndexingMap& map);

// A single component that holds everything in the map.
Component AllOf(const IndexingMap& map);

// A map of one component: its dimensions, its symbols as range variables, its results and
// constraints, each in their old order. Nullopt if an expression cannot be written over these.
std::optional<IndexingMap> MapOfComponent(const IndexingMap& map, const Component& component);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_EXPR_COMPONENTS_H_
