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
  kept_maps_ = 0;
}

absl::StatusOr<SharedIndexing> KnownKinds::Find(
    InstructionKind kind, const Form& form,
    llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make,
    llvm::function_ref<bool(const InstructionIndexing&)> are_of_kind) {
  if (IsOff(Engine::kKnownKinds)) kind.clear();
  const bool has_kind = !kind.empty();
  if (has_kind) {
    kind.push_back((form.direction == Direction::kInputToOutput ? 1 : 0) | (form.exact ? 2 : 0) |
                   (form.simplified ? 4 : 0) | (form.from_all_elements ? 8 : 0));
    const auto known = kinds_.find(absl::Span<const uint64_t>(kind));
    if (known != kinds_.end()) return known->second;
  }
  absl::StatusOr<InstructionIndexing> made = make();
  if (!made.ok()) return made.status();
  // What was left undone for want of steps is not kept.
  const bool is_kept = has_kind && are_of_kind(*made) && !QuestionBudget::IsSpent();
  if (form.simplified) Simplify(&*made);
  SharedIndexing entries = Share(*std::move(made));
  if (is_kept && !QuestionBudget::IsSpent()) {
    if (kept_maps_ + kinds_.size() > kMaxKept) Forget();
    for (const IndexingEntry& entry : *entries) kept_maps_ += entry.indexing.size();
    kinds_.emplace(std::move(kind), entries);
  }
  return entries;
}

}  // namespace xla_indexing::internal
