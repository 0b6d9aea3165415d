// Random maps over few small numbers, all of which can be tried.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_SMALL_MAPS_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_SMALL_MAPS_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "tests/map/random_map.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// A random map with finite intervals around 0.
inline IndexingMap SmallLoops(RandomMaps& random, mlir::MLIRContext* context) {
  const auto bounds = [&] {
    const int64_t least = random.Int(-3, 2);
    return Interval::Closed(least, least + random.Int(0, 3));
  };
  Variables dims(random.Int(0, 2));
  Variables ranges(random.Int(1, 3));
  Variables runtimes(random.Int(0, 1));
  for (Variables* variables : {&dims, &ranges, &runtimes}) {
    for (Variable& variable : *variables) variable.bounds = bounds();
  }
  const int num_dims = static_cast<int>(dims.size());
  const int num_symbols = static_cast<int>(ranges.size() + runtimes.size());
  Constraints constraints;
  for (int64_t i = random.Int(0, 3); i > 0; --i) {
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(0, context);
    for (int v = 0; v < num_dims + num_symbols; ++v) {
      const mlir::AffineExpr variable = v < num_dims
                                            ? mlir::getAffineDimExpr(v, context)
                                            : mlir::getAffineSymbolExpr(v - num_dims, context);
      if (random.Chance(60)) sum = internal::Add(sum, internal::Scale(variable, random.Int(-2, 2)));
    }
    if (random.Chance(30)) sum = internal::Mod(sum, random.Int(1, 4));
    if (random.Chance(20)) {
      sum = internal::Add(sum, mlir::getAffineSymbolExpr(0, context));
    }
    const int64_t least = random.Int(-4, 1);
    constraints.push_back({sum, random.Chance(20)
                                    ? Interval::AtLeast(least)
                                    : Interval::Closed(least, least + random.Int(0, 5))});
  }
  return IndexingMap::Create(mlir::AffineMap::get(num_dims, num_symbols, context), dims, ranges,
                             runtimes, constraints)
      .value();
}

// The points of a box, in lexicographic order.
inline std::vector<std::vector<int64_t>> PointsIn(llvm::ArrayRef<Variable> variables) {
  std::vector<std::vector<int64_t>> points = {{}};
  for (const Variable& variable : variables) {
    std::vector<std::vector<int64_t>> longer;
    for (const std::vector<int64_t>& point : points) {
      if (variable.bounds.IsEmpty()) continue;
      for (int64_t x = variable.bounds.lower(); x <= variable.bounds.upper(); ++x) {
        longer.push_back(point);
        longer.back().push_back(x);
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_SMALL_MAPS_H_
