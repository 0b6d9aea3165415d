// What the tiles of a kernel cost: memory traffic as warps see it, operations, what is held at once.
//
// Threads. A program has `num_threads` threads, which go over a tile in an order of its dimensions, the
// first of them the fastest: of the elements of the tile in that order, thread t has those from
// (i * num_threads + t) * v on, v at a time, for i = 0, 1, .. The width v of an access is the greatest
// power of two of elements within `vector_bytes` that divides the size of the tile, and of the array, in
// the fastest dimension, and leaves no thread without elements; it is 1 where a tile has strides there. By
// default the order is that in which the array lies in memory, minor dimensions first; dimensions of size 1
// have no place in it.
//
//   sectors, lines   of the requests of all warps, as gpu/coalescing.h counts them
//   elements         that are computed, each time they are; elements that are only moved do not count
//   multiply_adds, transcendentals, other_operations   of them (gpu/machine/element_work.h), and of what rescales
//                    accumulators in one pass
//   register_bytes, shared_bytes   the most that is held in each at one time, in one program: a tile from
//                    where it is loaded or computed to where it is used last. A result takes the place of
//                    what is used last to compute it; accumulators are held while their loop runs;
//                    constants, and tiles that are other tiles reshaped or broadcast, take none. The
//                    largest tile that is exchanged through shared memory, below, is added to it
//   wavefronts       of shared memory, for tiles that threads hold in one order and need in another:
//                    loaded along one dimension and stored along another, as in a transpose. Each is
//                    written in the first order and read in the second (gpu/bank_conflicts.h).
//
// Example, the transpose of f32[1024,1024] by tiles of one column, 1024 x 1: the loads of a column of the
// operand ask for 32 sectors a warp, and the stores of a row of the result for 16.
#ifndef XLA_INDEXING_TILING_KERNEL_TILE_COST_H_
#define XLA_INDEXING_TILING_KERNEL_TILE_COST_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "xla_indexing/base/cpp20.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/gpu/requests/warp_request.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

struct TileNode;

// Where a program holds a tile.
enum class TilePlace { kRegisters, kSharedMemory };

// What is out of bounds counts as its default.
struct TileCostOptions {
  int64_t num_threads = 128;  // of a program: 4 warps of 32
  int64_t vector_bytes = 16;  // the most that a thread loads or stores at once
  int64_t warp_size = 32;     // or 64
  int64_t sector_bytes = 32;  // powers of two, at most 2^16
  int64_t line_bytes = 128;
  // The dimensions of a tile that is loaded or stored, the fastest first; null, or empty: as in memory.
  std::function<std::vector<int64_t>(const TileNode& node)> order;
  // Null: operands of products are in shared memory, all else is in registers.
  std::function<TilePlace(const TileNode& node)> place;
  // How a tile lies in shared memory, if not row by row: elements behind each row, and a swizzle.
  int64_t shared_padding = 0;
  XorSwizzle swizzle;

  // The warp, sectors and lines of a machine.
  static TileCostOptions For(const Machine& machine);
};

// The loads of one node, or the stores of one root, in all programs.
struct TileAccess {
  int node = 0;  // of the graph
  bool is_store = false;
  const HloInstruction* instruction = nullptr;  // of the array, while its module lives
  int64_t leaf = 0;
  int64_t array_bytes = 0;
  int64_t bytes = 0;  // at most, as TileCost::moved_bytes
  Interval sectors = Interval::AtLeast(0);
  Interval lines = Interval::AtLeast(0);
};

// INT64_MAX where a number does not fit.
//
// Loads and stores count where the domains of their nodes say that something is read, and bytes are
// those of the elements within the bounds there, each time they are moved.
struct TileCost {
  // The most bytes that are held at one time: tiles of parameters from the region that they are
  // loaded in on, accumulators of contractions, tiles of the result. What is computed in between is
  // left out, and a result takes the place of the accumulators it is made of.
  int64_t resident_bytes = 0;
  // The bytes of all loads of parameters and stores of results, in all programs.
  int64_t moved_bytes = 0;
  int64_t num_loads = 0;  // of tiles
  int64_t num_stores = 0;
  int64_t num_programs = 0;  // of all grids
  // Whether moved_bytes, num_loads and num_stores are just what happens. Otherwise there are no more:
  // values that are known when the program runs decide, or numbers do not fit or were not counted
  // within some steps.
  bool is_exact = true;

  int64_t register_bytes = 0;
  int64_t shared_bytes = 0;
  // Sums over all programs; at most as many, as moved_bytes.
  int64_t elements = 0;
  double multiply_adds = 0;
  double transcendentals = 0;
  double other_operations = 0;
  int64_t product_bits = 64;  // the least of the elements that are multiplied

  std::vector<TileAccess> accesses;
  // Sums over the accesses, at most where are_requests_exact is false.
  int64_t sectors = 0;
  int64_t lines = 0;
  // For tiles that are exchanged through shared memory.
  int64_t wavefronts = 0;
  int64_t least_wavefronts = 0;
  bool are_requests_exact = true;
};

// The time that a machine takes at least: see gpu/machine/machine.h. What a program holds beyond the registers
// and the shared memory of a core goes to the cache and back once.
KernelTime TimeOf(const TileCost& cost, const Machine& machine);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_TILE_COST_H_
