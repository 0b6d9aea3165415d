#include "xla_indexing/hlo/transforms/computation_copier.h"

#include <cstddef>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing::internal {

HloInstruction* CopyInstruction(const HloInstruction& original, absl::string_view name,
                                absl::Span<const HloInstruction* const> operands,
                                ControlPredecessors control, HloComputation* computation) {
  HloInstruction* copy =
      computation->AddInstruction(original.opcode(), name, original.shape(), operands);
  for (const Attribute& attribute : original.attributes()) {
    if (attribute.key == AttributeKey::kOther) {
      copy->SetTextAttribute(attribute.name, std::get<absl::string_view>(attribute.value));
    } else if (attribute.key != AttributeKey::kControlPredecessors ||
               control == ControlPredecessors::kAsTheyAre) {
      copy->SetAttribute(attribute.key, attribute.value);
    }
  }
  return copy;
}

absl::StatusOr<HloComputation*> ComputationCopier::Copy(const HloComputation& computation,
                                                        AddCopy add_copy) {
  HloComputation* copy = module_->AddComputation(computation.name());
  copies_[&computation] = copy;
  if (!computation.execution_thread().empty()) {
    copy->SetExecutionThread(computation.execution_thread());
  }
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> instructions;
  for (const HloInstruction* instruction : computation.instructions()) {
    std::vector<const HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.push_back(instructions.at(operand));
    }
    XLA_INDEXING_ASSIGN_OR_RETURN(HloInstruction * same, add_copy(*instruction, operands, copy));
    instructions[instruction] = same;
    RedirectComputations(same);
  }
  // Control predecessors may come after what they precede in the list.
  for (const auto& [original, same] : instructions) {
    if (original->control_predecessors().empty()) continue;
    std::vector<const HloInstruction*> predecessors;
    for (const HloInstruction* predecessor : original->control_predecessors()) {
      predecessors.push_back(instructions.at(predecessor));
    }
    same->SetAttribute(AttributeKey::kControlPredecessors,
                       absl::Span<const HloInstruction* const>(predecessors));
  }
  copy->SetRoot(instructions.at(computation.root_instruction()));
  return copy;
}

HloComputation* ComputationCopier::Copy(const HloComputation& computation) {
  // No copy of an instruction fails.
  return *Copy(computation,
               [](const HloInstruction& original, absl::Span<const HloInstruction* const> operands,
                  HloComputation* copy) -> absl::StatusOr<HloInstruction*> {
                 return CopyInstruction(original, original.name(), operands,
                                        ControlPredecessors::kAsTheyAre, copy);
               });
}

void ComputationCopier::CopyCalled(absl::Span<const HloInstruction* const> instructions) {
  std::vector<const HloComputation*> called;
  absl::flat_hash_set<const HloComputation*> seen;
  const auto add = [&](const HloInstruction& caller) {
    for (const HloComputation* computation : caller.called_computations()) {
      if (seen.insert(computation).second) called.push_back(computation);
    }
  };
  for (const HloInstruction* instruction : instructions) add(*instruction);
  for (size_t i = 0; i < called.size(); ++i) {
    for (const HloInstruction* instruction : called[i]->instructions()) add(*instruction);
  }
  absl::c_sort(called, [](const HloComputation* a, const HloComputation* b) {
    return a->index_in_module() < b->index_in_module();
  });
  for (const HloComputation* computation : called) Copy(*computation);
}

void ComputationCopier::RedirectComputations(HloInstruction* instruction) const {
  for (const Attribute& attribute : instruction->attributes()) {
    if (const auto* one = std::get_if<const HloComputation*>(&attribute.value)) {
      instruction->SetAttribute(attribute.key, copies_.at(*one));
    } else if (const auto* list =
                   std::get_if<absl::Span<const HloComputation* const>>(&attribute.value)) {
      std::vector<const HloComputation*> called;
      for (const HloComputation* computation : *list) called.push_back(copies_.at(computation));
      instruction->SetAttribute(attribute.key, absl::Span<const HloComputation* const>(called));
    }
  }
}

}  // namespace xla_indexing::internal
