// Where the paths of a walk over a computation meet and part again.
//
// Mathematics. A *joint* is an instruction that a walk reaches in several ways and leaves in
// several: it has an array, several users, and several operands that anything is computed from. A
// walk that reaches a joint in m ways and leaves it in n has m * n paths, and m * n * k past the
// next one. Composition distributes over unions: with A the union of the maps to the joint and B that
// of the maps from there, the union of all m * n compositions is that of A with B. So a walk that
// comes from joint to joint (Traversal::WalkByJoints) composes unions, which are often one map.
//
// Example: `jax.lax.associative_scan` over n elements has log2(n) levels. Each tells odd elements
// from even ones, so that a plain walk finds up to 2^levels maps. What each level leads to is one
// map of what it scans, (d0)[s0] -> (s0) with s0 <= d0.
#ifndef XLA_INDEXING_FUSION_WALK_JOINTS_H_
#define XLA_INDEXING_FUSION_WALK_JOINTS_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// Whether nothing is computed from: a constant, an iota.
bool LeadsNowhere(const HloInstruction& instruction);

// Whether the computation has a joint from which a walk reaches another one.
bool JointsLeadToJoints(const HloComputation& computation);

// The positions of the joints that a walk reaches, in the order in which it reaches them. From
// output to input it starts from the root, otherwise from the parameters with these numbers.
std::vector<int64_t> JointsOnTheWay(const HloComputation& computation, Direction direction,
                                    llvm::ArrayRef<int64_t> parameters);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_JOINTS_H_
