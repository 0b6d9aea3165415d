// The search for tilings (TiledComputation::FindTilings).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
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
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/tiling/kernel/tile_cost.h"
#include "xla_indexing/tiling/kernel/tile_meter.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {
namespace {

using internal::CeilDiv;
using internal::Int128;
using internal::kInt64Max;
using internal::TileMeter;

// Divisors of n and powers of two up to n that the options allow, ascending; n itself is among them where
// none would be left. With powers of two alone, the first that is no less than n stands for n.
std::vector<int64_t> CandidatesOf(int64_t n, const TilingSearchOptions& options, size_t dim) {
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
  const int64_t multiple =
      dim < options.multiples.size() ? std::max<int64_t>(options.multiples[dim], 1) : 1;
  const auto is_power = [](int64_t size) { return (size & (size - 1)) == 0; };
  std::vector<int64_t> allowed;
  for (const int64_t size : candidates) {
    const bool is_allowed = (!options.powers_of_two || is_power(size)) &&
                            (!options.divisors || n % size == 0) && size % multiple == 0;
    if (is_allowed) allowed.push_back(size);
  }
  // A tile may be larger than its dimension.
  int64_t whole = n > kInt64Max - multiple ? n : CeilDiv(n, multiple) * multiple;
  if (options.powers_of_two) {
    whole = 1;
    while ((whole < n || whole % multiple != 0) && whole <= kInt64Max / 2) whole *= 2;
  }
  if (allowed.empty() || (!options.divisors && allowed.back() < n)) allowed.push_back(whole);
  return allowed;
}

// What is better: less time, where a hundredth or two do not count; then fewer sectors, likewise; then
// fewer loops in programs, which take from what runs in parallel; then fewer tiles loaded and stored, then
// fewer bytes held.
using Rank = std::tuple<double, int64_t, size_t, int64_t, int64_t>;

// Seven significant bits.
double Rounded(double number) {
  int exponent = 0;
  const double mantissa = std::frexp(number, &exponent);
  return std::ldexp(std::floor(std::ldexp(mantissa, 7)), exponent - 7);
}
int64_t Rounded(int64_t number) {
  const auto bits = static_cast<uint64_t>(std::max<int64_t>(number, 0));
  const int dropped = std::max(0, static_cast<int>(llvm::bit_width(bits)) - 7);
  return static_cast<int64_t>(bits >> dropped << dropped);
}

Rank RankOf(const CostedTiling& tiling, const TilingSearchOptions& options) {
  const Int128 tiles = Int128{tiling.cost.num_loads} + tiling.cost.num_stores;
  // What sectors are worth is up to a time of the caller's.
  return {Rounded(tiling.time.microseconds), options.time ? 0 : Rounded(tiling.cost.sectors),
          tiling.tiling.loops.size(), static_cast<int64_t>(std::min<Int128>(tiles, kInt64Max)),
          tiling.cost.resident_bytes};
}

// Nodes of graphs that are made in one search, of large computations in fewer tries than allowed. Where
// nodes have many operands, so many of them count as one; nodes of a space of many dimensions count once
// for so many of these.
constexpr int64_t kMaxNodes = int64_t{1} << 20;
constexpr int64_t kOperandsAsNode = 8;
constexpr int64_t kDimsOfNode = 16;

// Tilings whose requests are counted, where more are not asked for.
constexpr size_t kMaxCounted = 32;

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
      : computation_(computation),
        options_(options),
        machine_(options.machine == nullptr ? DefaultMachine() : *options.machine),
        cost_options_(options.cost ? *options.cost : TileCostOptions::For(machine_)),
        meter_(cost_options_),
        space_(computation.space()) {
    for (const auto [i, dim] : llvm::enumerate(space_.dims())) {
      candidates_.push_back(CandidatesOf(std::max<int64_t>(dim.size, 1), options, i));
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
  // Whether the tile of one result alone takes more bytes than may be held.
  bool HoldsTooMuch(const Tiling& tiling) const;
  bool CutsPieces(const Tiling& tiling) const;
  bool MayTry() const { return found_.num_tried < options_.max_tried && nodes_ < kMaxNodes; }
  // The rank of a tiling that meets everything, with the fewest requests that its bytes take; none of
  // others, and of what was tried before.
  std::optional<Rank> Try(const Point& point);
  KernelTime TimeOf(const TileCost& cost) const;
  void CountRequests(const TileGraph& graph, CostedTiling* tiling);
  // Leaves the best `max_returned`, with their requests. With all of its requests a tiling is no better
  // than with the fewest: so those that may be best are counted first, and no more than kMaxCounted.
  void KeepBest();
  void TryAll();
  // Goes from a point to better neighbours until there are none.
  void Climb(Point point);
  // Calls visit(neighbour) for one after another: those with one size larger, or several equal
  // ones, or another loop; and those with one smaller, and another larger perhaps, for where the
  // bytes are used up.
  void ForEachNeighbour(const Point& point, llvm::function_ref<void(Point)> visit) const;
  void ForEachExchange(const Point& point, llvm::function_ref<void(Point)> visit) const;
  // Goes to the next candidate of a dimension, or the one before; false where there is none.
  bool Step(size_t dim, int by, Point* point) const;
  // All dimensions of one size together, to the same size: what is read along each of them is read
  // once where all are whole.
  void ForEachTogether(const Point& point, llvm::function_ref<void(Point)> visit) const;

  const TiledComputation& computation_;
  const TilingSearchOptions& options_;
  const Machine& machine_;
  const TileCostOptions cost_options_;
  TileMeter meter_;
  const TilingSpace& space_;
  std::vector<std::vector<int64_t>> candidates_;
  absl::flat_hash_set<Point> tried_;
  int64_t nodes_ = 0;  // of the graphs that were made
  TilingSearch found_;
};

Tiling Search::TilingAt(const Point& point) const {
  Tiling tiling;
  for (size_t i = 0; i < point.at.size(); ++i) tiling.sizes.push_back(candidates_[i][point.at[i]]);
  // A dimension of one tile needs no loop.
  llvm::copy_if(point.loops, std::back_inserter(tiling.loops),
                [&](int dim) { return tiling.sizes[dim] < space_.dims()[dim].size; });
  return tiling;
}

bool Search::HoldsTooMuch(const Tiling& tiling) const {
  for (const auto [root, read] : llvm::zip(space_.roots(), computation_.roots())) {
    int64_t elements = 1;
    for (const int dim : root.dims) {
      const int64_t size = std::min(tiling.sizes[dim], space_.dims()[dim].size);
      elements = internal::CheckedMul(elements, size).value_or(kInt64Max);
    }
    const Shape& shape = computation_.reads()[read].array->shape;
    if (BytesOf(Interval::Point(elements), shape).lower() > options_.max_resident_bytes) {
      return true;
    }
  }
  return false;
}

bool Search::CutsPieces(const Tiling& tiling) const {
  return llvm::any_of(computation_.borders(), [&](const TileBorder& border) {
    return border.at % tiling.sizes[border.dim] != 0;
  });
}

KernelTime Search::TimeOf(const TileCost& cost) const {
  KernelTime time = xla_indexing::TimeOf(cost, machine_);
  if (options_.time) time.microseconds = options_.time(cost);
  // What is no number is worse than all others.
  if (std::isnan(time.microseconds)) time.microseconds = std::numeric_limits<double>::infinity();
  return time;
}

void Search::CountRequests(const TileGraph& graph, CostedTiling* tiling) {
  meter_.CountRequests(graph, &tiling->cost);
  tiling->time = TimeOf(tiling->cost);
}

std::optional<Rank> Search::Try(const Point& point) {
  if (!MayTry()) return std::nullopt;
  const Tiling tiling = TilingAt(point);
  if (!tried_.insert({point.at, tiling.loops}).second) return std::nullopt;
  ++found_.num_tried;
  if (HoldsTooMuch(tiling)) return std::nullopt;
  if (options_.cut_at_pieces && CutsPieces(tiling)) return std::nullopt;
  const absl::StatusOr<TileGraph> graph = computation_.Instantiate(tiling);
  nodes_ += graph.ok() ? NodesOf(graph->nodes(), space_) : NodesOf(computation_.reads(), space_);
  if (!graph.ok()) return std::nullopt;
  TileCost cost = meter_.MeasureWithoutRequests(*graph);
  if (cost.resident_bytes > options_.max_resident_bytes) return std::nullopt;
  if (options_.accept && !options_.accept(tiling, *graph)) return std::nullopt;
  CostedTiling& found = found_.tilings.emplace_back(CostedTiling{tiling, std::move(cost), {}});
  // A time of the caller's need not be less with fewer requests.
  if (options_.time) meter_.CountRequests(*graph, &found.cost);
  found.time = TimeOf(found.cost);
  return RankOf(found, options_);
}

void Search::KeepBest() {
  const auto most = static_cast<size_t>(std::max<int64_t>(options_.max_returned, 0));
  std::vector<std::pair<Rank, size_t>> order;
  order.reserve(found_.tilings.size());
  for (size_t i = 0; i < found_.tilings.size(); ++i)
    order.emplace_back(RankOf(found_.tilings[i], options_), i);
  llvm::sort(order);
  std::set<std::pair<Rank, size_t>> counted;
  for (const auto& [least, i] : order) {
    // All that follow are no better than what is there.
    const bool is_full = counted.size() >= most;
    if (is_full &&
        (most == 0 || std::next(counted.begin(), static_cast<ptrdiff_t>(most) - 1)->first <= least))
      break;
    if (is_full && counted.size() >= kMaxCounted) break;
    CostedTiling& tiling = found_.tilings[i];
    if (!options_.time) {
      const absl::StatusOr<TileGraph> graph = computation_.Instantiate(tiling.tiling);
      if (!graph.ok()) continue;
      CountRequests(*graph, &tiling);
    }
    counted.emplace(RankOf(tiling, options_), i);
  }
  std::vector<CostedTiling> best;
  for (const auto& [rank, i] : counted) {
    if (best.size() == most) break;
    best.push_back(std::move(found_.tilings[i]));
  }
  found_.tilings = std::move(best);
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
      point.loops.assign(parallel.begin() + static_cast<ptrdiff_t>(first), parallel.end());
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
}

void Search::ForEachExchange(const Point& point, llvm::function_ref<void(Point)> visit) const {
  const size_t n = point.at.size();
  for (size_t i = 0; i < n; ++i) {
    Point smaller = point;
    if (Step(i, -1, &smaller)) visit(std::move(smaller));
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
    const auto visit = [&](Point neighbour) {
      const std::optional<Rank> rank = Try(neighbour);
      if (!rank || (best && *best <= *rank)) return;
      best = rank;
      next = std::move(neighbour);
    };
    ForEachNeighbour(point, visit);
    // There are as many exchanges as pairs of dimensions: only where nothing else is better.
    if (!next) ForEachExchange(point, visit);
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
  KeepBest();
  return std::move(found_);
}

}  // namespace

TilingSearch TiledComputation::FindTilings(const TilingSearchOptions& options) const {
  return Search(*this, options).Run();
}

}  // namespace xla_indexing
