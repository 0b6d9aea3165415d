// The leaves of a while's state that count, and how often it runs.
//
// Mathematics. A leaf counts where the loop begins with a value s of it that the module fixes and
// the body adds a constant c to it, as far as values do not wrap; in iteration k it is s + k * c.
// Where the module does not fix s but every iteration adds c, whatever the leaf is, its value is
// s + k * c modulo the size of its type.
// Where only a caller has s, as XLA's CPU backend leaves small loops in computations of their own,
// the value that XLA has put into the backend_config is taken (known_init_step).
// With all these leaves as functions of k the condition c(k) is a function of k, and the loop runs
//
//   T = the least k >= 0 for which c(k) does not hold
//
// times. Both are found by evaluating body and condition (ops/values/element_value.h), so that
// they may be written in any way that it follows: through calls, converts, selects, with limits
// that are computed or carried unchanged. T is the greatest n for which c(0), .., c(n - 1) hold as
// ranges show, if c(n) does not; doubling and bisection find it in about 2 * log2(T) steps. Where
// it is not so, T is at most the least n that doubling and bisection find with c(n) not holding,
// as of a loop that ends after n iterations at the latest, or else any number.
//
// Example: init (s32[] constant(0), ..), condition `i < 10`, body `i + 3`: leaf 0 has the values 0,
// 3, 6, 9 in 4 iterations.

#ifndef XLA_INDEXING_OPS_VALUES_LOOP_COUNTER_H_
#define XLA_INDEXING_OPS_VALUES_LOOP_COUNTER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {

// A leaf whose value in iteration k is start + k * step.
struct CountingLeaf {
  int64_t start = 0;
  int64_t step = 0;
};

struct LoopCounter {
  std::map<int64_t, CountingLeaf> leaves;
  // What every iteration adds, with a sum that wraps, to leaves of which nothing else is known.
  std::map<int64_t, int64_t> steps;
  // How many iterations the loop may have.
  Interval counts = Interval::AtLeast(0);

  // The number of iterations, where it is known.
  std::optional<int64_t> count() const {
    return counts.IsPoint() ? std::optional<int64_t>(counts.lower()) : std::nullopt;
  }
  // The value of a leaf in iteration k; null if it does not count.
  mlir::AffineExpr ValueOf(int64_t leaf, mlir::AffineExpr k) const;
  // What was added to a leaf before iteration k; null if that is not known.
  mlir::AffineExpr AddedTo(int64_t leaf, mlir::AffineExpr k) const;
};

// What is known of a loop before any maps: which leaves the body returns unchanged, and what counts.
struct CountedLoop {
  std::vector<bool> passes_through;
  LoopCounter counter;
};

// `passes_through` says for every leaf of the state whether the body returns it unchanged.
LoopCounter FindLoopCounter(const HloInstruction& loop, const std::vector<bool>& passes_through,
                            mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_LOOP_COUNTER_H_
