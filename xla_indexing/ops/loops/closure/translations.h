// The law of translations: all powers of one timed map that adds the same in every iteration.
//
//   (t, d) -> (t + a, d_i + c_i, e_j), a != 0,      p^m: (t, d) -> (t + m * a, d_i + m * c_i, e_j),
//     with e_j of t, the d_i and range variables      m >= 1, with e_j of t + (m - 1) * a and
//     s only, where no restriction ties s to          d_i + (m - 1) * c_i, and the domain of p at
//     dimensions or mentions the d_j, and each        the first step and at the last one
//     restriction is monotonous along (a, c_i) as long as no remainder e mod n in it goes
//     round, and some restriction fails at the step before e mod n wraps around, or after it
//
// What holds at the first step and at the last one holds between them if it is monotonous. A result
// e_j does not depend on what was there before, so that only its last one matters: a range variable,
// which is anything in every iteration, or t - 1, the row of the iteration.
// Where e grows by g in each iteration, with e mod n among the last g of its numbers before it goes
// round, 0 <= e mod n + (m - 1) * g < n is then added. So elements stay in a ring of n rows until
// theirs is written: (t, d0) -> (t - 1, d0) where (t - 1 - d0) mod n >= 1 stays m <= (t - 1 - d0) mod n
// iterations.
//
// Example: what moves by one from output to input, (t, d0) -> (t - 1, d0 + 1), d0 in [0, 8], is
// after all numbers of iterations (t, d0)[s0] -> (t - s0, d0 + s0), s0 in [1, 9], d0 + s0 in [1, 9].
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_TRANSLATIONS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_TRANSLATIONS_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// All powers but none of a timed map from a leaf to the same leaf, their number a range variable;
// nullopt if it is no translation.
std::optional<OperandIndexing> CloseTranslation(const OperandIndexing& piece);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_TRANSLATIONS_H_
