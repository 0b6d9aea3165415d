#include "xla_indexing/fusion/walk/small_map.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing::internal {
namespace {

TEST(SmallMap, IsInTheOrderOfTheNumbers) {
  SmallMap<std::string> map;
  EXPECT_TRUE(map.empty());
  for (const int64_t number : {5, -1, 9, 9, 0, 5}) map[number] += std::to_string(number);
  EXPECT_FALSE(map.empty());
  EXPECT_EQ(map.size(), 4U);
  std::vector<int64_t> numbers;
  std::vector<std::string> values;
  for (const auto& [number, value] : map) {
    numbers.push_back(number);
    values.push_back(value);
  }
  EXPECT_EQ(numbers, (std::vector<int64_t>{-1, 0, 5, 9}));
  EXPECT_EQ(values, (std::vector<std::string>{"-1", "0", "55", "99"}));
}

TEST(SmallMap, HoldsWhatCanOnlyBeMoved) {
  SmallMap<std::unique_ptr<int>> map;
  for (int number = 20; number-- > 0;) map[number] = std::make_unique<int>(number);
  const SmallMap<std::unique_ptr<int>> moved = std::move(map);
  int expected = 0;
  for (const auto& [number, value] : moved) {
    EXPECT_EQ(number, expected);
    EXPECT_EQ(*value, expected++);
  }
  EXPECT_EQ(expected, 20);
}

}  // namespace
}  // namespace xla_indexing::internal
