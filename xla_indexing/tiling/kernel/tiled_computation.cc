#include "xla_indexing/tiling/kernel/tiled_computation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/tiling/kernel/one_pass.h"
#include "xla_indexing/tiling/kernel/tile_walk.h"

namespace xla_indexing {
namespace {

using internal::HasSymbol;
using internal::TileRead;
using internal::TileReadOperand;
using internal::TileWalk;
using ::mlir::AffineExpr;

std::vector<int64_t> PermutationOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kTranspose) return {};
  return {instruction.dimensions().begin(), instruction.dimensions().end()};
}

// The dimensions of the space that a map's results, or what its runtime variables are read by,
// depend on.
llvm::SmallBitVector DimsOf(const MaskedTile& tile, int num_dims) {
  llvm::SmallBitVector dims(num_dims);
  const auto add = [&](const IndexingMap& map) {
    for (const AffineExpr result : map.results()) {
      for (int i = 0; i < num_dims; ++i) {
        if (result.isFunctionOfDim(i)) dims.set(i);
      }
    }
  };
  add(tile.offsets);
  for (const TileRuntime& runtime : tile.runtimes) add(runtime.element);
  if (tile.devices) add(*tile.devices);
  return dims;
}

// The tile indices, of which there are these numbers, as dimensions.
Variables IndicesOf(absl::Span<const int64_t> num_tiles, const TilingSpace& space,
                    mlir::MLIRContext* context) {
  Variables dims;
  for (size_t i = 0; i < num_tiles.size(); ++i) {
    dims.push_back({Interval::OfSize(std::max<int64_t>(num_tiles[i], 1)),
                    mlir::StringAttr::get(context, space.dims()[i].name)});
  }
  return dims;
}

// A map from the tile indices and runtime variables.
IndexingMap MapFromIndices(llvm::ArrayRef<AffineExpr> results, const Variables& indices,
                           llvm::ArrayRef<Variable> runtimes, mlir::MLIRContext* context) {
  const auto affine_map = mlir::AffineMap::get(indices.size(), runtimes.size(), results, context);
  IndexingMap map(kPartsFit, affine_map, indices, {}, Variables(runtimes));
  const bool are_constants = llvm::all_of(
      results, [](AffineExpr result) { return llvm::isa<mlir::AffineConstantExpr>(result); });
  if (!are_constants) map.Simplify();
  return map;
}

// Which devices the tile that begins at these values of a map's variables is read on; nullopt if a
// number does not fit int64.
std::optional<IndexingMap> DevicesOf(const OperandIndexing& indexing, const IndexingMap& offsets,
                                     llvm::ArrayRef<AffineExpr> begin) {
  const IndexingMap& map = indexing.map();
  const ReplicaMap& replica_map = *indexing.replica_map();
  // The reader comes after the dimensions.
  llvm::SmallVector<AffineExpr, 6> dims(begin);
  dims.push_back(indexing.Reader());
  Variables variables(offsets.dims());
  variables.push_back({replica_map.readers, mlir::StringAttr::get(map.context(), "reader")});
  const AffineExpr device = internal::Substitute(replica_map.device, dims, {});
  if (!device) return std::nullopt;
  const auto affine_map = mlir::AffineMap::get(variables.size(), map.num_symbols(), device);
  IndexingMap devices(kPartsFit, affine_map, std::move(variables), Variables(map.ranges()),
                      Variables(map.runtimes()));
  for (const Constraint& constraint : replica_map.constraints) {
    const AffineExpr expr = internal::Substitute(constraint.expr, dims, {});
    if (!expr) return std::nullopt;
    devices.AddConstraint(kPartsFit, expr, constraint.interval);
  }
  devices.Simplify({.keep_variables = true});
  return devices;
}

// Whether each element of the tile is read on all of its devices: which element and which device do
// not have to do with each other.
bool AreAllDevicesRead(const OperandIndexing& indexing) {
  const ReplicaMap& replica_map = *indexing.replica_map();
  if (!replica_map.constraints.empty()) return false;
  for (int i = 0; i < indexing.map().num_ranges(); ++i) {
    if (!HasSymbol(replica_map.device, i)) continue;
    for (const AffineExpr result : indexing.map().results()) {
      if (HasSymbol(result, i)) return false;
    }
  }
  return true;
}

// What the contractions that share dimensions say, by reads.
TiledComputation::SharedLoops SharedLoopsOf(absl::Span<const TiledComputation::Read> reads,
                                            absl::Span<const internal::OnePass> passes) {
  TiledComputation::SharedLoops shared;
  shared.moved_maximum.assign(reads.size(), -1);
  absl::flat_hash_map<const HloInstruction*, llvm::SmallVector<int, 1>> reads_of;
  for (size_t i = 0; i < reads.size(); ++i) {
    reads_of[reads[i].instruction].push_back(static_cast<int>(i));
  }
  for (const internal::OnePass& pass : passes) {
    for (const HloInstruction* mover : pass.movers) {
      for (const int read : reads_of[mover]) {
        shared.moved_maximum[read] = reads_of[pass.contractions.front()].front();
      }
    }
    for (const internal::OnePass::Rescale& rescale : pass.rescales) {
      const int by = reads_of[rescale.by].front();
      shared.rescales.push_back(
          {rescale.kind, reads_of[rescale.accumulator].front(), by, rescale.elements});
      if (rescale.division == nullptr) continue;
      for (const int read : reads_of[rescale.division]) {
        shared.divisions[read] = {by, rescale.dividend};
      }
    }
  }
  return shared;
}

}  // namespace

absl::StatusOr<TiledComputation> TiledComputation::Create(const HloComputation& computation,
                                                          mlir::MLIRContext* context,
                                                          const FusionOptions& options,
                                                          TiledLoops loops) {
  HloIndexers indexers(context, options);
  return Create(computation, indexers, loops);
}

absl::StatusOr<TiledComputation> TiledComputation::Create(const HloComputation& computation,
                                                          HloIndexers& indexers, TiledLoops loops) {
  const QuestionBudget question;
  absl::StatusOr<TileWalk> walk = internal::WalkTiles(computation, indexers, loops);
  if (!walk.ok()) return walk.status();
  TiledComputation tiled;
  tiled.name_ = std::string(computation.name());
  std::vector<int64_t> sizes = walk->space.DimSizes();
  for (int64_t& size : sizes) size = std::max<int64_t>(size, 1);
  absl::flat_hash_map<std::pair<OperandIndexing, std::vector<int64_t>>, int> known;
  for (TileRead& read : walk->reads) {
    Read& added = tiled.reads_.emplace_back();
    added.instruction = read.instruction;
    added.leaf = read.leaf;
    added.combined_dims = std::move(read.loops);
    added.entries = std::move(read.entries);
    if (!added.combined_dims.empty()) added.combiner = internal::CombinerOf(*read.instruction);
    for (const TileReadOperand& operand : read.operands) {
      added.operands.push_back({operand.operand, operand.operand_leaf, operand.read});
    }
    const Shape& shape = read.instruction->shape().Leaf(read.leaf);
    added.array = std::make_shared<const TiledArray>(TiledArray{
        std::string(read.instruction->name()), read.instruction->opcode(),
        std::string(read.instruction->opcode_name()), shape, !read.instruction->shape().IsArray(),
        WorkPerElement(*read.instruction, read.leaf), PermutationOf(*read.instruction)});
    const std::vector<int64_t> array(shape.dimensions().begin(), shape.dimensions().end());
    const auto [entry, is_new] =
        known.try_emplace({read.map, array}, static_cast<int>(tiled.tiles_.size()));
    added.tile = entry->second;
    if (!is_new) continue;
    absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(read.map, sizes);
    if (!tile.ok()) return tile.status();
    ReadTile& new_tile = tiled.tiles_.emplace_back(ReadTile{.indexing = std::move(read.map),
                                                            .tile = *std::move(tile),
                                                            .array = {},
                                                            .values = {},
                                                            .offsets = {},
                                                            .runtime_offsets = {},
                                                            .bounds = {}});
    new_tile.offsets = new_tile.tile.Offsets();
    new_tile.runtime_offsets = new_tile.tile.RuntimeOffsets();
    new_tile.bounds = new_tile.tile.Bounds();
    for (const RuntimeVarIndexing& binding : new_tile.indexing.bindings()) {
      new_tile.values.push_back(binding.ValueRange());
    }
    for (const int64_t size : array) {
      new_tile.array.push_back(size == Shape::kUnboundedSize ? Interval::AtLeast(0)
                                                             : Interval::OfSize(size));
    }
  }
  tiled.roots_ = std::move(walk->roots);
  tiled.shared_ = SharedLoopsOf(tiled.reads_, walk->passes);
  // Where the pieces of an array that is put together end.
  for (const Read& read : tiled.reads_) {
    if (read.array->opcode != HloOpcode::kConcatenate) continue;
    TilePieces pieces;
    for (const Read::Operand& operand : read.operands) {
      pieces.Add(tiled.tiles_[tiled.reads_[operand.read].tile].indexing.map());
    }
    for (const Read::Operand& operand : read.operands) {
      for (const TileBorder& border :
           pieces.BordersOf(tiled.tiles_[tiled.reads_[operand.read].tile].indexing.map())) {
        const bool is_known = llvm::any_of(tiled.borders_, [&](const TileBorder& other) {
          return other.dim == border.dim && other.at == border.at;
        });
        if (!is_known) tiled.borders_.push_back(border);
      }
    }
  }
  tiled.space_ = std::make_shared<const TilingSpace>(std::move(walk->space));
  return tiled;
}

std::vector<TileCondition> TiledComputation::Conditions() const {
  std::vector<TileCondition> conditions;
  for (const ReadTile& read : tiles_) {
    for (TileCondition& condition : read.tile.Conditions()) {
      if (!llvm::is_contained(conditions, condition)) conditions.push_back(std::move(condition));
    }
  }
  return conditions;
}

TileNames TiledComputation::Names() const {
  TileNames names;
  for (const TilingDimension& dim : space_->dims()) {
    names.sizes.push_back(dim.name);
    names.indices.push_back(dim.name);
  }
  return names;
}

absl::Status TiledComputation::CheckTiling(const Tiling& tiling) const {
  if (tiling.sizes.size() != space_->dims().size()) {
    return absl::InvalidArgumentError(absl::StrCat(tiling.sizes.size(), " tile sizes for ",
                                                   space_->num_dims(), " dimensions of ", name_));
  }
  for (size_t i = 0; i < tiling.sizes.size(); ++i) {
    if (tiling.sizes[i] >= 1) continue;
    return absl::InvalidArgumentError(absl::StrCat("tile size ", tiling.sizes[i], " of ",
                                                   space_->dims()[i].name, " is less than 1"));
  }
  for (size_t i = 0; i < tiling.loops.size(); ++i) {
    const int dim = tiling.loops[i];
    if (dim < 0 || dim >= space_->num_dims() || !space_->IsParallel(dim)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a loop over dimension ", dim, ", which is no parallel dimension"));
    }
    if (llvm::is_contained(llvm::ArrayRef(tiling.loops).take_front(i), dim)) {
      return absl::InvalidArgumentError(absl::StrCat("two loops over ", space_->dims()[dim].name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TiledComputation::TileOfSizes> TiledComputation::TileAt(
    const ReadTile& read, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> num_tiles) const {
  const SymbolicTile& symbolic = read.tile;
  const IndexingMap& map = symbolic.map();
  mlir::MLIRContext* context = map.context();
  const auto not_a_tile = [&](absl::string_view why) {
    return absl::FailedPreconditionError(
        absl::StrCat("what is read through ", map.ToString(), why));
  };
  const absl::StatusOr<llvm::SmallVector<SymbolicTile::BoxSide, 4>> box = symbolic.MaskedBox(sizes);
  if (!box.ok()) return box.status();
  const absl::StatusOr<Decision> exact = symbolic.IsExactWhenMasked(sizes);
  if (!exact.ok()) return exact.status();
  const absl::StatusOr<llvm::SmallVector<int64_t, 4>> counted = symbolic.CountedSizes(sizes);
  if (!counted.ok()) return counted.status();
  MaskedTile tile{IndexingMap(context), {}, {}, {}, {}, {}, IndexingMap(context), std::nullopt, {}};
  llvm::SmallVector<AffineExpr, 4> offsets;
  llvm::SmallVector<AffineExpr, 4> runtime_offsets;
  for (const auto& [from, to] :
       {std::pair(&read.offsets, &offsets), std::pair(&read.runtime_offsets, &runtime_offsets)}) {
    for (const TileExpr& offset : *from) {
      to->push_back(offset.WithSizes(*counted).ToAffine(context, /*num_sizes=*/0));
      if (!to->back()) return not_a_tile(" begins where no affine expression says");
    }
  }
  const Variables indices = IndicesOf(num_tiles, *space_, context);
  // Runtime variables, and the first point of the tile, at which their elements are read.
  llvm::SmallVector<AffineExpr, 6> dims;
  llvm::SmallVector<AffineExpr, 6> symbols;
  for (int i = 0; i < map.num_dims(); ++i) {
    dims.push_back(
        internal::Scale(mlir::getAffineDimExpr(i, context), num_tiles[i] <= 1 ? 0 : sizes[i]));
  }
  for (const Variable& range : map.ranges()) {
    symbols.push_back(
        mlir::getAffineConstantExpr(range.bounds.has_lower() ? range.bounds.lower() : 0, context));
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (const auto [i, binding] : llvm::enumerate(read.indexing.bindings())) {
    if (!binding.call_path.empty()) return not_a_tile(" depends on a value inside of a call");
    llvm::SmallVector<AffineExpr, 4> element;
    for (const AffineExpr expr : binding.element) {
      element.push_back(internal::Substitute(expr, dims, symbols));
      if (!element.back()) return not_a_tile(" depends on an element past int64");
    }
    tile.runtimes.push_back(
        {binding.instruction, binding.leaf,
         MapFromIndices(element, indices, map.runtimes().take_front(i), context), binding.value,
         read.values[i]});
  }
  tile.offsets = MapFromIndices(offsets, indices, map.runtimes(), context);
  for (const SymbolicTile::BoxSide& side : *box) {
    tile.sizes.push_back(side.size);
    tile.strides.push_back(side.stride);
  }
  tile.runtime_offsets = MapFromIndices(runtime_offsets, indices, map.runtimes(), context);
  tile.moved_bounds.assign(read.bounds.begin(), read.bounds.end());
  for (const auto [array, moved, offset] :
       llvm::zip(read.array, tile.moved_bounds, tile.runtime_offsets.results())) {
    const bool is_moved = !llvm::isa<mlir::AffineConstantExpr>(offset);
    tile.bounds.push_back(is_moved ? array : array.Intersect(moved));
    if (!is_moved) moved = Interval::All();
  }
  const bool is_elsewhere = read.indexing.replica_map() != nullptr;
  if (is_elsewhere) {
    tile.devices = DevicesOf(read.indexing, tile.offsets, dims);
    if (!tile.devices) return not_a_tile(" is read on devices past int64");
  }
  tile.dims = DimsOf(tile, space_->num_dims());
  bool is_exact = exact->IsYes() && (!is_elsewhere || AreAllDevicesRead(read.indexing));
  absl::StatusOr<IndexingMap> domain = symbolic.TilesThatRead(sizes);
  if (!domain.ok()) {
    // All tiles then, whether they read something or not.
    is_exact = false;
    domain = MapFromIndices({}, indices, map.runtimes(), context);
  }
  for (int i = 0; i < domain->num_dims(); ++i) {
    domain->mutable_dim(i).name = tile.offsets.dims()[i].name;
  }
  return TileOfSizes{std::move(tile), *std::move(domain), is_exact};
}

}  // namespace xla_indexing
