#include "xla_indexing/fusion/instruction_indexer.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"

namespace xla_indexing {
bool AreOfKind(const InstructionIndexing& entries) {
  return absl::c_all_of(entries, [](const IndexingEntry& entry) {
    return absl::c_all_of(entry.indexing, [](const OperandIndexing& map) {
      return map.bindings().empty() && map.IsExact();
    });
  });
}

InstructionIndexer::InstructionIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : context_(context), options_(options) {}

const SharedIndexing& InstructionIndexer::Nothing() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

template <typename Compute>
absl::StatusOr<SharedIndexing> InstructionIndexer::Find(const HloInstruction& instruction,
                                                        KnownKinds* known, Compute compute) {
  if (instruction.operands().empty()) return Nothing();
  InstructionKind kind = KindOf(instruction);
  if (!kind.empty()) {
    if (const auto found = known->find(absl::Span<const uint64_t>(kind)); found != known->end()) {
      return found->second;
    }
  }
  absl::StatusOr<InstructionIndexing> entries = compute(instruction, context_, options_);
  if (!entries.ok()) return entries.status();
  const bool is_shared = !kind.empty() && AreOfKind(*entries);
  auto shared = std::make_shared<const InstructionIndexing>(*std::move(entries));
  if (is_shared) known->emplace(std::move(kind), shared);
  return shared;
}

absl::StatusOr<SharedIndexing> InstructionIndexer::OutputToInput(
    const HloInstruction& instruction) {
  return Find(instruction, &output_to_input_, ComputeOutputToInputIndexingThroughCalls);
}

absl::StatusOr<SharedIndexing> InstructionIndexer::InputToOutput(
    const HloInstruction& instruction) {
  return Find(instruction, &input_to_output_, ComputeInputToOutputIndexingThroughCalls);
}

}  // namespace xla_indexing
