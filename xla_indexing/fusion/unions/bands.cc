#include "xla_indexing/fusion/unions/bands.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"

namespace xla_indexing::internal {
namespace {

// The values that the band has beside one value of the dimension; none where numbers do not fit.
std::optional<Progression> ValuesAt(const Band& band, int64_t dim, int64_t factor) {
  if (band.IsEmpty() || !band.dim.Contains(dim)) return Progression::Empty();
  const Interval& offset = band.offset.interval;
  const std::optional<int64_t> product = CheckedMul(dim, factor);
  if (!product || !offset.IsFinite() || !CheckedAdd(offset.lower(), *product) ||
      !CheckedAdd(offset.upper(), *product)) {
    return std::nullopt;
  }
  const Progression shifted = band.offset.Add(Progression::Point(*product));
  const Progression values = band.value.Intersect(shifted);
  if (!shifted.Contains(values)) return std::nullopt;
  return values;
}

// Whether the points of `hull` are seen to be those of either band, one value of the dimension after
// another; none where these are many.
std::optional<bool> IsUnion(const Band& hull, const Band& a, const Band& b, int64_t factor) {
  constexpr int64_t kFewDims = 16;
  const std::optional<Int128> count = hull.dim.Count();
  if (!count || *count > kFewDims) return std::nullopt;
  for (int64_t i = 0; i < static_cast<int64_t>(*count); ++i) {
    const int64_t dim = hull.dim.first() + i * hull.dim.stride();
    const std::optional<Progression> all = ValuesAt(hull, dim, factor);
    const std::optional<Progression> of_a = ValuesAt(a, dim, factor);
    const std::optional<Progression> of_b = ValuesAt(b, dim, factor);
    if (!all || !of_a || !of_b) return false;
    if (of_a->Contains(*all) || of_b->Contains(*all)) continue;
    if (of_a->IsEmpty() || of_b->IsEmpty()) return false;
    const std::optional<Progression> both = Union(*of_a, *of_b);
    if (!both || !both->Contains(*all)) return false;
  }
  return true;
}

// Whether all points of `box` are points of the band.
bool HasAllOf(const Band& band, const Band& box, int64_t factor) {
  const Band tight = Tightened(box, factor);
  if (tight.IsEmpty()) return true;
  return band.value.Contains(tight.value) && band.offset.Contains(tight.offset) &&
         band.dim.Contains(tight.dim);
}

// What bands have beside one value of the dimension.
struct Column {
  int64_t dim = 0;
  Progression values;
};

// The columns that are not empty, in the order of the dimension; none where one of them is no
// progression, or there is too much to look at.
std::optional<std::vector<Column>> ColumnsOf(llvm::ArrayRef<BandWithFactor> bands) {
  constexpr int64_t kMostLooks = 1 << 16;
  Progression dims = Progression::Empty();
  for (const BandWithFactor& of : bands) dims = dims.Hull(of.band.dim);
  const std::optional<Int128> count = dims.Count();
  if (!count || *count * static_cast<int64_t>(bands.size()) > kMostLooks) return std::nullopt;
  // What the bands have beside value i of the dimension; none where that is no progression.
  const auto column_at = [&](int64_t i) -> std::optional<Column> {
    const int64_t dim = dims.first() + i * dims.stride();
    std::vector<Progression> parts;
    for (const auto& [band, factor] : bands) {
      const std::optional<Progression> values = ValuesAt(band, dim, factor);
      if (!values) return std::nullopt;
      if (!values->IsEmpty()) parts.push_back(*values);
    }
    parts = Unite(std::move(parts));
    if (parts.size() > 1) return std::nullopt;
    return Column{dim, parts.empty() ? Progression::Empty() : parts.front()};
  };
  std::vector<Column> columns;
  const auto last = static_cast<int64_t>(*count) - 1;
  // Bands that are none together mostly show it in the middle.
  if (last >= 0 && !column_at(last / 2)) return std::nullopt;
  for (int64_t i = 0; i <= last; ++i) {
    const std::optional<Column> column = column_at(i);
    if (!column) return std::nullopt;
    if (!column->values.IsEmpty()) columns.push_back(*column);
  }
  return columns;
}

// The slopes of the lower and upper ends of the columns, and 1, which will do where there is none.
llvm::SmallVector<int64_t, 8> SlopesOf(llvm::ArrayRef<Column> columns) {
  constexpr size_t kFewSlopes = 8;
  llvm::SmallVector<int64_t, 8> slopes;
  const auto add = [&](int64_t from, int64_t to, int64_t step) {
    const std::optional<int64_t> rise = CheckedSub(to, from);
    if (!rise || *rise == 0 || *rise == kInt64Min || *rise % step != 0) return;
    const int64_t slope = *rise / step;
    if (slopes.size() < kFewSlopes && !llvm::is_contained(slopes, slope)) slopes.push_back(slope);
  };
  for (const auto& [last, next] : llvm::zip(columns, columns.drop_front())) {
    const int64_t step = next.dim - last.dim;
    add(last.values.first(), next.values.first(), step);
    add(last.values.last(), next.values.last(), step);
  }
  if (slopes.empty()) slopes.push_back(1);
  return slopes;
}

// The least band of this factor with all columns, if it has nothing else.
std::optional<Band> BandOfColumns(llvm::ArrayRef<Column> columns, const Progression& dims,
                                  int64_t factor) {
  Band hull = {dims, Progression::Empty(), Progression::Empty()};
  for (const auto& [dim, values] : columns) {
    const std::optional<int64_t> product = CheckedMul(dim, factor);
    if (!product) return std::nullopt;
    hull.value = hull.value.Hull(values);
    hull.offset = hull.offset.Hull(values.Sub(Progression::Point(*product)));
  }
  for (const auto& [dim, values] : columns) {
    const std::optional<Progression> of_hull = ValuesAt(hull, dim, factor);
    if (!of_hull || !(*of_hull == values)) return std::nullopt;
  }
  return Tightened(hull, factor);
}

}  // namespace

Band Tightened(const Band& band, int64_t factor) {
  Band tight = band;
  for (int round = 0; round < 2; ++round) {
    tight.offset = tight.offset.Intersect(tight.value.Sub(tight.dim.Mul(factor)));
    tight.value = tight.value.Intersect(tight.dim.Mul(factor).Add(tight.offset));
    tight.dim = tight.dim.Intersect(tight.value.Sub(tight.offset).PreimageOfMul(factor));
  }
  return tight;
}

std::optional<Band> Union(const Band& a, const Band& b, int64_t factor) {
  if (a.Contains(b)) return a;
  if (b.Contains(a)) return b;
  const std::optional<Progression> dims = Union(a.dim, b.dim);
  const std::optional<Progression> values = Union(a.value, b.value);
  const std::optional<Progression> offsets = Union(a.offset, b.offset);
  const Band hull = {a.dim.Hull(b.dim), a.value.Hull(b.value), a.offset.Hull(b.offset)};
  if (const std::optional<bool> is_union = IsUnion(hull, a, b, factor)) {
    return *is_union ? std::make_optional(Tightened(hull, factor)) : std::nullopt;
  }
  // Whether each of both has all points of the hulls that are in its part.
  const auto are_whole = [&](const Band& part_of_a, const Band& part_of_b) {
    return HasAllOf(a, part_of_a, factor) && HasAllOf(b, part_of_b, factor);
  };
  if (offsets && are_whole({hull.dim, hull.value, a.offset}, {hull.dim, hull.value, b.offset})) {
    return Tightened(hull, factor);
  }
  if (values && are_whole({hull.dim, a.value, hull.offset}, {hull.dim, b.value, hull.offset})) {
    return Tightened(hull, factor);
  }
  if (dims && are_whole({a.dim, hull.value, hull.offset}, {b.dim, hull.value, hull.offset})) {
    return Tightened(hull, factor);
  }
  return std::nullopt;
}

std::optional<BandWithFactor> UnionOfAll(llvm::ArrayRef<BandWithFactor> bands) {
  const std::optional<std::vector<Column>> columns = ColumnsOf(bands);
  if (!columns || columns->empty()) return std::nullopt;
  Progression dims = Progression::Empty();
  for (const Column& column : *columns) dims = dims.Hull(Progression::Point(column.dim));
  if (dims.Count() != Int128{columns->size()}) return std::nullopt;
  for (const int64_t factor : SlopesOf(*columns)) {
    const std::optional<Band> band = BandOfColumns(*columns, dims, factor);
    if (band) return BandWithFactor{*band, factor};
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal
