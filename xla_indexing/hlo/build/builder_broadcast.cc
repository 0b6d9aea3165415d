// The part of HloBuilder that makes implicit broadcasts explicit.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/build/broadcast_util.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing {
namespace {

using internal::DescribeOperand;
using internal::DimensionsFrom;

// Whether the one element of a dimension stands for all of a dimension of the result.
bool Grows(const Shape& operand, int64_t dimension, const Shape& result, int64_t result_dimension) {
  return operand.dimension(dimension) == 1 && result.dimension(result_dimension) != 1;
}

// The dimensions of `shape` with these numbers, of element type `type`.
Shape Dimensions(const Shape& shape, absl::Span<const int64_t> dimensions, ElementType type) {
  Shape picked = Shape::Scalar(type);
  for (const int64_t d : dimensions) internal::shape_rules::AppendDimension(shape, d, &picked);
  return picked;
}

// Checks that each dimension of an operand grows or is as long as that of the result. A bound
// cannot become another bound.
absl::Status CheckCanBecome(int64_t number, const Shape& operand, const Shape& result,
                            absl::Span<const int64_t> dimensions) {
  for (int64_t k = 0; k < operand.rank(); ++k) {
    const int64_t d = dimensions[k];
    if (Grows(operand, k, result, d) ||
        internal::shape_rules::SizesAgree(operand.dimension(k), result.dimension(d))) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        DescribeOperand(number, operand), ", dimension ", k,
        ": no reshape and broadcast makes size ", DimensionSize::Of(operand, k).ToString(),
        " the size ", DimensionSize::Of(result, d).ToString(), " of dimension ", d,
        " of the result"));
  }
  return absl::OkStatus();
}

}  // namespace

bool BroadcastsImplicitly(HloOpcode opcode) {
  return opcode == HloOpcode::kMap || (IsElementwise(opcode) && OpcodeArity(opcode) > 1);
}

absl::StatusOr<ImplicitBroadcast> HloBuilder::LineUp(
    absl::Span<const HloInstruction* const> operands,
    absl::Span<const int64_t> broadcast_dimensions) const {
  std::vector<Shape> shapes;
  for (const HloInstruction* operand : operands) shapes.push_back(operand->shape());
  if (options_.rule == BroadcastRule::kXla) return BroadcastLikeXla(shapes, broadcast_dimensions);
  if (broadcast_dimensions.empty()) return BroadcastLikeNumpy(shapes);
  return absl::InvalidArgumentError(
      absl::StrCat("broadcast_dimensions=", internal::shape_rules::Braced(broadcast_dimensions),
                   " are given, and operands are lined up on the right without"));
}

absl::StatusOr<std::vector<const HloInstruction*>> HloBuilder::Broadcast(
    absl::Span<const HloInstruction* const> operands,
    absl::Span<const int64_t> broadcast_dimensions) {
  pending_.clear();
  XLA_INDEXING_RETURN_IF_ERROR(CheckOperands("broadcast", operands));
  absl::StatusOr<Instructions> made = MakeAllExplicit(operands, broadcast_dimensions);
  if (made.ok()) AddPending();
  return made;
}

absl::StatusOr<HloBuilder::Instructions> HloBuilder::MakeAllExplicit(
    absl::Span<const HloInstruction* const> operands,
    absl::Span<const int64_t> broadcast_dimensions) {
  Instructions made;
  const bool is_one_shape = absl::c_all_of(operands, [&](const HloInstruction* operand) {
    return SameDimensions(operand->shape(), operands[0]->shape());
  });
  if (is_one_shape && !operands.empty() && broadcast_dimensions.empty()) {
    made.assign(operands.begin(), operands.end());
    return made;
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const ImplicitBroadcast broadcast,
                                LineUp(operands, broadcast_dimensions));
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::vector<int64_t>& dimensions = broadcast.dimensions[i];
    XLA_INDEXING_RETURN_IF_ERROR(CheckCanBecome(static_cast<int64_t>(i), operands[i]->shape(),
                                                broadcast.result, dimensions));
    XLA_INDEXING_ASSIGN_OR_RETURN(const auto explicit_operand,
                                  MakeExplicit(operands[i], broadcast.result, dimensions));
    made.push_back(explicit_operand);
  }
  return made;
}

absl::StatusOr<const HloInstruction*> HloBuilder::MakeExplicit(
    const HloInstruction* operand, const Shape& result, absl::Span<const int64_t> dimensions) {
  const Shape& shape = operand->shape();
  const ElementType type = shape.element_type();
  const bool is_promoted = options_.style == BroadcastStyle::kPromoted;
  // The dimensions that stay, and which of the result's they are.
  std::vector<int64_t> kept;
  std::vector<int64_t> kept_in_result;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    if (Grows(shape, k, result, dimensions[k])) continue;
    kept.push_back(k);
    kept_in_result.push_back(dimensions[k]);
  }
  absl::StatusOr<const HloInstruction*> value = operand;
  if (static_cast<int64_t>(kept.size()) < shape.rank()) {
    const std::vector<int64_t> all = DimensionsFrom(0, shape.rank());
    if (is_promoted) value = MakeBroadcast(*value, Dimensions(shape, all, type), all);
    if (!value.ok()) return value;
    value = Make(HloOpcode::kReshape, {*value}, {.shape = Dimensions(shape, kept, type)});
    if (!value.ok()) return value;
    if (is_promoted) value = MakeBroadcast(*value, Dimensions(result, dimensions, type), kept);
    if (!value.ok()) return value;
  }
  const absl::Span<const int64_t> present = is_promoted ? dimensions : kept_in_result;
  if (static_cast<int64_t>(present.size()) == result.rank()) return value;
  return MakeBroadcast(*value, internal::shape_rules::WithElementType(result, type), present);
}

absl::StatusOr<const HloInstruction*> HloBuilder::MakeBroadcast(
    const HloInstruction* operand, const Shape& shape, absl::Span<const int64_t> dimensions) {
  return Make(
      HloOpcode::kBroadcast, {operand},
      {.shape = shape, .attributes = {MakeAttribute(AttributeKey::kDimensions, dimensions)}});
}

}  // namespace xla_indexing
