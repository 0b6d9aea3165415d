// Pairs of things of two kinds, each thing in one pair at most, and as many pairs as possible.
//
// Example: edges {{0, 1}, {0}} of two left things and two right ones: left 0 with right 1, and left 1
// with right 0.
//
// Source: H. W. Kuhn, "The Hungarian Method for the Assignment Problem", 1955.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_MATCHING_H_
#define XLA_INDEXING_QUERY_IN_PLACE_MATCHING_H_

#include <vector>

namespace xla_indexing::internal {

// `edges` has the right things, numbers below `num_right`, that each left thing may be paired with.
// The right thing of each left one, or -1.
std::vector<int> MaximumMatching(const std::vector<std::vector<int>>& edges, int num_right);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_MATCHING_H_
