// Tiles of a whole computation: for a tile of the result, what every instruction has to compute and
// what is read of every parameter.
//
// Mathematics. Each map from the root to an instruction (fusion/internal/instruction_reads.h) has a
// symbolic tile (tiling/symbolic_tile.h). So tiles are those of the composed maps and do not grow
// on the way. An instruction that is read in one way has one tile, however many paths lead to it;
// one that is read in several ways has one for each. The conditions are those of all tiles.
//
// Several roots, the arrays of a tuple, have one space of tile sizes: roots of the same dimensions
// share them, others have their own, which follow. Tile k of one size vector is tile k of all
// roots.
//
// Example, softmax of f32[2,65,125]: sizes (t0, t1, t2) of the result; the maximum is computed for
// t0 x t1 rows, the parameter is read as t0 x t1 x t2 elements and, for the maximum and the sum, as
// t0 x t1 x 125.
//
//   absl::StatusOr<TiledComputation> tiled =
//       TileComputation(*module->entry_computation(), &context);
//   for (const GoodTileSizes& good : tiled->FindGoodTileSizes(48 * 1024)) ..
//
// Errors. InvalidArgument for a computation whose root has no array; those of
// ComputeInstructionReads and of SymbolicTile. Where a map is unknown its instruction is taken to
// be read whole, which is not exact.
#ifndef XLA_INDEXING_TILING_TILE_COMPUTATION_H_
#define XLA_INDEXING_TILING_TILE_COMPUTATION_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/tiling/symbolic_tile.h"

namespace xla_indexing {

// A leaf of an instruction as it is read through one map.
struct TiledInstruction {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;
  int root = 0;
  SymbolicTile tile;

  const Shape& shape() const { return instruction->shape().Leaf(leaf); }
};

// An array of the result.
struct TiledRoot {
  int64_t leaf = 0;
  int first_size = 0;  // of its sizes among all
  int rank = 0;
};

struct GoodTileSizes {
  std::vector<int64_t> sizes;
  // The bytes of the tiles of all parameters and roots, each in whole bytes.
  int64_t bytes = 0;
};

class TiledComputation {
 public:
  absl::Span<const TiledRoot> roots() const { return roots_; }
  // The dimensions that the tile sizes are sizes of.
  absl::Span<const int64_t> dim_sizes() const { return dim_sizes_; }
  // The instructions, root by root, each after all of its users.
  absl::Span<const TiledInstruction> instructions() const { return instructions_; }

  // The sizes of one root, taken from the sizes of all.
  llvm::ArrayRef<int64_t> SizesOf(int root, llvm::ArrayRef<int64_t> sizes) const {
    return sizes.slice(roots_[root].first_size, roots_[root].rank);
  }

  // Whether every tile is exact.
  absl::StatusOr<Decision> IsExact(llvm::ArrayRef<int64_t> sizes,
                                   int64_t max_steps = kDefaultSteps) const;
  // The conditions of all tiles, each once; sizes are called t0, t1, .. through all roots.
  std::vector<std::string> Conditions() const;

  // The tile that every full tile is, for each of instructions().
  absl::StatusOr<std::vector<ConcreteTile>> TilesOf(llvm::ArrayRef<int64_t> sizes) const;
  // The bytes of the tiles of parameters and roots.
  absl::StatusOr<int64_t> BytesOf(llvm::ArrayRef<int64_t> sizes) const;

  // Sizes that are exact everywhere and whose tiles take at most `max_bytes` bytes, those with the
  // most bytes first. The candidates are divisors of the dimensions and powers of two. Where there
  // are more than `max_candidates` combinations, every other one is left out, dimension by
  // dimension, until they are few enough.
  std::vector<GoodTileSizes> FindGoodTileSizes(int64_t max_bytes,
                                               int64_t max_candidates = 10000) const;

 private:
  friend absl::StatusOr<TiledComputation> TileComputation(const HloComputation& computation,
                                                          mlir::MLIRContext* context,
                                                          const FusionOptions& options);
  TiledComputation(std::vector<TiledRoot> roots, std::vector<int64_t> dim_sizes,
                   std::vector<TiledInstruction> instructions)
      : roots_(std::move(roots)),
        dim_sizes_(std::move(dim_sizes)),
        instructions_(std::move(instructions)) {}

  absl::Status CheckSizes(llvm::ArrayRef<int64_t> sizes) const;

  std::vector<TiledRoot> roots_;
  std::vector<int64_t> dim_sizes_;
  std::vector<TiledInstruction> instructions_;
};

absl::StatusOr<TiledComputation> TileComputation(const HloComputation& computation,
                                                 mlir::MLIRContext* context,
                                                 const FusionOptions& options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_TILE_COMPUTATION_H_
