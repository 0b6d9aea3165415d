#include "tests/fuzz/check_tiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"

namespace xla_indexing::fuzz {
namespace {

using internal::Int128;
using internal::kInt64Max;
using internal::OffsetMapText;
using internal::SizeMapText;
using internal::StrideMapText;
using internal::TileConditions;

// Sizes of tiles: ones, everything, powers of two.
std::vector<std::vector<int64_t>> TileSizesOf(const Shape& array) {
  std::vector<std::vector<int64_t>> sizes(4);
  for (const int64_t size : array.dimensions()) {
    const int64_t most = size == Shape::kUnboundedSize ? 1 << 20 : std::max<int64_t>(size, 1);
    sizes[0].push_back(1);
    sizes[1].push_back(std::min<int64_t>(most, 4));
    sizes[2].push_back(most);
    sizes[3].push_back(sizes[3].size() % 2 == 0 ? 1 : std::min<int64_t>(most, 3));
  }
  return sizes;
}

bool IsInTile(const ConcreteTile& tile, llvm::ArrayRef<int64_t> element) {
  for (size_t i = 0; i < element.size(); ++i) {
    const TileRange& range = tile.ranges[i];
    const Int128 length = Int128{range.size - 1} * range.stride;
    const Interval& offset = range.offset;
    if (range.size < 1 || offset.IsEmpty()) return false;
    if (offset.has_lower() && element[i] < offset.lower() + std::min<Int128>(length, 0)) {
      return false;
    }
    if (offset.has_upper() && element[i] > offset.upper() + std::max<Int128>(length, 0)) {
      return false;
    }
    if (offset.IsPoint() && range.stride != 0 &&
        (Int128{element[i]} - offset.lower()) % range.stride != 0) {
      return false;
    }
  }
  return true;
}

std::string TileText(const ConcreteTile& tile) {
  std::string text = tile.is_exact ? "exact" : "not exact";
  for (const TileRange& range : tile.ranges) {
    absl::StrAppend(&text, " ", range.offset.ToString(), " + [0, ", range.size, " - 1] * ",
                    range.stride);
  }
  return text;
}

// The sizes of an array's dimensions, which are the greatest number where there is no bound.
std::vector<int64_t> DimSizesOf(const Shape& array) {
  std::vector<int64_t> sizes;
  for (const int64_t size : array.dimensions()) {
    sizes.push_back(size == Shape::kUnboundedSize ? kInt64Max : size);
  }
  return sizes;
}

// The first tile, and the tiles of two elements.
std::vector<Point> SomeTiles(const Shape& array, llvm::ArrayRef<int64_t> sizes, Random& random) {
  std::vector<Point> indices = {Point(sizes.size(), 0)};
  for (const Point& element : SomeElements(array, random)) {
    Point index;
    for (size_t i = 0; i < sizes.size(); ++i) index.push_back(element[i] / sizes[i]);
    indices.push_back(std::move(index));
    if (indices.size() == 3) break;
  }
  return indices;
}

// The elements of a tile, clipped to the array; none where its numbers do not fit.
std::optional<std::vector<Interval>> BoxOfTile(llvm::ArrayRef<int64_t> dim_sizes,
                                               llvm::ArrayRef<int64_t> sizes, const Point& index) {
  std::vector<Interval> box;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Int128 first = Int128{index[i]} * sizes[i];
    const Int128 last = std::min<Int128>(first + sizes[i] - 1, dim_sizes[i] - 1);
    if (last > kInt64Max) return std::nullopt;
    box.push_back(Interval::Closed(static_cast<int64_t>(first), static_cast<int64_t>(last)));
  }
  return box;
}

// Elements of a box: all of them where they are few, which `is_all` says, and some otherwise.
std::vector<Point> ElementsOfBox(const std::vector<Interval>& box, bool* is_all, Random& random) {
  if (auto all = AllPointsOf(box, 16)) return *std::move(all);
  *is_all = false;
  std::vector<Point> elements;
  for (size_t sample = 0; sample < kSamples; ++sample) {
    Point element;
    for (const Interval& interval : box) {
      element.push_back(
          std::clamp(SomeValue(interval, random), interval.lower(), interval.upper()));
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

struct TileOfSizes {
  const std::vector<int64_t>& sizes;
  const Point& index;
  const ConcreteTile& tile;

  std::string Name() const {
    return absl::StrCat("tile ", PointText(index), " of sizes ", PointText(sizes));
  }
};

// Whether a tile has every element that the elements of `box` read and, where it is exact, no other.
void CheckTile(const Asked& asked, const OperandIndexing& indexing, const Ends& ends,
               const TileOfSizes& of, const std::vector<Interval>& box, Random& random) {
  bool is_all = indexing.map().num_runtimes() == 0;
  std::set<Point> named;
  for (const Point& element : ElementsOfBox(box, &is_all, random)) {
    const std::optional<std::set<Point>> reads = ReadsOf(indexing, element);
    if (!reads) {
      is_all = false;
      continue;
    }
    for (const Point& read : *reads) {
      named.insert(read);
      if (!of.tile.is_empty && IsInTile(of.tile, read)) continue;
      Fail(asked,
           absl::StrCat("the ", of.Name(), " has ", PointText(read), " of ", PointText(element)),
           indexing.ToString(), TileText(of.tile));
    }
  }
  if (!is_all || !of.tile.is_exact || of.tile.is_empty || ends.to.rank() == 0) return;
  Int128 count = 1;
  for (const TileRange& range : of.tile.ranges) count *= range.size;
  if (count != static_cast<Int128>(named.size())) {
    Fail(asked, absl::StrCat("the exact ", of.Name(), " has ", named.size(), " elements"),
         indexing.ToString(), TileText(of.tile));
  }
}

}  // namespace

void CheckTiles(const Asked& asked, const OperandIndexing& indexing, const Ends& ends,
                Random& random) {
  const std::vector<int64_t> dim_sizes = DimSizesOf(ends.from);
  const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(indexing, dim_sizes);
  if (!tile.ok()) return;
  if (OffsetMapText(*tile).empty() || SizeMapText(*tile).empty() || StrideMapText(*tile).empty()) {
    Fail(asked, "a tile has text", indexing.ToString());
  }
  TileConditions(*tile);
  for (const std::vector<int64_t>& sizes : TileSizesOf(ends.from)) {
    const absl::StatusOr<Decision> exact = tile->IsExact(sizes, kSteps);
    const absl::StatusOr<ConcreteTile> full = tile->FullTile(sizes, kSteps);
    for (const Point& index : SomeTiles(ends.from, sizes, random)) {
      const absl::StatusOr<ConcreteTile> here = tile->TileAt(sizes, index, kSteps);
      if (!here.ok()) continue;
      const std::optional<std::vector<Interval>> box = BoxOfTile(dim_sizes, sizes, index);
      if (!box) return;
      CheckTile(asked, indexing, ends, {sizes, index, *here}, *box, random);
    }
    if (exact.ok() && exact->IsYes() && full.ok() && !full->is_exact && !full->is_clipped &&
        indexing.IsExact()) {
      Fail(asked, absl::StrCat("the full tile of exact sizes ", PointText(sizes), " is exact"),
           indexing.ToString(), TileText(*full));
    }
  }
}

}  // namespace xla_indexing::fuzz
