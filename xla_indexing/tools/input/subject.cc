#include "xla_indexing/tools/input/subject.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/query/aliases.h"

namespace xla_indexing {
namespace {

// The instruction that a module of StableHLO calls `%5`: the last whose name ends so, `add.5` (those that are
// steps to it come before it). No name of HLO text is a number.
const HloInstruction* FindNumbered(const HloComputation& computation, absl::string_view number) {
  const bool is_number = absl::c_all_of(number, absl::ascii_isdigit);
  const HloInstruction* found = nullptr;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (is_number && absl::EndsWith(instruction->name(), absl::StrCat(".", number))) {
      found = instruction;
    }
  }
  return found;
}

void AddInstructions(const HloComputation& computation, const CommandLine& line,
                     std::vector<Subject>* subjects) {
  if (!line.all_instructions) {
    const HloInstruction* instruction = computation.FindInstruction(*line.instruction);
    if (instruction == nullptr) instruction = FindNumbered(computation, *line.instruction);
    if (instruction != nullptr) subjects->push_back({instruction});
    return;
  }
  for (const HloInstruction* instruction : computation.instructions()) {
    subjects->push_back({instruction});
  }
}

std::vector<Subject> SelectFrom(const HloModule& module, const CommandLine& line) {
  std::vector<Subject> subjects;
  if (!line.computation && !line.instruction) {
    subjects.push_back({module.entry_computation()->root_instruction(), line.fuse});
    return subjects;
  }
  if (line.computation) {
    const HloComputation* computation = module.FindComputation(*line.computation);
    if (computation == nullptr) return subjects;
    if (line.instruction) {
      AddInstructions(*computation, line, &subjects);
    } else {
      subjects.push_back({computation->root_instruction(), /*is_fusion=*/true});
    }
    return subjects;
  }
  for (const HloComputation* computation : module.computations()) {
    AddInstructions(*computation, line, &subjects);
  }
  return subjects;
}

}  // namespace

bool Subject::WritesItsResult() const {
  return is_fusion || !IsAlias(written != nullptr ? *written : *instruction);
}

std::vector<Subject> SelectSubjects(const HloModule& module, const HloModule* written,
                                    const CommandLine& line) {
  std::vector<Subject> subjects = SelectFrom(module, line);
  if (written == nullptr) return subjects;
  std::erase_if(subjects, [&](Subject& subject) {
    subject.written = written->FindComputation(subject.computation().name())
                          ->FindInstruction(subject.instruction->name());
    return subject.written == nullptr;
  });
  return subjects;
}

}  // namespace xla_indexing
