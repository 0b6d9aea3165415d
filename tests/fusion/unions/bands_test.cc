// Unions of bands, against their elements.
#include "xla_indexing/fusion/unions/bands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"

namespace xla_indexing::internal {
namespace {

using Elements = std::set<int64_t>;
using BandPoints = std::set<std::pair<int64_t, int64_t>>;

Elements ElementsOf(const Progression& progression) {
  Elements elements;
  for (int64_t i = -100; i <= 100; ++i) {
    if (progression.Contains(i)) elements.insert(i);
  }
  return elements;
}

BandPoints PointsOfBand(const Band& band, int64_t factor) {
  BandPoints points;
  for (int64_t d = -10; d <= 30; ++d) {
    for (int64_t t = -40; t <= 40 && band.dim.Contains(d); ++t) {
      if (band.value.Contains(t) && band.offset.Contains(t - factor * d)) points.emplace(d, t);
    }
  }
  return points;
}

Progression RandomProgression(Random& random, int64_t low, int64_t high) {
  const int64_t first = random.Between(low, high);
  const int64_t modulus = random.OneIn(2) ? 1 : random.Between(2, 4);
  return Progression::Of(Interval::Closed(first, random.Between(first, high)),
                         Congruence::Of(random.Between(0, modulus - 1), modulus));
}

Band RandomBand(Random& random) {
  return {RandomProgression(random, 0, 9), RandomProgression(random, -6, 9),
          RandomProgression(random, -12, 9)};
}

template <typename Set>
Set Both(const Set& a, const Set& b) {
  Set both = a;
  both.insert(b.begin(), b.end());
  return both;
}

TEST(BandsTest, ATightenedBandHasTheSamePoints) {
  Random random(2);
  for (int64_t i = Cases(5000); i > 0; --i) {
    const Band band = RandomBand(random);
    const int64_t factor = random.Between(-3, 3);
    EXPECT_EQ(PointsOfBand(Tightened(band, factor), factor), PointsOfBand(band, factor));
  }
}

// Nothing is added and nothing lost, and over few values of the dimension no union is overlooked
// that the hulls are.
TEST(BandsTest, BandsAreOneWhereTheirHullHasNoMorePoints) {
  Random random(3);
  int found = 0;
  for (int64_t i = Cases(20000); i > 0; --i) {
    const int64_t factor = random.OneIn(2) ? 1 : random.Between(-3, 3);
    const Band a = Tightened(RandomBand(random), factor);
    // The second often differs from the first in one part only.
    Band b = RandomBand(random);
    if (random.OneIn(2)) b.dim = a.dim;
    if (random.OneIn(2)) b.value = a.value;
    if (random.OneIn(2)) b.offset = a.offset;
    b = Tightened(b, factor);
    if (a.IsEmpty() || b.IsEmpty()) continue;
    const BandPoints both = Both(PointsOfBand(a, factor), PointsOfBand(b, factor));
    const std::optional<Band> one = Union(a, b, factor);
    if (one) {
      ++found;
      ASSERT_EQ(PointsOfBand(*one, factor), both) << "case " << i;
    } else {
      const Band hull = {a.dim.Hull(b.dim), a.value.Hull(b.value), a.offset.Hull(b.offset)};
      ASSERT_NE(PointsOfBand(hull, factor), both) << "case " << i;
    }
  }
  EXPECT_GT(found, 100);
}

// Over many values of the dimension, which are not looked at one by one.
TEST(BandsTest, WideBandsThatAreOneHaveTheSamePoints) {
  Random random(7);
  int found = 0;
  for (int64_t i = Cases(20000); i > 0; --i) {
    const int64_t factor = random.Between(-1, 1);
    Band a = RandomBand(random);
    a.dim = Progression::Of(Interval::Closed(random.Between(0, 3), random.Between(20, 29)),
                            Congruence::Of(random.Between(0, 1), random.Between(1, 2)));
    if (random.OneIn(2)) a.value = Progression::Of(Interval::Closed(-30, 30), Congruence::All());
    if (a.IsEmpty()) continue;
    // The second differs from the first in one part.
    Band b = a;
    Progression* differs = random.Pick(std::vector<Progression*>{&b.dim, &b.value, &b.offset});
    const int64_t moved = random.Between(-9, 9);
    *differs = Progression::Of(
        Interval::Closed(differs->first() + moved, differs->last() + random.Between(moved, 9)),
        Congruence::Of(random.Between(0, 1), random.Between(1, 2)));
    b.dim = b.dim.Intersect(Progression::Of(Interval::Closed(-10, 30), Congruence::All()));
    b.value = b.value.Intersect(Progression::Of(Interval::Closed(-40, 40), Congruence::All()));
    if (a.IsEmpty() || b.IsEmpty()) continue;
    a = Tightened(a, factor);
    b = Tightened(b, factor);
    if (a.IsEmpty() || b.IsEmpty() || a.Contains(b) || b.Contains(a)) continue;
    const std::optional<Band> one = Union(a, b, factor);
    if (!one || one->dim.Count() <= Int128{16}) continue;
    ++found;
    ASSERT_EQ(PointsOfBand(*one, factor), Both(PointsOfBand(a, factor), PointsOfBand(b, factor)))
        << "case " << i;
  }
  EXPECT_GT(found, Cases(1000));
}

// Whether the lower or the upper ends of two neighbouring columns of the band are those of its
// offsets, so that the factor is seen in what the band has.
bool ShowsItsFactor(const Band& band, int64_t factor) {
  std::map<int64_t, Elements> columns;
  for (const auto& [d, t] : PointsOfBand(band, factor)) columns[d].insert(t);
  for (auto column = columns.begin(); column != columns.end(); ++column) {
    const auto next = std::next(column);
    if (next == columns.end()) break;
    const auto are_of_offset = [&](int64_t t, int64_t of_next, int64_t offset) {
      return t == column->first * factor + offset && of_next == next->first * factor + offset;
    };
    if (are_of_offset(*column->second.begin(), *next->second.begin(),
                      band.offset.interval.lower()) ||
        are_of_offset(*column->second.rbegin(), *next->second.rbegin(),
                      band.offset.interval.upper())) {
      return true;
    }
  }
  return false;
}

// A band falls into lines and rectangles, which are bands of other factors. It is found again.
TEST(BandsTest, ABandIsFoundAgainFromItsParts) {
  Random random(5);
  int found = 0;
  for (int64_t i = Cases(2000); i > 0; --i) {
    const int64_t factor = random.Between(-3, 3);
    Band band = RandomBand(random);
    band.value.residues = Congruence::All();
    band.offset.residues = Congruence::All();
    band = Tightened(band, factor);
    const BandPoints points = PointsOfBand(band, factor);
    if (points.empty()) continue;
    std::vector<BandWithFactor> parts;
    for (const auto& [d, t] : points) {
      const Progression point = Progression::Point(t);
      // A line through the point within the band, or the point itself.
      if (random.OneIn(3)) {
        parts.push_back({{band.dim, band.value, Progression::Point(t - d * factor)}, factor});
      } else {
        const int64_t any = random.Between(-2, 2);
        parts.push_back({{Progression::Point(d), point, Progression::Point(t - d * any)}, any});
      }
    }
    const std::optional<BandWithFactor> one = UnionOfAll(parts);
    if (one) {
      ASSERT_EQ(PointsOfBand(one->band, one->factor), points) << "case " << i;
      ++found;
    } else {
      // The columns that are not empty may be no progression.
      Elements dims;
      Progression hull = Progression::Empty();
      for (const auto& [d, t] : points) {
        dims.insert(d);
        hull = hull.Hull(Progression::Point(d));
      }
      ASSERT_TRUE(ElementsOf(hull) != dims || !ShowsItsFactor(band, factor)) << "case " << i;
    }
  }
  EXPECT_GT(found, 10);
}

// Whatever is found has the points of the bands, no more and no fewer.
TEST(BandsTest, TheUnionOfRandomBandsIsEqual) {
  Random random(6);
  int found = 0;
  for (int64_t i = Cases(20000); i > 0; --i) {
    std::vector<BandWithFactor> parts;
    BandPoints points;
    for (int64_t n = random.Between(1, 4); n > 0; --n) {
      const int64_t factor = random.Between(-2, 2);
      Band band = RandomBand(random);
      if (!parts.empty() && random.OneIn(2)) band.dim = parts.back().band.dim;
      if (!parts.empty() && random.OneIn(2)) band.value = parts.back().band.value;
      parts.push_back({Tightened(band, factor), factor});
      points = Both(points, PointsOfBand(parts.back().band, factor));
    }
    const std::optional<BandWithFactor> one = UnionOfAll(parts);
    if (!one) continue;
    ++found;
    ASSERT_EQ(PointsOfBand(one->band, one->factor), points) << "case " << i;
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace xla_indexing::internal
