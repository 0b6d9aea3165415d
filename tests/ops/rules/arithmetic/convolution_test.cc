// Maps of convolution and select-and-scatter, worked out by hand from the definitions.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/ops/indexing_test.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ConvolutionTest : public IndexingTest {};

TEST_F(ConvolutionTest, AWindowOfOnePointIsADot) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[4,6] parameter(0)
    w = f32[6,8] parameter(1)
    ROOT r = f32[4,8] convolution(x, w), dim_labels=bf_io->bf)");
  EXPECT_THAT(
      OutputToInput(convolution),
      ElementsAre(
          "0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 7], s0 in [0, 5]",
          "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 7], "
          "s0 in [0, 5]"));
  EXPECT_THAT(
      InputToOutput(convolution),
      ElementsAre(
          "0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 7]",
          "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 5], d1 in [0, 7], "
          "s0 in [0, 3]"));
}

// The window at place d begins at element 2d - 1 of the input: window elements on padding read
// neither operand.
TEST_F(ConvolutionTest, PaddedTapsReadNeitherInputNorKernel) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[1,7,1] parameter(0)
    w = f32[3,1,1] parameter(1)
    ROOT r = f32[1,4,1] convolution(x, w), window={size=3 stride=2 pad=1_1}, dim_labels=b0f_0io->b0f)");
  const std::string dims = "domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 0], s0 in [0, 2], ";
  EXPECT_THAT(
      OutputToInput(convolution),
      ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, d1 * 2 + s0 - 1, 0), " + dims +
                      "d1 * 2 + s0 - 1 in [0, 6]",
                  "0.1.0 (d0, d1, d2)[s0] -> (s0, 0, d2), " + dims + "d1 * 2 + s0 - 1 in [0, 6]"));
  EXPECT_THAT(
      InputToOutput(convolution),
      ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, (d1 - s0 + 1) floordiv 2, 0), domain: "
                  "d0 in [0, 0], d1 in [0, 6], d2 in [0, 0], s0 in [0, 2], "
                  "d1 - s0 + 1 in [0, 6], (d1 - s0 + 1) mod 2 in [0, 0]",
                  "0.1.0 (d0, d1, d2)[s0] -> (0, s0, d2), domain: d0 in [0, 2], d1 in [0, 0], "
                  "d2 in [0, 0], s0 in [0, 3], d0 + s0 * 2 - 1 in [0, 6]"));
}

// Input element i stands at 3i - 1 (one is cut off on the left); kernel element w at 2w; the kernel
// is reversed.
TEST_F(ConvolutionTest, DilationsNegativePaddingAndReversal) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[1,5,1] parameter(0)
    w = f32[2,1,1] parameter(1)
    ROOT r = f32[1,10,1] convolution(x, w),
      window={size=2 pad=-1_0 lhs_dilate=3 rhs_dilate=2 rhs_reversal=1}, dim_labels=b0f_0io->b0f)");
  const std::string dims = "domain: d0 in [0, 0], d1 in [0, 9], d2 in [0, 0], s0 in [0, 1], ";
  // d + 2w + 1 is at most 9 + 2 + 1 = 12 = 3 * 4 and never negative.
  const std::string guard = "(d1 + s0 * 2 + 1) mod 3 in [0, 0]";
  EXPECT_THAT(OutputToInput(convolution),
              ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, (d1 + s0 * 2 + 1) floordiv 3, 0), " +
                              dims + guard,
                          "0.1.0 (d0, d1, d2)[s0] -> (-s0 + 1, 0, d2), " + dims + guard));
  EXPECT_THAT(InputToOutput(convolution),
              ElementsAre("0.0.0 (d0, d1, d2)[s0] -> (d0, d1 * 3 - s0 * 2 - 1, 0), domain: "
                          "d0 in [0, 0], d1 in [0, 4], d2 in [0, 0], s0 in [0, 1], "
                          "d1 * 3 - s0 * 2 - 1 in [0, 9]",
                          "0.1.0 (d0, d1, d2)[s0] -> (0, s0, d2), domain: d0 in [0, 1], "
                          "d1 in [0, 0], d2 in [0, 0], s0 in [0, 9], "
                          "(d0 * -2 + s0) mod 3 in [0, 0]"));
}

// Output features 0, 1, 2 see input features 0, 1 and output features 3, 4, 5 input features 2, 3.
TEST_F(ConvolutionTest, GroupsOfFeatures) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[5,4] parameter(0)
    w = f32[2,6] parameter(1)
    ROOT r = f32[5,6] convolution(x, w), feature_group_count=2, dim_labels=bf_io->bf)");
  EXPECT_THAT(
      OutputToInput(convolution),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, (d1 floordiv 3) * 2 + s0), domain: d0 in [0, 4], "
                  "d1 in [0, 5], s0 in [0, 1]",
                  "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 4], d1 in [0, 5], "
                  "s0 in [0, 1]"));
  EXPECT_THAT(
      InputToOutput(convolution),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, (d1 floordiv 2) * 3 + s0), domain: d0 in [0, 4], "
                  "d1 in [0, 3], s0 in [0, 2]",
                  "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 5], "
                  "s0 in [0, 4]"));
}

// There are as many groups as input features, and each has one output feature.
TEST_F(ConvolutionTest, Depthwise) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[5,4] parameter(0)
    w = f32[1,4] parameter(1)
    ROOT r = f32[5,4] convolution(x, w), feature_group_count=4, dim_labels=bf_io->bf)");
  EXPECT_EQ(OutputToInputMap(convolution, 0).ToString(),
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 3]");
  EXPECT_EQ(InputToOutputMap(convolution, 0).ToString(),
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 4], d1 in [0, 3]");
}

// Output features 0, 1, 2 see batch 0, 1 and output features 3, 4, 5 batch 2, 3.
TEST_F(ConvolutionTest, GroupsOfTheBatch) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[4,5] parameter(0)
    w = f32[5,6] parameter(1)
    ROOT r = f32[2,6] convolution(x, w), batch_group_count=2, dim_labels=bf_io->bf)");
  EXPECT_THAT(
      OutputToInput(convolution),
      ElementsAre("0.0.0 (d0, d1)[s0] -> (d0 + (d1 floordiv 3) * 2, s0), domain: d0 in [0, 1], "
                  "d1 in [0, 5], s0 in [0, 4]",
                  "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 5], "
                  "s0 in [0, 4]"));
  EXPECT_THAT(InputToOutput(convolution),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0 mod 2, (d0 floordiv 2) * 3 + s0), domain: "
                          "d0 in [0, 3], d1 in [0, 4], s0 in [0, 2]",
                          "0.1.0 (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 4], d1 in [0, 5], "
                          "s0 in [0, 1]"));
}

TEST_F(ConvolutionTest, DimensionsOfNoBound) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[?,?,4] parameter(0)
    w = f32[3,4,6] parameter(1)
    ROOT r = f32[?,?,6] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f)");
  EXPECT_EQ(OutputToInputMap(convolution, 0).ToString(),
            "(d0, d1, d2)[s0, s1] -> (d0, d1 + s0 - 1, s1), domain: d0 in [0, inf], "
            "d1 in [0, inf], d2 in [0, 5], s0 in [0, 2], s1 in [0, 3], d1 + s0 - 1 in [0, inf]");
  const HloInstruction* grouped = Entry(R"(
    x = f32[?,5] parameter(0)
    w = f32[5,6] parameter(1)
    ROOT r = f32[?,6] convolution(x, w), batch_group_count=2, dim_labels=bf_io->bf)");
  EXPECT_EQ(OutputToInputMap(grouped, 1).ToString(),
            "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, inf], d1 in [0, 5], s0 in [0, 4], "
            "s1 in [0, 5]  (over-approximate: whole operand: a dimension in groups has no bound)");
}

// Place d stands at 4d in the dilated input, of which there are 2^62.
TEST_F(ConvolutionTest, NumbersThatDoNotFitGiveTheWholeOperand) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[1,4611686018427387904,1] parameter(0)
    w = f32[1,1,1] parameter(1)
    ROOT r = f32[1,4611686018427387904,1] convolution(x, w),
      window={size=1 stride=4 lhs_dilate=4}, dim_labels=b0f_0io->b0f)");
  const ExactnessLabel label =
      ExactnessLabel::OverApproximate("whole tensor: an index expression passes 64 bits");
  EXPECT_EQ(OutputToInputMap(convolution, 0).label(), label);
  EXPECT_EQ(InputToOutputMap(convolution, 0).label(), label);
}

TEST_F(ConvolutionTest, NothingIsReadWithoutFeatures) {
  const HloInstruction* convolution = Entry(R"(
    x = f32[4,0] parameter(0)
    w = f32[0,6] parameter(1)
    ROOT r = f32[4,6] convolution(x, w), dim_labels=bf_io->bf)");
  EXPECT_THAT(OutputToInput(convolution), IsEmpty());
  EXPECT_THAT(InputToOutput(convolution), IsEmpty());
}

class SelectAndScatterTest : public IndexingTest {};

constexpr char kComputations[] = R"(
    ge { a = f32[] parameter(0)  b = f32[] parameter(1)
         ROOT r = pred[] compare(a, b), direction=GE }
    add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
)";

// Windows [0, 1], [2, 3], [4, 5]: element d is in the window of source d floordiv 2.
TEST_F(SelectAndScatterTest, ReadsAllOfTheWindowsThatMeetAnElement) {
  const HloInstruction* scatter = Root(std::string(kComputations) + R"(
    ENTRY e {
      x = f32[6] parameter(0)
      s = f32[3] parameter(1)
      i = f32[] parameter(2)
      ROOT r = f32[6] select-and-scatter(x, s, i), window={size=2 stride=2}, select=ge, scatter=add
    })");
  const std::string windows =
      "(d0)[s0, s1] -> (d0 - s0 + s1), domain: d0 in [0, 5], s0 in [0, 1], s1 in [0, 1], "
      "d0 - s0 in [0, 4], d0 - s0 + s1 in [0, 5], (d0 - s0) mod 2 in [0, 0]";
  EXPECT_THAT(OutputToInput(scatter),
              ElementsAre("0.0.0 " + windows,
                          "0.1.0 (d0)[s0] -> ((d0 - s0) floordiv 2), domain: d0 in [0, 5], "
                          "s0 in [0, 1], d0 - s0 in [0, 4], (d0 - s0) mod 2 in [0, 0]",
                          "0.2.0 (d0) -> (), domain: d0 in [0, 5]"));
  EXPECT_THAT(InputToOutput(scatter),
              ElementsAre("0.0.0 " + windows,
                          "0.1.0 (d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 2], s0 in [0, 1]",
                          "0.2.0 ()[s0] -> (s0), domain: s0 in [0, 5]"));
}

TEST_F(SelectAndScatterTest, PaddingAndOverlap) {
  const HloInstruction* scatter = Root(std::string(kComputations) + R"(
    ENTRY e {
      x = f32[4] parameter(0)
      s = f32[4] parameter(1)
      i = f32[] parameter(2)
      ROOT r = f32[4] select-and-scatter(x, s, i), window={size=3 pad=1_1}, select=ge, scatter=add
    })");
  EXPECT_EQ(OutputToInputMap(scatter, 0).ToString(),
            "(d0)[s0, s1] -> (d0 - s0 + s1), domain: d0 in [0, 3], s0 in [0, 2], s1 in [0, 2], "
            "d0 - s0 + 1 in [0, 3], d0 - s0 + s1 in [0, 3]");
  EXPECT_EQ(InputToOutputMap(scatter, 1).ToString(),
            "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 3], s0 in [0, 2], d0 + s0 - 1 in [0, 3]");
}

// One of every four input features is there, and the indices say which.
TEST_F(ConvolutionTest, SparseKernels) {
  const auto sparse = [&](absl::string_view kernel, absl::string_view indices,
                          absl::string_view config) {
    return Entry(absl::StrCat("x = f32[2,8] parameter(0)\nw = f32[", kernel,
                              "] parameter(1)\ni = s32[", indices,
                              "] parameter(2)\nROOT c = f32[2,3] convolution(x, w, i), "
                              "dim_labels=bf_io->bf, sparsity_config={rhs={",
                              config, "}}"));
  };
  const HloInstruction* root = sparse("2,3", "2,3", "sparsity=1x4 dimension=0 stride=1 idx=2");
  const std::string why = "  (over-approximate: which features a sparse kernel holds is a value)";
  const std::string of_kernel =
      "(d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 1], d1 in [0, 2], s0 in [0, 1]";
  EXPECT_THAT(OutputToInput(root),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 2], "
                          "s0 in [0, 7]" +
                              why,
                          "0.1.0 " + of_kernel, "0.2.0 " + of_kernel));
  EXPECT_THAT(InputToOutput(root),
              ElementsAre("0.0.0 (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 1], d1 in [0, 7], "
                          "s0 in [0, 2]" +
                              why,
                          "0.1.0 " + of_kernel, "0.2.0 " + of_kernel));
  // Otherwise nothing is known of what is read.
  const std::string whole = "whole operand: what sparse operands hold is not known";
  EXPECT_THAT(OutputToInput(sparse("2,3", "2,3", "sparsity=1x4 dimension=1 stride=1 idx=2")),
              ::testing::Each(::testing::HasSubstr(whole)));
  EXPECT_THAT(OutputToInput(sparse("2,3", "6", "sparsity=1x4 dimension=0 stride=1 idx=2"))[2],
              ::testing::HasSubstr(whole));
}

}  // namespace
}  // namespace xla_indexing
