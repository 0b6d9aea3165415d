#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

TEST(ReduceShapeTest, ReducedDimensionsGo) {
  EXPECT_EQ(CheckInstruction({"f32[2,3,4]", "f32[]"},
                             "reduce(p0, p1), dimensions={2,0}, to_apply=add_f32", kFunctions),
            "f32[3]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[]"},
                             "reduce(p0, p1), dimensions={}, to_apply=add_f32", kFunctions),
            "f32[2,3]");
}

TEST(ReduceShapeTest, SeveralOperandsGiveATuple) {
  constexpr char kText[] = "reduce(p0, p1, p2, p3), dimensions={1}, to_apply=pair";
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "s32[2,3]", "f32[]", "s32[]"}, kText, kFunctions),
            "(f32[2], s32[2])");
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "s32[3,2]", "f32[]", "s32[]"}, kText, kFunctions),
              HasSubstr("operands 0 and 1 differ in size"));
  EXPECT_THAT(CheckInstruction({"s32[2,3]", "f32[2,3]", "f32[]", "s32[]"}, kText, kFunctions),
              HasSubstr("parameter 2 of computation 'pair' is f32[] and should be s32[]"));
}

TEST(ReduceShapeTest, AccumulatorsMayHaveAnotherPrecision) {
  EXPECT_EQ(CheckInstruction({"bf16[2,3]", "f32[]"},
                             "reduce(p0, p1), dimensions={0}, to_apply=add_f32", kFunctions),
            "f32[3]");
}

TEST(ReduceShapeTest, OperandsAndReducerFit) {
  const auto check = [](const std::vector<std::string>& operands, const std::string& attributes) {
    std::string text = "reduce(";
    for (size_t k = 0; k < operands.size(); ++k) absl::StrAppend(&text, k == 0 ? "p" : ", p", k);
    return CheckInstruction(operands, absl::StrCat(text, "), ", attributes), kFunctions);
  };
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={1}, to_apply=add_f32"),
              HasSubstr("1 is not a dimension"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={0,0}, to_apply=add_f32"),
              HasSubstr("dimension 0 is there twice"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "to_apply=add_f32"), HasSubstr("there is no dimensions"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={0}"), HasSubstr("there is no to_apply"));
  EXPECT_THAT(check({"f32[2]", "f32[1]"}, "dimensions={0}, to_apply=add_f32"),
              HasSubstr("operand 1, an initial value, is not a scalar"));
  EXPECT_THAT(check({"f32[2]", "f32[2]", "f32[]"}, "dimensions={0}, to_apply=add_f32"),
              HasSubstr("as many initial values, not 3 operands"));
  EXPECT_THAT(check({"f32[2]", "()"}, "dimensions={0}, to_apply=add_f32"),
              HasSubstr("operand 1 is not an array"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={0}, to_apply=negate_f32"),
              HasSubstr("computation 'negate_f32' should take 2 parameters and takes 1"));
  EXPECT_THAT(check({"s32[2]", "s32[]"}, "dimensions={0}, to_apply=add_f32"),
              HasSubstr("parameter 0 of computation 'add_f32' is f32[] and should be s32[]"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={0}, to_apply=to_s32"),
              HasSubstr("computation 'to_s32' yields (s32[]) and should yield (f32[])"));
  EXPECT_THAT(check({"f32[2]", "f32[]"}, "dimensions={0}, to_apply=add_vectors"),
              HasSubstr("is f32[2] and should be f32[]"));
}

TEST(ReduceShapeTest, TheReducerYieldsOneScalarForEachOperand) {
  constexpr char kTwo[] =
      "two { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = (f32[], f32[]) tuple(a, b) }";
  EXPECT_THAT(
      CheckInstruction({"f32[2]", "f32[]"}, "reduce(p0, p1), dimensions={0}, to_apply=two", kTwo),
      HasSubstr("computation 'two' yields (f32[], f32[]) and should yield a scalar"));
  constexpr char kVector[] =
      "vector { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[1] reshape(a) }";
  EXPECT_THAT(CheckInstruction({"f32[2]", "f32[]"},
                               "reduce(p0, p1), dimensions={0}, to_apply=vector", kVector),
              HasSubstr("computation 'vector' yields f32[1] and should yield a scalar"));
  constexpr char kTuple[] =
      "tuple { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = (f32[]) tuple(a) }";
  EXPECT_EQ(CheckInstruction({"f32[2]", "f32[]"}, "reduce(p0, p1), dimensions={0}, to_apply=tuple",
                             kTuple),
            "(f32[])");
}

TEST(ReduceWindowShapeTest, ADimensionHasAsManyElementsAsTheWindowHasPlaces) {
  const auto check = [](const char* shape, const char* window) {
    return CheckInstruction(
        {shape, "f32[]"},
        absl::StrCat("reduce-window(p0, p1), window={", window, "}, to_apply=add_f32"), kFunctions);
  };
  // 7 + 1 + 1 elements, a window of 3 at 0, 2, 4, 6.
  EXPECT_EQ(check("f32[7]", "size=3 stride=2 pad=1_1"), "f32[4]");
  // Base dilation 2: (4 - 1) * 2 + 1 = 7 elements; window dilation 3: (2 - 1) * 3 + 1 = 4.
  EXPECT_EQ(check("f32[4]", "size=2 lhs_dilate=2 rhs_dilate=3"), "f32[4]");
  EXPECT_EQ(check("f32[2]", "size=3"), "f32[0]");
  EXPECT_EQ(check("f32[0]", "size=1 lhs_dilate=2"), "f32[0]");
  EXPECT_EQ(check("f32[0]", "size=2 pad=1_1"), "f32[1]");
  EXPECT_EQ(check("f32[5]", "size=2 pad=-1_-1"), "f32[2]");
  EXPECT_EQ(check("f32[?,4]", "size=2x2"), "f32[?,3]");
  EXPECT_THAT(check("f32[4]", "size=1x1"),
              HasSubstr("the window has 2 dimensions and the operand has 1"));
  EXPECT_THAT(check("f32[4]", "size=1 pad=-3_-2"),
              HasSubstr("padding -3_-2 takes more than all of dimension 0"));
  EXPECT_THAT(check("f32[4]", "size=1 pad=9223372036854775807_9"),
              HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(check("f32[9223372036854775807]", "size=1 lhs_dilate=9223372036854775807"),
              HasSubstr("does not fit 64 bits"));
}

TEST(ReduceWindowShapeTest, SizesStridesAndDilationsOfAWindowAreAtLeast1) {
  HloModule module("m");
  HloComputation* add = module.AddComputation("add");
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  HloInstruction* a = add->AddParameter(0, "a", scalar);
  HloInstruction* b = add->AddParameter(1, "b", scalar);
  add->AddInstruction(HloOpcode::kAdd, "r", scalar, {a, b});
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* init = main->AddParameter(1, "init", scalar);
  HloInstruction* i = main->AddInstruction(HloOpcode::kReduceWindow, "i", shape, {p, init});
  i->SetAttribute(AttributeKey::kToApply, static_cast<const HloComputation*>(add));
  const auto check = [&](const WindowDimension& dimension) {
    Window window;
    window.dimensions = {dimension};
    i->SetAttribute(AttributeKey::kWindow, static_cast<const Window*>(&window));
    return std::string(CheckShape(*i).message());
  };
  EXPECT_EQ(check({}), "");
  for (int64_t WindowDimension::* field :
       {&WindowDimension::size, &WindowDimension::stride, &WindowDimension::base_dilation,
        &WindowDimension::window_dilation}) {
    WindowDimension dimension;
    dimension.*field = 0;
    EXPECT_THAT(check(dimension), HasSubstr("each of which should be at least 1"));
  }
}

TEST(ReduceWindowShapeTest, WithoutAWindowTheOperandHasRank0) {
  EXPECT_EQ(
      CheckInstruction({"f32[]", "f32[]"}, "reduce-window(p0, p1), to_apply=add_f32", kFunctions),
      "f32[]");
  EXPECT_THAT(
      CheckInstruction({"f32[2]", "f32[]"}, "reduce-window(p0, p1), to_apply=add_f32", kFunctions),
      HasSubstr("the window has 0 dimensions and the operand has 1"));
}

TEST(ReduceWindowShapeTest, SeveralOperandsGiveATuple) {
  EXPECT_EQ(
      CheckInstruction({"f32[4]", "s32[4]", "f32[]", "s32[]"},
                       "reduce-window(p0, p1, p2, p3), window={size=2}, to_apply=pair", kFunctions),
      "(f32[3], s32[3])");
  EXPECT_THAT(
      CheckInstruction({"f32[4]", "f32[2]"},
                       "reduce-window(p0, p1), window={size=2}, to_apply=add_f32", kFunctions),
      HasSubstr("operand 1, an initial value, is not a scalar"));
}

TEST(SelectAndScatterShapeTest, TheSourceHasAnElementForEachPlaceOfTheWindow) {
  const auto check = [](const std::vector<std::string>& operands, const std::string& functions) {
    return CheckInstruction(
        operands,
        absl::StrCat("select-and-scatter(p0, p1, p2), window={size=2 stride=2}, ", functions),
        kFunctions);
  };
  const std::string functions = "select=less_f32, scatter=add_f32";
  EXPECT_EQ(check({"f32[6]", "f32[3]", "f32[]"}, functions), "f32[6]");
  EXPECT_THAT(check({"f32[6]", "f32[4]", "f32[]"}, functions),
              HasSubstr("the source should have the sizes of f32[3]"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[1]"}, functions),
              HasSubstr("operand 2, the initial value, is not a scalar"));
  EXPECT_THAT(check({"f32[6]", "s32[3]", "f32[]"}, functions),
              HasSubstr("operand and source differ in element type"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "()"}, functions), HasSubstr("not an array"));
  EXPECT_THAT(check({"f32[6,6]", "f32[3]", "f32[]"}, functions),
              HasSubstr("the window has 1 dimensions"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "select=add_f32, scatter=add_f32"),
              HasSubstr("computation 'add_f32' yields f32[] and should yield pred[]"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "select=add_vectors, scatter=add_f32"),
              HasSubstr("parameter 0 of computation 'add_vectors'"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "select=pred_pair, scatter=add_f32"),
              HasSubstr("pred_pair"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "scatter=add_f32"),
              HasSubstr("there is no select"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "select=less_f32"),
              HasSubstr("there is no scatter"));
  EXPECT_THAT(check({"f32[6]", "f32[3]", "f32[]"}, "select=less_f32, scatter=add_s32"),
              HasSubstr("parameter 0 of computation 'add_s32' is s32[] and should be f32[]"));
}

TEST(MapShapeTest, TheFunctionGivesTheElementType) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[2,3]"},
                             "map(p0, p1), dimensions={0,1}, to_apply=less_f32", kFunctions),
            "pred[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "map(p0), to_apply=negate_f32", kFunctions), "f32[2,3]");
  EXPECT_THAT(
      CheckInstruction({"f32[2,3]"}, "map(p0), dimensions={1,0}, to_apply=negate_f32", kFunctions),
      HasSubstr("dimensions={1,0} are not all dimensions in order"));
  EXPECT_THAT(
      CheckInstruction({"f32[2,3]"}, "map(p0), dimensions={0}, to_apply=negate_f32", kFunctions),
      HasSubstr("are not all dimensions in order"));
  EXPECT_THAT(CheckInstruction({"f32[2]", "f32[3]"}, "map(p0, p1), to_apply=add_f32", kFunctions),
              HasSubstr("operands 0 and 1 differ in size"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "map(p0), to_apply=add_f32", kFunctions),
              HasSubstr("should take 1 parameter and takes 2"));
  EXPECT_THAT(
      CheckInstruction({"f32[2]", "f32[2]"}, "map(p0, p1), to_apply=add_vectors", kFunctions),
      HasSubstr("add_vectors"));
  EXPECT_THAT(CheckInstruction({}, "map(), to_apply=add_f32", kFunctions),
              HasSubstr("takes at least one operand"));
  EXPECT_THAT(CheckInstruction({"()"}, "map(p0), to_apply=negate_f32", kFunctions),
              HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "map(p0)"), HasSubstr("there is no to_apply"));
}

TEST(SortShapeTest, OneOperandGivesAnArrayAndSeveralATuple) {
  EXPECT_EQ(
      CheckInstruction({"f32[2,3]"}, "sort(p0), dimensions={1}, to_apply=less_f32", kFunctions),
      "f32[2,3]");
  constexpr char kLess[] =
      "less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) "
      "d = s32[] parameter(3) ROOT r = pred[] compare(a, b), direction=LT }";
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "s32[2,3]"},
                             "sort(p0, p1), dimensions={0}, to_apply=less", kLess),
            "(f32[2,3], s32[2,3])");
  EXPECT_THAT(CheckInstruction({"s32[2,3]", "f32[2,3]"},
                               "sort(p0, p1), dimensions={0}, to_apply=less", kLess),
              HasSubstr("parameter 0 of computation 'less' is f32[] and should be s32[]"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "s32[3,2]"},
                               "sort(p0, p1), dimensions={0}, to_apply=less", kLess),
              HasSubstr("operands 0 and 1 differ in size"));
  EXPECT_THAT(
      CheckInstruction({"f32[2]"}, "sort(p0), dimensions={1}, to_apply=less_f32", kFunctions),
      HasSubstr("1 is not a dimension"));
  EXPECT_THAT(
      CheckInstruction({"f32[2]"}, "sort(p0), dimensions={0}, to_apply=add_f32", kFunctions),
      HasSubstr("yields f32[] and should yield pred[]"));
  EXPECT_THAT(CheckInstruction({}, "sort(), dimensions={0}, to_apply=add_f32", kFunctions),
              HasSubstr("takes at least one operand"));
  EXPECT_THAT(CheckInstruction({"()"}, "sort(p0), dimensions={0}, to_apply=add_f32", kFunctions),
              HasSubstr("not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "sort(p0), dimensions={0}"),
              HasSubstr("there is no to_apply"));
}

// Takes rows of 3 and sums of 3, yields sums and, for each row, one number.
constexpr char kStep[] = R"(step {
  row = f32[3] parameter(0)
  sum = f32[3] parameter(1)
  next = f32[3] add(row, sum)
  first = f32[1] slice(row), slice={[0:1]}
  one = s32[] constant(1)
  ROOT r = (f32[1], s32[], f32[3]) tuple(first, one, next)
})";

TEST(ScanShapeTest, OutputsGetTheScannedDimensionAndCarriesKeepTheirShape) {
  // dimensions={1} of f32[3,5] leaves rows f32[3].
  EXPECT_EQ(CheckInstruction({"f32[5,3]", "f32[3]"},
                             "scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step", kStep),
            "(f32[5,1], s32[5], f32[3])");
  EXPECT_THAT(CheckInstruction({"f32[3,5]", "f32[3]"},
                               "scan(p0, p1), dimensions={1}, num_carries=1, to_apply=step", kStep),
              HasSubstr("element 1 of what computation 'step' yields is s32[], to which no "
                        "dimension 1 can be added"));
}

TEST(ScanShapeTest, OperandsAndFunctionFit) {
  const auto check = [](const std::vector<std::string>& operands, const char* attributes) {
    return CheckInstruction(operands, absl::StrCat("scan(p0, p1), ", attributes),
                            absl::StrCat(kStep, kFunctions));
  };
  EXPECT_THAT(check({"f32[5,3]", "f32[3]"}, "dimensions={0}, to_apply=step"),
              HasSubstr("there is no num_carries"));
  EXPECT_THAT(check({"f32[5,3]", "f32[3]"}, "dimensions={0}, num_carries=2, to_apply=step"),
              HasSubstr("num_carries=2 leaves no input among 2 operands"));
  EXPECT_THAT(check({"f32[5,3]", "f32[3]"}, "dimensions={0}, num_carries=-1, to_apply=step"),
              HasSubstr("num_carries=-1"));
  EXPECT_THAT(check({"f32[5,3]", "f32[3]"}, "dimensions={2}, num_carries=1, to_apply=step"),
              HasSubstr("2 is not a dimension"));
  EXPECT_THAT(check({"f32[5,3]", "f32[4,3]"}, "dimensions={0}, num_carries=0, to_apply=step"),
              HasSubstr("operands 0 and 1 differ in the size of dimension 0"));
  EXPECT_THAT(check({"f32[5,3]", "f32[]"}, "dimensions={0}, num_carries=0, to_apply=step"),
              HasSubstr("operands 0 and 1 differ in the size of dimension 0"));
  EXPECT_THAT(check({"f32[5,2]", "f32[3]"}, "dimensions={0}, num_carries=1, to_apply=step"),
              HasSubstr("parameter 0 of computation 'step' is f32[3] and is given f32[2]"));
  // An array alone is the only carry, or the only output.
  EXPECT_EQ(check({"f32[5]", "f32[]"}, "dimensions={0}, num_carries=1, to_apply=add_f32"), "f32[]");
  EXPECT_EQ(check({"f32[5]", "f32[5]"}, "dimensions={0}, num_carries=0, to_apply=add_f32"),
            "f32[5]");
  EXPECT_THAT(check({"f32[]", "f32[]"}, "dimensions={0}, num_carries=2, to_apply=add_f32"),
              HasSubstr("num_carries=2"));
  EXPECT_THAT(check({"f32[5,3]", "()"}, "dimensions={0}, num_carries=1, to_apply=step"),
              HasSubstr("not an array"));
  EXPECT_THAT(check({"f32[5,3]", "f32[3]"}, "dimensions={0}, num_carries=1"),
              HasSubstr("there is no to_apply"));
  constexpr char kForgets[] =
      "forgets { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] constant(0) "
      "ROOT r = (f32[], s32[]) tuple(a, c) }";
  EXPECT_THAT(
      CheckInstruction({"f32[5]", "f32[]"},
                       "scan(p0, p1), dimensions={0}, num_carries=1, to_apply=forgets", kForgets),
      HasSubstr("carry 0 is f32[] and computation 'forgets' yields s32[] for it"));
}

TEST(TopkShapeTest, ValuesAndPositionsOfTheLastDimension) {
  EXPECT_EQ(CheckInstruction({"bf16[4,10]"}, "topk(p0), k=3, largest=true"),
            "(bf16[4,3], s32[4,3])");
  EXPECT_THAT(CheckInstruction({"f32[4,10]"}, "topk(p0), k=11, largest=true"),
              HasSubstr("k=11 is not from 0 to the size of the last dimension"));
  EXPECT_THAT(CheckInstruction({"f32[4,10]"}, "topk(p0), k=-1"), HasSubstr("k=-1"));
  EXPECT_THAT(CheckInstruction({"f32[]"}, "topk(p0), k=0"), HasSubstr("k=0 is not"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "topk(p0)"), HasSubstr("there is no k"));
  EXPECT_THAT(CheckInstruction({"()"}, "topk(p0), k=1"), HasSubstr("not an array"));
}

}  // namespace
}  // namespace xla_indexing::internal
