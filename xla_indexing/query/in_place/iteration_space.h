// What computes the elements of an array, one after the other: the elements themselves, the
// iterations of a kernel, or the bytes of the buffer.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ITERATION_SPACE_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ITERATION_SPACE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/in_place/in_place_answer.h"
#include "xla_indexing/query/in_place/order_conflicts.h"

namespace xla_indexing::internal {

struct IterationSpace {
  std::vector<CoordinateKind> kinds;
  // From iterations to elements, and back; nullopt if iterations are elements.
  std::optional<OperandIndexing> elements;
  std::optional<OperandIndexing> iteration_of;

  // The element that an iteration computes; empty where a number is too large.
  std::vector<int64_t> ElementAt(absl::Span<const int64_t> coordinates) const;
  // All loops, upwards, in the order of the coordinates.
  LoopOrder Loops() const;
};

// One iteration for each element.
IterationSpace ElementsOf(const Shape& array);

// Errors. InvalidArgument where the map does not lead to elements of the array; Unimplemented where it
// is not known which iteration computes an element.
absl::StatusOr<IterationSpace> IterationsOf(const IterationMap& iterations, const Shape& array);

// Elements narrower than a byte are written with the others of their byte: iterations are (index, the
// row's byte), in loops, and the elements of one byte are together. Unimplemented where rows along the
// most minor dimension are no whole bytes, or the layout is not known.
//
// Example, s4[6,4]: (d0, d1, d2) -> (d0, d1 * 2 + d2), with d2 in [0, 1] together.
absl::StatusOr<IterationSpace> BytesOf(const Shape& array, mlir::MLIRContext* context);

// The loops over all dimensions, upwards, in the order of memory.
LoopOrder OrderOfMemory(const Shape& array);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ITERATION_SPACE_H_
