// The dialect `indexing`: indexing maps in MLIR.
//
//   #indexing.map<"(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 2], d0 + s0 in [1, 8]">
//       An attribute that is a map, in the text of map/text/text.h. Maps that are equal are one
//       attribute; names of variables are not kept. Text that is no map is an error at its place.
//
//   %r:2 = indexing.apply MAP(%x, ..)
//       The results of the map at one index value for each dimension, range variable and runtime
//       variable, in this order. At arguments outside of the domain the results are poison.
//
//   %c = indexing.loop MAP(%x, ..) iter_args(%init : T) {
//       ^bb0(%s: index, .., %r: index, .., %carried: T):  ..  indexing.yield %next : T }
//       For one index value for each dimension and runtime variable, the body runs for all values of
//       the range variables with which they are in the domain, in lexicographic order. Its arguments
//       are the range variables, the results of the map and what is carried from one iteration to the
//       next. A range variable has a finite interval.
//
// Both say in which ranges their numbers are (InferIntRangeInterface). Canonicalisation composes an apply
// with the applies that its arguments come from, narrows domains to what is known of arguments
// (constants, loops with constant bounds, other maps), simplifies maps with it, drops arguments that
// nothing depends on, and folds what is constant, or an argument itself.
//
// Example:
//
//   context.loadDialect<dialect::IndexingDialect>();
//   auto apply = dialect::ApplyOp::create(builder, loc, dialect::IndexingMapAttr::get(map), {i, j});
//
// The dialect serves contexts with threads: attributes do not change, and nothing is kept elsewhere.
#ifndef XLA_INDEXING_LOWERING_DIALECT_INDEXING_DIALECT_H_
#define XLA_INDEXING_LOWERING_DIALECT_INDEXING_DIALECT_H_

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::dialect {

struct MapStorage;

}  // namespace xla_indexing::dialect

#include "indexing_dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "indexing_attributes.h.inc"
#define GET_OP_CLASSES
#include "indexing_ops.h.inc"

#endif  // XLA_INDEXING_LOWERING_DIALECT_INDEXING_DIALECT_H_
