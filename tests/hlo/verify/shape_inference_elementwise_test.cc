#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

TEST(ElementwiseShapeTest, AUnaryOperationKeepsTheShape) {
  for (const char* opcode : {"abs",
                             "acos",
                             "acosh",
                             "asin",
                             "asinh",
                             "atanh",
                             "cbrt",
                             "ceil",
                             "cosine",
                             "cosh",
                             "erf",
                             "exponential",
                             "exponential-minus-one",
                             "floor",
                             "log",
                             "log-plus-one",
                             "logistic",
                             "negate",
                             "real",
                             "imag",
                             "round-nearest-afz",
                             "round-nearest-even",
                             "rsqrt",
                             "sign",
                             "sine",
                             "sinh",
                             "sqrt",
                             "tan",
                             "tanh",
                             "copy"}) {
    EXPECT_EQ(CheckInstruction({"f32[2,0,3]"}, std::string(opcode) + "(p0)"), "f32[2,0,3]")
        << opcode;
  }
  for (const char* opcode : {"count-leading-zeros", "popcnt", "not"}) {
    EXPECT_EQ(CheckInstruction({"u32[4]"}, std::string(opcode) + "(p0)"), "u32[4]") << opcode;
  }
  EXPECT_EQ(CheckInstruction({"f32[4]"}, "reduce-precision(p0), exponent_bits=5, mantissa_bits=2"),
            "f32[4]");
}

TEST(ElementwiseShapeTest, ABinaryOperationKeepsTheShape) {
  for (const char* opcode :
       {"add", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract", "and",
        "or", "xor", "mulhi", "shift-left", "shift-right-arithmetic", "shift-right-logical"}) {
    EXPECT_EQ(CheckInstruction({"s32[2,3]", "s32[2,3]"}, std::string(opcode) + "(p0, p1)"),
              "s32[2,3]")
        << opcode;
  }
  EXPECT_EQ(CheckInstruction({"f32[4]", "f32[4]"}, "atan2(p0, p1)"), "f32[4]");
}

TEST(ElementwiseShapeTest, SomeResultsHaveAnotherType) {
  EXPECT_EQ(CheckInstruction({"c64[3]"}, "abs(p0)"), "f32[3]");
  EXPECT_EQ(CheckInstruction({"c128[3]"}, "real(p0)"), "f64[3]");
  EXPECT_EQ(CheckInstruction({"c64[3]"}, "imag(p0)"), "f32[3]");
  EXPECT_EQ(CheckInstruction({"f32[3]"}, "is-finite(p0)"), "pred[3]");
  EXPECT_EQ(CheckInstruction({"s8[3]", "s8[3]"}, "compare(p0, p1), direction=GE"), "pred[3]");
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]"}, "complex(p0, p1)"), "c64[3]");
  EXPECT_EQ(CheckInstruction({"f64[3]", "f64[3]"}, "complex(p0, p1)"), "c128[3]");
}

TEST(ElementwiseShapeTest, FloatingPointOperandsMayDifferInPrecision) {
  EXPECT_EQ(CheckInstruction({"bf16[3]", "f32[3]"}, "add(p0, p1)"), "f32[3]");
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]"}, "bf16[3] add(p0, p1)"), "bf16[3]");
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "s32[3] add(p0, p1)"),
              HasSubstr("instruction 'r' (add) has shape s32[3] but its operands and attributes "
                        "give f32[3]"));
}

TEST(ElementwiseShapeTest, AKnownSizeStandsForAnUnboundedOne) {
  EXPECT_EQ(CheckInstruction({"f32[?,3]", "f32[2,?]"}, "add(p0, p1)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[<=5]", "f32[<=5]"}, "add(p0, p1)"), "f32[<=5]");
}

TEST(ElementwiseShapeTest, OperandsMustHaveOneShape) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[3,2]"}, "f32[2,3] add(p0, p1)"),
            "error: r: add of f32[2,3] and f32[3,2]: shapes differ");
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3,1]"}, "add(p0, p1)"), HasSubstr("shapes differ"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "s32[3]"}, "add(p0, p1)"),
              HasSubstr("element types differ"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "(f32[3])"}, "add(p0, p1)"),
              HasSubstr("operand 1 is not an array"));
}

TEST(ElementwiseShapeTest, OperationsAreDefinedForSomeTypesOnly) {
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "and(p0, p1)"),
              HasSubstr("not defined for f32"));
  EXPECT_THAT(CheckInstruction({"s32[3]"}, "floor(p0)"), HasSubstr("not defined for s32"));
  EXPECT_THAT(CheckInstruction({"s32[3]"}, "cosine(p0)"), HasSubstr("not defined for s32"));
  EXPECT_THAT(CheckInstruction({"pred[3]"}, "negate(p0)"), HasSubstr("not defined for pred"));
  EXPECT_THAT(CheckInstruction({"pred[3]"}, "popcnt(p0)"), HasSubstr("not defined for pred"));
  EXPECT_THAT(CheckInstruction({"c64[3]"}, "is-finite(p0)"), HasSubstr("not defined for c64"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[4]"}, "complex(p0, p1)"),
              HasSubstr("shapes differ"));
  EXPECT_THAT(CheckInstruction({"f16[3]", "f16[3]"}, "complex(p0, p1)"),
              HasSubstr("neither f32 nor f64"));
}

TEST(ElementwiseShapeTest, CompareNeedsADirection) {
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[4]"}, "compare(p0, p1), direction=LT"),
              HasSubstr("shapes differ"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "compare(p0, p1), direction=UP"),
              HasSubstr("direction 'UP' is none of"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "compare(p0, p1)"), HasSubstr("direction ''"));
}

TEST(ElementwiseShapeTest, SelectTakesAPredicateOfTheSameSizesOrAScalar) {
  EXPECT_EQ(CheckInstruction({"pred[3]", "f32[3]", "f32[3]"}, "select(p0, p1, p2)"), "f32[3]");
  EXPECT_EQ(CheckInstruction({"pred[]", "f32[3]", "f32[3]"}, "select(p0, p1, p2)"), "f32[3]");
  EXPECT_THAT(CheckInstruction({"pred[2]", "f32[3]", "f32[3]"}, "select(p0, p1, p2)"),
              HasSubstr("neither a scalar nor of the sizes"));
  EXPECT_THAT(CheckInstruction({"s8[3]", "f32[3]", "f32[3]"}, "select(p0, p1, p2)"),
              HasSubstr("operand 0 is not of type pred"));
  EXPECT_THAT(CheckInstruction({"pred[3]", "f32[3]", "f32[4]"}, "select(p0, p1, p2)"),
              HasSubstr("shapes differ"));
  EXPECT_THAT(CheckInstruction({"pred[3]", "f32[3]", "token[]"}, "select(p0, p1, p2)"),
              HasSubstr("operand 2 is not an array"));
}

TEST(ElementwiseShapeTest, ClampTakesBoundsOfTheSameSizesOrScalars) {
  EXPECT_EQ(CheckInstruction({"f32[]", "f32[3]", "f32[3]"}, "clamp(p0, p1, p2)"), "f32[3]");
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]", "f32[]"}, "clamp(p0, p1, p2)"), "f32[3]");
  EXPECT_THAT(CheckInstruction({"f32[2]", "f32[3]", "f32[]"}, "clamp(p0, p1, p2)"),
              HasSubstr("operand 0 is neither a scalar"));
  EXPECT_THAT(CheckInstruction({"f32[]", "f32[]", "f32[3]"}, "clamp(p0, p1, p2)"),
              HasSubstr("operand 2 is neither a scalar"));
  EXPECT_THAT(CheckInstruction({"f32[]", "f32[3]", "s32[]"}, "clamp(p0, p1, p2)"),
              HasSubstr("element types differ"));
  EXPECT_THAT(CheckInstruction({"f32[]", "f32[3]", "()"}, "clamp(p0, p1, p2)"),
              HasSubstr("operand 2 is not an array"));
}

TEST(ElementwiseShapeTest, ConversionsKeepTheSizes) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]"}, "s8[2,3] convert(p0)"), "s8[2,3]");
  EXPECT_THAT(CheckInstruction({"f32[2,3]"}, "s8[3,2] convert(p0)"),
              HasSubstr("has shape s8[3,2] but its operands and attributes give s8[2,3]"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "(s8[2]) convert(p0)"), HasSubstr("give f32[2]"));
  EXPECT_THAT(CheckInstruction({"(f32[2])"}, "(f32[2]) convert(p0)"),
              HasSubstr("operand 0 is not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2]"}, "convert(p0)"), HasSubstr("must be given"));
  EXPECT_EQ(CheckInstruction({"f32[3]", "u32[3]"}, "s8[3] stochastic-convert(p0, p1)"), "s8[3]");
  EXPECT_THAT(CheckInstruction({"f32[3]", "u32[3]"}, "s8[4] stochastic-convert(p0, p1)"),
              HasSubstr("has shape s8[4]"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "u32[2]"}, "s8[3] stochastic-convert(p0, p1)"),
              HasSubstr("shapes differ"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "u16[3]"}, "s8[3] stochastic-convert(p0, p1)"),
              HasSubstr("not unsigned integers of 32 bits"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "s32[3]"}, "s8[3] stochastic-convert(p0, p1)"),
              HasSubstr("not unsigned integers of 32 bits"));
  EXPECT_THAT(CheckInstruction({"s32[3]", "u32[3]"}, "s8[3] stochastic-convert(p0, p1)"),
              HasSubstr("not defined for s32"));
}

}  // namespace
}  // namespace xla_indexing
