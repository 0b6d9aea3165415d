// Maps whose variables are values of MLIR.
#ifndef XLA_INDEXING_LOWERING_DIALECT_MAP_OF_VALUES_H_
#define XLA_INDEXING_LOWERING_DIALECT_MAP_OF_VALUES_H_

#include <optional>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// The numbers that an index value is known to be among: a constant, the variable of a loop with constant
// bounds, a result of a map, what a loop over a domain gives its body; otherwise all.
Interval KnownRange(mlir::Value value);

// The map with the intervals of its variables narrowed to those that are known, one for each dimension, range and
// runtime variable, or, for the arguments of a loop, each dimension and runtime variable.
IndexingMap InRanges(const IndexingMap& map, llvm::ArrayRef<Interval> known);
// The same, simplified as a function of all its variables.
IndexingMap Narrowed(const IndexingMap& map, llvm::ArrayRef<Interval> known);

// The results of a map of nothing but dimensions at values, which all differ.
struct MapOfValues {
  IndexingMap map;
  llvm::SmallVector<mlir::Value, 4> values;
};

// The same results as those of a map at values, one for each variable, where it is defined. A value that an
// indexing.apply gives is replaced by that apply's arguments; what is known of values narrows the domain, with which
// results are simplified; values that nothing depends on are left out. OutOfRange where numbers or expressions do not
// fit.
absl::StatusOr<MapOfValues> ComposedWithApplies(const IndexingMap& map, mlir::ValueRange values);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_DIALECT_MAP_OF_VALUES_H_
