// Unions of maps, found on their graphs (map/union/map_graph.h).
//
// Laws, each an equality of sets of pairs:
//
//   one atom   graphs that agree in all but what one sum may be, in P_1, P_2, ..   are one for each
//              progression that these are together (base/numbers/progression.h)
//   hull       graphs, where the others have what the hull of all adds to each     are their hull
//
// Before graphs are compared, what each says of a sum is made as large as may be without a new pair: the
// line t = d + 2 over d in [0, 5] is that over t in [0, 7] and d in [0, 7]. The hull is tried for all graphs, then
// for two. Two values that are no neighbours stay two: d0 in {0, 199} is no shorter as d0 mod 199 in [0, 0].
//
// Examples. Rotations of f32[8] by 1, 2 and 3 have the maps d0 + 1 on [0, 6], d0 + 2 on [0, 5] and
// d0 + 3 on [0, 4]. They agree in all but t - d0: (d0)[s0] -> (s0) with d0 - s0 in [-3, -1], s0 in [1, 7].
// Rotations by 0, 2, .., 6 are (d0)[s0] -> (d0 + s0 * 2) with d0 + s0 * 2 in [0, 7]. The points
// (0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2) are the triangle (d0)[s0] -> (s0) with d0 - s0 in [0, 2],
// whichever lines and rectangles they are given as.
#ifndef XLA_INDEXING_MAP_UNION_UNITE_GRAPHS_H_
#define XLA_INDEXING_MAP_UNION_UNITE_GRAPHS_H_

#include <vector>

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Fewer maps with the same pairs, as far as they are found and the question's budget lasts. The maps have the
// same numbers of dimensions and of results; those that have no graph stay as they are.
std::vector<IndexingMap> UniteGraphs(const std::vector<IndexingMap>& maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_UNITE_GRAPHS_H_
