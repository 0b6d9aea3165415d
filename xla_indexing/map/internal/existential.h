// Range variables are existential: only that some value of them exists counts, so they may be
// renamed and, where constraints alone mention them, left out.
//
// A range variable s that no result uses says of the other variables that some s exists. Where that
// can be said without s, exactly, it is:
//
//   some s in [l, u]: e + c*s in [a, b]          e in [a - c*u, b - c*l]     c > 0, b - a + 1 >= c
//   some s: (e + c*s) mod n in [a, b]            (e - a) mod g in [0, b - a] g = gcd(c, n), s takes
//                                                                            n / g or more values
//   constraints on such variables alone          nothing                    where they have a point
//
// with c < 0 likewise and s nowhere else. In the first rule the windows of neighbouring s leave no
// gap; in the second, c*s takes all multiples of g modulo n. What is not of these forms stays.
//
// Example: (d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], d0 + s0 in [20, 30]
// becomes  (d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], d0 in [11, 30].
//
// A range variable of one residue class counts its elements instead:
//
//   s in [l, u], s mod m = r                     s = m*t + l with t in [0, (u - l) / m], l = r (mod
//   m)
//
// Example: (d0)[s0] -> (s0 floordiv 2), domain: d0 in [0, 9], s0 in [1, 7], (s0 - 1) mod 2 in [0,
// 0] becomes  (d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3].

// Two range variables that always occur together as the digits of one number are that number:
//
//   n*s + t wherever s or t is, t in [l, l + n - 1]     t in [n*first(s) + l, n*last(s) + l + n -
//   1]
//
// Example: (d0)[s0, s1] -> (s0 * 4 + s1), domain: d0 in [0, 9], s0 in [0, 7], s1 in [0, 3]
// becomes  (d0)[s0, s1] -> (s1), domain: d0 in [0, 9], s0 in [0, 7], s1 in [0, 31].

#ifndef XLA_INDEXING_MAP_INTERNAL_EXISTENTIAL_H_
#define XLA_INDEXING_MAP_INTERNAL_EXISTENTIAL_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// The same relation with fewer variables in constraints; variables stay where they are, some
// without use. Whether anything changed. To be called with simplified constraints; new ones are
// not.
bool EliminateRangeVariables(IndexingMap* map);

// The same relation with range variables that count the elements of their residue classes. Whether
// anything changed; what did is not simplified. To be called with simplified constraints.
bool RescaleRangeVariables(IndexingMap* map);

// The same relation where pairs of range variables that always occur together are one; the other
// stays without use. Whether anything changed.
bool JoinRangeVariables(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_EXISTENTIAL_H_
