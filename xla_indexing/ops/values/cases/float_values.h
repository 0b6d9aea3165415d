// Arithmetic of floating point numbers that the module fixes.
//
// There are no affine expressions of floats, but few floats come from constants and from integers with
// small ranges. A float is therefore an element of a table, at a place that is an affine expression,
// the key: iota of f32[16] at (d0) is element d0 of {0.0, 1.0, .., 15.0}. An operation is done for
// each value of the keys of its operands, and where it yields integers or predicates, these are
// written as an expression of the key again (ops/values/cases/listed_values.h).
//
// Arithmetic is that of IEEE 754 in the element type: each operation rounds once, to nearest, ties to
// even. What may differ from machine to machine is not followed: functions like sine, subnormal
// numbers, which some machines take for zero, and converting what does not fit.
//
// Example: convert(floor(multiply(add(iota, 0.5), 0.75))) of f32[4] is {0, 1, 1, 2} for the keys 0 to
// 3: (d0 + 1) floordiv 2.
//
// Source: the operations of XLA's semantics; IEEE 754-2019.

#ifndef XLA_INDEXING_OPS_VALUES_CASES_FLOAT_VALUES_H_
#define XLA_INDEXING_OPS_VALUES_CASES_FLOAT_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// The most floats in a table.
inline constexpr int64_t kMaxFloats = 4096;

// The floats with the keys first, first + 1, ..
struct FloatTable {
  int64_t first;
  std::vector<llvm::APFloat> values;

  Interval Keys() const { return Interval::OfSize(static_cast<int64_t>(values.size())).Add(first); }
  const llvm::APFloat& At(int64_t key) const { return values[static_cast<size_t>(key - first)]; }
};

// An integer as a float.
std::optional<ValueCases> FloatOfInteger(mlir::AffineExpr value, ElementType type,
                                         const Constraints& when, const ValueVariables& variables);
// The element of a literal of floats at this place in row-major order.
std::optional<ValueCases> FloatOfLiteral(const Literal& literal, mlir::AffineExpr position,
                                         const Constraints& when, const ValueVariables& variables);

// The elementwise operation, of whose operands or result some are floats, on operand values of these
// types, where `when` holds; nullopt if it is not followed.
std::optional<ValueCases> ApplyToFloats(const HloInstruction& instruction,
                                        llvm::ArrayRef<ValueCase> values, const Constraints& when,
                                        const ValueVariables& variables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_FLOAT_VALUES_H_
