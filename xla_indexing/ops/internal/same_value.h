// Whether two scalars of a program have one value: they are the same element, or the same operation
// of scalars that have one value. Followed through calls into the computations that they are in.
//
// JAX writes an index that may be negative as select(i < 0, i + n, i) wherever it is used, each time
// in a computation of its own. What such values decide is the same only if they are known to be one.
//
// Example: of `a = select(i < 0, i + 5, i)` and `b = select(i < 0, i + 5, i)`, a and b.
#ifndef XLA_INDEXING_OPS_INTERNAL_SAME_VALUE_H_
#define XLA_INDEXING_OPS_INTERNAL_SAME_VALUE_H_

#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {

// For sources of bindings, both seen from the same computation, whatever their elements; false where
// that is not found within a bound.
bool IsSameScalar(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_SAME_VALUE_H_
