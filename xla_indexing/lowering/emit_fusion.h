// Whole computations as functions of MLIR that run.
//
// EmitFusion gives a module with one `func.func` of the computation's name. Its arguments are memrefs,
// one for each leaf of each parameter, then one for each leaf of the result, which the function
// writes; layouts are strides. No result may overlap another argument.
//
// Method. An instruction is either *in memory* or *inlined*.
//
//   in memory   parameters, constants, what is a leaf of the result, sums over many elements (dot,
//               convolution, reduce, reduce-window), scatters, sorts, whiles, conditionals, and
//               what is used more than once, or by an operation as an index: each has one loop
//               nest of its own, which writes it to a result or to a temporary memref
//   inlined     everything else: it has one use, and is computed there, element by element, in the
//               loop nest of what is in memory
//
// So no instruction is emitted twice, and a fusion without sums and without values of several uses is
// one loop nest. Going from an element of what is in memory to what it reads, the maps of the
// instructions on the way, as HloIndexer gives them, are composed, and the address of each load is
// the simplified map, applied. Where a map has constraints (a pad, a concatenation, a window) they are an
// scf.if, or bounds of a loop; inside they are known. An index that is read at run time is loaded,
// clamped as the map's binding says, and becomes a dimension of the map.
//
// The state of a while is in memory; its condition and body are emitted likewise, with the state as
// their arguments, in the regions of an scf.while. What the body computes is in temporaries, and
// copied when it is done. The branches of a conditional are the regions of an scf.index_switch.
//
// Example, `t = transpose(p)`, `ROOT n = negate(t)` of f32[2,3]:
//
//   func.func @e(%arg0: memref<3x2xf32>, %arg1: memref<2x3xf32>) {
//     scf.for %i = 0 to 2 { scf.for %j = 0 to 3 {
//       %x = memref.load %arg0[%j, %i]   %n = arith.negf %x   memref.store %n, %arg1[%i, %j] } } }
//
// Errors. Unimplemented, naming the instruction, for what is not lowered: opcodes that have no meaning
// on elements (collectives, custom calls, fft, rng ..), complex numbers and a few formats of floats
// (elements/element_types.h), tiled layouts and dynamic shapes. ResourceExhausted where computations are called
// more than 32 deep, or have more than 200000 instructions together, each as often as it is called.
// Those of FusionView and ApplyIndexing.
#ifndef XLA_INDEXING_LOWERING_EMIT_FUSION_H_
#define XLA_INDEXING_LOWERING_EMIT_FUSION_H_

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xla_indexing/hlo/model/computation.h"

namespace xla_indexing {

// The computation, of a module that verifies (hlo/verify/verifier.h). Calls and fusions are inlined. The
// dialects that it needs are loaded into the context.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_EMIT_FUSION_H_
