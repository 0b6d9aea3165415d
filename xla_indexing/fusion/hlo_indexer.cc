#include "xla_indexing/fusion/hlo_indexer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/internal/called_computations.h"
#include "xla_indexing/fusion/internal/index_computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/internal/instruction_kind.h"

namespace xla_indexing {
namespace internal {

class KnownKinds : public absl::flat_hash_map<InstructionKind, SharedIndexing, InstructionKindHash,
                                              InstructionKindEqual> {};

}  // namespace internal

namespace {

using internal::AreOfKind;
using internal::CalledComputations;
using internal::IndexComputation;
using internal::InstructionKind;
using internal::KindOf;
using internal::KnownKinds;

}  // namespace

const SharedIndexing& NoEntries() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

HloIndexer::HloIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : called_(std::make_unique<CalledComputations>(context, options)),
      known_{std::make_unique<KnownKinds>(), std::make_unique<KnownKinds>()} {}

HloIndexer::~HloIndexer() = default;

absl::StatusOr<SharedIndexing> HloIndexer::IndexInstruction(const HloInstruction& instruction,
                                                            Direction direction) {
  if (instruction.operands().empty()) return NoEntries();
  KnownKinds& known = *known_[static_cast<size_t>(direction)];
  InstructionKind kind = KindOf(instruction);
  if (!kind.empty()) {
    if (const auto found = known.find(absl::Span<const uint64_t>(kind)); found != known.end()) {
      return found->second;
    }
  }
  absl::StatusOr<InstructionIndexing> entries = called_->EntriesOf(instruction, direction);
  if (!entries.ok()) return entries.status();
  const bool is_shared = !kind.empty() && !QuestionBudget::IsSpent() && AreOfKind(*entries);
  auto shared = std::make_shared<const InstructionIndexing>(*std::move(entries));
  if (is_shared) known.emplace(std::move(kind), shared);
  return shared;
}

absl::StatusOr<SharedIndexing> HloIndexer::Index(IndexingTarget target, Direction direction,
                                                 std::optional<OperandLeaf> from) {
  const QuestionBudget budget;
  const HloInstruction* instruction = target.instruction();
  if (instruction != nullptr && !from) return IndexInstruction(*instruction, direction);
  absl::StatusOr<InstructionIndexing> entries =
      instruction != nullptr
          ? called_->EntriesOf(*instruction, direction, *from, /*depth=*/0)
          : IndexComputation(*target.computation(), direction, from, called_.get());
  called_->EndQuestion();
  if (!entries.ok()) return entries.status();
  return std::make_shared<const InstructionIndexing>(*std::move(entries));
}

}  // namespace xla_indexing
