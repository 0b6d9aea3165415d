#include "xla_indexing/fusion/walk/pending_paths.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include "gtest/gtest.h"

namespace xla_indexing::internal {
namespace {

// The leaves by position, as a map keeps them.
using LeavesByPosition = std::map<int64_t, std::set<int64_t>>;

std::set<int64_t> LeavesOf(const LeafPaths& paths) {
  std::set<int64_t> leaves;
  for (const auto& [leaf, set] : paths) leaves.insert(leaf);
  return leaves;
}

LeavesByPosition AllOf(const PendingPaths& pending) {
  LeavesByPosition all;
  pending.ForEach([&](int64_t position, const LeafPaths& paths) {
    EXPECT_TRUE(all.emplace(position, LeavesOf(paths)).second);
  });
  return all;
}

TEST(PendingPaths, AreTakenFromBothEndsInTheOrderOfTheirPositions) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    PendingPaths pending;
    LeavesByPosition expected;
    for (int step = 0; step < 100; ++step) {
      ASSERT_EQ(pending.empty(), expected.empty());
      ASSERT_EQ(AllOf(pending), expected);
      if (expected.empty() || random() % 2 == 0) {
        const auto position = static_cast<int64_t>(random() % 200);
        const auto leaf = static_cast<int64_t>(random() % 3);
        pending[position];
        expected[position];
        if (random() % 4 == 0) continue;
        pending[position][leaf];
        expected[position].insert(leaf);
        continue;
      }
      const bool is_last = random() % 2 == 0;
      const auto [position, paths] = is_last ? pending.TakeLast() : pending.TakeFirst();
      const auto end = is_last ? std::prev(expected.end()) : expected.begin();
      ASSERT_EQ(position, end->first);
      ASSERT_EQ(LeavesOf(paths), end->second);
      expected.erase(end);
    }
  }
}

TEST(PendingPaths, AreGoneWithTheWalkThatHasNotTakenThem) {
  {
    PendingPaths stopped;
    stopped[3][0];
    stopped[70][1];
  }
  PendingPaths pending;
  EXPECT_TRUE(pending.empty());
  pending[5][0];
  EXPECT_EQ(AllOf(pending), (LeavesByPosition{{5, {0}}}));
  EXPECT_TRUE(pending[3].empty());
  EXPECT_TRUE(pending[70].empty());
}

TEST(PendingPaths, OfTwoWalksAreApart) {
  PendingPaths outer;
  outer[3][0];
  PendingPaths inner;
  inner[3][1];
  EXPECT_EQ(AllOf(outer), (LeavesByPosition{{3, {0}}}));
  EXPECT_EQ(AllOf(inner), (LeavesByPosition{{3, {1}}}));
}

}  // namespace
}  // namespace xla_indexing::internal
