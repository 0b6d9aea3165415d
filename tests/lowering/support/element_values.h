// The values of single elements by the definitions of their operations. A value is its bits: of
// integers the number, of floats those of their format, and of complex numbers those of their parts
// (complex_values.h).
//
// Example: MultiplyAddValue(ElementType::kS8, 100, 10, 3) == -126.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_ELEMENT_VALUES_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_ELEMENT_VALUES_H_

#include <optional>
#include <vector>

#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing {

// All but f4e2m1fn and f8e8m0fnu.
bool HasElementValues(ElementType type);

// The number that the bits of an element are, and the bits of the float that is nearest to a
// number. No complex numbers.
double NumberOf(ElementType type, reference::Integer bits);
reference::Integer BitsOfFloat(ElementType type, double number);

// The rank of an element among all of its type; floats are -NaN, -inf, .., -0, 0, .., inf, NaN.
reference::Integer RankOf(ElementType type, reference::Integer bits);

reference::Integer ConvertElement(reference::Integer bits, ElementType from, ElementType to);

// An element of an elementwise instruction, of those of the operands; nullopt if it is not defined
// here.
std::optional<reference::Integer> ElementwiseValue(const HloInstruction& instruction,
                                                   const std::vector<reference::Integer>& operands);

// sum + a * b in this type, rounded after each operation.
reference::Integer MultiplyAddValue(ElementType type, reference::Integer sum, reference::Integer a,
                                    reference::Integer b);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_ELEMENT_VALUES_H_
