#include "xla_indexing/hlo/transforms/rewrite_module.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/verifier.h"

namespace xla_indexing {
namespace {

class ModuleCopier {
 public:
  ModuleCopier(const HloModule& module,
               absl::FunctionRef<absl::Status(InstructionRewriter&)> rewrite)
      : module_(module), rewrite_(rewrite), copy_(std::make_unique<HloModule>(module.name())) {}

  absl::StatusOr<std::unique_ptr<HloModule>> Copy() {
    for (const ModuleAttribute& attribute : module_.attributes()) {
      copy_->SetAttribute(attribute.name, attribute.text);
    }
    copy_->SetStackFrameTables(module_.stack_frame_tables());
    for (const HloComputation* computation : module_.computations()) {
      absl::Status status = CopyComputation(*computation);
      if (!status.ok()) return status;
    }
    copy_->SetEntry(computations_.at(module_.entry_computation()));
    absl::Status status = VerifyModule(*copy_);
    if (!status.ok()) return status;
    return std::move(copy_);
  }

 private:
  absl::Status CopyComputation(const HloComputation& computation) {
    HloComputation* copy = copy_->AddComputation(computation.name());
    computations_[&computation] = copy;
    if (!computation.execution_thread().empty()) {
      copy->SetExecutionThread(computation.execution_thread());
    }
    instructions_.clear();
    for (const HloInstruction* instruction : computation.instructions()) {
      std::vector<const HloInstruction*> operands;
      for (const HloInstruction* operand : instruction->operands()) {
        operands.push_back(instructions_.at(operand));
      }
      InstructionRewriter rewriter(*instruction, operands, copy);
      const absl::Status status = rewrite_(rewriter);
      if (!status.ok()) return status;
      if (rewriter.replacement() == nullptr) rewriter.ReplaceOperands(operands);
      instructions_[instruction] = rewriter.replacement();
      RedirectComputations(rewriter.replacement());
    }
    // Control predecessors may come after what they precede in the list.
    for (const auto& [original, same] : instructions_) {
      if (original->control_predecessors().empty()) continue;
      std::vector<const HloInstruction*> predecessors;
      for (const HloInstruction* predecessor : original->control_predecessors()) {
        predecessors.push_back(instructions_.at(predecessor));
      }
      same->SetAttribute(AttributeKey::kControlPredecessors,
                         absl::Span<const HloInstruction* const>(predecessors));
    }
    copy->SetRoot(instructions_.at(computation.root_instruction()));
    return absl::OkStatus();
  }

  // Makes the computations that an instruction calls those of the copy.
  void RedirectComputations(HloInstruction* instruction) {
    for (const Attribute& attribute : instruction->attributes()) {
      if (const auto* one = std::get_if<const HloComputation*>(&attribute.value)) {
        instruction->SetAttribute(attribute.key, computations_.at(*one));
      } else if (const auto* list =
                     std::get_if<absl::Span<const HloComputation* const>>(&attribute.value)) {
        std::vector<const HloComputation*> called;
        for (const HloComputation* computation : *list) {
          called.push_back(computations_.at(computation));
        }
        instruction->SetAttribute(attribute.key, absl::Span<const HloComputation* const>(called));
      }
    }
  }

  const HloModule& module_;
  absl::FunctionRef<absl::Status(InstructionRewriter&)> rewrite_;
  std::unique_ptr<HloModule> copy_;
  absl::flat_hash_map<const HloComputation*, const HloComputation*> computations_;
  // The copies of instructions of the computation that is being copied.
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> instructions_;
};

}  // namespace

HloInstruction* InstructionRewriter::AddHelper(HloOpcode opcode, absl::string_view role,
                                               const Shape& shape,
                                               absl::Span<const HloInstruction* const> operands) {
  const std::string base = absl::StrCat(original_.name(), ".", role);
  std::string name = base;
  for (int64_t i = 1; original_.parent()->FindInstruction(name) != nullptr ||
                      copy_->FindInstruction(name) != nullptr;
       ++i) {
    name = absl::StrCat(base, ".", i);
  }
  return copy_->AddInstruction(opcode, name, shape, operands);
}

HloInstruction* InstructionRewriter::Replace(HloOpcode opcode, const Shape& shape,
                                             absl::Span<const HloInstruction* const> operands) {
  assert(replacement_ == nullptr);
  replacement_ = copy_->AddInstruction(opcode, original_.name(), shape, operands);
  return replacement_;
}

HloInstruction* InstructionRewriter::ReplaceOperands(
    absl::Span<const HloInstruction* const> operands) {
  HloInstruction* same = Replace(original_.opcode(), original_.shape(), operands);
  for (const Attribute& attribute : original_.attributes()) {
    if (attribute.key == AttributeKey::kOther) {
      same->SetTextAttribute(attribute.name, std::get<absl::string_view>(attribute.value));
    } else {
      same->SetAttribute(attribute.key, attribute.value);
    }
  }
  return same;
}

absl::StatusOr<std::unique_ptr<HloModule>> RewriteModule(
    const HloModule& module, absl::FunctionRef<absl::Status(InstructionRewriter&)> rewrite) {
  return ModuleCopier(module, rewrite).Copy();
}

}  // namespace xla_indexing
