// What a scatter is whose maps are known (query/index_structure/index_structure.h).
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_SCATTER_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_SCATTER_H_

#include <string>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {

// Whether a scatter of one array puts its updates in place of what is there.
bool Replaces(const HloInstruction& scatter);

// The name of a scatter that replaces one box.
std::string NameOfUpdate(const MovedBox& box);

// Fills in form, name, reason and replacement; uniqueness is known.
void RecogniseScatter(const HloInstruction& scatter, const std::vector<OperandIndexing>& maps,
                      IndexStructure* structure);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_SCATTER_H_
