// The indexing maps of instructions, and of whole computations and fusions: the one object to ask.
//
//   output to input   from an element of the result to the elements of the operands that it is
//                     computed from
//   input to output   from an element of an operand to the elements of the result that are computed
//                     from it; the converse relation
//
// The result of a computation is its root, its operands are its parameters. Both are asked about
// leaf by leaf: the arrays of a shape, numbered depth first (hlo/types/shape.h). The answer is a sparse
// list of entries, in which pairs of leaves without a map are left out.
//
// The maps of the instructions on every path between root and parameter are composed and
// simplified; paths that come to the same map count once, so that a parameter has as many maps as
// there are ways in which it is read.
//
// Instructions that call computations, such as fusions, calls and loops, are looked through. What
// is found is kept for later questions: instructions of one kind share their maps (opcode,
// attributes and shapes are all that these depend on, but for the names of the operands that offsets
// are read from), and so do computations that say the same, but for names, also those of different
// modules, and fusions and calls of them. So asking about every instruction of a module one by one,
// or about one view after another (fusion/fusion_view.h), costs little more than asking about the
// different ones. An indexer is therefore made once for a context, and kept.
//
// Method. One walk over the instructions, from the root in reverse topological order (or from the
// parameters in topological order), that carries for every instruction leaf the set of maps from
// the start to it. Instructions that only move elements (reshape, transpose, reverse, bitcast),
// keep them in place (elementwise) or reduce them extend a *chain* of reindexings, in which a step
// and its inverse cancel; other instructions compose. The cost is linear in instructions times
// maps.
//
// Memory. An indexer keeps at most some 250,000 maps and answers, and 16 MiB of what computations
// say; then it forgets what it has kept, and makes it again. What it knows of single instructions it
// keeps for the four modules that it was asked about last.
//
// Bound. The number of maps can grow exponentially in hostile graphs. Past `max_maps` for an
// instruction leaf those that differ in a constant are made one map with a range variable, exactly,
// and if there are too many still, they are widened to the whole leaf, over-approximate, with the
// bound in the reason. A walk takes no more steps (maps taken through an instruction) than its
// share of `max_steps`; what a stopped walk has not reached is answered by reachability: whole
// leaves, over-approximate.
//
// Example, p0 + transpose(p0) of f32[20,20]:
//
//   mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
//   HloIndexer indexer(&context);
//   absl::StatusOr<SharedIndexing> reads =
//       indexer.Index(*module->entry_computation(), Direction::kOutputToInput);
//     {output_leaf 0, operand 0, operand_leaf 0, {(d0, d1) -> (d0, d1), (d0, d1) -> (d1, d0)}}
//
// The context has to outlive the indexer, and what is asked about the question. Answers may outlive
// the indexer, but not the context, and their bindings not the module. An indexer serves one thread at a time
// (fusion/parallel_indexing.h serves many).
//
// Errors. InvalidArgument where there is no such leaf, or the module is not valid
// (hlo/verify/verifier.h).
//
// Source: the indexing analysis of XLA, "Indexing Maps for Fusion".
#ifndef XLA_INDEXING_FUSION_HLO_INDEXER_H_
#define XLA_INDEXING_FUSION_HLO_INDEXER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing {

namespace internal {
class CalledComputations;
class KnownModules;
}  // namespace internal

// What is asked about: an instruction or a computation, which has to outlive this.
class IndexingTarget {
 public:
  // NOLINTBEGIN(google-explicit-constructor): either of them is a target.
  IndexingTarget(const HloInstruction& instruction) : instruction_(&instruction) {}
  IndexingTarget(const HloComputation& computation) : computation_(&computation) {}
  // NOLINTEND(google-explicit-constructor)

  // One of the two is null.
  const HloInstruction* instruction() const { return instruction_; }
  const HloComputation* computation() const { return computation_; }

 private:
  const HloInstruction* instruction_ = nullptr;
  const HloComputation* computation_ = nullptr;
};

// No entries.
const SharedIndexing& NoEntries();

// How a leaf of an instruction is read.
struct InstructionReads {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;
  OperandIndexingSet indexing;  // from what was asked about to the leaf
};

class HloIndexer {
 public:
  // In a context that was made without threads, expressions are made without locks from here on.
  explicit HloIndexer(mlir::MLIRContext* context, const FusionOptions& options = {});
  ~HloIndexer();

  // The entries between the leaves of the target's result and operands, sorted. Each set is
  // simplified; for an instruction that calls no computation it has the form of the operation's
  // definition. Without `from` these are all entries; with it, those that start at that leaf. In the
  // direction output to input the leaf is one of the result, with operand 0. What values decide
  // (IndexingOptions::dependence) and the budget does not reach is what is read, over-approximate.
  absl::StatusOr<SharedIndexing> Index(IndexingTarget target, Direction direction,
                                       std::optional<OperandLeaf> from = std::nullopt);

  // All entries, each set in normal form (OperandIndexingSet::Simplify), without those that become
  // empty. Instructions of one kind share these too.
  absl::StatusOr<SharedIndexing> IndexSimplified(IndexingTarget target, Direction direction);

  // The maps from a leaf of the root of a computation to the leaves of every instruction that it is
  // computed from, the root and constants among them, in one walk: users come before their
  // operands, and each set is simplified. What calls and loops do is one instruction;
  // fusion/fusion_view.h replaces calls by what they compute. A set that is not exact says so, as
  // all of an array past the bounds above.
  absl::StatusOr<std::vector<InstructionReads>> IndexEachInstruction(
      const HloComputation& computation, int64_t root_leaf = 0);

 private:
  // Index() of what is read, for who asks for dependence and has no steps left: over-approximate.
  absl::StatusOr<SharedIndexing> ReadInstead(IndexingTarget target, Direction direction,
                                             std::optional<OperandLeaf> from);
  // Index(), with predicates that nobody knows.
  absl::StatusOr<SharedIndexing> Find(IndexingTarget target, Direction direction,
                                      std::optional<OperandLeaf> from);
  // Entries without these (IndexingOptions::dependence).
  absl::StatusOr<SharedIndexing> Decided(const HloModule& module,
                                         absl::StatusOr<SharedIndexing> entries);
  // All entries of an instruction.
  absl::StatusOr<SharedIndexing> EntriesOf(const HloInstruction& instruction, Direction direction,
                                           bool simplified);
  internal::CalledComputations& Called(const HloModule& module);

  mlir::MLIRContext* context_;
  FusionOptions options_;
  bool was_asked_ = false;
  // For ReadInstead(), and the budget that has been too small for dependence.
  std::unique_ptr<HloIndexer> reads_;
  int64_t too_small_ = 0;
  // What is kept for later questions; null until there is something to keep, or to look for.
  std::unique_ptr<internal::KnownModules> known_;
};

// The indexers that a query asks: one with the options, one that asks for the tightest maps, where
// the first answer is not exact, and one for tiles, which are loaded whole: a pad or an update
// reads its operand through one map. Each is made when it is asked for first. For queries about one
// target after another, which then share what is found:
//
//   HloIndexers indexers(&context);
//   for (const HloInstruction* fusion : fusions) ComputeUtilization(*fusion, indexers);
class HloIndexers {
 public:
  explicit HloIndexers(mlir::MLIRContext* context, FusionOptions options = {})
      : context_(context), options_(std::move(options)) {}

  mlir::MLIRContext* context() const { return context_; }
  const FusionOptions& options() const { return options_; }

  HloIndexer& usual() { return usual_ ? *usual_ : usual_.emplace(context_, options_); }
  HloIndexer& exact();
  HloIndexer& one_map();

 private:
  mlir::MLIRContext* context_;
  const FusionOptions options_;
  std::optional<HloIndexer> usual_;
  std::optional<HloIndexer> exact_;
  std::optional<HloIndexer> one_map_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_HLO_INDEXER_H_
