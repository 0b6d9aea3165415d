// Tiles found from all of their points, for maps whose digits do not determine them.
//
// Mathematics. A tile is a box of the dimensions; its elements are the results of its points, for
// all values of the range variables. It is *full* where no point of it is left out but by a
// constraint on residues (E mod m in an interval). The tiles are alike where the elements of every
// full one are a box with strides, of the same sizes and strides.
#ifndef XLA_INDEXING_TILING_TILE_TILE_POINTS_H_
#define XLA_INDEXING_TILING_TILE_TILE_POINTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/tiling/tile/tile_digits.h"

namespace xla_indexing::internal {

// The elements of one tile: their least box with positive strides, and how many they are.
struct TileOfPoints {
  bool is_full = true;
  llvm::SmallVector<int64_t, 4> offsets;
  llvm::SmallVector<SizeAndStride, 4> ranges;  // of size 0 where there are no elements
  int64_t num_elements = 0;

  bool IsBox() const;
};

// The full tiles of one size.
struct TilesOfPoints {
  int64_t num_full = 0;
  bool are_alike = true;
  // The least box that holds each of them, from its own offsets on.
  llvm::SmallVector<SizeAndStride, 4> ranges;
};

class TilePoints {
 public:
  // The last `num_runtimes` range variables of the map are its runtime variables, which have one
  // value in a tile.
  TilePoints(const IndexingMap& map, int num_runtimes);

  // The tile of the points with dimensions in `box`, for all values of runtime variables together.
  // Nullopt if there are more points than steps, or a number does not fit int64.
  std::optional<TileOfPoints> TileAt(llvm::ArrayRef<Interval> box, StepBudget* budget) const;

  // All full tiles that lie in `box`. Where `stops` is set, ends at the first tile that differs
  // from the others.
  std::optional<TilesOfPoints> AllTiles(llvm::ArrayRef<Interval> box, llvm::ArrayRef<int64_t> sizes,
                                        bool stops, StepBudget* budget) const;

 private:
  // Memory for one tile after another.
  struct Scratch {
    ExprProgram::Workspace values;
    std::vector<int64_t> elements;  // one after another
    std::vector<bool> is_seen;
  };
  static int64_t CountDistinct(const TileOfPoints& box, Scratch* scratch);
  std::optional<TileOfPoints> TileAt(llvm::ArrayRef<Interval> box, llvm::ArrayRef<Interval> symbols,
                                     StepBudget* budget, Scratch* scratch) const;

  const IndexingMap& map_;
  const int num_runtimes_;
  const ExprProgram program_;  // results, then constraints
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_POINTS_H_
