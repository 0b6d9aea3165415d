// The strongly connected parts of a graph: nodes of one part lead to one another.
//
// Source: Tarjan, Depth-First Search and Linear Graph Algorithms.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_STRONG_PARTS_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_STRONG_PARTS_H_

#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace xla_indexing::internal {

// The parts of nodes 0, .., count - 1, each in ascending order; parts stand behind those that they
// lead to. Takes time in proportion to nodes and edges.
std::vector<std::vector<int>> StrongParts(
    int count, llvm::function_ref<const std::vector<int>&(int node)> next);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_STRONG_PARTS_H_
