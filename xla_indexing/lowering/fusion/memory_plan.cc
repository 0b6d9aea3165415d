#include "xla_indexing/lowering/fusion/memory_plan.h"

#include <algorithm>
#include <cstdint>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// Inlining is a recursion, and nests regions: instructions that nest deeper are in memory.
constexpr int kMaxInlinedLevels = 32;

bool PassesOn(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAddDependency:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kTuple:
      return true;
    default:
      return false;
  }
}

// Whether an operand is read for the address of another one, or several elements of it for one.
bool IsReadFromMemory(const HloInstruction& instruction, int64_t operand) {
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
      return StorageBitWidth(instruction.operand(0)->shape().element_type()) <
             StorageBitWidth(instruction.shape().element_type());
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
      return operand >= 1;
    case HloOpcode::kDynamicUpdateSlice:
      return operand >= 2;
    case HloOpcode::kScatter:
      return operand == instruction.operand_count() / 2;
    default:
      return false;
  }
}

}  // namespace

ArrayValue ComputedBy(ArrayValue value) {
  while (PassesOn(*value.instruction) && value.instruction->operand_count() > 0) {
    const HloInstruction& passing = *value.instruction;
    value.instruction = passing.operand(0);
    if (passing.opcode() == HloOpcode::kGetTupleElement) {
      value.leaf += passing.operand(0)->shape().FirstLeafOfElement(passing.tuple_index());
    } else if (passing.opcode() == HloOpcode::kTuple) {
      int64_t element = 0;
      while (value.leaf >= passing.operand(element)->shape().LeafCount()) {
        value.leaf -= passing.operand(element)->shape().LeafCount();
        ++element;
      }
      value.instruction = passing.operand(element);
    }
  }
  return value;
}

bool IsSumOfMany(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
      return true;
    default:
      return false;
  }
}

bool IsNeverInlined(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
    case HloOpcode::kConstant:
    case HloOpcode::kFusion:
    case HloOpcode::kParameter:
    case HloOpcode::kScatter:
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kSort:
    case HloOpcode::kTopk:
    case HloOpcode::kWhile:
      return true;
    default:
      return IsSumOfMany(instruction);
  }
}

bool IsOneNumber(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kConstant) return false;
  const Literal* literal = instruction.literal();
  return literal != nullptr && (literal->IsSplat() || literal->ElementCount() == 1);
}

bool IsOfNothing(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kIota || IsOneNumber(instruction);
}

MemoryPlan::MemoryPlan(const HloComputation& computation) {
  const HloInstruction* root = computation.root_instruction();
  for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
    Add(*ComputedBy({root, leaf}).instruction);
  }
  for (const HloInstruction* instruction : computation.instructions()) CountUses(*instruction);
  for (const HloInstruction* instruction : computation.instructions()) {
    if (PassesOn(*instruction)) continue;
    int& level = levels_[instruction];
    for (const HloInstruction* operand : instruction->operands()) {
      if (operand->shape().LeafCount() == 0) continue;
      const HloInstruction* computed = ComputedBy({operand, 0}).instruction;
      if (!IsInMemory(*computed)) level = std::max(level, levels_[computed] + 1);
    }
    if (IsNeverInlined(*instruction) || uses_[instruction] > 1 || level >= kMaxInlinedLevels) {
      Add(*instruction);
    }
  }
}

void MemoryPlan::Add(const HloInstruction& instruction) {
  if (!IsOfNothing(instruction)) in_memory_.insert(&instruction);
}

void MemoryPlan::CountUses(const HloInstruction& instruction) {
  if (PassesOn(instruction)) return;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    const HloInstruction* operand = instruction.operand(i);
    for (int64_t leaf = 0; leaf < operand->shape().LeafCount(); ++leaf) {
      const HloInstruction* computed = ComputedBy({operand, leaf}).instruction;
      ++uses_[computed];
      if (IsReadFromMemory(instruction, i)) Add(*computed);
    }
  }
}

}  // namespace xla_indexing::internal
