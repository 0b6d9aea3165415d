// How many bytes of tiles a program of a graph holds at one time.
//
// A tile is held from the step in which it is loaded or computed to the one in which it is used
// last, as tiling/kernel/tile_cost.h says of register_bytes and shared_bytes; the factors of a
// product are in shared memory and everything else in registers, where the caller does not say
// otherwise (TileCostOptions::place).
//
// Example, rows of a softmax: x and the maxima, then what is left of x, then the sums.
#ifndef XLA_INDEXING_TILING_KERNEL_HELD_TILES_H_
#define XLA_INDEXING_TILING_KERNEL_HELD_TILES_H_

#include <array>

#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::internal {

// By TilePlace.
using HeldBytes = std::array<Int128, 2>;

// The most bytes that a program holds at one time in each place.
HeldBytes MostHeldBytes(const TileGraph& graph, const TileCostOptions& options);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_KERNEL_HELD_TILES_H_
