// How operations that call computations learn what those read.
#ifndef XLA_INDEXING_OPS_RULES_FRAME_COMPUTATION_INDEXER_H_
#define XLA_INDEXING_OPS_RULES_FRAME_COMPUTATION_INDEXER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"

namespace xla_indexing::internal {

struct CountedLoop;
struct LoopMemo;

// What labels say where a walk over a computation was stopped.
inline constexpr char kTooManySteps[] = "it takes too many steps to compose the maps";

// A computation and how it is called: its parameter p is operand `first_operand + p` of the caller.
// Without `first_operand` parameters are no operands: the state of a loop after its first iteration, and
// what earlier steps of an asynchronous operation have bound (hlo/model/async_steps.h).
struct CalledComputation {
  const HloInstruction& caller;
  const HloComputation& computation;
  std::optional<int64_t> first_operand = 0;
  // Asks for the tightest maps (IndexingOptions::exact) whatever the options say.
  bool tightest = false;
};

// What operations that call computations need to know of them. Implemented by fusion/, which walks
// the computation; declared here, so that the operations can be said where the others are.
//
// Entries are between the leaves of the computation's root (output_leaf) and its parameters
// (operand: the parameter's number, operand_leaf: a leaf of it), simplified, sorted as in
// InstructionIndexing. Bindings are those seen from the computation that the caller is in
// (ops/values/call_scope.h). The options are those that the indexer was made with.
class ComputationIndexer {
 public:
  virtual ~ComputationIndexer() = default;

  // The entries of one leaf of the root.
  virtual absl::StatusOr<InstructionIndexing> OutputToInput(const CalledComputation& called,
                                                            int64_t output_leaf) = 0;

  // The entries of one leaf of one parameter.
  virtual absl::StatusOr<InstructionIndexing> InputToOutput(const CalledComputation& called,
                                                            OperandLeaf parameter_leaf) = 0;

  // The leaves of parameters, of those that are wanted, all of which is surely read by all elements of
  // these leaves of the root together. One pass for all of them, which costs little where most of what
  // is read is whole arrays.
  virtual absl::StatusOr<std::vector<OperandLeaf>> LeavesReadWholly(
      const HloComputation& computation, absl::Span<const int64_t> output_leaves,
      llvm::function_ref<bool(OperandLeaf)> is_wanted) = 0;

  // The leaves of parameters that entries of a leaf of the root can be about, and those of the root
  // that entries of a leaf of a parameter can; without making any map.
  virtual std::vector<OperandLeaf> LeavesRead(const HloComputation& computation,
                                              int64_t output_leaf) = 0;
  virtual std::vector<OperandLeaf> LeavesReached(const HloComputation& computation,
                                                 OperandLeaf parameter_leaf) = 0;

  // What callers in the module pass as a leaf of a parameter, a scalar.
  virtual PassedScalar ScalarPassed(const HloInstruction& parameter, int64_t leaf) = 0;

  // What counts in a while, in whichever direction it is asked about.
  virtual const CountedLoop& CountedOf(const HloInstruction& loop) = 0;

  // What is known of a loop, met where the indexer was asked for last, for its other leaves.
  virtual LoopMemo& MemoOf(const HloInstruction& loop, Direction direction) = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_COMPUTATION_INDEXER_H_
