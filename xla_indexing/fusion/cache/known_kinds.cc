#include "xla_indexing/fusion/cache/known_kinds.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::internal {
namespace {

SharedIndexing Share(InstructionIndexing entries) {
  return std::make_shared<const InstructionIndexing>(std::move(entries));
}

// Whether both are one map: operands that are read in the same way share it.
bool AreCopies(const OperandIndexingSet& a, const OperandIndexingSet& b) {
  return a.size() == 1 && b.size() == 1 &&
         OperandIndexing::AreCopies(a.maps().front(), b.maps().front());
}

}  // namespace

void Simplify(InstructionIndexing* entries) {
  for (auto first = entries->begin(); first != entries->end();) {
    const auto rest = std::find_if_not(first + 1, entries->end(), [&](const IndexingEntry& entry) {
      return AreCopies(entry.indexing, first->indexing);
    });
    first->indexing.Simplify();
    std::for_each(first + 1, rest, [&](IndexingEntry& entry) { entry.indexing = first->indexing; });
    first = rest;
  }
  std::erase_if(*entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
}

void KnownKinds::Forget() {
  kinds_.clear();
  finder_.Clear();
  kept_maps_ = 0;
}

void KnownKinds::AddForm(const Form& form, NamedKind* kind) {
  if (IsOff(Engine::kKnownKinds)) *kind = {};
  if (kind->kind.empty()) return;
  kind->kind.push_back((form.direction == Direction::kInputToOutput ? 1 : 0) |
                       (form.exact ? 2 : 0) | (form.fold_runtime_variables ? 4 : 0) |
                       (form.simplified ? 8 : 0) | (form.from_all_elements ? 16 : 0));
  if (!QuestionBudget::IsSpent()) return;
  // Less may be known of operands than there is to know.
  Forget();
  *kind = {};
}

absl::StatusOr<SharedIndexing> KnownKinds::Find(
    const HloInstruction& instruction, const Form& form,
    llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make) {
  if (IsFull()) Forget();
  return Find(instruction, form, finder_.Find(instruction, form.fold_runtime_variables), make);
}

absl::StatusOr<SharedIndexing> KnownKinds::Find(
    const HloInstruction& instruction, const Form& form, NamedKind kind,
    llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make,
    llvm::function_ref<bool(const InstructionIndexing&)> are_of_kind) {
  AddForm(form, &kind);
  if (!kind.kind.empty()) {
    const auto known = kinds_.find(absl::Span<const uint64_t>(kind.kind));
    if (known != kinds_.end()) {
      const OfKind& first = known->second;
      if (first.names == kind.names) return first.entries;
      return Share(WithNames(*first.entries, first.names, kind.names));
    }
  }
  absl::StatusOr<InstructionIndexing> made = make();
  if (!made.ok()) return made.status();
  const bool is_of_kind = !kind.kind.empty() && AreOfKind(instruction, *made, kind) &&
                          (!are_of_kind || are_of_kind(*made));
  if (form.simplified) Simplify(&*made);
  SharedIndexing entries = Share(*std::move(made));
  if (is_of_kind && !QuestionBudget::IsSpent()) {
    for (const IndexingEntry& entry : *entries) kept_maps_ += entry.indexing.size();
    kinds_.try_emplace(std::move(kind.kind), std::move(kind.names), entries);
    if (IsFull()) Forget();
  }
  return entries;
}

}  // namespace xla_indexing::internal
