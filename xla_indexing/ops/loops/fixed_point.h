// Loops that run until nothing changes any more.
//
// Law. Let the condition of a while be that a predicate p of its state holds for some element, and let its
// body return every leaf as it is, or as select(q, .., leaf), where q is made of elements of the same p. Then
// no iteration changes the state any more once the condition fails. What the loop yields is what any greater
// number of iterations would, and what p is computed from matters where p chooses alone.
//
// jax.vmap makes such loops of those whose number of iterations differs from row to row.
//
// Example: while (any(x < 10)) x = select(x < 10, x * 2, x).
#ifndef XLA_INDEXING_OPS_LOOPS_FIXED_POINT_H_
#define XLA_INDEXING_OPS_LOOPS_FIXED_POINT_H_

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

// False where that is not seen: p is the same in the condition and the body if the same operations make it.
bool EndsAtFixedPoint(const HloInstruction& loop);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_FIXED_POINT_H_
