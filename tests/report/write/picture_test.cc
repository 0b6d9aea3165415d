#include "xla_indexing/report/write/picture.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::string> Picture(const std::string& entry, bool as_fusion = false) {
  auto module = ParseAndVerifyModule("HloModule m\nENTRY e {\n" + entry + "\n}\n");
  if (!module.ok()) return module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloComputation& computation = *(*module)->entry_computation();
  return as_fusion ? PictureOf(computation, &context)
                   : PictureOf(*computation.root_instruction(), &context);
}

// The middle of f32[4,2] is (2, 1), a black square of 10 two squares of 9 down and one across; its
// transpose reads (1, 2) of f32[2,4], which stands 36 pixels right of the 70 or so that the captions of
// the first array take.
TEST(PictureTest, MarksAnElementAndFillsWhatItReads) {
  const auto picture =
      Picture("a = f32[2,4] parameter(0)\nROOT t = f32[4,2] transpose(a), dimensions={1,0}");
  ASSERT_TRUE(picture.ok()) << picture.status();
  // Squares begin at (16, 52).
  EXPECT_THAT(*picture,
              HasSubstr("<rect x=\"24\" y=\"69\" width=\"10\" height=\"10\" fill=\"#1b1f26\"/>"));
  // The caption `d0 down, d1 across` of 18 letters of 7 pixels: 16 + 126 + 36 = 178 is where the
  // operand begins; column 2 and row 1 are 18 right and 9 down.
  EXPECT_THAT(*picture,
              HasSubstr("<rect x=\"196\" y=\"61\" width=\"8\" height=\"8\" fill=\"#0060a8\"/>"));
  EXPECT_THAT(*picture, HasSubstr("What element (2, 1) of t reads"));
  EXPECT_THAT(*picture, HasSubstr("A  a  (d0, d1) -&gt; (d1, d0)"));
}

TEST(PictureTest, LargeArraysAreDrawnInSquaresOfSeveral) {
  const auto picture = Picture("a = f32[3,1000] parameter(0)\nROOT t = f32[3,1000] negate(a)");
  ASSERT_TRUE(picture.ok());
  EXPECT_THAT(*picture, HasSubstr("a square: 1 x 42"));
  EXPECT_LT(picture->size(), 10'000u);
}

TEST(PictureTest, ComputationsLeadToTheirParameters) {
  const auto picture = Picture(
      "a = f32[4] parameter(0)\nn = f32[4] negate(a)\nROOT t = f32[4] reverse(n), dimensions={0}",
      /*as_fusion=*/true);
  ASSERT_TRUE(picture.ok());
  EXPECT_THAT(*picture, HasSubstr("A  a  (d0) -&gt; (-d0 + 3)"));
}

TEST(PictureTest, ScalarsAreOneSquare) {
  EXPECT_TRUE(Picture("a = f32[] parameter(0)\nROOT n = f32[] negate(a)").ok());
}

// Which row is read is known only when the program runs.
TEST(PictureTest, SaysWithWhichRuntimeValuesItIsDrawn) {
  const auto picture = Picture(
      "a = f32[9,4] parameter(0)\nb = s32[3,1] parameter(1)\n"
      "ROOT g = f32[3,4] gather(a, b), offset_dims={1}, collapsed_slice_dims={0},\n"
      "  start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}");
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_THAT(*picture, HasSubstr("rt0 in [0, 8]</text>"));
  EXPECT_THAT(*picture,
              HasSubstr("drawn with rt0 = 0: element (d0, 0) of b, clamped to [0, 8]</text>"));
}

TEST(PictureTest, DrawsTheLeafThatIsAskedFor) {
  auto module = ParseAndVerifyModule(
      "HloModule m\nENTRY e {\na = f32[3] parameter(0)\nb = f32[5] parameter(1)\n"
      "ROOT t = (f32[3], f32[5]) tuple(a, b)\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloInstruction& tuple = *(*module)->entry_computation()->root_instruction();
  EXPECT_THAT(*PictureOf(tuple, &context), HasSubstr("What element (1) of t leaf 0 reads"));
  EXPECT_THAT(*PictureOf(tuple, &context, 1), HasSubstr("What element (2) of t leaf 1 reads"));
  EXPECT_THAT(PictureOf(tuple, &context, 2).status().message(),
              HasSubstr("t has no leaf 2 to draw"));
}

TEST(PictureTest, SaysWhereThereIsNothingToDraw) {
  EXPECT_EQ(Picture("a = f32[0] parameter(0)\nROOT n = f32[0] negate(a)").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Picture("ROOT t = () tuple()").ok());
}

// A range of a million values is not drawn as a whole, and said not to be.
TEST(PictureTest, WhatTakesTooLongIsSaid) {
  const auto picture = Picture(
      "a = f32[4] parameter(0)\nz = f32[] constant(0)\nb = f32[1024,4096] parameter(1)\n"
      "ROOT d = f32[4] custom-call(a, b), custom_call_target=\"f\"");
  ASSERT_TRUE(picture.ok()) << picture.status();
  EXPECT_THAT(*picture, HasSubstr("(not all drawn)"));
  EXPECT_THAT(*picture, Not(HasSubstr("\n\n")));
}

}  // namespace
}  // namespace xla_indexing
