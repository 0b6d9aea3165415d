#include "xla_indexing/fusion/hlo_indexer.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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

// The entries, of which those that the budget cut short are replaced by what is read, if anything is.
InstructionIndexing ReadWhereCutShort(const InstructionIndexing& entries,
                                      const InstructionIndexing& read, absl::string_view reason) {
  const auto comes_before = [](const IndexingEntry& a, const IndexingEntry& b) {
    return std::tuple(a.output_leaf, a.operand, a.operand_leaf) <
           std::tuple(b.output_leaf, b.operand, b.operand_leaf);
  };
  InstructionIndexing replaced;
  for (const IndexingEntry& entry : entries) {
    const bool is_cut = llvm::any_of(entry.indexing, [&](const OperandIndexing& map) {
      return absl::StrContains(map.label().reason, reason);
    });
    if (!is_cut) {
      replaced.push_back(entry);
      continue;
    }
    const auto [first, last] = std::equal_range(read.begin(), read.end(), entry, comes_before);
    replaced.insert(replaced.end(), first, last);
  }
  return replaced;
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
  if (options_.indexing.dependence == Dependence::kReads) return Find(target, direction, from);
  const QuestionBudget question;
  if (QuestionBudget::Number() == too_small_) return ReadInstead(target, direction, from);
  const int64_t left = QuestionBudget::Left();
  absl::StatusOr<SharedIndexing> entries = Decided(ModuleOf(target), Find(target, direction, from));
  if (!entries.ok() || !QuestionBudget::IsSpent() || !QuestionBudget::CheckGoesOn().ok()) {
    return entries;
  }
  // What is read takes few steps where what matters of it takes many. Half of them stay taken.
  const std::string reason = QuestionBudget::Reason();
  too_small_ = QuestionBudget::Number();
  QuestionBudget::RefundTo(left / 2);
  const absl::StatusOr<SharedIndexing> read = ReadInstead(target, direction, from);
  if (!read.ok()) return read.status();
  return std::make_shared<const InstructionIndexing>(ReadWhereCutShort(**entries, **read, reason));
}

absl::StatusOr<SharedIndexing> HloIndexer::ReadInstead(IndexingTarget target, Direction direction,
                                                       std::optional<OperandLeaf> from) {
  if (reads_ == nullptr) {
    FusionOptions options = options_;
    options.indexing.dependence = Dependence::kReads;
    reads_ = std::make_unique<HloIndexer>(context_, options);
  }
  const absl::StatusOr<SharedIndexing> read = reads_->Index(target, direction, from);
  if (!read.ok()) return read.status();
  const auto label =
      ExactnessLabel::OverApproximate(absl::StrCat("what is read, as ", QuestionBudget::Reason()));
  InstructionIndexing weaker;
  for (const IndexingEntry& entry : **read) {
    OperandIndexingSet maps;
    for (OperandIndexing map : entry.indexing) {
      map.Weaken(label);
      maps.Add(std::move(map));
    }
    weaker.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps)});
  }
  return std::make_shared<const InstructionIndexing>(std::move(weaker));
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
