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
// That is all that is united here: other unions are not one position.
//
// Example: rotating f32[8] by 3 and then by 2 leads d0 to d0 + 5 where d0 is in [0, 2], and to
// d0 - 3 where d0 is in [3, 4] by one way and in [5, 7] by another: [3, 7].
#ifndef XLA_INDEXING_FUSION_POSITION_UNION_H_
#define XLA_INDEXING_FUSION_POSITION_UNION_H_

#include <optional>

#include "xla_indexing/affine/positional.h"
#include "xla_indexing/fusion/reindexing.h"

namespace xla_indexing {

// Whether every point of `b` is one of `a`. Of positions with equal indices.
bool Contains(const Position& a, const Position& b);

// The union, where it is one position and neither contains the other. Of positions with equal
// indices, numbers of one algebra.
std::optional<Position> UnionOf(const Position& a, const Position& b,
                                const PositionalAlgebra& algebra);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_POSITION_UNION_H_
