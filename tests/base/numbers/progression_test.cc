// Progressions, against their elements.
#include "xla_indexing/base/numbers/progression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using Members = std::set<int64_t>;

constexpr int64_t kLength = 16;
// Where progressions of numbers near zero and near both ends of int64 begin.
constexpr int64_t kPlaces[] = {-6, kInt64Min, kInt64Max - kLength + 1};

// The elements among the numbers from `place` on.
Members MembersFrom(int64_t place, const Progression& progression) {
  Members elements;
  for (int64_t i = 0; i < kLength; ++i) {
    if (progression.Contains(place + i)) elements.insert(place + i);
  }
  return elements;
}

Members MembersOf(const Progression& progression) {
  Members elements;
  for (int64_t i = -100; i <= 100; ++i) {
    if (progression.Contains(i)) elements.insert(i);
  }
  return elements;
}

// The least progression with these elements, by the definition.
Progression LeastProgression(const Members& elements) {
  if (elements.empty()) return Progression::Empty();
  Congruence residues = Congruence::Empty();
  for (const int64_t element : elements) residues = residues.Union(Congruence::Point(element));
  return {Interval::Closed(*elements.begin(), *elements.rbegin()), residues};
}

Members Both(Members a, const Members& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Progression RandomProgression(Random& random, int64_t place) {
  const int64_t first = random.Between(0, kLength - 1);
  const int64_t last = random.Between(first, kLength - 1);
  const int64_t modulus = random.OneIn(2) ? 1 : random.Between(2, 4);
  return Progression::Of(Interval::Closed(place + first, place + last),
                         Congruence::Of(random.Between(0, modulus - 1), modulus));
}

// All progressions of some numbers from -2 to 3, and the empty one.
std::vector<Progression> SmallProgressions() {
  std::vector<Progression> progressions;
  for (int64_t first = -2; first <= 3; ++first) {
    for (int64_t last = first; last <= 3; ++last) {
      for (int64_t modulus = 1; modulus <= 4; ++modulus) {
        progressions.push_back(
            Progression::Of(Interval::Closed(first, last), Congruence::Of(1, modulus)));
      }
    }
  }
  return progressions;
}

TEST(ProgressionTest, EachIsWrittenInOneWay) {
  for (const Progression& progression : SmallProgressions()) {
    const Members elements = MembersOf(progression);
    EXPECT_EQ(progression, LeastProgression(elements));
    EXPECT_EQ(progression.IsEmpty(), elements.empty());
    EXPECT_EQ(progression.Count(), elements.size());
    if (elements.empty()) continue;
    EXPECT_EQ(progression.first(), *elements.begin());
    EXPECT_EQ(progression.last(), *elements.rbegin());
    EXPECT_EQ(progression.stride() == 0, elements.size() == 1);
  }
}

TEST(ProgressionTest, ArithmeticGivesTheLeastProgression) {
  for (const Progression& a : SmallProgressions()) {
    for (const Progression& b : SmallProgressions()) {
      const Members of_a = MembersOf(a);
      const Members of_b = MembersOf(b);
      Members common;
      Members sums;
      Members differences;
      for (const int64_t x : of_a) {
        if (of_b.contains(x)) common.insert(x);
        for (const int64_t y : of_b) {
          sums.insert(x + y);
          differences.insert(x - y);
        }
      }
      EXPECT_EQ(a.Intersect(b), LeastProgression(common));
      EXPECT_EQ(a.Hull(b), LeastProgression(Both(of_a, of_b)));
      EXPECT_EQ(a.Add(b), LeastProgression(sums));
      EXPECT_EQ(a.Sub(b), LeastProgression(differences));
      EXPECT_EQ(a.Contains(b), Both(of_a, of_b) == of_a);
    }
    for (int64_t factor = -3; factor <= 3; ++factor) {
      Members products;
      Members preimage;
      for (const int64_t x : MembersOf(a)) products.insert(x * factor);
      for (int64_t x = -3; x <= 3; ++x) {
        if (a.Contains(x * factor)) preimage.insert(x);
      }
      EXPECT_EQ(a.Mul(factor), LeastProgression(products));
      if (factor == 0) continue;
      const Members found = MembersOf(a.PreimageOfMul(factor));
      EXPECT_EQ(Both(found, preimage), found);
    }
  }
}

TEST(ProgressionTest, ProgressionsAreOneWhereTheirUnionIsAProgression) {
  Random random(1);
  int found = 0;
  for (int64_t i = Cases(5000); i > 0; --i) {
    const int64_t place = random.Pick(kPlaces);
    const Progression a = RandomProgression(random, place);
    const Progression b = RandomProgression(random, place);
    const Members both = Both(MembersFrom(place, a), MembersFrom(place, b));
    const std::optional<Progression> one = Union(a, b);
    if (one) {
      ++found;
      EXPECT_EQ(MembersFrom(place, *one), both);
      EXPECT_EQ(one->Count(), both.size());
    } else {
      EXPECT_NE(MembersFrom(place, a.Hull(b)), both);
    }
  }
  EXPECT_GT(found, 0);
}

// The parts of a progression, and any others.
TEST(ProgressionTest, ManyProgressionsAreOneWhereTheirUnionIsAProgression) {
  Random random(4);
  int found = 0;
  for (int64_t i = Cases(5000); i > 0; --i) {
    const int64_t place = random.Pick(kPlaces);
    std::vector<Progression> parts;
    Members all;
    for (int64_t n = random.Between(1, 6); n > 0; --n) {
      parts.push_back(RandomProgression(random, place));
      if (parts.back().IsEmpty()) parts.pop_back();
    }
    for (const Progression& part : parts) all = Both(all, MembersFrom(place, part));
    const std::vector<Progression> united = Unite(parts);
    EXPECT_LE(united.size(), parts.size());
    Members of_united;
    for (const Progression& part : united) of_united = Both(of_united, MembersFrom(place, part));
    EXPECT_EQ(of_united, all);
    EXPECT_EQ(HullOfAll(parts), LeastProgression(all));
    if (parts.empty() || LeastProgression(all).Count() != all.size()) continue;
    EXPECT_EQ(united.size(), 1);
    if (parts.size() > 2) ++found;
  }
  EXPECT_GT(found, 10);
}

// Parts without an end stay, and empty ones go.
TEST(ProgressionTest, ProgressionsWithoutEndsOrElementsAreNoError) {
  const Progression some = Progression::Of(Interval::Closed(0, 4), Congruence::All());
  const Progression nothing = Progression::Empty();
  const Progression all = Progression::Of(Interval::All(), Congruence::All());
  EXPECT_EQ(all.Count(), std::nullopt);
  EXPECT_TRUE(Unite({nothing, nothing}).empty());
  EXPECT_EQ(Unite({nothing, some}), std::vector<Progression>{some});
  EXPECT_EQ(Unite({some, all}), (std::vector<Progression>{some, all}));
}

// Two halves of all int64 are one, though they have more elements than int64 counts.
TEST(ProgressionTest, ProgressionsAreAsLongAsInt64) {
  const Progression lower = Progression::Of(Interval::Closed(kInt64Min, -1), Congruence::All());
  const Progression upper = Progression::Of(Interval::Closed(0, kInt64Max), Congruence::All());
  const Progression all =
      Progression::Of(Interval::Closed(kInt64Min, kInt64Max), Congruence::All());
  EXPECT_EQ(all.Count(), Int128{1} << 64);
  EXPECT_EQ(Union(lower, upper), all);
  EXPECT_EQ(Unite({upper, lower, Progression::Point(0)}), std::vector<Progression>{all});
  // Every second number of one half and the others of it.
  const Progression even = Progression::Of(upper.interval, Congruence::Of(0, 2));
  const Progression odd = Progression::Of(upper.interval, Congruence::Of(1, 2));
  EXPECT_EQ(Union(even, odd), upper);
  EXPECT_EQ(Union(even, lower), std::nullopt);
}

TEST(ProgressionTest, SumsAndProductsAreTheProgressionsThatTheyAre) {
  Random random(3);
  int progressions = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    std::vector<Progression> terms;
    const int64_t constant = random.Between(-5, 5);
    Members sums = {constant};
    for (int64_t k = random.Between(1, 3); k > 0; --k) {
      const int64_t first = random.Between(-4, 4);
      const int64_t count = random.Between(1, 4);
      const int64_t stride = random.Between(1, 6);
      const int64_t factor = random.Between(1, 3) * (random.OneIn(3) ? -1 : 1);
      terms.push_back(*ExactMul(*Progression::FromSteps(first, count, stride), factor));
      Members next;
      for (const int64_t sum : sums) {
        for (int64_t j = 0; j < count; ++j) next.insert(sum + factor * (first + j * stride));
      }
      sums = std::move(next);
    }
    const int64_t length = *sums.rbegin() - *sums.begin();
    const int64_t stride = sums.size() == 1 ? 1 : *std::next(sums.begin()) - *sums.begin();
    const bool is_progression = length == stride * static_cast<int64_t>(sums.size() - 1) &&
                                std::adjacent_find(sums.begin(), sums.end(), [&](auto a, auto b) {
                                  return b - a != stride;
                                }) == sums.end();
    const std::optional<Progression> said = ExactSum(constant, terms);
    ASSERT_EQ(said.has_value(), is_progression);
    if (!said) continue;
    ++progressions;
    Members members;
    for (int64_t j = 0; j < *said->Count(); ++j) members.insert(said->first() + j * said->step());
    ASSERT_EQ(members, sums);
  }
  EXPECT_GT(progressions, Cases(2000));
}

TEST(ProgressionTest, SumsAndProductsPastInt64AreNone) {
  EXPECT_EQ(Progression::FromSteps(kInt64Max, 2, 1), std::nullopt);
  EXPECT_EQ(Progression::FromSteps(0, 1, Int128{1} << 100), Progression::Point(0));
  EXPECT_EQ(ExactMul(Progression::Point(kInt64Min), -1), std::nullopt);
  EXPECT_EQ(ExactSum(1, {Progression::Point(kInt64Max)}), std::nullopt);
  EXPECT_EQ(ExactSum(-1, {Progression::Point(kInt64Max), Progression::Point(1)}),
            Progression::Point(kInt64Max));
}

}  // namespace
}  // namespace xla_indexing::internal
