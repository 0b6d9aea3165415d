#include "xla_indexing/base/numbers/congruence.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kMaxModulus = 8;

// The empty class, single values and every class of a modulus up to 8.
std::vector<Congruence> Classes() {
  std::vector<Congruence> classes = {Congruence::Empty()};
  for (int64_t value = -5; value <= 5; ++value) classes.push_back(Congruence::Point(value));
  for (int64_t modulus = 1; modulus <= kMaxModulus; ++modulus) {
    for (int64_t residue = 0; residue < modulus; ++residue) {
      classes.push_back(Congruence::Of(residue, modulus));
    }
  }
  return classes;
}

// The elements in [-bound, bound].
std::vector<int64_t> ElementsUpTo(const Congruence& congruence, int64_t bound) {
  std::vector<int64_t> elements;
  for (int64_t x = -bound; x <= bound; ++x) {
    if (congruence.Contains(x)) elements.push_back(x);
  }
  return elements;
}

// The least class with these elements, by the definition: all differences are multiples of the
// modulus.
Congruence LeastClass(const std::set<int64_t>& values) {
  if (values.empty()) return Congruence::Empty();
  int64_t modulus = 0;
  for (const int64_t value : values) modulus = Gcd(modulus, value - *values.begin());
  return modulus == 0 ? Congruence::Point(*values.begin())
                      : Congruence::Of(*values.begin(), modulus);
}

// Every class repeats after 8*7*5*3 = 840 at most; 60 values to either side show it for the
// operations below, whose moduli divide products of two numbers up to 8.
constexpr int64_t kBound = 60;

Congruence ImageOf(const Congruence& congruence, const std::function<int64_t(int64_t)>& f) {
  std::set<int64_t> image;
  for (const int64_t x : ElementsUpTo(congruence, kBound)) image.insert(f(x));
  return LeastClass(image);
}

TEST(CongruenceTest, OneRepresentationForEachSet) {
  EXPECT_EQ(Congruence::Of(-1, 4), Congruence::Of(7, 4));
  EXPECT_EQ(Congruence::Of(5, 1), Congruence::All());
  EXPECT_NE(Congruence::Of(0, 2), Congruence::Of(0, 4));
  EXPECT_EQ(Congruence(), Congruence::Empty());
  EXPECT_EQ(Congruence::Of(kInt64Min, kInt64Max).residue(), kInt64Max - 1);
}

TEST(CongruenceTest, ContainsWhatTheDefinitionSays) {
  for (int64_t modulus = 1; modulus <= kMaxModulus; ++modulus) {
    for (int64_t residue = -9; residue <= 9; ++residue) {
      const Congruence congruence = Congruence::Of(residue, modulus);
      for (int64_t x = -30; x <= 30; ++x) {
        EXPECT_EQ(congruence.Contains(x), (x - residue) % modulus == 0) << congruence.ToString();
      }
    }
  }
}

TEST(CongruenceTest, ASubsetHasNoElementThatTheOtherDoesNotHave) {
  for (const Congruence& a : Classes()) {
    const std::vector<int64_t> elements = ElementsUpTo(a, kBound);
    for (const Congruence& b : Classes()) {
      bool is_subset = true;
      for (const int64_t x : elements) is_subset = is_subset && b.Contains(x);
      EXPECT_EQ(a.IsSubsetOf(b), is_subset) << a.ToString() << " in " << b.ToString();
    }
  }
}

TEST(CongruenceTest, IntersectIsTheChineseRemainderTheorem) {
  for (const Congruence& a : Classes()) {
    for (const Congruence& b : Classes()) {
      const Congruence both = a.Intersect(b);
      for (int64_t x = -kBound; x <= kBound; ++x) {
        EXPECT_EQ(both.Contains(x), a.Contains(x) && b.Contains(x))
            << x << " in " << a.ToString() << " and " << b.ToString();
      }
    }
  }
}

TEST(CongruenceTest, UnionIsTheLeastClassOfBoth) {
  for (const Congruence& a : Classes()) {
    for (const Congruence& b : Classes()) {
      std::set<int64_t> values;
      for (const int64_t x : ElementsUpTo(a, kBound)) values.insert(x);
      for (const int64_t x : ElementsUpTo(b, kBound)) values.insert(x);
      EXPECT_EQ(a.Union(b), LeastClass(values)) << a.ToString() << " or " << b.ToString();
    }
  }
}

TEST(CongruenceTest, AddIsTheLeastClassOfSums) {
  for (const Congruence& a : Classes()) {
    for (const Congruence& b : Classes()) {
      std::set<int64_t> sums;
      for (const int64_t x : ElementsUpTo(a, kBound)) {
        for (const int64_t y : ElementsUpTo(b, kBound)) sums.insert(x + y);
      }
      EXPECT_EQ(a.Add(b), LeastClass(sums)) << a.ToString() << " + " << b.ToString();
    }
  }
}

TEST(CongruenceTest, OperationsWithANumberGiveTheLeastClass) {
  for (const Congruence& a : Classes()) {
    for (int64_t n = -9; n <= 9; ++n) {
      EXPECT_EQ(a.Mul(n), ImageOf(a, [n](int64_t x) { return x * n; })) << a.ToString() << " " << n;
      if (n < 1) continue;
      EXPECT_EQ(a.FloorDiv(n), ImageOf(a, [n](int64_t x) { return FloorDiv(x, n); }))
          << a.ToString() << " " << n;
      EXPECT_EQ(a.Mod(n), ImageOf(a, [n](int64_t x) { return FloorMod(x, n); }))
          << a.ToString() << " " << n;
      const Congruence residues = ImageOf(a, [n](int64_t x) { return FloorMod(x, n); });
      EXPECT_EQ(a.ResidueModulo(n),
                residues.IsPoint() ? std::optional(residues.residue()) : std::nullopt)
          << a.ToString() << " " << n;
    }
  }
}

TEST(CongruenceTest, TightenGivesTheHullOfTheElementsInTheInterval) {
  for (const Congruence& a : Classes()) {
    for (int64_t lower = -12; lower <= 12; ++lower) {
      for (int64_t upper = lower; upper <= 12; ++upper) {
        Interval hull;
        for (int64_t x = lower; x <= upper; ++x) {
          if (a.Contains(x)) hull = hull.Union(Interval::Point(x));
        }
        EXPECT_EQ(a.Tighten(Interval::Closed(lower, upper)), hull) << a.ToString();
      }
    }
  }
  EXPECT_EQ(Congruence::Of(1, 4).Tighten(Interval::AtLeast(2)), Interval::AtLeast(5));
  EXPECT_EQ(Congruence::Of(1, 4).Tighten(Interval::AtMost(2)), Interval::AtMost(1));
  EXPECT_EQ(Congruence::Of(1, 4).Tighten(Interval::All()), Interval::All());
}

TEST(CongruenceTest, NumbersThatDoNotFitGiveAClassThatContainsTheResult) {
  const Congruence a = Congruence::Of(3, kInt64Max);
  const Congruence b = Congruence::Of(5, kInt64Max - 1);
  EXPECT_EQ(a.Intersect(b), a);  // the least common multiple does not fit
  EXPECT_EQ(a.Mul(6), Congruence::Of(0, 6));
  EXPECT_EQ(Congruence::Of(1, 2).Mul(kInt64Min), Congruence::All());
  EXPECT_EQ(Congruence::Point(kInt64Max).Add(1), Congruence::All());
  EXPECT_EQ(Congruence::Point(kInt64Max).Union(Congruence::Point(-2)), Congruence::All());
  EXPECT_EQ(Congruence::Point(kInt64Min).Mul(-1), Congruence::All());
  // No element between the greatest one that fits and the greatest int64.
  const Congruence sparse = Congruence::Of(0, kInt64Max - 1);
  EXPECT_EQ(sparse.Tighten(Interval::Closed(kInt64Max, kInt64Max)), Interval::Empty());
  EXPECT_EQ(sparse.Tighten(Interval::AtLeast(kInt64Max)), Interval::AtLeast(kInt64Max));
}

TEST(CongruenceTest, ToStringNamesResidueAndModulus) {
  EXPECT_EQ(Congruence::Of(-1, 4).ToString(), "3 mod 4");
  EXPECT_EQ(Congruence::Point(-7).ToString(), "-7");
  EXPECT_EQ(Congruence::Empty().ToString(), "[]");
}

}  // namespace
}  // namespace xla_indexing::internal
