// The law of alternation: the closure of several relations, each of which is closed by itself or not.
//
//   (a + b + ..)+ = the union of all words of a+, b+, .., where a closed one does not come twice in a
//                   row, if there are only so many words that are not empty and not within another
//                   word: what is within u stays within what follows on u
//
// Elements that stay until they are written, and are then read from somewhere else, make such words:
// stay, move, stay. A row that every element reads at any time makes words that are within others: of
// all rows read on the way only the last one matters.
//
// Example: v[i] = v[i + 1] for i in 0, .., n - 2, from output to input. Elements of v that are still to
// be written move, and elements that were never written stay; none moves twice.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_ALTERNATION_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_ALTERNATION_H_

#include <optional>
#include <vector>

#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none of the union of timed maps from a leaf to itself, by this law and those of
// translations and of spreading; nothing where they do not apply.
std::optional<OperandIndexingSet> CloseByAlternation(const std::vector<OperandIndexing>& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_ALTERNATION_H_
