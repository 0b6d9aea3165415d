// What is sure of the result of an elementwise operation although some operands are not known.
//
//   operation     known operand               result
//   and           0                           0
//   or            all bits set                all bits set
//   multiply      0 (*)                       0
//   add           infinite (*)                infinite
//   subtract      infinite (*)                infinite, negated if it is the second operand
//   divide        0 (*) divided               0
//                 infinite (*) divisor        0
//   maximum       greatest, +infinity (*)     the same
//   minimum       least, -infinity (*)        the same
//   exponential   -infinity (*)               0
//   clamp         least >= greatest (*)       the greatest
//   select        both sides the same (*)     the same
//
// (*) For floats only if all that is not known is finite (Dependence::kFiniteValues). Infinite is then what
// is at least kInfinite in size.
//
// Example: multiply(x, convert(compare(iota, 5), direction=LT)) is 0 from element 5 on.
#ifndef XLA_INDEXING_OPS_VALUES_CASES_SURE_VALUES_H_
#define XLA_INDEXING_OPS_VALUES_CASES_SURE_VALUES_H_

#include <optional>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// The least size of numbers that count as infinite.
inline constexpr double kInfinite = 1e9;

// Whether a number counts as infinite; one that is none does not.
bool IsInfinite(const llvm::APFloat& value);

// The result, where it is sure; floats that are not known have no table.
std::optional<ValueCases> SureValue(const HloInstruction& instruction,
                                    llvm::ArrayRef<ValueCase> values, const Constraints& when,
                                    bool finite, const ValueVariables& variables);

// The value in parts, each of which decides the result of an operation or does so nowhere: an iota that
// something is multiplied by is 0, and not 0. Nothing if there would be more than 16.
std::optional<ValueCases> SplitWhereSure(HloOpcode opcode, ElementType type, const ValueCase& value,
                                         bool finite, const ValueVariables& variables);

// Whether a value is at least another one, for all that they may be where `when` holds.
bool IsAtLeast(const ValueCase& a, const ValueCase& b, const Constraints& when,
               const ValueVariables& variables);

// Whether two values are the same where `when` holds, or if `finite` both 0 or both infinite with the same sign; no if
// one of them is not known. Undecided where they may be the same at some points.
Answer AreSame(const ValueCase& a, const ValueCase& b, const Constraints& when, bool finite,
               const ValueVariables& variables);

// Whether a value is 0, for certain.
bool IsSurelyZero(const ValueCase& value, const ValueVariables& variables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_SURE_VALUES_H_
