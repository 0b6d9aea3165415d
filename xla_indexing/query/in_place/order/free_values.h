// Whether the values of the runtime variables of a map can be whatever its domain says.
//
// A parameter of the program has any contents, and an element of one says nothing of another. So all
// values occur together where each variable is of an element of a parameter, perhaps moved (slices,
// transposes, ..), and no two are of one element. Values that are computed may be bound to each other.
//
// At one point, elements are numbers. Its values occur where variables of one element are equal: a value
// that a clamp yields may be what the element contains. Elements of one parameter that are moved in
// different ways count as one.
//
// Example: the start s32[] of an update that is a parameter is free; one that is p + q is not. Starts
// clamp(p, 0, 3) and clamp(p, 0, 5) of one parameter are not free, but 3 and 3 do occur.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_FREE_VALUES_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_FREE_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Why some values of the runtime variables may not occur together; empty where all do.
std::string WhyNotFree(const OperandIndexing& indexing);

// The values of expressions over the variables of a map at a point; empty where one is too large.
llvm::SmallVector<int64_t, 4> ValuesAt(const IndexingMap& map,
                                       llvm::ArrayRef<mlir::AffineExpr> expressions,
                                       llvm::ArrayRef<int64_t> point);

// The least point (dimensions, then symbols) of a part of its domain, if its values occur: if not, others
// may.
std::optional<llvm::SmallVector<int64_t, 8>> LeastPointThatOccurs(const OperandIndexing& indexing,
                                                                  const IndexingMap& domain,
                                                                  StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_FREE_VALUES_H_
