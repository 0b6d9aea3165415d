// A symbolic tile as text, with the names that runtime variables have in its map.
//
//   offset      (k0, k1)[t0, t1]{rt0} -> ((k0 * t0) floordiv 8, k1 * t1 + rt0)
//   size        (t0, t1) -> (t0 ceildiv 8, t1)
//   stride      (t0, t1) -> (1, 1)
//   conditions  8 mod t0 = 0 or t0 mod 8 = 0
#ifndef XLA_INDEXING_TILING_TILE_TILE_TEXT_H_
#define XLA_INDEXING_TILING_TILE_TILE_TEXT_H_

#include <string>
#include <vector>

#include "xla_indexing/tiling/tile/symbolic_tile.h"

namespace xla_indexing::internal {

std::string OffsetMapText(const SymbolicTile& tile);
std::string SizeMapText(const SymbolicTile& tile);
std::string StrideMapText(const SymbolicTile& tile);
// The size of dimension i is called t<first_size + i>.
std::vector<std::string> TileConditions(const SymbolicTile& tile, int first_size = 0);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_TEXT_H_
