#include "xla_indexing/fusion/internal/module_answers.h"

#include <memory>
#include <utility>
#include <vector>

#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::internal {

const SharedAnswers::Content& ModuleAnswers::ContentOf(const HloComputation& computation) {
  if (const auto known = contents_.find(&computation); known != contents_.end()) {
    return known->second;
  }
  // Called computations come before their callers, without recursion.
  std::vector<const HloComputation*> pending = {&computation};
  while (!pending.empty()) {
    const HloComputation& next = *pending.back();
    const size_t size = pending.size();
    if (!contents_.contains(&next) && SharedAnswers::MayBeShared(next)) {
      for (const HloInstruction* instruction : next.instructions()) {
        for (const HloComputation* called : instruction->called_computations()) {
          if (called != nullptr && !contents_.contains(called)) pending.push_back(called);
        }
      }
      if (pending.size() > size) continue;
    }
    pending.pop_back();
    if (contents_.contains(&next)) continue;
    const SharedAnswers::Content content = shared_.ContentOf(
        next,
        [&](const HloComputation& called) -> const SharedAnswers::Content& {
          return contents_.find(&called)->second;
        },
        passed_values_);
    contents_.emplace(&next, content);
  }
  return contents_.find(&computation)->second;
}

absl::StatusOr<SharedIndexing> ModuleAnswers::FindOrMake(SharedAnswers::Question question,
                                                         const HloComputation& computation,
                                                         MakeEntries make) {
  const auto own = own_numbers_.find(&computation);
  question.content = own != own_numbers_.end() ? own->second : ContentOf(computation).number;
  if (SharedIndexing known = shared_.Find(question, computation)) return known;
  if (shared_.IsKept(question)) {
    // What is known is said of another computation alone, so that this one is kept by itself.
    question.content = own_numbers_[&computation] = shared_.OwnNumber();
  }
  absl::StatusOr<InstructionIndexing> made = make();
  if (!made.ok()) return made.status();
  auto entries = std::make_shared<const InstructionIndexing>(*std::move(made));
  shared_.Keep(question, computation, entries);
  return entries;
}

}  // namespace xla_indexing::internal
