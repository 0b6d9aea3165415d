// Whether several relations together have all pairs of another.
//
// Mathematics. The pairs of b are written as a set of constraints g_1, .., g_n on (d, rt, r), where
// r are the results. Then what a has and b has not is the disjoint union of
//
//   a and g_1 and .. and g_(i-1) and not g_i        for each i.
//
// Each of several relations b_1, b_2, .. is taken away from what the ones before it have left.
// Whether anything is left in the end is a question about domains (map/sets/domain.h).
//
// Example: d0 -> d0, d0 in [0, 9] is covered by the same with d0 in [0, 4] and with d0 in [5, 9].
#ifndef XLA_INDEXING_MAP_SETS_COVER_H_
#define XLA_INDEXING_MAP_SETS_COVER_H_

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

// Whether every pair d -> r of `a` belongs to at least one of `others`, for each value of the
// runtime variables. Dimensions and runtime variables correspond by position. Maps that cannot be
// compared, of other numbers of dimensions, runtime variables or results, or of another context,
// leave it undecided.
Answer IsCovered(const IndexingMap& a, llvm::ArrayRef<IndexingMap> others, StepBudget* budget);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_COVER_H_
