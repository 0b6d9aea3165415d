#include "xla_indexing/ops/answers/indexing_entry.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

void SortEntries(InstructionIndexing* entries) {
  const auto leaves = [](const IndexingEntry& entry) {
    return std::tie(entry.output_leaf, entry.operand, entry.operand_leaf);
  };
  const auto before = [&](const IndexingEntry& a, const IndexingEntry& b) {
    return leaves(a) < leaves(b);
  };
  // Most builders go leaf by leaf.
  if (!absl::c_is_sorted(*entries, before)) absl::c_sort(*entries, before);
}

std::vector<OperandLeaf> UnreadOperandLeaves(absl::Span<const HloInstruction* const> operands,
                                             const InstructionIndexing& entries) {
  std::vector<OperandLeaf> unread;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int64_t leaf_count = operands[i]->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      unread.push_back({static_cast<int64_t>(i), leaf});
    }
  }
  if (entries.empty()) return unread;
  std::set<std::pair<int64_t, int64_t>> read;
  for (const IndexingEntry& entry : entries) read.emplace(entry.operand, entry.operand_leaf);
  std::erase_if(unread, [&](const OperandLeaf& leaf) {
    return read.contains({leaf.operand, leaf.operand_leaf});
  });
  return unread;
}

}  // namespace xla_indexing
