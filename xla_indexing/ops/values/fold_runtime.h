// Runtime variables whose value the module fixes are replaced by expressions.
//
// The value of a runtime variable is followed from the instruction that yields it through
// constants, iotas, data movement (broadcast, reshape, transpose, slice, concatenate, ..) and
// arithmetic (add, subtract, multiply, clamp, minimum, ..). Where that ends in an affine expression
// e over the map's variables, the variable is e with the value function applied:
//
//   clamp [lo, hi]   min(max(e, lo), hi): up to three maps with disjoint domains, for e < lo,
//                    e in [lo, hi] and e > hi; one map where the range of e decides
//
// A variable stays bound where folding it would give more than kMaxFoldedPieces maps. Arithmetic that is
// not of constants alone is followed only where ranges prove that the element type does not wrap; unsigned
// values are zero-extended.
//
// Example: dynamic-slice of f32[10] to f32[4] at start constant(7) has rt0 in [0, 6], clamp [0, 6];
// folding makes (d0){rt0} -> (d0 + rt0) into (d0) -> (d0 + 6).

#ifndef XLA_INDEXING_OPS_VALUES_FOLD_RUNTIME_H_
#define XLA_INDEXING_OPS_VALUES_FOLD_RUNTIME_H_

#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {

inline constexpr int kMaxFoldedPieces = 64;

struct FoldOptions {
  // Binds variables whose value is not fixed to the element that their value comes from through
  // data movement alone, so that equal values have equal bindings. Otherwise they stay bound to
  // what the operation reads.
  bool rebind_through_data_movement = false;
  // What is assumed of values that are not fixed. The maps are right wherever it holds.
  Assumption assumption = {};
  // Leaves pieces with an empty domain in, for who simplifies them anyway.
  bool keeps_empty = false;
  // What is known of what computations are given; outlives the call.
  const ValueEnvironment* environment = &UnknownEnvironment();
};

// Maps with disjoint domains whose union is `indexing`. Not simplified, except that pieces with an
// empty domain are left out.
OperandIndexingSet FoldRuntimeVariables(const OperandIndexing& indexing,
                                        const FoldOptions& options = {});
// Whether some map of the set has runtime variables.
bool HasRuntimeVariables(const OperandIndexingSet& set);
OperandIndexingSet FoldRuntimeVariables(const OperandIndexingSet& set,
                                        const FoldOptions& options = {});

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_FOLD_RUNTIME_H_
