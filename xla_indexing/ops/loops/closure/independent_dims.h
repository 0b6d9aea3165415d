// The law of independent dimensions: maps from a leaf to itself of which all do the same to some of the
// dimensions, tied to the others by nothing but the time.
//
//   P = T and (Q_1 + .. + Q_n),         P^m = T^m and (Q_1 + .. + Q_n)^m,   P+ = T+ and (Q_1 + .. + Q_n)+
//     T : (t, a) -> (t + c, a'),
//     Q_i : (t, b) -> (t + c, b')         where both lead to one time; c != 0
//
// The times on a way of m iterations are t, t + c, .., t + m * c, whatever else it leads through, so that
// given these times the ways of a and those of b have nothing to do with each other; and the time that
// a way leads to says what m is. T and Q are closed each by itself, by whichever law applies.
//
// Example: row t of a table is computed from the sums of row t - 1 up to each element, from output to
// input (t, d0, d1)[s0] -> (t - 1, d0 - 1, s0) where d0 = t and s0 <= d1. T is (t, d0) -> (t - 1, d0 - 1)
// where d0 = t, and Q is (t, d1)[s0] -> (t - 1, s0) where s0 <= d1, all powers of which are equal but for
// the time.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_INDEPENDENT_DIMS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_INDEPENDENT_DIMS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"

namespace xla_indexing::internal {

// All powers but none of the union of timed maps from a leaf to itself; nothing where all dimensions
// are tied to one another, or T or Q has no closed form. `close` closes maps from leaf 0 of steps to
// itself.
std::optional<OperandIndexingSet> CloseIndependent(
    const LoopSteps& body, int64_t leaf, const OperandIndexingSet& pieces,
    llvm::function_ref<std::optional<OperandIndexingSet>(const LoopSteps& steps,
                                                         const OperandIndexingSet& maps)>
        close);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_INDEPENDENT_DIMS_H_
