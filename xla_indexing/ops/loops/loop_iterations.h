// All iterations of a while, in one direction: in closed form (ops/loops/closure/loop_closure.h), or
// else whole leaves, all those that are reachable.
#ifndef XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_
#define XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/loops/body/loop_body.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"

namespace xla_indexing::internal {

struct IteratedSets {
  LeafSets sets;
  // Whether they are all of every leaf that they lead to and that the body changes.
  bool are_whole_leaves = false;
};

// From an array of shape `from`, where `start` leads to leaves of the state after all iterations
// (backwards) or before them, to those at the other end.
IteratedSets AllIterations(const LoopBody& body, const LeafSets& start, const Shape& from);

// Every element of the leaves that any number of iterations leads to from there, over-approximate;
// where an iteration leads to other devices, on those too.
LeafSets ReachableLeaves(const LoopBody& body, const LeafSets& start, const Shape& from);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_LOOP_ITERATIONS_H_
