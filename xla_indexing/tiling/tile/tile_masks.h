// Whether tiles read just the elements of their boxes that lie within the bounds of the results.
//
// Mathematics. Tile k of sizes t reads R(k); its box is B(k) = { offset(k) + i * stride : i < size }
// for each result, and M the product of the results' bounds. Sizes are exact when masked where
// R(k) = B(k) and M for every k for which R(k) is not empty: of full tiles and of clipped ones. Which
// these are SymbolicTile::TilesThatRead says.
//
// Where a dimension has the indices [a, b] in the domain, its tiles that read something are of at
// most three classes: with a inside, full, with b inside. Where the results' digits are as a tile finds them
// wherever it begins (t is a multiple of the lower factor of the only digit), tiles of one class differ in
// that the result moves by a step from one to the next. A full tile reads its box; what the box of
// another one has more, its extras, has to be out of bounds. For a result and a class for each of
// its dimensions, whose tiles move it by shifts in [s0, s1], that is so if
//
//   (extras above what is read)  least + s0 > upper bound     or  greatest + s1 < lower bound
//   (extras below what is read)  greatest + s1 < lower bound  or  least + s0 > upper bound
//
// Other dimensions have a class for each tile where these are few. A constraint whose variables have
// one value in a tile leaves out all of the tile or nothing.
//
// A result that is no sum of digits has one value in a tile where all of its dimensions have the
// size 1 and none of its ranges has several values: the one that its offset says.
//
// Example, (d0) -> (d0 - 4) with d0 in [4, 9] of an array of 13, tiles of 3: boxes begin at -4, -1,
// 2, 5 and 8, of which the second to the fourth read something, and [0, 5] leaves {0, 1}, {2, 3, 4}
// and {5} of these.
#ifndef XLA_INDEXING_TILING_TILE_TILE_MASKS_H_
#define XLA_INDEXING_TILING_TILE_TILE_MASKS_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"

namespace xla_indexing::internal {

// The bounds of each result, less its runtime offset.
llvm::SmallVector<Interval, 4> MaskOf(const SymbolicTile& tile);

// For sizes as they count (SymbolicTile::CountedSizes): whether tiles read just what is left of
// their boxes, and whether they read no more.
Answer ReadJustWhatIsMasked(const SymbolicTile& tile, llvm::ArrayRef<int64_t> sizes);
Answer ReadNoMoreThanMasked(const SymbolicTile& tile, llvm::ArrayRef<int64_t> sizes);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_TILE_TILE_MASKS_H_
