// The exact maps of a gather or scatter, piece by piece, and whether they name elements only once.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {

// The simplified maps of an entry; none where one is not exact.
std::optional<std::vector<OperandIndexing>> ExactPieces(const InstructionIndexing& entries,
                                                        int64_t operand);

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces);

// Whether no two updates go to one element, where the pieces are maps from updates to elements.
IndexProperty UniquenessOf(const std::vector<OperandIndexing>& pieces, StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_EXACT_PIECES_H_
