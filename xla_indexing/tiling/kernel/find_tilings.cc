// The search for tilings (TiledComputation::FindTilings).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/bit.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {
namespace {

using internal::Int128;
using internal::kInt64Max;

// Divisors of n and powers of two up to n, ascending; n itself is among them.
std::vector<int64_t> CandidatesOf(int64_t n) {
  std::set<int64_t> candidates;
  for (int64_t power = 1; power <= n; power *= 2) {
    candidates.insert(power);
    if (power > kInt64Max / 2) break;
  }
  // Divisors past this are found as quotients; of larger numbers only those are looked for.
  constexpr int64_t kMostTried = 1 << 16;
  for (int64_t d = 1; d <= kMostTried && d <= n / d; ++d) {
    if (n % d != 0) continue;
    candidates.insert(d);
    candidates.insert(n / d);
  }
  return {candidates.begin(), candidates.end()};
}

// What is better: fewer bytes moved, where a few hundredths do not count; then fewer loops in
// programs, which take from what runs in parallel; then fewer tiles loaded and stored, then fewer
// bytes held.
using Rank = std::tuple<int64_t, size_t, int64_t, int64_t>;

Rank RankOf(const CostedTiling& tiling) {
  // Seven significant bits.
  const auto moved = static_cast<uint64_t>(std::max<int64_t>(tiling.cost.moved_bytes, 0));
  const int dropped = std::max(0, static_cast<int>(llvm::bit_width(moved)) - 7);
  const Int128 tiles = Int128{tiling.cost.num_loads} + tiling.cost.num_stores;
  return {static_cast<int64_t>(moved >> dropped << dropped), tiling.tiling.loops.size(),
          static_cast<int64_t>(std::min<Int128>(tiles, kInt64Max)), tiling.cost.resident_bytes};
}

// Nodes of graphs that are made in one search, of large computations in fewer tries than allowed. Where
// nodes have many operands, so many of them count as one; nodes of a space of many dimensions count once
// for so many of these.
constexpr int64_t kMaxNodes = int64_t{1} << 20;
constexpr int64_t kOperandsAsNode = 8;
constexpr int64_t kDimsOfNode = 16;

template <typename Node>
int64_t NodesOf(absl::Span<const Node> nodes, const TilingSpace& space) {
  int64_t operands = 0;
  for (const Node& node : nodes) operands += static_cast<int64_t>(node.operands.size());
  return std::max(static_cast<int64_t>(nodes.size()), operands / kOperandsAsNode) *
         std::max<int64_t>(space.num_dims() / kDimsOfNode, 1);
}

class Search {
 public:
  Search(const TiledComputation& computation, const TilingSearchOptions& options)
      : computation_(computation), options_(options), space_(computation.space()) {
    for (const TilingDimension& dim : space_.dims()) {
      candidates_.push_back(CandidatesOf(std::max<int64_t>(dim.size, 1)));
    }
  }

  TilingSearch Run();

 private:
  // A place among the candidates, and which parallel dimensions are loops.
  struct Point {
    std::vector<size_t> at;
    std::vector<int> loops;

    friend bool operator==(const Point& a, const Point& b) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Point& point) {
      return H::combine(std::move(h), point.at, point.loops);
    }
  };

  Tiling TilingAt(const Point& point) const;
  bool CutsPieces(const Tiling& tiling) const;
  bool MayTry() const { return found_.num_tried < options_.max_tried && nodes_ < kMaxNodes; }
  // The rank of a tiling that meets everything; none of others, and of what was tried before.
  std::optional<Rank> Try(const Point& point);
  void TryAll();
  // Goes from a point to better neighbours until there are none.
  void Climb(Point point);
  // Calls visit(neighbour) for one after another, as long as some may be tried.
  void ForEachNeighbour(const Point& point, llvm::function_ref<void(Point)> visit) const;
  // Goes to the next candidate of a dimension, or the one before; false where there is none.
  bool Step(size_t dim, int by, Point* point) const;
  // All dimensions of one size together, to the same size: what is read along each of them is read
  // once where all are whole.
  void ForEachTogether(const Point& point, llvm::function_ref<void(Point)> visit) const;

  const TiledComputation& computation_;
  const TilingSearchOptions& options_;
  const TilingSpace& space_;
  std::vector<std::vector<int64_t>> candidates_;
  absl::flat_hash_set<Point> tried_;
  int64_t nodes_ = 0;  // of the graphs that were made
  TilingSearch found_;
};

Tiling Search::TilingAt(const Point& point) const {
  Tiling tiling;
  for (size_t i = 0; i < point.at.size(); ++i) tiling.sizes.push_back(candidates_[i][point.at[i]]);
  tiling.loops = point.loops;
  return tiling;
}

bool Search::CutsPieces(const Tiling& tiling) const {
  return llvm::any_of(computation_.borders(), [&](const TileBorder& border) {
    return border.at % tiling.sizes[border.dim] != 0;
  });
}

std::optional<Rank> Search::Try(const Point& point) {
  if (!MayTry() || !tried_.insert(point).second) return std::nullopt;
  ++found_.num_tried;
  const Tiling tiling = TilingAt(point);
  if (options_.cut_at_pieces && CutsPieces(tiling)) return std::nullopt;
  const absl::StatusOr<TileGraph> graph = computation_.Instantiate(tiling);
  nodes_ += graph.ok() ? NodesOf(graph->nodes(), space_) : NodesOf(computation_.reads(), space_);
  if (!graph.ok()) return std::nullopt;
  const TileCost cost = graph->Cost();
  if (cost.resident_bytes > options_.max_resident_bytes) return std::nullopt;
  if (options_.accept && !options_.accept(tiling, *graph)) return std::nullopt;
  found_.tilings.push_back({tiling, cost});
  return RankOf(found_.tilings.back());
}

void Search::TryAll() {
  std::vector<int> parallel;
  for (int i = 0; i < space_.num_dims(); ++i) {
    if (space_.IsParallel(i)) parallel.push_back(i);
  }
  Point point{std::vector<size_t>(candidates_.size(), 0), {}};
  while (true) {
    // All in the grid, or the last dimensions in loops, the last one innermost.
    for (size_t first = 0; first <= parallel.size(); ++first) {
      point.loops.clear();
      for (size_t i = first; i < parallel.size(); ++i) {
        if (point.at[parallel[i]] + 1 < candidates_[parallel[i]].size()) {
          point.loops.push_back(parallel[i]);
        }
      }
      Try(point);
    }
    size_t i = point.at.size();
    while (i > 0 && point.at[i - 1] + 1 == candidates_[i - 1].size()) point.at[--i] = 0;
    if (i == 0) break;
    ++point.at[i - 1];
  }
}

bool Search::Step(size_t dim, int by, Point* point) const {
  if (by < 0 ? point->at[dim] == 0 : point->at[dim] + 1 >= candidates_[dim].size()) return false;
  point->at[dim] += by;
  return true;
}

void Search::ForEachTogether(const Point& point, llvm::function_ref<void(Point)> visit) const {
  std::set<int64_t> seen;
  for (size_t i = 0; i < point.at.size(); ++i) {
    const int64_t size = candidates_[i].back();
    if (!seen.insert(size).second) continue;
    for (const size_t to : {point.at[i] + 1, candidates_[i].size() - 1}) {
      if (to >= candidates_[i].size()) continue;
      Point together = point;
      int count = 0;
      for (size_t j = 0; j < point.at.size(); ++j) {
        if (candidates_[j].back() != size) continue;
        together.at[j] = to;
        ++count;
      }
      if (count > 1) visit(std::move(together));
    }
  }
}

void Search::ForEachNeighbour(const Point& point, llvm::function_ref<void(Point)> visit) const {
  const size_t n = point.at.size();
  for (size_t i = 0; i < n; ++i) {
    Point larger = point;
    if (Step(i, 1, &larger)) visit(std::move(larger));
  }
  ForEachTogether(point, visit);
  for (int dim = 0; dim < space_.num_dims(); ++dim) {
    if (!space_.IsParallel(dim)) continue;
    Point other = point;
    const auto loop = llvm::find(other.loops, dim);
    if (loop == other.loops.end()) {
      other.loops.push_back(dim);
    } else {
      other.loops.erase(loop);
    }
    visit(std::move(other));
  }
  // One larger and another smaller, for where the bytes are used up.
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n && MayTry(); ++j) {
      Point other = point;
      if (i != j && Step(i, 1, &other) && Step(j, -1, &other)) visit(std::move(other));
    }
  }
}

void Search::Climb(Point point) {
  std::optional<Rank> best = Try(point);
  while (MayTry()) {
    std::optional<Point> next;
    ForEachNeighbour(point, [&](Point neighbour) {
      const std::optional<Rank> rank = Try(neighbour);
      if (!rank || (best && *best <= *rank)) return;
      best = rank;
      next = std::move(neighbour);
    });
    if (!next) return;
    point = *std::move(next);
  }
}

TilingSearch Search::Run() {
  if (llvm::any_of(space_.dims(), [](const TilingDimension& dim) { return dim.size < 1; })) {
    found_.is_complete = true;
    return std::move(found_);
  }
  Int128 combinations = 1;
  int num_parallel = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    num_parallel += space_.IsParallel(static_cast<int>(i)) ? 1 : 0;
    combinations =
        std::min<Int128>(combinations * static_cast<int64_t>(candidates_[i].size()), kInt64Max);
  }
  found_.is_complete = combinations * (num_parallel + 1) <= options_.max_tried;
  if (found_.is_complete) {
    TryAll();
    found_.is_complete = MayTry() || nodes_ < kMaxNodes;
  } else {
    const Point least{std::vector<size_t>(candidates_.size(), 0), {}};
    Point whole = least;
    for (size_t i = 0; i < whole.at.size(); ++i) whole.at[i] = candidates_[i].size() - 1;
    // Whole sequential dimensions, and the last parallel dimension whole or in a loop.
    Point rows = least;
    Point streamed = least;
    for (int i = 0; i < space_.num_dims(); ++i) {
      const bool is_last =
          space_.IsParallel(i) && (i + 1 == space_.num_dims() || !space_.IsParallel(i + 1));
      if (!space_.IsParallel(i) || is_last) rows.at[i] = whole.at[i];
      if (is_last) streamed.loops.push_back(i);
    }
    for (const Point& start : {whole, rows, least, streamed}) Climb(start);
  }
  std::stable_sort(
      found_.tilings.begin(), found_.tilings.end(),
      [](const CostedTiling& a, const CostedTiling& b) { return RankOf(a) < RankOf(b); });
  const auto most = static_cast<size_t>(std::max<int64_t>(options_.max_returned, 0));
  if (found_.tilings.size() > most) {
    found_.tilings.erase(found_.tilings.begin() + static_cast<ptrdiff_t>(most),
                         found_.tilings.end());
  }
  return std::move(found_);
}

}  // namespace

TilingSearch TiledComputation::FindTilings(const TilingSearchOptions& options) const {
  return Search(*this, options).Run();
}

}  // namespace xla_indexing
