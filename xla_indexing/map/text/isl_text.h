// Indexing maps in the notation of isl, the integer set library, so that other tools can take them
// on: islpy, barvinok, polyhedral compilers.
//
// Mathematics. A map is written as the relation that it is for each value of its runtime variables,
// which are isl's parameters; range variables are existential:
//
//   [rt..] -> { [d..] -> [r..] : exists (s.. : r0 = e0 and .. and the intervals and constraints) }
//
// Variables have their default names d0, s0 and rt0, whatever they are called in the map. isl's
// `floor(e/c)` is floordiv, its `e mod c` the remainder in [0, c - 1].
//
// Example, the window of a pooling:
//
//   (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 4], s0 in [0, 2]
//       { [d0] -> [r0] : exists (s0 : r0 = (d0*2 + s0) and 0 <= d0 <= 4 and 0 <= s0 <= 2) }
//
// Source: the manual of isl, "Input and Output".
#ifndef XLA_INDEXING_MAP_TEXT_ISL_TEXT_H_
#define XLA_INDEXING_MAP_TEXT_ISL_TEXT_H_

#include <string>

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// One line. The map has to Verify().
std::string ToIslText(const IndexingMap& map);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_TEXT_ISL_TEXT_H_
