// What a gather is whose maps are known (query/index_structure/index_structure.h): the boxes that its maps are, and
// their names.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_GATHER_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_GATHER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {

// What the maps of an instruction are made of.
struct Boxes {
  std::vector<MovedBox> boxes;
  std::string why_not;  // empty where all maps are boxes
};

Boxes BoxesOf(const std::vector<OperandIndexing>& maps, const Shape& operand,
              Outside outside = Outside::kNever);

bool HasRuntimeStart(const MovedBox& box);

bool CoversAll(const MovedBox& box, const std::vector<int64_t>& sizes);

std::vector<int64_t> SizesOfShape(const Shape& shape);

// In one line.
std::string ReasonOf(const std::vector<OperandIndexing>& maps);

// The boxes that make up an array of these sizes, as it is or with its dimensions in digits.
struct Assembly {
  MovedPieces pieces;
  std::string why_not;
  bool is_in_digits = false;
};

// Puts the boxes of the maps together to a result of these sizes; `why_not` says why it cannot.
Assembly AssemblyOf(const std::vector<OperandIndexing>& maps, const Shape& operand,
                    const std::vector<int64_t>& sizes, bool has_fill);

// Says what an array made up of boxes, and perhaps a fill, is.
void NameAssembly(Assembly assembly, const Shape& operand, IndexStructure* structure);

// Fills in form, name, reason and replacement.
void RecogniseGather(const HloInstruction& gather, const std::vector<OperandIndexing>& maps,
                     IndexStructure* structure);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_RECOGNISE_GATHER_H_
