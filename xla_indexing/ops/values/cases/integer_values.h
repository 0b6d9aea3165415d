// Arithmetic of integers and predicates, as affine expressions case by case.
//
// It is followed where ranges prove that the result fits the element type, so that nothing wraps.
//
// Example: divide(x, 4), where x may be negative, is x floordiv 4 where x >= 0 or x mod 4 = 0, and
// x floordiv 4 + 1 elsewhere.

#ifndef XLA_INDEXING_OPS_VALUES_CASES_INTEGER_VALUES_H_
#define XLA_INDEXING_OPS_VALUES_CASES_INTEGER_VALUES_H_

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// The elementwise operation on operand values, where `when` holds; nullopt if it is not followed.
std::optional<ValueCases> ApplyToIntegers(const HloInstruction& instruction,
                                          llvm::ArrayRef<mlir::AffineExpr> values,
                                          const Constraints& when, const ValueVariables& variables);

// An interval that contains the result of an elementwise operation on operands whose values are in
// these intervals, of which none is empty: All() where nothing is known but that it is of its type.
//
// Example: and(x, 31) is in [0, 31] for all x; remainder(x, 10) in [-9, 9].
Interval RangeOfIntegers(const HloInstruction& instruction, llvm::ArrayRef<Interval> values);

// min(max(value, lower), upper)
std::optional<ValueCases> ClampValue(mlir::AffineExpr lower, mlir::AffineExpr value,
                                     mlir::AffineExpr upper, const Constraints& when,
                                     const ValueVariables& variables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_INTEGER_VALUES_H_
