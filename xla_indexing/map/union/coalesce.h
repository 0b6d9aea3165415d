// Whether a union of pieces is one piece.
//
// Mathematics. Each atom  e in P  of a piece a is *typed* against another piece b with facts about b
// (map/union/facts.h), after the range variables of a were chosen as expressions of the variables of b
// such that the results are equal (a *witness*):
//
//   redundant   the values of e at the points of b are in P
//   cut         some may not be
//
// Where all atoms are redundant, b is in a. Otherwise the *hull* is a with progressions in which the
// values of e are as well. It contains a and b, and is their union if b has what it adds to a. That is
// a disjoint union of pieces, one for each value that a cut atom excludes: the hull with the atoms before
// it as in a, and this one outside of P. So every answer is an equality of sets. Two single values of an atom that
// are no neighbours stay two.
//
// Examples. d0 in [0, 3] and d0 in [4, 9], of one formula, are d0 in [0, 9].
// (d0) -> (d0), d0 in [0, 4], and (d0)[s0] -> (s0), d0 in [1, 4], d0 - s0 in [1, 4], are
// (d0)[s0] -> (s0), d0 in [0, 4], d0 - s0 in [0, 4]: the hull of the second adds d0 = 0 and d0 - s0 = 0,
// both of which leave s0 = d0 only. d0 in {0, 4, ..} and d0 in {2, 6, ..} are d0 in {0, 2, ..}.
//
// Source: Verdoolaege, Integer Set Coalescing; the coalescing of MLIR's Presburger library.
#ifndef XLA_INDEXING_MAP_UNION_COALESCE_H_
#define XLA_INDEXING_MAP_UNION_COALESCE_H_

#include <optional>

#include "xla_indexing/map/union/facts.h"
#include "xla_indexing/map/union/piece.h"

namespace xla_indexing::internal {

// Whether every pair of b is one of a, as far as facts and a witness show. `facts` are those of b.
// The two have the same numbers of dimensions and results, and their runtime variables, of the same
// number, are the same.
bool Contains(const Piece& a, const Piece& b, Facts* facts);

// How range variables of the one piece may be chosen for the other.
enum class Witness {
  kAny,    // as any expressions
  kRanges  // as one range variable each, so that what is united has one formula
};

// The union of both as a piece of the variables of `a`, where that is found. `facts` are those of b.
std::optional<Piece> Coalesce(const Piece& a, const Piece& b, Witness witness, Facts* facts);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_COALESCE_H_
