// Expressions that are their own normal form at first sight: most indices are.
#ifndef XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_
#define XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// Whether the expression is a sum of multiples of variables in their order (affine/expr/linear_sum.h) that
// have several values, and a number: the simplifier gives it back. range_of(v) is the interval of a
// variable; null if there is no such variable.
//
//   IsEvidentForm(d0 * 3 - d1 + 7, range_of)   // true for d0 in [0, 9], d1 in [0, 9]
bool IsEvidentForm(mlir::AffineExpr expr,
                   llvm::function_ref<const Interval*(mlir::AffineExpr)> range_of);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_SPELLING_EVIDENT_FORM_H_
