// The inverse of a map: from results back to dimensions.
//
// Mathematics. Where, for each value of the runtime variables, no result belongs to two points d,
// the relation { f(d, s, rt) -> d } is a function of the results. Inverse() writes it:
//
//   (r){rt} -> (g(r, rt)), domain: the results that occur
//
// Its dimensions are the results, in the least intervals that hold all of them (for some rt);
// constraints say which values in these are results. For every (d, s, rt) of the map's domain
// g(f(d, s, rt), rt) = d, and for every (r, rt) of the inverse's domain f(g(r, rt), s, rt) = r for
// some s. The map may have range variables; the inverse has none.
//
// The maps that are inverted: permutations, reversals, strides and offsets; mixed-radix positions
// to their digits and digits to their position; sums whose other summands are results, too; and
// chains of these, such as reshapes and transposes; and the inverses of these.
//
//   (d0, d1) -> (d1, 9 - d0)
//       (d0, d1) -> (9 - d1, d0)
//   (d0, d1) -> (d0 * 8 + d1), d0 in [0, 9], d1 in [0, 7]
//       (d0) -> (d0 floordiv 8, d0 mod 8), d0 in [0, 79]
//   (d0) -> (d0 * 4 + 3), d0 in [0, 5]
//       (d0) -> ((d0 - 3) floordiv 4), d0 in [3, 23], (d0 - 3) mod 4 in [0, 0]
//   (d0) -> (d0, d0), d0 in [0, 9]
//       (d0, d1) -> (d0), d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0]
//
// Errors. InvalidArgument for a map that does not Verify(); FailedPrecondition where two points
// have one result; Unimplemented where the results were not shown to determine a dimension, which
// is named, or where the set of results could not be written without range variables. Steps
// (map/sets/decision.h) are spent on the ends of intervals, which are wider where the steps do not
// suffice, and on the reason of a failure.
#ifndef XLA_INDEXING_MAP_SETS_INVERSE_H_
#define XLA_INDEXING_MAP_SETS_INVERSE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

absl::StatusOr<IndexingMap> Inverse(const IndexingMap& map, int64_t max_steps = kDefaultSteps);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_INVERSE_H_
