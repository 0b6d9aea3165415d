// Range variables are existential: only that some value of them exists counts, so they may be
// renamed and, where constraints alone mention them, eliminated.
//
// A constraint on a range variable s that no result uses says that some s exists. Where that can be
// said of the other variables without s, exactly, it is:
//
//   some s in [l, u]: e + c*s in [a, b]     e in [a - c*u, b - c*l]       c > 0, b - a + 1 >= c
//   some s: (e + c*s) mod n in [a, b]       (e - a) mod g in [0, b - a]   g = gcd(c, n), s takes
//                                                                         n / g or more values
//   constraints on such variables alone     nothing                       where they have a point
//
// and likewise for c < 0. In these rules s occurs nowhere else. In the first one the windows of
// neighbouring s leave no gap; in the second, c*s takes all multiples of g modulo n. Constraints of
// other forms stay.
//
// Example: (d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], d0 + s0 in [20, 30]
// becomes  (d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], d0 in [11, 30].
//
// A range variable with values in one residue class is replaced by one that counts its elements:
//
//   s in [l, u], s mod m = r        s = m*t + l with t in [0, (u - l) / m], l = r (mod m)
//
// Example: (d0)[s0] -> (s0 floordiv 2), domain: d0 in [0, 9], s0 in [1, 7],
//                                               (s0 - 1) mod 2 in [0, 0]
// becomes  (d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3].

#ifndef XLA_INDEXING_MAP_SIMPLIFY_EXISTENTIAL_H_
#define XLA_INDEXING_MAP_SIMPLIFY_EXISTENTIAL_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces the constraints by ones on fewer variables; the relation stays equal. Eliminated
// variables keep their positions, unused. Returns whether anything changed. The constraints must be
// in normal form; those it adds are not.
bool EliminateRangeVariables(IndexingMap* map);

// Replaces range variables with values in one residue class by ones that count its elements; the
// relation stays equal. Returns whether anything changed; expressions that changed are not
// simplified. The constraints must be in normal form.
bool RescaleRangeVariables(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_EXISTENTIAL_H_
