// The indexing of many instructions in one MLIRContext, with the work that they have in common done
// once.
//
// Models repeat themselves: of thousands of instructions only some hundred differ in what their
// maps depend on (ops/instruction_kind.h). An indexer makes the maps of each kind once, and
// instructions of one kind share them, in memory too. Called computations are looked into.
//
// The instructions' modules and the context have to live as long as the indexer; what it gives away
// lives on without it.
//
// Example:
//
//   InstructionIndexer indexer(&context);
//   for (const HloInstruction* instruction : InstructionsOf(*module)) {
//     absl::StatusOr<SharedIndexing> reads = indexer.OutputToInput(*instruction);
//     ..
//   }
#ifndef XLA_INDEXING_FUSION_INSTRUCTION_INDEXER_H_
#define XLA_INDEXING_FUSION_INSTRUCTION_INDEXER_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/instruction_kind.h"

namespace xla_indexing {

// Never null.
using SharedIndexing = std::shared_ptr<const InstructionIndexing>;

// Whether the maps of an instruction are those of every instruction of its kind. Bindings and the
// reasons of labels name instructions.
bool AreOfKind(const InstructionIndexing& entries);

class InstructionIndexer {
 public:
  explicit InstructionIndexer(mlir::MLIRContext* context, const FusionOptions& options = {});

  // What ComputeOutputToInputIndexingThroughCalls gives for the instruction, and
  // ComputeInputToOutputIndexingThroughCalls.
  absl::StatusOr<SharedIndexing> OutputToInput(const HloInstruction& instruction);
  absl::StatusOr<SharedIndexing> InputToOutput(const HloInstruction& instruction);

  // No entries.
  static const SharedIndexing& Nothing();

 private:
  using KnownKinds = absl::flat_hash_map<InstructionKind, SharedIndexing, InstructionKindHash,
                                         InstructionKindEqual>;
  template <typename Compute>
  absl::StatusOr<SharedIndexing> Find(const HloInstruction& instruction, KnownKinds* known,
                                      Compute compute);

  mlir::MLIRContext* context_;
  const FusionOptions options_;
  KnownKinds output_to_input_;
  KnownKinds input_to_output_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_INSTRUCTION_INDEXER_H_
