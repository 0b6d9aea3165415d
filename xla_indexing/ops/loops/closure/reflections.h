// The law of reflections: maps T that add constants, beside a map R that turns dimensions round or
// permutes them and is its own inverse, from a leaf to itself.
//
//   (T + R)+ = T+ + S* ; R + S* ; R ; R,   S = T + R ; T ; R, each in one iteration,
//     where R ; R = 1 in a box, from which no T leads away, a step of S can be taken back, and no
//     border stops a word
//
// It is the group of rotations and reflections of a circle. The Rs of a word can be moved to its end,
// where R ; R = 1; each turns the Ts that it passes. With one R or more Ts can be turned or not as one
// likes, so that all that is left of the Rs is their parity: S^k ; R^r is in S^(k + 2) ; R^(r - 2), r
// of at least 3, where a step of S can be taken back at once: 0 is in S, or S is -S.
//
// The Ts that R turns come behind the others in such a word. They lead through no more than what is
// between its ends if 0 is in S, so that none has to turn back. Where S is -S, steps of one dimension
// that turn back can be left out in pairs, with an R more for each step; and where every dimension
// that is moved goes round there is no border.
//
// Example: roll(x) + reverse(x), of n elements, leads in m iterations to d0 + m; to d0 + u for all u
// of the parity of m in [2 - m, m - 2]; and to n - 1 - d0 + u for all u of the parity of m - 1 in
// [1 - m, m - 1]; all modulo n.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_REFLECTIONS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_REFLECTIONS_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none of the union of timed maps from a leaf to itself; nothing where they are not of
// this kind.
std::optional<OperandIndexingSet> CloseReflected(const OperandIndexingSet& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_REFLECTIONS_H_
