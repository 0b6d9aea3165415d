// Bindings of runtime variables, seen from the computation that calls the one they are in.
//
// Inside the computation, a binding names an instruction there. For the caller,
//
//   - a value that is passed to the computation as a leaf of a parameter, perhaps through tuples,
//     get-tuple-elements and copies, is that leaf of the operand passed for it;
//   - any other value is that of the same instruction, on a call path that begins with the caller.
//
// Example: a fusion f(p) of p = (f32[10], s32[]) slices element 0 at element 1, `i =
// get-tuple-element(p), index=1`. Inside, the start is bound to `i`; seen from `r = fusion(t)` it
// is bound to `t#1`.

#ifndef XLA_INDEXING_OPS_VALUES_CALL_SCOPE_H_
#define XLA_INDEXING_OPS_VALUES_CALL_SCOPE_H_

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {

// Rewrites maps between leaves of the called computation so that their bindings are those that the
// caller sees. Values that the module fixes outside the computation are folded, with what is known of
// loops; not where `loops` is null.
OperandIndexingSet SeenFromCaller(const OperandIndexingSet& set, const CalledComputation& called,
                                  const ValueEnvironment* loops);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CALL_SCOPE_H_
