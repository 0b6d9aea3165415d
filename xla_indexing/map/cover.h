// Whether several relations together have all pairs of another.
//
// Mathematics. With the pairs of b written as a set of constraints g_1, .., g_n on (d, rt, r)
// (map/internal/project.h), what a has besides is the disjoint union of
//
//   a and g_1 and .. and g_(i-1) and not g_i        for each i,
//
// where r are a's results. Of b_1, b_2, .. each takes away from what those before it have left.
// What is left is empty, or not: a question about domains (map/domain.h).
//
// Example: d0 -> d0, d0 in [0, 9] is covered by the same with d0 in [0, 4] and with d0 in [5, 9].
#ifndef XLA_INDEXING_MAP_COVER_H_
#define XLA_INDEXING_MAP_COVER_H_

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// Whether every pair d -> r of `a` is one of some of `others`, for each value of the runtime
// variables, which correspond by position, as dimensions do. None where that is not decided, or
// cannot be asked of maps with other numbers of these or of results, or of another context.
std::optional<bool> IsCovered(const IndexingMap& a, llvm::ArrayRef<IndexingMap> others,
                              StepBudget* budget);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_COVER_H_
