// The indexing of many instructions on several threads.
//
// There are as many threads as MLIRContexts, and each makes its maps in its own, so that threads
// wait for nothing of one another; contexts that were made with threading disabled need no locks
// either. The contexts are the caller's and have to live as long as the maps. Maps of different
// contexts must not be compared or composed; they can be evaluated and printed.
//
// Example, every instruction of a module on two threads:
//
//   mlir::MLIRContext first(mlir::MLIRContext::Threading::DISABLED);
//   mlir::MLIRContext second(mlir::MLIRContext::Threading::DISABLED);
//   ComputeIndexingInParallel(InstructionsOf(*module), {&first, &second}, {},
//                             [](IndexedInstruction result) { .. });

#ifndef XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_
#define XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/fusion/instruction_indexer.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"

namespace xla_indexing {

struct ParallelIndexingOptions {
  // Which maps are made.
  bool output_to_input = true;
  bool input_to_output = false;
  FusionOptions fusion;
};

struct IndexedInstruction {
  const HloInstruction* instruction = nullptr;
  // What the maps belong to.
  mlir::MLIRContext* context = nullptr;
  // Without entries where not asked for. Instructions that one thread has worked on may share them.
  absl::StatusOr<SharedIndexing> output_to_input = InstructionIndexer::Nothing();
  absl::StatusOr<SharedIndexing> input_to_output = InstructionIndexer::Nothing();
};

// Gives `receive` the maps of every instruction, in the order of `instructions`. Each thread gives
// it what it has made, never two threads at once; while one does so the others go on, so that
// results wait in memory for a receiver that takes long. Returns when all have been received. There
// must be a context, and none twice.
void ComputeIndexingInParallel(absl::Span<const HloInstruction* const> instructions,
                               absl::Span<mlir::MLIRContext* const> contexts,
                               const ParallelIndexingOptions& options,
                               absl::FunctionRef<void(IndexedInstruction)> receive);

// All instructions of a module, those of called computations first.
std::vector<const HloInstruction*> InstructionsOf(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_
