// The conditions on tile sizes under which every full tile of a symbolic tile is a box.
//
// All of them have to hold. Each is about few sizes: that the tiles of one variable are aligned,
// that none crosses the border to another piece, or that one window of a result goes on where the
// smaller ones end (tiling/tile/tile_digits.h), so that a reshape of many dimensions has a
// condition for each of them and not one for each combination.
//
// Where there are few tiles, they may be alike for other sizes too. Such sizes are added one by
// one, and so are all sizes for maps that are not sums of digits, where there are few sizes to try
// (dimensions up to 64, 4096 combinations of sizes up to 16). Elsewhere points decide.
//
// Example, (d0) -> (d0 floordiv 8, d0 mod 8) of 32 elements: 8 mod t0 = 0 or t0 mod 8 = 0.
#ifndef XLA_INDEXING_TILING_TILE_TILE_CONDITIONS_H_
#define XLA_INDEXING_TILING_TILE_TILE_CONDITIONS_H_

#include <vector>

#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_condition.h"

namespace xla_indexing::internal {

std::vector<TileCondition> ConditionsOf(const SymbolicTile& tile);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_CONDITIONS_H_
