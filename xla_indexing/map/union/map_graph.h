// The graph of a map: its set of pairs, in which a result is a variable like a dimension.
//
// Mathematics. A map without runtime variables as
//
//   { (d, t) : v in P_v for each dimension and result v,  e_k(d, t) in P_k for each k }
//
// with progressions P (base/numbers/progression.h) and no other variables:
//
//   a result c*s + r, s in no result before   s is (t - r) / c in all that is said of it
//   floor(e / m), where e = c (mod m)         (e - c) / m
//   floor(e / m) + g in [a, b]                e + m*g in [m*a, m*b + m - 1]
//
// Each sum is written without a constant and common factors, so that equal ones are the same expression.
//
// Example: (d0)[s0] -> (d0 * 2 + s0 * 3 + 1) with s0 in [0, 4] is d0*2 - t in {-13, -10, .., -1}.
#ifndef XLA_INDEXING_MAP_UNION_MAP_GRAPH_H_
#define XLA_INDEXING_MAP_UNION_MAP_GRAPH_H_

#include <optional>

#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/union/piece.h"

namespace xla_indexing::internal {

// Range variable i of the piece is result i. nullopt where the map has runtime variables, no points as its intervals say, ranges that are not
// seen to be what results leave of them, or numbers that do not fit.
std::optional<Piece> GraphOfMap(const IndexingMap& map);

// The map of a graph, simplified, with the names of the dimensions of `like`. A result is a range variable
// where its values are those of an interval beside others, otherwise what a sum leaves of it: t with
// t - d in {1, 3, 5} is d + s*2 + 1 with s in [0, 2]. nullopt where numbers do not fit.
std::optional<IndexingMap> MapOfGraph(Piece graph, const IndexingMap& like);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_MAP_GRAPH_H_
