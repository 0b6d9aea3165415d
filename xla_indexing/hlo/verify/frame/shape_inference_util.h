// What the rules of shape inference share: error messages, comparisons of shapes and types, checks
// of dimension lists and of called computations. Not for users of the library.

#ifndef XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_UTIL_H_
#define XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_UTIL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/status_macros.h"  // IWYU pragma: export
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"

namespace xla_indexing::internal::shape_rules {

// The text of a shape without layouts, cut off where it is long.
std::string Brief(const Shape& shape);
// `{0,2}`.
std::string Braced(absl::Span<const int64_t> values);
// `add.3: add of f32[2] and f32[3]`: the instruction, its opcode and the shapes of its operands.
std::string Describe(const HloInstruction& i);

// InvalidArgument: `Describe(i)`, a colon and the parts.
template <typename... Parts>
absl::Status Error(const HloInstruction& i, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(Describe(i), ": ", parts...));
}

// The error of an instruction whose shape is not the one that its operands and attributes give.
absl::Status MismatchError(const HloInstruction& i, const Shape& inferred);

// Whether the sizes of two dimensions agree: they are equal, or one of them is unbounded.
bool SizesAgree(int64_t a, int64_t b);
// Whether the shapes have equally many dimensions and their sizes agree.
bool DimensionsAgree(const Shape& a, const Shape& b);
// Whether the types are equal or both floating point.
bool SameTypeIgnoringPrecision(ElementType a, ElementType b);
bool ShapesAgree(const Shape& a, const Shape& b, Agreement agreement);

// The type with more bits of two that differ in precision only.
ElementType HigherPrecision(ElementType a, ElementType b);
// The shape of type `type` that two shapes with dimensions that agree have in common: bounded
// where one of them is, unbounded where both are.
Shape CommonShape(const Shape& a, const Shape& b, ElementType type);
// `shape` with another element type and without layout.
Shape WithElementType(const Shape& shape, ElementType type);
// Puts dimension `dimension` of `from` after the dimensions of `to`.
void AppendDimension(const Shape& from, int64_t dimension, Shape* to);

// Errors unless operand `operand` is an array; unless it is a scalar of an integral type; unless
// all operands are arrays; unless there are operands besides.
absl::Status CheckArray(const HloInstruction& i, int64_t operand);
absl::Status CheckIntegralScalar(const HloInstruction& i, int64_t operand);
absl::Status CheckArrays(const HloInstruction& i);
absl::Status CheckSomeArrays(const HloInstruction& i);
// An error unless `dimensions` are different numbers from 0 to rank - 1. `what` names the list.
absl::Status CheckDimensions(const HloInstruction& i, absl::string_view what,
                             absl::Span<const int64_t> dimensions, int64_t rank);
// An error unless `sizes`, one for each dimension of operand 0, are those of a slice of it.
absl::Status CheckSliceSizes(const HloInstruction& i, absl::string_view what,
                             absl::Span<const int64_t> sizes);
absl::Status CheckAscending(const HloInstruction& i, absl::string_view what,
                            absl::Span<const int64_t> values);
// An error where the attribute is not given, or not in the form that it should have.
absl::StatusOr<absl::Span<const int64_t>> RequireIntegers(const HloInstruction& i,
                                                          AttributeKey key);
absl::StatusOr<int64_t> RequireInteger(const HloInstruction& i, AttributeKey key);
// The one number in the attribute `dimensions`, which must be from 0 to rank - 1.
absl::StatusOr<int64_t> RequireDimension(const HloInstruction& i, int64_t rank);
// The computation of an attribute, which must have a root and, of its parameters, all up to the
// largest number.
absl::StatusOr<const HloComputation*> RequireComputation(const HloInstruction& i, AttributeKey key);

// An error unless `computation` takes parameters of these shapes, sizes and types alike.
absl::Status CheckParameters(const HloInstruction& i, const HloComputation& computation,
                             absl::Span<const Shape* const> shapes);
// An error unless `computation` takes scalars, as many as there are types and of these types, where
// floating point types may be others; kTuple stands for any type.
absl::Status CheckScalarParameters(const HloInstruction& i, const HloComputation& computation,
                                   absl::Span<const ElementType> types);
// The types of the `count` scalars that `computation` yields: one by itself or in a tuple, several
// in a tuple.
absl::StatusOr<absl::InlinedVector<ElementType, 2>> ScalarResults(const HloInstruction& i,
                                                                  const HloComputation& computation,
                                                                  int64_t count);
// Checks a computation that combines `accumulators` (one for each type) with as many values of the
// types `values`, and returns the types of the accumulators that it yields.
absl::StatusOr<absl::InlinedVector<ElementType, 2>> CheckReducer(
    const HloInstruction& i, const HloComputation& reducer,
    absl::Span<const ElementType> accumulators, absl::Span<const ElementType> values);

// The number of positions of a window in a dimension of `size` elements,
//
//   (p - d(window size, window_dilation)) floordiv stride + 1,
//
// or 0 where the window is larger than p. Here p is padding_low + d(size, base_dilation) +
// padding_high, and d(n, b) = (n - 1) * b + 1, or 0 where n is 0.
absl::StatusOr<int64_t> WindowPositions(const HloInstruction& i, int64_t dimension, int64_t size,
                                        const WindowDimension& window);

std::vector<Shape> OperandShapes(const HloInstruction& i);
// The array itself where there is one, otherwise the tuple of all.
Shape OneOrTuple(std::vector<Shape> shapes);

}  // namespace xla_indexing::internal::shape_rules

#endif  // XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_UTIL_H_
