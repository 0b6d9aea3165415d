#include "xla_indexing/fusion/hlo_indexer.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/internal/called_computations.h"
#include "xla_indexing/fusion/internal/index_computation.h"
#include "xla_indexing/fusion/internal/known_modules.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing {

using internal::CalledComputations;
using internal::IndexComputation;
using internal::KnownModules;

const SharedIndexing& NoEntries() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

HloIndexer::HloIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : known_(std::make_unique<KnownModules>(context, options)) {}

HloIndexer::~HloIndexer() = default;

absl::StatusOr<SharedIndexing> HloIndexer::Index(IndexingTarget target, Direction direction,
                                                 std::optional<OperandLeaf> from) {
  if (const HloComputation* computation = target.computation()) {
    CalledComputations& called = known_->Of(*computation->parent());
    return called.EntriesOf(*computation, direction, from, [&] {
      return IndexComputation(*computation, direction, from, &called);
    });
  }
  const HloInstruction& instruction = *target.instruction();
  if (!from) {
    if (instruction.operands().empty()) return NoEntries();
    return CalledOf(instruction).EntriesOf(instruction, direction);
  }
  CalledComputations& called = CalledOf(instruction);
  absl::StatusOr<InstructionIndexing> entries =
      called.Ask([&] { return called.EntriesOf(instruction, direction, *from, /*depth=*/0); });
  if (!entries.ok()) return entries.status();
  return std::make_shared<const InstructionIndexing>(*std::move(entries));
}

absl::StatusOr<SharedIndexing> HloIndexer::IndexSimplified(IndexingTarget target,
                                                           Direction direction) {
  // The maps of computations are simplified.
  const HloInstruction* instruction = target.instruction();
  if (instruction == nullptr) return Index(target, direction);
  if (instruction->operands().empty()) return NoEntries();
  return CalledOf(*instruction).EntriesOf(*instruction, direction, /*simplified=*/true);
}

HloIndexer& HloIndexers::exact() {
  if (!exact_) {
    FusionOptions options = options_;
    options.indexing.exact = true;
    exact_.emplace(context_, options);
  }
  return *exact_;
}

CalledComputations& HloIndexer::CalledOf(const HloInstruction& instruction) {
  return known_->Of(*instruction.parent()->parent());
}

}  // namespace xla_indexing
