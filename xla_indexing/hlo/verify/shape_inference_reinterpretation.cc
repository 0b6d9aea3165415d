// Shape rules of operations that give the same elements or bits another shape (reshape, bitcast,
// broadcast, ...), and of arrays that come from nothing (iota, constant).
//
// The target shape is not determined by the operand: it must be given, and is checked against it.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

absl::Status CheckTargetIsArray(const HloInstruction& i) {
  if (i.shape().IsArray()) return absl::OkStatus();
  return Error(i, "the result ", Brief(i.shape()), " is not an array");
}

absl::Status CheckTypeKept(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  XLA_INDEXING_RETURN_IF_ERROR(CheckTargetIsArray(i));
  const ElementType type = i.operand(0)->shape().element_type();
  if (SameTypeIgnoringPrecision(i.shape().element_type(), type)) return absl::OkStatus();
  return MismatchError(i, WithElementType(i.shape(), type));
}

// The sizes of the result are the operation's own, and no operand can have them at run time.
absl::Status CheckBounded(const HloInstruction& i) {
  if (!i.shape().HasUnboundedDimension()) return absl::OkStatus();
  return Error(i, "the result ", Brief(i.shape()), " has a size without bound");
}

// The operand and the result hold the same number of elements of the same type, but for its
// precision.
absl::Status CheckElementsKept(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTypeKept(i));
  const Shape& operand = i.operand(0)->shape();
  if (operand.HasUnboundedDimension() || i.shape().HasUnboundedDimension()) {
    return absl::OkStatus();
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t before, operand.ElementCount());
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t after, i.shape().ElementCount());
  if (before == after) return absl::OkStatus();
  return Error(i, "the operand has ", before, " elements and the result ", Brief(i.shape()),
               " has ", after);
}

bool IsTiled(const Shape& shape) { return shape.has_layout() && !shape.layout()->tiles.empty(); }

// Whether buffers of two arrays have equal sizes, or end in different padding behind equal sizes up
// to the last element. So they may where the size of one is not known: without a layout, or with
// one that says more than hlo/memory/physical_layout.h takes.
bool BuffersMayAgree(const Shape& a, const Shape& b) {
  if (!a.has_layout() || !b.has_layout()) return true;
  const absl::StatusOr<PhysicalLayout> of_a = PhysicalLayoutOf(a);
  const absl::StatusOr<PhysicalLayout> of_b = PhysicalLayoutOf(b);
  if (!of_a.ok() || !of_b.ok() || of_a->BufferBytes() == of_b->BufferBytes()) return true;
  const auto bits_to_last = [](const Shape& array, const PhysicalLayout& layout) {
    DimensionVector last(array.dimensions().begin(), array.dimensions().end());
    for (int64_t& index : last) --index;
    return (Int128{PositionOf(layout, last)} + 1) * layout.width;
  };
  return of_a->positions > 0 && of_b->positions > 0 &&
         bits_to_last(a, *of_a) == bits_to_last(b, *of_b);
}

absl::Status CheckReshape(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckElementsKept(i));
  return CheckBounded(i);
}

absl::Status CheckDynamicReshape(const HloInstruction& i) {
  if (i.operand_count() == 0) return Error(i, "takes an operand and a size for each dimension");
  XLA_INDEXING_RETURN_IF_ERROR(CheckElementsKept(i));
  if (i.operand_count() - 1 != i.shape().rank()) {
    return Error(i, i.operand_count() - 1, " sizes are given for the ", i.shape().rank(),
                 " dimensions of ", Brief(i.shape()));
  }
  for (int64_t operand = 1; operand < i.operand_count(); ++operand) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckIntegralScalar(i, operand));
  }
  return absl::OkStatus();
}

absl::Status CheckBitcast(const HloInstruction& i) {
  const Shape& operand = i.operand(0)->shape();
  if (!operand.IsArray() || !i.shape().IsArray()) {
    if (ShapesAgree(i.shape(), operand, Agreement::kExact)) return absl::OkStatus();
    return MismatchError(i, operand);
  }
  if (operand.HasUnboundedDimension() || i.shape().HasUnboundedDimension()) {
    return absl::OkStatus();
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t before, operand.ElementCount());
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t after, i.shape().ElementCount());
  if (!IsTiled(operand) && !IsTiled(i.shape())) {
    if (Int128{before} * BitsOfElement(operand) == Int128{after} * BitsOfElement(i.shape())) {
      return absl::OkStatus();
    }
    return Error(i, "the operand and the result ", Brief(i.shape()), " differ in size");
  }
  if (BuffersMayAgree(operand, i.shape())) return absl::OkStatus();
  return Error(i, "the buffers of the operand ", operand.ToString(), " and of the result ",
               i.shape().ToString(), " differ in size");
}

absl::Status CheckBitcastConvert(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  XLA_INDEXING_RETURN_IF_ERROR(CheckTargetIsArray(i));
  const Shape& operand = i.operand(0)->shape();
  const ElementType type = i.shape().element_type();
  if (IsComplex(type) != IsComplex(operand.element_type())) {
    return Error(i, "a complex type is converted only to a complex type, not to ",
                 ElementTypeName(type));
  }
  // Both are powers of two.
  const int from = StorageBitWidth(operand.element_type());
  const int to = StorageBitWidth(type);
  if (from < to && (operand.rank() == 0 || !SizesAgree(operand.dimensions().back(), to / from))) {
    return Error(i, "the last dimension should have size ", to / from, " to make elements of ", to,
                 " bits");
  }
  const int64_t kept = operand.rank() - (from < to ? 1 : 0);
  Shape expected = Shape::Scalar(type);
  for (int64_t d = 0; d < kept; ++d) AppendDimension(operand, d, &expected);
  if (from > to) expected.AddDimension(from / to);
  if (ShapesAgree(i.shape(), expected, Agreement::kExact)) return absl::OkStatus();
  return MismatchError(i, expected);
}

absl::Status CheckBroadcast(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTypeKept(i));
  const Shape& operand = i.operand(0)->shape();
  const absl::Span<const int64_t> dimensions = i.dimensions();
  if (static_cast<int64_t>(dimensions.size()) != operand.rank()) {
    return Error(i, "dimensions=", Braced(dimensions), " names ", dimensions.size(),
                 " dimensions for an operand of rank ", operand.rank());
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", dimensions, i.shape().rank()));
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (!SizesAgree(operand.dimension(d), i.shape().dimension(dimensions[d]))) {
      return Error(i, "dimension ", d, " of the operand and dimension ", dimensions[d],
                   " of the result ", Brief(i.shape()), " differ in size");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIota(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTargetIsArray(i));
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension,
                                RequireInteger(i, AttributeKey::kIotaDimension));
  if (IsPred(i.shape().element_type())) return Error(i, "not defined for pred");
  XLA_INDEXING_RETURN_IF_ERROR(CheckBounded(i));
  return CheckDimensions(i, "iota_dimension", {dimension}, i.shape().rank());
}

Result InferConstant(const HloInstruction& i) {
  const Literal* literal = i.literal();
  if (literal == nullptr) return Error(i, "there is no value");
  if (i.has_shape()) XLA_INDEXING_RETURN_IF_ERROR(CheckBounded(i));
  return &literal->shape();
}

Result InferGetDimensionSize(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  XLA_INDEXING_RETURN_IF_ERROR(RequireDimension(i, i.operand(0)->shape().rank()).status());
  return Shape::Scalar(ElementType::kS32);
}

Result InferSetDimensionSize(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension, RequireDimension(i, operand.rank()));
  XLA_INDEXING_RETURN_IF_ERROR(CheckIntegralScalar(i, 1));
  Shape result = WithElementType(operand, operand.element_type());
  result.SetDimension(dimension, operand.dimension(dimension), /*is_dynamic=*/true);
  return result;
}

constexpr OpcodeRule kReinterpretationRules[] = {
    {HloOpcode::kReshape, {.check = CheckReshape}},
    {HloOpcode::kDynamicReshape, {.check = CheckDynamicReshape}},
    {HloOpcode::kBitcast, {.check = CheckBitcast}},
    {HloOpcode::kBitcastConvert, {.check = CheckBitcastConvert}},
    {HloOpcode::kBroadcast, {.check = CheckBroadcast}},
    {HloOpcode::kIota, {.check = CheckIota}},
    {HloOpcode::kConstant, {.infer = InferConstant, .agreement = Agreement::kSameValue}},
    {HloOpcode::kGetDimensionSize, {.infer = InferGetDimensionSize}},
    {HloOpcode::kSetDimensionSize, {.infer = InferSetDimensionSize}},
};

}  // namespace

OpcodeRules ReinterpretationRules() { return kReinterpretationRules; }

}  // namespace xla_indexing::internal::shape_rules
