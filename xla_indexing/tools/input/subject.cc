#include "xla_indexing/tools/input/subject.h"

#include <vector>

#include "xla_indexing/query/aliases.h"

namespace xla_indexing {
namespace {

void AddInstructions(const HloComputation& computation, const CommandLine& line,
                     std::vector<Subject>* subjects) {
  if (!line.all_instructions) {
    const HloInstruction* instruction = computation.FindInstruction(*line.instruction);
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
