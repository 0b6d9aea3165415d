// What a gather or a scatter of one array is whose maps are known (query/index_structure/index_structure.h): the boxes
// that its maps are, and their names.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_H_

#include <string>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {

// The name of a scatter that replaces one box.
std::string NameOfUpdate(const MovedBox& box);

// Fill in form, name, reason and replacement; of a scatter, uniqueness is known.
void RecogniseGather(const HloInstruction& gather, const std::vector<OperandIndexing>& maps,
                     IndexStructure* structure);
void RecogniseScatter(const HloInstruction& scatter, const std::vector<OperandIndexing>& maps,
                      IndexStructure* structure);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_H_
