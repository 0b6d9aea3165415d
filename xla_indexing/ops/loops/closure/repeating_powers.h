// The law of repetition: maps that do not mention the time, between any leaves, are taken one after
// another until a power C^q is one that was there before.
//
//   C^q = C^(q + k)       from q on they go round, C^(q + r + k * s) = C^(q + r)
//
// Example: a leaf that is reversed, C = reverse and C^2 = id, so that C^3 = C: odd powers are C,
// even ones the identity.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_REPEATING_POWERS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_REPEATING_POWERS_H_

#include <optional>
#include <vector>

#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"

namespace xla_indexing::internal {

// All powers but none of the union of these pieces; nothing where one mentions the time or takes
// more than one iteration, or they do not repeat themselves within kMaxPowers.
std::optional<LoopClosure> CloseRepeating(const LoopSteps& body,
                                          const std::vector<const LoopPiece*>& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_REPEATING_POWERS_H_
