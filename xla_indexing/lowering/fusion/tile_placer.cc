#include "xla_indexing/lowering/fusion/tile_placer.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::internal {
namespace {

using mlir::AffineExpr;
using mlir::Value;

// Whether an array is computed from few others: it has at most `paths` paths to what it is computed from.
bool IsSmall(const HloInstruction& instruction, int64_t* paths) {
  if (--*paths < 0) return false;
  return llvm::all_of(instruction.operands(),
                      [&](const HloInstruction* operand) { return IsSmall(*operand, paths); });
}

}  // namespace

absl::Status TilePlacer::Place(const TileNode& node, const MlirValues& indices,
                               PlacedTile* placed) {
  const MaskedTile& tile = graph_.tile(node);
  if (tile.devices) return NotLoweredInstruction(*node.instruction);
  placed->tile.arguments = indices;
  for (const TileRuntime& runtime : tile.runtimes) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const Value value, ReadRuntime(runtime, placed->tile.arguments));
    placed->tile.arguments.push_back(value);
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(placed->tile.offsets, RuntimesToDimensions(tile.offsets));
  XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap moved,
                                RuntimesToDimensions(tile.runtime_offsets));
  for (const auto [i, runtime] : llvm::enumerate(tile.runtimes)) {
    placed->tile.offsets.mutable_dim(graph_.space().num_dims() + static_cast<int>(i)).bounds =
        runtime.values;
  }
  placed->tile.sizes = tile.sizes;
  placed->tile.strides = tile.strides;
  placed->tile.bounds = tile.bounds;
  XLA_INDEXING_RETURN_IF_ERROR(FindElements(tile, moved, placed));
  return FindActive(node, indices, placed);
}

absl::Status TilePlacer::FindElements(const MaskedTile& tile, const IndexingMap& moved,
                                      PlacedTile* placed) {
  mlir::MLIRContext* context = builder_.getContext();
  const IndexingMap& offsets = placed->tile.offsets;
  llvm::SmallVector<AffineExpr, 4> elements;
  Variables positions;
  Constraints masks;
  for (const int64_t size : tile.sizes) positions.push_back({Interval::OfSize(size), {}});
  const auto num_positions = static_cast<int>(positions.size());
  const IndexingMap box(kPartsFit, mlir::AffineMap::get(offsets.num_dims(), num_positions, context),
                        Variables(offsets.dims()), Variables(positions), {});
  const auto add_mask = [&](AffineExpr index, const Interval& bounds) {
    if (!RangeOf(box, index).IsSubsetOf(bounds)) masks.push_back({index, bounds});
  };
  for (const auto [d, offset] : llvm::enumerate(offsets.results())) {
    const AffineExpr position = mlir::getAffineSymbolExpr(d, context);
    const AffineExpr element = Add(offset, Scale(position, tile.strides[d]));
    const AffineExpr unmoved = element ? Sub(element, moved.results()[d]) : element;
    if (!unmoved) return absl::OutOfRangeError("an element of a tile exceeds 64 bits");
    elements.push_back(element);
    add_mask(element, tile.bounds[d]);
    add_mask(unmoved, tile.moved_bounds[d]);
  }
  placed->elements = IndexingMap(
      kPartsFit, mlir::AffineMap::get(offsets.num_dims(), num_positions, elements, context),
      Variables(offsets.dims()), std::move(positions), {}, std::move(masks));
  return absl::OkStatus();
}

// The tile indices outside of the box of those at which something is read are passed over.
absl::Status TilePlacer::FindActive(const TileNode& node, const MlirValues& indices,
                                    PlacedTile* placed) {
  const TileGraph::Active active = graph_.ActiveTiles(node);
  const int num_dims = graph_.space().num_dims();
  Variables all(placed->tile.offsets.dims().take_front(num_dims));
  Variables box = all;
  for (int region = node.region; region >= 0; region = graph_.regions()[region].parent) {
    for (const int dim : graph_.regions()[region].dims) box[dim].bounds = active.indices[dim];
  }
  const mlir::AffineMap nothing = mlir::AffineMap::get(num_dims, 0, builder_.getContext());
  const IndexingMap known(kPartsFit, nothing, std::move(all), {}, {});
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const Value holds,
      CheckDomain(builder_, builder_.getLoc(),
                  IndexingMap(kPartsFit, nothing, std::move(box), {}, {}), indices, {}, &known));
  placed->is_active = holds;
  return absl::OkStatus();
}

absl::StatusOr<Value> TilePlacer::ReadRuntime(const TileRuntime& runtime,
                                              const MlirValues& arguments) {
  const ArrayValue array = ComputedBy({runtime.instruction, runtime.leaf});
  int64_t paths = 32;
  if (!IsSmall(*array.instruction, &paths)) {
    return absl::UnimplementedError(absl::StrCat("its tile is moved by ",
                                                 runtime.instruction->name(),
                                                 ", which is computed from too many arrays"));
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap element, RuntimesToDimensions(runtime.element));
  if (element.num_symbols() > 0) return NotLoweredInstruction(*runtime.instruction);
  // Where nothing of the tile is read, the element need not be in the array.
  Constraints inside;
  for (const auto [expr, size] : llvm::zip(element.results(), array.shape().dimensions())) {
    inside.push_back({expr, Interval::OfSize(size)});
  }
  const MlirValues& values = arguments;
  const IndexingMap in_array(kPartsFit,
                             mlir::AffineMap::get(element.num_dims(), 0, builder_.getContext()),
                             Variables(element.dims()), {}, {}, inside);
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const Value holds, CheckDomain(builder_, builder_.getLoc(), in_array, values, {}, &element));
  for (const Constraint& constraint : inside) {
    element.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
  }
  reader_.ReadFromMemory();
  const int64_t least = runtime.values.has_lower() ? runtime.values.lower() : 0;
  return reader_.EmitElementIf(holds, mlir::arith::ConstantIndexOp::create(builder_, least), [&] {
    return reader_.ReadIndex(array, {element, values}, runtime.value);
  });
}

}  // namespace xla_indexing::internal
