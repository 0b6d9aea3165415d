#include <string>

#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

TEST(ReinterpretationShapeTest, AReshapeKeepsTheNumberOfElements) {
  EXPECT_EQ(CheckInstruction({"f32[2,3,4]"}, "f32[6,4] reshape(p0)"), "f32[6,4]");
  EXPECT_EQ(CheckInstruction({"f32[0,3]"}, "f32[7,0] reshape(p0)"), "f32[7,0]");
  EXPECT_EQ(CheckInstruction({"f32[1,1]"}, "f32[] reshape(p0)"), "f32[]");
  EXPECT_EQ(CheckInstruction({"f32[?]"}, "f32[2,3] reshape(p0)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2,8]"}, "f32[4,3] reshape(p0)"),
            "error: r: reshape of f32[2,8]: the operand has 16 elements and the result f32[4,3] "
            "has 12");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "s32[4] reshape(p0)"),
              HasSubstr("has shape s32[4] but its operands and attributes give f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(f32[4]) reshape(p0)"), HasSubstr("is not an array"));
  EXPECT_THAT(CheckInstruction({"token[]"}, "f32[4] reshape(p0)"), HasSubstr("is not an array"));
}

TEST(ReinterpretationShapeTest, ADynamicReshapeTakesASizeForEachDimension) {
  EXPECT_EQ(
      CheckInstruction({"f32[6]", "s32[]", "s32[]"}, "f32[<=2,<=3] dynamic-reshape(p0, p1, p2)"),
      "f32[<=2,<=3]");
  EXPECT_THAT(CheckInstruction({"f32[6]", "s32[]"}, "f32[<=2,<=3] dynamic-reshape(p0, p1)"),
              HasSubstr("1 sizes are given for the 2 dimensions"));
  EXPECT_THAT(CheckInstruction({"f32[6]", "f32[]"}, "f32[<=6] dynamic-reshape(p0, p1)"),
              HasSubstr("operand 1 is not an integer scalar"));
  EXPECT_THAT(CheckInstruction({"f32[6]", "s32[]"}, "f32[<=5] dynamic-reshape(p0, p1)"),
              HasSubstr("the operand has 6 elements"));
  EXPECT_THAT(CheckInstruction({}, "f32[<=5] dynamic-reshape()"), HasSubstr("takes an operand"));
}

TEST(ReinterpretationShapeTest, ABitcastKeepsTheBits) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "s32[3,2]{0,1} bitcast(p0)"), "s32[3,2]");
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "u8[4,4] bitcast(p0)"), "u8[4,4]");
  EXPECT_EQ(CheckInstruction({"s4[16]{0:E(4)}"}, "s8[8] bitcast(p0)"), "s8[8]");
  EXPECT_EQ(CheckInstruction({"pred[4]"}, "u32[1] bitcast(p0)"), "u32[1]");
  EXPECT_EQ(CheckInstruction({"(f32[2])"}, "(f32[2]) bitcast(p0)"), "(f32[2])");
  EXPECT_EQ(CheckInstruction({"f32[5]{0:T(8)}"}, "f32[8] bitcast(p0)"), "f32[8]");
  EXPECT_EQ(CheckInstruction({"f32[8,1]{1,0:T(8,128)}"}, "f32[1024]{0:T(1024)} bitcast(p0)"),
            "f32[1024]");
  EXPECT_THAT(CheckInstruction({"f32[8,1]{1,0:T(8,128)}"}, "f32[8]{0} bitcast(p0)"),
              HasSubstr("the buffers of the operand f32[8,1]{1,0:T(8,128)} and of the result "
                        "f32[8]{0} differ in size"));
  // Padding behind the last element may differ.
  EXPECT_EQ(CheckInstruction({"f32[5]{0:T(8)}"}, "f32[5]{0:T(128)} bitcast(p0)"), "f32[5]");
  EXPECT_THAT(CheckInstruction({"f32[0]{0:T(8)}"}, "f32[5]{0:T(8)} bitcast(p0)"),
              HasSubstr("differ in size"));
  // Without a layout it is not known how much memory there is.
  EXPECT_EQ(CheckInstruction({"f32[8,1]{1,0:T(8,128)}"}, "f32[8] bitcast(p0)"), "f32[8]");
  EXPECT_EQ(CheckInstruction({"f32[8]{0:T(0)}"}, "f32[9]{0} bitcast(p0)"), "f32[9]");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f32[5] bitcast(p0)"), HasSubstr("differ in size"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f64[4] bitcast(p0)"), HasSubstr("differ in size"));
  EXPECT_THAT(CheckInstruction({"(f32[2])"}, "f32[2] bitcast(p0)"), HasSubstr("give (f32[2])"));
}

TEST(ReinterpretationShapeTest, ABitcastConvertAddsOrTakesAMinorDimension) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "s32[2,3] bitcast-convert(p0)"), "s32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "u8[2,3,4] bitcast-convert(p0)"), "u8[2,3,4]");
  EXPECT_EQ(CheckInstruction({"u16[2,3,2]"}, "f32[2,3] bitcast-convert(p0)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"s8[3]"}, "s4[3,2] bitcast-convert(p0)"), "s4[3,2]");
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "s32[3,2] bitcast-convert(p0)"),
              HasSubstr("give s32[2,3]"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "u8[2,12] bitcast-convert(p0)"),
              HasSubstr("give u8[2,3,4]"));
  EXPECT_THAT(CheckInstruction({"u16[2,3]"}, "f32[2] bitcast-convert(p0)"),
              HasSubstr("the last dimension should have size 2"));
  EXPECT_THAT(CheckInstruction({"u16[]"}, "f32[] bitcast-convert(p0)"),
              HasSubstr("the last dimension should have size 2"));
  EXPECT_THAT(CheckInstruction({"c64[2]"}, "f32[2,2] bitcast-convert(p0)"),
              HasSubstr("only to a complex type"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "() bitcast-convert(p0)"), HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"()"}, "f32[2] bitcast-convert(p0)"), HasSubstr("not an array"));
}

TEST(ReinterpretationShapeTest, ABroadcastKeepsTheSizesOfTheOperand) {
  EXPECT_EQ(CheckInstruction({"f32[3]"}, "f32[2,3,4] broadcast(p0), dimensions={1}"), "f32[2,3,4]");
  EXPECT_EQ(CheckInstruction({"f32[3,2]"}, "f32[2,3] broadcast(p0), dimensions={1,0}"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[]"}, "f32[2] broadcast(p0)"), "f32[2]");
  EXPECT_EQ(CheckInstruction({"f32[1,<=5]"}, "f32[1,7,<=5] broadcast(p0), dimensions={0,2}"),
            "f32[1,7,<=5]");
  EXPECT_THAT(CheckInstruction({"f32[1]"}, "f32[2] broadcast(p0), dimensions={0}"),
              HasSubstr("dimension 0 of the operand and dimension 0 of the result f32[2] differ"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] broadcast(p0)"),
              HasSubstr("names 0 dimensions for an operand of rank 1"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] broadcast(p0), dimensions={1}"),
              HasSubstr("1 is not a dimension of an array of rank 1"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] broadcast(p0), dimensions={-1}"),
              HasSubstr("-1 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[3,3]"}, "f32[3,3] broadcast(p0), dimensions={0,0}"),
              HasSubstr("dimension 0 is there twice"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "s32[3] broadcast(p0), dimensions={0}"),
              HasSubstr("give f32[3]"));
}

TEST(ReinterpretationShapeTest, AnIotaCountsAlongOneOfItsDimensions) {
  EXPECT_EQ(CheckInstruction({}, "s32[2,3] iota(), iota_dimension=1"), "s32[2,3]");
  EXPECT_THAT(CheckInstruction({}, "s32[2,3] iota(), iota_dimension=2"),
              HasSubstr("iota_dimension={2}: 2 is not a dimension of an array of rank 2"));
  EXPECT_THAT(CheckInstruction({}, "s32[] iota(), iota_dimension=0"),
              HasSubstr("not a dimension of an array of rank 0"));
  EXPECT_THAT(CheckInstruction({}, "s32[2] iota()"), HasSubstr("there is no iota_dimension"));
  EXPECT_THAT(CheckInstruction({}, "pred[2] iota(), iota_dimension=0"),
              HasSubstr("not defined for pred"));
  EXPECT_THAT(CheckInstruction({}, "(s32[2]) iota(), iota_dimension=0"),
              HasSubstr("is not an array"));
}

TEST(ReinterpretationShapeTest, SizesOfDimensionsAreScalars) {
  EXPECT_EQ(CheckInstruction({"f32[2,<=3]"}, "get-dimension-size(p0), dimensions={1}"), "s32[]");
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "get-dimension-size(p0), dimensions={1}"),
              HasSubstr("1 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"()"}, "get-dimension-size(p0), dimensions={0}"),
              HasSubstr("not an array"));
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "s32[]"}, "set-dimension-size(p0, p1), dimensions={1}"),
            "f32[2,<=3]");
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "f32[]"}, "set-dimension-size(p0, p1), dimensions={1}"),
              HasSubstr("operand 1 is not an integer scalar"));
  EXPECT_THAT(
      CheckInstruction({"f32[2,3]", "s32[]"}, "set-dimension-size(p0, p1), dimensions={0,1}"),
      HasSubstr("is not one dimension"));
  EXPECT_THAT(CheckInstruction({"()", "s32[]"}, "set-dimension-size(p0, p1), dimensions={0}"),
              HasSubstr("not an array"));
}

// What an operation says itself, and no operand has, is a number.
TEST(MovementShapeTest, SizesOfConstantsIotasAndReshapesHaveABound) {
  EXPECT_THAT(CheckInstruction({"f32[?]"}, "f32[2,?] reshape(p0)"),
              HasSubstr("the result f32[2,?] has a size without bound"));
  EXPECT_THAT(CheckInstruction({}, "s32[?] iota(), iota_dimension=0"),
              HasSubstr("the result s32[?] has a size without bound"));
  EXPECT_THAT(CheckInstruction({}, "s32[?] constant({...})"),
              HasSubstr("the result s32[?] has a size without bound"));
  EXPECT_EQ(CheckInstruction({}, "s32[<=4] iota(), iota_dimension=0"), "s32[<=4]");
  EXPECT_EQ(CheckInstruction({"f32[<=4]"}, "f32[2,<=2] reshape(p0)"), "f32[2,<=2]");
  EXPECT_EQ(CheckInstruction({"f32[?]", "s32[]"}, "f32[?] dynamic-reshape(p0, p1)"), "f32[?]");
}

TEST(MovementShapeTest, ATransposePermutesTheSizes) {
  EXPECT_EQ(CheckInstruction({"f32[2,3,<=4]"}, "transpose(p0), dimensions={2,0,1}"),
            "f32[<=4,2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "f32[2,3] transpose(p0), dimensions={1,0}"),
            "error: instruction 'r' (transpose) has shape f32[2,3] but its operands and "
            "attributes give f32[3,2]");
  EXPECT_THAT(CheckInstruction({"f32[2,2]"}, "transpose(p0), dimensions={1}"),
              HasSubstr("dimensions is given for 1 dimensions of an operand of rank 2"));
  EXPECT_THAT(CheckInstruction({"f32[2,2]"}, "transpose(p0), dimensions={0,0}"),
              HasSubstr("dimension 0 is there twice"));
  EXPECT_THAT(CheckInstruction({"f32[2,2]"}, "transpose(p0), dimensions={0,2}"),
              HasSubstr("2 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[2,2]"}, "transpose(p0)"), HasSubstr("no dimensions"));
  EXPECT_THAT(CheckInstruction({"()"}, "transpose(p0), dimensions={}"), HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "s32[2] transpose(p0), dimensions={0}"),
              HasSubstr("has shape s32[2] but its operands and attributes give f32[2]"));
}

TEST(MovementShapeTest, AReverseNamesDifferentDimensions) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "reverse(p0), dimensions={1}"), "f32[2,3]");
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "reverse(p0), dimensions={2}"),
              HasSubstr("2 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "reverse(p0), dimensions={1,1}"),
              HasSubstr("dimension 1 is there twice"));
  EXPECT_THAT(CheckInstruction({"()"}, "reverse(p0), dimensions={}"), HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "reverse(p0)"), HasSubstr("no dimensions"));
}

TEST(MovementShapeTest, ASliceHasASizeOfLimitMinusStartOverStrideRoundedUp) {
  EXPECT_EQ(CheckInstruction({"f32[10,20]"}, "slice(p0), slice={[1:9:3], [4:20]}"), "f32[3,16]");
  EXPECT_EQ(CheckInstruction({"f32[10]"}, "slice(p0), slice={[5:5]}"), "f32[0]");
  EXPECT_EQ(CheckInstruction({"f32[10]"}, "slice(p0), slice={[0:10:9]}"), "f32[2]");
  for (const char* range : {"[-1:5]", "[6:5]", "[0:11]", "[0:5:0]", "[0:5:-1]"}) {
    EXPECT_THAT(CheckInstruction({"f32[10]"}, std::string("slice(p0), slice={") + range + "}"),
                HasSubstr("does not hold 0 <= start <= limit <= size and stride >= 1"))
        << range;
  }
  EXPECT_THAT(CheckInstruction({"f32[10,2]"}, "slice(p0), slice={[0:1]}"),
              HasSubstr("slice is given for 1 dimensions of an operand of rank 2"));
  EXPECT_THAT(CheckInstruction({"f32[10]"}, "slice(p0)"), HasSubstr("given for 0 dimensions"));
  EXPECT_THAT(CheckInstruction({"(f32[10])"}, "slice(p0), slice={}"), HasSubstr("not an array"));
}

TEST(MovementShapeTest, ADynamicSliceHasTheSizesThatItNames) {
  EXPECT_EQ(CheckInstruction({"f32[4,5]", "s32[]", "s32[]"},
                             "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,5}"),
            "f32[2,5]");
  EXPECT_EQ(
      CheckInstruction({"f32[4,5]", "s32[2]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={2,5}"),
      "f32[2,5]");
  EXPECT_EQ(CheckInstruction({"f32[]"}, "dynamic-slice(p0), dynamic_slice_sizes={}"), "f32[]");
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "s32[]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={5}"),
      HasSubstr("5 is no size of a slice of dimension 0"));
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "s32[]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={-1}"),
      HasSubstr("-1 is no size"));
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "s32[]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={1,1}"),
      HasSubstr("given for 2 dimensions"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "s32[]"}, "dynamic-slice(p0, p1)"),
              HasSubstr("there is no dynamic_slice_sizes"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,5]", "s32[]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={2,5}"),
      HasSubstr("there are 1 start indices for 2 dimensions"));
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "f32[]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={2}"),
      HasSubstr("operand 1 is not an integer scalar"));
  EXPECT_THAT(CheckInstruction({"f32[4,5]", "s32[]", "s64[]"},
                               "dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,5}"),
              HasSubstr("start indices differ in type"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,5]", "s32[3]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={2,5}"),
      HasSubstr("operand 1 does not hold 2 integers"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,5]", "f32[2]"}, "dynamic-slice(p0, p1), dynamic_slice_sizes={2,5}"),
      HasSubstr("operand 1 does not hold 2 integers"));
  EXPECT_THAT(CheckInstruction({"()"}, "dynamic-slice(p0), dynamic_slice_sizes={}"),
              HasSubstr("not an array"));
}

TEST(MovementShapeTest, ADynamicUpdateSliceKeepsTheOperandAndFitsTheUpdate) {
  EXPECT_EQ(CheckInstruction({"f32[4,5]", "f32[2,5]", "s32[]", "s32[]"},
                             "dynamic-update-slice(p0, p1, p2, p3)"),
            "f32[4,5]");
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[5]", "s32[]"}, "dynamic-update-slice(p0, p1, p2)"),
              HasSubstr("the update is larger than the operand in dimension 0"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[2,2]", "s32[]"}, "dynamic-update-slice(p0, p1, p2)"),
              HasSubstr("ranks differ"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "s32[2]", "s32[]"}, "dynamic-update-slice(p0, p1, p2)"),
              HasSubstr("element types differ"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[2]"}, "dynamic-update-slice(p0, p1)"),
              HasSubstr("there are 0 start indices for 1 dimensions"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "dynamic-update-slice(p0)"),
              HasSubstr("takes an operand, an update and start indices"));
  EXPECT_THAT(CheckInstruction({"()", "f32[2]"}, "dynamic-update-slice(p0, p1)"),
              HasSubstr("operand 0 is not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "()"}, "dynamic-update-slice(p0, p1)"),
              HasSubstr("operand 1 is not an array"));
}

TEST(MovementShapeTest, APadAddsAndTakesElements) {
  // 4 + 1 + 2; 3 elements with 2 between them, less 1: 3 + 2 * 2 - 1.
  EXPECT_EQ(CheckInstruction({"f32[4,3]", "f32[]"}, "pad(p0, p1), padding=1_2x-1_0_2"), "f32[7,6]");
  EXPECT_EQ(CheckInstruction({"f32[0]", "f32[]"}, "pad(p0, p1), padding=1_1_5"), "f32[2]");
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[]"}, "pad(p0, p1), padding=-3_-2"),
              HasSubstr("padding -3_-2_0 gives dimension 0 the size -1"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[]"}, "pad(p0, p1), padding=0_0x0_0"),
              HasSubstr("padding is given for 2 dimensions of an operand of rank 1"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[1]"}, "pad(p0, p1), padding=0_0"),
              HasSubstr("not a scalar"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "s32[]"}, "pad(p0, p1), padding=0_0"),
              HasSubstr("element types differ"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "()"}, "pad(p0, p1), padding=0_0"),
              HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[]"}, "pad(p0, p1), padding=9223372036854775807_1"),
              HasSubstr("does not fit 64 bits"));
}

TEST(MovementShapeTest, InteriorPaddingIsNotNegative) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* zero = main->AddParameter(1, "zero", Shape::Scalar(ElementType::kF32));
  HloInstruction* pad = main->AddInstruction(HloOpcode::kPad, "pad", shape, {p, zero});
  const PaddingDimension padding[] = {{.low = 3, .high = 0, .interior = -1}};
  pad->SetAttribute(AttributeKey::kPadding, absl::Span<const PaddingDimension>(padding));
  EXPECT_THAT(std::string(CheckShape(*pad).message()),
              HasSubstr("interior padding -1 of dimension 0 is negative"));
}

TEST(MovementShapeTest, AConcatenateAddsTheSizesOfOneDimension) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[2,0]", "f32[2,5]"},
                             "concatenate(p0, p1, p2), dimensions={1}"),
            "f32[2,8]");
  EXPECT_EQ(CheckInstruction({"f32[?]", "f32[4]"}, "concatenate(p0, p1), dimensions={0}"),
            "f32[?]");
  EXPECT_EQ(
      CheckInstruction({"f32[4]", "f32[?]", "f32[1]"}, "concatenate(p0, p1, p2), dimensions={0}"),
      "f32[?]");
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "f32[3,3]"}, "concatenate(p0, p1), dimensions={1}"),
              HasSubstr("operands 0 and 1 differ in dimension 0"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "f32[2]"}, "concatenate(p0, p1), dimensions={0}"),
              HasSubstr("operands 0 and 1 differ in rank"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "s32[2]"}, "concatenate(p0, p1), dimensions={0}"),
              HasSubstr("operands 0 and 1 differ in element type"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "f32[2]"}, "concatenate(p0, p1), dimensions={1}"),
              HasSubstr("1 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "f32[2]"}, "concatenate(p0, p1), dimensions={}"),
              HasSubstr("is not one dimension"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "token[]"}, "concatenate(p0, p1), dimensions={0}"),
              HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({}, "concatenate(), dimensions={0}"),
              HasSubstr("takes at least one operand"));
  EXPECT_THAT(CheckInstruction({"f32[9223372036854775807]", "f32[1]"},
                               "concatenate(p0, p1), dimensions={0}"),
              HasSubstr("does not fit 64 bits"));
}

}  // namespace
}  // namespace xla_indexing::internal
