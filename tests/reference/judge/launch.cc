#include "tests/reference/judge/launch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "llvm/Support/Casting.h"
#include "tests/reference/judge/tiled_layout.h"

namespace xla_indexing::reference {
namespace {

int64_t Floor(int64_t a, int64_t b) {
  int64_t q = a / b;
  if (a % b != 0 && (a < 0) != (b < 0)) --q;
  return q;
}

bool IsIn(const IndexingMap& map, const std::vector<int64_t>& dims,
          const std::vector<int64_t>& symbols) {
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!map.dims()[i].bounds.Contains(dims[i])) return false;
  }
  for (int i = 0; i < map.num_symbols(); ++i) {
    if (!map.symbol(i).bounds.Contains(symbols[i])) return false;
  }
  for (const Constraint& constraint : map.constraints()) {
    if (!constraint.interval.Contains(ValueAt(constraint.expr, dims, symbols))) return false;
  }
  return true;
}

std::vector<int64_t> ResultsAt(const IndexingMap& map, const std::vector<int64_t>& dims,
                               const std::vector<int64_t>& symbols) {
  std::vector<int64_t> results;
  for (const mlir::AffineExpr result : map.results()) {
    results.push_back(ValueAt(result, dims, symbols));
  }
  return results;
}

// All values of intervals, the last changing fastest.
void ForEachValue(const std::vector<Interval>& intervals, std::vector<int64_t>* values,
                  const std::function<void()>& visit) {
  if (values->size() == intervals.size()) return visit();
  const Interval& interval = intervals[values->size()];
  if (interval.IsEmpty()) return;
  for (int64_t value = interval.lower(); value <= interval.upper(); ++value) {
    values->push_back(value);
    ForEachValue(intervals, values, visit);
    values->pop_back();
  }
}

}  // namespace

int64_t ValueAt(mlir::AffineExpr expr, const std::vector<int64_t>& dims,
                const std::vector<int64_t>& symbols) {
  using mlir::AffineExprKind;
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) return constant.getValue();
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return dims[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return symbols[symbol.getPosition()];
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const int64_t a = ValueAt(binary.getLHS(), dims, symbols);
  const int64_t b = ValueAt(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
    case AffineExprKind::Add:
      return a + b;
    case AffineExprKind::Mul:
      return a * b;
    case AffineExprKind::FloorDiv:
      return Floor(a, b);
    case AffineExprKind::Mod:
      return a - b * Floor(a, b);
    default:
      return -Floor(-a, b);
  }
}

int64_t BitOf(const Shape& array, const std::vector<int64_t>& index) {
  return PositionOf(array, index) * WidthOf(array);
}

void ForEachRequest(const Launch& launch,
                    const std::function<void(const std::set<int64_t>& bytes)>& visit) {
  const ThreadMapping& mapping = launch.mapping;
  const int64_t width = WidthOf(launch.accessed);
  std::vector<Interval> blocks;
  for (const int64_t size : mapping.block_sizes) blocks.push_back(Interval::OfSize(size));
  std::vector<Interval> loops;
  for (const Variable& range : mapping.map.ranges()) loops.push_back(range.bounds);
  std::vector<Interval> ranges;
  if (launch.indexing != nullptr) {
    for (const Variable& range : launch.indexing->ranges()) ranges.push_back(range.bounds);
  }
  int64_t num_threads = 1;
  for (const int64_t size : mapping.thread_sizes) num_threads *= size;

  std::vector<int64_t> block;
  ForEachValue(blocks, &block, [&] {
    // Bytes by warp and values of what makes requests: loops without vectors, range variables.
    std::map<std::vector<int64_t>, std::set<int64_t>> requests;
    for (int64_t thread = 0; thread < num_threads; ++thread) {
      std::vector<int64_t> dims(mapping.map.num_dims());
      int64_t rest = thread;
      for (size_t i = 0; i < mapping.thread_dims.size(); ++i) {
        dims[mapping.thread_dims[i]] = rest % mapping.thread_sizes[i];
        rest /= mapping.thread_sizes[i];
      }
      for (size_t i = 0; i < block.size(); ++i) dims[mapping.block_dims[i]] = block[i];
      std::vector<int64_t> loop;
      ForEachValue(loops, &loop, [&] {
        if (!IsIn(mapping.map, dims, loop)) return;
        const std::vector<int64_t> element = ResultsAt(mapping.map, dims, loop);
        std::vector<int64_t> range;
        ForEachValue(ranges, &range, [&] {
          std::vector<int64_t> index = element;
          if (launch.indexing != nullptr) {
            std::vector<int64_t> symbols = range;
            std::vector<int64_t> point = element;
            point.insert(point.end(), range.begin(), range.end());
            for (int i = 0; i < launch.indexing->num_runtimes(); ++i) {
              symbols.push_back(launch.runtime_value(i, point));
            }
            if (!IsIn(*launch.indexing, element, symbols)) return;
            index = ResultsAt(*launch.indexing, element, symbols);
          }
          std::vector<int64_t> request = {thread / launch.warp_size};
          for (size_t i = 0; i < loop.size(); ++i) {
            const auto& vectors = mapping.vector_ranges;
            const bool is_vector = std::find(vectors.begin(), vectors.end(), i) != vectors.end();
            request.push_back(is_vector ? 0 : loop[i]);
          }
          request.insert(request.end(), range.begin(), range.end());
          const int64_t bit = BitOf(launch.accessed, index) + 8 * launch.base_bytes;
          for (int64_t b = bit; b < bit + width; ++b) requests[request].insert(b / 8);
        });
      });
    }
    for (const auto& [request, bytes] : requests) visit(bytes);
  });
}

SectorCounts CountSectors(const Launch& launch, int64_t sector_bytes, int64_t line_bytes) {
  SectorCounts counts;
  ForEachRequest(launch, [&](const std::set<int64_t>& bytes) {
    std::set<int64_t> sectors;
    std::set<int64_t> lines;
    for (const int64_t byte : bytes) {
      sectors.insert(byte / sector_bytes);
      lines.insert(byte / line_bytes);
    }
    const auto num_sectors = static_cast<int64_t>(sectors.size());
    const auto num_bytes = static_cast<int64_t>(bytes.size());
    const int64_t least = (num_bytes + sector_bytes - 1) / sector_bytes;
    ++counts.requests;
    counts.sectors += num_sectors;
    counts.least += least;
    counts.lines += static_cast<int64_t>(lines.size());
    const int64_t now = num_sectors * counts.worst_least;
    const int64_t before = counts.worst_sectors * least;
    if (counts.requests == 1 || now > before ||
        (now == before && num_sectors > counts.worst_sectors)) {
      counts.worst_sectors = num_sectors;
      counts.worst_least = least;
    }
  });
  return counts;
}

}  // namespace xla_indexing::reference
