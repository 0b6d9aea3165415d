// A select between a gather and one value (query/index_structure/index_structure.h).
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_FILLED_GATHER_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_FILLED_GATHER_H_

#include <optional>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {

// A select between a gather and one value: where there are elements for out of bounds indices.
struct FilledGather {
  const HloInstruction* gather = nullptr;
  // The gather or a reshape or transpose of it.
  const HloInstruction* moved = nullptr;
  const HloInstruction* fill = nullptr;
  bool is_gather_where_true = true;
};

// Whether all elements of an array are one scalar of the program.
bool HasOneValue(const HloInstruction& array);

std::optional<FilledGather> FilledGatherOf(const HloInstruction& select);

// The maps from what is moved of a gather to the gather's operand, with the indices that this is
// computed from; none where one is not exact.
std::optional<std::vector<OperandIndexing>> MovedMaps(const FilledGather& filled,
                                                      HloIndexer* indexer);

// Fills in all but `sorted` and `unique`.
void RecogniseFilledGather(const HloInstruction& select, const FilledGather& filled,
                           const std::vector<OperandIndexing>& maps, mlir::MLIRContext* context,
                           StepBudget* budget, IndexStructure* structure);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_FILLED_GATHER_H_
