// One walk over a computation, and what it has found.
//
// The paths that end at one leaf are an entry: their maps, simplified and without those that say
// nothing more than others do. Where a plain walk has many paths on the way, or many maps at the
// end, the walk joint by joint (fusion/walk/joints.h) is tried as well, and again with more steps
// when the plain walk has taken four times as many. Both find the same elements. The walk by joints is
// the answer where all its maps are exact and no leaf has more than four of them. Otherwise the plain
// walk is, and the question gets the attempt's steps back. More than eight maps of a leaf are united
// (map/union/unite_graphs.h) where four or fewer come of it. Fewer stay: each is a way in which
// elements are read.
//
// Example: `jax.lax.associative_scan` of f32[64], whose levels are joints. The plain walk has more
// than 8 maps in the end, that by joints one, (d0)[s0] -> (s0) with s0 <= d0.
#ifndef XLA_INDEXING_FUSION_WALK_FIND_BY_WALK_H_
#define XLA_INDEXING_FUSION_WALK_FIND_BY_WALK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/fusion/walk/traversal.h"
#include "xla_indexing/fusion/walk/traversal_source.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// What a walk from one leaf found.
struct TraversalResult {
  InstructionIndexing entries;
  int64_t steps = 0;
  // Whether the walk ended before it ran out of steps.
  bool is_whole = true;
};

// Where a walk starts, and how far it may go.
struct WalkStart {
  const HloComputation& computation;
  Direction direction;
  const Shape& array;  // which the maps start from
  OperandLeaf from;    // the leaf that the entries name
  int depth;           // of calls, at which the computation is met
  int64_t max_steps;
  // Whether the walk is Traversal::WalkToEach(); the operand of an entry is then the instruction's
  // position.
  bool is_to_each = false;
};

// Takes a walk, which has only been prepared, to its end.
using WalkTo = llvm::function_ref<absl::Status(Traversal& traversal, const CallFrame& frame,
                                               Traversal::NumberedPaths* end)>;

// Without `walk_by_joints` that is not tried.
absl::StatusOr<TraversalResult> FindByWalk(const WalkStart& start, const FusionOptions& options,
                                           TraversalSource* source, mlir::MLIRContext* context,
                                           WalkTo walk_to, WalkTo walk_by_joints = nullptr);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_FIND_BY_WALK_H_
