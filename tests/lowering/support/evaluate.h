// The values that a computation has by the definitions of its operations, numbers included.
//
// tests/reference executes what moves elements; what computes is executed here, by loops over the
// indices of its definition. An element's value is its bits: of integers the number, as there, and of
// floats those of their format.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_EVALUATE_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_EVALUATE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"

namespace xla_indexing {

// Unimplemented for operations that have no definition here, and for elements that have no values
// (element_values.h).
absl::StatusOr<reference::Value> EvaluateByDefinition(
    const HloComputation& computation, const std::vector<const reference::Value*>& arguments);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_EVALUATE_H_
