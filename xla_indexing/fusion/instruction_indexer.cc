#include "xla_indexing/fusion/instruction_indexer.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/called_computations.h"

namespace xla_indexing {
bool AreOfKind(const InstructionIndexing& entries) {
  return absl::c_all_of(entries, [](const IndexingEntry& entry) {
    return absl::c_all_of(entry.indexing, [](const OperandIndexing& map) {
      return map.bindings().empty() && map.IsExact();
    });
  });
}

InstructionIndexer::InstructionIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : called_(std::make_unique<CalledComputations>(context, options)) {}

InstructionIndexer::~InstructionIndexer() = default;

const SharedIndexing& InstructionIndexer::Nothing() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

absl::StatusOr<SharedIndexing> InstructionIndexer::Find(const HloInstruction& instruction,
                                                        Direction direction, KnownKinds* known) {
  if (instruction.operands().empty()) return Nothing();
  const QuestionBudget budget;
  InstructionKind kind = KindOf(instruction);
  if (!kind.empty()) {
    if (const auto found = known->find(absl::Span<const uint64_t>(kind)); found != known->end()) {
      return found->second;
    }
  }
  absl::StatusOr<InstructionIndexing> entries = called_->EntriesOf(instruction, direction);
  if (!entries.ok()) return entries.status();
  const bool is_shared = !kind.empty() && !QuestionBudget::IsSpent() && AreOfKind(*entries);
  auto shared = std::make_shared<const InstructionIndexing>(*std::move(entries));
  if (is_shared) known->emplace(std::move(kind), shared);
  return shared;
}

absl::StatusOr<SharedIndexing> InstructionIndexer::OutputToInput(
    const HloInstruction& instruction) {
  return Find(instruction, Direction::kOutputToInput, &output_to_input_);
}

absl::StatusOr<SharedIndexing> InstructionIndexer::InputToOutput(
    const HloInstruction& instruction) {
  return Find(instruction, Direction::kInputToOutput, &input_to_output_);
}

absl::StatusOr<InstructionIndexing> InstructionIndexer::OfLeaf(const HloInstruction& instruction,
                                                               Direction direction,
                                                               OperandLeaf leaf) {
  const QuestionBudget budget;
  absl::StatusOr<InstructionIndexing> entries =
      called_->EntriesOf(instruction, direction, leaf, /*depth=*/0);
  called_->EndQuestion();
  return entries;
}

absl::StatusOr<InstructionIndexing> InstructionIndexer::OutputToInput(
    const HloInstruction& instruction, int64_t output_leaf) {
  return OfLeaf(instruction, Direction::kOutputToInput, {0, output_leaf});
}

absl::StatusOr<InstructionIndexing> InstructionIndexer::InputToOutput(
    const HloInstruction& instruction, OperandLeaf operand_leaf) {
  return OfLeaf(instruction, Direction::kInputToOutput, operand_leaf);
}

}  // namespace xla_indexing
