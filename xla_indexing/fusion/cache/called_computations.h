// Computations as the operations that call them see them (ComputationIndexer of
// ops/rules/frame/computation_indexer.h), and what several walks over computations share.
//
// What a computation reads of its own parameters does not depend on its caller. It is found once
// for each leaf, by a walk over its instructions, and then rewritten for each caller: bindings to a
// parameter become bindings to the operand passed for it, and call paths begin with the caller. So
// the cost is linear in computations and leaves, however often computations call each other.
//
// Results are kept from question to question, so that asking about all instructions of a module
// costs as much as asking about one. What instructions of one kind share is kept too
// (fusion/cache/known_kinds.h). All of it is of one module, the only one that this is asked about.
//
// Answers do not depend on what was asked before, though what is kept spares a question steps of its
// budget. Let K be the steps in which all was made that has been kept since before the budget was
// opened, and w those that the question takes with it. Without it the question makes each of these
// things at most once, in at most w + K steps: where the budget has as many, it is cut neither way,
// and the answers are equal. Where it has not, everything is forgotten and the question answered
// anew. What was made since the budget was opened, for questions that share it (the leaves of one
// instruction, one after another), the budget has paid for already. So that questions are rarely
// answered anew, everything is forgotten when K is more than half of a budget as it is opened; and
// besides when more than kMaxKept maps are kept. What a budget that is spent has cut is kept
// for the questions that share it, which can do no better, and forgotten before the next one.
#ifndef XLA_INDEXING_FUSION_CACHE_CALLED_COMPUTATIONS_H_
#define XLA_INDEXING_FUSION_CACHE_CALLED_COMPUTATIONS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/cache/call_trees.h"
#include "xla_indexing/fusion/cache/known_kinds.h"
#include "xla_indexing/fusion/walk/find_by_walk.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/fusion/walk/reachability.h"
#include "xla_indexing/fusion/walk/traversal.h"
#include "xla_indexing/fusion/walk/traversal_source.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/remembered_maps.h"
#include "xla_indexing/ops/decisions/value_origins.h"
#include "xla_indexing/ops/loops/body/iteration_count.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"
#include "xla_indexing/ops/values/passed_values.h"

namespace xla_indexing::internal {

class CalledComputations final : public ComputationIndexer, public TraversalSource {
 public:
  CalledComputations(mlir::MLIRContext* context, const FusionOptions& options);
  ~CalledComputations() override;

  // ComputationIndexer: the entries as `called.caller` sees them.
  absl::StatusOr<InstructionIndexing> OutputToInput(const CalledComputation& called,
                                                    int64_t output_leaf) override;
  absl::StatusOr<InstructionIndexing> InputToOutput(const CalledComputation& called,
                                                    OperandLeaf parameter_leaf) override;
  absl::StatusOr<std::vector<OperandLeaf>> LeavesReadWholly(
      const HloComputation& computation, absl::Span<const int64_t> output_leaves,
      llvm::function_ref<bool(OperandLeaf)> is_wanted) override;
  std::vector<OperandLeaf> LeavesRead(const HloComputation& computation,
                                      int64_t output_leaf) override;
  std::vector<OperandLeaf> LeavesReached(const HloComputation& computation,
                                         OperandLeaf parameter_leaf) override;
  PassedScalar ScalarPassed(const HloInstruction& parameter, int64_t leaf) override {
    return passed_values_.Of(parameter, leaf);
  }
  const CountedLoop& CountedOf(const HloInstruction& loop) override {
    return passed_values_.CountedOf(loop);
  }
  LoopMemo& MemoOf(const HloInstruction& loop, Direction direction) override;

  // Walks a computation by itself, from a leaf of its root or of a parameter, in at most
  // `max_steps` steps; bindings are as the computation itself sees them.
  absl::StatusOr<TraversalResult> WalkFrom(const HloComputation& computation, Direction direction,
                                           OperandLeaf from, int64_t max_steps) {
    return WalkFrom(computation, options_, direction, from, /*depth=*/0, max_steps);
  }

  // The maps to every instruction that the leaf of the root is computed from, by the instruction's
  // position, which the entries have for the operand.
  absl::StatusOr<TraversalResult> WalkToEach(const HloComputation& computation, int64_t leaf);

  // Options for an instruction that is met at this depth. Where the computations that it calls are
  // not looked into, `computations` is null and the reason is given.
  IndexingOptions OptionsAt(int depth);

  // What `answer` returns, a question of its own, as if nothing had been asked before.
  template <typename Answer>
  auto Ask(Answer answer) {
    const QuestionBudget budget;
    const int64_t left = BeginQuestion();
    auto answered = answer();
    if (MayBeCutWithoutKept(left)) answered = answer();
    EndQuestion(left);
    return answered;
  }

  // Whether a walk steps through the computation where it is called instead of taking its maps: it
  // does where the computation has few instructions, counting those of the computations that it
  // calls.
  bool IsTraversedWhereCalled(const HloComputation& computation) override {
    return call_trees_.IsSmall(computation);
  }

  // The entries of one leaf of the result, or of one leaf of an operand, of an instruction that is
  // met at this depth. Those of instructions that call computations are kept.
  absl::StatusOr<InstructionIndexing> EntriesOf(const HloInstruction& instruction,
                                                Direction direction, OperandLeaf from,
                                                int depth) override;
  absl::StatusOr<SharedIndexing> ReadByAllOf(const HloInstruction& instruction, int64_t leaf,
                                             int depth) override;
  using MakeEntries = llvm::function_ref<absl::StatusOr<InstructionIndexing>()>;

  // The entries of a computation, of all leaves or of one, as a question of its own. Where they are
  // not known, `make` makes them.
  absl::StatusOr<SharedIndexing> EntriesOf(const HloComputation& computation, Direction direction,
                                           std::optional<OperandLeaf> from, MakeEntries make);
  // The entries of all leaves of an instruction, as a question of its own; each set simplified, or
  // in the form of the operation's definition where the instruction calls no computation. Those of
  // one kind share them.
  absl::StatusOr<SharedIndexing> EntriesOf(const HloInstruction& instruction, Direction direction,
                                           bool simplified = false);

  // Whether the maps of an instruction are made of those of computations that it calls.
  static bool AreNeededFor(const HloInstruction& instruction) {
    return !HasKind(instruction.opcode()) && !instruction.called_computations().empty();
  }

  ValueOrigins* Origins() override {
    return options_.indexing.dependence == Dependence::kReads ? nullptr : &origins_;
  }
  const ValueEnvironment& Loops() override { return known_loops_; }
  bool MayDecideReads(const HloInstruction& instruction) override;

  Interval DevicesOf(const HloComputation& computation) override;

  const Reachability& ReachabilityOf(const HloComputation& computation,
                                     Direction direction) override;

  const FusionOptions& options() const { return options_; }

 private:
  // The parts of Ask(). How many steps the question may take.
  int64_t BeginQuestion();
  // Whether the question has to be answered anew, with `left` steps again and nothing kept.
  bool MayBeCutWithoutKept(int64_t left);
  void EndQuestion(int64_t left);
  void Forget();

  // What was asked of a computation, or of an instruction that calls some.
  struct Question {
    const void* subject = nullptr;
    Direction direction = Direction::kOutputToInput;
    // Where the walk starts; none: everywhere.
    std::optional<OperandLeaf> from;
    int levels_left = 0;
    // Whether a computation is called, and then whether as the body or the condition of a loop.
    bool is_called = false;
    bool is_of_loop = false;
    bool tightest = false;

    template <typename H>
    friend H AbslHashValue(H h, const Question& q) {
      const OperandLeaf from = q.from.value_or(OperandLeaf{-1, -1});
      return H::combine(std::move(h), q.subject, q.direction, from.operand, from.operand_leaf,
                        q.levels_left, q.is_called, q.is_of_loop, q.tightest);
    }
    friend bool operator==(const Question& a, const Question& b) = default;
  };
  // The answer that is kept, or what `make` makes.
  absl::StatusOr<SharedIndexing> FindOrMake(const Question& question, MakeEntries make);

  // How many steps a walk over a computation that is called may take. As any of its n leaves may be
  // asked for, and leads to many of them where there are many, that is a share of 1 / n, and of
  // 1 / n^2 for large n; no less than 1 / 8 in the body of a loop.
  int64_t StepsOfWalk(const HloComputation& computation, Direction direction,
                      bool is_of_loop) const;
  // The entries of a leaf, computed once, as the caller sees them.
  absl::StatusOr<InstructionIndexing> Seen(const CalledComputation& called, Direction direction,
                                           OperandLeaf from);
  // The entries of one leaf of a computation that is called at this depth; none if it is no
  // array.
  absl::StatusOr<TraversalResult> WalkFrom(const HloComputation& computation,
                                           const FusionOptions& options, Direction direction,
                                           OperandLeaf from, int depth, int64_t max_steps);
  // FindByWalk(), with what this remembers.
  absl::StatusOr<TraversalResult> Walk(const WalkStart& start, const FusionOptions& options,
                                       WalkTo walk_to, WalkTo walk_by_joints = nullptr);
  // LeavesReadWholly() of a computation that is called at this depth.
  absl::StatusOr<std::vector<OperandLeaf>> FindReadWholly(
      const HloComputation& computation, absl::Span<const int64_t> output_leaves,
      llvm::function_ref<bool(OperandLeaf)> is_wanted, int depth);
  // All entries of an instruction that has a kind, or looks into no computation.
  absl::StatusOr<SharedIndexing> EntriesOfKind(const HloInstruction& instruction,
                                               const KnownKinds::Form& form);
  // The same, where they are not kept, as `make` makes them.
  absl::StatusOr<SharedIndexing> EntriesOfKind(const HloInstruction& instruction,
                                               const KnownKinds::Form& form, MakeEntries make);
  // The entries of all leaves.
  absl::StatusOr<SharedIndexing> AllEntriesOf(const HloInstruction& instruction,
                                              Direction direction, bool simplified);

  static constexpr size_t kMaxKept = 50'000;

  mlir::MLIRContext* context_;
  const KnownLoops known_loops_{*this, context_};
  const KnownScalars known_scalars_{*this, context_};
  const FusionOptions options_;
  bool was_asked_ = false;
  // For bodies of loops: entries with more maps than a loop is composed of are of no use.
  FusionOptions loop_options_;
  int depth_ = 0;
  // Whether the current walk asks for the tightest maps.
  bool tightest_ = false;
  KnownKinds kinds_;
  // What loops and large computations, which repeat themselves, make of maps; answers are the same
  // without it.
  struct OpenTables;
  RememberedForms::Table forms_;
  RememberedCompositions::Table compositions_;
  // In how many steps all that is kept was made, at most; and what was kept before the budget with
  // this number was opened.
  int64_t steps_ = 0;
  int64_t steps_before_ = 0;
  int64_t budget_ = 0;
  // The budget that was spent, so that what is kept may be too weak for questions of others; 0 for none.
  int64_t cut_by_ = 0;
  // What a question's budget has paid for is there when it is spent.
  absl::flat_hash_map<Question, SharedIndexing> answers_;
  size_t kept_maps_ = 0;
  absl::flat_hash_map<const HloInstruction*, bool> are_reads_decided_;
  absl::flat_hash_map<std::tuple<const HloInstruction*, Direction, int, bool>,
                      std::unique_ptr<LoopMemo>>
      loops_;
  PassedValues passed_values_;
  CallTrees call_trees_;
  ValueOrigins origins_;
  absl::flat_hash_map<const HloComputation*, Interval> devices_;
  absl::flat_hash_map<std::pair<const HloComputation*, Direction>, std::unique_ptr<Reachability>>
      reachability_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_CALLED_COMPUTATIONS_H_
