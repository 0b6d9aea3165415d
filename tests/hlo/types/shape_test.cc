#include "xla_indexing/hlo/types/shape.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Shape ParseShapeText(absl::string_view text) {
  const absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << text << ": " << shape.status().message();
  return shape.ok() ? *shape : Shape();
}

std::string ShapeErrorOf(absl::string_view text) {
  return std::string(ParseShape(text).status().message());
}

// Space may stand before the sizes, the layout, and anywhere within.
TEST(Feature12Shapes, MayHaveSpaceInThem) {
  const auto module = RoundTrip(
      Entry("p0 = s32 [5696,10,4] parameter(0)\np1 = (f32 [2] {0}, pred []) parameter(1)\n"
            "ROOT a = s32\n[ 5696, 10, 4 ]{2, 1,0} add(s32 [5696,10,4] p0, p0)"));
  ASSERT_NE(module, nullptr);
  const HloComputation& e = *module->entry_computation();
  EXPECT_EQ(e.parameter(0)->shape().ToString(), "s32[5696,10,4]");
  EXPECT_EQ(e.parameter(1)->shape().ToString(), "(f32[2]{0}, pred[])");
  EXPECT_EQ(Root(*module).shape().ToString(), "s32[5696,10,4]{2,1,0}");
}

TEST(ElementType, EveryNameReadsBackAndHasItsWidth) {
  for (const char* name :
       {"pred",          "s1",       "s2",         "s4",       "s8",         "s16",
        "s32",           "s64",      "u1",         "u2",       "u4",         "u8",
        "u16",           "u32",      "u64",        "f16",      "bf16",       "f32",
        "f64",           "c64",      "c128",       "f4e2m1fn", "f8e3m4",     "f8e4m3",
        "f8e4m3b11fnuz", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",   "f8e5m2fnuz", "f8e8m0fnu"}) {
    const auto type = ElementTypeFromName(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(ElementTypeName(*type), name);
    EXPECT_TRUE(IsArrayType(*type));
    EXPECT_EQ(ParseShapeText(absl::StrCat(name, "[2]")).element_type(), *type);
  }
  EXPECT_FALSE(ElementTypeFromName("tuple").has_value());
  EXPECT_FALSE(ElementTypeFromName("f33").has_value());
  EXPECT_EQ(BitWidth(ElementType::kS4), 4);
  EXPECT_EQ(BitWidth(ElementType::kF4E2M1FN), 4);
  EXPECT_EQ(BitWidth(ElementType::kF8E8M0FNU), 8);
  EXPECT_EQ(BitWidth(ElementType::kC128), 128);
  EXPECT_EQ(StorageBitWidth(ElementType::kPred), 8);
  EXPECT_EQ(ComplexComponentType(ElementType::kC64), ElementType::kF32);
}

TEST(Feature12Shapes, ArraysTuplesTokensOpaqueAndBuffersReadBack) {
  for (const char* text :
       {"f32[]", "f32[2,0,3]", "(f32[2], (s32[], pred[]))", "()", "((), ())", "token[]", "opaque[]",
        "b(f32[4,16])", "(b(f32[4]), token[])", "bf16[1]{0}"}) {
    EXPECT_EQ(ParseShapeText(text).ToString(), text);
    EXPECT_EQ(ParseShapeText(ParseShapeText(text).ToString()), ParseShapeText(text));
  }
  EXPECT_TRUE(ParseShapeText("()").IsTuple());
  EXPECT_TRUE(ParseShapeText("token[]{}").IsToken());
  EXPECT_TRUE(ParseShapeText("b(f32[4,16])").IsBuffer());
  EXPECT_THAT(ParseShapeText("f32[2,0,3]").dimensions(), ElementsAre(2, 0, 3));
}

TEST(Feature13DynamicDimensions, BoundedAndUnbounded) {
  const Shape shape = ParseShapeText("f32[<=10,4,?]");
  EXPECT_EQ(shape.ToString(), "f32[<=10,4,?]");
  EXPECT_EQ(shape.dimension(0), 10);
  EXPECT_TRUE(shape.IsDynamicDimension(0));
  EXPECT_FALSE(shape.IsUnboundedDimension(0));
  EXPECT_FALSE(shape.IsDynamicDimension(1));
  EXPECT_TRUE(shape.IsUnboundedDimension(2));
  EXPECT_TRUE(shape.HasUnboundedDimension());
  EXPECT_FALSE(shape.IsStatic());
  EXPECT_FALSE(ParseShapeText("(f32[2], f32[<=3])").IsStatic());
  EXPECT_NE(ParseShapeText("f32[<=10]"), ParseShapeText("f32[10]"));
  EXPECT_TRUE(SameDimensions(ParseShapeText("f32[<=10]"), ParseShapeText("s8[10]")));
}

TEST(Feature14Layouts, EveryPartReadsBack) {
  for (const char* text :
       {"f32[2,3]{1,0}", "f32[2,3]{0,1}", "f32[]{}", "f32[8,128]{1,0:T(8,128)(2,1)}",
        "f32[8,128]{1,0:T(*,128)}", "f32[4]{0:L(1024)}", "f32[4]{0:#(u32)*(u64)}", "s4[4]{0:E(4)}",
        "f32[4]{0:S(1)}", "f32[4,200]{1,0:SC(1:100,150)}", "f32[10]{0:P(f32[10,10]{1,0})}",
        "f32[4]{0:M(1024)}", "f32[4,4]{1,0:D(D,C+~)}",
        "f32[4]{0:T(2)L(8)#(u8)*(u16)E(32)S(5)SC(0:2)P((f32[1], s32[]))M(16)}", "f32[]{:T(256)}"}) {
    EXPECT_EQ(ParseShapeText(text).ToString(), text);
    EXPECT_EQ(ParseShapeText(ParseShapeText(text).ToString()), ParseShapeText(text));
  }
  const Shape shape = ParseShapeText("s4[4,6]{0,1:T(8,128)(2,1)E(4)S(3)}");
  ASSERT_TRUE(shape.has_layout());
  EXPECT_THAT(shape.layout()->minor_to_major, ElementsAre(0, 1));
  ASSERT_EQ(shape.layout()->tiles.size(), 2u);
  EXPECT_THAT(shape.layout()->tiles[1].dimensions, ElementsAre(2, 1));
  EXPECT_EQ(shape.layout()->element_size_in_bits, 4);
  EXPECT_EQ(shape.layout()->memory_space, 3);
  EXPECT_EQ(shape.ToStringWithoutLayout(), "s4[4,6]");
}

TEST(Feature14Layouts, CountInEqualityUnlessIgnored) {
  EXPECT_NE(ParseShapeText("f32[2,3]"), ParseShapeText("f32[2,3]{1,0}"));
  EXPECT_NE(ParseShapeText("f32[4]{0}"), ParseShapeText("f32[4]{0:S(1)}"));
  EXPECT_NE(ParseShapeText("(f32[2,3]{0,1})"), ParseShapeText("(f32[2,3]{1,0})"));
  EXPECT_TRUE(EqualIgnoringLayout(ParseShapeText("(f32[2,3]{0,1})"), ParseShapeText("(f32[2,3])")));
  EXPECT_FALSE(EqualIgnoringLayout(ParseShapeText("(f32[2,3])"), ParseShapeText("(f32[3,2])")));
  EXPECT_THAT(ParseShapeText("f32[2,3,4]").LayoutOrRowMajor().minor_to_major, ElementsAre(2, 1, 0));
  Shape tuple = ParseShapeText("(f32[2]{0}, (s32[1]{0}))");
  tuple.ClearLayout();
  EXPECT_EQ(tuple, ParseShapeText("(f32[2], (s32[1]))"));
}

TEST(Shape, LeavesAreTheArraysDepthFirst) {
  const Shape shape = ParseShapeText("(f32[2], (s32[], token[], pred[7]), (), b(u8[3]), opaque[])");
  EXPECT_EQ(shape.LeafCount(), 4);
  std::vector<std::string> leaves;
  for (const Shape* leaf : shape.Leaves()) leaves.push_back(leaf->ToString());
  EXPECT_THAT(leaves, ElementsAre("f32[2]", "s32[]", "pred[7]", "u8[3]"));
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(shape.Leaf(i).ToString(), leaves[i]);
  EXPECT_EQ(shape.FirstLeafOfElement(0), 0);
  EXPECT_EQ(shape.FirstLeafOfElement(1), 1);
  EXPECT_EQ(shape.FirstLeafOfElement(3), 3);
  EXPECT_EQ(ParseShapeText("f32[2]").LeafCount(), 1);
  EXPECT_EQ(&shape.tuple_element(0).Leaf(0), &shape.tuple_element(0));
  EXPECT_EQ(ParseShapeText("token[]").LeafCount(), 0);
}

TEST(Shape, ElementCountIsCheckedForOverflow) {
  EXPECT_EQ(*ParseShapeText("f32[]").ElementCount(), 1);
  EXPECT_EQ(*ParseShapeText("f32[2,<=3]").ElementCount(), 6);
  EXPECT_EQ(*ParseShapeText("f32[4611686018427387904,0]").ElementCount(), 0);
  EXPECT_EQ(*ParseShapeText("f32[4611686018427387904]").ElementCount(), int64_t{1} << 62);
  EXPECT_FALSE(ParseShapeText("f32[?]").ElementCount().ok());
  EXPECT_FALSE(ParseShapeText("()").ElementCount().ok());
  EXPECT_THAT(ShapeErrorOf("f32[4611686018427387904,2]"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(ShapeErrorOf("f32[4611686018427387904,2,0]"), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(ShapeErrorOf("f32[9223372036854775808]"), HasSubstr("does not fit 64 bits"));
}

TEST(Shape, WrongTextSaysWhereAndWhatWasExpected) {
  EXPECT_EQ(ShapeErrorOf("f33[2]"), "column 1: expected an element type, found 'f33'");
  EXPECT_EQ(ShapeErrorOf("f32[2"), "column 6: expected ']', found the end of the text");
  EXPECT_EQ(ShapeErrorOf("f32[-2]"), "column 5: the size of a dimension is negative");
  EXPECT_EQ(ShapeErrorOf("f32[2] x"), "column 8: expected the end of the shape, found 'x'");
  EXPECT_EQ(ShapeErrorOf("f32[2,3]{0}"),
            "column 9: this layout has 1 dimensions, its array f32[2,3] has 2");
  EXPECT_THAT(ShapeErrorOf("f32[2,3]{0,0}"), HasSubstr("no permutation of the dimensions 0 to 1"));
  EXPECT_THAT(ShapeErrorOf("f32[2,3]{0,2}"), HasSubstr("no permutation"));
  EXPECT_THAT(ShapeErrorOf("b(f32[2], f32[2])"), HasSubstr("a buffer holds one array"));
  EXPECT_THAT(ShapeErrorOf("token[2]"), HasSubstr("token has no dimensions"));
  EXPECT_THAT(ShapeErrorOf("(f32[2], "), HasSubstr("expected an element type, found the end"));
  EXPECT_NE(ShapeErrorOf(""), "");
}

TEST(Shape, NestingIsBounded) {
  const auto nested = [](int depth) {
    return std::string(depth, '(') + "f32[]" + std::string(depth, ')');
  };
  EXPECT_TRUE(ParseShape(nested(256)).ok());
  EXPECT_THAT(ShapeErrorOf(nested(257)), HasSubstr("nested more than 256 deep"));
  EXPECT_THAT(ShapeErrorOf(nested(1000000)), HasSubstr("nested more than 256 deep"));
  std::string physical = "f32[]";
  for (int i = 0; i < 1000; ++i) physical = "f32[]{:P(" + physical + ")}";
  EXPECT_THAT(ShapeErrorOf(physical), HasSubstr("nested more than 256 deep"));
}

}  // namespace
}  // namespace xla_indexing
