// Whether a map is one-to-one, and whether it is one-to-one onto a box: yes, no, or not decided
// within a number of steps (map/sets/decision.h).
//
// Mathematics. For each value of the runtime variables the map is the function (d, s) -> f(d, s,
// rt) on its domain. It is injective where no two points (d, s) have one result. It is a bijection
// onto the box of sizes n_0, n_1, .. where it is injective and its results are all of [0, n_0 - 1]
// x [0, n_1 - 1] x .., for every value of the runtime variables in their intervals. The map of a
// transpose, reverse or reshape is one; that of a slice or broadcast is not.
//
// How. A map is injective where its results determine every variable. Otherwise all points are
// compared, where they are few; otherwise there are more points than possible results, or the sets
// { (u, u') : f(u) = f(u'), u_j > u'_j }, one for each variable u_j, are shown to be empty. It is
// onto where no point has a result outside the box, and the box is within the projection onto the
// results; otherwise its points are counted.
//
// Errors. InvalidArgument for a map that does not Verify(), for sizes that are not as many as the
// results, and for a negative size.
//
// Example:
//   (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 9], d1 in [0, 7]    injective, onto {80}
//   (d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 9], d1 in [0, 8]    not: (0, 8) and (1, 0)
//   (d0) -> (d0 * 2), domain: d0 in [0, 9]                           injective, onto no box
#ifndef XLA_INDEXING_MAP_SETS_BIJECTION_H_
#define XLA_INDEXING_MAP_SETS_BIJECTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

absl::StatusOr<Decision> IsInjective(const IndexingMap& map, int64_t max_steps = kDefaultSteps);

absl::StatusOr<Decision> IsBijectionOnto(const IndexingMap& map, llvm::ArrayRef<int64_t> sizes,
                                         int64_t max_steps = kDefaultSteps);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_BIJECTION_H_
