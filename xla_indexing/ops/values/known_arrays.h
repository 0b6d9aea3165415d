// Arrays that are computed whole, element by element, from arrays that are known: constants, iotas, and
// arguments that somebody gives.
//
// It is for what ops/values/element_value.h does not follow as expressions: an index list by cumulative
// sums, a mask that is scattered, or one that a loop builds. Calls, loops and branches are followed; single
// operations are those of ops/values/array_operations.h. What is known leaf by leaf of a tuple stays known.
// Arrays of up to kMaxKnownElements elements, or another limit, are computed, in no more than the steps
// that the budget has.
//
// Example: scatter(broadcast(false), {1, 3}, broadcast(true)) of pred[4] is {0, 1, 0, 1}.
#ifndef XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_
#define XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/values/known_leaves.h"

namespace xla_indexing::internal {

class ArrayEvaluator {
 public:
  // Both outlive it.
  ArrayEvaluator(mlir::MLIRContext* context, StepBudget* budget,
                 int64_t max_elements = kMaxKnownElements)
      : context_(context), budget_(budget), max_elements_(max_elements) {}

  // The result of an instruction that is no parameter.
  KnownLeaves Evaluate(const HloInstruction& instruction, absl::Span<const KnownLeaves> operands);
  // The result of a computation for these arguments, one for each parameter.
  KnownLeaves Call(const HloComputation& computation, absl::Span<const KnownLeaves> arguments);
  // The results of all its instructions, in order.
  std::vector<KnownLeaves> EvaluateAll(const HloComputation& computation,
                                       absl::Span<const KnownLeaves> arguments);

 private:
  KnownLeaves Loop(const HloInstruction& loop, KnownLeaves state);
  KnownLeaves Branch(const HloInstruction& conditional, absl::Span<const KnownLeaves> operands);
  KnownLeaves Arrays(const HloInstruction& instruction, absl::Span<const KnownLeaves> operands);

  mlir::MLIRContext* context_;
  StepBudget* budget_;
  int64_t max_elements_;
  int depth_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_
