// The parts of a map, for each of which tiles are found separately (map/expr/components.h).
#ifndef XLA_INDEXING_TILING_TILE_TILE_PARTS_H_
#define XLA_INDEXING_TILING_TILE_TILE_PARTS_H_

#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/tile/tile_digits.h"

namespace xla_indexing::internal {

// Results, constraints and variables that share no variable with others. `map` has the dimensions
// of the part, and its range and runtime variables as range variables; variables of one value are
// constants in it.
struct TilePart {
  Component component;
  IndexingMap map;
  llvm::SmallVector<int, 4> dims;
  int num_runtimes = 0;

  // Selects, from a list with a value for each dimension of the whole map, those of this part.
  template <typename T>
  llvm::SmallVector<T, 4> OfDims(llvm::ArrayRef<T> all) const {
    llvm::SmallVector<T, 4> own;
    for (const int dim : dims) own.push_back(all[dim]);
    return own;
  }
};

std::vector<TilePart> TilePartsOf(const IndexingMap& map);

// Whether every tile has one point in the part, which then is a box.
bool HasOnePoint(const TilePart& part);

// Whether digits say that the elements of the part's tiles are a box.
bool IsBoxByDigits(const TilePart& part, const TileDigits& digits, const UnitCounts& counts);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_PARTS_H_
