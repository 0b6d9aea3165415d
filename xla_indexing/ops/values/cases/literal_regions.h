// Masks: the elements of literals of few different values, region by region.
//
// Rows that begin and end their runs of equal values at places that change by the same from row to row are
// one case for each run.
//
// Example: a lower triangle of ones, f32[4,4], is 1 where d1 <= d0, and in rows 0 to 2 0 elsewhere.
#ifndef XLA_INDEXING_OPS_VALUES_CASES_LITERAL_REGIONS_H_
#define XLA_INDEXING_OPS_VALUES_CASES_LITERAL_REGIONS_H_

#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// The element of a literal, whose elements differ along one or two of its dimensions, at an index that is
// inside where `when` holds, as cases of one value each; nothing if these are too many.
std::optional<ValueCases> RegionsOfLiteral(const Literal& literal,
                                           llvm::ArrayRef<mlir::AffineExpr> index,
                                           const Constraints& when,
                                           const ValueVariables& variables);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_LITERAL_REGIONS_H_
