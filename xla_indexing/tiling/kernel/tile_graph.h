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
// In *one pass* (TiledLoops::kOnePass) several contractions share a loop of which one needs the
// result of another: TileRegion::rescales says what keeps them right. Its body then reads what the
// accumulators are so far, and says in its steps when each of them takes the step's values:
//
//   loop k0: 16, accumulates row_max, row_sum, output
//     ..scores of this tile of keys..
//     row_max takes its step
//     ..exp(scores - row_max), with the maximum so far..
//     row_sum takes its step: first row_sum *= exp(row_max before - row_max)
//     output takes its step: first output *= exp(row_max before - row_max)
//   output is divided by row_sum
//
// A node is in the outermost region whose dimensions its tile depends on, so that a tile is loaded
// no more often than it changes. Roots that share no dimension have grids of their own.
//
// A contraction accumulates, over its loops and over the steps within one tile of each sequential
// dimension, over the steps that there are: step j of tile k of a dimension of size n and tile size
// t is k * t + j < n.
//
// How an element is computed is data too. TileNode::reads has, for each leaf of an operand, the maps
// from the element's indices and the steps of the contraction to the elements that are read; the
// steps are numbered by the dimensions of the space in TileNode::combined_dims, in this order,
// whatever the attributes of the instruction say. TileNode::combiner says how the steps' values
// become one, and what a masked step counts as.
//
// Example, r = f32[64,32] dot(a, b) over 128, sizes (16, 16, k: 32):
//
//   grid d0: 4, d1: 2
//     loop k: 4, accumulates r
//       a: offset (d0 * 16, k * 32), size (16, 32)
//       b: offset (k * 32, d1 * 16), size (32, 16)
//     r: offset (d0 * 16, d1 * 16), size (16, 16)
//
// r has combined_dims {k}, combines by addition from 0 on, and reads a through
// (d0, d1, d2) -> (d0, d2) and b through (d0, d1, d2) -> (d2, d1): d2 is the step.
#ifndef XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_
#define XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/value_function.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"

namespace xla_indexing {

namespace internal {
class TileMeter;
}  // namespace internal

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
  ElementWork work = {};
  std::vector<int64_t> permutation = {};  // of a transpose
};

// How the values of a contraction's steps become one: by an operation in which order does not count.
struct TileCombiner {
  // The value v with v op x = x for all x.
  enum class Neutral {
    kZero,      // of sums and `or`
    kOne,       // of products
    kLowest,    // of maxima: -inf, or the least integer
    kGreatest,  // of minima: inf, or the greatest integer
    kAllOnes,   // of `and`: all bits are set
  };

  HloOpcode opcode = HloOpcode::kAdd;  // add, multiply, maximum, minimum, and, or, xor
  Neutral neutral = Neutral::kZero;    // what a masked step counts as

  friend bool operator==(const TileCombiner& a, const TileCombiner& b) = default;
};

// "zero", "one", "lowest", "greatest", "all ones".
absl::string_view NameOf(TileCombiner::Neutral neutral);

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
  // What one element reads: maps from the indices of the element and, for a contraction, one more
  // dimension for each of combined_dims, which is the step. Several maps of one leaf are read all. An
  // operand whose maps depend on no step is read once, as what a reduction begins with. Null if
  // there are no operands.
  SharedIndexing reads;
  // For a contraction; nullopt if the steps are combined by a computation that is no such operation
  // (reductions of several arrays, scans): masked steps have to be left out then.
  std::optional<TileCombiner> combiner;

  // A division, or a product with a reciprocal, whose divisor its accumulator is divided by after the
  // loop (TileRescale::kDivisor): it has its other operand alone, and passes that on.
  bool passes_on = false;

  bool IsContraction() const { return !combined_dims.empty(); }
};

// How an accumulator of a loop is kept right while another one that it depends on is not complete.
// docs/queries.md (One pass) states the law and its conditions.
struct TileRescale {
  enum class Kind {
    // `by` is a maximum m, and the accumulator a sum of terms exp(s - m) * y. Before the accumulator
    // takes a step in which m has grown from `old` to `new`, it is multiplied by exp(old - new). As
    // long as `new` is -inf, the body of the loop and this factor have 0 in its place; after the loop
    // sums for which m is still -inf are NaN.
    kMaximum,
    // After the loop, and after what kMaximum says, the accumulator is divided by `by`, which then is
    // complete. In the loop the division passes its dividend on (TileNode::passes_on).
    kDivisor,
  };
  Kind kind = Kind::kMaximum;
  int accumulator = 0;  // node
  int by = 0;           // node, an accumulator of the same loop
  // From the accumulator's elements to those of `by`.
  IndexingMap elements;
};

struct TileRegion {
  enum class Kind { kGrid, kParallelLoop, kContractionLoop };
  Kind kind = Kind::kGrid;
  int parent = -1;
  std::vector<int> dims;             // of the space; one for a loop
  std::vector<int64_t> trip_counts;  // the number of tiles in each
  // The leaves of the contraction that a contraction loop accumulates; of several contractions where
  // they run in one pass, those before others that need them.
  std::vector<int> accumulators;
  // For a loop in one pass; accumulators that are not mentioned need nothing.
  std::vector<TileRescale> rescales;

  // What happens, in order: a node is computed, or a region within this one runs, or an accumulator
  // takes the values of this step. Accumulators of a loop that has no such steps take them last, in the
  // innermost of their loops.
  struct Step {
    bool is_region = false;
    int index = 0;
    bool is_accumulation = false;
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
  // Whether a tile may go beyond its bounds in a dimension, or these are not those of the array.
  bool IsMasked(const TileNode& node, int64_t dim) const;
  // How often a node is computed, loaded or stored, in all programs; between the least and the most
  // where that depends on runtime variables or was not counted within some steps.
  Interval NumExecutions(const TileNode& node) const;
  // The elements of all of these tiles, those that are masked left out, likewise.
  Interval NumElements(const TileNode& node) const;
  // The bytes of a node's tile.
  int64_t BytesOf(const TileNode& node) const;
  // What it costs (tiling/kernel/tile_cost.h).
  TileCost Cost(const TileCostOptions& options = {}) const;

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
  friend class internal::TileMeter;

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
  // Bytes and numbers of tiles, programs, and accesses without their requests.
  TileCost MeasureMoves() const;

  std::shared_ptr<const TilingSpace> space_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> num_tiles_;
  std::vector<MaskedTile> tiles_;
  std::vector<int64_t> elements_of_tiles_;  // MaskedTile::NumElements()
  std::vector<IndexingMap> domains_;
  std::vector<TileNode> nodes_;
  std::vector<TileRegion> regions_;
  std::vector<TileStore> stores_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_TILE_GRAPH_H_
