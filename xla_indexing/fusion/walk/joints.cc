#include "xla_indexing/fusion/walk/joints.h"

#include "xla_indexing/base/engines.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

// Whether a walk reaches the instruction in several ways and leaves it in several, from an array.
bool IsJoint(const HloInstruction& instruction) {
  if (!instruction.shape().IsArray() || instruction.uses().size() < 2) return false;
  int64_t operands = 0;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    if (!LeadsNowhere(*instruction.operand(i))) ++operands;
  }
  return operands > 1;
}

}  // namespace

bool LeadsNowhere(const HloInstruction& instruction) {
  return instruction.operand_count() == 0 && instruction.opcode() != HloOpcode::kParameter;
}

bool JointsLeadToJoints(const HloComputation& computation) {
  if (IsOff(Engine::kJoints)) return false;
  // Whether each instruction is a joint or is computed from one.
  std::vector<bool> is_after_joint(computation.instructions().size());
  for (const HloInstruction* instruction : computation.instructions()) {
    bool is_after = false;
    for (int64_t i = 0; i < instruction->operand_count() && !is_after; ++i) {
      is_after = is_after_joint[instruction->operand(i)->index_in_computation()];
    }
    const bool is_joint = IsJoint(*instruction);
    if (is_after && is_joint) return true;
    is_after_joint[instruction->index_in_computation()] = is_after || is_joint;
  }
  return false;
}

std::vector<int64_t> JointsOnTheWay(const HloComputation& computation, Direction direction,
                                    llvm::ArrayRef<int64_t> parameters) {
  const bool backward = direction == Direction::kOutputToInput;
  const auto count = static_cast<int64_t>(computation.instructions().size());
  std::vector<bool> is_reached(count);
  if (backward) is_reached[computation.root_instruction()->index_in_computation()] = true;
  for (const int64_t number : parameters) {
    if (!backward) is_reached[computation.parameter(number)->index_in_computation()] = true;
  }
  std::vector<int64_t> joints;
  for (int64_t n = 0; n < count; ++n) {
    const int64_t position = backward ? count - 1 - n : n;
    if (!is_reached[position]) continue;
    const HloInstruction& instruction = *computation.instructions()[position];
    if (IsJoint(instruction)) joints.push_back(position);
    if (backward) {
      for (int64_t i = 0; i < instruction.operand_count(); ++i) {
        is_reached[instruction.operand(i)->index_in_computation()] = true;
      }
    } else {
      for (const HloInstruction::Use& use : instruction.uses()) {
        is_reached[use.user->index_in_computation()] = true;
      }
    }
  }
  return joints;
}

}  // namespace xla_indexing::internal
