// What the two variadic reductions, reduce and reduce-window, share.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_REDUCE_TOGETHER_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_REDUCE_TOGETHER_H_

#include "absl/functional/function_ref.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

// A variadic reduction computes all its results together: each depends on all inputs and inits.
// Adds the init values' sources to every element, and `add_inputs(index, sources)` for its index.
Value ReduceTogether(const HloInstruction& instruction, Operands inits,
                     absl::FunctionRef<void(const Index&, SourceSet*)> add_inputs);

// The combiner of a reduction of integers, where it is one operation on its parameters that does not mind
// their order; null otherwise.
const HloInstruction* CombinerOf(const HloInstruction& reduce);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_REDUCE_TOGETHER_H_
