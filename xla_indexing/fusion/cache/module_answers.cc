#include "xla_indexing/fusion/cache/module_answers.h"

#include <memory>
#include <utility>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

const SharedAnswers::Content& ModuleAnswers::ContentOf(const HloComputation& computation) {
  if (const auto known = contents_.find(&computation); known != contents_.end()) {
    return known->second;
  }
  if (!shares_) {
    const SharedAnswers::Content own = {shared_.OwnNumber(), /*is_own=*/true, /*may_bind=*/true};
    return contents_.emplace(&computation, own).first->second;
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
          return KnownContentOf(called);
        },
        passed_values_);
    contents_.emplace(&next, content);
  }
  return contents_.find(&computation)->second;
}

const ModuleAnswers::LoopContent& ModuleAnswers::ContentOf(const HloInstruction& loop) {
  const auto [it, is_new] = loops_.try_emplace(&loop);
  LoopContent& content = it->second;
  if (!is_new) return content;
  if (!shares_) {
    content.number = shared_.OwnNumber();
    return content;
  }
  content.instructions = SharedAnswers::InstructionsBehind(loop);
  for (const HloInstruction* instruction : content.instructions) {
    for (const HloComputation* called : instruction->called_computations()) {
      if (called != nullptr) ContentOf(*called);
    }
  }
  content.number = shared_
                       .ContentOf(
                           loop, content.instructions,
                           [&](const HloComputation& called) -> const SharedAnswers::Content& {
                             return KnownContentOf(called);
                           },
                           passed_values_)
                       .number;
  return content;
}

absl::StatusOr<SharedIndexing> ModuleAnswers::FindOrMake(SharedAnswers::Question question,
                                                         const HloComputation& computation,
                                                         MakeEntries make) {
  question.content = ContentOf(computation).number;
  return FindOrMake(question, SharedAnswers::Part(computation), make);
}

absl::StatusOr<SharedIndexing> ModuleAnswers::FindOrMake(SharedAnswers::Question question,
                                                         const HloInstruction& loop,
                                                         MakeEntries make) {
  const LoopContent& content = ContentOf(loop);
  question.content = content.number;
  return FindOrMake(question, SharedAnswers::Part(loop, content.instructions), make);
}

absl::StatusOr<SharedIndexing> ModuleAnswers::FindOrMake(SharedAnswers::Question question,
                                                         const SharedAnswers::Part& part,
                                                         MakeEntries make) {
  const auto own = own_numbers_.find(part.subject);
  if (own != own_numbers_.end()) question.content = own->second;
  if (SharedIndexing known = shared_.Find(question, part)) return known;
  if (shared_.IsKept(question)) {
    // What is known is said of another one alone, so that this one is kept by itself.
    question.content = own_numbers_[part.subject] = shared_.OwnNumber();
  }
  absl::StatusOr<InstructionIndexing> made = make();
  if (!made.ok()) return made.status();
  auto entries = std::make_shared<const InstructionIndexing>(*std::move(made));
  shared_.Keep(question, part, entries);
  return entries;
}

}  // namespace xla_indexing::internal
