// What print-indexing analyses: instructions, and computations taken as one fusion.

#ifndef XLA_INDEXING_TOOLS_INPUT_SUBJECT_H_
#define XLA_INDEXING_TOOLS_INPUT_SUBJECT_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

struct Subject {
  // The instruction whose result maps start from or lead to; for a computation, its root.
  const HloInstruction* instruction = nullptr;
  // Maps are between the root and the parameters of the instruction's computation.
  bool is_fusion = false;
  // The instruction as it is written, where that is another: in a module with errors set aside
  // (hlo/transforms/set_aside.h).
  const HloInstruction* written = nullptr;

  HloOpcode opcode() const { return AsWritten().opcode(); }
  absl::string_view opcode_name() const { return AsWritten().opcode_name(); }
  absl::string_view OperandName(int64_t i) const {
    return (written != nullptr && !is_fusion ? written->operand(i) : operands()[i])->name();
  }
  const HloInstruction& AsWritten() const { return written != nullptr ? *written : *instruction; }
  // Whether the launch that computes it writes its result: not what is there before, and not what
  // only names a place of memory. As one fusion, a computation writes whatever its root is.
  bool WritesItsResult() const;
  const HloComputation& computation() const { return *instruction->parent(); }
  // The operands of the instruction, or the parameters of the computation by their numbers.
  absl::Span<const HloInstruction* const> operands() const {
    return is_fusion ? computation().parameters() : instruction->operands();
  }
};

// What the command line selects of a module, in the module's order; empty where the module has
// nothing of the names given. `written` is the module of which `module` is a copy with errors set
// aside, null if it is none; what only the copy has is not selected.
std::vector<Subject> SelectSubjects(const HloModule& module, const HloModule* written,
                                    const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_SUBJECT_H_
