// Leaves that operations and the bodies of loops pass on as they are.
//
// Example: of a loop whose body returns `tuple(i + 1, x)` for its state `(i, x)`, leaf 1 is passed through.
#ifndef XLA_INDEXING_OPS_VALUES_LEAF_ROUTES_H_
#define XLA_INDEXING_OPS_VALUES_LEAF_ROUTES_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"

namespace xla_indexing::internal {

// Where the leaf comes from through operations that pass whole leaves on.
LeafSource FollowRoutes(LeafSource source);

// A leaf of an instruction and the calls that lead to the computation that it is in, the outermost first.
struct PlacedValue {
  LeafSource source;
  llvm::SmallVector<const HloInstruction*, 2> callers = {};
};

// Where a value comes from through operations that pass it on, out of these calls and into others.
PlacedValue Followed(PlacedValue value);

// Whether the body of a while returns a leaf of its state unchanged.
bool IsPassedThrough(const HloInstruction& loop, int64_t leaf);
// The same for every leaf.
std::vector<bool> LeavesPassedThrough(const HloInstruction& loop);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_LEAF_ROUTES_H_
