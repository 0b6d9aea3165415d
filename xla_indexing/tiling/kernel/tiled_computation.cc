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
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/tiling/kernel/tile_walk.h"

namespace xla_indexing {
namespace {

using internal::CeilDiv;
using internal::HasSymbol;
using internal::TileRead;
using internal::TileReadOperand;
using internal::TileWalk;
using ::mlir::AffineExpr;

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

// A map from the tile indices, of which there are these numbers, and runtime variables.
IndexingMap MapFromIndices(llvm::ArrayRef<AffineExpr> results, absl::Span<const int64_t> num_tiles,
                           llvm::ArrayRef<Variable> runtimes, const TilingSpace& space,
                           mlir::MLIRContext* context) {
  Variables dims;
  for (size_t i = 0; i < num_tiles.size(); ++i) {
    dims.push_back({Interval::OfSize(std::max<int64_t>(num_tiles[i], 1)),
                    mlir::StringAttr::get(context, space.dims()[i].name)});
  }
  const auto affine_map = mlir::AffineMap::get(dims.size(), runtimes.size(), results, context);
  IndexingMap map(kPartsFit, affine_map, std::move(dims), {}, Variables(runtimes));
  map.Simplify();
  return map;
}

// Which devices the tile that begins at these values of a map's variables is read on; none where a
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

// What a read is at given sizes: among the graph's tiles and domains, and whether the masked
// elements are just what is read.
struct ReadAtSizes {
  int tile = 0;
  int domain = 0;
  bool is_exact = false;
};

// Roots that share dimensions, and these dimensions.
struct Grid {
  std::vector<int> dims;
  std::vector<int> roots;
};

// Whether two roots belong to one grid: where they have a dimension in common, or none at all.
bool SharesDims(llvm::ArrayRef<int> a, llvm::ArrayRef<int> b) {
  if (a.empty() && b.empty()) return true;
  return llvm::any_of(a, [&](int dim) { return llvm::is_contained(b, dim); });
}

// Makes the regions and nodes of a graph, users first.
class GraphBuilder {
 public:
  GraphBuilder(absl::Span<const TiledComputation::Read> reads, const TilingSpace& space,
               absl::Span<const int64_t> num_tiles, absl::Span<const ReadAtSizes> read_as,
               absl::Span<const MaskedTile> tiles)
      : reads_(reads),
        space_(space),
        num_tiles_(num_tiles),
        tiles_(tiles),
        nodes_of_(reads.size()) {
    for (const TiledComputation::Read& read : reads) read_as_.push_back(read_as[read.tile]);
    FindSameReads();
  }

  absl::Status AddRoots(absl::Span<const int> roots, absl::Span<const int> loops);
  absl::Status AddOperands();
  void OrderSteps();

  std::vector<TileNode> nodes;
  std::vector<TileRegion> regions;
  std::vector<TileStore> stores;

 private:
  // Reads of one leaf whose tiles are equal at these sizes are the first of them.
  void FindSameReads();
  // The grids that the roots of the space have.
  std::vector<Grid> GridsOfRoots() const;
  // A grid with its parallel loops. Returns the innermost.
  int AddGrid(const Grid& grid, absl::Span<const int> loops);
  void AddStore(int root, int node);
  int AddRegion(TileRegion::Kind kind, int parent, std::vector<int> dims);
  // The loops of a contraction's node, within its region. All leaves of a contraction that have the
  // same tile share them. Returns the innermost.
  int AddLoops(int node);
  // The node of a read in a region.
  int AddNode(int read, int region);
  // Leaves of the reads of a node those that say how it is computed, and gives it their domains. Where
  // one that is exact has the domain of one that is not, the node is computed as the exact one is;
  // what is read elsewhere needs operands of its own.
  void JoinReads(int node);
  absl::Status AddOperandsAs(int read, int node);
  // The innermost region from `region` on outwards that moves the tile.
  absl::StatusOr<int> RegionFor(int read, int region) const;
  // Whether a dimension of the space, -1 for none, has several tiles.
  bool IsLoop(int dim) const { return dim >= 0 && num_tiles_[dim] > 1; }

  absl::Span<const TiledComputation::Read> reads_;
  const TilingSpace& space_;
  absl::Span<const int64_t> num_tiles_;
  absl::Span<const MaskedTile> tiles_;
  std::vector<ReadAtSizes> read_as_;                      // by read
  std::vector<int> same_as_;                              // by read
  std::vector<llvm::SmallVector<int, 1>> nodes_of_;       // by read
  std::vector<llvm::SmallVector<int, 1>> reads_of_node_;  // of one tile
  std::vector<int> first_read_of_;                        // by node
  std::vector<llvm::SmallBitVector> around_;  // by region: its dimensions and those around it
  std::vector<int> innermost_of_node_;        // where a node's operands are, or further out
  // The nodes of a contraction that have loops of their own.
  absl::flat_hash_map<const HloInstruction*, llvm::SmallVector<int, 1>> loops_of_;
};

void GraphBuilder::FindSameReads() {
  same_as_.resize(reads_.size());
  absl::flat_hash_map<std::tuple<const HloInstruction*, int64_t, int>, int> first;
  for (size_t i = 0; i < reads_.size(); ++i) {
    const auto key = std::tuple(reads_[i].instruction, reads_[i].leaf, read_as_[i].tile);
    same_as_[i] = first.try_emplace(key, static_cast<int>(i)).first->second;
  }
}

int GraphBuilder::AddRegion(TileRegion::Kind kind, int parent, std::vector<int> dims) {
  TileRegion& region = regions.emplace_back();
  region.kind = kind;
  region.parent = parent;
  around_.push_back(parent < 0 ? llvm::SmallBitVector(space_.num_dims()) : around_[parent]);
  for (const int dim : dims) {
    region.trip_counts.push_back(num_tiles_[dim]);
    around_.back().set(dim);
  }
  region.dims = std::move(dims);
  return static_cast<int>(regions.size()) - 1;
}

int GraphBuilder::AddNode(int read, int region) {
  const int first = same_as_[read];
  for (const int node : nodes_of_[first]) {
    if (nodes[node].region != region) continue;
    if (!llvm::is_contained(reads_of_node_[node], read)) reads_of_node_[node].push_back(read);
    return node;
  }
  const auto number = static_cast<int>(nodes.size());
  nodes_of_[first].push_back(number);
  TileNode& node = nodes.emplace_back();
  node.instruction = reads_[read].instruction;
  node.array = reads_[read].array;
  node.leaf = reads_[read].leaf;
  node.tile = read_as_[read].tile;
  node.region = region;
  node.combined_dims = reads_[read].combined_dims;
  reads_of_node_.push_back({read});
  first_read_of_.push_back(read);
  innermost_of_node_.push_back(AddLoops(number));
  return number;
}

int GraphBuilder::AddLoops(int number) {
  TileNode& node = nodes[number];
  int innermost = node.region;
  if (llvm::none_of(node.combined_dims, [&](int dim) { return IsLoop(dim); })) return innermost;
  // Leaves come one after another.
  for (const int other : loops_of_[node.instruction]) {
    if (nodes[other].region != node.region || nodes[other].tile != node.tile) continue;
    node.loop = nodes[other].loop;
    for (int region = innermost_of_node_[other]; region != node.region;
         region = regions[region].parent) {
      regions[region].accumulators.push_back(number);
    }
    return innermost_of_node_[other];
  }
  loops_of_[node.instruction].push_back(number);
  for (const int dim : node.combined_dims) {
    if (!IsLoop(dim)) continue;
    innermost = AddRegion(TileRegion::Kind::kContractionLoop, innermost, {dim});
    regions[innermost].accumulators.push_back(number);
    if (node.loop < 0) node.loop = innermost;
  }
  return innermost;
}

absl::StatusOr<int> GraphBuilder::RegionFor(int read, int region) const {
  const llvm::SmallBitVector& moved_by = tiles_[read_as_[read].tile].dims;
  // The tile of the user may be the same for all indices of a dimension that is not around it
  // although its operand's is not, where it is not exact.
  if (moved_by.test(around_[region])) {
    llvm::SmallBitVector others = moved_by;
    others.reset(around_[region]);
    return absl::FailedPreconditionError(absl::StrCat(
        "the tile of ", reads_[read].array->name, " changes with ",
        space_.dims()[others.find_first()].name, ", and that of what reads it does not"));
  }
  // The loops around a region are those of its parent and its own.
  while (regions[region].parent >= 0 &&
         llvm::none_of(regions[region].dims, [&](int dim) { return moved_by[dim]; })) {
    region = regions[region].parent;
  }
  return region;
}

std::vector<Grid> GraphBuilder::GridsOfRoots() const {
  const absl::Span<const TilingRoot> roots = space_.roots();
  std::vector<Grid> grids;
  llvm::SmallBitVector is_taken(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) {
    if (is_taken[i]) continue;
    Grid& grid = grids.emplace_back();
    grid.dims = roots[i].dims;
    // Each root that is added may have dimensions that others have too.
    for (size_t added = is_taken.count(); added <= is_taken.count();) {
      added = is_taken.count() + 1;
      for (size_t j = i; j < roots.size(); ++j) {
        if (is_taken[j] || !SharesDims(roots[j].dims, grid.dims)) continue;
        is_taken.set(j);
        grid.roots.push_back(static_cast<int>(j));
        for (const int dim : roots[j].dims) {
          if (!llvm::is_contained(grid.dims, dim)) grid.dims.push_back(dim);
        }
      }
    }
    llvm::sort(grid.dims);
    llvm::sort(grid.roots);
  }
  return grids;
}

int GraphBuilder::AddGrid(const Grid& grid, absl::Span<const int> loops) {
  const auto is_loop = [&](int dim) { return IsLoop(dim) && llvm::is_contained(loops, dim); };
  std::vector<int> dims;
  for (const int dim : grid.dims) {
    if (!is_loop(dim)) dims.push_back(dim);
  }
  int innermost = AddRegion(TileRegion::Kind::kGrid, -1, std::move(dims));
  for (const int dim : loops) {
    if (!is_loop(dim) || !llvm::is_contained(grid.dims, dim)) continue;
    innermost = AddRegion(TileRegion::Kind::kParallelLoop, innermost, {dim});
  }
  return innermost;
}

void GraphBuilder::AddStore(int root, int node) {
  TileStore& store = stores.emplace_back();
  store.root = root;
  store.node = node;
  llvm::SmallBitVector repeated = around_[nodes[node].region];
  repeated.reset(tiles_[nodes[node].tile].dims);
  for (const int dim : repeated.set_bits()) {
    if (IsLoop(dim)) store.repeated_dims.push_back(dim);
  }
}

absl::Status GraphBuilder::AddRoots(absl::Span<const int> roots, absl::Span<const int> loops) {
  for (const Grid& grid : GridsOfRoots()) {
    const int innermost = AddGrid(grid, loops);
    for (const int root : grid.roots) {
      const absl::StatusOr<int> region = RegionFor(roots[root], innermost);
      if (!region.ok()) return region.status();
      AddStore(root, AddNode(roots[root], *region));
    }
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddOperands() {
  for (size_t read = 0; read < reads_.size(); ++read) {
    // Operands come later, so that all nodes of this read are there.
    for (size_t i = 0; i < nodes_of_[read].size(); ++i) {
      const int node = nodes_of_[read][i];
      JoinReads(node);
      const llvm::SmallVector<int, 1> own = reads_of_node_[node];
      for (const int joined : own) {
        absl::Status status = AddOperandsAs(joined, node);
        if (!status.ok()) return status;
      }
    }
  }
  return absl::OkStatus();
}

void GraphBuilder::JoinReads(int node) {
  llvm::SmallVector<int, 1>& reads = reads_of_node_[node];
  llvm::stable_sort(reads,
                    [&](int a, int b) { return read_as_[a].is_exact > read_as_[b].is_exact; });
  llvm::SmallVector<int, 1>& domains = nodes[node].domains;
  llvm::SmallVector<int, 1> joined;
  nodes[node].is_exact = true;
  for (const int read : reads) {
    const auto& [tile, domain, is_exact] = read_as_[read];
    const bool is_new = !llvm::is_contained(domains, domain);
    if (is_new) domains.push_back(domain);
    if (!is_exact && !is_new) continue;
    nodes[node].is_exact &= is_exact;
    joined.push_back(read);
  }
  reads = std::move(joined);
}

absl::Status GraphBuilder::AddOperandsAs(int read, int node) {
  for (const TiledComputation::Read::Operand& operand : reads_[read].operands) {
    if (nodes.size() >= static_cast<size_t>(TiledComputation::kMaxNodes)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the graph of tiles has more than ", TiledComputation::kMaxNodes, " nodes"));
    }
    const absl::StatusOr<int> region = RegionFor(operand.read, innermost_of_node_[node]);
    if (!region.ok()) return region.status();
    const TileNode::Operand used = {operand.operand, operand.leaf, AddNode(operand.read, *region)};
    // One read has each operand once.
    if (reads_of_node_[node].size() > 1 && llvm::is_contained(nodes[node].operands, used)) continue;
    nodes[node].operands.push_back(used);
  }
  return absl::OkStatus();
}

void GraphBuilder::OrderSteps() {
  // Nodes were added users first, but for nodes of one region that another user has added later:
  // the order of reads is one in which users come first.
  std::vector<int> order(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return first_read_of_[a] > first_read_of_[b]; });
  llvm::SmallBitVector is_placed(regions.size());
  for (const int node : order) {
    TileRegion& region = regions[nodes[node].region];
    const int loop = nodes[node].loop;
    if (loop >= 0 && !is_placed[loop]) {
      region.steps.push_back({true, loop});
      is_placed.set(loop);
    }
    region.steps.push_back({false, node});
  }
  // Other loops are the last step of what is around them.
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].parent < 0 || is_placed[i]) continue;
    regions[regions[i].parent].steps.push_back({true, static_cast<int>(i)});
  }
}

}  // namespace

absl::StatusOr<TiledComputation> TiledComputation::Create(const HloComputation& computation,
                                                          mlir::MLIRContext* context,
                                                          const FusionOptions& options) {
  const QuestionBudget question;
  absl::StatusOr<TileWalk> walk = internal::WalkTiles(computation, context, options);
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
    for (const TileReadOperand& operand : read.operands) {
      added.operands.push_back({operand.operand, operand.operand_leaf, operand.read});
    }
    const Shape& shape = read.instruction->shape().Leaf(read.leaf);
    added.array = std::make_shared<const TiledArray>(TiledArray{
        std::string(read.instruction->name()), read.instruction->opcode(),
        std::string(read.instruction->opcode_name()), shape, !read.instruction->shape().IsArray()});
    const std::vector<int64_t> array(shape.dimensions().begin(), shape.dimensions().end());
    const auto [entry, is_new] =
        known.try_emplace({read.map, array}, static_cast<int>(tiled.tiles_.size()));
    added.tile = entry->second;
    if (!is_new) continue;
    absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(read.map, sizes);
    if (!tile.ok()) return tile.status();
    ReadTile& new_tile =
        tiled.tiles_.emplace_back(ReadTile{std::move(read.map), *std::move(tile), {}, {}});
    for (const RuntimeVarIndexing& binding : new_tile.indexing.bindings()) {
      new_tile.values.push_back(binding.ValueRange());
    }
    for (const int64_t size : array) {
      new_tile.array.push_back(size == Shape::kUnboundedSize ? Interval::AtLeast(0)
                                                             : Interval::OfSize(size));
    }
  }
  tiled.roots_ = std::move(walk->roots);
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
  for (const auto& [from, to] : {std::pair(symbolic.Offsets(), &offsets),
                                 std::pair(symbolic.RuntimeOffsets(), &runtime_offsets)}) {
    for (const TileExpr& offset : from) {
      to->push_back(offset.WithSizes(*counted).ToAffine(context, /*num_sizes=*/0));
      if (!to->back()) return not_a_tile(" begins where no affine expression says");
    }
  }
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
         MapFromIndices(element, num_tiles, map.runtimes().take_front(i), *space_, context),
         binding.value, read.values[i]});
  }
  tile.offsets = MapFromIndices(offsets, num_tiles, map.runtimes(), *space_, context);
  for (const SymbolicTile::BoxSide& side : *box) {
    tile.sizes.push_back(side.size);
    tile.strides.push_back(side.stride);
  }
  tile.runtime_offsets =
      MapFromIndices(runtime_offsets, num_tiles, map.runtimes(), *space_, context);
  tile.moved_bounds = symbolic.Bounds();
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
    domain = MapFromIndices({}, num_tiles, map.runtimes(), *space_, context);
  }
  for (int i = 0; i < domain->num_dims(); ++i) {
    domain->mutable_dim(i).name = tile.offsets.dims()[i].name;
  }
  return TileOfSizes{std::move(tile), *std::move(domain), is_exact};
}

absl::StatusOr<TileGraph> TiledComputation::Instantiate(const Tiling& tiling) const {
  const QuestionBudget question;
  absl::Status status = CheckTiling(tiling);
  if (!status.ok()) return status;
  TileGraph graph;
  graph.space_ = space_;
  graph.sizes_ = tiling.sizes;
  for (int i = 0; i < space_->num_dims(); ++i) {
    graph.num_tiles_.push_back(CeilDiv(space_->dims()[i].size, tiling.sizes[i]));
  }
  graph.tiles_.reserve(tiles_.size());
  // Tiles and domains that are equal at these sizes are one.
  std::vector<ReadAtSizes> read_as(tiles_.size());
  absl::flat_hash_map<IndexingMap, int> known_domains;
  absl::flat_hash_map<size_t, llvm::SmallVector<int, 1>> by_offsets;
  for (size_t i = 0; i < tiles_.size(); ++i) {
    absl::StatusOr<TileOfSizes> tile = TileAt(tiles_[i], graph.sizes_, graph.num_tiles_);
    if (!tile.ok()) {
      const auto read =
          llvm::find_if(reads_, [&](const Read& r) { return r.tile == static_cast<int>(i); });
      return absl::Status(tile.status().code(),
                          absl::StrCat(read->array->name, ": ", tile.status().message()));
    }
    read_as[i].is_exact = tile->is_exact;
    const auto [domain, is_new] =
        known_domains.try_emplace(tile->domain, static_cast<int>(graph.domains_.size()));
    read_as[i].domain = domain->second;
    if (is_new) graph.domains_.push_back(std::move(tile->domain));
    llvm::SmallVector<int, 1>& alike = by_offsets[hash_value(tile->tile.offsets)];
    const auto same =
        llvm::find_if(alike, [&](int known) { return graph.tiles_[known] == tile->tile; });
    if (same != alike.end()) {
      read_as[i].tile = *same;
      continue;
    }
    read_as[i].tile = static_cast<int>(graph.tiles_.size());
    alike.push_back(read_as[i].tile);
    graph.tiles_.push_back(std::move(tile->tile));
  }
  GraphBuilder builder(reads_, *space_, graph.num_tiles_, read_as, graph.tiles_);
  status = builder.AddRoots(roots_, tiling.loops);
  if (status.ok()) status = builder.AddOperands();
  if (!status.ok()) return status;
  builder.OrderSteps();
  graph.nodes_ = std::move(builder.nodes);
  graph.regions_ = std::move(builder.regions);
  graph.stores_ = std::move(builder.stores);
  return graph;
}

}  // namespace xla_indexing
