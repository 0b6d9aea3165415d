#include "xla_indexing/hlo/verify/shape_inference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal {
namespace shape_rules {

const ShapeRule& RuleFor(HloOpcode opcode) {
  static const std::array<ShapeRule, kOpcodeCount> rules = [] {
    std::array<ShapeRule, kOpcodeCount> all;
    for (int i = 0; i < kOpcodeCount; ++i) {
      const auto elementwise = static_cast<HloOpcode>(i);
      if (!IsElementwise(elementwise)) continue;
      all[i].infer = OpcodeArity(elementwise) == 1 ? InferUnary : InferBinary;
    }
    for (const auto& family : {ElementwiseRules(), ReinterpretationRules(), MovementRules(),
                               GatherRules(), ReductionRules(), ContractionRules(), NumericRules(),
                               CollectiveRules(), ControlRules()}) {
      for (const OpcodeRule& row : family) all[static_cast<size_t>(row.opcode)] = row.rule;
    }
    return all;
  }();
  return rules[static_cast<size_t>(opcode)];
}

namespace {

absl::Status CheckOperandCount(const HloInstruction& i) {
  const std::optional<int> arity = OpcodeArity(i.opcode());
  if (!arity.has_value() || *arity == i.operand_count()) return absl::OkStatus();
  return Error(i, "takes ", *arity, *arity == 1 ? " operand" : " operands", ", not ",
               i.operand_count());
}

}  // namespace
}  // namespace shape_rules

absl::StatusOr<Shape> InferShape(const HloInstruction& instruction) {
  using shape_rules::Agreement;
  XLA_INDEXING_RETURN_IF_ERROR(shape_rules::CheckOperandCount(instruction));
  const shape_rules::ShapeRule& rule = shape_rules::RuleFor(instruction.opcode());
  if (rule.infer == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(instruction.name(), ": the shape of ", instruction.opcode_name(),
                     " does not follow from its operands and attributes and must be given"));
  }
  const shape_rules::Result inferred = rule.infer(instruction);
  if (!inferred.ok()) return inferred.status();
  if (const absl::Status status = CheckIsValid(**inferred); !status.ok()) {
    return shape_rules::Error(instruction, status.message());
  }
  Shape shape = **inferred;
  if (rule.agreement != Agreement::kSameValue) shape.ClearLayout();
  return shape;
}

absl::Status CheckShape(const HloInstruction& instruction) {
  XLA_INDEXING_RETURN_IF_ERROR(shape_rules::CheckOperandCount(instruction));
  const shape_rules::ShapeRule& rule = shape_rules::RuleFor(instruction.opcode());
  if (rule.check != nullptr) return rule.check(instruction);
  const shape_rules::Result inferred = rule.infer(instruction);
  if (!inferred.ok()) return inferred.status();
  if (shape_rules::ShapesAgree(instruction.shape(), **inferred, rule.agreement)) {
    return absl::OkStatus();
  }
  return shape_rules::MismatchError(instruction, **inferred);
}

absl::Status CheckIsValid(const Shape& shape) {
  if (!shape.IsArray()) {
    for (const Shape& element : shape.tuple_elements()) {
      XLA_INDEXING_RETURN_IF_ERROR(CheckIsValid(element));
    }
    return absl::OkStatus();
  }
  Shape bounded = shape;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.IsUnboundedDimension(d)) {
      bounded.SetDimension(d, 1);
    } else if (shape.dimension(d) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of ", shape_rules::Brief(shape), " is negative"));
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(bounded.ElementCount().status());
  if (!shape.has_layout() ||
      absl::c_equal(shape.layout()->minor_to_major, RowMajorLayout(shape.rank()).minor_to_major)) {
    return absl::OkStatus();
  }
  const auto& minor_to_major = shape.layout()->minor_to_major;
  absl::InlinedVector<bool, 16> seen(shape.rank(), false);
  for (const int64_t d : minor_to_major) {
    if (d < 0 || d >= shape.rank() || seen[d]) {
      return absl::InvalidArgumentError(absl::StrCat("layout ", shape.layout()->ToString(), " of ",
                                                     shape_rules::Brief(shape),
                                                     " does not order its dimensions"));
    }
    seen[d] = true;
  }
  if (static_cast<int64_t>(minor_to_major.size()) == shape.rank()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layout ", shape.layout()->ToString(), " of ", shape_rules::Brief(shape),
                   " orders ", minor_to_major.size(), " dimensions, not ", shape.rank()));
}

int64_t CountLevels(const Shape& shape, int64_t* nodes_left) {
  int64_t levels = 0;
  --*nodes_left;
  for (const Shape& element : shape.tuple_elements()) {
    if (*nodes_left < 0) break;
    levels = std::max(levels, CountLevels(element, nodes_left));
  }
  return levels + 1;
}

}  // namespace xla_indexing::internal
