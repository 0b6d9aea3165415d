// The conditions on tile sizes under which a symbolic tile is exact, as text.
//
// All of them have to hold. Each is about few sizes: that the tiles of one variable are aligned,
// that none crosses the border to another piece, or that one window of a result goes on where the
// smaller ones end (tiling/internal/tile_digits.h), so that a reshape of many dimensions has a
// condition for each of them and not one for each combination:
//
//   clause       alternative or alternative ..
//   alternative  literal and literal ..
//   literal      t0 = 1, t0 <= 4, t0 >= 8, t0 mod 8 = 0 (8 divides t0),
//                8 mod t0 = 0 (t0 divides 8),
//                or a sum of these: (t0 - 1) * 2 + (t1 - 1) * 3 >= 5
//
// Where there are few tiles, they may be alike for other sizes too. Such sizes are added one by
// one, as `or (t0, t1) in {(6, 1), (7, 1)}`, and so are all sizes for maps that are not sums of
// digits, where there are few sizes to try (dimensions up to 64, 4096 combinations of sizes up to
// 16). Elsewhere they are left out, and maps that are not sums of digits have the condition
// `decided point by point`: then SymbolicTile::IsExact decides. The texts of the size maps do not
// hold for sizes that were added one by one.
//
// Example, (d0) -> (d0 floordiv 8, d0 mod 8) of 32 elements: 8 mod t0 = 0 or t0 mod 8 = 0.
#ifndef XLA_INDEXING_TILING_INTERNAL_TILE_CONDITIONS_H_
#define XLA_INDEXING_TILING_INTERNAL_TILE_CONDITIONS_H_

#include <string>
#include <vector>

#include "xla_indexing/tiling/symbolic_tile.h"

namespace xla_indexing::internal {

// The size of dimension i is called t<first_size + i>.
std::vector<std::string> TileConditions(const SymbolicTile& tile, int first_size = 0);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_INTERNAL_TILE_CONDITIONS_H_
