// Unions of progressions and bands, against their elements.
#include "xla_indexing/fusion/internal/bands.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/internal/congruence.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {
namespace {

using Elements = std::set<int64_t>;
using BandPoints = std::set<std::pair<int64_t, int64_t>>;

bool IsIn(int64_t value, const Progression& progression) {
  return progression.interval.Contains(value) && progression.residues.Contains(value);
}

Elements ElementsOf(const Progression& progression) {
  Elements elements;
  for (int64_t i = -100; i <= 100; ++i) {
    if (IsIn(i, progression)) elements.insert(i);
  }
  return elements;
}

BandPoints PointsOfBand(const Band& band, int64_t factor) {
  BandPoints points;
  for (int64_t d = -10; d <= 20; ++d) {
    for (int64_t t = -40; t <= 40 && IsIn(d, band.dim); ++t) {
      if (IsIn(t, band.value) && IsIn(t - factor * d, band.offset)) points.emplace(d, t);
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

Progression Hull(const Progression& a, const Progression& b) {
  return Progression::Of(a.interval.Union(b.interval), a.residues.Union(b.residues));
}

TEST(BandsTest, ProgressionsAreOneWhereTheirUnionIsAProgression) {
  Random random(1);
  int found = 0;
  for (int64_t i = Cases(5000); i > 0; --i) {
    const Progression a = RandomProgression(random, -6, 9);
    const Progression b = RandomProgression(random, -6, 9);
    const Elements both = Both(ElementsOf(a), ElementsOf(b));
    const std::optional<Progression> one = Union(a, b);
    if (one) {
      ++found;
      EXPECT_EQ(ElementsOf(*one), both);
    } else {
      EXPECT_NE(ElementsOf(Hull(a, b)), both);
    }
  }
  EXPECT_GT(found, 0);
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
      const Band hull = {Hull(a.dim, b.dim), Hull(a.value, b.value), Hull(a.offset, b.offset)};
      ASSERT_NE(PointsOfBand(hull, factor), both) << "case " << i;
    }
  }
  EXPECT_GT(found, 100);
}

}  // namespace
}  // namespace xla_indexing::internal
