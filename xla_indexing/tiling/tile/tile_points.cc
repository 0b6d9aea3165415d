#include "xla_indexing/tiling/tile/tile_points.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
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

// The least progression that contains the values of one result.
class Hull {
 public:
  // False where the values are further apart than int64.
  bool Add(int64_t value) {
    if (!first_) first_ = least_ = greatest_ = value;
    least_ = std::min(least_, value);
    greatest_ = std::max(greatest_, value);
    const std::optional<int64_t> beyond = CheckedSub(value, *first_);
    if (!beyond || !CheckedSub(greatest_, least_)) return false;
    if (stride_ == 0 || (stride_ > 1 && *beyond % stride_ != 0)) stride_ = Gcd(stride_, *beyond);
    return true;
  }
  int64_t least() const { return least_; }
  SizeAndStride range() const {
    if (!first_) return {0, 1};
    if (stride_ == 0) return {1, 1};
    return {(greatest_ - least_) / stride_ + 1, stride_};
  }

 private:
  std::optional<int64_t> first_;
  int64_t least_ = 0;
  int64_t greatest_ = 0;
  int64_t stride_ = 0;
};

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

// How many of the elements, which are in this box, differ.
int64_t TilePoints::CountDistinct(const TileOfPoints& box, Scratch* scratch) {
  const absl::Span<const int64_t> elements = scratch->elements;
  const size_t rank = box.ranges.size();
  const size_t count = elements.size() / rank;
  Int128 cells = 1;
  for (const SizeAndStride& range : box.ranges) {
    if (cells <= kInt64Max) cells *= range.size;
  }
  // A flag for each place in the box, where these are not many more than the elements.
  if (cells <= Int128{4} * static_cast<int64_t>(count) + 64) {
    std::vector<bool>& is_seen = scratch->is_seen;
    is_seen.assign(static_cast<size_t>(cells), false);
    int64_t distinct = 0;
    for (size_t i = 0; i < elements.size(); i += rank) {
      int64_t cell = 0;
      for (size_t r = 0; r < rank; ++r) {
        const auto& [size, stride] = box.ranges[r];
        cell = cell * size + (elements[i + r] - box.offsets[r]) / stride;
      }
      distinct += is_seen[cell] ? 0 : 1;
      is_seen[cell] = true;
    }
    return distinct;
  }
  absl::flat_hash_set<absl::Span<const int64_t>> distinct;
  for (size_t i = 0; i < elements.size(); i += rank) distinct.insert(elements.subspan(i, rank));
  return static_cast<int64_t>(distinct.size());
}

std::optional<TileOfPoints> TilePoints::TileAt(llvm::ArrayRef<Interval> box,
                                               llvm::ArrayRef<Interval> symbols, StepBudget* budget,
                                               Scratch* scratch) const {
  llvm::SmallVector<Interval, 8> all(box.begin(), box.end());
  all.append(symbols.begin(), symbols.end());
  const std::optional<int64_t> num_points = NumPoints(all);
  // A tile without points is a step as well: there may be 2^63 of them.
  if (!num_points || !budget->Take(std::max<int64_t>(*num_points, 1))) return std::nullopt;
  TileOfPoints tile;
  const size_t num_results = map_.num_results();
  llvm::SmallVector<Hull, 4> hulls(num_results);
  std::vector<int64_t>& elements = scratch->elements;
  elements.clear();
  bool has_elements = false;
  llvm::SmallVector<int64_t, 8> point;
  ExprProgram::Workspace& workspace = scratch->values;
  if (*num_points > 0 && !FirstPoint(all, &point)) return std::nullopt;
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
    has_elements = true;
    for (size_t i = 0; i < num_results; ++i) {
      elements.push_back(program_.Result(workspace, static_cast<int>(i)));
      if (!hulls[i].Add(elements.back())) return std::nullopt;
    }
  }
  for (const Hull& hull : hulls) {
    tile.offsets.push_back(hull.least());
    tile.ranges.push_back(hull.range());
  }
  if (num_results == 0 || !has_elements) {
    tile.num_elements = has_elements ? 1 : 0;
  } else {
    tile.num_elements = CountDistinct(tile, scratch);
  }
  return tile;
}

std::optional<TileOfPoints> TilePoints::TileAt(llvm::ArrayRef<Interval> box,
                                               StepBudget* budget) const {
  Scratch scratch;
  return TileAt(box, map_.SymbolBounds(), budget, &scratch);
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
  Scratch scratch;
  do {
    for (int i = 0; i < map_.num_dims(); ++i) {
      box[i] = Interval::Closed(index[i] * sizes[i], index[i] * sizes[i] + sizes[i] - 1);
    }
    for (int i = 0; i < num_runtimes_; ++i) {
      of_symbols[num_ranges + i] = Interval::Point(index[map_.num_dims() + i]);
    }
    const std::optional<TileOfPoints> tile = TileAt(box, of_symbols, budget, &scratch);
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
