// Orders in which the elements of an array are computed: by a nest of loops over its dimensions, or
// by the iterations of a kernel.
//
// Loops. Element f comes before element e where, in the outermost loop in which they differ, f
// comes first: with the smaller index, or with the greater one in a loop that runs downwards.
// Dimensions without a loop are inside of all loops, in any order.
//
// Example: {{1, true}} of f32[2,3] is column 2, column 1, column 0; the rows of each in any order.
//
// Iterations are a map to the elements that they compute: dimensions run in parallel, range
// variables are loops of each, upwards, the outermost first, and those in `together` the elements of
// one access, all read before any is written. Each element belongs to one iteration. A thread mapping
// is one (gpu/threads/thread_mapping.h), with its vector ranges together.
//
// Example: (d0)[s0, s1] -> (d0, s0 * 4 + s1), with s1 together, is a thread for each row, which reads
// and writes four elements at a time.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_LOOP_ORDER_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_LOOP_ORDER_H_

#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

struct DirectedLoop {
  int dimension = 0;
  bool is_descending = false;

  friend bool operator==(const DirectedLoop& a, const DirectedLoop& b) = default;
};

// The outermost loop first; each dimension at most once.
using LoopOrder = std::vector<DirectedLoop>;

struct IterationMap {
  IndexingMap elements;
  llvm::SmallVector<int, 1> together = {};  // range variables
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_LOOP_ORDER_H_
