// Range variables that results only have as one sum, such as the windows of one convolution after
// another, become that sum:
//
//   results are functions of n*s + t, n != 0     t' = n*s + t, and some s in [l, u]: t' - n*s in the
//                                                interval of t, and the constraints on s
//   a result is +-(n*s + t) + c                  t' is that result
//
// where s, of which constraints are then all that is left, can be eliminated:
//
//   some s: c*s + e in [a, b],                   c*f - k*e in [c*a' - k*b, c*b' - k*a]
//           k*s + f in [a', b'],                 for each pair of these
//           ..                                   c, k > 0, and k = 1 or c = 1 or it always holds,
//                                                by (c - 1)*(k - 1) on both sides
//
// and b - a + 1 >= c, so that each of them by itself leaves some s. The interval of s is one of
// them. It is done where no more constraints are left than there were, and where no equality gives
// s: it is then the name of something that the sum would stand beside in two constraints instead of
// in one, which could be eliminated (map/simplify/determined_ranges.h).
//
// Example, two windows of three elements over rows of ten:
//   (d0)[s0, s1] -> (d0 + s0 + s1), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 2],
//     d0 + s0 in [0, 9], d0 + s0 + s1 in [0, 9]
// becomes  (d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 9].
#ifndef XLA_INDEXING_MAP_SIMPLIFY_WINDOW_SUMS_H_
#define XLA_INDEXING_MAP_SIMPLIFY_WINDOW_SUMS_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces pairs of range variables by their sum; the relation stays equal. Variables that go keep
// their positions, unused. Returns whether there were any.
bool JoinWindows(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_WINDOW_SUMS_H_
