// The indexing of many instructions on several threads.
//
// There are at most as many threads as MLIRContexts, and each makes its maps in its own context.
// Threads wait for one another only to find out whether the maps of a kind of instructions are made
// already: the first thread that reaches a kind makes them, for all instructions of it. Contexts
// that were made with threading disabled need no locks either. The contexts are the caller's and
// have to outlive the maps. Maps of different contexts must not be compared or composed; they can
// be evaluated and printed.
//
// Example, every instruction of a module on two threads:
//
//   mlir::MLIRContext first(mlir::MLIRContext::Threading::DISABLED);
//   mlir::MLIRContext second(mlir::MLIRContext::Threading::DISABLED);
//   absl::Status status = ComputeIndexingInParallel(InstructionsOf(*module), {&first, &second}, {},
//                                                   [](const IndexedInstruction& result) { .. });

#ifndef XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_
#define XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

struct ParallelIndexingOptions {
  // Which maps are made.
  bool output_to_input = true;
  bool input_to_output = false;
  FusionOptions fusion;
};

struct IndexedInstruction {
  const HloInstruction* instruction;
  size_t position;  // among the instructions
  size_t thread;    // the position of the context among the contexts
  // What the maps belong to.
  mlir::MLIRContext* context;
  // Empty where this direction was not asked for. Instructions of one kind share their maps. Who
  // keeps maps copies the pointer to them; the references are valid until `receive` comes back.
  const absl::StatusOr<SharedIndexing>& output_to_input;
  const absl::StatusOr<SharedIndexing>& input_to_output;
};

// Gives `receive` the maps of every instruction when all have been made. The maps of one context are
// given one after another, in the order of `instructions`, by the only thread that uses the context;
// those of different contexts are given at the same time, so that `receive` has to keep what it
// writes apart by thread or by position. With one context the calling thread does everything.
//
// InvalidArgument, and nothing is given, without a context, with one that is null, and with one that
// occurs twice: contexts without threading, as HloIndexer makes them, are for one thread each.
absl::Status ComputeIndexingInParallel(absl::Span<const HloInstruction* const> instructions,
                                       absl::Span<mlir::MLIRContext* const> contexts,
                                       const ParallelIndexingOptions& options,
                                       absl::FunctionRef<void(const IndexedInstruction&)> receive);

// Any question about each of `count` things on several threads: calls `ask(i, indexers)` once for
// every i below `count`, with the indexers of the thread's context. That is the parallel form of
// every query that takes indexers; `ask` keeps what it writes apart by i.
//
//   AskInParallel(fusions.size(), contexts, {}, [&](size_t i, HloIndexers& indexers) {
//     reports[i] = ComputeUtilization(*fusions[i], indexers);
//   });
//
// Modules have to be verified before (hlo/verify/verifier.h), since threads do not wait for one
// another. Errors as above.
absl::Status AskInParallel(size_t count, absl::Span<mlir::MLIRContext* const> contexts,
                           const FusionOptions& options,
                           absl::FunctionRef<void(size_t i, HloIndexers& indexers)> ask);

// How many threads, at most `most`, are of use for these instructions: one for every 128 of them,
// where a loop counts as 128. With fewer it takes longer to wake another thread, and to make in its
// context what the first one has, than to make the maps. ComputeIndexingInParallel() uses no more.
size_t UsefulThreads(absl::Span<const HloInstruction* const> instructions, size_t most);

// All instructions of a module, those of called computations first.
std::vector<const HloInstruction*> InstructionsOf(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_PARALLEL_INDEXING_H_
