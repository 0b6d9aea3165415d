#include "xla_indexing/ops/indexing_entry.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/instruction.h"

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
  std::vector<std::vector<bool>> is_read(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) is_read[i].resize(operands[i]->shape().LeafCount());
  for (const IndexingEntry& entry : entries) is_read[entry.operand][entry.operand_leaf] = true;
  std::vector<OperandLeaf> unread;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t leaf = 0; leaf < is_read[i].size(); ++leaf) {
      if (!is_read[i][leaf]) {
        unread.push_back({static_cast<int64_t>(i), static_cast<int64_t>(leaf)});
      }
    }
  }
  return unread;
}

}  // namespace xla_indexing
