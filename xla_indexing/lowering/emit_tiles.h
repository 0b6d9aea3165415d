// Tiled computations as functions of MLIR that run: graphs of tiles (tiling/kernel/tile_graph.h), with
// their loops, masks, accumulators and stores, as loops over memory.
//
// The function has the arguments of EmitFusion (lowering/emit_fusion.h), and computes the same.
//
//   grid                an scf.forall over the programs; several grids follow one another
//   loop                an scf.for over the tile index
//   tile                a memref of the tile's size, allocated by each program
//   load, computation   loops over the tile's elements, of which the bounds of the array and those of the
//                       part that is there are bounds of the loops
//   contraction         each step of its innermost loop adds to the accumulators, which begin with what
//                       the contraction begins with: 0, or the initial value of a reduce
//   one pass            sums are multiplied by exp(maximum before - maximum) before each step, and divided
//                       by their divisors after the loop (TiledLoops::kOnePass)
//   store               where a tile of the result is complete
//
// Tiles are indexed relative to their offsets: the map from a tile's position to an operand's position is
// the composition of the offset, the instruction's map and the operand's offset, simplified, so that most
// positions are loop variables.
//
// Example, a dot of f32[64,128] and f32[128,32], tiles 16, 16 and k: 32:
//
//   const auto tiling = [](const TiledComputation&) { return Tiling{{16, 16, 32}, {}}; };
//   EmitTiles(computation, tiling, &context)
//
//     scf.forall (%i, %j) in (4, 2) {
//       %acc = memref.alloc() : memref<16x16xf32>   ..  // 0
//       scf.for %k = 0 to 4 { ..  // tiles of both operands, acc[%a, %b] += lhs[%a, %c] * rhs[%c, %b]
//       } .. } // stored at (%i * 16 + %a, %j * 16 + %b)
//
// Sums that are cut along several dimensions are added up in another order than EmitFusion does, and sums
// in one pass are rounded at other places.
//
// Errors. Those of EmitFusion, TiledComputation and `choose`. Unimplemented also for scans, ragged and
// scaled dots, for what is read on other devices, for tiles that an index moves which is not a parameter or
// computed from a few of these, and for reads of which it is not known which of several tiles has
// them.
#ifndef XLA_INDEXING_LOWERING_EMIT_TILES_H_
#define XLA_INDEXING_LOWERING_EMIT_TILES_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {

// Chooses the sizes, of the computation with what it calls inlined.
using ChooseTiling = absl::FunctionRef<absl::StatusOr<Tiling>(const TiledComputation& tiled)>;

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitTiles(
    const HloComputation& computation, ChooseTiling choose, mlir::MLIRContext* context,
    TiledLoops loops = TiledLoops::kSeparate);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_EMIT_TILES_H_
