// The least point of a domain, found by bisection variable by variable.
//
// Example: d0 in [0, 9], s0 in [0, 9] with d0 + s0 in [12, 18] has the least point (3, 9).
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_LEAST_POINT_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_LEAST_POINT_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

// The least point of a domain (dimensions, then symbols), in lexicographic order; none where the
// budget does not suffice, or there is none.
std::optional<llvm::SmallVector<int64_t, 8>> LeastPointOf(const IndexingMap& domain,
                                                          StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_LEAST_POINT_H_
