// The tiles of a computation at given sizes, as a graph in which loops are regions: what a block of
// a kernel loads, computes, accumulates and stores.
//
// A *tile* is a box with strides of an array, which moves with the indices of the tiles in the
// tiling space (tiling/kernel/tiling_space.h) and is masked at the edges:
//
//   { offset(k, rt) + i * stride : 0 <= i < size }, of it what lies within the bounds
//
// in each dimension. Sizes and strides are numbers, offsets an indexing map from the tile indices k,
// one for each dimension of the space, and runtime variables. Sizes need not divide the space's
// dimensions, and may be larger than they are: bounds say what is there.
//
// A *node* is an instruction's leaf with its tile. It is computed, loaded or stored where something
// of it is read: at the tile indices of its *domains*, which follow from the conditions under which
// the results read it and not from its offset. A row that is put in front of an array has one
// offset, and is read by the programs of the first rows alone. Where a node is exact the masked
// elements are just what is read at these tile indices; otherwise they contain it. Nodes of one leaf
// and equal tiles are one node within a region. Its operands are nodes of the same region or of
// regions around it.
//
//   grid region       runs for each combination of the tile indices of its dimensions, in any order
//   parallel loop     goes over the tiles of one parallel dimension, so that what does not depend on
//                     it is there already
//   contraction loop  goes over the tiles of one sequential dimension of a contraction; its body has
//                     what one step reads, and after its last step the accumulators, the nodes of
//                     the contraction, are complete
//
// A node is in the outermost region whose dimensions its tile depends on, so that a tile is loaded
// no more often than it changes. Roots that share no dimension have grids of their own.
//
// A contraction accumulates, over its loops and over the steps within one tile of each sequential
// dimension, over the steps that there are: step j of tile k of a dimension of size n and tile size
// t is k * t + j < n.
//
// Example, r = f32[64,32] dot(a, b) over 128, sizes (16, 16, k: 32):
//
//   grid d0: 4, d1: 2
//     loop k: 4, accumulates r
//       a: offset (d0 * 16, k * 32), size (16, 32)
//       b: offset (k * 32, d1 * 16), size (32, 16)
//     r: offset (d0 * 16, d1 * 16), size (16, 16)
#ifndef XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_
#define XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/value_function.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {

// A number that moves a tile and is known when the program runs: an element of an array of
// integers.
struct TileRuntime {
  const HloInstruction* instruction = nullptr;  // while its module lives
  int64_t leaf = 0;
  // From the tile indices and the runtime variables before this one to the element.
  IndexingMap element;
  ValueFunction value = ValueFunction::AsIs();
  Interval values;  // that it may have

  friend bool operator==(const TileRuntime& a, const TileRuntime& b) {
    return a.instruction == b.instruction && a.leaf == b.leaf && a.element == b.element &&
           a.value == b.value;
  }
};

struct MaskedTile {
  // From the tile indices, one for each dimension of the space, and the runtime variables to where
  // the tile begins.
  IndexingMap offsets;
  std::vector<TileRuntime> runtimes;  // one for each runtime variable of `offsets`
  llvm::SmallVector<int64_t, 4> sizes;
  llvm::SmallVector<int64_t, 4> strides;
  // What the tile has beyond these bounds is masked, in each dimension: bounds of the index; and,
  // where runtime variables move the tile, bounds of the index less what they are in the offset.
  llvm::SmallVector<Interval, 4> bounds;
  llvm::SmallVector<Interval, 4> moved_bounds;
  // From the tile indices and the runtime variables to their part of the offset.
  IndexingMap runtime_offsets;
  // Where other devices are read: from the tile indices and the reader's device, which is the last
  // dimension, to the devices that are read, one for each value of range variables.
  std::optional<IndexingMap> devices;
  // The dimensions of the space whose index moves the tile.
  llvm::SmallBitVector dims;

  // The number of its elements, as far as there are bounds; INT64_MAX where that does not fit.
  int64_t NumElements() const;
  // Whether the two are the same tile: the same elements at all indices.
  friend bool operator==(const MaskedTile& a, const MaskedTile& b);
};

// A leaf of an instruction, as far as it is printed and counted.
struct TiledArray {
  std::string name;  // of the instruction
  HloOpcode opcode = HloOpcode::kParameter;
  std::string opcode_name;   // as it is spelled
  Shape shape;               // of the leaf
  bool is_of_tuple = false;  // the leaf is one of several
};

struct TileNode {
  const HloInstruction* instruction = nullptr;  // while its module lives
  std::shared_ptr<const TiledArray> array;
  int64_t leaf = 0;
  int tile = 0;  // among the graph's tiles
  // Among the graph's domains: it is read at the tile indices of each of them.
  llvm::SmallVector<int, 1> domains;
  // Whether the masked elements are just what is read there.
  bool is_exact = false;
  int region = 0;  // that it is computed, loaded or stored in

  // The operand's leaf, and the node that computes it; none for leaves that are not read.
  struct Operand {
    int64_t operand = 0;
    int64_t leaf = 0;
    int node = 0;

    friend bool operator==(const Operand& a, const Operand& b) = default;
  };
  std::vector<Operand> operands;
  // The outermost of the contraction loops that it is complete after, -1 where it has none; the
  // others are within.
  int loop = -1;
  // The dimensions of the space that it combines, -1 for a loop of one step: of a contraction.
  std::vector<int> combined_dims;

  bool IsContraction() const { return !combined_dims.empty(); }
};

struct TileRegion {
  enum class Kind { kGrid, kParallelLoop, kContractionLoop };
  Kind kind = Kind::kGrid;
  int parent = -1;
  std::vector<int> dims;             // of the space; one for a loop
  std::vector<int64_t> trip_counts;  // the number of tiles in each
  // The leaves of the contraction that a contraction loop accumulates.
  std::vector<int> accumulators;

  // What happens, in order: a node is computed, or a region within this one runs.
  struct Step {
    bool is_region = false;
    int index = 0;
  };
  std::vector<Step> steps;
};

// An array of the result: where in the grid it is stored.
struct TileStore {
  int root = 0;  // of the space
  int node = 0;
  // Dimensions of the regions around the node that do not move it: all their indices store the same
  // tile.
  std::vector<int> repeated_dims;
};

// Bytes and numbers of tiles. INT64_MAX where a number does not fit.
//
// Loads and stores count where the domains of their nodes say that something is read, and bytes are
// those of the elements within the bounds there, each time they are moved.
struct TileCost {
  // The most bytes that are held at one time: tiles of parameters from the region that they are
  // loaded in on, accumulators of contractions, tiles of the result. What is computed in between is
  // taken to be in registers, and a result to take the place of the accumulators it is made of.
  int64_t resident_bytes = 0;
  // The bytes of all loads of parameters and stores of results, in all programs.
  int64_t moved_bytes = 0;
  int64_t num_loads = 0;  // of tiles
  int64_t num_stores = 0;
  int64_t num_programs = 0;  // of all grids
  // Whether moved_bytes, num_loads and num_stores are just what happens. Otherwise there are no more:
  // values that are known when the program runs decide, or numbers do not fit or were not counted
  // within some steps.
  bool is_exact = true;
};

// Has all that it prints and counts: of the module, which need not live as long, it has pointers to
// instructions for whoever has it still. The MLIRContext has to outlive it.
class TileGraph {
 public:
  const TilingSpace& space() const { return *space_; }
  // The sizes that it was made for, by dimension of the space, and the numbers of tiles.
  absl::Span<const int64_t> sizes() const { return sizes_; }
  absl::Span<const int64_t> num_tiles() const { return num_tiles_; }

  absl::Span<const MaskedTile> tiles() const { return tiles_; }
  // From the tile indices and the runtime variables of the tile, to nothing: their domains are the
  // indices at which something is read. Range variables take some value.
  absl::Span<const IndexingMap> domains() const { return domains_; }
  absl::Span<const TileNode> nodes() const { return nodes_; }
  absl::Span<const TileRegion> regions() const { return regions_; }
  absl::Span<const TileStore> stores() const { return stores_; }
  const MaskedTile& tile(const TileNode& node) const { return tiles_[node.tile]; }

  // Whether every tile is exact.
  bool IsExact() const;
  // How often a node is computed, loaded or stored, in all programs; between the least and the most
  // where that depends on runtime variables or was not counted within some steps.
  Interval NumExecutions(const TileNode& node) const;
  // The elements of all of these tiles, those that are masked left out, likewise.
  Interval NumElements(const TileNode& node) const;
  // The bytes of a node's tile.
  int64_t BytesOf(const TileNode& node) const;
  TileCost Cost() const;

  // A box that holds the indices of a node's domains, by dimension of the space: all indices but for
  // what reads a part of an array, as a piece of a concatenate; and whether it has no others.
  struct Active {
    std::vector<Interval> indices;
    bool is_all_active = true;
  };
  Active ActiveTiles(const TileNode& node) const;

  // A line for each step, indented by regions.
  std::string ToString() const;

 private:
  friend class TiledComputation;

  // The dimensions of the regions around a node.
  llvm::SmallVector<int, 4> DimsAround(const TileNode& node) const;
  // Whether a domain of a node depends on values of runtime variables.
  bool DependsOnRuntimes(const TileNode& node) const;
  // The domain of a node where it has a single one that is a box and does not depend on runtime
  // variables; null otherwise.
  const IndexingMap* BoxOf(const TileNode& node) const;
  // Whether the regions around a node never run.
  bool NeverRuns(const TileNode& node) const;
  // The number of tile indices of regions around the node, and with `of_elements` also elements of
  // the tile within its bounds, that belong together at some point of the node's domains.
  Interval CountPairs(const TileNode& node, bool of_elements) const;
  // NumElements() where dimensions of the array move with one dimension of the space each.
  std::optional<int64_t> NumElementsByDim(const TileNode& node) const;
  std::vector<int64_t> ResidentBytes() const;  // by region

  std::shared_ptr<const TilingSpace> space_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> num_tiles_;
  std::vector<MaskedTile> tiles_;
  std::vector<IndexingMap> domains_;
  std::vector<TileNode> nodes_;
  std::vector<TileRegion> regions_;
  std::vector<TileStore> stores_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_
