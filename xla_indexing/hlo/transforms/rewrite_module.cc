#include "xla_indexing/hlo/transforms/rewrite_module.h"

#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/transforms/computation_copier.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {

using internal::ComputationCopier;
using internal::ControlPredecessors;
using internal::CopyInstruction;

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
  helpers_.push_back(copy_->AddInstruction(opcode, name, shape, operands));
  return helpers_.back();
}

HloInstruction* InstructionRewriter::Replace(HloOpcode opcode, const Shape& shape,
                                             absl::Span<const HloInstruction* const> operands) {
  assert(replacement_ == nullptr);
  replacement_ = copy_->AddInstruction(opcode, original_.name(), shape, operands);
  return replacement_;
}

HloInstruction* InstructionRewriter::ReplaceOperands(
    absl::Span<const HloInstruction* const> operands) {
  assert(replacement_ == nullptr);
  replacement_ = CopyInstruction(original_, original_.name(), operands,
                                 ControlPredecessors::kAsTheyAre, copy_);
  return replacement_;
}

absl::StatusOr<std::unique_ptr<HloModule>> RewriteModule(
    const HloModule& module, absl::FunctionRef<absl::Status(InstructionRewriter&)> rewrite) {
  auto copy = std::make_unique<HloModule>(module.name());
  for (const ModuleAttribute& attribute : module.attributes()) {
    copy->SetAttribute(attribute.name, attribute.text);
  }
  copy->SetStackFrameTables(module.stack_frame_tables());
  ComputationCopier copier(copy.get());
  const auto add_copy = [&](const HloInstruction& original,
                            absl::Span<const HloInstruction* const> operands,
                            HloComputation* computation) -> absl::StatusOr<HloInstruction*> {
    InstructionRewriter rewriter(original, operands, computation);
    absl::Status status = rewrite(rewriter);
    if (!status.ok()) return status;
    for (HloInstruction* helper : rewriter.helpers()) copier.RedirectComputations(helper);
    if (rewriter.replacement() == nullptr) rewriter.ReplaceOperands(operands);
    return rewriter.replacement();
  };
  for (const HloComputation* computation : module.computations()) {
    absl::Status status = copier.Copy(*computation, add_copy).status();
    if (!status.ok()) return status;
  }
  copy->SetEntry(copier.CopyOf(module.entry_computation()));
  if (absl::Status status = VerifyModule(*copy); !status.ok()) return status;
  return copy;
}

}  // namespace xla_indexing
