#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

constexpr char kBatched[] =
    "dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, "
    "rhs_contracting_dims={0}";

std::string CheckDot(const std::vector<std::string>& operands, absl::string_view what,
                     absl::string_view with) {
  return CheckInstruction(operands, absl::StrReplaceAll(kBatched, {{what, with}}));
}

TEST(DotShapeTest, BatchThenFreeDimensionsOfBothOperands) {
  EXPECT_EQ(CheckInstruction({"f32[7,2,5]", "f32[5,7,3,4]"}, kBatched), "f32[7,2,3,4]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[3,4]"},
                             "dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}"),
            "f32[2,4]");
  EXPECT_EQ(CheckInstruction({"f32[2]", "f32[3]"}, "dot(p0, p1)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2]", "f32[2]"},
                             "dot(p0, p1), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
            "f32[]");
}

TEST(DotShapeTest, TheElementTypeOfTheResultIsFree) {
  EXPECT_EQ(CheckInstruction({"s8[2]", "s8[3]"}, "s32[2,3] dot(p0, p1)"), "s32[2,3]");
  EXPECT_EQ(CheckInstruction({"bf16[2]", "f32[3]"}, "dot(p0, p1)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f8e4m3fn[2]", "f8e5m2[3]"}, "bf16[2,3] dot(p0, p1)"), "bf16[2,3]");
  EXPECT_THAT(CheckInstruction({"s8[2]", "s8[3]"}, "s32[3,2] dot(p0, p1)"),
              HasSubstr("has shape s32[3,2] but its operands and attributes give s8[2,3]"));
}

TEST(DotShapeTest, DimensionNumbersFitTheOperands) {
  const std::vector<std::string> operands = {"f32[7,2,5]", "f32[5,7,3]"};
  EXPECT_EQ(CheckInstruction(operands, kBatched), "f32[7,2,3]");
  EXPECT_THAT(CheckDot(operands, "lhs_batch_dims={0}", "lhs_batch_dims={3}"),
              HasSubstr("lhs_batch_dims={3}: 3 is not a dimension of an array of rank 3"));
  EXPECT_THAT(CheckDot(operands, "rhs_batch_dims={1}", "rhs_batch_dims={-1}"),
              HasSubstr("rhs_batch_dims={-1}: -1 is not a dimension"));
  EXPECT_THAT(CheckDot(operands, "lhs_contracting_dims={2}", "lhs_contracting_dims={4}"),
              HasSubstr("4 is not a dimension"));
  EXPECT_THAT(CheckDot(operands, "rhs_contracting_dims={0}", "rhs_contracting_dims={0,0}"),
              HasSubstr("dimension 0 is there twice"));
  EXPECT_THAT(CheckDot(operands, "lhs_contracting_dims={2}", "lhs_contracting_dims={0}"),
              HasSubstr("dimension 0 is in both lhs_batch_dims and lhs_contracting_dims"));
  EXPECT_THAT(CheckDot(operands, "rhs_contracting_dims={0}", "rhs_contracting_dims={1}"),
              HasSubstr("dimension 1 is in both rhs_batch_dims and rhs_contracting_dims"));
  EXPECT_THAT(CheckDot(operands, "rhs_batch_dims={1}", "rhs_batch_dims={}"),
              HasSubstr("the operands have 1 and 0 batch dimensions"));
  EXPECT_THAT(CheckDot(operands, "rhs_contracting_dims={0}", "rhs_contracting_dims={}"),
              HasSubstr("the operands have 1 and 0 contracting dimensions"));
  EXPECT_THAT(CheckDot({"f32[6,2,5]", "f32[5,7,3]"}, "", ""),
              HasSubstr("batch dimensions 0 and 1 differ in size"));
  EXPECT_THAT(CheckDot({"f32[7,2,5]", "f32[4,7,3]"}, "", ""),
              HasSubstr("contracting dimensions 2 and 0 differ in size"));
  EXPECT_THAT(CheckDot({"f32[7,2,5]", "()"}, "", ""), HasSubstr("operand 1 is not an array"));
}

// The three modes, with the shapes of examples of ragged_dot.
TEST(RaggedDotShapeTest, AFreeRaggedDimensionTakesTheGroupDimensionOfTheRightOperand) {
  constexpr char kText[] =
      "ragged-dot(p0, p1, p2), lhs_contracting_dims={2}, rhs_contracting_dims={1}, "
      "lhs_ragged_dims={1}, rhs_group_dims={0}";
  EXPECT_EQ(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[19,3]"}, kText), "f32[19,11,7]");
  EXPECT_EQ(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"}, kText), "f32[19,11,7]");
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[18,3]"}, kText),
              HasSubstr("dimension 0 of the group sizes and dimension 0 of operand 0 differ"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[19,1,3]"}, kText),
              HasSubstr("the group sizes have rank 3 and should have 1 or 2"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[4]"}, kText),
              HasSubstr("group dimension 0 of operand 1 does not hold the 4 groups"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "f32[3]"}, kText),
              HasSubstr("the group sizes are not integers"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[]"}, kText),
              HasSubstr("the group sizes are a scalar"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "()"}, kText),
              HasSubstr("operand 2 is not an array"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                               absl::StrReplaceAll(kText, {{"group_dims={0}", "group_dims={1}"}})),
              HasSubstr("rhs_group_dims={1} is not one free dimension"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                               absl::StrReplaceAll(kText, {{"group_dims={0}", "group_dims={3}"}})),
              HasSubstr("3 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                               absl::StrReplaceAll(kText, {{", rhs_group_dims={0}", ""}})),
              HasSubstr("rhs_group_dims={} is not one free dimension"));
  EXPECT_THAT(
      CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                       absl::StrReplaceAll(kText, {{"ragged_dims={1}", "ragged_dims={0,1}"}})),
      HasSubstr("lhs_ragged_dims={0,1} is not one dimension"));
  EXPECT_THAT(
      CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                       absl::StrReplaceAll(kText, {{"ragged_dims={1}", "ragged_dims={3}"}})),
      HasSubstr("3 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[19,11,5]", "f32[3,5,7]", "s64[3]"},
                               absl::StrReplaceAll(kText, {{", lhs_ragged_dims={1}", ""}})),
              HasSubstr("there is no lhs_ragged_dims"));
}

TEST(RaggedDotShapeTest, AContractingRaggedDimensionGivesAResultForEachGroup) {
  constexpr char kText[] =
      "ragged-dot(p0, p1, p2), lhs_contracting_dims={1,2}, rhs_contracting_dims={0,1}, "
      "lhs_ragged_dims={2}";
  EXPECT_EQ(CheckInstruction({"f32[11,19,5]", "f32[19,5,7]", "s64[19,3]"}, kText), "f32[3,11,7]");
  EXPECT_THAT(CheckInstruction({"f32[11,19,5]", "f32[19,5,7]", "s64[11,3]"}, kText),
              HasSubstr("dimension 0 of the group sizes and dimension 1 of operand 0 differ"));
  EXPECT_THAT(CheckInstruction({"f32[11,19,5]", "f32[19,5,7]", "s64[19,3]"},
                               absl::StrCat(kText, ", rhs_group_dims={2}")),
              HasSubstr("is given though the ragged dimension is no free one"));
}

TEST(RaggedDotShapeTest, ABatchRaggedDimensionGivesADot) {
  EXPECT_EQ(CheckInstruction({"f32[19,17,11,5]", "f32[19,17,5,7]", "s64[19,3]"},
                             "ragged-dot(p0, p1, p2), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, "
                             "lhs_contracting_dims={3}, rhs_contracting_dims={2}, "
                             "lhs_ragged_dims={1}"),
            "f32[19,17,11,7]");
}

TEST(ScaledDotShapeTest, ScalesAreOneForABlockOfElements) {
  constexpr char kText[] =
      "bf16[128,256] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1}, "
      "rhs_contracting_dims={0}";
  const std::string lhs = "f8e4m3fn[128,64]";
  const std::string rhs = "f8e4m3fn[64,256]";
  EXPECT_EQ(CheckInstruction({lhs, rhs, "f8e8m0fnu[128,2]", "f8e8m0fnu[2,256]"}, kText),
            "bf16[128,256]");
  EXPECT_EQ(CheckInstruction({lhs, rhs, "f8e8m0fnu[1,1]", "bf16[]"}, kText), "bf16[128,256]");
  EXPECT_THAT(CheckInstruction({lhs, rhs, "f8e8m0fnu[128,65]", "bf16[]"}, kText),
              HasSubstr("65 scales along dimension 1 of operand 0 cannot scale blocks of its 64"));
  EXPECT_THAT(CheckInstruction({lhs, rhs, "bf16[]", "f8e8m0fnu[0,256]"}, kText),
              HasSubstr("0 scales along dimension 0 of operand 1"));
  EXPECT_THAT(CheckInstruction({lhs, rhs, "f8e8m0fnu[128]", "bf16[]"}, kText),
              HasSubstr("operands 0 and 2 differ in rank"));
  EXPECT_THAT(CheckInstruction({lhs, "f8e4m3fn[63,256]", "bf16[]", "bf16[]"}, kText),
              HasSubstr("contracting dimensions 1 and 0 differ in size"));
}

TEST(ConvolutionShapeTest, SpatialDimensionsHaveAsManyElementsAsTheWindowHasPlaces) {
  // (224 + 3 + 3 - 7) / 2 + 1 = 112.
  EXPECT_EQ(CheckInstruction({"f32[1,224,224,3]", "f32[7,7,3,64]"},
                             "convolution(p0, p1), window={size=7x7 stride=2x2 pad=3_3x3_3}, "
                             "dim_labels=b01f_01io->b01f"),
            "f32[1,112,112,64]");
  // Labels in another order: (9 - ((3 - 1) * 2 + 1)) + 1 = 5 for a dilated window of 3, and
  // (4 - 1) * 3 + 1 - 2 + 1 = 9 for a dilated input of 4.
  EXPECT_EQ(CheckInstruction({"f32[6,9,2,4]", "f32[8,3,6,2]"},
                             "convolution(p0, p1), window={size=3x2 lhs_dilate=1x3 "
                             "rhs_dilate=2x1}, dim_labels=f0b1_o0i1->1f0b"),
            "f32[9,8,5,2]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[3,5]"}, "convolution(p0, p1), dim_labels=bf_io->bf"),
            "f32[2,5]");
}

TEST(ConvolutionShapeTest, TheElementTypeOfTheResultIsFree) {
  EXPECT_EQ(CheckInstruction({"f8e8m0fnu[1,28,1]", "pred[28,1,1]"},
                             "pred[1,28,1] convolution(p0, p1), window={size=28 pad=13_14}, "
                             "dim_labels=b0f_0io->b0f"),
            "pred[1,28,1]");
}

TEST(ConvolutionShapeTest, GroupsDivideFeaturesAndBatch) {
  const auto check = [](const char* input, const char* kernel, const char* groups) {
    return CheckInstruction(
        {input, kernel},
        absl::StrCat("convolution(p0, p1), window={size=3}, dim_labels=b0f_0io->b0f, ", groups));
  };
  EXPECT_EQ(check("f32[2,9,6]", "f32[3,2,12]", "feature_group_count=3"), "f32[2,7,12]");
  EXPECT_EQ(check("f32[4,9,6]", "f32[3,6,12]", "batch_group_count=2"), "f32[2,7,12]");
  EXPECT_THAT(check("f32[2,9,6]", "f32[3,3,12]", "feature_group_count=3"),
              HasSubstr("the 6 features of the input are not 3 groups of the 3 of the kernel"));
  EXPECT_THAT(check("f32[2,9,7]", "f32[3,2,12]", "feature_group_count=3"),
              HasSubstr("the 7 features of the input are not 3 groups"));
  EXPECT_THAT(check("f32[2,9,6]", "f32[3,2,10]", "feature_group_count=3"),
              HasSubstr("the 10 output features are not a multiple of the 3 groups"));
  EXPECT_THAT(check("f32[4,9,6]", "f32[3,6,11]", "batch_group_count=2"),
              HasSubstr("the 11 output features are not a multiple of the 2 groups"));
  EXPECT_THAT(check("f32[3,9,6]", "f32[3,6,12]", "batch_group_count=2"),
              HasSubstr("the batch of 3 is not a multiple of the 2 groups"));
  EXPECT_THAT(check("f32[4,9,6]", "f32[3,3,12]", "batch_group_count=2, feature_group_count=2"),
              HasSubstr("should be at least 1, and one of them 1"));
  EXPECT_THAT(check("f32[4,9,6]", "f32[3,3,12]", "feature_group_count=0"),
              HasSubstr("feature_group_count=0"));
}

TEST(ConvolutionShapeTest, LabelsAndWindowFitTheOperands) {
  const auto check = [](const char* input, const char* kernel, const char* attributes) {
    return CheckInstruction({input, kernel}, absl::StrCat("convolution(p0, p1), ", attributes));
  };
  EXPECT_THAT(check("f32[2,9,6]", "f32[3,6,12]", "window={size=3}"),
              HasSubstr("there is no dim_labels"));
  EXPECT_THAT(
      check("f32[2,9]", "f32[3,6,12]", "window={size=3}, dim_labels=b0f_0io->b0f"),
      HasSubstr("dim_labels names 3 dimensions, 1 of them spatial, of the input, which has rank "
                "2; the window has 1 dimensions"));
  EXPECT_THAT(check("f32[2,9,6]", "f32[6,12]", "window={size=3}, dim_labels=b0f_0io->b0f"),
              HasSubstr("of the kernel, which has rank 2"));
  EXPECT_THAT(check("f32[2,9,6]", "f32[3,6,12]", "window={size=3x3}, dim_labels=b0f_0io->b0f"),
              HasSubstr("the window has 2 dimensions"));
  EXPECT_THAT(check("f32[2,9,6]", "f32[3,6,12]", "window={size=4}, dim_labels=b0f_0io->b0f"),
              HasSubstr("window dimension 0 has size 4 and the kernel has 3"));
  EXPECT_THAT(check("f32[2,9,6]", "()", "window={size=3}, dim_labels=b0f_0io->b0f"),
              HasSubstr("operand 1 is not an array"));
}

TEST(ConvolutionShapeTest, LabelsOfABuiltInstructionAreChecked) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {2, 3});
  HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* c = main->AddInstruction(HloOpcode::kConvolution, "c", shape, {p, p});
  ConvolutionDimensionNumbers labels;
  labels.input_rank = labels.kernel_rank = labels.output_rank = 2;
  labels.input_batch = labels.kernel_input_feature = labels.output_batch = 0;
  labels.input_feature = labels.kernel_output_feature = labels.output_feature = 0;
  c->SetAttribute(AttributeKey::kDimLabels,
                  static_cast<const ConvolutionDimensionNumbers*>(&labels));
  EXPECT_THAT(std::string(CheckShape(*c).message()), HasSubstr("dimension 0 is there twice"));
  labels.input_feature = labels.kernel_output_feature = 1;
  c->SetAttribute(AttributeKey::kDimLabels,
                  static_cast<const ConvolutionDimensionNumbers*>(&labels));
  EXPECT_THAT(std::string(CheckShape(*c).message()), HasSubstr("dimension 0 is there twice"));
}

}  // namespace
}  // namespace xla_indexing::internal
