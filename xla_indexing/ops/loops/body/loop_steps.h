// What a loop does in one step, as the laws of closed forms see it (ops/loops/closure/loop_closure.h): a
// relation between the leaves of its state at a time and at the next one.
//
// Leaves are whatever steps lead from or to: those of a while's state (ops/loops/body/loop_body.h), or
// the carries, slices and arrays of a scan (ops/loops/scan.cc).
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_LOOP_STEPS_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_LOOP_STEPS_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"

namespace xla_indexing::internal {

class LoopSteps {
 public:
  // Keeps references.
  LoopSteps(const HloInstruction& loop, Direction direction, LoopMemo& memo)
      : loop_(loop), is_forward_(direction == Direction::kInputToOutput), memo_(memo) {}
  virtual ~LoopSteps() = default;
  LoopSteps(const LoopSteps&) = delete;
  LoopSteps& operator=(const LoopSteps&) = delete;

  const HloInstruction& loop() const { return loop_; }
  bool is_forward() const { return is_forward_; }
  LoopMemo& memo() const { return memo_; }

  // How many steps there may be, and the number where it is known.
  virtual Interval Counts() const = 0;
  std::optional<int64_t> count() const {
    const Interval counts = Counts();
    return counts.IsPoint() ? std::optional<int64_t>(counts.lower()) : std::nullopt;
  }
  // The times from the beginning of the loop to its end.
  Interval Times() const {
    const Interval counts = Counts();
    return counts.has_upper() ? Interval::Closed(0, counts.upper()) : Interval::AtLeast(0);
  }

  virtual int64_t LeafCount() const = 0;
  virtual const Shape& Leaf(int64_t leaf) const = 0;
  // Whether every step leaves a leaf unchanged.
  virtual bool PassesThrough(int64_t leaf) const = 0;
  // Where a step leads from a leaf, as timed maps (ops/loops/body/loop_body.h).
  virtual const LeafSets& TimedStepsOf(int64_t leaf) const = 0;

 protected:
  const HloInstruction& loop_;
  const bool is_forward_;
  LoopMemo& memo_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_LOOP_STEPS_H_
