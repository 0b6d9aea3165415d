// Range variables that a constraint gives the value of are replaced by it:
//
//   some s in [l, u]: e + s = k and R(s)      R(k - e), k - e in [l, u]      s not in e
//
// and likewise for -s. The interval of s becomes a constraint on its value. e has no runtime
// variables, since their elements might be read at s.
//
// Example: (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3],
//   d0 - s0 in [0, 0]
// becomes  (d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3].
//
// Composition makes such variables: an input-to-output map has one for each index that it does not
// know, and the map after it may determine that index.

#ifndef XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_
#define XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_

#include <optional>

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces determined range variables; the relation stays equal. Replaced variables keep their
// positions, unused. Returns whether there were any. The constraints must be in normal form; those
// it adds are not.
//
// Where `without_last_dim` is given, none of that many first results may come to depend on the last
// dimension: what they use of it stays a variable.
bool ReplaceDeterminedRanges(IndexingMap* map, std::optional<int> without_last_dim = std::nullopt);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_
