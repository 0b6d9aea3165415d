// The union of two chains of reindexings that lead to the same index and differ in where they do.
//
// Mathematics. A position is a partial function of the variables: its indices, on the points that
// meet its restrictions. Two with equal indices are one function on the union of their domains.
// Restrictions on numbers N0, N1, .. are a box in (N0, N1, ..), and a union of two boxes is a box
// where
//
//   one contains the other, or
//   they differ in the interval of one number, and the intervals overlap or have no gap between
//   them; an interval that has come to hold every value of its number is no restriction.
//
// No other unions are made here, because they would not be one position.
//
// Where a restriction leaves a number N one value v, an index may have become a constant c by it,
// which is N + (c - v) there. Written so it is compared with the indices of other positions.
//
// Example: rotating f32[8] by 3 and then by 2 leads d0 to d0 + 5 where d0 is in [0, 2], and to
// d0 - 3 where d0 is in [3, 4] by one way and in [5, 7] by another: [3, 7]. Rotating it by 2 and
// then by 7 leads 7 to 0 by one way and d0 to d0 + 1 where d0 is in [0, 5], 6 to 7 by others: that
// is d0 - 7 and, where d0 is in [0, 6], d0 + 1.
#ifndef XLA_INDEXING_FUSION_CHAIN_POSITION_UNION_H_
#define XLA_INDEXING_FUSION_CHAIN_POSITION_UNION_H_

#include <optional>

#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/fusion/chain/reindexing.h"

namespace xla_indexing::internal {

enum class UnionKind { kNone, kFirst, kSecond, kJoined };

// How the union of the points of `a` and of those of `b` is written: not at all, as one of the two
// (as `b` where they are equal), or as `joined`, which is then set. All numbers are of one algebra.
UnionKind UnionOf(const Restrictions& a, const Restrictions& b, const PositionalAlgebra& algebra,
                  Restrictions* joined);

// The indices on the points of the position, with constant indices written over the one number that
// has a single value there; nullopt if there is no such number, or no such index.
std::optional<Indices> WithPinnedNumber(const Position& position, PositionalAlgebra& algebra);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_POSITION_UNION_H_
