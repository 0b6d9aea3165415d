// Computations as the operations that call them see them (ComputationIndexer of
// ops/instruction_indexing.h), and what several walks over computations have in common.
//
// What a computation reads of its own parameters does not depend on who calls it. It is found once
// for each leaf, by a walk over its instructions, and then said as each caller sees it: bindings to
// a parameter become bindings to the operand passed for it, call paths begin with the caller. So
// the cost is linear in computations and leaves, however often computations call each other.
#ifndef XLA_INDEXING_FUSION_CALLED_COMPUTATIONS_H_
#define XLA_INDEXING_FUSION_CALLED_COMPUTATIONS_H_

#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/fusion/instruction_reads.h"
#include "xla_indexing/fusion/reachability.h"
#include "xla_indexing/fusion/reindexing.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

// What a walk from one leaf found.
struct Walked {
  InstructionIndexing entries;
  int64_t steps = 0;
  // Whether it was not stopped for the number of steps.
  bool is_whole = true;
};

class CalledComputations final : public ComputationIndexer {
 public:
  // Keeps a reference to `options`.
  CalledComputations(mlir::MLIRContext* context, const FusionOptions& options);
  ~CalledComputations() override;

  // ComputationIndexer: as `called.caller` sees it.
  absl::StatusOr<InstructionIndexing> OutputToInput(const CalledComputation& called,
                                                    int64_t output_leaf) override;
  absl::StatusOr<InstructionIndexing> InputToOutput(const CalledComputation& called,
                                                    OperandLeaf parameter_leaf) override;
  std::vector<OperandLeaf> LeavesRead(const HloComputation& computation,
                                      int64_t output_leaf) override;
  std::vector<OperandLeaf> LeavesReached(const HloComputation& computation,
                                         OperandLeaf parameter_leaf) override;
  LoopMemo& MemoOf(const HloInstruction& loop, bool forward) override;

  // The same as the computation itself sees it, where it is called at this depth, in so many steps.
  absl::StatusOr<Walked> OutputToInput(const HloComputation& computation, int64_t output_leaf,
                                       int depth, int64_t max_steps);
  absl::StatusOr<Walked> InputToOutput(const HloComputation& computation,
                                       OperandLeaf parameter_leaf, int depth, int64_t max_steps);

  // The maps from a leaf of the root, an array, to every instruction of the computation that it
  // depends on, the root first. ResourceExhausted past that many steps.
  absl::StatusOr<std::vector<InstructionReads>> OutputToInstructions(
      const HloComputation& computation, int64_t output_leaf, int64_t max_steps);

  // Options for an instruction that is met at this depth: without computations, and with the reason
  // for that, where those that it calls are not looked into.
  IndexingOptions OptionsAt(int depth);

  // How many instructions of called computations have been stepped through since the last reset.
  bool HasBudget() const;
  void Spend() { ++called_instructions_; }
  void ResetBudget() { called_instructions_ = 0; }

  // The entries of one leaf of the result, or of one leaf of an operand, of an instruction that is
  // met at this depth. Those of instructions that call computations are kept.
  absl::StatusOr<InstructionIndexing> EntriesOf(const HloInstruction& instruction,
                                                Direction direction, OperandLeaf from, int depth);

  // The devices that operations across replicas in the computation, or called there, lead to; none
  // where it stays on its device.
  Interval DevicesOf(const HloComputation& computation);

  const Reachability& ReachabilityOf(const HloComputation& computation, Direction direction);

  struct Use {
    const HloInstruction* user;
    int64_t operand;
  };
  // By position of the instruction used; most have one or two.
  using Users = std::vector<llvm::SmallVector<Use, 2>>;
  const Users& UsersOf(const HloComputation& computation);

 private:
  // Computation, direction, number and leaf of what the walk starts from, depth.
  using Key = std::tuple<const HloComputation*, Direction, int64_t, int64_t, int>;

  // The same of an instruction.
  using InstructionKey = std::tuple<const HloInstruction*, Direction, int64_t, int64_t, int>;

  // From one leaf, an array of this shape.
  absl::StatusOr<Walked> Walk(const HloComputation& computation, Direction direction,
                              OperandLeaf from, const Shape& array, int depth, int64_t max_steps);
  // What `walk`, a function of depth and steps, finds from that leaf, once, as the caller sees it.
  template <typename WalkFrom>
  absl::StatusOr<InstructionIndexing> Seen(const CalledComputation& called, Direction direction,
                                           OperandLeaf from, WalkFrom walk);
  const FusionOptions& OptionsFor(const HloComputation& computation) const;

  mlir::MLIRContext* context_;
  const FusionOptions& options_;
  // For bodies of loops: what they read through more maps than a loop is composed of is of no use.
  FusionOptions loop_options_;
  absl::flat_hash_set<const HloComputation*> loop_bodies_;
  int depth_ = 0;
  int64_t called_instructions_ = 0;
  absl::flat_hash_map<Key, InstructionIndexing> known_;
  absl::flat_hash_map<InstructionKey, InstructionIndexing> known_callers_;
  absl::flat_hash_map<std::tuple<const HloInstruction*, bool, int>, std::unique_ptr<LoopMemo>>
      loops_;
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<Users>> users_;
  absl::flat_hash_map<const HloComputation*, Interval> devices_;
  absl::flat_hash_map<std::pair<const HloComputation*, Direction>, std::unique_ptr<Reachability>>
      reachability_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_FUSION_CALLED_COMPUTATIONS_H_
