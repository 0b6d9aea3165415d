#include "xla_indexing/report/write/picture.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/report/write/picture_svg.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

absl::StatusOr<std::string> SvgOf(const std::string& entry, bool as_fusion = false) {
  auto module = ParseAndVerifyModule("HloModule m\nENTRY e {\n" + entry + "\n}\n");
  if (!module.ok()) return module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloComputation& computation = *(*module)->entry_computation();
  const auto picture = as_fusion ? PictureOf(computation, &context)
                                 : PictureOf(*computation.root_instruction(), &context);
  if (!picture.ok()) return picture.status();
  return picture->svg;
}

// The middle of f32[4,2] is (2, 1). A line of text takes 17 pixels, and squares have sides of 22: the array
// begins at (16 + 20 + 2 * 6.9, 16 + 17 + 8 + 36), where 20 and two characters are for the indices of the
// rows. The arrow takes 46 to the right of it; (1, 2) of f32[2,4] is a row down and two columns across.
TEST(PictureTest, MarksAnElementAndFillsWhatItReads) {
  const auto svg =
      SvgOf("a = f32[2,4] parameter(0)\nROOT t = f32[4,2] transpose(a), dimensions={1,0}");
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_THAT(*svg,
              HasSubstr("<rect class=\"c\" x=\"71.8\" y=\"121\" width=\"22\" height=\"22\"/>"));
  EXPECT_THAT(*svg,
              HasSubstr("<rect class=\"s0\" x=\"218.6\" y=\"100\" width=\"20\" height=\"20\"/>"));
  EXPECT_THAT(*svg, HasSubstr("t: f32[4,2]; element (2, 1). a: f32[2,4]: 1 element.</desc>"));
  EXPECT_THAT(*svg, HasSubstr(">(d0, d1) -&gt; (d1, d0)</text>"));
}

TEST(PictureTest, LargeArraysAreDrawnInSquaresOfSeveral) {
  const auto svg = SvgOf("a = f32[3,1000] parameter(0)\nROOT t = f32[3,1000] negate(a)");
  ASSERT_TRUE(svg.ok());
  EXPECT_THAT(*svg, HasSubstr("a square is 1 x 32 elements,"));
  EXPECT_LT(svg->size(), 10'000u);
}

TEST(PictureTest, ComputationsLeadToTheirParameters) {
  const auto svg = SvgOf(
      "a = f32[4] parameter(0)\nn = f32[4] negate(a)\nROOT t = f32[4] reverse(n), dimensions={0}",
      /*as_fusion=*/true);
  ASSERT_TRUE(svg.ok());
  EXPECT_THAT(*svg, HasSubstr(">(d0) -&gt; (-d0 + 3)</text>"));
}

TEST(PictureTest, ScalarsAreOneSquare) {
  EXPECT_TRUE(SvgOf("a = f32[] parameter(0)\nROOT n = f32[] negate(a)").ok());
}

// Which row is read is known only when the program runs.
TEST(PictureTest, SaysWithWhichRuntimeValuesItIsDrawn) {
  const auto svg = SvgOf(
      "a = f32[9,4] parameter(0)\nb = s32[3,1] parameter(1)\n"
      "ROOT g = f32[3,4] gather(a, b), offset_dims={1}, collapsed_slice_dims={0},\n"
      "  start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}");
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_THAT(*svg, HasSubstr("rt0 = 4 of [0, 8]: element (d0, 0) of b, clamped to [0, 8]"));
}

TEST(PictureTest, DrawsTheLeafThatIsAskedFor) {
  auto module = ParseAndVerifyModule(
      "HloModule m\nENTRY e {\na = f32[3] parameter(0)\nb = f32[5] parameter(1)\n"
      "ROOT t = (f32[3], f32[5]) tuple(a, b)\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloInstruction& tuple = *(*module)->entry_computation()->root_instruction();
  EXPECT_EQ(PictureOf(tuple, &context)->title, "t leaf 0: f32[3]: a: f32[3]");
  EXPECT_EQ(PictureOf(tuple, &context, 1)->title, "t leaf 1: f32[5]: b: f32[5]");
  EXPECT_THAT(PictureOf(tuple, &context, 2).status().message(),
              HasSubstr("t has no leaf 2 to draw"));
}

TEST(PictureTest, SaysWhereThereIsNothingToDraw) {
  EXPECT_EQ(SvgOf("a = f32[0] parameter(0)\nROOT n = f32[0] negate(a)").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(SvgOf("ROOT t = () tuple()").ok());
  EXPECT_THAT(SvgOf("ROOT i = s32[4] iota(), iota_dimension=0").status().message(),
              HasSubstr("no map starts from that array"));
}

TEST(PictureTest, WhatTakesTooLongIsSaid) {
  const auto svg = SvgOf(
      "a = f32[4] parameter(0)\nz = f32[] constant(0)\nb = f32[1024,4096] parameter(1)\n"
      "ROOT d = f32[4] custom-call(a, b), custom_call_target=\"f\"");
  ASSERT_TRUE(svg.ok()) << svg.status();
  EXPECT_THAT(*svg, HasSubstr("not drawn: (d0)[s0, s1] -&gt; (s0, s1)"));
  EXPECT_THAT(*svg, Not(HasSubstr("nothing is read")));
}

TEST(PictureTest, MapsThatDoNotFitAreErrors) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto map = ParseIndexingMap("(d0) -> (d0), domain: d0 in [0, 3]", &context);
  ASSERT_TRUE(map.ok());
  EXPECT_TRUE(PictureOfMap(*map, {}, PictureSizes{{4}, {4}}).ok());
  EXPECT_FALSE(PictureOfMap(*map, {}, PictureSizes{{4, 4}, {4}}).ok());
  EXPECT_FALSE(PictureOfMap(*map, {.element = std::vector<int64_t>{4}}).ok());
  EXPECT_FALSE(PictureOfMap(*map, {.element = std::vector<int64_t>{0, 0}}).ok());
  const auto infinite = ParseIndexingMap("(d0) -> (d0), domain: d0 in [0, inf]", &context);
  ASSERT_TRUE(infinite.ok());
  EXPECT_EQ(PictureOfMap(*infinite).status().code(), absl::StatusCode::kFailedPrecondition);
}

// Names come from anywhere: markup is text, and what is not UTF-8, or turns the direction of writing, is not shown.
TEST(PictureTest, NamesStayTextWhateverIsInThem) {
  const std::string name =
      "<script>alert(1)</script>&\x01\xff \xE2\x80\xAE" + std::string(10'000, 'x');
  internal::PicturedArray array = {name, {2}, {name}, {{name, 1, {0}}}, {name}};
  const std::string svg = internal::DrawArrays({name}, array, {array}, {name});
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&amp;\xEF\xBF\xBD\xEF\xBF\xBD"));
  for (const char* hidden : {"\x01", "\xff", "\xE2\x80\xAE"}) {
    EXPECT_THAT(svg, Not(HasSubstr(hidden)));
  }
  EXPECT_LT(svg.size(), 20'000u);
}

}  // namespace
}  // namespace xla_indexing
