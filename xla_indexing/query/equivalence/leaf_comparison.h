// How two computations compare at one leaf of their results and one or two leaves of parameters.
#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_LEAF_COMPARISON_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_LEAF_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing {

// A pair that only one of the two computations reads.
struct PairOfOne {
  bool is_of_first = false;
  std::vector<int64_t> output_element;
  std::vector<int64_t> operand_element;
  std::optional<std::vector<int64_t>> other_element;  // what it meets, where that is compared
  // The binding of each runtime variable, and its value in this pair.
  std::vector<std::pair<std::string, int64_t>> runtime_values;
  bool is_least = false;  // No pair before it tells the two apart.
};

// What is read of a parameter, or which elements of it meet elements of another one.
struct LeafComparison {
  int64_t output_leaf = 0;
  int64_t parameter = 0;
  int64_t parameter_leaf = 0;
  std::optional<OperandLeaf> other;  // the other parameter, or the same one
  Answer same = Answer::kUndecided;
  std::optional<PairOfOne> difference;  // where they are not the same; none if none was found
  std::string reason;                   // why it is not decided
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_LEAF_COMPARISON_H_
