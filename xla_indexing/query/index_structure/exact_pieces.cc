#include "xla_indexing/query/index_structure/exact_pieces.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {
std::optional<std::vector<OperandIndexing>> ExactPieces(const InstructionIndexing& entries,
                                                        int64_t operand) {
  std::vector<OperandIndexing> pieces;
  for (const IndexingEntry& entry : entries) {
    if (entry.operand != operand) continue;
    for (OperandIndexing map : entry.indexing) {
      if (!map.IsExact() || map.replica_map() != nullptr) return std::nullopt;
      map.Simplify();
      if (!map.IsKnownEmpty()) pieces.push_back(std::move(map));
    }
  }
  return pieces;
}

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces) {
  return absl::c_any_of(pieces,
                        [](const OperandIndexing& piece) { return !piece.bindings().empty(); });
}

}  // namespace xla_indexing::internal
