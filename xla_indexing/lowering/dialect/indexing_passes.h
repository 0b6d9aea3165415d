// Passes over the dialect `indexing`.
//
//   indexing-narrow   narrows the domains of maps to the ranges of their arguments that MLIR's analysis of integer
//                     ranges finds, and simplifies the maps
//   indexing-lower    makes each indexing.apply operations of `arith` (with arithmetic=affine: affine.apply), and
//                     each indexing.loop a nest of scf.for: ApplyIndexing and EmitLoopNest (lowering/index)
//
// Both work on any operation, and on several at a time in a context with threads. Where a map cannot be lowered (numbers
// that 64 bits do not hold), the operation gets an error that says why, and the pass fails.
#ifndef XLA_INDEXING_LOWERING_DIALECT_INDEXING_PASSES_H_
#define XLA_INDEXING_LOWERING_DIALECT_INDEXING_PASSES_H_

#include <memory>

#include "mlir/Pass/Pass.h"
#include "xla_indexing/lowering/index/apply_indexing.h"

namespace xla_indexing {

std::unique_ptr<mlir::Pass> CreateIndexingNarrowPass();
std::unique_ptr<mlir::Pass> CreateIndexingLowerPass(
    IndexArithmetic arithmetic = IndexArithmetic::kArith);

// Makes both known to pass pipelines in text.
void RegisterIndexingPasses();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_DIALECT_INDEXING_PASSES_H_
