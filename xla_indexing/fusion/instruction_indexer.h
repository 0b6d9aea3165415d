// The indexing of many instructions in one MLIRContext, with the work that they have in common done
// once.
//
// Models repeat themselves: of thousands of instructions only some hundred differ in what their
// maps depend on (ops/instruction_kind.h). An indexer makes the maps of each kind once, and
// instructions of one kind share them, in memory too. Called computations are looked into, each
// once however many instructions call it.
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

#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/fusion/reindexing.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/instruction_kind.h"

namespace xla_indexing {

class CalledComputations;

// Never null.
using SharedIndexing = std::shared_ptr<const InstructionIndexing>;

// Whether the maps of an instruction are those of every instruction of its kind. Bindings and the
// reasons of labels name instructions.
bool AreOfKind(const InstructionIndexing& entries);

class InstructionIndexer {
 public:
  explicit InstructionIndexer(mlir::MLIRContext* context, const FusionOptions& options = {});
  ~InstructionIndexer();

  // What ComputeOutputToInputIndexingThroughCalls gives for the instruction, and
  // ComputeInputToOutputIndexingThroughCalls.
  absl::StatusOr<SharedIndexing> OutputToInput(const HloInstruction& instruction);
  absl::StatusOr<SharedIndexing> InputToOutput(const HloInstruction& instruction);

  // The same entries, of one leaf of the result or of an operand alone, which are not kept: all
  // together may be as many as the product of the leaves.
  absl::StatusOr<InstructionIndexing> OutputToInput(const HloInstruction& instruction,
                                                    int64_t output_leaf);
  absl::StatusOr<InstructionIndexing> InputToOutput(const HloInstruction& instruction,
                                                    OperandLeaf operand_leaf);

  // No entries.
  static const SharedIndexing& Nothing();

 private:
  using KnownKinds = absl::flat_hash_map<InstructionKind, SharedIndexing, InstructionKindHash,
                                         InstructionKindEqual>;
  absl::StatusOr<SharedIndexing> Find(const HloInstruction& instruction, Direction direction,
                                      KnownKinds* known);
  absl::StatusOr<InstructionIndexing> OfLeaf(const HloInstruction& instruction, Direction direction,
                                             OperandLeaf leaf);

  std::unique_ptr<CalledComputations> called_;
  KnownKinds output_to_input_;
  KnownKinds input_to_output_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_INSTRUCTION_INDEXER_H_
