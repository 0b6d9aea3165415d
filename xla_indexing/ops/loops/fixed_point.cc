#include "xla_indexing/ops/loops/fixed_point.h"

#include <cstdint>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/leaf_routes.h"
#include "xla_indexing/ops/values/same_value.h"

namespace xla_indexing::internal {
namespace {

PlacedValue OperandOf(const PlacedValue& of, int64_t operand) {
  return Followed({{of.source.instruction->operand(operand), 0}, of.callers});
}

// Whether it is whether some element of the first operand holds.
bool IsAny(const PlacedValue& value) {
  const HloInstruction& instruction = *value.source.instruction;
  if (instruction.opcode() != HloOpcode::kReduce || instruction.operand_count() != 2) return false;
  const HloInstruction* combiner =
      instruction.to_apply() != nullptr ? instruction.to_apply()->root_instruction() : nullptr;
  if (combiner == nullptr || combiner->opcode() != HloOpcode::kOr ||
      !IsOrderlessCombiner(*combiner)) {
    return false;
  }
  const HloInstruction& initial = *OperandOf(value, 1).source.instruction;
  return initial.opcode() == HloOpcode::kConstant && initial.literal() != nullptr &&
         !initial.literal()->IsElided() && initial.literal()->IntegerAt(0) == 0;
}

}  // namespace

bool EndsAtFixedPoint(const HloInstruction& loop) {
  const HloInstruction* condition = loop.while_condition()->root_instruction();
  const HloInstruction* body = loop.while_body()->root_instruction();
  PlacedValue holds = Followed({{condition, 0}});
  if (!IsAny(holds)) return false;
  while (IsAny(holds)) holds = OperandOf(holds, 0);
  const auto is_own_leaf = [](const PlacedValue& value, int64_t leaf) {
    return value.source.instruction->opcode() == HloOpcode::kParameter && value.callers.empty() &&
           value.source.leaf == leaf;
  };
  const int64_t leaf_count = body->shape().LeafCount();
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    const PlacedValue made = Followed({{body, leaf}});
    if (is_own_leaf(made, leaf)) continue;
    if (made.source.instruction->opcode() != HloOpcode::kSelect ||
        !is_own_leaf(OperandOf(made, 2), leaf)) {
      return false;
    }
    PlacedValue chooses = OperandOf(made, 0);
    while (MovesElements(chooses.source.instruction->opcode()) &&
           chooses.source.instruction->operand_count() == 1) {
      chooses = OperandOf(chooses, 0);
    }
    if (!IsSameFunction(chooses, holds)) return false;
  }
  return true;
}

}  // namespace xla_indexing::internal
