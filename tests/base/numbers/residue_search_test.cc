#include "xla_indexing/base/numbers/residue_search.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

TEST(ResidueSearchTest, AllSmallParameters) {
  for (int64_t modulus = 1; modulus <= 9; ++modulus) {
    for (int64_t factor = -modulus - 1; factor <= modulus + 1; ++factor) {
      for (int64_t offset = -3; offset <= 3; ++offset) {
        for (int64_t lower = 0; lower < modulus; ++lower) {
          for (int64_t upper = lower; upper < modulus; ++upper) {
            for (int64_t first = -5; first <= 5; ++first) {
              const int64_t last = first + 11;
              Interval expected = Interval::Empty();
              for (int64_t x = first; x <= last; ++x) {
                const int64_t residue = FloorMod(factor * x + offset, modulus);
                if (lower <= residue && residue <= upper) {
                  expected = expected.Union(Interval::Point(x));
                }
              }
              const LinearResidues residues{factor, offset, modulus, lower, upper};
              ASSERT_EQ(TightenToResidues(Interval::Closed(first, last), residues), expected)
                  << factor << " * x + " << offset << " mod " << modulus << " in [" << lower << ", "
                  << upper << "], x from " << first;
            }
          }
        }
      }
    }
  }
}

TEST(ResidueSearchTest, LargeNumbersTakeNoLonger) {
  // 3 * x mod m for m = 2^63 - 1: the residue m - 1 is that of x with 3 * x = 2 * m - 1 + ..; of
  // multiples of 3 below m, the greatest is m - 1 (m = 1 mod 3).
  const int64_t m = kInt64Max;
  ASSERT_EQ(m % 3, 1);
  EXPECT_EQ(TightenToResidues(Interval::Closed(0, m), {3, 0, m, m - 1, m - 1}),
            Interval::Point(m / 3));
}

TEST(ResidueSearchTest, InfiniteEndsStay) {
  EXPECT_EQ(TightenToResidues(Interval::All(), {2, 0, 4, 1, 1}), Interval::All());
  EXPECT_EQ(TightenToResidues(Interval::AtLeast(0), {2, 0, 4, 1, 1}), Interval::Empty());
  EXPECT_EQ(TightenToResidues(Interval::AtLeast(1), {3, 0, 7, 0, 0}), Interval::AtLeast(7));
  // The greatest int64 is no solution, although one lies beyond it.
  EXPECT_EQ(TightenToResidues(Interval::AtLeast(kInt64Max), {1, 0, 2, 0, 0}),
            Interval::AtLeast(kInt64Max));
  EXPECT_EQ(TightenToResidues(Interval::Closed(kInt64Max, kInt64Max), {1, 0, 2, 0, 0}),
            Interval::Empty());
}

}  // namespace
}  // namespace xla_indexing::internal
