#include "xla_indexing/fusion/hlo_indexer.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/fusion/cache/index_computation.h"
#include "xla_indexing/fusion/cache/known_modules.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/decisions/dependence.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

using internal::CalledComputations;
using internal::CheckLeaf;
using internal::ComputeIndexing;
using internal::DropPredicates;
using internal::HasPredicate;
using internal::IndexComputation;
using internal::KnownModules;
using internal::OneValued;
using internal::Simplify;

namespace {

const HloModule& ModuleOf(const IndexingTarget& target) {
  const HloComputation* computation =
      target.computation() != nullptr ? target.computation() : target.instruction()->parent();
  return *computation->parent();
}

}  // namespace

const SharedIndexing& NoEntries() {
  static const auto* nothing = new SharedIndexing(std::make_shared<const InstructionIndexing>());
  return *nothing;
}

HloIndexer::HloIndexer(mlir::MLIRContext* context, const FusionOptions& options)
    : context_(context), options_(options) {
  // The constructor of a context without threads leaves its tables of expressions with locks, and
  // with a cache for each thread.
  if (!context->isMultithreadingEnabled()) context->disableMultithreading();
}

HloIndexer::~HloIndexer() = default;

absl::StatusOr<SharedIndexing> HloIndexer::Decided(const HloModule& module,
                                                   absl::StatusOr<SharedIndexing> entries) {
  const bool has_predicates = entries.ok() && options_.indexing.dependence != Dependence::kReads &&
                              llvm::any_of(**entries, [](const IndexingEntry& entry) {
                                return HasPredicate(entry.indexing);
                              });
  if (!has_predicates) return entries;
  InstructionIndexing decided = **entries;
  DropPredicates(*Called(module).Origins(), &decided);
  return std::make_shared<const InstructionIndexing>(std::move(decided));
}

absl::StatusOr<SharedIndexing> HloIndexer::Index(IndexingTarget target, Direction direction,
                                                 std::optional<OperandLeaf> from) {
  return Decided(ModuleOf(target), Find(target, direction, from));
}

absl::StatusOr<SharedIndexing> HloIndexer::Find(IndexingTarget target, Direction direction,
                                                std::optional<OperandLeaf> from) {
  if (absl::Status status = VerifyModule(ModuleOf(target)); !status.ok()) return status;
  const HloInstruction* instruction = target.instruction();
  if (instruction != nullptr && !from) {
    return EntriesOf(*instruction, direction, /*simplified=*/false);
  }
  if (const HloComputation* computation = target.computation()) {
    CalledComputations& called = Called(*computation->parent());
    return called.EntriesOf(*computation, direction, from, [&] {
      return IndexComputation(*computation, direction, from, &called);
    });
  }
  CalledComputations& called = Called(*instruction->parent()->parent());
  absl::StatusOr<InstructionIndexing> entries =
      called.Ask([&] { return called.EntriesOf(*instruction, direction, *from, /*depth=*/0); });
  if (!entries.ok()) return entries.status();
  return std::make_shared<const InstructionIndexing>(*std::move(entries));
}

absl::StatusOr<SharedIndexing> HloIndexer::IndexSimplified(IndexingTarget target,
                                                           Direction direction) {
  // The maps of computations are simplified.
  const HloInstruction* instruction = target.instruction();
  if (instruction == nullptr) return Index(target, direction);
  if (absl::Status status = VerifyModule(ModuleOf(target)); !status.ok()) return status;
  return Decided(ModuleOf(target), EntriesOf(*instruction, direction, /*simplified=*/true));
}

absl::StatusOr<std::vector<InstructionReads>> HloIndexer::IndexEachInstruction(
    const HloComputation& computation, int64_t root_leaf) {
  if (absl::Status status = VerifyModule(*computation.parent()); !status.ok()) return status;
  std::vector<InstructionReads> reads;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return reads;
  if (absl::Status status = CheckLeaf("the root", *root, root_leaf); !status.ok()) return status;
  CalledComputations& called = Called(*computation.parent());
  absl::StatusOr<internal::TraversalResult> walked =
      called.Ask([&] { return called.WalkToEach(computation, root_leaf); });
  if (!walked.ok()) return walked.status();
  const absl::StatusOr<SharedIndexing> entries =
      Decided(*computation.parent(),
              std::make_shared<const InstructionIndexing>(std::move(walked->entries)));
  for (const IndexingEntry& entry : llvm::reverse(**entries)) {
    reads.push_back(
        {computation.instructions()[entry.operand], entry.operand_leaf, entry.indexing});
  }
  return reads;
}

absl::StatusOr<SharedIndexing> HloIndexer::EntriesOf(const HloInstruction& instruction,
                                                     Direction direction, bool simplified) {
  if (instruction.operands().empty()) return NoEntries();
  const bool is_first = !std::exchange(was_asked_, true) && known_ == nullptr;
  if (!is_first || CalledComputations::AreNeededFor(instruction)) {
    return Called(*instruction.parent()->parent()).EntriesOf(instruction, direction, simplified);
  }
  // Who asks once does not pay for what is kept.
  const QuestionBudget budget;
  absl::StatusOr<InstructionIndexing> entries =
      ComputeIndexing(instruction, direction, context_, options_.indexing, /*from=*/std::nullopt,
                      simplified ? OneValued::kValues : OneValued::kVariables);
  if (!entries.ok()) return entries.status();
  if (simplified) Simplify(&*entries);
  return std::make_shared<const InstructionIndexing>(*std::move(entries));
}

CalledComputations& HloIndexer::Called(const HloModule& module) {
  if (known_ == nullptr) known_ = std::make_unique<KnownModules>(context_, options_);
  return known_->Of(module);
}

HloIndexer& HloIndexers::exact() {
  if (!exact_) {
    FusionOptions options = options_;
    options.indexing.exact = true;
    exact_.emplace(context_, options);
  }
  return *exact_;
}

HloIndexer& HloIndexers::one_map() {
  if (!one_map_) {
    FusionOptions options = options_;
    options.indexing.few_pieces = 0;
    one_map_.emplace(context_, options);
  }
  return *one_map_;
}

}  // namespace xla_indexing
