#include "xla_indexing/fusion/internal/bands.h"

namespace xla_indexing::internal {
namespace {

Progression HullOf(const Progression& a, const Progression& b) {
  return Progression::Of(a.interval.Union(b.interval), a.residues.Union(b.residues));
}

// The hull of the d_j in `box`; where there are few values, with regard to the residue class that each
// of them asks for.
Progression DimsIn(const Band& box, int64_t factor) {
  constexpr int64_t kFewValues = 64;
  const Progression dims = box.dim.Intersect(box.value.Sub(box.offset).PreimageOfMul(factor));
  const std::optional<Int128> values = box.value.Count();
  if (!values || *values > kFewValues || (factor != 1 && factor != -1)) return dims;
  Interval hull = Interval::Empty();
  for (int64_t i = 0; i < static_cast<int64_t>(*values); ++i) {
    const int64_t value = box.value.interval.lower() + i * box.value.residues.modulus();
    const Progression at = Progression::Point(value);
    hull = hull.Union(dims.Intersect(at.Sub(box.offset).Mul(factor)).interval);
  }
  return Progression::Of(hull, dims.residues);
}

// The values that the band has beside one value of the dimension; none where numbers do not fit.
std::optional<Progression> ValuesAt(const Band& band, int64_t dim, int64_t factor) {
  const Progression nothing = Progression::Of(Interval::Empty(), Congruence::All());
  if (band.IsEmpty() || !band.dim.Contains(Progression::Point(dim))) return nothing;
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
    const int64_t dim = hull.dim.interval.lower() + i * hull.dim.residues.modulus();
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
         (band.dim.Contains(tight.dim) || band.dim.Contains(DimsIn(tight, factor)));
}

}  // namespace

std::optional<Progression> Union(const Progression& a, const Progression& b) {
  const Progression hull = HullOf(a, b);
  const std::optional<Int128> all = hull.Count();
  const std::optional<Int128> of_a = a.Count();
  const std::optional<Int128> of_b = b.Count();
  const std::optional<Int128> of_both = a.Intersect(b).Count();
  if (!all || !of_a || !of_b || !of_both || *all != *of_a + *of_b - *of_both) return std::nullopt;
  return hull;
}

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
  const Band hull = {HullOf(a.dim, b.dim), HullOf(a.value, b.value), HullOf(a.offset, b.offset)};
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

}  // namespace xla_indexing::internal
