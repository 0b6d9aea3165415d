// The pieces of a loop's body (ops/internal/loop_memo.h), which of them can follow which, and the
// strongly connected parts of that graph.
//
// A piece can follow another one where that leads to the leaf that it starts from and the two
// composed are not empty; of two parts this is not asked, since there is no way back from the later one.
// Parts stand before those that they lead to.
#ifndef XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_
#define XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_

#include "xla_indexing/ops/internal/loop_memo.h"
#include "xla_indexing/ops/internal/loop_steps.h"

namespace xla_indexing::internal {

LoopGraph MakeLoopGraph(const LoopSteps& body);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_
