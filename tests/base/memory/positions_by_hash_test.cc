#include "xla_indexing/base/memory/positions_by_hash.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/random.h"

namespace xla_indexing::internal {
namespace {

std::vector<size_t> Found(const PositionsByHash& positions, size_t hash) {
  const absl::Span<const size_t> found = positions.Find(hash);
  return {found.begin(), found.end()};
}

// Against a search of the whole list, as elements come and go.
TEST(PositionsByHashTest, AreThoseOfTheList) {
  Random random(1);
  PositionsByHash positions;
  std::vector<size_t> hashes;
  for (int i = 0; i < 2000; ++i) {
    if (hashes.empty() || !random.OneIn(3)) {
      hashes.push_back(static_cast<size_t>(random.Between(0, 9)) << 60);
      positions.Append(hashes.back());
    } else {
      const auto at =
          static_cast<size_t>(random.Between(0, static_cast<int64_t>(hashes.size()) - 1));
      positions.RemoveWithLast(at, hashes[at], hashes.back());
      hashes[at] = hashes.back();
      hashes.pop_back();
    }
    ASSERT_EQ(positions.size(), hashes.size());
    for (size_t hash = 0; hash < 10; ++hash) {
      std::vector<size_t> expected;
      for (size_t k = 0; k < hashes.size(); ++k) {
        if (hashes[k] == hash << 60) expected.push_back(k);
      }
      ASSERT_EQ(Found(positions, hash << 60), expected);
    }
  }
}

TEST(PositionsByHashTest, ACopyBeginsAnew) {
  PositionsByHash positions;
  positions.Append(7);
  PositionsByHash copy = positions;
  EXPECT_EQ(copy.size(), 0u);
  EXPECT_EQ(positions.size(), 1u);
  copy.Append(8);
  copy = positions;
  EXPECT_EQ(copy.size(), 0u);
  copy = std::move(positions);
  EXPECT_THAT(Found(copy, 7), testing::ElementsAre(0));
  copy.Clear();
  EXPECT_TRUE(Found(copy, 7).empty());
}

}  // namespace
}  // namespace xla_indexing::internal
