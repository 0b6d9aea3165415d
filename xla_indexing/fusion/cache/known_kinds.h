// The maps of instructions by kind, for those who ask about one instruction after another.
//
// The maps of an instruction are made for the first one of its kind (fusion/cache/instruction_kind.h)
// and shared by all that come after it. Answers are those that are made for the instruction by itself.
//
// Memory. What is kept is bounded: when there are more than kMaxKept maps and kinds together, all is
// forgotten, and made again where it is asked for.
#ifndef XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_
#define XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_

#include <cstddef>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/fusion/cache/instruction_kind.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

class KnownKinds {
 public:
  // In which way the maps of an instruction are asked for.
  struct Form {
    Direction direction;
    bool exact = false;
    bool simplified = false;
    // What all elements of the result read together, as maps from a scalar.
    bool from_all_elements = false;
  };

  // All entries of an instruction of this kind, which `make` makes as the operation defines them.
  // Forms are kept by themselves. Entries of which `are_of_kind` says that they are of one instruction
  // alone are not kept, nor is anything where the kind is empty.
  absl::StatusOr<SharedIndexing> Find(
      InstructionKind kind, const Form& form,
      llvm::function_ref<absl::StatusOr<InstructionIndexing>()> make,
      llvm::function_ref<bool(const InstructionIndexing&)> are_of_kind);

  void Forget();

 private:
  static constexpr size_t kMaxKept = 50'000;

  absl::flat_hash_map<InstructionKind, SharedIndexing, InstructionKindHash, InstructionKindEqual>
      kinds_;
  size_t kept_maps_ = 0;
};

// Simplifies each set, and drops those that become empty.
void Simplify(InstructionIndexing* entries);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_KNOWN_KINDS_H_
