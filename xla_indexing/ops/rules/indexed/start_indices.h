// The start indices of dynamic-slice and dynamic-update-slice: one scalar operand for each
// dimension or, in old HLO text, one operand that is the vector of them. Starts are clamped so that
// the slice lies inside the tensor.

#ifndef XLA_INDEXING_OPS_RULES_INDEXED_START_INDICES_H_
#define XLA_INDEXING_OPS_RULES_INDEXED_START_INDICES_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

// A runtime variable for the start in each dimension, where a slice of the sizes of `slice` is
// taken out of `tensor`; the starts are operands number `first_operand` and following.
llvm::SmallVector<mlir::AffineExpr, 4> AddStarts(const BuildContext& build, int64_t first_operand,
                                                 const Shape& tensor, const Shape& slice,
                                                 MapBuilder* builder);

// Every element of the result reads every start.
void AddStartReads(BuildContext& build, int64_t first_operand);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_INDEXED_START_INDICES_H_
