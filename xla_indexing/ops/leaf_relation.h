// Relations between leaves, composed without errors: what cannot be said becomes the whole leaf.

#ifndef XLA_INDEXING_OPS_LEAF_RELATION_H_
#define XLA_INDEXING_OPS_LEAF_RELATION_H_

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing {

// Every map of `first`, from an array of shape `from`, composed with every map of `second`, to an
// array of shape `to`; simplified. A map that passes a bound of affine/build.h becomes every
// element of `to`, over-approximate.
OperandIndexingSet ComposeOrWiden(const OperandIndexingSet& first, const OperandIndexingSet& second,
                                  const Shape& from, const Shape& to, mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_LEAF_RELATION_H_
