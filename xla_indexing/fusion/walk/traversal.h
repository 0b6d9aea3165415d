// The walk over a computation that composes the maps of its instructions (fusion/hlo_indexer.h).
//
// Paths to every element. A path may lead from each element x that meets a condition C to all of an array A, and
// from all other elements to none of it. A step S after that is a step from all of A, whatever x is:
//
//   { (x, a) | x in C, a in A }   followed by S is   { (x, b) | x in C, b in S(A) }
//
// Where S leads from all of A to all of the next array, as elementwise operations, reshapes, reductions and dots
// do, nothing is composed: the condition is handed on. Other steps, such as slices, are composed with the map
// to every element.
//
// Example: in  w = dot(x, y), ROOT r = reduce(negate(w))  the root reads every element of w, so all of x and y.
#ifndef XLA_INDEXING_FUSION_WALK_TRAVERSAL_H_
#define XLA_INDEXING_FUSION_WALK_TRAVERSAL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/fusion/walk/pending_paths.h"
#include "xla_indexing/fusion/walk/small_map.h"
#include "xla_indexing/fusion/walk/traversal_source.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::internal {

// One level of calls on the way to the instruction that is visited.
struct CallFrame {
  const CallFrame* outer = nullptr;        // the frame of the computation that contains `caller`
  const HloInstruction* caller = nullptr;  // null in the analysed computation
  int depth = 0;
};

class Traversal {
 public:
  // Prepares one walk. It starts from an array of shape `start` in the computation, and stops
  // composing after so many steps, or when the question's budget is spent. Keeps references.
  Traversal(mlir::MLIRContext* context, const FusionOptions& options,
            const HloComputation& computation, Direction direction, const Shape& start,
            int64_t max_steps, TraversalSource* source);

  // Where some leaf has many paths, asks `has_answer` whether the answer is known by other means, and is
  // stopped if so. Asks again where some leaf has many after four times as many steps.
  void AskAtManyPaths(std::function<bool()> has_answer) { has_answer_ = std::move(has_answer); }

  // The number of steps: how often a map was taken through an instruction.
  int64_t steps() const { return budget_.used() + too_many_ + steps_of_every_; }
  bool was_stopped() const { return was_given_up_ || StepsLeft() < 0 || QuestionBudget::IsSpent(); }
  // Whether it was stopped for want of steps alone.
  bool has_run_out_of_steps() const { return !was_given_up_ && StepsLeft() < 0; }
  // Whether there were so many paths that their maps were united as sets of pairs
  // (map/union/unite_graphs.h).
  bool has_united_graphs() const { return has_united_graphs_; }
  // Whether some leaf had many paths, of which some were parts of others.
  bool has_left_out_paths() const { return has_left_out_paths_; }

  // Paths by operand or parameter number, and then by leaf.
  using NumberedPaths = SmallMap<LeafPaths>;

  // Output to input: from leaves of the root to leaves of the parameters, by parameter number.
  // Input to output: from leaves of the parameters to leaves of the root, under number 0.
  absl::Status WalkComputation(const HloComputation& computation, const CallFrame& frame,
                               const NumberedPaths& start, NumberedPaths* end);
  // Output to input, to every instruction of the computation that is reached: the one at position p
  // has the number n - 1 - p, n being how many there are.
  absl::Status WalkToEach(const HloComputation& computation, const CallFrame& frame,
                          const NumberedPaths& start, NumberedPaths* end);
  // Does as WalkComputation() joint by joint (fusion/walk/joints.h). From those that the walk
  // reaches last to those that it reaches first, each is walked from alone; where such a walk
  // reaches a joint that is known, the maps of that joint take it to the end. The maps of a joint
  // are united (map/union/unite_graphs.h) before they are used, so that a joint is left in as few
  // maps as it has, and not in as many as there are ways there and on.
  //
  // A joint's maps are never a whole array for want of steps or of a bound on maps: the walk is
  // stopped there, and what it has found is of no use.
  absl::Status WalkByJoints(const HloComputation& computation, const CallFrame& frame,
                            const NumberedPaths& start, NumberedPaths* end);

  // Paths by position of an instruction in the computation, and then by leaf.
  using PathsByPosition = std::map<int64_t, LeafPaths>;
  // Output to input, from wherever these paths have come to. Paths end at the instructions that are
  // left out, by position.
  absl::Status WalkOn(const HloComputation& computation, const CallFrame& frame,
                      const PathsByPosition& start, const llvm::BitVector& left_out,
                      NumberedPaths* end);

 private:
  // Steps that compose nothing cost so much less.
  static constexpr int64_t kStepsOfEveryInOne = 16;

  // Takes all pending paths on to the end. Operands stand before their users, so that the paths to
  // an instruction are complete when it is the last one left (from output to input) or the first one
  // left (from input to output).
  absl::Status Walk(const HloComputation& computation, const CallFrame& frame,
                    PendingPaths& pending, NumberedPaths* end);
  // Whether nothing is to be found by following paths to the instruction.
  bool IsLeftOut(const HloInstruction& instruction) const;
  // Counts steps. Those past the limit are counted as well, because they have been taken.
  void Take(size_t steps) {
    if (budget_.Take(static_cast<int64_t>(steps))) return;
    too_many_ += static_cast<int64_t>(steps);
    QuestionBudget::Spend(static_cast<int64_t>(steps));
  }
  // Counts a step of paths to every element of an array, which is a small part of one of the question.
  void TakeEvery(PathSet::Conditions conditions) {
    if (conditions == 0) return;
    if (++steps_of_every_ % kStepsOfEveryInOne == 0) QuestionBudget::Spend();
  }
  // Negative where more steps were taken than there are.
  int64_t StepsLeft() const {
    return budget_.WasExceeded() ? -1 : budget_.left() - steps_of_every_;
  }
  // The condition under which a map leads to every element of an array of this shape, where it leads to
  // none of it otherwise; the empty set for all other maps.
  PathSet::Conditions LeadsToEvery(OperandIndexing& map, const Shape& to);
  // The same paths, with those to every element of the array as maps among paths().
  PathSet Written(const PathSet& paths, const Shape& shape) const;
  // The reverse; all paths are among paths().
  PathSet Unwritten(const PathSet& paths, const Shape& shape);
  // Hands the conditions on where the instruction leads from every element of one side to every element of
  // the other, and returns the paths that have still to be taken through it.
  PathSet StepEvery(const HloInstruction& instruction, int64_t operand, const PathSet& paths,
                    llvm::function_ref<PathSet&()> end);
  // The whole of an array, a leaf of an instruction, on all devices: the answer of a walk that is
  // stopped.
  const Path& WholePath(const Shape& shape) const;
  // Takes the paths at an instruction of the walked computation on to its operands, or, where it is
  // a parameter, to the end of the walk.
  absl::Status WalkToOperands(const HloInstruction& instruction, const CallFrame& frame,
                              LeafPaths& paths, PendingPaths& pending, NumberedPaths* end);
  // Takes the paths at an instruction of the walked computation on to its users and, where it is the
  // root, to the end of the walk.
  absl::Status WalkToUsers(const HloInstruction& instruction, const CallFrame& frame,
                           LeafPaths& paths, PendingPaths& pending, NumberedPaths* end);
  // Whether positions are taken through an instruction, and not maps.
  bool Reindexes(const HloInstruction& instruction, int64_t operand);
  // Takes the paths through the instruction, a reindexing of that operand, to the set that `end`
  // returns, which is asked for where a path comes there. Paths whose continuation cannot be expressed
  // are added to `refused`.
  void Reindex(const HloInstruction& instruction, int64_t operand, const PathSet& paths,
               llvm::function_ref<PathSet&()> end, PathSet* refused);
  // Takes the paths at the result of an instruction to its operands. `end` returns the set to which
  // the paths to a leaf of an operand are added.
  absl::Status StepToOperands(const HloInstruction& instruction, const CallFrame& frame,
                              LeafPaths& paths,
                              llvm::function_ref<PathSet&(int64_t operand, int64_t leaf)> end);
  // Takes the paths at one operand of an instruction to leaves of its result.
  absl::Status StepToResult(const HloInstruction& instruction, const CallFrame& frame,
                            int64_t operand, LeafPaths& paths,
                            llvm::function_ref<PathSet&(int64_t leaf)> end);
  // Adds paths that have come to the end of a computation; at the end of the whole walk with all of them
  // among paths().
  void AddAtEnd(const HloInstruction& last, const CallFrame& frame, const LeafPaths& paths,
                LeafPaths& end) const;
  bool LooksInto(const HloInstruction& instruction, const CallFrame& frame) const;
  // Takes every path through the maps of one entry.
  void Apply(const IndexingEntry& entry, const Shape& from, const Shape& to, const CallFrame& frame,
             const PathSet& paths, PathSet* end);
  // The binding that an inner binding becomes for the analysed computation.
  OperandIndexingSet SeenFromOutside(const OperandIndexingSet& set, const CallFrame& frame) const;
  // Merges or widens a set that has grown.
  void Bound(const HloInstruction& instruction, int64_t leaf, PathSet& paths);
  // Replaces the paths by `whole`, on the devices that they lead to.
  void AddWhole(const OperandIndexing& whole, const Shape& shape, const PathSet& paths,
                PathSet* end) const;
  // Whether paths end at each instruction of the computation of this frame.
  bool EndsAtEach(const CallFrame& frame) const { return is_to_each_ && frame.caller == nullptr; }
  // Takes all pending paths to the end of the computation at once.
  void FinishByReachability(const HloComputation& computation, const PendingPaths& pending,
                            NumberedPaths* end) const;
  // The same where paths end at each instruction: all that those with pending paths are computed
  // from is read whole.
  void FinishAtEach(const HloComputation& computation, const PendingPaths& pending,
                    NumberedPaths* end) const;

  mlir::MLIRContext* context_;
  const FusionOptions& options_;
  const HloComputation& computation_;
  Direction direction_;
  // The shape of the leaf that the walk started from, for widening.
  const Shape& start_shape_;
  StepBudget budget_;
  int64_t too_many_ = 0;
  int64_t steps_of_every_ = 0;
  // Conditions on the start, from number 1, as maps to a scalar.
  std::vector<OperandIndexing> conditions_;
  // What WholePath() has made, by the leaf in the module and whether the question's budget was spent.
  mutable std::map<std::pair<const Shape*, bool>, std::optional<Path>> whole_paths_;
  bool has_united_graphs_ = false;
  bool has_left_out_paths_ = false;
  TraversalSource& source_;
  // The instructions of a computation that paths end at.
  const HloComputation* with_left_out_ = nullptr;
  const llvm::BitVector* left_out_ = nullptr;
  bool is_to_each_ = false;
  std::function<bool()> has_answer_;
  int64_t steps_to_ask_ = 0;
  // In a walk by joints: what each leads to, by position, and the one that is walked from.
  bool is_by_joints_ = false;
  std::map<int64_t, InstructionIndexing> joints_;
  int64_t walked_joint_ = -1;
  bool was_given_up_ = false;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_TRAVERSAL_H_
