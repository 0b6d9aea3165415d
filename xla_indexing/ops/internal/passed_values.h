// What the callers of a computation pass to it, as far as it follows from the module: the values that a
// scalar of integers among the leaves of its parameters can have.
//
//   body and condition of a loop   a leaf that counts (ops/internal/loop_counter.h) has its values in all
//                                  iterations, and one that passes through what the loop begins with
//   calls and fusions              a leaf is that of the operand, which is followed
//                                  (ops/internal/element_value.h) as far as the values that its own
//                                  computation is passed
//
// With several callers a leaf has any of their values. Nothing is known of what no instruction calls
// (the entry, and computations that only a user asks about), nor with callers of other kinds, nor from
// more than kMaxCallers levels below the top.
//
// Example: of `for i in 1..9: for j in 0..5: f(i, j)`, with the inner loop in a computation of its own,
// that is passed i in [1, 9].
#ifndef XLA_INDEXING_OPS_INTERNAL_PASSED_VALUES_H_
#define XLA_INDEXING_OPS_INTERNAL_PASSED_VALUES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/ops/internal/loop_counter.h"

namespace xla_indexing::internal {

// Calls one in another that are followed.
inline constexpr int kMaxCallers = 16;

// Of one module, which has to outlive it.
class PassedValues {
 public:
  explicit PassedValues(mlir::MLIRContext* context) : context_(context) {}

  // The values of a leaf of a parameter; all numbers where nothing is known.
  Interval Of(const HloInstruction& parameter, int64_t leaf);

 private:
  // Where a computation is called, and how many calls one in another lead to it at most.
  struct Callers {
    std::vector<const HloInstruction*> instructions;
    int levels = 0;
  };
  struct Counted {
    std::vector<bool> passes_through;
    LoopCounter counter;
  };

  Interval FromCaller(const HloInstruction& caller, const HloInstruction& parameter, int64_t leaf);
  // A leaf of an instruction, a scalar.
  Interval OfScalar(const HloInstruction& instruction, int64_t leaf);
  const Counted& CounterOf(const HloInstruction& loop);
  const Callers& CallersOf(const HloComputation& computation);

  mlir::MLIRContext* context_;
  // None until it is asked for.
  std::optional<absl::node_hash_map<const HloComputation*, Callers>> callers_;
  absl::node_hash_map<const HloInstruction*, Counted> counted_;
  absl::flat_hash_map<std::pair<const HloInstruction*, int64_t>, Interval> known_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_PASSED_VALUES_H_
