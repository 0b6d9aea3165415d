// The pieces of a loop's body (ops/internal/loop_memo.h), which of them can follow which, and the
// strongly connected parts of that graph.
//
// A piece can follow another one where that leads to the leaf that it starts from, and the two
// composed are not empty. Parts stand before those that they lead to.
//
// Source: Tarjan, Depth-First Search and Linear Graph Algorithms.
#ifndef XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_
#define XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/internal/loop_body.h"
#include "xla_indexing/ops/internal/loop_memo.h"

namespace xla_indexing::internal {

// The pieces from all leaves, where `steps_of` says what an iteration leads to from one.
std::vector<LoopPiece> PiecesOf(const LoopBody& body,
                                llvm::function_ref<const LeafSets&(int64_t leaf)> steps_of);

LoopGraph MakeLoopGraph(std::vector<LoopPiece> pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LOOP_GRAPH_H_
