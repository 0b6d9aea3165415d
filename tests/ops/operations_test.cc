// Edges of the operations' maps that the indexing document has no example of; expected maps worked
// out by hand from the definitions.

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/internal/fold_runtime.h"
#include "xla_indexing/ops/internal/instruction_indexing.h"
#include "xla_indexing/ops/internal/map_builder.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OperationsTest : public IndexingTest {};

// Elementwise.

TEST_F(OperationsTest, ScalarPredicateOfSelectIsReadByEveryElement) {
  const HloInstruction* select = Entry(R"(
    p = pred[] parameter(0)
    a = f32[4,1] parameter(1)
    b = f32[4,1] parameter(2)
    ROOT r = f32[4,1] select(p, a, b))");
  const std::string identity = "(d0, d1) -> (d0, d1), domain: d0 in [0, 3], d1 in [0, 0]";
  EXPECT_THAT(OutputToInput(select),
              ElementsAre("0.0.0 (d0, d1) -> (), domain: d0 in [0, 3], d1 in [0, 0]",
                          "0.1.0 " + identity, "0.2.0 " + identity));
  EXPECT_THAT(InputToOutput(select), ElementsAre("0.0.0 ()[s0] -> (s0, 0), domain: s0 in [0, 3]",
                                                 "0.1.0 " + identity, "0.2.0 " + identity));
}

TEST_F(OperationsTest, ScalarBoundsOfClampAreReadByEveryElement) {
  const HloInstruction* clamp = Entry(R"(
    lo = f32[] parameter(0)
    a = f32[4] parameter(1)
    hi = f32[4] parameter(2)
    ROOT r = f32[4] clamp(lo, a, hi))");
  EXPECT_THAT(OutputToInput(clamp), ElementsAre("0.0.0 (d0) -> (), domain: d0 in [0, 3]",
                                                "0.1.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.2.0 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(InputToOutput(clamp), ElementsAre("0.0.0 ()[s0] -> (s0), domain: s0 in [0, 3]",
                                                "0.1.0 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "0.2.0 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(OperationsTest, ScalarsHaveNoVariables) {
  const HloInstruction* add = Entry(R"(
    a = f32[] parameter(0)
    ROOT r = f32[] add(a, a))");
  EXPECT_THAT(OutputToInput(add), ElementsAre("0.0.0 () -> ()", "0.1.0 () -> ()"));
}

TEST_F(OperationsTest, NothingIsReadForNoElements) {
  const HloInstruction* add = Entry(R"(
    a = f32[0,4] parameter(0)
    ROOT r = f32[0,4] add(a, a))");
  EXPECT_THAT(OutputToInput(add), IsEmpty());
  EXPECT_THAT(InputToOutput(add), IsEmpty());
}

TEST_F(OperationsTest, BoundedDimensionsAreIndexedAtTheirBound) {
  const HloInstruction* negate = Entry(R"(
    a = f32[<=7] parameter(0)
    ROOT r = f32[<=7] negate(a))");
  EXPECT_THAT(OutputToInput(negate), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 6]"));
}

TEST_F(OperationsTest, UnboundedDimensionsAreIndexedWithoutEnd) {
  const HloInstruction* negate = Entry(R"(
    a = f32[?,2] parameter(0)
    ROOT r = f32[?,2] negate(a))");
  EXPECT_THAT(OutputToInput(negate),
              ElementsAre("0.0.0 (d0, d1) -> (d0, d1), domain: d0 in [0, inf], d1 in [0, 1]"));
}

TEST_F(OperationsTest, HugeDimensionsAreExact) {
  const HloInstruction* reverse = Entry(R"(
    a = pred[9223372036854775807] parameter(0)
    ROOT r = pred[9223372036854775807] reverse(a), dimensions={0})");
  EXPECT_THAT(OutputToInput(reverse),
              ElementsAre("0.0.0 (d0) -> (-d0 + 9223372036854775806), domain: "
                          "d0 in [0, 9223372036854775806]"));
}

// Shape changes.

TEST_F(OperationsTest, ReshapeKeepsDimensionsThatBothShapesHave) {
  const HloInstruction* reshape = Entry(R"(
    a = f32[1,6,4] parameter(0)
    ROOT r = f32[1,2,3,4] reshape(a))");
  EXPECT_THAT(OutputToInput(reshape),
              ElementsAre("0.0.0 (d0, d1, d2, d3) -> (d0, d1 * 3 + d2, d3), domain: "
                          "d0 in [0, 0], d1 in [0, 1], d2 in [0, 2], d3 in [0, 3]"));
}

TEST_F(OperationsTest, ReshapeAddsAndDropsDimensionsOfOneElement) {
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

TEST_F(OperationsTest, ReshapeOfNothingReadsNothing) {
  const HloInstruction* reshape = Entry(R"(
    a = f32[0,4] parameter(0)
    ROOT r = f32[3,0,5] reshape(a))");
  EXPECT_THAT(OutputToInput(reshape), IsEmpty());
}

TEST_F(OperationsTest, BitcastFollowsTheLayouts) {
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

TEST_F(OperationsTest, BitcastGroupsElementsOfAnotherWidth) {
  const HloInstruction* narrow = Entry(R"(
    a = f32[4] parameter(0)
    ROOT r = u8[16] bitcast(a))");
  EXPECT_THAT(OutputToInput(narrow),
              ElementsAre("0.0.0 (d0) -> (d0 floordiv 4), domain: d0 in [0, 15]"));
  EXPECT_THAT(InputToOutput(narrow), ElementsAre("0.0.0 (d0)[s0] -> (d0 * 4 + s0), domain: "
                                                 "d0 in [0, 3], s0 in [0, 3]"));
}

TEST_F(OperationsTest, BitcastOfOneTileIsAReshape) {
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
TEST_F(OperationsTest, BitcastThatSplitsADimensionBetweenTilesIsAReshape) {
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
TEST_F(OperationsTest, BitcastOfPaddedTilesExchangesTheDimensions) {
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
TEST_F(OperationsTest, ElementsThatABitcastPutsInPaddingReadNothing) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[5]{0:T(8)} parameter(0)
    ROOT r = f32[8]{0} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(bitcast), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 4]"));
}

// The second tile puts two bf16 of one column side by side, which is where the bits of an f32 are.
TEST_F(OperationsTest, BitcastToWidePairsOfRows) {
  const HloInstruction* bitcast = Entry(R"(
    a = bf16[16,128]{1,0:T(16,128)(2,1)} parameter(0)
    ROOT r = f32[8,128]{1,0:T(8,128)} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0 * 2 + s0, d1), domain: d0 in [0, 7], "
                          "d1 in [0, 127], s0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(bitcast), ElementsAre("0.0.0 (d0, d1) -> (d0 floordiv 2, d1), domain: "
                                                  "d0 in [0, 15], d1 in [0, 127]"));
}

TEST_F(OperationsTest, BitcastOfOtherLayoutsSaysThatItIsTooLarge) {
  const HloInstruction* bitcast = Entry(R"(
    a = f32[2,2]{1,0:SC(0:1)} parameter(0)
    ROOT r = f32[4]{0} bitcast(a))");
  EXPECT_THAT(OutputToInput(bitcast),
              ElementsAre("0.0.0 (d0)[s0, s1] -> (s0, s1), domain: d0 in [0, 3], s0 in [0, 1], s1 "
                          "in [0, 1]  (over-approximate: whole tensor: a bitcast of a layout that "
                          "is sparse, split or has a prefix)"));
}

TEST_F(OperationsTest, BitcastConvertGroupsTheLastDimension) {
  const HloInstruction* narrow = Entry(R"(
    a = f32[5] parameter(0)
    ROOT r = f16[5,2] bitcast-convert(a))");
  EXPECT_THAT(OutputToInput(narrow),
              ElementsAre("0.0.0 (d0, d1) -> (d0), domain: d0 in [0, 4], d1 in [0, 1]"));
  EXPECT_THAT(InputToOutput(narrow),
              ElementsAre("0.0.0 (d0)[s0] -> (d0, s0), domain: d0 in [0, 4], s0 in [0, 1]"));
}

TEST_F(OperationsTest, ConcatenateSkipsOperandsWithoutElements) {
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

// Contractions.

TEST_F(OperationsTest, DotPlacesDimensionsByTheirNumbers) {
  const HloInstruction* dot = Entry(R"(
    a = f32[2,3,4,5,6] parameter(0)
    b = f32[6,7,4,2] parameter(1)
    ROOT r = f32[4,2,3,5,7] dot(a, b), lhs_batch_dims={2,0}, rhs_batch_dims={2,3},
      lhs_contracting_dims={4}, rhs_contracting_dims={0})");
  const std::string dims = "d0 in [0, 3], d1 in [0, 1], d2 in [0, 2], d3 in [0, 4], d4 in [0, 6]";
  EXPECT_THAT(OutputToInput(dot),
              ElementsAre("0.0.0 (d0, d1, d2, d3, d4)[s0] -> (d1, d2, d0, d3, s0), domain: " +
                              dims + ", s0 in [0, 5]",
                          "0.1.0 (d0, d1, d2, d3, d4)[s0] -> (s0, d4, d0, d1), domain: " + dims +
                              ", s0 in [0, 5]"));
  EXPECT_THAT(InputToOutput(dot),
              ElementsAre("0.0.0 (d0, d1, d2, d3, d4)[s0] -> (d2, d0, d1, d3, s0), domain: "
                          "d0 in [0, 1], d1 in [0, 2], d2 in [0, 3], d3 in [0, 4], d4 in [0, 5], "
                          "s0 in [0, 6]",
                          "0.1.0 (d0, d1, d2, d3)[s0, s1] -> (d2, d3, s0, s1, d1), domain: "
                          "d0 in [0, 5], d1 in [0, 6], d2 in [0, 3], d3 in [0, 1], s0 in [0, 2], "
                          "s1 in [0, 4]"));
}

TEST_F(OperationsTest, ReduceOfOneElementMakesNoRangeVariable) {
  const HloInstruction* reduce = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[1,4,0] parameter(0)
      q = f32[1,4] parameter(1)
      i = f32[] constant(0)
      a = f32[4] reduce(p, i), dimensions={0,2}, to_apply=add
      b = f32[4] reduce(q, i), dimensions={0}, to_apply=add
      ROOT r = (f32[4], f32[4]) tuple(a, b)
    })");
  // Nothing is reduced, and only the initial value read.
  EXPECT_THAT(OutputToInput(reduce->operand(0)),
              ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
  EXPECT_THAT(OutputToInput(reduce->operand(1)),
              ElementsAre("0.0.0 (d0) -> (0, d0), domain: d0 in [0, 3]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 3]"));
}

TEST_F(OperationsTest, ReduceWindowMeetsOnlyElementsOfTheOperand) {
  const HloInstruction* reduce_window = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[10] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[6] reduce-window(p, i), window={size=3 stride=2 pad=2_1}, to_apply=add
    })");
  EXPECT_THAT(OutputToInput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> (d0 * 2 + s0 - 2), domain: d0 in [0, 5], "
                          "s0 in [0, 2], d0 * 2 + s0 - 2 in [0, 9]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 5]"));
  EXPECT_THAT(InputToOutput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> ((d0 - s0) floordiv 2 + 1), domain: d0 in [0, 9], "
                          "s0 in [0, 2], d0 - s0 + 2 in [0, 10], (d0 - s0) mod 2 in [0, 0]",
                          "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 5]"));
}

TEST_F(OperationsTest, ReduceWindowWithBothDilations) {
  const HloInstruction* reduce_window = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[8] reduce-window(p, i), window={size=2 lhs_dilate=3 rhs_dilate=2},
        to_apply=add
    })");
  // The dilated operand has ten elements; a window covers three of them.
  EXPECT_THAT(OutputToInput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> ((d0 + s0 * 2) floordiv 3), domain: d0 in [0, 7], "
                          "s0 in [0, 1], (d0 + s0 * 2) mod 3 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 7]"));
  EXPECT_THAT(InputToOutput(reduce_window),
              ElementsAre("0.0.0 (d0)[s0] -> (d0 * 3 - s0 * 2), domain: d0 in [0, 3], "
                          "s0 in [0, 1], d0 * 3 - s0 * 2 in [0, 7]",
                          "0.1.0 ()[s0] -> (s0), domain: s0 in [0, 7]"));
}

// Pad.

TEST_F(OperationsTest, PadValueInDisjointPieces) {
  const HloInstruction* pad = Entry(R"(
    a = f32[4,4] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[12,16] pad(a, v), padding=1_4_1x4_8_0)");
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], "
                          "d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [0, 0], d1 in [0, 15]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [8, 11], d1 in [0, 15]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [0, 15], "
                          "(d0 - 1) mod 2 in [1, 1]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [0, 3], "
                          "(d0 - 1) mod 2 in [0, 0]",
                          "0.1.0 (d0, d1) -> (), domain: d0 in [1, 7], d1 in [8, 15], "
                          "(d0 - 1) mod 2 in [0, 0]"));
  EXPECT_THAT(InputToOutput(pad, Exact()),
              ElementsAre("0.0.0 (d0, d1) -> (d0 * 2 + 1, d1 + 4), domain: d0 in [0, 3], "
                          "d1 in [0, 3]",
                          "0.1.0 ()[s0] -> (0, s0), domain: s0 in [0, 15]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [8, 11], s1 in [0, 15]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [0, 15], "
                          "(s0 - 1) mod 2 in [1, 1]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [0, 3], "
                          "(s0 - 1) mod 2 in [0, 0]",
                          "0.1.0 ()[s0, s1] -> (s0, s1), domain: s0 in [1, 7], s1 in [8, 15], "
                          "(s0 - 1) mod 2 in [0, 0]"));
}

TEST_F(OperationsTest, NegativePaddingTakesElementsAway) {
  const HloInstruction* pad = Entry(R"(
    a = f32[10] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=-2_-3)");
  // Nothing is padded, so that nothing reads the value.
  EXPECT_THAT(OutputToInput(pad), ElementsAre("0.0.0 (d0) -> (d0 + 2), domain: d0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(pad), ElementsAre("0.0.0 (d0) -> (d0 - 2), domain: d0 in [2, 6]"));
}

TEST_F(OperationsTest, NegativeAndInteriorPadding) {
  const HloInstruction* pad = Entry(R"(
    a = f32[4] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=-2_-3_2)");
  // Elements at -2, 1, 4 and 7 of the result, of which the second and third are in it.
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0) -> ((d0 + 2) floordiv 3), domain: d0 in [0, 4], "
                          "(d0 + 2) mod 3 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 4], (d0 + 2) mod 3 in [1, 2]"));
  EXPECT_THAT(InputToOutput(pad).at(0), "0.0.0 (d0) -> (d0 * 3 - 2), domain: d0 in [1, 2]");
}

TEST_F(OperationsTest, PaddingThatTakesAllElementsAwayIsTheValueEverywhere) {
  // In the second, elements stand at -1 and 5.
  for (const char* text : {"p = f32[3] parameter(0) v = f32[] parameter(1) "
                           "ROOT r = f32[5] pad(p, v), padding=-3_5",
                           "p = f32[2] parameter(0) v = f32[] parameter(1) "
                           "ROOT r = f32[5] pad(p, v), padding=-1_-1_5"}) {
    const HloInstruction* pad = Root(absl::StrCat("ENTRY e { ", text, " }"));
    EXPECT_THAT(OutputToInput(pad), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
    EXPECT_THAT(InputToOutput(pad), ElementsAre("0.1.0 ()[s0] -> (s0), domain: s0 in [0, 4]"));
  }
}

TEST_F(OperationsTest, PaddingOfNothingIsTheValueEverywhere) {
  const HloInstruction* pad = Entry(R"(
    a = f32[0] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=2_3)");
  EXPECT_THAT(OutputToInput(pad), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
  EXPECT_THAT(OutputToInput(pad, Exact()), ElementsAre("0.1.0 (d0) -> (), domain: d0 in [0, 4]"));
}

// The one element stands at 2; the step to the next, which there is not, would be 2^63.
TEST_F(OperationsTest, PaddingBetweenElementsOfWhichThereIsOne) {
  const HloInstruction* pad = Entry(R"(
    a = f32[1] parameter(0)
    v = f32[] parameter(1)
    ROOT r = f32[5] pad(a, v), padding=2_2_9223372036854775807)");
  EXPECT_THAT(OutputToInput(pad, Exact()),
              ElementsAre("0.0.0 (d0) -> ((d0 - 2) floordiv 9223372036854775807), domain: d0 in "
                          "[2, 2], (d0 - 2) mod 9223372036854775807 in [0, 0]",
                          "0.1.0 (d0) -> (), domain: d0 in [0, 1]",
                          "0.1.0 (d0) -> (), domain: d0 in [3, 4]"));
}

// Slices at runtime indices.

TEST_F(OperationsTest, StartsOfDynamicSliceInOneVector) {
  const HloInstruction* slice = Entry(R"(
    a = f32[8,9] parameter(0)
    starts = s32[2] parameter(1)
    ROOT r = f32[2,3] dynamic-slice(a, starts), dynamic_slice_sizes={2,3})");
  EXPECT_THAT(OutputToInput(slice),
              ElementsAre("0.0.0 (d0, d1){rt0, rt1} -> (d0 + rt0, d1 + rt1), domain: d0 in [0, 1], "
                          "d1 in [0, 2], rt0 in [0, 6], rt1 in [0, 6]\n"
                          "  rt0: starts, clamp [0, 6]; (d0, d1) -> (0), domain: d0 in [0, 1], "
                          "d1 in [0, 2]\n"
                          "  rt1: starts, clamp [0, 6]; (d0, d1) -> (1), domain: d0 in [0, 1], "
                          "d1 in [0, 2]",
                          "0.1.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 2], "
                          "s0 in [0, 1]"));
}

TEST_F(OperationsTest, OperandOfDynamicUpdateSliceInDisjointPieces) {
  const HloInstruction* update = Entry(R"(
    a = f32[8,9] parameter(0)
    u = f32[2,9] parameter(1)
    i = s32[] parameter(2)
    j = s32[] parameter(3)
    ROOT r = f32[8,9] dynamic-update-slice(a, u, i, j))");
  const std::vector<std::string> lines = OutputToInput(update, Exact());
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines[0], ::testing::StartsWith(
                            "0.0.0 (d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 7], "
                            "d1 in [0, 8], rt0 in [0, 6], rt1 in [0, 0], d0 - rt0 in [-inf, -1]"));
  EXPECT_THAT(lines[1], ::testing::StartsWith(
                            "0.0.0 (d0, d1){rt0, rt1} -> (d0, d1), domain: d0 in [0, 7], "
                            "d1 in [0, 8], rt0 in [0, 6], rt1 in [0, 0], d0 - rt0 in [2, inf]"));
  const std::vector<std::string> reached = InputToOutput(update, Exact());
  ASSERT_EQ(reached.size(), 5u);
  EXPECT_EQ(reached[0], lines[0]);
  EXPECT_EQ(reached[1], lines[1]);
}

TEST_F(OperationsTest, AnUpdateOfEverythingLeavesNothingOfTheOperand) {
  const HloInstruction* update = Entry(R"(
    a = f32[8] parameter(0)
    u = f32[8] parameter(1)
    i = s32[] parameter(2)
    ROOT r = f32[8] dynamic-update-slice(a, u, i))");
  EXPECT_EQ(OutputToInput(update).size(), 2u);
  EXPECT_EQ(OutputToInput(update).at(0).substr(0, 5), "0.1.0");
}

// Few pieces are the default, and one map where there would be more; `few_pieces` says how many.
TEST_F(OperationsTest, WhatIsLeftOfAnArrayIsFewPiecesOrOneLargerMap) {
  const auto lines = [&](absl::string_view text, int few_pieces, bool exact) {
    IndexingOptions options;
    options.few_pieces = few_pieces;
    options.exact = exact;
    const absl::string_view operand = absl::StrContains(text, "pad(") ? "0.1.0" : "0.0.0";
    std::vector<std::string> of_operand;
    for (const std::string& line : OutputToInput(Entry(text), options)) {
      if (absl::StartsWith(line, operand)) of_operand.push_back(line);
    }
    return of_operand;
  };
  const struct {
    const char* text;
    int pieces;
  } cases[] = {
      {"a = f32[9] parameter(0) v = f32[] parameter(1) ROOT r = f32[12] pad(a, v), padding=0_3", 1},
      {"a = f32[9] parameter(0) v = f32[] parameter(1) ROOT r = f32[12] pad(a, v), padding=1_2", 2},
      {"a = f32[3] parameter(0) v = f32[] parameter(1) ROOT r = f32[8] pad(a, v), padding=1_2_1",
       3},
      {"a = f32[3,3] parameter(0) v = f32[] parameter(1) ROOT r = f32[5,5] pad(a, v), "
       "padding=1_1x1_1",
       4},
      {"a = f32[9,3] parameter(0) u = f32[2,3] parameter(1) i = s32[] parameter(2) ROOT r = "
       "f32[9,3] dynamic-update-slice(a, u, i, i)",
       2},
      {"a = f32[9,4] parameter(0) u = f32[2,3] parameter(1) i = s32[] parameter(2) ROOT r = "
       "f32[9,4] dynamic-update-slice(a, u, i, i)",
       4}};
  for (const auto& [text, pieces] : cases) {
    for (const int few : {0, 1, 2, 3, 4}) {
      const std::vector<std::string> usual = lines(text, few, /*exact=*/false);
      const std::vector<std::string> exact = lines(text, few, /*exact=*/true);
      EXPECT_EQ(exact.size(), pieces) << text;
      EXPECT_EQ(usual.size(), pieces <= few ? pieces : 1) << text;
      EXPECT_EQ(usual == exact, pieces <= few) << text;
      EXPECT_EQ(absl::StrContains(usual[0], "over-approximate"), pieces > few) << usual[0];
    }
  }
}

TEST_F(OperationsTest, AnUpdateOfNothingLeavesTheOperand) {
  const HloInstruction* update = Entry(R"(
    a = f32[8] parameter(0)
    u = f32[0] parameter(1)
    i = s32[] parameter(2)
    ROOT r = f32[8] dynamic-update-slice(a, u, i))");
  EXPECT_EQ(OutputToInput(update).at(0), "0.0.0 (d0) -> (d0), domain: d0 in [0, 7]");
}

// The usual form names the operand where there are exact pieces of it, over all small sizes.
TEST_F(OperationsTest, AnUpdateLeavesTheOperandWhereItLeavesAPiece) {
  int left = 0;
  for (int n0 = 0; n0 <= 3; ++n0) {
    for (int n1 = 0; n1 <= 3; ++n1) {
      for (int u0 = 0; u0 <= n0; ++u0) {
        for (int u1 = 0; u1 <= n1; ++u1) {
          const std::string array = absl::StrCat("f32[", n0, ",", n1, "]");
          const HloInstruction* update = Entry(
              absl::StrCat("a = ", array, " parameter(0) u = f32[", u0, ",", u1, "] parameter(1) ",
                           "i = s32[] parameter(2) j = s32[] parameter(3) ROOT r = ", array,
                           " dynamic-update-slice(a, u, i, j)"));
          const auto names_operand = [](const std::vector<std::string>& lines) {
            return !lines.empty() && absl::StartsWith(lines.front(), "0.0.0");
          };
          const bool has_piece = names_operand(OutputToInput(update, Exact()));
          EXPECT_EQ(names_operand(OutputToInput(update)), has_piece) << update->ToString();
          EXPECT_EQ(names_operand(InputToOutput(update)), has_piece) << update->ToString();
          left += has_piece ? 1 : 0;
        }
      }
    }
  }
  // In 72 of 100 pairs of sizes the operand has elements and the update is not as large.
  EXPECT_EQ(left, 72);
}

// The builders of these operations say themselves whether a map has points. Over all small
// parameters, no map is empty, and there is one where the definition of the operation has an element.
class MapsWithPoints : public OperationsTest {
 protected:
  // How many maps there are to or from an operand, of which none is empty.
  int CountMaps(const HloInstruction* instruction, Direction direction, int64_t operand) {
    int count = 0;
    const auto entries = ComputeIndexing(*instruction, direction, &context_, Exact());
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return 0;
    for (const IndexingEntry& entry : *entries) {
      if (entry.operand != operand) continue;
      for (OperandIndexing indexing : entry.indexing) {
        const std::string text = indexing.ToString();
        indexing.Simplify();
        EXPECT_FALSE(indexing.IsKnownEmpty()) << instruction->ToString() << "\n" << text;
        ++count;
      }
    }
    return count;
  }
};

TEST_F(MapsWithPoints, OfAPadInOneDimension) {
  for (int size = 0; size <= 3; ++size) {
    for (int low = -3; low <= 2; ++low) {
      for (int high = -3; high <= 2; ++high) {
        for (int interior = 0; interior <= 2; ++interior) {
          const int step = interior + 1;
          const int spread = size == 0 ? 0 : (size - 1) * step + 1;
          const int padded = low + spread + high;
          if (padded < 0) continue;
          // Where the result is padding: before the operand's elements, after them, between them.
          bool is_inside = false;
          bool is_before = false;
          bool is_after = false;
          bool is_between = false;
          for (int d = 0; d < padded; ++d) {
            const int at = d - low;
            const bool has_element = at >= 0 && at < spread && at % step == 0;
            is_inside = is_inside || has_element;
            is_before = is_before || at < 0;
            is_after = is_after || at >= spread;
            is_between = is_between || (at >= 0 && at < spread && !has_element);
          }
          const int pieces = is_inside ? is_before + is_after + is_between : padded == 0 ? 0 : 1;
          const HloInstruction* pad = Entry(absl::StrCat(
              "a = f32[", size, "] parameter(0) v = f32[] parameter(1) ROOT r = ", "f32[", padded,
              "] pad(a, v), padding=", low, "_", high, "_", interior));
          for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
            EXPECT_EQ(CountMaps(pad, direction, 0), is_inside) << pad->ToString();
            EXPECT_EQ(CountMaps(pad, direction, 1), pieces) << pad->ToString();
          }
        }
      }
    }
  }
}

TEST_F(MapsWithPoints, OfSlicesAndUpdates) {
  for (int n = 0; n <= 4; ++n) {
    for (int size = 0; size <= n; ++size) {
      const HloInstruction* slice = Entry(
          absl::StrCat("a = f32[3,", n, "] parameter(0) i = s32[] parameter(1) ROOT r = f32[2,",
                       size, "] dynamic-slice(a, i, i), dynamic_slice_sizes={2,", size, "}"));
      const HloInstruction* update = Entry(absl::StrCat(
          "a = f32[3,", n, "] parameter(0) u = f32[2,", size, "] parameter(1) ",
          "i = s32[] parameter(2) ROOT r = f32[3,", n, "] dynamic-update-slice(a, u, i, i)"));
      // An update of nothing leaves the operand as it is, and one that can move leaves what is on
      // both sides of it.
      const int left = n == 0 ? 0 : size == 0 ? 1 : size == n ? 2 : 4;
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        EXPECT_EQ(CountMaps(slice, direction, 0), size > 0) << slice->ToString();
        EXPECT_EQ(CountMaps(update, direction, 0), left) << update->ToString();
        EXPECT_EQ(CountMaps(update, direction, 1), size > 0) << update->ToString();
      }
      for (int stride = 1; stride <= 3; ++stride) {
        const int count = (size + stride - 1) / stride;
        const HloInstruction* strided =
            Entry(absl::StrCat("a = f32[", n, "] parameter(0) ROOT r = f32[", count,
                               "] slice(a), slice={[", n - size, ":", n, ":", stride, "]}"));
        for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
          EXPECT_EQ(CountMaps(strided, direction, 0), size > 0) << strided->ToString();
        }
      }
    }
  }
}

TEST_F(OperationsTest, GatherWithBatchingDimensions) {
  const HloInstruction* gather = Entry(R"(
    a = f32[5,20,6] parameter(0)
    i = s32[3,5,1] parameter(1)
    ROOT r = f32[3,5,4] gather(a, i), offset_dims={2}, collapsed_slice_dims={2},
      operand_batching_dims={0}, start_indices_batching_dims={1}, start_index_map={1},
      index_vector_dim=2, slice_sizes={1,4,1})");
  const std::string dims = "d0 in [0, 2], d1 in [0, 4], d2 in [0, 3]";
  EXPECT_THAT(OutputToInput(gather),
              ElementsAre("0.0.0 (d0, d1, d2){rt0} -> (d1, d2 + rt0, 0), domain: " + dims +
                              ", rt0 in [0, 16]\n  rt0: i, clamp [0, 16]; (d0, d1, d2) -> "
                              "(d0, d1, 0), domain: " +
                              dims,
                          "0.1.0 (d0, d1, d2) -> (d0, d1, 0), domain: " + dims));
  // Element (b, x, 0) is in the slices of all batch indices (s0, b) that cover it.
  EXPECT_THAT(
      InputToOutput(gather),
      ElementsAre("0.0.0 (d0, d1, d2)[s0]{rt0} -> (s0, d0, d1 - rt0), domain: d0 in [0, 4], "
                  "d1 in [0, 19], d2 in [0, 0], s0 in [0, 2], rt0 in [0, 16], "
                  "d1 - rt0 in [0, 3]\n  rt0: i, clamp [0, 16]; (d0, d1, d2)[s0] -> "
                  "(s0, d0, 0), domain: d0 in [0, 4], d1 in [0, 19], d2 in [0, 0], "
                  "s0 in [0, 2]",
                  "0.1.0 (d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 2], "
                  "d1 in [0, 4], d2 in [0, 0], s0 in [0, 3]"));
}

TEST_F(OperationsTest, GatherOfScalarIndices) {
  const HloInstruction* gather = Entry(R"(
    a = f32[20] parameter(0)
    i = s32[3] parameter(1)
    ROOT r = f32[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1})");
  EXPECT_THAT(OutputToInput(gather),
              ElementsAre("0.0.0 (d0){rt0} -> (rt0), domain: d0 in [0, 2], rt0 in [0, 19]\n"
                          "  rt0: i, clamp [0, 19]; (d0) -> (d0), domain: d0 in [0, 2]",
                          "0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(OperationsTest, GatherOfSlicesWithoutElementsReadsNoneOfTheOperand) {
  const HloInstruction* gather = Entry(R"(
    a = f32[20] parameter(0)
    i = s32[3] parameter(1)
    ROOT r = f32[3] gather(a, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={0})");
  EXPECT_THAT(OutputToInput(gather), ElementsAre("0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
  EXPECT_THAT(InputToOutput(gather), ElementsAre("0.1.0 (d0) -> (d0), domain: d0 in [0, 2]"));
}

// Structure.

TEST_F(OperationsTest, TuplesRouteLeaves) {
  const HloInstruction* tuple = Entry(R"(
    a = f32[2] parameter(0)
    b = (f32[3], (token[], f32[4])) parameter(1)
    ROOT r = (f32[2], (f32[3], (token[], f32[4])), f32[2]) tuple(a, b, a))");
  EXPECT_THAT(OutputToInput(tuple), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                                                "1.1.0 (d0) -> (d0), domain: d0 in [0, 2]",
                                                "2.1.1 (d0) -> (d0), domain: d0 in [0, 3]",
                                                "3.2.0 (d0) -> (d0), domain: d0 in [0, 1]"));
  EXPECT_THAT(InputToOutput(tuple), testing::ElementsAreArray(OutputToInput(tuple)));
  EXPECT_THAT(
      Lines(ComputeIndexing(*tuple, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 2})),
      ElementsAre("2.1.1 (d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_THAT(
      Lines(ComputeIndexing(*tuple, Direction::kInputToOutput, &context_, {}, OperandLeaf{1, 1})),
      ElementsAre("2.1.1 (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(OperationsTest, GetTupleElementReadsOneElement) {
  const HloInstruction* element = Entry(R"(
    t = (f32[2], (f32[3], f32[4]), f32[5]) parameter(0)
    ROOT r = (f32[3], f32[4]) get-tuple-element(t), index=1)");
  EXPECT_THAT(OutputToInput(element), ElementsAre("0.0.1 (d0) -> (d0), domain: d0 in [0, 2]",
                                                  "1.0.2 (d0) -> (d0), domain: d0 in [0, 3]"));
  const auto entries = ComputeIndexing(*element, Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok());
  EXPECT_THAT(UnreadOperandLeaves(element->operands(), *entries),
              ElementsAre(OperandLeaf{0, 0}, OperandLeaf{0, 3}));
}

TEST_F(OperationsTest, CopiesOfTuplesPassTheirLeavesOn) {
  const HloInstruction* copy = Entry(R"(
    t = (f32[2], f32[3]) parameter(0)
    ROOT r = (f32[2], f32[3]) opt-barrier(t))");
  EXPECT_THAT(OutputToInput(copy), ElementsAre("0.0.0 (d0) -> (d0), domain: d0 in [0, 1]",
                                               "1.0.1 (d0) -> (d0), domain: d0 in [0, 2]"));
}

TEST_F(OperationsTest, OperationsWithoutABuilderReadTheirWholeOperands) {
  const HloInstruction* custom = Entry(R"(
    a = f32[2,1] parameter(0)
    ROOT r = f32[3] custom-call(a), custom_call_target="mystery")");
  EXPECT_THAT(OutputToInput(custom),
              ElementsAre("0.0.0 (d0)[s0] -> (s0, 0), domain: d0 in [0, 2], s0 in [0, 1]"
                          "  (over-approximate: whole operand: custom-call is not analysed)"));
  EXPECT_THAT(InputToOutput(custom),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (s0), domain: d0 in [0, 1], d1 in [0, 0], "
                          "s0 in [0, 2]"
                          "  (over-approximate: whole operand: custom-call is not analysed)"));
}

TEST_F(OperationsTest, LeavesThatAreNotThereAreErrors) {
  const HloInstruction* negate = Entry(R"(
    a = f32[2] parameter(0)
    ROOT r = f32[2] negate(a))");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 1})
                .status()
                .message(),
            "r has 1 output leaves, there is no leaf 1");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kInputToOutput, &context_, {}, OperandLeaf{1, 0})
                .status()
                .message(),
            "r has 1 operands, there is no operand 1");
  EXPECT_EQ(ComputeIndexing(*negate, Direction::kInputToOutput, &context_, {}, OperandLeaf{0, 2})
                .status()
                .message(),
            "operand 0 of r has 1 leaves, there is no leaf 2");
}

// Operations that are compositions of others.

class CompositionTest : public IndexingTest {
 protected:
  // What the chain of instructions from `root` down first operands to a parameter reads of it.
  OperandIndexingSet ReadByChain(const HloInstruction* root) {
    OperandIndexingSet maps(IdentityIndexing(root->shape(), &context_));
    while (root->operand_count() > 0) {
      const absl::StatusOr<InstructionIndexing> entries =
          ComputeIndexing(*root, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, 0});
      EXPECT_TRUE(entries.ok());
      const absl::StatusOr<OperandIndexingSet> composed =
          ComposeOperandIndexingSets(maps, entries->front().indexing);
      EXPECT_TRUE(composed.ok());
      maps = FoldRuntimeVariables(*composed, {.rebind_through_data_movement = true});
      maps.Simplify();
      root = root->operand(0);
    }
    return maps;
  }

  static std::vector<std::string> Text(const OperandIndexingSet& maps) {
    std::vector<std::string> lines;
    for (const OperandIndexing& map : maps) lines.push_back(map.ToString());
    return lines;
  }
};

TEST_F(CompositionTest, BitcastIsTransposeReshapeTranspose) {
  const HloInstruction* bitcast = Entry(R"(
    p = f32[4,6,10]{0,2,1} parameter(0)
    ROOT r = f32[3,8,10]{1,0,2} bitcast(p))");
  // Most major first the operand is [6,10,4], the result [10,3,8].
  const HloInstruction* chain = Entry(R"(
    p = f32[4,6,10] parameter(0)
    t = f32[6,10,4] transpose(p), dimensions={1,2,0}
    s = f32[10,3,8] reshape(t)
    ROOT r = f32[3,8,10] transpose(s), dimensions={1,2,0})");
  EXPECT_EQ(Text(ReadByChain(bitcast)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, ReduceWindowIsAPlainWindowAfterAPad) {
  const HloInstruction* padded = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4,7] parameter(0)
      i = f32[] constant(0)
      ROOT r = f32[6,2] reduce-window(p, i),
        window={size=3x2 stride=2x3 pad=1_2x1_-1 lhs_dilate=3x1 rhs_dilate=1x2}, to_apply=add
    })");
  const HloInstruction* chain = Root(R"(
    add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
    ENTRY e {
      p = f32[4,7] parameter(0)
      i = f32[] constant(0)
      w = f32[13,7] pad(p, i), padding=1_2_2x1_-1_0
      ROOT r = f32[6,2] reduce-window(w, i),
        window={size=3x2 stride=2x3 rhs_dilate=1x2}, to_apply=add
    })");
  EXPECT_EQ(Text(ReadByChain(padded)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, AGeneralGatherIsASimpleGatherAndReshapes) {
  const HloInstruction* general = Entry(R"(
    p = f32[33,76,70] parameter(0)
    i = s32[2,6,5] parameter(1)
    ROOT r = f32[6,7,5,8] gather(p, i), offset_dims={1,3}, collapsed_slice_dims={2},
      start_index_map={1,0}, index_vector_dim=0, slice_sizes={7,8,1})");
  // Indices as rows of starts in the order of the operand's dimensions; the batch dimensions as
  // one.
  const HloInstruction* chain = Entry(R"(
    p = f32[33,76,70] parameter(0)
    i = s32[2,6,5] parameter(1)
    order = s32[2,6,5] reverse(i), dimensions={0}
    last = s32[6,5,2] transpose(order), dimensions={1,2,0}
    rows = s32[30,2] reshape(last)
    g = f32[30,7,8,1] gather(p, rows), offset_dims={1,2,3}, collapsed_slice_dims={},
      start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,1}
    s = f32[6,5,7,8] reshape(g)
    ROOT r = f32[6,7,5,8] transpose(s), dimensions={0,2,1,3})");
  EXPECT_EQ(Text(ReadByChain(general)), Text(ReadByChain(chain)));
}

TEST_F(CompositionTest, ChainedReshapesThatCancelAreTheIdentity) {
  const HloInstruction* chain = Entry(R"(
    p0 = f32[10, 10, 10] parameter(0)
    reshape1 = f32[50, 20] reshape(p0)
    ROOT reshape2 = f32[10, 10, 10] reshape(reshape1))");
  EXPECT_THAT(Text(ReadByChain(chain)),
              ElementsAre("(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], "
                          "d2 in [0, 9]"));
}

TEST_F(CompositionTest, SliceAndPadAreInverse) {
  const HloInstruction* chain = Entry(R"(
    p = f32[10] parameter(0)
    v = f32[] constant(0)
    w = f32[24] pad(p, v), padding=3_2_1
    ROOT r = f32[10] slice(w), slice={[3:23:2]})");
  EXPECT_THAT(Text(ReadByChain(chain)), ElementsAre("(d0) -> (d0), domain: d0 in [0, 9]"));
}

}  // namespace
}  // namespace xla_indexing::internal
