// Whether two scalars of a program have one value: they are the same element, or the same operation
// of scalars that have one value. Followed through calls into the computations that they are in.
//
// JAX writes an index that may be negative as select(i < 0, i + n, i) wherever it is used, each time
// in a computation of its own. What such values decide is the same only if they are known to be one.
//
// Example: of `a = select(i < 0, i + 5, i)` and `b = select(i < 0, i + 5, i)`, a and b.
#ifndef XLA_INDEXING_OPS_VALUES_SAME_VALUE_H_
#define XLA_INDEXING_OPS_VALUES_SAME_VALUE_H_

#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {

// For sources of bindings, both seen from the same computation, whatever their elements; false where
// that is not found within a bound.
bool IsSameScalar(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b);

// Whether values of two computations, or in calls there, are the same function of the leaves of their
// parameters; false where that is not found within a bound.
// Example: what two computations call `add(p, 1)`, where p is the first parameter of each.
bool IsSameFunction(const PlacedValue& a, const PlacedValue& b);

// Whether the array that an element in the body of a while is of is the same in all iterations: it is
// computed of leaves of the state that the body passes through and of constants alone, by operations
// that always give the same for the same operands; false where that is not found within a bound.
// `passes_through` says for every leaf of the state whether the body returns it unchanged.
// Example: the place of the largest element of x, in a loop that leaves x as it is.
bool IsSameInAllIterations(const RuntimeVarIndexing& value, const HloInstruction& loop,
                           const std::vector<bool>& passes_through);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_SAME_VALUE_H_
