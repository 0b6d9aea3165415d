// Arrays that are computed whole, element by element, from arrays that are known: constants, iotas, and
// arguments that somebody gives.
//
// It is for what ops/values/element_value.h does not follow as expressions: an index list by cumulative
// sums, a mask that is scattered, or one that a loop builds. Elementwise operations are those of
// ops/values/cases/numbers.h; operations that move elements, reductions, windows and scatters go by the
// exact maps of their definition. What is known leaf by leaf of a tuple stays known.
//
// Sums of floats are known where all orders of adding give the same number. Arrays of up to kMaxElements
// elements, or another limit, are computed, in no more than the steps that the budget has.
//
// Example: scatter(broadcast(false), {1, 3}, broadcast(true)) of pred[4] is {0, 1, 0, 1}.
#ifndef XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_
#define XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

// By leaf; null where it is not known.
using KnownLeaves = std::vector<std::shared_ptr<const Literal>>;

// Whether each element of its operand is replaced by a scatter with these indices, as predicates; null if that
// is not known, or the scatter does not replace but combine.
std::shared_ptr<const Literal> ReplacedByScatter(const HloInstruction& scatter,
                                                 const Literal& indices, mlir::MLIRContext* context,
                                                 StepBudget* budget);

class ArrayEvaluator {
 public:
  static constexpr int64_t kMaxElements = int64_t{1} << 18;

  // Both outlive it.
  ArrayEvaluator(mlir::MLIRContext* context, StepBudget* budget,
                 int64_t max_elements = kMaxElements)
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
  std::shared_ptr<const Literal> Array(const HloInstruction& instruction,
                                       absl::Span<const KnownLeaves> operands);

  mlir::MLIRContext* context_;
  StepBudget* budget_;
  int64_t max_elements_;
  int depth_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_KNOWN_ARRAYS_H_
