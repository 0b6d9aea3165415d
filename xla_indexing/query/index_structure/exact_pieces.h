// The exact maps of a gather or scatter, piece by piece.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// The simplified maps of an entry; none where one is not exact.
std::optional<std::vector<OperandIndexing>> ExactPieces(const InstructionIndexing& entries,
                                                        int64_t operand);

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_
