// One iteration of a while, in one direction: which leaves of the state it leads to, and with which
// maps.
//
// Runtime variables of body and condition are of one iteration:
//
//   those bound to the counted leaf           have the value of that iteration
//   those bound to a leaf passed through      are bound to init's
//   others                                    are taken for any of their values, over-approximate
//
// What does not depend on the leaf that is asked about is kept in the loop's memo.
#ifndef XLA_INDEXING_OPS_INTERNAL_LOOP_BODY_H_
#define XLA_INDEXING_OPS_INTERNAL_LOOP_BODY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/internal/builders.h"
#include "xla_indexing/ops/internal/computation_indexer.h"
#include "xla_indexing/ops/internal/loop_counter.h"
#include "xla_indexing/ops/internal/loop_memo.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// More iterations than this are not composed one by one.
inline constexpr int64_t kMaxSingleIterations = 256;

class LoopBody {
 public:
  // Requires build.options.computations; keeps a reference to `build`.
  LoopBody(BuildContext& build, Direction direction);

  BuildContext& build() const { return build_; }
  const HloInstruction& loop() const { return loop_; }
  bool is_forward() const { return is_forward_; }
  const std::optional<LoopCounter>& counter() const { return counter_; }
  LoopMemo& memo() const { return memo_; }
  const Shape& Leaf(int64_t leaf) const { return loop_.shape().Leaf(leaf); }
  CalledComputation Called(const HloComputation& computation) const {
    return {loop_, computation, std::nullopt};
  }

  // Whether the body returns a leaf unchanged, and the leaves that it does not.
  bool PassesThrough(int64_t leaf) const;
  const std::vector<int64_t>& ChangedLeaves() const;
  // The body's entries of a leaf, and the leaves that they can be about.
  const InstructionIndexing& EntriesOf(int64_t leaf) const;
  const std::vector<int64_t>& LeavesFrom(int64_t leaf) const;
  // Whether an iteration can lead to other devices.
  bool HasDevices() const;

  // The number of the iteration of step k from where maps start; of a counted loop.
  int64_t IterationOf(int64_t k) const { return is_forward_ ? k : counter_->count - 1 - k; }
  // Maps of body or condition in one iteration; in any where there is no number.
  // `*depends_on_number` is set where the number has made a difference.
  OperandIndexing InIteration(OperandIndexing map, std::optional<int64_t> iteration,
                              bool* depends_on_number) const;
  OperandIndexingSet InIteration(const OperandIndexingSet& maps, std::optional<int64_t> iteration,
                                 bool* depends_on_number) const;
  // Maps of body or condition, whatever the number of the iteration.
  OperandIndexingSet InAnyIteration(const OperandIndexingSet& maps) const;

  // Why the iterations of a counted loop are not looked at one by one.
  std::string WhyAnyNumber() const;

 private:
  // Why a value of body or condition is not known in each iteration.
  std::string WhyAnyValue(const RuntimeVarIndexing& value) const;

  BuildContext& build_;
  const HloInstruction& loop_;
  const bool is_forward_;
  const std::optional<LoopCounter> counter_;
  LoopMemo& memo_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LOOP_BODY_H_
