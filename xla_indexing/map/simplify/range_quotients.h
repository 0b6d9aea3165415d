// Range variables that results have only as a quotient without remainder become that quotient:
//
//   results have s in (e +- s) floordiv m + c alone,       t is the result or the quotient, and
//   (e +- s) mod m = r everywhere, s in [l, u],            s = +-(m*(t - c) + r - e) in [l, u]
//   no coefficient of e is m or more, or -m or less
//
// For each value of what e depends on, s and t give one another. Neither the division nor the remainder
// is left to say, so that what follows finds sums without divisions. An input-to-output map through a
// window with a stride has such a variable: its position in the window. The normal form of a multiple of
// the quotient may hide it, 6 * ((e - s) floordiv 2) being 3*e - 3*s, so that the map need not be in
// normal form.
//
// Example: (d0)[s0] -> ((d0 - s0 + 1) floordiv 2), domain: d0 in [0, 9], s0 in [0, 2],
//                                               (d0 + s0 + 1) mod 2 in [0, 0]
// becomes  (d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 5], d0 - s0 * 2 in [-1, 1].
#ifndef XLA_INDEXING_MAP_SIMPLIFY_RANGE_QUOTIENTS_H_
#define XLA_INDEXING_MAP_SIMPLIFY_RANGE_QUOTIENTS_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces range variables by the quotients that results have of them; the relation stays equal.
// Returns whether there were some; expressions that changed are not simplified.
bool ReplaceByQuotient(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_RANGE_QUOTIENTS_H_
