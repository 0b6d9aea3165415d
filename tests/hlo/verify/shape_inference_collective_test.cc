#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

TEST(AllGatherShapeTest, TheResultIsAMultipleOfTheOperand) {
  EXPECT_EQ(CheckInstruction({"f32[4,3]"}, "f32[4,12] all-gather(p0), dimensions={1}"),
            "f32[4,12]");
  EXPECT_EQ(
      CheckInstruction({"f32[4]", "s8[0]"}, "(f32[8], s8[0]) all-gather(p0, p1), dimensions={0}"),
      "(f32[8], s8[0])");
  EXPECT_THAT(CheckInstruction({"f32[4,3]"}, "f32[4,13] all-gather(p0), dimensions={1}"),
              HasSubstr("dimension 1 of f32[4,13] is not a multiple of that of f32[4,3]"));
  // An empty array does not consist of parts that have elements.
  EXPECT_THAT(CheckInstruction({"f32[4,3]"}, "f32[4,0] all-gather(p0), dimensions={1}"),
              HasSubstr("dimension 1 of f32[4,0] is not a multiple of that of f32[4,3]"));
  EXPECT_THAT(CheckInstruction({"f32[0]"}, "f32[1] all-gather(p0), dimensions={0}"),
              HasSubstr("dimension 0 of f32[1] is not a multiple"));
  EXPECT_THAT(CheckInstruction({"f32[4,3]"}, "f32[8,3] all-gather(p0), dimensions={1}"),
              HasSubstr("f32[8,3] and its parts f32[4,3] differ in dimension 0"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "s32[8] all-gather(p0), dimensions={0}"),
              HasSubstr("s32[8] does not consist of parts f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f32[8,1] all-gather(p0), dimensions={0}"),
              HasSubstr("f32[8,1] does not consist of parts f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(f32[8]) all-gather(p0), dimensions={0}"),
              HasSubstr("does not consist of parts"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[4]"}, "(f32[8]) all-gather(p0, p1), dimensions={0}"),
              HasSubstr("does not consist of parts"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[4]"},
                               "(f32[8], f32[12]) all-gather(p0, p1), dimensions={0}"),
              HasSubstr("is one of 3 parts, where an operand before it is one of 2"));
  EXPECT_THAT(CheckInstruction({"f32[4,4]", "f32[4]"},
                               "(f32[4,8], f32[8]) all-gather(p0, p1), dimensions={1}"),
              HasSubstr("1 is not a dimension of an array of rank 1"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f32[8] all-gather(p0), dimensions={1}"),
              HasSubstr("1 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f32[8] all-gather(p0)"), HasSubstr("no dimensions"));
  EXPECT_THAT(CheckInstruction({}, "f32[8] all-gather(), dimensions={0}"),
              HasSubstr("takes at least one operand"));
  EXPECT_THAT(CheckInstruction({"()"}, "f32[8] all-gather(p0), dimensions={0}"),
              HasSubstr("operand 0 is not an array"));
}

TEST(AllGatherShapeTest, AStartHasThePairOfOperandAndResultOrTheResultAlone) {
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "(f32[4], f32[8]) all-gather-start(p0), dimensions={0}"),
            "(f32[4], f32[8])");
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "f32[8] all-gather-start(p0), dimensions={0}"), "f32[8]");
  EXPECT_EQ(CheckInstruction({"f32[4]", "s8[2]"},
                             "((f32[4], s8[2]), (f32[8], s8[4])) all-gather-start(p0, p1), "
                             "dimensions={0}"),
            "((f32[4], s8[2]), (f32[8], s8[4]))");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(f32[4], f32[9]) all-gather-start(p0), dimensions={0}"),
              HasSubstr("dimension 0 of f32[9] is not a multiple of that of f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(f32[5], f32[8]) all-gather-start(p0), dimensions={0}"),
              HasSubstr("does not consist of parts f32[4]"));
}

TEST(CollectiveDoneShapeTest, ADoneYieldsTheResultOfItsStart) {
  EXPECT_EQ(CheckInstruction({"(f32[4], f32[8])"}, "all-gather-done(p0)"), "f32[8]");
  EXPECT_EQ(CheckInstruction({"f32[8]"}, "all-gather-done(p0)"), "f32[8]");
  EXPECT_EQ(CheckInstruction({"(f32[4], f32[4], u32[], u32[])"}, "collective-permute-done(p0)"),
            "f32[4]");
  EXPECT_THAT(CheckInstruction({"(f32[4], f32[8])"}, "f32[4] all-gather-done(p0)"),
              HasSubstr("has shape f32[4] but its operands and attributes give f32[8]"));
  EXPECT_THAT(CheckInstruction({"(f32[4])"}, "all-gather-done(p0)"),
              HasSubstr("neither an array nor a pair"));
}

TEST(ReduceScatterShapeTest, TheOperandIsAMultipleOfTheResult) {
  EXPECT_EQ(
      CheckInstruction({"f32[8,3]"},
                       "f32[2,3] reduce-scatter(p0), dimensions={0}, to_apply=add_f32", kFunctions),
      "f32[2,3]");
  EXPECT_THAT(
      CheckInstruction({"f32[8]"}, "f32[3] reduce-scatter(p0), dimensions={0}, to_apply=add_f32",
                       kFunctions),
      HasSubstr("dimension 0 of f32[8] is not a multiple of that of f32[3]"));
  EXPECT_THAT(CheckInstruction({"f32[8]"}, "f32[4] reduce-scatter(p0), dimensions={0}"),
              HasSubstr("there is no to_apply"));
  EXPECT_THAT(
      CheckInstruction({"f32[8]"}, "f32[4] reduce-scatter(p0), to_apply=add_f32", kFunctions),
      HasSubstr("there is no dimensions"));
}

TEST(AllReduceShapeTest, TheResultHasTheShapesOfTheOperands) {
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "all-reduce(p0), to_apply=add_f32", kFunctions), "f32[4]");
  EXPECT_EQ(
      CheckInstruction({"f32[4]", "s8[2]"}, "all-reduce(p0, p1), to_apply=add_f32", kFunctions),
      "(f32[4], s8[2])");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "f32[5] all-reduce(p0), to_apply=add_f32", kFunctions),
              HasSubstr("has shape f32[5] but its operands and attributes give f32[4]"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "all-reduce(p0)"), HasSubstr("there is no to_apply"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "all-reduce(p0), to_apply=negate_f32", kFunctions),
              HasSubstr("should take 2 parameters and takes 1"));
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "all-reduce(p0), to_apply=add_vectors", kFunctions),
            "f32[4]");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "all-reduce(p0), to_apply=two",
                               "two { a = f32[] parameter(0) b = f32[] parameter(1) "
                               "ROOT r = (f32[], f32[]) tuple(a, b) }"),
              HasSubstr("should yield a scalar"));
  EXPECT_THAT(CheckInstruction({"token[]"}, "all-reduce(p0), to_apply=add_f32", kFunctions),
              HasSubstr("not an array"));
}

TEST(AllReduceShapeTest, AStartHasTheResultOrThePairOfOperandAndResult) {
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "all-reduce-start(p0), to_apply=add_f32", kFunctions),
            "f32[4]");
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "(f32[4], f32[4]) all-reduce-start(p0), to_apply=add_f32",
                             kFunctions),
            "(f32[4], f32[4])");
  EXPECT_THAT(
      CheckInstruction({"f32[4]"}, "(f32[4], f32[5]) all-reduce-start(p0), to_apply=add_f32",
                       kFunctions),
      HasSubstr("has shape (f32[4], f32[5]) but its operands and attributes give "
                "(f32[4], f32[4])"));
  EXPECT_THAT(
      CheckInstruction({"f32[4]"}, "f32[5] all-reduce-start(p0), to_apply=add_f32", kFunctions),
      HasSubstr("has shape f32[5]"));
  EXPECT_THAT(CheckInstruction({"()"}, "f32[5] all-reduce-start(p0), to_apply=add_f32", kFunctions),
              HasSubstr("not an array"));
}

// Text of a start and its done in an entry of their own.
std::string CheckAllReduceDone(absl::string_view start) {
  const std::string callee = absl::StrCat(
      kFunctions, "\nwrapped { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n s = ", start,
      ", to_apply=add_f32\n ROOT d = all-reduce-done(s) }\n");
  return CheckInstruction({"f32[4]", "f32[4]"}, "call(p0, p1), to_apply=wrapped", callee);
}

TEST(AllReduceShapeTest, ADoneYieldsTheResultInEachForm) {
  EXPECT_EQ(CheckAllReduceDone("f32[4] all-reduce-start(a)"), "f32[4]");
  EXPECT_EQ(CheckAllReduceDone("(f32[4], f32[4]) all-reduce-start(a)"), "f32[4]");
  EXPECT_EQ(CheckAllReduceDone("(f32[4], f32[4]) all-reduce-start(a, b)"), "(f32[4], f32[4])");
  EXPECT_EQ(CheckAllReduceDone("((f32[4], f32[4]), (f32[4], f32[4])) all-reduce-start(a, b)"),
            "(f32[4], f32[4])");
}

TEST(AllToAllShapeTest, AnArrayIsSplitAlongADimensionAndATupleIsExchanged) {
  EXPECT_EQ(CheckInstruction({"f32[4,6]"}, "all-to-all(p0), dimensions={1}"), "f32[4,6]");
  EXPECT_EQ(CheckInstruction({"f32[4]", "f32[4]"}, "all-to-all(p0, p1)"), "(f32[4], f32[4])");
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "all-to-all(p0)"), "(f32[4])");
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[5]"}, "all-to-all(p0, p1)"),
              HasSubstr("operands 0 and 1 differ in shape"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "bf16[4]"}, "all-to-all(p0, p1)"),
              HasSubstr("operands 0 and 1 differ in shape"));
  // No layout is the row-major one.
  EXPECT_EQ(CheckInstruction({"f32[4,6]", "f32[4,6]{1,0}"}, "all-to-all(p0, p1)"),
            "(f32[4,6], f32[4,6])");
  EXPECT_THAT(CheckInstruction({"f32[4,6]", "f32[4,6]", "f32[4,6]{0,1}"}, "all-to-all(p0, p1, p2)"),
              HasSubstr("operands 0 and 2 differ in layout, {1,0} and {0,1}"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "all-to-all(p0), dimensions={1}"),
              HasSubstr("1 is not a dimension"));
  EXPECT_THAT(CheckInstruction({"f32[4]", "f32[4]"}, "all-to-all(p0, p1), dimensions={0}"),
              HasSubstr("takes one operand to split along a dimension, not 2"));
  EXPECT_THAT(CheckInstruction({}, "all-to-all()"), HasSubstr("takes at least one operand"));
  EXPECT_THAT(CheckInstruction({"()"}, "all-to-all(p0)"), HasSubstr("not an array"));
}

TEST(RaggedAllToAllShapeTest, TheResultHasTheShapeOfTheOutputOperand) {
  const auto check = [](const char* input, const char* output, const char* last) {
    return CheckInstruction({input, output, "s32[3]", "s32[3]", "s32[3]", last},
                            "ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={{0,1,2}}");
  };
  EXPECT_EQ(check("f32[6,2]", "f32[9,2]", "s32[3]"), "f32[9,2]");
  EXPECT_THAT(check("f32[6,2]", "s32[9,2]", "s32[3]"), HasSubstr("differ in element type or rank"));
  EXPECT_THAT(check("f32[6]", "f32[9,2]", "s32[3]"), HasSubstr("differ in element type or rank"));
  EXPECT_THAT(check("f32[]", "f32[]", "s32[3]"), HasSubstr("or have rank 0"));
  EXPECT_THAT(check("f32[6,2]", "f32[9,3]", "s32[3]"), HasSubstr("differ in dimension 1"));
  EXPECT_THAT(check("f32[6]", "f32[9]", "s32[4]"),
              HasSubstr("operand 5 is not an array of integers"));
  EXPECT_THAT(check("f32[6]", "f32[9]", "f32[3]"),
              HasSubstr("operand 5 is not an array of integers"));
  EXPECT_THAT(check("f32[6]", "()", "s32[3]"), HasSubstr("operand 1 is not an array"));
  EXPECT_THAT(CheckInstruction({"f32[6]", "f32[6]", "s32[]", "s32[]", "s32[]", "s32[]"},
                               "ragged-all-to-all(p0, p1, p2, p3, p4, p5)"),
              HasSubstr("operand 2 is not an array of integers"));
}

TEST(CollectivePermuteShapeTest, TheResultHasTheShapesOfTheOperands) {
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "collective-permute(p0), source_target_pairs={{0,1}}"),
            "f32[4]");
  EXPECT_EQ(CheckInstruction({"f32[4]", "s8[2]"}, "collective-permute(p0, p1)"), "(f32[4], s8[2])");
  EXPECT_EQ(CheckInstruction({"f32[4]", "f32[9]", "s32[]", "s32[]"},
                             "collective-permute(p0, p1, p2, p3), slice_sizes={{2}}"),
            "f32[9]");
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "f32[9]"}, "collective-permute(p0, p1), slice_sizes={{2}}"),
      HasSubstr("takes 4 operands with slice_sizes, not 2"));
  EXPECT_THAT(CheckInstruction({}, "collective-permute()"), HasSubstr("at least one operand"));
  EXPECT_THAT(CheckInstruction({}, "collective-permute-start()"),
              HasSubstr("at least one operand"));
  EXPECT_THAT(CheckInstruction({}, "f32[] collective-permute-start()"),
              HasSubstr("at least one operand"));
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "collective-permute-start(p0)"), "(f32[4], f32[4])");
  EXPECT_EQ(
      CheckInstruction({"f32[4]"}, "(f32[4], f32[4], u32[], u32[]) collective-permute-start(p0)"),
      "(f32[4], f32[4], u32[], u32[])");
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "f32[4] collective-permute-start(p0)"), "f32[4]");
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "(f32[4], f32[5]) collective-permute-start(p0)"),
              HasSubstr("give (f32[4], f32[4])"));
}

TEST(CollectiveBroadcastShapeTest, TheResultHasTheShapesOfTheOperands) {
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "collective-broadcast(p0)"), "f32[4]");
  EXPECT_EQ(CheckInstruction({"f32[4]", "s8[2]"}, "collective-broadcast(p0, p1)"),
            "(f32[4], s8[2])");
  EXPECT_THAT(CheckInstruction({}, "collective-broadcast()"), HasSubstr("at least one operand"));
}

TEST(DeviceIdShapeTest, IdsAreUnsignedScalars) {
  EXPECT_EQ(CheckInstruction({}, "partition-id()"), "u32[]");
  EXPECT_EQ(CheckInstruction({}, "replica-id()"), "u32[]");
  EXPECT_THAT(CheckInstruction({}, "s32[] replica-id()"), HasSubstr("give u32[]"));
}

}  // namespace
}  // namespace xla_indexing
