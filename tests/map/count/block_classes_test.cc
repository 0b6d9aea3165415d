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

// {first, first + stride, .., last}
Progression Steps(int64_t first, int64_t last, int64_t stride) {
  return Progression::Of(Interval::Closed(first, last), Congruence::Of(first, stride));
}

ClassSizes Classes(const std::vector<Progression>& progressions) {
  StepBudget budget(kMaxCountingSteps);
  return ClassesOfProgressions(progressions, &budget).value_or(ClassSizes());
}

TEST(BlockClassesTest, ElementsFallIntoClassesByTheProgressionsThatHaveThem) {
  // {0, 2, 4, 6} and {3, 4, 5, 6}.
  EXPECT_THAT(Classes({Steps(0, 6, 2), Steps(3, 6, 1)}),
              ElementsAre(Pair(ImageMask{1}, 2), Pair(ImageMask{2}, 2), Pair(ImageMask{3}, 2)));
}

TEST(BlockClassesTest, ResiduesAreCountedAndNotElements) {
  // Multiples of 2 and of 3 below 6 * 10^12.
  EXPECT_THAT(Classes({Steps(0, 5999999999999, 2), Steps(0, 5999999999999, 3)}),
              ElementsAre(Pair(ImageMask{1}, 2000000000000), Pair(ImageMask{2}, 1000000000000),
                          Pair(ImageMask{3}, 1000000000000)));
}

TEST(BlockClassesTest, BothWaysToCountAgree) {
  const std::vector<Progression> progressions = {Steps(1, 19, 3), Steps(0, 16, 4), Steps(2, 10, 1)};
  std::vector<ImagePart> parts(progressions.size());
  std::vector<std::vector<const ImagePart*>> block;
  for (size_t i = 0; i < progressions.size(); ++i) {
    parts[i].results = {0};
    parts[i].progression = progressions[i];
    block.push_back({&parts[i]});
  }
  StepBudget budget(kMaxCountingSteps);
  EXPECT_EQ(ClassesOfElements(block, &budget), Classes(progressions));
  StepBudget few(10);
  EXPECT_EQ(ClassesOfElements(block, &few), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal
