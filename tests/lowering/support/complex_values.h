// The values of complex numbers by the definitions of their operations, as std::complex computes them.
//
// The bits of an element are those of its real part, and above these those of its imaginary part.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_COMPLEX_VALUES_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_COMPLEX_VALUES_H_

#include <complex>
#include <optional>
#include <vector>

#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing {

reference::Integer ComplexBits(ElementType type, reference::Integer real,
                               reference::Integer imaginary);
// The bits of a part: 0 is the real one.
reference::Integer BitsOfPart(ElementType type, reference::Integer bits, int part);
std::complex<double> ComplexOf(ElementType type, reference::Integer bits);

// An element of an elementwise instruction that has complex numbers as operands or makes them; nullopt if
// it is not defined here.
std::optional<reference::Integer> ComplexValue(const HloInstruction& instruction,
                                               const std::vector<reference::Integer>& operands);

// sum + a * b, each part of which is rounded after each operation.
reference::Integer ComplexMultiplyAdd(ElementType type, reference::Integer sum,
                                      reference::Integer a, reference::Integer b);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_COMPLEX_VALUES_H_
