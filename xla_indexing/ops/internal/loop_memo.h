// What the leaves of a loop's state have in common in one direction, computed once for all of them.
#ifndef XLA_INDEXING_OPS_INTERNAL_LOOP_MEMO_H_
#define XLA_INDEXING_OPS_INTERNAL_LOOP_MEMO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// The maps between one array and the leaves of the loop's state.
using LeafSets = std::map<int64_t, OperandIndexingSet>;

struct LoopMemo {
  // The leaves that the body returns unchanged, and the leaves that it does not.
  std::optional<std::vector<bool>> passes_through;
  std::optional<std::vector<int64_t>> changed;
  // The body's entries of a leaf, and the leaves that they can be about.
  std::map<int64_t, InstructionIndexing> entries;
  std::map<int64_t, std::vector<int64_t>> leaves;
  // Where any number of iterations leads from a leaf; nothing where that is too many maps, or whole
  // leaves, and then why.
  std::map<int64_t, std::optional<LeafSets>> unions;
  std::map<int64_t, std::string> why_whole;
  std::optional<LeafSets> read_by_condition;
  // Whether the body has operations across replicas.
  std::optional<bool> has_devices;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LOOP_MEMO_H_
