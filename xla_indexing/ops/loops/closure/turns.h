// The law of turns: maps that permute dimensions, turn some of them round and add constants, within a
// box and going round or not.
//
//   x -> A x + c, A a permutation with signs   A^k = 1 for some k, at most 6 in up to four dimensions,
//                                              so that the k-th power adds constants: it spreads
//                                              (ops/loops/closure/spreading.h), and the others follow from
//                                              it (ops/loops/closure/periods.h)
//
// Example: (t, d0, d1) -> (t - 1, 7 - d0, d1 + 1): its square adds (0, 2) in two iterations.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_TURNS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_TURNS_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none of the union of timed maps from a leaf to itself; nothing where they are not of
// this kind, or are too many maps.
std::optional<OperandIndexingSet> CloseTurning(const OperandIndexingSet& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_TURNS_H_
