// A computation, tiled for all sizes together: from tile sizes to the graph of tiles and its cost,
// and to the sizes that cost least.
//
// A TiledComputation has the computation's tiling space (tiling/kernel/tiling_space.h) and, for each way
// in which an instruction is read from there, a symbolic tile (tiling/tile/symbolic_tile.h): its offset,
// size and stride as functions of the sizes. Instantiate() makes the graph of tiles for given sizes
// (tiling/kernel/tile_graph.h), with loops, edges, masks and stores.
//
// A Tiling is a size for each dimension of the space, at least 1; the sizes need not divide the
// dimensions and may be larger. Sequential dimensions with more than one tile become loops. Parallel
// dimensions are dimensions of the grid, or, where they are named in `loops`, loops inside of each
// program, the first the outermost: then what does not depend on them is computed once and not in
// each tile, as the maximum of a row that is normalized piece by piece.
//
// Contractions whose results depend on one another have loops one after another. With
// TiledLoops::kOnePass those of a softmax or an attention are one loop, where the law of
// docs/queries.md (One pass) holds: an attention then loads its keys once and not three times. This is
// asked for because whoever writes the kernel has to do what TileRegion::rescales says, and because
// it rounds at other places.
//
// Example, the matmul f32[1024,4096] x f32[4096,1024] + bias, followed by an activation:
//
//   absl::StatusOr<TiledComputation> tiled = TiledComputation::Create(computation, &context);
//   TilingSearchOptions options;
//   options.max_resident_bytes = 48 * 1024;
//   const TilingSearch search = tiled->FindTilings(options);
//   search.tilings.front()               the sizes that take the least time, and what bounds it
//   tiled->Instantiate(search.tilings.front().tiling)->ToString()
//
// Errors. InvalidArgument for a computation whose root has no array, for sizes that are not as many
// as dimensions or below 1, loops that are no parallel dimensions; FailedPrecondition for sizes at
// which what some instruction's tile reads is no box with strides: Conditions() says for which it
// is. ResourceExhausted past the bounds of FusionOptions, or for graphs of more than kMaxNodes nodes.
#ifndef XLA_INDEXING_TILING_KERNEL_TILED_COMPUTATION_H_
#define XLA_INDEXING_TILING_KERNEL_TILED_COMPUTATION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiling_space.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing {

struct Tiling {
  std::vector<int64_t> sizes;
  // Parallel dimensions that are loops inside of each program, the outermost first.
  std::vector<int> loops;

  friend bool operator==(const Tiling& a, const Tiling& b) = default;
};

struct TilingSearchOptions {
  // The most bytes that may be held at one time (TileCost::resident_bytes).
  int64_t max_resident_bytes = int64_t{48} << 10;
  // The machine whose time ranks tilings; null: DefaultMachine(). How its threads go over tiles, and
  // where tiles are held, say the options of the cost, by default those for the machine.
  const Machine* machine = nullptr;
  std::optional<TileCostOptions> cost = {};
  // The time of a tiling, in any unit, in place of the machine's; null: the machine's.
  std::function<double(const TileCost& cost)> time = {};
  // Which sizes are tried: only powers of two, only divisors of the dimensions, and, by dimension of the
  // space, multiples of a number, as 16 for the tiles of a tensor core. None: multiples of 1.
  bool powers_of_two = false;
  bool divisors = false;
  std::vector<int64_t> multiples = {};
  // Tilings that are tried, and that are returned.
  int64_t max_tried = 2000;
  int64_t max_returned = 8;
  // Whether a piece of a concatenate has to end where a tile does.
  bool cut_at_pieces = true;
  // What else a tiling has to meet, as an emitter's constraints; null: nothing.
  std::function<bool(const Tiling& tiling, const TileGraph& graph)> accept;
};

struct CostedTiling {
  Tiling tiling;
  TileCost cost;
  KernelTime time;  // and what bounds it; of the caller's time, with the machine's bound
};

struct TilingSearch {
  // The tilings that take the least time come first; of those that differ by a hundredth or two, the ones
  // with the fewest sectors, then with the fewest loops, loads and stores, and bytes held.
  std::vector<CostedTiling> tilings;
  int64_t num_tried = 0;
  // Whether all candidates were tried: divisors of the dimensions and powers of two, as the options say.
  bool is_complete = false;
};

// Has all that graphs are made of, print and count (TileGraph): the module need not live as long.
class TiledComputation {
 public:
  static constexpr int64_t kMaxNodes = 1 << 16;

  // A leaf of an instruction as it is read through one map from the space.
  struct Read {
    const HloInstruction* instruction = nullptr;  // while its module lives
    std::shared_ptr<const TiledArray> array;
    int64_t leaf = 0;
    int tile = 0;  // among tiles()
    struct Operand {
      int64_t operand = 0;
      int64_t leaf = 0;
      int read = 0;
    };
    std::vector<Operand> operands;
    // As TileNode has them.
    std::vector<int> combined_dims;
    SharedIndexing entries;
    std::optional<TileCombiner> combiner;
  };
  struct ReadTile {
    OperandIndexing indexing;  // from the space
    SymbolicTile tile;
    std::vector<Interval> array;   // the indices of what is read
    std::vector<Interval> values;  // that each runtime variable may have
    // What the tile says of itself for all sizes, found once.
    llvm::SmallVector<TileExpr, 4> offsets;
    llvm::SmallVector<TileExpr, 4> runtime_offsets;
    llvm::SmallVector<Interval, 4> bounds;
  };

  // What contractions that share a dimension need of one another (TileRegion::rescales), where their
  // nodes have one loop at the sizes.
  struct SharedLoops {
    struct Rescale {
      TileRescale::Kind kind = TileRescale::Kind::kMaximum;
      int accumulator = 0;  // reads
      int by = 0;
      IndexingMap elements;
    };
    std::vector<Rescale> rescales;
    // By read, the read of the maximum that it moves; -1 for none.
    std::vector<int> moved_maximum;
    // The read of the sum that a read divides by, and the operand that it divides.
    struct Division {
      int divisor = 0;
      int64_t dividend = 0;
    };
    absl::flat_hash_map<int, Division> divisions;  // by read
  };

  static absl::StatusOr<TiledComputation> Create(const HloComputation& computation,
                                                 mlir::MLIRContext* context,
                                                 const FusionOptions& options = {},
                                                 TiledLoops loops = TiledLoops::kSeparate);
  // The same through indexers that are kept, for one computation after another.
  static absl::StatusOr<TiledComputation> Create(const HloComputation& computation,
                                                 HloIndexers& indexers,
                                                 TiledLoops loops = TiledLoops::kSeparate);

  const TilingSpace& space() const { return *space_; }
  // Each read after those that need it.
  absl::Span<const Read> reads() const { return reads_; }
  absl::Span<const ReadTile> tiles() const { return tiles_; }
  // The read of each root of the space.
  absl::Span<const int> roots() const { return roots_; }

  // The conditions on sizes under which every full tile is a box with strides, each once; and what
  // sizes and indices are called in their text: as the dimensions are.
  std::vector<TileCondition> Conditions() const;
  TileNames Names() const;
  // Where pieces of concatenates end: no tile has elements of two pieces where each size divides
  // its borders.
  absl::Span<const TileBorder> borders() const { return borders_; }

  // A tiling from text: TilingSpace::ParseSizes.
  absl::StatusOr<TileGraph> Instantiate(const Tiling& tiling) const;
  absl::StatusOr<TileGraph> Instantiate(absl::Span<const int64_t> sizes) const {
    return Instantiate(Tiling{{sizes.begin(), sizes.end()}, {}});
  }

  // Sizes that can be instantiated and fit the bytes. Up to `max_tried` combinations of candidates
  // all are tried; where there are more, the best neighbour of the best so far is gone to, from
  // several beginnings, as long as the tries last, and the graphs have fewer than 2^20 nodes in all.
  // Candidates are ranked with the fewest sectors that their bytes may be in; then the requests of the best
  // are counted, of 32 at least, until as many as are asked for are known to be the best.
  TilingSearch FindTilings(const TilingSearchOptions& options = {}) const;

 private:
  TiledComputation() = default;

  absl::Status CheckTiling(const Tiling& tiling) const;
  struct TileOfSizes {
    MaskedTile tile;
    IndexingMap domain;  // as TileGraph::domains()
    // Whether the masked elements are just what is read there.
    bool is_exact = false;
  };
  absl::StatusOr<TileOfSizes> TileAt(const ReadTile& tile, llvm::ArrayRef<int64_t> sizes,
                                     llvm::ArrayRef<int64_t> num_tiles) const;

  std::shared_ptr<const TilingSpace> space_;
  std::vector<Read> reads_;
  std::vector<ReadTile> tiles_;
  std::vector<int> roots_;  // reads, by root of the space
  SharedLoops shared_;
  std::vector<TileBorder> borders_;
  std::string name_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_TILED_COMPUTATION_H_
