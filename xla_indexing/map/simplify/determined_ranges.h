// Range variables that a constraint gives the value of are replaced by it:
//
//   some s in [l, u]: C(s) and R(s)   C(v) and R(v) and v in [l, u], where v is
//   e - c*s in [a, b], b - a < c      (e - a) floordiv c             C(v) is (e - a) mod c in [0, b - a]
//   (e + c*s) mod n in [r, r]         l + ((r - e)*c' - l) mod n     C(v) holds
//
// with c > 0 and s not in e; and likewise for e + c*s. An equality is the first with a = b. Where c is 1
// there is no division, and where b - a is c - 1 nothing else to say. In the second, c and n have no
// common divisor, c*c' = 1 (mod n), and u - l < n, so that no other value has the residue. Whether e has
// runtime variables is for the caller to allow: their elements might be read at s.
//
// Where results have s in multiples of e - c*s alone, and a < b, s stays: that sum says in a shorter way
// what (e - a) mod c + a does. It also stays where an equality has it: another expression may take the
// value that this gives s, and results may not (without_last_dim).
//
// Example: (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3],
//   d0 - s0 in [0, 0]
// becomes  (d0)[s0, s1] -> (d0, s1), domain: d0 in [0, 9], s0 in [0, 9], s1 in [0, 3],
// and under d0 - s0 * 4 in [0, 1] instead, (d0)[s0, s1] -> (d0 floordiv 4, s1), with
// d0 floordiv 4 in [0, 9] and d0 mod 4 in [0, 1]. Under (d0 + s0) mod 10 in [0, 0], s0 becomes
// (-d0) mod 10.
//
// A variable that is the name of something long, which stands in so many places that the map would
// be much longer without it, stays: names of names would make maps grow exponentially.
//
// Composition makes such variables: an input-to-output map has one for each index that it does not
// know, and the map after it may determine that index. So do windows that do not overlap: the element
// that is in only one of them determines which.

#ifndef XLA_INDEXING_MAP_SIMPLIFY_DETERMINED_RANGES_H_
#define XLA_INDEXING_MAP_SIMPLIFY_DETERMINED_RANGES_H_

#include <optional>

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// What gives values: equalities with a c of 1, equalities, or all of the above.
enum class Determination { kUndividedEquality, kEquality, kConstraint };

struct DeterminedOptions {
  // Values may have runtime variables.
  bool may_use_runtimes = false;
  Determination by = Determination::kEquality;
  // None of that many first results may come to depend on the last dimension: what they use of it
  // stays a variable.
  std::optional<int> without_last_dim = std::nullopt;
};

// Replaces determined range variables; the relation stays equal. Replaced variables keep their
// positions, unused. Returns whether there were any. The constraints must be in normal form; those
// it adds are not.
bool ReplaceDeterminedRanges(IndexingMap* map, const DeterminedOptions& options);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_DETERMINED_RANGES_H_
