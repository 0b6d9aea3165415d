// Where the tile of a node of a graph of tiles is, in the code of the program that computes it.
//
// Emits the runtime variables that move the tile, and whether anything of it is read at the present tile
// indices. Example, a tile of 16 rows at row (%i * 16) of an array of 100 rows:
//
//   PlacedTile placed(&context);
//   placer.Place(node, {i}, &placed)
//   placed.elements   (d0)[s0] -> (d0 * 16 + s0), d0 * 16 + s0 in [0, 99]
//
// Errors: Unimplemented for tiles on other devices, and for those that an index moves which is computed from
// many arrays; OutOfRange where an element exceeds 64 bits.
#ifndef XLA_INDEXING_LOWERING_FUSION_TILE_PLACER_H_
#define XLA_INDEXING_LOWERING_FUSION_TILE_PLACER_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::internal {

struct PlacedTile {
  explicit PlacedTile(mlir::MLIRContext* context)
      : tile{mlir::Value(), IndexingMap(context), {}, {}, {}, {}}, elements(context) {}

  TileInMemory tile;  // its memory is up to the caller
  // From the tile's arguments and a position, range variables, to the element; with bounds.
  IndexingMap elements;
  mlir::Value is_active;  // whether it is computed; null before it is placed
};

class TilePlacer {
 public:
  TilePlacer(const TileGraph& graph, mlir::ImplicitLocOpBuilder& builder, ElementReader& reader)
      : graph_(graph), builder_(builder), reader_(reader) {}

  // `indices` are the present tile indices, by dimension of the space.
  absl::Status Place(const TileNode& node, const MlirValues& indices, PlacedTile* placed);

 private:
  absl::Status FindElements(const MaskedTile& tile, const IndexingMap& moved, PlacedTile* placed);
  absl::Status FindActive(const TileNode& node, const MlirValues& indices, PlacedTile* placed);
  absl::StatusOr<mlir::Value> ReadRuntime(const TileRuntime& runtime, const MlirValues& arguments);

  const TileGraph& graph_;
  mlir::ImplicitLocOpBuilder& builder_;
  ElementReader& reader_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_FUSION_TILE_PLACER_H_
