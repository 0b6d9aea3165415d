// Measures what graphs of tiles cost (tiling/kernel/tile_cost.h), and remembers what it has counted: in a
// search, most tiles of one tiling are tiles of others too.
//
// Mathematics. Each access of a node is a launch: the tile indices that move the tile are loops,
// and a thread mapping leads from threads and loops to the elements
//
//   offset(k, rt) + p * stride       where the index k is in the domain, and the element within the bounds
//
// whose requests are counted as those of all launches (gpu/requests/count_requests.h). Tile indices that do
// not move the tile repeat all of them. Runtime variables are taken to be 0: what is moved together is in at
// most twice as many sectors as before.
#ifndef XLA_INDEXING_TILING_KERNEL_TILE_METER_H_
#define XLA_INDEXING_TILING_KERNEL_TILE_METER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::internal {

class TileMeter {
 public:
  explicit TileMeter(const TileCostOptions& options);

  // All but requests: sectors are the fewest that the bytes of each access may be in, lines not known, and
  // no wavefronts.
  TileCost MeasureWithoutRequests(const TileGraph& graph) const;
  // Puts in the sectors, lines and wavefronts of the same graph.
  void CountRequests(const TileGraph& graph, TileCost* cost);

 private:
  using Order = llvm::SmallVector<int64_t, 4>;  // of dimensions, the fastest first

  // Counts take at most so many steps each, and no more are made after so many.
  static constexpr int64_t kMaxStepsOfCount = int64_t{1} << 14;
  static constexpr int64_t kMaxCounts = int64_t{1} << 12;

  struct Requests {
    Interval sectors = Interval::AtLeast(0);
    Interval lines = Interval::AtLeast(0);
  };
  struct Exchange {
    Interval wavefronts = Interval::Point(0);
    Interval least = Interval::Point(0);
  };

  Order OrderOfAccess(const TileGraph& graph, const TileNode& node) const;
  // The fewest sectors that the bytes of a node's tiles are in.
  int64_t FewestSectors(const TileGraph& graph, const TileAccess& access) const;
  // The requests of all programs together.
  Requests RequestsOf(const TileGraph& graph, const TileNode& node);
  Requests CountRequestsOf(const TileGraph& graph, const TileNode& node, llvm::ArrayRef<int> moving,
                           const Order& order) const;
  // Adds the wavefronts of all tiles that threads hold in another order than they need them in.
  void AddExchanges(const TileGraph& graph, TileCost* cost);
  Exchange ExchangeOf(const TileGraph& graph, const TileNode& node, const Order& from,
                      const Order& to);

  TileCostOptions options_;
  int64_t num_counts_ = 0;
  // What each count was made of, as numbers and addresses of what the MLIRContext keeps.
  using Key = std::vector<int64_t>;
  absl::flat_hash_map<Key, Requests> requests_;
  absl::flat_hash_map<Key, Exchange> exchanges_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_KERNEL_TILE_METER_H_
