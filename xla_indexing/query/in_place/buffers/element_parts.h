// Elements seen as their parts of one width, where arrays of several widths share bits.
//
// The parts of an array with elements of w * n bits, in units of w, are an array with a further, most
// minor dimension of size n: part k of element e, with index (e, k), has the k-th w bits of e. So the
// parts of two arrays that are reinterpreted as each other correspond one by one: by their places in
// memory for a bitcast, and by their row-major positions for a bitcast-convert.
//
// Example, in units of 8 bits: u8[6,4] has the parts [6,4,1], s32[6] the parts [6,4]; the bitcast-convert
// from one to the other leads from (d0, d1) to (d0, d1, 0).
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ELEMENT_PARTS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ELEMENT_PARTS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

class ElementParts {
 public:
  // In units of the least width that is changed in the computation, or that the two arrays have, where
  // these differ; elements as they are where nothing changes widths, or a layout has tiles.
  ElementParts(const HloComputation& computation, const Shape& output, const Shape& operand);

  bool AreElements() const { return unit_ == 0; }

  // The array of the parts of an array. Nullopt if it has no parts.
  std::optional<Shape> PartsOf(const Shape& array) const;
  // From parts to parts, given a map from elements to elements of one width.
  OperandIndexing OfParts(const OperandIndexing& of_elements, const Shape& array) const;
  // From the parts of a bitcast or bitcast-convert to those of its operand.
  std::optional<OperandIndexing> Reinterpreted(const HloInstruction& instruction,
                                               mlir::MLIRContext* context) const;
  // The elements e -> e of which some part is in the domain of (e, k) -> (e, k).
  OperandIndexing ElementsOf(const OperandIndexing& parts) const;

 private:
  int64_t unit_ = 0;
};

// The map from (d, r) to (f(d), r), for further dimensions r.
OperandIndexing WithMoreDims(const OperandIndexing& indexing, llvm::ArrayRef<Variable> more);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_ELEMENT_PARTS_H_
