// The maps of a symbolic tile as text.
//
//   offset   (k0, k1)[t0, t1]{rt0} -> ((k0 * t0) floordiv 8, k1 * t1 + rt0)
//   size     (t0, t1) -> (t0 ceildiv 8, t1)
//   stride   (t0, t1) -> (1, 1)
//
// k_i is the tile's index and t_i its size in dimension i of the map; runtime variables have the
// names that they have in the map. Beside the operators of affine expressions there are `ceildiv`,
// `min(a, b)` and `(condition ? a : b)`. They are those of sizes that are exact
// (tiling/symbolic_tile.h). A result that is no sum of digits of single variables has the offset of
// its tile's first point and `?` for size and stride, which are known for given sizes only.
#ifndef XLA_INDEXING_TILING_INTERNAL_TILE_TEXT_H_
#define XLA_INDEXING_TILING_INTERNAL_TILE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/tiling/internal/tile_digits.h"
#include "xla_indexing/tiling/symbolic_tile.h"

namespace xla_indexing::internal {

std::string OffsetMapText(const SymbolicTile& tile);
std::string SizeMapText(const SymbolicTile& tile);
std::string StrideMapText(const SymbolicTile& tile);

// Adjacent units of one variable that form one digit in a result, in ascending order of
// |coefficient|.
struct TileGroup {
  int variable = 0;
  int64_t low = 1;
  int64_t count = 0;  // 0: no end
  int64_t coefficient = 1;
  // The number of values that it takes, where that does not depend on the sizes.
  std::optional<int64_t> known_count;
  // The greatest number of values that it can take.
  std::optional<int64_t> most;
};
llvm::SmallVector<TileGroup, 4> GroupsOf(const SymbolicTile& tile, const TileResult& result);
// How many values a group takes in an aligned tile, where dimension i has the size t<first_size +
// i>.
std::string CountText(const SymbolicTile& tile, const TileGroup& group, int first_size = 0);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_INTERNAL_TILE_TEXT_H_
