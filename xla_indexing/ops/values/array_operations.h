// One operation on arrays whose elements are known: the arrays that it gives.
//
// Elementwise operations are those of ops/values/cases/numbers.h, sorts and reductions that choose those of
// ops/values/ordered_arrays.h; what moves elements, other reductions, windows and scatters go by the exact
// maps of their definition.
//
// Sums and products of floats are known where every order and every precision that XLA may choose gives the
// same number.
//
// Example: dot of f32[2,2] {{1, 0}, {1, 1}} with itself is {{1, 0}, {2, 1}}; a factor of 0.1 is not known.
#ifndef XLA_INDEXING_OPS_VALUES_ARRAY_OPERATIONS_H_
#define XLA_INDEXING_OPS_VALUES_ARRAY_OPERATIONS_H_

#include <memory>

#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/values/known_leaves.h"

namespace xla_indexing::internal {

// The leaves of an operation that calls nothing, or only what it sorts or reduces by, with at least one operand
// or an iota. Operands are arrays that are all known, but for those of a sort; leaves of the result are
// arrays of which MayBeKnown() holds.
KnownLeaves ComputeArrays(const HloInstruction& instruction, absl::Span<const KnownLeaves> operands,
                          mlir::MLIRContext* context, StepBudget* budget);

// Whether each element of its operand is replaced by a scatter with these indices, as predicates; null if that
// is not known, or the scatter does not replace but combine.
std::shared_ptr<const Literal> ReplacedByScatter(const HloInstruction& scatter,
                                                 const Literal& indices, mlir::MLIRContext* context,
                                                 StepBudget* budget);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_ARRAY_OPERATIONS_H_
