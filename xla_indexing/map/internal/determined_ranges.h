// Range variables that an equality gives the value of are replaced by it:
//
//   some s in [l, u]: e + c*s = k and R(s)      R(v), v in [l, u], (k - e) mod c = 0
//                                               v = (k - e)/c, c > 0, s not in e
//
// and likewise for c < 0. Where c is 1 there is no division, and nothing else to say. Whether e has
// runtime variables is for the caller to allow: their elements might be read at s.
//
// Example: (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3],
//   d0 - s0 in [0, 0]
// becomes  (d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3],
// and under d0 - s0 * 4 in [0, 0] instead, (d0)[s0, s1] -> (d0 floordiv 4, s1), with
// d0 floordiv 4 in [0, 9] and d0 mod 4 in [0, 0].
//
// A variable that is the name of something long, which stands in so many places that the map would
// be much longer without it, stays: names of names would make maps grow exponentially.
//
// Composition makes such variables: an input-to-output map has one for each index that it does not
// know, and the map after it may determine that index.

#ifndef XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_
#define XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_

#include <optional>

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct DeterminedOptions {
  // Values may have runtime variables.
  bool may_use_runtimes = false;
  // Only where c is 1 or -1.
  bool only_undivided = false;
  // None of that many first results may come to depend on the last dimension: what they use of it
  // stays a variable.
  std::optional<int> without_last_dim = std::nullopt;
};

// Replaces determined range variables; the relation stays equal. Replaced variables keep their
// positions, unused. Returns whether there were any. The constraints must be in normal form; those
// it adds are not.
bool ReplaceDeterminedRanges(IndexingMap* map, const DeterminedOptions& options);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_DETERMINED_RANGES_H_
