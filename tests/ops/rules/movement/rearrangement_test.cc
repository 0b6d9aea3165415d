// Reshapes, bitcasts and concatenations at the edges of their definitions: dimensions of one
// element, no elements, tiles, padding and elements of another width. Expected maps are worked out
// by hand from the definitions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

using Sizes = std::vector<int64_t>;

int64_t CountOf(const Sizes& sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

// The index at a row-major position, last dimension first.
Sizes IndexAt(int64_t position, const Sizes& sizes) {
  Sizes index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    index[i] = i == 0 ? position : position % sizes[i];
    position /= sizes[i];
  }
  return index;
}

Sizes WithFirst(int64_t first, const Sizes& rest) {
  Sizes sizes = {first};
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sizes;
}

// Whatever the first size is at run time, the map is that of a reshape of that size.
TEST_F(RearrangementTest, ReshapeOfAnyFirstSizeIsExact) {
  const std::vector<Sizes> rests = {{},     {1},    {2},       {3},       {4},    {6},   {2, 3},
                                    {3, 2}, {4, 6}, {2, 2, 6}, {1, 3, 1}, {2, 1}, {8, 3}};
  for (const Sizes& from : rests) {
    for (const Sizes& to : rests) {
      std::string sizes;
      for (size_t i = 0; i <= to.size(); ++i) absl::StrAppend(&sizes, ", n");
      const HloInstruction* reshape = Entry(absl::StrCat(
          "a = f32[?", from.empty() ? "" : ",", absl::StrJoin(from, ","),
          "] parameter(0)\nn = s32[] parameter(1)\nROOT r = f32[?", to.empty() ? "" : ",",
          absl::StrJoin(to, ","), "] dynamic-reshape(a", sizes, ")"));
      const auto entries = ComputeIndexing(*reshape, Direction::kOutputToInput, &context_, {});
      ASSERT_TRUE(entries.ok()) << entries.status();
      const OperandIndexing& indexing = *entries->front().indexing.begin();
      ASSERT_TRUE(indexing.IsExact()) << reshape->ToString();
      for (int64_t first = 1; first <= 6; ++first) {
        const Sizes to_sizes = WithFirst(first, to);
        const Sizes from_sizes = WithFirst(1, from);  // The first has no part in positions.
        if (CountOf(to_sizes) % CountOf(from_sizes) != 0) continue;
        for (int64_t position = 0; position < CountOf(to_sizes); ++position) {
          const auto read = indexing.map().Evaluate(IndexAt(position, to_sizes), {});
          ASSERT_TRUE(read.ok()) << read.status();
          EXPECT_EQ(Sizes(read->begin(), read->end()), IndexAt(position, from_sizes))
              << reshape->ToString() << indexing.ToString() << position;
        }
      }
    }
  }
}

TEST_F(RearrangementTest, ReshapeOfAFirstSizeBehindOnes) {
  const HloInstruction* reshape = Entry(R"(
    a = f32[1,?,6] parameter(0)
    n = s32[] parameter(1)
    ROOT r = f32[?,2,3,1] dynamic-reshape(a, n, n, n, n))");
  EXPECT_THAT(OutputToInput(reshape)[0],
              HasSubstr("(d0, d1, d2, d3) -> (0, d0, d1 * 3 + d2), domain: d0 in [0, inf], d1 in "
                        "[0, 1], d2 in [0, 2], d3 in [0, 0]"));
  EXPECT_THAT(InputToOutput(reshape)[0],
              HasSubstr("(d0, d1, d2) -> (d1, d2 floordiv 3, d2 mod 3, 0), domain: d0 in [0, 0], "
                        "d1 in [0, inf], d2 in [0, 5]"));
}

TEST_F(RearrangementTest, ReshapeOfOtherSizesWithoutBoundReadsAll) {
  for (const char* text : {"a = f32[4,?] parameter(0)\nROOT r = f32[?,2] dynamic-reshape(a, n, n)",
                           "a = f32[?,4] parameter(0)\nROOT r = f32[2,?] dynamic-reshape(a, n, n)",
                           "a = f32[?,<=4] parameter(0)\nROOT r = f32[?] dynamic-reshape(a, n)",
                           "a = f32[?,?] parameter(0)\nROOT r = f32[?] dynamic-reshape(a, n)"}) {
    const auto maps = OutputToInput(Entry(absl::StrCat("n = s32[] parameter(1)\n", text)));
    ASSERT_FALSE(maps.empty());
    EXPECT_THAT(maps[0], HasSubstr("(over-approximate: whole ")) << text;
  }
  // Elements of the operand that the result, of 20, has no place for.
  const auto reached = InputToOutput(Entry(
      "a = f32[?,4] parameter(0)\nn = s32[] parameter(1)\nROOT r = f32[20] dynamic-reshape(a, n)"));
  ASSERT_FALSE(reached.empty());
  EXPECT_THAT(reached[0], HasSubstr("(over-approximate: whole "));
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
