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
#ifndef XLA_INDEXING_MAP_INTERNAL_COMPONENTS_H_
#define XLA_INDEXING_MAP_INTERNAL_COMPONENTS_H_

#include <optional>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct Component {
  // Dimensions have their own numbers; symbol j has the number num_dims + j. All lists are
  // ascending.
  llvm::SmallVector<int, 4> variables;
  llvm::SmallVector<int, 4> results;
  llvm::SmallVector<int, 2> constraints;
};

// The variables that occur in an expression, numbered as in Component, in ascending order.
llvm::SmallVector<int, 4> VariablesOf(mlir::AffineExpr expr, int num_dims);

// The interval of a variable numbered as in Component.
inline const Interval& BoundsOf(const IndexingMap& map, int variable) {
  return variable < map.num_dims() ? map.dims()[variable].bounds
                                   : map.symbol(variable - map.num_dims()).bounds;
}

// The components in the order of their first variables, followed by results and constraints without
// variables, one by one. Every variable is in exactly one component.
std::vector<Component> ComponentsOf(const IndexingMap& map);

// A single component that holds everything in the map.
Component AllOf(const IndexingMap& map);

// A map of one component: its dimensions, its symbols as range variables, its results and
// constraints, each in their old order. None where an expression cannot be written over these.
std::optional<IndexingMap> MapOfComponent(const IndexingMap& map, const Component& component);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_COMPONENTS_H_
