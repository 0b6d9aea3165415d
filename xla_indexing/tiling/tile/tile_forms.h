// The offsets, sizes and strides of tiles in closed form.
//
// They are those of sizes that are exact by the clauses of their conditions
// (tiling/tile/tile_conditions.h), and not of sizes that were added one by one. A result that is
// no sum of digits of single variables (tiling/tile/tile_digits.h) has the offset of its tile's
// first point, and a size and a stride that are known for given sizes only.
//
// Example, (d0) -> (d0 floordiv 8): offset (k0 * t0) floordiv 8, size t0 ceildiv 8, stride 1.
#ifndef XLA_INDEXING_TILING_TILE_TILE_FORMS_H_
#define XLA_INDEXING_TILING_TILE_TILE_FORMS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_digits.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing::internal {

// Offset, size and stride of one result of the map.
TileExpr OffsetOf(const SymbolicTile& tile, int result);
TileExpr SizeOf(const SymbolicTile& tile, int result);
TileExpr StrideOf(const SymbolicTile& tile, int result);
// The summands with runtime variables of a result in which they stand by themselves; else 0.
TileExpr RuntimeOffsetOf(const SymbolicTile& tile, int result);

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
// How many values a group takes in an aligned tile.
TileExpr CountOf(const SymbolicTile& tile, const TileGroup& group);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_FORMS_H_
