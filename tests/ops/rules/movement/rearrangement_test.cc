// Reshapes, bitcasts and concatenations at the edges of their definitions: dimensions of one
// element, no elements, tiles, padding and elements of another width. Expected maps are worked out
// by hand from the definitions.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RearrangementTest : public IndexingTest {};

TEST_F(RearrangementTest, ReshapeKeepsDimensionsThatBothShapesHave) {
  const HloInstruction* reshape = Entry(R"(
    a = f32[1,6,4] parameter(0)
    ROOT r = f32[1,2,3,4] reshape(a))");
  EXPECT_THAT(OutputToInput(reshape),
              ElementsAre("0.0.0 (d0, d1, d2, d3) -> (d0, d1 * 3 + d2, d3), domain: "
                          "d0 in [0, 0], d1 in [0, 1], d2 in [0, 2], d3 in [0, 3]"));
}

TEST_F(RearrangementTest, ReshapeAddsAndDropsDimensionsOfOneElement) {
  const HloInstruction* expand = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = f32[1,4,1] reshape(a))");
  EXPECT_THAT(OutputToInput(expand),
              ElementsAre("0.0.0 (d0, d1, d2) -> (d1), domain: d0 in [0, 0], d1 in [0, 3], "
                          "d2 in [0, 0]"));
  EXPECT_THAT(InputToOutput(expand), ElementsAre("0.0.0 (d0) -> (0, d0, 0), domain: d0 in [0, 3]"));
  const HloInstruction* scalar = Entry(R"(
    a = f32[1,1] parameter(0)
    ROOT r = f32[] reshape(a))");
  EXPECT_THAT(OutputToInput(scalar), ElementsAre("0.0.0 () -> (0, 0)"));
  EXPECT_THAT(InputToOutput(scalar),
              ElementsAre("0.0.0 (d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 0]"));
}

TEST_F(RearrangementTest, ReshapeOfNothingReadsNothing) {
  const HloInstruction* reshape = Entry(R"(
    a = f32[0,4] parameter(0)
    ROOT r = f32[3,0,5] reshape(a))");
  EXPECT_THAT(OutputToInput(reshape), IsEmpty());
}

TEST_F(RearrangementTest, BitcastFollowsTheLayouts) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[4,8]{1,0} parameter(0)
    ROOT r = f32[8,4]{0,1} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]"));
  const HloInstruction* split = Entry(R"(
    a = f32[4,8]{0,1} parameter(0)
    ROOT r = f32[32]{0} bitcast(a))");
  EXPECT_THAT(OutputToInput(split),
              ElementsAre("0.0.0 (d0) -> (d0 mod 4, d0 floordiv 4), domain: d0 in [0, 31]"));
  EXPECT_THAT(InputToOutput(split),
              ElementsAre("0.0.0 (d0, d1) -> (d0 + d1 * 4), domain: d0 in [0, 3], d1 in [0, 7]"));
}

TEST_F(RearrangementTest, BitcastGroupsElementsOfAnotherWidth) {
  const HloInstruction* narrow = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = u8[16] bitcast(a))");
  EXPECT_THAT(OutputToInput(narrow),
              ElementsAre("0.0.0 (d0) -> (d0 floordiv 4), domain: d0 in [0, 15]"));
  EXPECT_THAT(InputToOutput(narrow), ElementsAre("0.0.0 (d0)[s0] -> (d0 * 4 + s0), domain: "
                                                 "d0 in [0, 3], s0 in [0, 3]"));
}

TEST_F(RearrangementTest, BitcastOfOneTileIsAReshape) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[8,128]{1,0:T(8,128)} parameter(0)
    ROOT r = f32[1024]{0:T(1024)} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0) -> (d0 floordiv 128, d0 mod 128), domain: d0 in [0, 1023]"));
  EXPECT_THAT(
      InputToOutput(bitcast),
      ElementsAre("0.0.0 (d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 7], d1 in [0, 127]"));
}

// Rows of tiles are the same rows with one more dimension before them.
TEST_F(RearrangementTest, BitcastThatSplitsADimensionBetweenTilesIsAReshape) {
  const HloInstruction* bitcast = Entry(R"(
    a = bf16[16,128]{1,0:T(8,128)(2,1)} parameter(0)
    ROOT r = bf16[2,8,128]{2,1,0:T(8,128)(2,1)S(1)} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0, d1, d2) -> (d0 * 8 + d1, d2), domain: d0 in [0, 1], "
                          "d1 in [0, 7], d2 in [0, 127]"));
  EXPECT_THAT(InputToOutput(bitcast),
              ElementsAre("0.0.0 (d0, d1) -> (d0 floordiv 8, d0 mod 8, d1), domain: "
                          "d0 in [0, 15], d1 in [0, 127]"));
}

// Columns 500 to 511 are padding on both sides.
TEST_F(RearrangementTest, BitcastOfPaddedTilesExchangesTheDimensions) {
  const HloInstruction* bitcast = Entry(R"(
    a = bf16[64,500]{1,0:T(8,128)(2,1)} parameter(0)
    ROOT r = bf16[1,500,64]{1,2,0:T(8,128)(2,1)} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0, d1, d2) -> (d2, d1), domain: d0 in [0, 0], d1 in [0, 499], "
                          "d2 in [0, 63]"));
  EXPECT_THAT(InputToOutput(bitcast),
              ElementsAre("0.0.0 (d0, d1) -> (0, d1, d0), domain: d0 in [0, 63], d1 in [0, 499]"));
}

// A buffer of 8: places 5 to 7 are elements of the result and of nothing before it.
TEST_F(RearrangementTest, ElementsThatABitcastPutsInPaddingReadNothing) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[5]{0:T(8)} parameter(0)
    ROOT r = f32[8]{0} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(bitcast), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 4]"));
}

// The second tile puts two bf16 of one column side by side, which is where the bits of an f32 are.
TEST_F(RearrangementTest, BitcastToWidePairsOfRows) {
  const HloInstruction* bitcast = Entry(R"(
    a = bf16[16,128]{1,0:T(16,128)(2,1)} parameter(0)
    ROOT r = f32[8,128]{1,0:T(8,128)} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0 * 2 + s0, d1), domain: d0 in [0, 7], "
                          "d1 in [0, 127], s0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(bitcast), ElementsAre("0.0.0 (d0, d1) -> (d0 floordiv 2, d1), domain: "
                                                  "d0 in [0, 15], d1 in [0, 127]"));
}

TEST_F(RearrangementTest, BitcastOfOtherLayoutsSaysThatItIsTooLarge) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[2,2]{1,0:SC(0:1)} parameter(0)
    ROOT r = f32[4]{0} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 1], s1 "
                          "in [0, 1]  (over-approximate: whole tensor: a bitcast of a layout that "
                          "is sparse, split or has a prefix)"));
}

TEST_F(RearrangementTest, BitcastConvertGroupsTheLastDimension) {
  const HloInstruction* narrow = Entry(R"(
    a = f32[5] parameter(0)
    ROOT r = f16[5,2] bitcast-convert(a))");
  EXPECT_THAT(OutputToInput(narrow),
              ElementsAre("0.0.0 (d0, d1) -> (d0), domain: d0 in [0, 4], d1 in [0, 1]"));
  EXPECT_THAT(InputToOutput(narrow),
              ElementsAre("0.0.0 (d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 1]"));
}

TEST_F(RearrangementTest, ConcatenateSkipsOperandsWithoutElements) {
  const HloInstruction* concatenate = Entry(R"(
    a = f32[2] parameter(0)
    b = f32[0] parameter(1)
    c = f32[3] parameter(2)
    ROOT r = f32[5] concatenate(a, b, c), dimensions={0})");
  EXPECT_THAT(OutputToInput(concatenate),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                          "0.2.0 (d0) -> (d0 - 2), domain: d0 in [2, 4]"));
  EXPECT_THAT(InputToOutput(concatenate),
              ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                          "0.2.0 (d0) -> (d0 + 2), domain: d0 in [0, 2]"));
}

}  // namespace
}  // namespace xla_indexing::internal
