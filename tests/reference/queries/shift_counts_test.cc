// Counts of shifts, against all values of the variables.
#include "xla_indexing/gpu/requests/shift_counts.h"

#include <cstdint>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"

namespace xla_indexing::reference {
namespace {

using internal::kMaxCount;
using internal::MovingTerm;
using internal::ShiftCounts;

TEST(ShiftCountsTest, AreThoseOfAllValues) {
  const int cases = Cases(2000);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    Random random(i);
    const int64_t modulus = int64_t{1} << random.Between(0, 7);
    const int64_t factor = random.Between(1, 3);
    std::vector<MovingTerm> terms;
    const int64_t num_terms = random.Between(0, 3);
    std::map<int64_t, int64_t> expected = {{0, factor}};
    for (int v = 0; v < num_terms; ++v) {
      const int64_t lower = random.Between(-3, 3);
      const int64_t size = random.OneIn(2) ? random.Between(1, 5) : random.Between(1, 60);
      terms.push_back({v, random.Between(-70, 70), {lower, lower + size - 1}});
      std::map<int64_t, int64_t> sums;
      for (const auto& [shift, count] : expected) {
        for (int64_t x = 0; x < size; ++x) {
          const int64_t sum = shift + terms.back().coefficient * x;
          sums[(sum % modulus + modulus) % modulus] += count;
        }
      }
      expected = sums;
    }
    const ShiftCounts counts(terms, modulus, factor);
    int64_t total = 0;
    for (int64_t j = 0; j < counts.size(); ++j) {
      const int64_t shift = j * counts.granularity() % modulus;
      ASSERT_EQ(static_cast<int64_t>(counts.CountAt(j)), expected[shift]) << shift;
      total += expected[shift];
      if (expected[shift] == 0) continue;
      llvm::SmallVector<int64_t, 4> values;
      for (const MovingTerm& term : terms) values.push_back(term.values.lower);
      counts.FindValues(j, &values);
      int64_t sum = -shift;
      for (const MovingTerm& term : terms) {
        ASSERT_LE(term.values.lower, values[term.variable]);
        ASSERT_LE(values[term.variable], term.values.upper);
        sum += term.coefficient * (values[term.variable] - term.values.lower);
      }
      EXPECT_EQ(sum % modulus, 0);
    }
    EXPECT_EQ(static_cast<int64_t>(counts.Total()), total);
  }
}

TEST(ShiftCountsTest, TooManyStayTooMany) {
  const int64_t most = int64_t{1} << 62;
  const std::vector<MovingTerm> terms = {{0, 8, {0, most}}, {1, 16, {-most, most}}};
  const ShiftCounts counts(terms, 64);
  EXPECT_TRUE(counts.Total() == kMaxCount);
  EXPECT_TRUE(counts.CountAt(1) == kMaxCount);
}

}  // namespace
}  // namespace xla_indexing::reference
