// The leaves of a while's state that its condition reads wholly, from some iteration on.
//
// Mathematics. The condition is evaluated at the times 0, .., n, where n is the number of iterations,
// and every leaf that the body changes depends on all that it reads (ops/loops/while.cc). Let the
// condition at time k read all of a leaf j of what the loop begins with, by exact maps, and at the
// times before nothing of it. Then of n iterations every changed leaf reads
//
//   all of j              where n >= k
//   what n < k iterations lead to, where n < k; for k = 1 that is nothing but j itself, of j
//
// and whatever else the iterations do to j makes no difference. So neither the body's maps of the
// changed leaves nor their closure need be known: one pass over the body, from all elements of all
// leaves that the condition reads wholly, finds the leaves with k = 1.
//
// Example: `while (any(t != end)) t[i++] = f(t, w)`. The condition reads all of t, and f all of the
// weights w for any element of t: after an iteration t and i depend on all of w, and on all of t
// whether there was one or not.
#ifndef XLA_INDEXING_OPS_LOOPS_WHOLE_LEAVES_H_
#define XLA_INDEXING_OPS_LOOPS_WHOLE_LEAVES_H_

#include <cstdint>
#include <map>
#include <optional>

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/body/loop_body.h"

namespace xla_indexing::internal {

// The leaves that the condition reads wholly, with k, 0 or 1. Empty if the number of iterations is
// known, which then depends on what counts only, or if the loop reads other devices, which read
// them too.
const std::map<int64_t, int64_t>& WholeLeavesOf(const LoopBody& body);

// The maps from `from` to `to`, one of which is such a leaf, of which the condition reads all at time
// k, and the other one, perhaps itself, a leaf that the body changes.
OperandIndexingSet ThroughCondition(const LoopBody& body, int64_t from, int64_t to, int64_t k);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_WHOLE_LEAVES_H_
