// Copies of modules in which some instructions are replaced. A module does not change once it is
// verified, so that a transformation makes another module.
//
// Example, every negate twice:
//
//   RewriteModule(module, [](InstructionRewriter& rewriter) {
//     if (rewriter.original().opcode() != HloOpcode::kNegate) return absl::OkStatus();
//     HloInstruction* once = rewriter.AddHelper(HloOpcode::kNegate, "once", shape,
//                                               {rewriter.operand(0)});
//     rewriter.Replace(HloOpcode::kNegate, shape, {once});
//     return absl::OkStatus();
//   });

#ifndef XLA_INDEXING_HLO_TRANSFORMS_REWRITE_MODULE_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REWRITE_MODULE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// What replaces one instruction of the original in the copy.
class InstructionRewriter {
 public:
  InstructionRewriter(const HloInstruction& original,
                      absl::Span<const HloInstruction* const> operands, HloComputation* copy)
      : original_(original), operands_(operands), copy_(copy) {}

  const HloInstruction& original() const { return original_; }
  // The operands' replacements in the copy.
  absl::Span<const HloInstruction* const> operands() const { return operands_; }
  const HloInstruction* operand(int64_t i) const { return operands_[i]; }
  // What stands for another instruction of the original's computation that comes before it.
  const HloInstruction* CopyOf(const HloInstruction& earlier) const {
    return copy_->FindInstruction(earlier.name());
  }

  // Adds an instruction before the one that stands for the original, named after it:
  // `<original>.<role>`, with a number behind where that is taken.
  HloInstruction* AddHelper(HloOpcode opcode, absl::string_view role, const Shape& shape,
                            std::initializer_list<const HloInstruction*> operands) {
    return AddHelper(opcode, role, shape, absl::MakeConstSpan(operands.begin(), operands.size()));
  }
  HloInstruction* AddHelper(HloOpcode opcode, absl::string_view role, const Shape& shape,
                            absl::Span<const HloInstruction* const> operands);

  // Adds the instruction that stands for the original, with its name and without attributes. At
  // most once, after its helpers; where it is not called the original is copied.
  HloInstruction* Replace(HloOpcode opcode, const Shape& shape,
                          absl::Span<const HloInstruction* const> operands);
  // Adds the original with other operands. At most once, and instead of `Replace`.
  HloInstruction* ReplaceOperands(absl::Span<const HloInstruction* const> operands);
  HloInstruction* replacement() const { return replacement_; }
  absl::Span<HloInstruction* const> helpers() const { return helpers_; }

 private:
  const HloInstruction& original_;
  absl::Span<const HloInstruction* const> operands_;
  HloComputation* copy_;
  HloInstruction* replacement_ = nullptr;
  std::vector<HloInstruction*> helpers_;
};

// A copy of `module` with what `rewrite` makes of its instructions; in `module` the verifier finds
// at most errors of single instructions (hlo/verify/verifier.h). Copied attributes refer to the
// computations and instructions of the copy. `rewrite` sets the attributes of an instruction that
// it replaces, except that those naming called computations refer to the original's until the copy
// is complete.
//
// Errors: the first that `rewrite` returns; InvalidArgument where the copy does not verify.
absl::StatusOr<std::unique_ptr<HloModule>> RewriteModule(
    const HloModule& module, absl::FunctionRef<absl::Status(InstructionRewriter&)> rewrite);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REWRITE_MODULE_H_
