// The pieces of a loop's body (ops/loops/body/loop_memo.h), which of them can follow which, and the
// strongly connected parts of that graph.
//
// A piece can follow another one where that leads to the leaf that it starts from and the two
// composed are not empty; of two parts this is not asked, since there is no way back from the later one.
// Parts stand before those that they lead to.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_LOOP_GRAPH_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_LOOP_GRAPH_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"

namespace xla_indexing::internal {

// The pieces from all leaves, where `steps_of` says what an iteration leads to from one.
std::vector<LoopPiece> PiecesOf(const LoopSteps& body,
                                llvm::function_ref<const LeafSets&(int64_t leaf)> steps_of);

LoopGraph MakeLoopGraph(const LoopSteps& body, std::vector<LoopPiece> pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_LOOP_GRAPH_H_
