// One iteration of a while, in one direction: which leaves of the state it leads to, and with which
// maps.
//
// Time. The state at time t is what t iterations have made of the state that the loop begins with.
// Iteration k leads from time k to k + 1; maps from output to input lead from k + 1 to k. A *timed*
// map has the time as its first dimension and its first result:
//
//   (t, d..) -> (t + 1, e..)   or, from output to input,   (t, d..) -> (t - 1, e..)
//
// so that what differs from iteration to iteration is a function of t, and iterations compose as
// maps do.
//
// Runtime variables of body and condition are of one iteration:
//
//   those that the number of the iteration fixes,      become functions of t
//     numbers of iterations of loops in it among them
//   those bound to what the loop begins with, as an    are bound to init's
//     element that the number of the iteration may pick
//   others                                             may have any value,
//                                                      over-approximate, or (ValuedStepsOf) are
//                                                      those of the iteration: their arrays have
//                                                      its number as one index more; perhaps only
//                                                      where they are not functions of the number
//                                                      and of scalars that the loop begins with
//
// Example: leaf 1 of `(i + 1, dynamic-slice(x, 4 - i), x)`, i from 0, reads of leaf 2, x:
//   (t, d0) -> (t - 1, 5 - t + d0).
//
// What does not depend on the leaf that is asked about is kept in the loop's memo.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_LOOP_BODY_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_LOOP_BODY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/values/loop_counter.h"

namespace xla_indexing::internal {

class LoopBody : public LoopSteps {
 public:
  // Requires build.options.computations; keeps a reference to `build`.
  LoopBody(BuildContext& build, Direction direction);

  BuildContext& build() const { return build_; }
  const LoopCounter& counter() const { return counted_.counter; }
  Interval Counts() const override { return counter().counts; }
  int64_t LeafCount() const override { return loop_.shape().LeafCount(); }
  const Shape& Leaf(int64_t leaf) const override { return loop_.shape().Leaf(leaf); }
  CalledComputation Called(const HloComputation& computation) const {
    return {loop_, computation, std::nullopt};
  }

  // Whether the body returns a leaf unchanged, and the leaves that it does not.
  bool PassesThrough(int64_t leaf) const override { return counted_.passes_through[leaf]; }
  const std::vector<int64_t>& ChangedLeaves() const;
  // The body's entries of a leaf, the tightest ones, and the leaves that they can be about.
  const InstructionIndexing& EntriesOf(int64_t leaf) const;
  const std::vector<int64_t>& LeavesFrom(int64_t leaf) const;
  // Whether the condition can depend, in some iteration, on what the leaf is when the loop begins;
  // forwards.
  bool LeadsToCondition(int64_t leaf) const;
  // Whether an iteration can lead to other devices.
  bool HasDevices() const;
  // Whether so little is known of an iteration that nothing is to be had of several but which leaves
  // they lead to: the walk from one of many leaves was stopped.
  bool IsBeyondClosing() const;

  // The leaf of the state that an entry of EntriesOf leads to.
  int64_t LeadsTo(const IndexingEntry& entry) const {
    return is_forward_ ? entry.output_leaf : entry.operand_leaf;
  }
  // Where an iteration leads from a leaf, as timed maps.
  const LeafSets& TimedStepsOf(int64_t leaf) const override;
  // These with the values that an iteration computes as runtime variables, as few maps.
  const LeafSets& ValuedStepsOf(int64_t leaf, StepValues values) const;
  // Maps of the condition with the time as their first dimension or (`to_state`) their first
  // result.
  OperandIndexingSet TimedCondition(const OperandIndexingSet& maps, bool to_state) const;

  // Maps of body or condition, whatever the number of the iteration.
  OperandIndexingSet InAnyIteration(const OperandIndexingSet& maps) const;

 private:
  // Which of a map's ends has the time: the number of the iteration is a function of it.
  enum class TimeAt : uint8_t { kBothForward, kBothBackward, kDimension, kResult };
  class StateInIteration;
  // Maps of body or condition with the time.
  OperandIndexingSet Timed(const OperandIndexingSet& maps, TimeAt place,
                           std::optional<StepValues> values = std::nullopt) const;
  // Whether a map says nothing but that a leaf is reached.
  bool IsWholeLeaf(const OperandIndexing& map, int64_t from, int64_t to) const;
  // The entries of a leaf that every iteration passes through, without a walk over the body where
  // they say nothing: where all that it leads to besides is all of itself in one iteration more.
  std::optional<InstructionIndexing> EntriesIntoWholeLeaves(int64_t leaf) const;
  // Why nothing is known of an iteration from a leaf to itself but that it leads there, if so.
  std::optional<std::string> WhyWholeOfItself(int64_t leaf) const;
  // With values of the iteration as ranges, or (`keeps_values`) as elements of arrays with the number
  // of the iteration as their first index.
  OperandIndexing WithInnerValues(OperandIndexing timed, mlir::AffineExpr number,
                                  bool keeps_values) const;
  // Why a value of body or condition is not known in each iteration.
  std::string WhyAnyValue(const RuntimeVarIndexing& value) const;

  BuildContext& build_;
  const CountedLoop& counted_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_LOOP_BODY_H_
