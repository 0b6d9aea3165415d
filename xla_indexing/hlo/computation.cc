#include "xla_indexing/hlo/computation.h"

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/module.h"

namespace xla_indexing {

bool HloComputation::is_entry() const { return parent_->entry_computation() == this; }

const HloInstruction* HloComputation::root_instruction() const {
  if (root_ != nullptr) return root_;
  return instructions_.empty() ? nullptr : instructions_.back();
}

const HloInstruction* HloComputation::FindInstruction(absl::string_view name) const {
  return names_.Find(instructions_, name);
}

void HloComputation::SetExecutionThread(absl::string_view thread) {
  execution_thread_ = parent_->arena().CopyString(thread);
}

HloInstruction* HloComputation::MakeInstruction(HloOpcode opcode, absl::string_view name,
                                                absl::Span<const HloInstruction* const> operands) {
  Arena& arena = parent_->arena();
  auto* instruction = arena.New<HloInstruction>(this, opcode, arena.CopyString(name));
  instruction->operands_ = arena.Copy(operands);
  return instruction;
}

HloInstruction* HloComputation::AddInstruction(HloOpcode opcode, absl::string_view name,
                                               const Shape& shape,
                                               absl::Span<const HloInstruction* const> operands) {
  HloInstruction* instruction = MakeInstruction(opcode, name, operands);
  instruction->SetShape(shape);
  AppendOwned(instruction);
  return instruction;
}

HloInstruction* HloComputation::AddParameter(int64_t number, absl::string_view name,
                                             const Shape& shape) {
  HloInstruction* parameter = AddInstruction(HloOpcode::kParameter, name, shape);
  parameter->SetAttribute(AttributeKey::kParameterNumber, number);
  return parameter;
}

HloInstruction* HloComputation::AddConstant(absl::string_view name, const Literal& literal) {
  HloInstruction* constant = AddInstruction(HloOpcode::kConstant, name, literal.shape());
  constant->SetAttribute(AttributeKey::kConstantValue, &literal);
  return constant;
}

bool HloComputation::AppendOwned(HloInstruction* instruction) {
  instruction->index_ = static_cast<int32_t>(instructions_.size());
  instructions_.push_back(instruction);
  return instruction->name_.empty() || names_.Add(instructions_, instructions_.size() - 1);
}

bool HloComputation::RegisterParameter(HloInstruction* instruction, int64_t number) {
  // A number past all that could be asked for in earnest is left to the verifier, not allocated.
  if (number < 0 || number >= kMaxParameters) return false;
  if (number >= static_cast<int64_t>(parameters_.size())) parameters_.resize(number + 1, nullptr);
  if (parameters_[number] != nullptr) return false;
  parameters_[number] = instruction;
  return true;
}

}  // namespace xla_indexing
