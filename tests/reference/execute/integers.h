// The concrete values of integer and predicate elements.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_INTEGERS_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_INTEGERS_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::reference {

// The value of `type` that is congruent to `value` modulo 2^width: `WrapInteger(kS8, 200)` is -56.
// For pred: whether it is not 0.
Integer WrapInteger(ElementType type, Integer value);

// The least and the greatest value of an integral type or pred.
Integer LeastInteger(ElementType type);
Integer GreatestInteger(ElementType type);

// The value of an element of an elementwise instruction, given the values of the operands' elements
// at its index. Empty where it does not follow: a value is missing, the result is no integer, or
// the operation (power, population count, ...) is none that index arithmetic is made of.
std::optional<Integer> ElementwiseInteger(const HloInstruction& instruction,
                                          absl::Span<const std::optional<Integer>> operands);

// The results of a computation on scalars: the root, or what it is a tuple of. Empty where it does not follow.
std::vector<std::optional<Integer>> ScalarResults(
    const HloComputation& computation, absl::Span<const std::optional<Integer>> arguments);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_INTEGERS_H_
