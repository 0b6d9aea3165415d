// Loops over the range variables of a map, as `scf.for`.
//
// The loops are nested in the order of the range variables, and carry values from each point of the
// domain to the next, as `iter_args`. A constraint is looked at as far out as it can be:
//
//   s_k + e in [lo, hi], e over what is known outside loop k
//                          bounds of the loop: from max(least, lo - e) to min(greatest, hi - e);
//                          likewise -s_k + e
//   any other              an scf.if around the first loop outside of which its variables are all
//                          known; where it does not hold, the carried values go on as they are
//
// Example, the sum over a window of 3 along an array of 8, padded by 1, of x at d0 + s0 - 1:
//
//   (d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]
//
//   EmitLoopNest(builder, loc, map, {i}, {}, {zero}, body)
//
//     %from = arith.maxsi(1 - %i, 0)     %to = arith.minsi(9 - %i, 3)
//     %sum = scf.for %s = %from to %to step 1 iter_args(%acc = %zero) { .. scf.yield }
//
// Errors. Those of ApplyIndexing; InvalidArgument for a range variable without a finite interval and
// arguments that are not of type index; and what `body` returns.
#ifndef XLA_INDEXING_LOWERING_INDEX_EMIT_LOOP_NEST_H_
#define XLA_INDEXING_LOWERING_INDEX_EMIT_LOOP_NEST_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// Emits what is done at a point of the domain, where `builder` inserts: from the range variables and
// the carried values to the values that are carried on, of the same types.
using LoopBody = absl::FunctionRef<absl::StatusOr<MlirValues>(mlir::ValueRange ranges,
                                                              mlir::ValueRange carried)>;

// The values carried out of the last iteration; `inits` where there is none. `dims` and `runtimes` are
// within the intervals of the map's variables. The dialects `arith` and `scf` have to be loaded.
absl::StatusOr<MlirValues> EmitLoopNest(mlir::OpBuilder& builder, mlir::Location loc,
                                        const IndexingMap& map, mlir::ValueRange dims,
                                        mlir::ValueRange runtimes, mlir::ValueRange inits,
                                        LoopBody body);

// What `then` emits where `holds`, an i1, and `otherwise` elsewhere, as an `scf.if` where no constant decides.
absl::StatusOr<MlirValues> EmitIf(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value holds,
                                  mlir::ValueRange otherwise,
                                  absl::FunctionRef<absl::StatusOr<MlirValues>()> then);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_INDEX_EMIT_LOOP_NEST_H_
