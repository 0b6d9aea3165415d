#include "xla_indexing/map/count/block_classes.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/map/count/count_image.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

ClassSizes Classes(std::vector<StridedRange> ranges) {
  StepBudget budget(kMaxCountingSteps);
  return ClassesOfRanges(ranges, &budget).value_or(ClassSizes());
}

TEST(BlockClassesTest, ElementsFallIntoClassesByTheRangesThatHaveThem) {
  // {0, 2, 4, 6} and {3, 4, 5, 6}.
  EXPECT_THAT(Classes({{0, 4, 2}, {3, 4, 1}}),
              ElementsAre(Pair(ImageMask{1}, 2), Pair(ImageMask{2}, 2), Pair(ImageMask{3}, 2)));
}

TEST(BlockClassesTest, ResiduesAreCountedAndNotElements) {
  // Multiples of 2 and of 3 below 6 * 10^12.
  EXPECT_THAT(Classes({{0, 3000000000000, 2}, {0, 2000000000000, 3}}),
              ElementsAre(Pair(ImageMask{1}, 2000000000000), Pair(ImageMask{2}, 1000000000000),
                          Pair(ImageMask{3}, 1000000000000)));
}

TEST(BlockClassesTest, BothWaysToCountAgree) {
  const std::vector<StridedRange> ranges = {{1, 7, 3}, {0, 5, 4}, {2, 9, 1}};
  std::vector<ImagePart> parts(ranges.size());
  std::vector<std::vector<const ImagePart*>> block;
  for (size_t i = 0; i < ranges.size(); ++i) {
    parts[i].results = {0};
    parts[i].range = ranges[i];
    block.push_back({&parts[i]});
  }
  StepBudget budget(kMaxCountingSteps);
  EXPECT_EQ(ClassesOfElements(block, &budget), Classes(ranges));
  StepBudget few(10);
  EXPECT_EQ(ClassesOfElements(block, &few), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal
