// Shape rules of operations that put elements at other places: transpose, reverse, slice and its
// dynamic kin, pad, concatenate.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

// The start indices of a dynamic slice in an array of `rank` dimensions, operands from `first` on:
// a scalar for each dimension, or one vector of them.
absl::Status CheckStartIndices(const HloInstruction& i, int64_t first, int64_t rank) {
  const int64_t count = i.operand_count() - first;
  if (count == 1 && i.operand(first)->shape().IsArray() && i.operand(first)->shape().rank() == 1) {
    const Shape& indices = i.operand(first)->shape();
    if (!IsIntegral(indices.element_type()) || !SizesAgree(indices.dimension(0), rank)) {
      return Error(i, "operand ", first, " does not hold ", rank, " integers");
    }
    return absl::OkStatus();
  }
  if (count != rank) {
    return Error(i, "there are ", count, " start indices for ", rank, " dimensions");
  }
  for (int64_t operand = first; operand < i.operand_count(); ++operand) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckIntegralScalar(i, operand));
    if (i.operand(operand)->shape().element_type() != i.operand(first)->shape().element_type()) {
      return Error(i, "start indices differ in type");
    }
  }
  return absl::OkStatus();
}

// Checks that an attribute's list has one element for each dimension of the operand.
absl::Status CheckOneEach(const HloInstruction& i, const char* what, size_t count) {
  const int64_t rank = i.operand(0)->shape().rank();
  if (static_cast<int64_t>(count) == rank) return absl::OkStatus();
  return Error(i, what, " is given for ", count, " dimensions of an operand of rank ", rank);
}

Result InferTranspose(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto permutation,
                                RequireIntegers(i, AttributeKey::kDimensions));
  XLA_INDEXING_RETURN_IF_ERROR(CheckOneEach(i, "dimensions", permutation.size()));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", permutation, operand.rank()));
  Shape result = Shape::Scalar(operand.element_type());
  for (int64_t d : permutation) AppendDimension(operand, d, &result);
  return result;
}

Result InferReverse(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto dimensions,
                                RequireIntegers(i, AttributeKey::kDimensions));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", dimensions, operand.rank()));
  return &operand;
}

Result InferSlice(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  const absl::Span<const SliceRange> ranges = i.slice();
  XLA_INDEXING_RETURN_IF_ERROR(CheckOneEach(i, "slice", ranges.size()));
  Shape result = Shape::Scalar(operand.element_type());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto& [start, limit, stride] = ranges[d];
    if (start < 0 || limit < start || stride < 1 ||
        (!operand.IsUnboundedDimension(d) && limit > operand.dimension(d))) {
      return Error(i, "slice [", start, ":", limit, ":", stride, "] of dimension ", d,
                   " does not hold 0 <= start <= limit <= size and stride >= 1");
    }
    result.AddDimension(CeilDiv(limit - start, stride), operand.IsDynamicDimension(d));
  }
  return result;
}

Result InferDynamicSlice(const HloInstruction& i) {
  if (i.operand_count() == 0) return Error(i, "takes an operand and start indices");
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_RETURN_IF_ERROR(CheckStartIndices(i, 1, operand.rank()));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto sizes,
                                RequireIntegers(i, AttributeKey::kDynamicSliceSizes));
  XLA_INDEXING_RETURN_IF_ERROR(CheckOneEach(i, "dynamic_slice_sizes", sizes.size()));
  XLA_INDEXING_RETURN_IF_ERROR(CheckSliceSizes(i, "dynamic_slice_sizes", sizes));
  return Shape::Array(operand.element_type(), sizes);
}

Result InferDynamicUpdateSlice(const HloInstruction& i) {
  if (i.operand_count() < 2) return Error(i, "takes an operand, an update and start indices");
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 1));
  const Shape& operand = i.operand(0)->shape();
  const Shape& update = i.operand(1)->shape();
  XLA_INDEXING_RETURN_IF_ERROR(CheckStartIndices(i, 2, operand.rank()));
  if (!SameTypeIgnoringPrecision(operand.element_type(), update.element_type())) {
    return Error(i, "element types differ");
  }
  if (operand.rank() != update.rank()) return Error(i, "ranks differ");
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!operand.IsUnboundedDimension(d) && update.dimension(d) > operand.dimension(d)) {
      return Error(i, "the update is larger than the operand in dimension ", d);
    }
  }
  return &operand;
}

Result InferPad(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(0)->shape();
  const Shape& value = i.operand(1)->shape();
  if (!value.IsScalar()) return Error(i, "the padding value is not a scalar");
  if (!SameTypeIgnoringPrecision(operand.element_type(), value.element_type())) {
    return Error(i, "element types differ");
  }
  const absl::Span<const PaddingDimension> padding = i.padding();
  XLA_INDEXING_RETURN_IF_ERROR(CheckOneEach(i, "padding", padding.size()));
  Shape result = Shape::Scalar(HigherPrecision(operand.element_type(), value.element_type()));
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto& [low, high, interior] = padding[d];
    if (interior < 0) {
      return Error(i, "interior padding ", interior, " of dimension ", d, " is negative");
    }
    if (operand.IsUnboundedDimension(d)) {
      AppendDimension(operand, d, &result);
      continue;
    }
    const int64_t size = operand.dimension(d);
    const Int128 padded = Int128{size} + (std::max<Int128>(size, 1) - 1) * interior + low + high;
    const std::optional<int64_t> narrowed = NarrowToInt64(padded);
    if (!narrowed.has_value()) {
      return Error(i, "the padded size of dimension ", d, " does not fit 64 bits");
    }
    if (*narrowed < 0) {
      return Error(i, "padding ", low, "_", high, "_", interior, " gives dimension ", d,
                   " the size ", *narrowed);
    }
    result.AddDimension(*narrowed, operand.IsDynamicDimension(d));
  }
  return result;
}

Result InferConcatenate(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSomeArrays(i));
  const Shape& first = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension, RequireDimension(i, first.rank()));
  Shape result = WithElementType(first, first.element_type());
  for (int64_t k = 1; k < i.operand_count(); ++k) {
    const Shape& shape = i.operand(k)->shape();
    if (!SameTypeIgnoringPrecision(first.element_type(), shape.element_type())) {
      return Error(i, "operands 0 and ", k, " differ in element type");
    }
    if (shape.rank() != first.rank()) return Error(i, "operands 0 and ", k, " differ in rank");
    result.SetElementType(HigherPrecision(result.element_type(), shape.element_type()));
    for (int64_t d = 0; d < first.rank(); ++d) {
      if (d != dimension) {
        if (!SizesAgree(result.dimension(d), shape.dimension(d))) {
          return Error(i, "operands 0 and ", k, " differ in dimension ", d);
        }
        continue;
      }
      if (result.IsUnboundedDimension(d)) continue;
      if (shape.IsUnboundedDimension(d)) {
        result.SetDimension(d, Shape::kUnboundedSize, /*is_dynamic=*/true);
        continue;
      }
      const std::optional<int64_t> sum = CheckedAdd(result.dimension(d), shape.dimension(d));
      if (!sum.has_value()) {
        return Error(i, "the size of dimension ", d, " does not fit 64 bits");
      }
      result.SetDimension(d, *sum, result.IsDynamicDimension(d) || shape.IsDynamicDimension(d));
    }
  }
  return result;
}

constexpr OpcodeRule kMovementRules[] = {
    {HloOpcode::kTranspose, {.infer = InferTranspose}},
    {HloOpcode::kReverse, {.infer = InferReverse}},
    {HloOpcode::kSlice, {.infer = InferSlice}},
    {HloOpcode::kDynamicSlice, {.infer = InferDynamicSlice}},
    {HloOpcode::kDynamicUpdateSlice, {.infer = InferDynamicUpdateSlice}},
    {HloOpcode::kPad, {.infer = InferPad}},
    {HloOpcode::kConcatenate, {.infer = InferConcatenate}},
};

}  // namespace

OpcodeRules MovementRules() { return kMovementRules; }

}  // namespace xla_indexing::internal::shape_rules
