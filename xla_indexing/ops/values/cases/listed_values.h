// Integers that are given one by one, as expressions case by case: the elements of literals, and what
// comes from tables of floats (ops/values/cases/float_values.h).
//
// Example: {0, 0, 0, 1, 1, 1, 2, 2} at x is x floordiv 3.

#ifndef XLA_INDEXING_OPS_VALUES_CASES_LISTED_VALUES_H_
#define XLA_INDEXING_OPS_VALUES_CASES_LISTED_VALUES_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// values[x], where x is in [0, n - 1] where `when` holds: one formula
// (ops/values/cases/fit_sequence.h) if there is one, otherwise a few, or a case for each run of equal
// values. Predicates, by which something is chosen, are cases of one value if these are not too many.
std::optional<ValueCases> ListedValue(llvm::ArrayRef<int64_t> values, ElementType type,
                                      mlir::AffineExpr x, const Constraints& when,
                                      const ValueVariables& variables);

// The element of a literal of integers or predicates at an index that is inside where `when` holds.
std::optional<ValueCases> LiteralValue(const Literal& literal,
                                       llvm::ArrayRef<mlir::AffineExpr> index,
                                       const Constraints& when, const ValueVariables& variables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_LISTED_VALUES_H_
