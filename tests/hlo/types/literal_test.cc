#include "xla_indexing/hlo/types/literal.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "xla_indexing/hlo/text/parts/float_format.h"
#include "xla_indexing/hlo/text/printer.h"

namespace xla_indexing::internal {
namespace {

using ::testing::HasSubstr;

std::string ConstantText(absl::string_view shape, absl::string_view value) {
  return Entry(absl::StrCat("ROOT c = ", shape, " constant(", value, ")"));
}

// The literal of a constant, after a round trip.
Literal ParseLiteralOrDie(absl::string_view shape, absl::string_view value) {
  SCOPED_TRACE(absl::StrCat(shape, " constant(", value, ")"));
  const auto module = RoundTrip(ConstantText(shape, value));
  return module == nullptr ? Literal() : *Root(*module).literal();
}

std::string ConstantError(absl::string_view shape, absl::string_view value) {
  return ErrorOf(ConstantText(shape, value));
}

std::string Printed(const Literal& literal) {
  std::string text;
  PrintLiteral(literal, &text);
  return text;
}

double FloatAt(const Literal& literal, int64_t position = 0) {
  return DecodeFloat(literal.shape().element_type(), literal.BitsAt(position));
}

TEST(Feature15Literals, IntegersOfEveryWidthToTheirBounds) {
  EXPECT_EQ(ParseLiteralOrDie("s32[]", "42").IntegerAt(0), 42);
  EXPECT_EQ(ParseLiteralOrDie("s4[]", "-8").IntegerAt(0), -8);
  EXPECT_EQ(ParseLiteralOrDie("u4[]", "15").IntegerAt(0), 15);
  EXPECT_EQ(ParseLiteralOrDie("s1[]", "-1").IntegerAt(0), -1);
  EXPECT_EQ(ParseLiteralOrDie("u1[]", "1").IntegerAt(0), 1);
  EXPECT_EQ(ParseLiteralOrDie("s64[]", "-9223372036854775808").IntegerAt(0), INT64_MIN);
  EXPECT_EQ(ParseLiteralOrDie("s64[]", "9223372036854775807").IntegerAt(0), INT64_MAX);
  EXPECT_EQ(ParseLiteralOrDie("u64[]", "18446744073709551615").BitsAt(0), UINT64_MAX);
  EXPECT_EQ(ParseLiteralOrDie("u64[]", "18446744073709551615").IntegerAt(0), std::nullopt);
  EXPECT_THAT(ConstantError("s4[]", "8"), HasSubstr("8 is out of the range of s4"));
  EXPECT_THAT(ConstantError("s8[]", "-129"), HasSubstr("out of the range of s8"));
  EXPECT_THAT(ConstantError("u8[]", "256"), HasSubstr("out of the range of u8"));
  EXPECT_THAT(ConstantError("u8[]", "-1"), HasSubstr("out of the range of u8"));
  EXPECT_THAT(ConstantError("u64[]", "18446744073709551616"), HasSubstr("out of the range"));
  EXPECT_THAT(ConstantError("s32[]", "1.0"), HasSubstr("expected an integer of type s32"));
  EXPECT_THAT(ConstantError("s32[]", "0x10"), HasSubstr("error"));
}

TEST(Feature15Literals, ArraysAreNestedAsTheirDimensions) {
  const Literal literal = ParseLiteralOrDie("s32[2,3]", "{ {1, 2, 3}, /*i0=1*/ {4, 5, 6} }");
  EXPECT_EQ(literal.ElementCount(), 6);
  EXPECT_EQ(literal.IntegerAt({1, 2}), 6);
  EXPECT_EQ(literal.IntegerAt({0, 1}), 2);
  EXPECT_EQ(literal.IntegerAt({2, 0}), std::nullopt);
  EXPECT_EQ(literal.IntegerAt(6), std::nullopt);
  EXPECT_EQ(literal.IntegerAt(-1), std::nullopt);
  EXPECT_EQ(Printed(literal), "{{1, 2, 3}, {4, 5, 6}}");
  EXPECT_EQ(literal, Literal::Integers(ElementType::kS32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(ParseLiteralOrDie("pred[3]", "{true, 0, 1}"),
            Literal::Integers(ElementType::kPred, {3}, {1, 0, 1}));
  // The layout does not change the order of the text.
  EXPECT_EQ(ParseLiteralOrDie("s32[2,2]{0,1}", "{{1,2},{3,4}}").IntegerAt({1, 0}), 3);
}

TEST(Feature15Literals, AreErrorsWhereTheShapeIsWrong) {
  EXPECT_THAT(ConstantError("s32[2]", "{1}"), HasSubstr("expected ',', found '}'"));
  EXPECT_THAT(ConstantError("s32[2]", "{1, 2, 3}"),
              HasSubstr("expected '}' after 2 elements of dimension 0, found ','"));
  EXPECT_THAT(ConstantError("s32[2,1]", "{1, 2}"), HasSubstr("expected '{'"));
  EXPECT_THAT(ConstantError("s32[]", "{1}"), HasSubstr("expected an integer"));
  EXPECT_THAT(ConstantError("s32[1000000000000]", "{1}"), HasSubstr("fewer elements"));
  EXPECT_THAT(ConstantError("s32[?]", "{1}"), HasSubstr("unbounded"));
  EXPECT_THAT(ConstantError("opaque[]", "1"), HasSubstr("is not an array"));
}

TEST(Feature15Literals, EmptyElidedSplatAndTuples) {
  EXPECT_EQ(ParseLiteralOrDie("f32[0]", "{}").ElementCount(), 0);
  EXPECT_EQ(ParseLiteralOrDie("f32[2,0]", "{{}, {}}"), ParseLiteralOrDie("f32[2,0]", "{}"));
  EXPECT_EQ(ParseLiteralOrDie("f32[0,2]", "{}").ElementCount(), 0);
  EXPECT_EQ(ParseLiteralOrDie("f32[1099511627776,0]", "{}").ElementCount(), 0);
  const Literal elided = ParseLiteralOrDie("s32[1000,1000]", "{...}");
  EXPECT_TRUE(elided.IsElided());
  EXPECT_EQ(elided.IntegerAt(0), std::nullopt);
  const Literal splat = ParseLiteralOrDie("s32[1000000,1000000]", "-7");
  EXPECT_TRUE(splat.IsSplat());
  EXPECT_EQ(splat.IntegerAt({999999, 5}), -7);
  EXPECT_EQ(splat.ElementCount(), 1000000000000);
  EXPECT_EQ(ParseLiteralOrDie("s32[0]", "1"), ParseLiteralOrDie("s32[0]", "{}"));
  EXPECT_EQ(ParseLiteralOrDie("f32[2,0]", "1.5"), ParseLiteralOrDie("f32[2,0]", "{}"));
  const Literal tuple = ParseLiteralOrDie("(s32[2], (pred[], f32[0]))", "( {1, 2}, (true, {}) )");
  ASSERT_EQ(tuple.tuple_elements().size(), 2u);
  EXPECT_EQ(tuple.tuple_elements()[0].IntegerAt(1), 2);
  EXPECT_EQ(tuple.tuple_elements()[1].tuple_elements()[0].IntegerAt(0), 1);
  EXPECT_EQ(ParseLiteralOrDie("()", "()").tuple_elements().size(), 0u);
}

TEST(Feature15Literals, FloatsInfinitiesAndNansWithPayload) {
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("f32[]", "0.1")), static_cast<double>(0.1f));
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("f64[]", "1e-5")), 1e-5);
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("f32[]", ".5")), 0.5);
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("f32[]", "-3")), -3.0);
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("f32[]", "inf")), std::numeric_limits<double>::infinity());
  EXPECT_EQ(FloatAt(ParseLiteralOrDie("bf16[]", "-inf")), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "nan").BitsAt(0), 0x7fc00000u);
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "-nan").BitsAt(0), 0xffc00000u);
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "nan(0x7f)").BitsAt(0), 0x7f80007fu);
  EXPECT_EQ(ParseLiteralOrDie("f64[]", "-nan(0x1)").BitsAt(0), 0xfff0000000000001u);
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "-0.0").BitsAt(0), 0x80000000u);
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "1e-46").BitsAt(0), 0u);
  EXPECT_EQ(ParseLiteralOrDie("f32[]", "1e-45").BitsAt(0), 1u);
  EXPECT_THAT(ConstantError("f32[]", "1e39"), HasSubstr("1e39 is out of the range of f32"));
  EXPECT_THAT(ConstantError("f64[]", "1e400"), HasSubstr("out of the range of f64"));
  EXPECT_THAT(ConstantError("f16[]", "65520"), HasSubstr("out of the range of f16"));
  EXPECT_THAT(ConstantError("f32[]", "nan(0x800000)"), HasSubstr("f32 has no value"));
  EXPECT_THAT(ConstantError("f8e4m3fn[]", "inf"), HasSubstr("f8e4m3fn has no value 'inf'"));
  EXPECT_THAT(ConstantError("f32[]", "0x1p3"), HasSubstr("error"));
  EXPECT_THAT(ConstantError("f32[]", "1.2.3"), HasSubstr("expected a number of type f32"));
  EXPECT_THAT(ConstantError("f32[]", "infinite"), HasSubstr("expected a number of type f32"));
}

TEST(Feature15Literals, ComplexNumbers) {
  const Literal literal = ParseLiteralOrDie("c64[2]", "{(1, -2.5), (inf, nan)}");
  EXPECT_EQ(DecodeFloat(ElementType::kF32, literal.BitsAt(0, 0)), 1.0);
  EXPECT_EQ(DecodeFloat(ElementType::kF32, literal.BitsAt(0, 1)), -2.5);
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF32, literal.BitsAt(1, 1))));
  const Literal real = ParseLiteralOrDie("c128[]", "4");
  EXPECT_EQ(DecodeFloat(ElementType::kF64, real.BitsAt(0, 0)), 4.0);
  EXPECT_EQ(real.BitsAt(0, 1), 0u);
}

TEST(Literal, NestingIsBoundedAndAHugeOneIsReadInLinearTime) {
  const std::string shape = std::string(300, '(') + "s32[]" + std::string(300, ')');
  EXPECT_THAT(ConstantError(shape, "1"), HasSubstr("nested more than 256 deep"));
  std::string rank = "1", open = "{", close = "}";
  for (int i = 1; i < 2000; ++i) {
    rank += ",1";
    open += "{";
    close += "}";
  }
  EXPECT_EQ(ParseLiteralOrDie(absl::StrCat("s32[", rank, "]"), absl::StrCat(open, "5", close))
                .IntegerAt(0),
            5);
  std::string values = "{0";
  for (int i = 1; i < 300000; ++i) absl::StrAppend(&values, ",", i % 1000);
  const Literal literal = ParseLiteralOrDie("s32[300000]", values + "}");
  EXPECT_EQ(literal.IntegerAt(299999), 999);
}

// The values that the definitions of the formats give for some bit patterns.
TEST(FloatFormat, KnownValues) {
  const auto check = [](ElementType type, uint64_t bits, double value) {
    EXPECT_EQ(DecodeFloat(type, bits), value) << ElementTypeName(type) << " " << bits;
    EXPECT_EQ(EncodeFloat(type, value), bits) << ElementTypeName(type) << " " << value;
  };
  check(ElementType::kF4E2M1FN, 0x1, 0.5);
  check(ElementType::kF4E2M1FN, 0x7, 6.0);
  check(ElementType::kF4E2M1FN, 0xf, -6.0);
  check(ElementType::kF8E3M4, 0x6f, 15.5);
  check(ElementType::kF8E4M3, 0x77, 240.0);
  check(ElementType::kF8E4M3FN, 0x7e, 448.0);
  check(ElementType::kF8E4M3FN, 0x01, std::ldexp(1.0, -9));
  check(ElementType::kF8E4M3B11FNUZ, 0x7f, 30.0);
  check(ElementType::kF8E4M3FNUZ, 0x7f, 240.0);
  check(ElementType::kF8E5M2, 0x7b, 57344.0);
  check(ElementType::kF8E5M2FNUZ, 0x7f, 57344.0);
  check(ElementType::kF8E8M0FNU, 0x7f, 1.0);
  check(ElementType::kF8E8M0FNU, 0x00, std::ldexp(1.0, -127));
  check(ElementType::kF8E8M0FNU, 0xfe, std::ldexp(1.0, 127));
  check(ElementType::kF16, 0x7bff, 65504.0);
  check(ElementType::kF16, 0x0001, std::ldexp(1.0, -24));
  check(ElementType::kBF16, 0x3f80, 1.0);
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF8E4M3FN, 0x7f)));
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF8E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::isnan(DecodeFloat(ElementType::kF8E8M0FNU, 0xff)));
}

TEST(FloatFormat, RoundsToNearestTiesToEven) {
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FN, 1.0 + 1.0 / 16), 0x38);  // Between 1 and 1.125.
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FN, 1.125 + 1.0 / 16), 0x3a);
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FN, 463.9), 0x7e);
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FN, 480.0), std::nullopt);
  EXPECT_EQ(EncodeFloat(ElementType::kF16, 65519.0), 0x7bff);
  EXPECT_EQ(EncodeFloat(ElementType::kF16, std::ldexp(1.0, -25)), 0x0000);
  EXPECT_EQ(EncodeFloat(ElementType::kF16, std::ldexp(1.5, -25)), 0x0001);
  EXPECT_EQ(EncodeFloat(ElementType::kF8E4M3FNUZ, -1e-9), 0x00);  // It has no minus zero.
  EXPECT_EQ(EncodeFloat(ElementType::kF8E8M0FNU, 0.0), std::nullopt);
  EXPECT_EQ(EncodeFloat(ElementType::kF8E8M0FNU, -1.0), std::nullopt);
}

TEST(FloatFormat, EveryBitPatternOfTheNarrowFormatsPrintsAndReadsBack) {
  for (const ElementType type :
       {ElementType::kF4E2M1FN, ElementType::kF8E3M4, ElementType::kF8E4M3,
        ElementType::kF8E4M3B11FNUZ, ElementType::kF8E4M3FN, ElementType::kF8E4M3FNUZ,
        ElementType::kF8E5M2, ElementType::kF8E5M2FNUZ, ElementType::kF8E8M0FNU, ElementType::kF16,
        ElementType::kBF16}) {
    const int64_t count = int64_t{1} << BitWidth(type);
    absl::StatusOr<Literal> literal = Literal::Zeros(Shape::Array(type, {count}));
    ASSERT_TRUE(literal.ok());
    for (int64_t bits = 0; bits < count; ++bits) literal->SetBits(bits, bits);
    const Literal again = ParseLiteralOrDie(literal->shape().ToString(), Printed(*literal));
    for (int64_t bits = 0; bits < count; ++bits) {
      ASSERT_EQ(again.BitsAt(bits), static_cast<uint64_t>(bits)) << ElementTypeName(type);
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
