#include "xla_indexing/ops/values/leaf_routes.h"

#include <cstdint>
#include <vector>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LeafSource FollowRoutes(LeafSource source) {
  while (true) {
    // Looks through a tuple, which may have hundreds of elements, without listing them all.
    if (source.instruction->opcode() == HloOpcode::kTuple) {
      int64_t operand = 0;
      const auto leaf_count = [&] {
        return source.instruction->operand(operand)->shape().LeafCount();
      };
      for (; source.leaf >= leaf_count(); ++operand) source.leaf -= leaf_count();
      source.instruction = source.instruction->operand(operand);
      continue;
    }
    const LeafRouter routes = IndexingOfOpcode(source.instruction->opcode()).routes;
    if (routes == nullptr) return source;
    bool has_moved = false;
    for (const LeafRoute& route : routes(*source.instruction)) {
      if (route.output_leaf != source.leaf) continue;
      const HloInstruction* operand = source.instruction->operand(route.operand);
      if (operand->shape().Leaf(route.operand_leaf).dimensions() !=
          source.instruction->shape().Leaf(source.leaf).dimensions()) {
        break;
      }
      source = {operand, route.operand_leaf};
      has_moved = true;
      break;
    }
    if (!has_moved) return source;
  }
}

PlacedValue Followed(PlacedValue value) {
  while (true) {
    value.source = FollowRoutes(value.source);
    const HloInstruction& instruction = *value.source.instruction;
    const bool is_passed = instruction.opcode() == HloOpcode::kParameter &&
                           !value.callers.empty() &&
                           value.callers.back()->inlined_computation() == instruction.parent();
    const HloComputation* called = instruction.inlined_computation();
    if (is_passed) {
      const HloInstruction* caller = value.callers.pop_back_val();
      value.source.instruction = caller->operand(instruction.parameter_number());
    } else if (called != nullptr && called->root_instruction() != nullptr) {
      value.callers.push_back(&instruction);
      value.source.instruction = called->root_instruction();
    } else {
      return value;
    }
  }
}

bool IsPassedThrough(const HloInstruction& loop, int64_t leaf) {
  const LeafSource source = FollowRoutes({loop.while_body()->root_instruction(), leaf});
  return source.instruction->opcode() == HloOpcode::kParameter && source.leaf == leaf;
}

std::vector<bool> LeavesPassedThrough(const HloInstruction& loop) {
  std::vector<bool> passed;
  const auto add_leaves_of = [&](const HloInstruction& value) {
    const int64_t leaf_count = value.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const LeafSource source = FollowRoutes({&value, leaf});
      passed.push_back(source.instruction->opcode() == HloOpcode::kParameter &&
                       source.leaf == static_cast<int64_t>(passed.size()));
    }
  };
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (root.opcode() == HloOpcode::kTuple) {
    for (const HloInstruction* operand : root.operands()) add_leaves_of(*operand);
  } else {
    add_leaves_of(root);
  }
  return passed;
}

}  // namespace xla_indexing::internal
