// All powers of the maps from a leaf of a loop to itself, by two laws.
//
// Words. Each map is a letter. Letters of which all powers are known are closed: translations
// (ops/loops/closure/translations.h), and the steps within a box together (ops/loops/closure/spreading.h).
//
//   (a + b + ..)+ = the union of all words of a+, b+, .., where a closed one does not come twice in a
//                   row, if there are only so many words that are not empty and not within another
//                   word: what is within u stays within what follows on u
//
// Elements that stay until they are written, and are then read from somewhere else, make such words:
// stay, move, stay. A row that every element reads at any time makes words that are within others: of
// all rows read on the way only the last one matters.
//
// Periods. Where words do not come to an end, those of a power may: of a permutation that power is the
// identity, of other maps what they become after a few iterations.
//
//   P+ = the union of P^r, (P^k)+, and (P^k)+ ; P^r, for r = 1, .., k - 1
//
// Examples: v[i] = v[i + 1] for i in 0, .., n - 2, from output to input. Elements of v that are still
// to be written move, and elements that were never written stay; none moves twice. A leaf that is
// reversed, P(t, d) = (t - 1, 9 - d): P^2 is a translation, (t, d) -> (t - 2, d).
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_POWERS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_POWERS_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none of the union of timed maps from a leaf to itself; nullopt if no law applies,
// or these are too many maps.
std::optional<OperandIndexingSet> AllPowersOf(OperandIndexingSet maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_POWERS_H_
