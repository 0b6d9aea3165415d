#include "xla_indexing/tiling/tile/tile_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

ExprProgram Compile(const IndexingMap& map) {
  llvm::SmallVector<mlir::AffineExpr, 8> exprs(map.results());
  for (const Constraint& constraint : map.constraints()) exprs.push_back(constraint.expr);
  return ExprProgram(exprs);
}

// The least progression with the values, of which the last is no further from the first than int64.
SizeAndStride HullOf(const std::set<int64_t>& values) {
  if (values.empty()) return {0, 1};
  int64_t stride = 0;
  for (const int64_t value : values) stride = Gcd(stride, value - *values.begin());
  if (stride == 0) return {1, 1};
  return {(*values.rbegin() - *values.begin()) / stride + 1, stride};
}

// The least progression that contains two with the same offset.
SizeAndStride HullOf(const SizeAndStride& a, const SizeAndStride& b) {
  const int64_t last = std::max((a.size - 1) * a.stride, (b.size - 1) * b.stride);
  const int64_t stride = Gcd(a.size > 1 ? a.stride : 0, b.size > 1 ? b.stride : 0);
  return last <= 0 ? SizeAndStride{std::max(a.size, b.size), 1}
                   : SizeAndStride{last / stride + 1, stride};
}

}  // namespace

bool TileOfPoints::IsBox() const {
  Int128 size = 1;
  for (const SizeAndStride& range : ranges) {
    size *= range.size;
    // A box has as many elements as combinations of values.
    if (size > num_elements) return false;
  }
  return size == num_elements;
}

TilePoints::TilePoints(const IndexingMap& map, int num_runtimes)
    : map_(map), num_runtimes_(num_runtimes), program_(Compile(map)) {}

std::optional<TileOfPoints> TilePoints::TileAt(llvm::ArrayRef<Interval> box,
                                               llvm::ArrayRef<Interval> symbols,
                                               StepBudget* budget) const {
  llvm::SmallVector<Interval, 8> all(box.begin(), box.end());
  all.append(symbols.begin(), symbols.end());
  const std::optional<int64_t> num_points = NumPoints(all);
  // A tile without points is a step as well: there may be 2^63 of them.
  if (!num_points || !budget->Take(std::max<int64_t>(*num_points, 1))) return std::nullopt;
  TileOfPoints tile;
  const size_t num_results = map_.num_results();
  std::vector<std::set<int64_t>> values(num_results);
  absl::flat_hash_set<std::vector<int64_t>> elements;
  llvm::SmallVector<int64_t, 8> point;
  ExprProgram::Workspace workspace;
  if (*num_points > 0 && !FirstPoint(all, &point)) return std::nullopt;
  std::vector<int64_t> element(num_results);
  for (bool has_integer_point = *num_points > 0; has_integer_point;
       has_integer_point = NextPoint(all, absl::MakeSpan(point))) {
    const llvm::ArrayRef<int64_t> at(point);
    if (!program_.Evaluate(at.take_front(box.size()), at.drop_front(box.size()), &workspace).ok()) {
      return std::nullopt;
    }
    // A point that residues leave out is none of the tile's.
    bool has_residues = true;
    bool is_inside = true;
    for (const auto [i, constraint] : llvm::enumerate(map_.constraints())) {
      const bool holds = constraint.interval.Contains(
          program_.Result(workspace, static_cast<int>(num_results + i)));
      bool& flag = IsOfResidues(constraint) ? has_residues : is_inside;
      flag = flag && holds;
    }
    if (has_residues && !is_inside) tile.is_full = false;
    if (!has_residues || !is_inside) continue;
    for (size_t i = 0; i < num_results; ++i) {
      element[i] = program_.Result(workspace, static_cast<int>(i));
      values[i].insert(element[i]);
    }
    elements.insert(element);
  }
  tile.num_elements = static_cast<int64_t>(elements.size());
  for (const std::set<int64_t>& of_result : values) {
    if (!of_result.empty() && !CheckedSub(*of_result.rbegin(), *of_result.begin())) {
      return std::nullopt;
    }
    tile.offsets.push_back(of_result.empty() ? 0 : *of_result.begin());
    tile.ranges.push_back(HullOf(of_result));
  }
  return tile;
}

std::optional<TileOfPoints> TilePoints::TileAt(llvm::ArrayRef<Interval> box,
                                               StepBudget* budget) const {
  return TileAt(box, map_.SymbolBounds(), budget);
}

std::optional<TilesOfPoints> TilePoints::AllTiles(llvm::ArrayRef<Interval> within,
                                                  llvm::ArrayRef<int64_t> sizes, bool stops,
                                                  StepBudget* budget) const {
  TilesOfPoints all;
  const llvm::SmallVector<Interval, 4> symbols = map_.SymbolBounds();
  const size_t num_ranges = symbols.size() - num_runtimes_;
  // A tile for each index of a full one in the intervals, and each value of the runtime variables.
  llvm::SmallVector<Interval, 8> indices;
  for (int i = 0; i < map_.num_dims(); ++i) {
    const Interval& bounds = within[i];
    if (!bounds.IsFinite() || bounds.IsEmpty()) return std::nullopt;
    indices.push_back(
        Interval::Closed(CeilDiv(bounds.lower(), sizes[i]),
                         static_cast<int64_t>((Int128{bounds.upper()} + 1) / sizes[i] - 1)));
    if (indices.back().IsEmpty()) return all;
  }
  indices.append(symbols.begin() + num_ranges, symbols.end());
  bool has_empty = false;
  llvm::SmallVector<int64_t, 8> index;
  if (!FirstPoint(indices, &index)) return std::nullopt;
  llvm::SmallVector<Interval, 8> box(map_.num_dims());
  llvm::SmallVector<Interval, 8> of_symbols(symbols.begin(), symbols.end());
  do {
    for (int i = 0; i < map_.num_dims(); ++i) {
      box[i] = Interval::Closed(index[i] * sizes[i], index[i] * sizes[i] + sizes[i] - 1);
    }
    for (int i = 0; i < num_runtimes_; ++i) {
      of_symbols[num_ranges + i] = Interval::Point(index[map_.num_dims() + i]);
    }
    const std::optional<TileOfPoints> tile = TileAt(box, of_symbols, budget);
    if (!tile) return std::nullopt;
    if (!tile->is_full) continue;
    // One that residues leave nothing of is not like one that has elements.
    if (tile->num_elements == 0) {
      has_empty = true;
      continue;
    }
    const bool is_first = all.num_full++ == 0;
    if (is_first) all.ranges = tile->ranges;
    all.are_alike = all.are_alike && !has_empty && tile->IsBox() && tile->ranges == all.ranges;
    if (!all.are_alike && stops) return all;
    for (const auto [range, own] : llvm::zip(all.ranges, tile->ranges)) range = HullOf(range, own);
  } while (NextPoint(indices, absl::MakeSpan(index)));
  all.are_alike = all.are_alike && !has_empty;
  return all;
}

}  // namespace xla_indexing::internal
