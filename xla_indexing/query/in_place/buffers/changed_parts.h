// Which elements of a result differ from what is in their places, where the result is written into
// the buffer of a parameter: the elements that a kernel working in place has to write.
//
// Mathematics. Operations that only move elements (slices, concatenations, updates, transposes, ..)
// make each element of the result a copy of one element of a parameter, or of one of an instruction
// that computes. Followed from the root, the elements of the result fall into pieces e -> r(e), for
// one instruction each. With place(r) the element of the result that lies where element r of the
// shared parameter lies,
//
//   e is left in place      where its piece leads to the shared parameter and place(r(e)) = e
//   e changes               everywhere else
//
// Where widths change on the way, all of this is about the parts of elements, pieces of one width, and an
// element changes where a part of it does.
//
// A scatter changes, besides what its operand changes, the elements that an update reaches; where it
// just assigns them, but for an update that is the element in that place. A select
// changes what one of its branches changes. The parts may overlap. All of what changes is in them;
// what is in a part that is `certain` does change, whatever the parameters hold, but for values that
// happen to be equal.
//
// Example, dynamic-update-slice(p, u, rt0) of f32[8] and f32[3] in place of p: the elements that
// change are d0 in [0, 7] with d0 - rt0 in [0, 2].
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_CHANGED_PARTS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_CHANGED_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

struct ChangedPart {
  OperandIndexing elements;     // (e) -> (e) on the domain of the elements that change
  std::string why_not_certain;  // empty where it is
};

// A leaf of the root and a leaf of a parameter of one computation.
struct SharedLeaves {
  const HloComputation& computation;
  int64_t output_leaf = 0;
  int64_t parameter = 0;
  int64_t parameter_leaf = 0;

  const Shape& output() const { return computation.root_instruction()->shape().Leaf(output_leaf); }
  const Shape& operand() const {
    return computation.parameters()[parameter]->shape().Leaf(parameter_leaf);
  }
};

// `place` leads from an element of the parameter to those of the output at its place. `indexer` is
// asked for exact maps.
std::vector<ChangedPart> ChangedPartsOf(const SharedLeaves& leaves, const OperandIndexing& place,
                                        HloIndexer* indexer);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_CHANGED_PARTS_H_
