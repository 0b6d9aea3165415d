// Where the elements of two arrays meet that lie in one buffer.
//
// Mathematics. Both arrays begin at the first byte of the buffer. Element e of an array has the bits
// [position(e) * width, (position(e) + 1) * width) of its layout (hlo/memory/physical_layout.h);
// two elements share a place where they have a bit in common. So the elements of one at the places of
// the elements of the other are those of a bitcast.
//
// Example: element (i, j) of f32[2,3] shares its place with element (j, i) of f32[3,2]{0,1}, and
// element i of s32[6] with the elements 4i to 4i + 3 of u8[24].
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_BUFFER_PLACES_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_BUFFER_PLACES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// From an element of an array with the shape `from` to those of one with the shape `to` at its place;
// not exact where the layouts are not known. Errors: those of fusion/hlo_indexer.h.
absl::StatusOr<OperandIndexing> PlacesIn(const Shape& from, const Shape& to,
                                         mlir::MLIRContext* context);

// Whether each element of an array of one shape has the place of exactly one of the other, as far as
// layouts are known.
bool FillEqualPlaces(const Shape& a, const Shape& b);

// Why an output cannot lie in the buffer of an operand, whatever is read: it is in another memory space,
// or has more bytes. Empty where it can.
std::string WhyNotOneBuffer(const Shape& output, const Shape& operand);
// The same of memory spaces alone.
std::string WhyOtherMemory(const Shape& output, const Shape& operand);

// The first byte that an element of each of two arrays have in common, for elements that share a
// place; nullopt if a layout is not known.
std::optional<int64_t> FirstSharedByte(const Shape& a, absl::Span<const int64_t> element_of_a,
                                       const Shape& b, absl::Span<const int64_t> element_of_b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFERS_BUFFER_PLACES_H_
