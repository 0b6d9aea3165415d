// What print-indexing analyses: instructions, and computations taken as one fusion.

#ifndef XLA_INDEXING_TOOLS_SUBJECT_H_
#define XLA_INDEXING_TOOLS_SUBJECT_H_

#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/tools/command_line.h"

namespace xla_indexing {

struct Subject {
  // Its result is what maps start from or lead to. Of a computation: the root.
  const HloInstruction* instruction = nullptr;
  // Maps are between the root and the parameters of the instruction's computation.
  bool is_fusion = false;

  const HloComputation& computation() const { return *instruction->parent(); }
  // The operands of the instruction, or the parameters of the computation by their numbers.
  absl::Span<const HloInstruction* const> operands() const {
    return is_fusion ? computation().parameters() : instruction->operands();
  }
};

// What the command line selects of a module, in the module's order; empty where the module has
// nothing of the names given.
std::vector<Subject> SelectSubjects(const HloModule& module, const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_SUBJECT_H_
