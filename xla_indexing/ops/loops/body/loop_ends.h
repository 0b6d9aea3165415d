// Where the ways through a loop begin and end: from maps of arrays to maps with the time as their
// first result (ops/loops/body/loop_body.h), and back.
//
// The number n of iterations is known, or the first dimension of all maps between beginning and
// end. Backwards ways begin at time n and end at time 0, forwards they begin at 0 and end at n.
// Where n is not known and a map depends on it, n is a runtime variable of the answer: the number of
// iterations of the loop (ValueFunction::Iterations), in the interval in which there is the map.
//
// Example: y[i] = f(x[i]) for i < n, y of 10 elements. Element d0 of y is computed from that of x
// where d0 < n: (d0){rt0} -> (d0), rt0 in [1, 10], d0 - rt0 in [-10, -1], rt0: the iterations.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_LOOP_ENDS_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_LOOP_ENDS_H_

#include <cstdint>
#include <optional>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"

namespace xla_indexing::internal {

class LoopEnds {
 public:
  // Keeps a reference.
  explicit LoopEnds(const LoopSteps& body) : body_(body) {}

  // `set` to where the loop begins (forwards) or ends.
  OperandIndexingSet Start(const OperandIndexingSet& set, bool at_any_time) const;
  // `set` to a time that is a number.
  OperandIndexingSet AtTime(const OperandIndexingSet& set, int64_t time) const;
  // Maps that start from a time, their first dimension, as maps from any time until the end.
  OperandIndexingSet FromAnyTime(const OperandIndexingSet& timed) const;
  // The part of `places` that is where the ways end, without the time.
  LeafSets AtEnd(const LeafSets& places) const { return WithoutNumber(BeforeNumber(places)); }
  // This with the number of iterations, where it is not known, as the first dimension, and without.
  LeafSets BeforeNumber(const LeafSets& places) const;
  LeafSets WithoutNumber(LeafSets at_end) const;
  // `map`, without the time, where the loop has at least so many iterations, as it may have.
  OperandIndexing AfterIterations(const OperandIndexing& map, int64_t least) const;
  // `timed`, from where `places` lead to at a time until the end, behind them.
  std::optional<OperandIndexingSet> BeforeEnd(const OperandIndexingSet& places,
                                              const OperandIndexingSet& timed) const;

 private:
  Interval Counts() const { return body_.Counts(); }
  // The time at which the loop ends.
  mlir::AffineExpr End(const OperandIndexing& map) const;
  // `map` to a leaf that is the same at all times.
  OperandIndexing AtAnyTime(const OperandIndexing& map) const;
  // `map` without the dimension that is the number of iterations.
  OperandIndexing WithoutNumber(const OperandIndexing& map) const;

  const LoopSteps& body_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_LOOP_ENDS_H_
