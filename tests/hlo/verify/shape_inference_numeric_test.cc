#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

TEST(LinearAlgebraShapeTest, CholeskyTakesSquareMatrices) {
  EXPECT_EQ(CheckInstruction({"f32[5,4,4]"}, "cholesky(p0), lower=true"), "f32[5,4,4]");
  EXPECT_EQ(CheckInstruction({"c64[4,4]"}, "cholesky(p0)"), "c64[4,4]");
  EXPECT_THAT(CheckInstruction({"f32[4,3]"}, "cholesky(p0)"),
              HasSubstr("does not consist of square matrices"));
  EXPECT_THAT(CheckInstruction({"f32[4]"}, "cholesky(p0)"), HasSubstr("square matrices"));
  EXPECT_THAT(CheckInstruction({"s32[4,4]"}, "cholesky(p0)"), HasSubstr("not defined for s32"));
  EXPECT_THAT(CheckInstruction({"()"}, "cholesky(p0)"), HasSubstr("not an array"));
}

TEST(LinearAlgebraShapeTest, ATriangularSolveKeepsTheRightHandSide) {
  EXPECT_EQ(CheckInstruction({"f32[5,4,4]", "f32[5,4,3]"},
                             "triangular-solve(p0, p1), left_side=true, lower=true"),
            "f32[5,4,3]");
  EXPECT_EQ(CheckInstruction({"f32[4,4]", "f32[3,4]"},
                             "triangular-solve(p0, p1), left_side=false, lower=true"),
            "f32[3,4]");
  EXPECT_THAT(
      CheckInstruction({"f32[4,4]", "f32[3,4]"}, "triangular-solve(p0, p1), left_side=true"),
      HasSubstr("dimension 0 of operand 1 is not that of the matrices"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,4]", "f32[4,3]"}, "triangular-solve(p0, p1), left_side=false"),
      HasSubstr("dimension 1 of operand 1 is not that of the matrices"));
  EXPECT_THAT(
      CheckInstruction({"f32[5,4,4]", "f32[6,4,3]"}, "triangular-solve(p0, p1), left_side=true"),
      HasSubstr("the operands differ in dimension 0"));
  EXPECT_THAT(
      CheckInstruction({"f32[5,4,4]", "f32[4,3]"}, "triangular-solve(p0, p1), left_side=true"),
      HasSubstr("ranks differ"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,4]", "c64[4,3]"}, "triangular-solve(p0, p1), left_side=true"),
      HasSubstr("element types differ"));
  EXPECT_THAT(
      CheckInstruction({"f32[4,3]", "f32[4,3]"}, "triangular-solve(p0, p1), left_side=true"),
      HasSubstr("square matrices"));
  EXPECT_THAT(CheckInstruction({"f32[4,4]", "f32[4,3]"},
                               "triangular-solve(p0, p1), left_side=true, transpose_a=CONJUGATE"),
              HasSubstr("transpose_a 'CONJUGATE' is none of"));
  EXPECT_THAT(CheckInstruction({"f32[4,4]", "()"}, "triangular-solve(p0, p1)"),
              HasSubstr("not an array"));
}

TEST(FftShapeTest, RealTransformsKeepHalfOfTheLastDimension) {
  EXPECT_EQ(CheckInstruction({"c64[3,8]"}, "fft(p0), fft_type=FFT, fft_length={8}"), "c64[3,8]");
  EXPECT_EQ(CheckInstruction({"c128[3,8]"}, "fft(p0), fft_type=IFFT, fft_length={3,8}"),
            "c128[3,8]");
  EXPECT_EQ(CheckInstruction({"f32[3,8]"}, "fft(p0), fft_type=RFFT, fft_length={3,8}"), "c64[3,5]");
  EXPECT_EQ(CheckInstruction({"f64[9]"}, "fft(p0), fft_type=RFFT, fft_length={9}"), "c128[5]");
  EXPECT_EQ(CheckInstruction({"f32[0]"}, "fft(p0), fft_type=RFFT, fft_length={0}"), "c64[0]");
  EXPECT_EQ(CheckInstruction({"c64[3,5]"}, "fft(p0), fft_type=IRFFT, fft_length={3,9}"),
            "f32[3,9]");
}

TEST(FftShapeTest, LengthsAndTypesFitTheOperand) {
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=DCT, fft_length={8}"),
              HasSubstr("fft_type 'DCT' is none of"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=FFT, fft_length={7}"),
              HasSubstr("dimension 0 of the operand should have size 7"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=IRFFT, fft_length={8}"),
              HasSubstr("dimension 0 of the operand should have size 5"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=FFT, fft_length={-1}"),
              HasSubstr("should have size -1"));
  EXPECT_THAT(CheckInstruction({"c64[?]"}, "fft(p0), fft_type=FFT, fft_length={-1}"),
              HasSubstr("should have size -1"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=FFT, fft_length={8,8}"),
              HasSubstr("names 2 dimensions of an operand of rank 1"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=FFT, fft_length={}"),
              HasSubstr("names 0 dimensions"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=FFT"),
              HasSubstr("there is no fft_length"));
  EXPECT_THAT(CheckInstruction({"f32[8]"}, "fft(p0), fft_type=FFT, fft_length={8}"),
              HasSubstr("FFT is not defined for f32"));
  EXPECT_THAT(CheckInstruction({"c64[8]"}, "fft(p0), fft_type=RFFT, fft_length={8}"),
              HasSubstr("RFFT is not defined for c64"));
  EXPECT_THAT(CheckInstruction({"()"}, "fft(p0), fft_type=FFT, fft_length={8}"),
              HasSubstr("not an array"));
}

TEST(BatchNormShapeTest, VectorsHaveAnElementForEachFeature) {
  EXPECT_EQ(CheckInstruction({"f32[2,3,4]", "f32[3]", "f32[3]"},
                             "batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1"),
            "(f32[2,3,4], f32[3], f32[3])");
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[3]"},
                             "batch-norm-inference(p0, p1, p2, p3, p4), feature_index=1"),
            "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[2,3]", "f32[2]", "f32[2]", "f32[2]", "f32[2,3]"},
                             "batch-norm-grad(p0, p1, p2, p3, p4), feature_index=0"),
            "(f32[2,3], f32[2], f32[2])");
  const auto training = [](const char* scale, const char* attributes) {
    return CheckInstruction({"f32[2,3,4]", scale, "f32[3]"},
                            absl::StrCat("batch-norm-training(p0, p1, p2)", attributes));
  };
  EXPECT_THAT(training("f32[4]", ", feature_index=1"),
              HasSubstr("operand 1 should have the sizes of f32[3]"));
  EXPECT_THAT(training("s32[3]", ", feature_index=1"),
              HasSubstr("operand 1 is not of a floating point type"));
  EXPECT_THAT(training("f32[3]", ", feature_index=3"), HasSubstr("3 is not a dimension"));
  EXPECT_THAT(training("f32[3]", ""), HasSubstr("there is no feature_index"));
  EXPECT_THAT(training("()", ", feature_index=1"), HasSubstr("operand 1 is not an array"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "f32[2]", "f32[2]", "f32[2]", "f32[2]"},
                               "batch-norm-grad(p0, p1, p2, p3, p4), feature_index=0"),
              HasSubstr("operand 4 should have the sizes of f32[2,3]"));
  EXPECT_THAT(CheckInstruction({"f32[2,3]", "f32[3]", "f32[3]", "f32[3]", "f32[2,3]"},
                               "batch-norm-inference(p0, p1, p2, p3, p4), feature_index=1"),
              HasSubstr("operand 4 should have the sizes of f32[3]"));
}

TEST(RandomShapeTest, RngTakesTwoScalarsOfTheTypeOfTheResult) {
  EXPECT_EQ(CheckInstruction({"f32[]", "f32[]"}, "f32[2,3] rng(p0, p1), distribution=rng_normal"),
            "f32[2,3]");
  EXPECT_THAT(CheckInstruction({"f32[]", "s32[]"}, "f32[2] rng(p0, p1)"),
              HasSubstr("not a scalar of the type of the result f32[2]"));
  EXPECT_THAT(CheckInstruction({"f32[]", "f32[1]"}, "f32[2] rng(p0, p1)"),
              HasSubstr("not a scalar"));
  EXPECT_THAT(CheckInstruction({"f32[]"}, "f32[2] rng(p0)"), HasSubstr("takes 2 operands, not 1"));
  EXPECT_THAT(CheckInstruction({"f32[]", "f32[]"}, "(f32[2]) rng(p0, p1)"),
              HasSubstr("is not an array"));
}

TEST(RandomShapeTest, RngBitGeneratorYieldsTheNextStateAndBits) {
  EXPECT_EQ(
      CheckInstruction({"u64[2]"}, "(u64[2], u32[5]) rng-bit-generator(p0), algorithm=rng_default"),
      "(u64[2], u32[5])");
  EXPECT_EQ(CheckInstruction({"u64[2]"}, "u32[5] rng-bit-generator(p0)"), "u32[5]");
  EXPECT_THAT(CheckInstruction({"u64[2]"}, "(u64[3], u32[5]) rng-bit-generator(p0)"),
              HasSubstr("is not a tuple of a state u64[2] and an array"));
  EXPECT_THAT(CheckInstruction({"u64[2]"}, "(u64[2]) rng-bit-generator(p0)"),
              HasSubstr("is not a tuple of a state"));
  EXPECT_THAT(CheckInstruction({"u64[2]"}, "(u64[2], ()) rng-bit-generator(p0)"),
              HasSubstr("is not a tuple of a state"));
  EXPECT_THAT(CheckInstruction({"u64[2]"}, "token[] rng-bit-generator(p0)"),
              HasSubstr("is not a tuple of a state"));
  EXPECT_THAT(CheckInstruction({"()"}, "u32[5] rng-bit-generator(p0)"), HasSubstr("not an array"));
}

TEST(RandomShapeTest, TheStateIsTwoWords) {
  EXPECT_EQ(CheckInstruction({}, "rng-get-and-update-state(), delta=1"), "u64[2]");
  EXPECT_THAT(CheckInstruction({}, "u64[3] rng-get-and-update-state(), delta=1"),
              HasSubstr("give u64[2]"));
}

}  // namespace
}  // namespace xla_indexing
