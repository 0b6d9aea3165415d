// TiledComputation::Instantiate: which node of the graph is computed in which region, and in which order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {
namespace {

// Whether two roots belong to one grid: where they have a dimension in common, or none at all.
bool SharesDims(llvm::ArrayRef<int> a, llvm::ArrayRef<int> b) {
  if (a.empty() && b.empty()) return true;
  return llvm::any_of(a, [&](int dim) { return llvm::is_contained(b, dim); });
}

// What a read is at given sizes: among the graph's tiles and domains, and whether the masked
// elements are just what is read.
struct ReadAtSizes {
  int tile = 0;
  int domain = 0;
  bool is_exact = false;
};

// Makes the regions and nodes of a graph, users first.
class GraphBuilder {
 public:
  GraphBuilder(absl::Span<const TiledComputation::Read> reads,
               const TiledComputation::SharedLoops& shared, const TilingSpace& space,
               absl::Span<const int64_t> num_tiles, absl::Span<const ReadAtSizes> read_as,
               absl::Span<const MaskedTile> tiles)
      : reads_(reads),
        shared_(shared),
        space_(space),
        num_tiles_(num_tiles),
        tiles_(tiles),
        nodes_of_(reads.size()) {
    read_as_.reserve(reads.size());
    for (const TiledComputation::Read& read : reads) read_as_.push_back(read_as[read.tile]);
    // Most reads are one node.
    nodes.reserve(reads.size());
    FindSameReads();
  }

  absl::Status AddRoots(absl::Span<const int> roots, absl::Span<const int> loops);
  absl::Status AddOperands();
  void AddRescales();
  absl::Status OrderSteps();

  std::vector<TileNode> nodes;
  std::vector<TileRegion> regions;
  std::vector<TileStore> stores;

 private:
  // Roots that share dimensions, and these dimensions.
  struct Grid {
    std::vector<int> dims;
    std::vector<int> roots;
  };

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
  // The loop of several tiles that a read shares with other contractions; -1 for none.
  int SharedDim(int read) const;
  // Whether a read, the maximum or a sum of such a loop, is an accumulator of the loop that a region
  // is within. Where the result is needed in a region further in it is complete there.
  bool IsRunningIn(int read, int region) const;
  // Whether a loop accumulates several contractions.
  bool IsOnePass(int region) const {
    return regions[region].kind == TileRegion::Kind::kContractionLoop &&
           !space_.dims()[regions[region].dims[0]].joined.empty() &&
           regions[region].accumulators.size() > 1;
  }
  // The innermost region from `region` on outwards that moves the tile.
  absl::StatusOr<int> RegionFor(int read, int region) const;
  // Whether a dimension of the space, -1 for none, has several tiles.
  bool IsLoop(int dim) const { return dim >= 0 && num_tiles_[dim] > 1; }

  absl::Span<const TiledComputation::Read> reads_;
  const TiledComputation::SharedLoops& shared_;
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
  // The loops that contractions share, by the region around and the dimension.
  absl::flat_hash_map<std::pair<int, int>, int> shared_loops_;
};

// Puts what happens in a region in an order in which the loops that are one pass come after what they
// need and before what needs their accumulators. Operands come before users within a level; the
// accumulators of a pass have an odd level, and what needs them a higher one.
class StepLevels {
 public:
  StepLevels(absl::Span<const TileNode> nodes, absl::Span<const TileRegion> regions,
             absl::Span<const int> inside, llvm::SmallBitVector is_one_pass)
      : nodes_(nodes),
        regions_(regions),
        inside_(inside),
        is_one_pass_(std::move(is_one_pass)),
        of_node_(nodes.size(), 0),
        of_accumulation_(nodes.size(), 0),
        of_loop_(regions.size(), 0) {}

  // Goes over the nodes, operands first, until nothing changes; false where passes need one another.
  bool Find(absl::Span<const int> order) {
    for (size_t round = 0; round < is_one_pass_.count() + 2; ++round) {
      changed_ = false;
      for (const int node : order) Visit(node);
      if (!changed_) return true;
    }
    return false;
  }

  int OfNode(int node) const { return of_node_[node]; }
  int OfAccumulation(int node) const { return of_accumulation_[node]; }
  bool IsInPass(int node) const {
    return nodes_[node].loop >= 0 && is_one_pass_[nodes_[node].loop];
  }

 private:
  void Raise(int level, int* to) {
    changed_ = changed_ || level > *to;
    *to = std::max(*to, level);
  }

  void Visit(int node) {
    for (const TileNode::Operand& operand : nodes_[node].operands) Need(node, operand.node);
    const int loop = nodes_[node].loop;
    if (loop < 0) return;
    if (IsInPass(node)) Raise(of_loop_[loop] | 1, &of_loop_[loop]);
    Raise(of_loop_[loop], &of_node_[node]);
  }

  // The region within `around` that a region is in; -1 where it is `around` itself.
  int ChildTowards(int region, int around) const {
    int child = -1;
    for (; region != around; region = regions_[region].parent) child = region;
    return child;
  }
  bool IsWithin(int region, int around) const {
    while (region >= 0 && region != around) region = regions_[region].parent;
    return region == around;
  }

  void Need(int user, int operand) {
    const TileNode& needed = nodes_[operand];
    const bool is_running = IsInPass(operand) && IsWithin(inside_[user], needed.loop);
    const int around = is_running ? needed.loop : needed.region;
    const int level =
        is_running ? of_accumulation_[operand] : of_node_[operand] + (IsInPass(operand) ? 1 : 0);
    const int child = ChildTowards(inside_[user], around);
    if (child >= 0) return Raise(level, &of_loop_[child]);
    if (IsInPass(user)) return Raise(level, &of_accumulation_[user]);
    if (nodes_[user].loop < 0) Raise(level, &of_node_[user]);
  }

  absl::Span<const TileNode> nodes_;
  absl::Span<const TileRegion> regions_;
  absl::Span<const int> inside_;  // by node, the region that it takes its operands in
  llvm::SmallBitVector is_one_pass_;
  std::vector<int> of_node_;          // within its region
  std::vector<int> of_accumulation_;  // of a node, within its loop
  std::vector<int> of_loop_;          // within the region around
  bool changed_ = false;
};

void GraphBuilder::FindSameReads() {
  same_as_.resize(reads_.size());
  // Reads of one instruction come one after another.
  absl::flat_hash_map<std::pair<int64_t, int>, int> first;
  for (size_t begin = 0, end = 0; begin < reads_.size(); begin = end) {
    while (end < reads_.size() && reads_[end].instruction == reads_[begin].instruction) ++end;
    first.clear();
    for (size_t i = begin; i < end; ++i) {
      const auto own = static_cast<int>(i);
      same_as_[i] = end == begin + 1
                        ? own
                        : first.try_emplace({reads_[i].leaf, read_as_[i].tile}, own).first->second;
    }
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
  node.reads = reads_[read].entries;
  node.combiner = reads_[read].combiner;
  reads_of_node_.push_back({read});
  first_read_of_.push_back(read);
  innermost_of_node_.push_back(AddLoops(number));
  return number;
}

int GraphBuilder::AddLoops(int number) {
  TileNode& node = nodes[number];
  int innermost = node.region;
  if (llvm::none_of(node.combined_dims, [&](int dim) { return IsLoop(dim); })) return innermost;
  if (const int dim = SharedDim(first_read_of_[number]); dim >= 0) {
    const auto [loop, is_new] = shared_loops_.try_emplace({node.region, dim}, 0);
    if (is_new) {
      loop->second = AddRegion(TileRegion::Kind::kContractionLoop, node.region, {dim});
    }
    regions[loop->second].accumulators.push_back(number);
    node.loop = loop->second;
    return node.loop;
  }
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

int GraphBuilder::SharedDim(int read) const {
  for (const int dim : reads_[read].combined_dims) {
    if (IsLoop(dim) && !space_.dims()[dim].joined.empty()) return dim;
  }
  return -1;
}

bool GraphBuilder::IsRunningIn(int read, int region) const {
  const int dim = SharedDim(read);
  if (dim < 0) return false;
  while (region >= 0 && !(regions[region].kind == TileRegion::Kind::kContractionLoop &&
                          regions[region].dims[0] == dim)) {
    region = regions[region].parent;
  }
  if (region < 0) return false;
  const absl::StatusOr<int> own = RegionFor(read, region);
  return own.ok() && *own == regions[region].parent;
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
  // What moves a maximum that is not complete belongs to the steps.
  const int maximum = shared_.moved_maximum[read];
  if (maximum >= 0 && IsRunningIn(maximum, region)) return region;
  // The loops around a region are those of its parent and its own.
  while (regions[region].parent >= 0 &&
         llvm::none_of(regions[region].dims, [&](int dim) { return moved_by[dim]; })) {
    region = regions[region].parent;
  }
  return region;
}

std::vector<GraphBuilder::Grid> GraphBuilder::GridsOfRoots() const {
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
  const auto division = shared_.divisions.find(read);
  if (division != shared_.divisions.end() &&
      IsRunningIn(division->second.divisor, nodes[node].region)) {
    nodes[node].passes_on = true;
    const absl::StatusOr<int> region = RegionFor(division->second.divisor, nodes[node].region);
    if (!region.ok()) return region.status();
    AddNode(division->second.divisor, *region);
  }
  for (const TiledComputation::Read::Operand& operand : reads_[read].operands) {
    if (nodes[node].passes_on && operand.operand != division->second.dividend) continue;
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

void GraphBuilder::AddRescales() {
  for (size_t i = 0; i < regions.size(); ++i) {
    if (!IsOnePass(static_cast<int>(i))) continue;
    std::vector<int>& accumulators = regions[i].accumulators;
    // Operands first.
    llvm::sort(accumulators, [&](int a, int b) { return first_read_of_[a] > first_read_of_[b]; });
    const auto node_of = [&](int read) {
      const auto found =
          llvm::find_if(accumulators, [&](int node) { return first_read_of_[node] == read; });
      return found == accumulators.end() ? -1 : *found;
    };
    for (const TiledComputation::SharedLoops::Rescale& rescale : shared_.rescales) {
      const int accumulator = node_of(rescale.accumulator);
      const int by = node_of(rescale.by);
      if (accumulator < 0 || by < 0) continue;
      regions[i].rescales.push_back({rescale.kind, accumulator, by, rescale.elements});
    }
  }
}

absl::Status GraphBuilder::OrderSteps() {
  // Nodes were added users first, but for nodes of one region that another user has added later:
  // the order of reads is one in which users come first.
  std::vector<int> order(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return first_read_of_[a] > first_read_of_[b]; });
  llvm::SmallBitVector is_one_pass(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) {
    if (IsOnePass(static_cast<int>(i))) is_one_pass.set(i);
  }
  StepLevels levels(nodes, regions, innermost_of_node_, is_one_pass);
  if (is_one_pass.any() && !levels.Find(order)) {
    return absl::FailedPreconditionError(
        "what a loop of several contractions needs is computed of its results");
  }
  // Steps of their regions, in order within a level.
  struct Placed {
    int level = 0;
    int region = 0;
    TileRegion::Step step;
  };
  std::vector<Placed> placed;
  for (const int node : order) {
    const int loop = nodes[node].loop;
    if (levels.IsInPass(node)) {
      placed.push_back({levels.OfAccumulation(node), loop, {false, node, true}});
    }
    placed.push_back({levels.OfNode(node), nodes[node].region, {false, node, false}});
  }
  llvm::stable_sort(placed, [](const Placed& a, const Placed& b) { return a.level < b.level; });
  llvm::SmallBitVector is_placed(regions.size());
  for (const Placed& next : placed) {
    const int loop = nodes[next.step.index].loop;
    if (!next.step.is_accumulation && loop >= 0 && !is_placed[loop]) {
      regions[next.region].steps.push_back({true, loop, false});
      is_placed.set(loop);
    }
    regions[next.region].steps.push_back(next.step);
  }
  // Other loops are the last step of what is around them.
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].parent < 0 || is_placed[i]) continue;
    regions[regions[i].parent].steps.push_back({true, static_cast<int>(i), false});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TileGraph> TiledComputation::Instantiate(const Tiling& tiling) const {
  const QuestionBudget question;
  absl::Status status = CheckTiling(tiling);
  if (!status.ok()) return status;
  TileGraph graph;
  graph.space_ = space_;
  graph.sizes_ = tiling.sizes;
  for (int i = 0; i < space_->num_dims(); ++i) {
    graph.num_tiles_.push_back(internal::CeilDiv(space_->dims()[i].size, tiling.sizes[i]));
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
    graph.elements_of_tiles_.push_back(tile->tile.NumElements());
    graph.tiles_.push_back(std::move(tile->tile));
  }
  GraphBuilder builder(reads_, shared_, *space_, graph.num_tiles_, read_as, graph.tiles_);
  status = builder.AddRoots(roots_, tiling.loops);
  if (status.ok()) status = builder.AddOperands();
  if (status.ok()) builder.AddRescales();
  if (status.ok()) status = builder.OrderSteps();
  if (!status.ok()) return status;
  graph.nodes_ = std::move(builder.nodes);
  graph.regions_ = std::move(builder.regions);
  graph.stores_ = std::move(builder.stores);
  return graph;
}

}  // namespace xla_indexing
