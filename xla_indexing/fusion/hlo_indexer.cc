#include "xla_indexing/fusion/hlo_indexer.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/internal/called_computations.h"
#include "xla_indexing/fusion/internal/index_computation.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing {

using internal::CalledComputations;
using internal::IndexComputation;

const SharedIndexing& NoEntries() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

HloIndexer::HloIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : called_(std::make_unique<CalledComputations>(context, options)) {}

HloIndexer::~HloIndexer() = default;

absl::StatusOr<SharedIndexing> HloIndexer::Index(IndexingTarget target, Direction direction,
                                                 std::optional<OperandLeaf> from) {
  const HloInstruction* instruction = target.instruction();
  if (instruction != nullptr && !from) {
    if (instruction->operands().empty()) return NoEntries();
    return called_->EntriesOf(*instruction, direction);
  }
  absl::StatusOr<InstructionIndexing> entries = called_->Ask([&] {
    return instruction != nullptr
               ? called_->EntriesOf(*instruction, direction, *from, /*depth=*/0)
               : IndexComputation(*target.computation(), direction, from, called_.get());
  });
  if (!entries.ok()) return entries.status();
  return std::make_shared<const InstructionIndexing>(*std::move(entries));
}

absl::StatusOr<SharedIndexing> HloIndexer::IndexSimplified(IndexingTarget target,
                                                           Direction direction) {
  // The maps of computations are simplified.
  const HloInstruction* instruction = target.instruction();
  if (instruction == nullptr) return Index(target, direction);
  if (instruction->operands().empty()) return NoEntries();
  return called_->EntriesOf(*instruction, direction, /*simplified=*/true);
}

}  // namespace xla_indexing
