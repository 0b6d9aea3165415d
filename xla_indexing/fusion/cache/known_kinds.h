// The maps of instructions by kind, for those who ask about one instruction after another.
//
// The maps of an instruction are made for the first one of its kind (fusion/cache/instruction_kind.h)
// and shared by all that come after it; where maps name operands, each instruction gets a copy with
// its own names, which costs as much as there are bindings. Answers are those that are made for the
// instruction by itself.
//
// Memory. What is kept is bounded: when there are more than kMaxKept maps, kinds and known operands
// together, all is forgotten, and made again where it is asked for.
#ifndef XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_
#define XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/cache/instruction_kind.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

class KnownKinds {
 public:
  explicit KnownKinds(mlir::MLIRContext* context) : finder_(context) {}

  // In which way the maps of an instruction are asked for.
  struct Form {
    Direction direction;
    bool exact = false;
    bool fold_runtime_variables = true;
    bool simplified = false;
    // What all elements of the result read together, as maps from a scalar.
    bool from_all_elements = false;
  };

  // All entries of the instruction, which `make` makes as the operation defines them. Forms are kept
  // by themselves.
  absl::StatusOr<SharedIndexing> Find(
      const HloInstruction& instruction, const Form& form,
      llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make);
  // Those of an instruction of this kind, which is empty where it has none. Entries of which
  // `are_of_kind` says that they are of this instruction alone are not kept.
  absl::StatusOr<SharedIndexing> Find(
      const HloInstruction& instruction, const Form& form, NamedKind kind,
      llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make,
      llvm::function_ref<bool(const InstructionIndexing&)> are_of_kind = nullptr);

  void Forget();

 private:
  static constexpr size_t kMaxKept = 50'000;

  // The entries of the first instruction of a kind.
  struct OfKind {
    OfKind(KindNames names, SharedIndexing entries)
        : names(std::move(names)), entries(std::move(entries)) {}

    KindNames names;
    SharedIndexing entries;
  };

  bool IsFull() const { return kept_maps_ + kinds_.size() + finder_.size() > kMaxKept; }
  // Adds to a kind what else the maps of this form depend on. No kind where the budget is spent.
  void AddForm(const Form& form, NamedKind* kind);

  KindFinder finder_;
  absl::flat_hash_map<InstructionKind, OfKind, InstructionKindHash, InstructionKindEqual> kinds_;
  size_t kept_maps_ = 0;
};

// Simplifies each set, and drops those that become empty.
void Simplify(InstructionIndexing* entries);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_
