// An order in which the elements of an array are computed: by a nest of loops over its dimensions.
//
// Element f comes before element e where, in the outermost loop in which they differ, f comes first:
// with the smaller index, or with the greater one in a loop that runs downwards. Dimensions without
// a loop are inside of all loops, in any order.
//
// Example: {{1, true}} of f32[2,3] is column 2, column 1, column 0; the rows of each in any order.
#ifndef XLA_INDEXING_QUERY_LOOP_ORDER_H_
#define XLA_INDEXING_QUERY_LOOP_ORDER_H_

#include <vector>

namespace xla_indexing {

struct DirectedLoop {
  int dimension = 0;
  bool is_descending = false;

  friend bool operator==(const DirectedLoop& a, const DirectedLoop& b) = default;
};

// The outermost loop first; each dimension at most once.
using LoopOrder = std::vector<DirectedLoop>;

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_LOOP_ORDER_H_
