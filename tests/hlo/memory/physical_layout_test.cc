#include "xla_indexing/hlo/memory/physical_layout.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

PhysicalLayout LayoutOf(absl::string_view shape) {
  const auto layout = PhysicalLayoutOf(*ParseShape(shape));
  EXPECT_TRUE(layout.ok()) << shape << layout.status();
  return layout.ok() ? *layout : PhysicalLayout();
}

int64_t BytesOfBuffer(absl::string_view shape) {
  return static_cast<int64_t>(LayoutOf(shape).BufferBytes());
}

std::string ErrorOf(absl::string_view shape) {
  return std::string(PhysicalLayoutOf(*ParseShape(shape)).status().message());
}

// The example that XLA's page on tiled layouts computes.
TEST(PhysicalLayoutTest, ATile) {
  const PhysicalLayout layout = LayoutOf("f32[3,5]{1,0:T(2,2)}");
  EXPECT_THAT(layout.sizes, ElementsAre(2, 3, 2, 2));
  EXPECT_EQ(layout.positions, 24);
  EXPECT_EQ(PositionOf(layout, {2, 3}), 17);
}

// Its second figure: in 4 x 8 with tiles 2 x 4 and in them 2 x 1, the columns of a tile are pairs.
TEST(PhysicalLayoutTest, ATileInATile) {
  const PhysicalLayout layout = LayoutOf("bf16[4,8]{1,0:T(2,4)(2,1)}");
  EXPECT_EQ(PositionOf(layout, {0, 0}), 0);
  EXPECT_EQ(PositionOf(layout, {1, 0}), 1);
  EXPECT_EQ(PositionOf(layout, {0, 1}), 2);
  EXPECT_EQ(PositionOf(layout, {0, 4}), 8);
  EXPECT_EQ(PositionOf(layout, {3, 7}), 31);
}

// F32[2,7,8,11,10] becomes F32[112,110], of which 2 x 3 is a tile.
TEST(PhysicalLayoutTest, AStarJoinsADimensionToTheNext) {
  const PhysicalLayout five = LayoutOf("f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
  const PhysicalLayout two = LayoutOf("f32[112,110]{1,0:T(2,3)}");
  EXPECT_EQ(five.sizes, two.sizes);
  EXPECT_EQ(PositionOf(five, {1, 6, 3, 9, 7}), PositionOf(two, {(1 * 7 + 6) * 8 + 3, 9 * 10 + 7}));
}

TEST(PhysicalLayoutTest, Buffers) {
  EXPECT_EQ(BytesOfBuffer("f32[8,1]"), 32);
  EXPECT_EQ(BytesOfBuffer("f32[8,1]{1,0:T(8,128)}"), 4096);
  EXPECT_EQ(BytesOfBuffer("f32[8,1]{0,1:T(8,128)}"), 4096);
  EXPECT_EQ(BytesOfBuffer("f32[]{:T(128)}"), 512);
  EXPECT_EQ(BytesOfBuffer("f32[9,129]{1,0:T(8,128)}"), 16 * 256 * 4);
  EXPECT_EQ(BytesOfBuffer("pred[64]{0:T(512)(128)(4,1)}"), 512);
  EXPECT_EQ(BytesOfBuffer("s4[3]{0:E(4)}"), 2);
  EXPECT_EQ(BytesOfBuffer("s4[3]{0:T(8)E(4)}"), 4);
  EXPECT_EQ(BytesOfBuffer("f32[10]{0:L(4)}"), 48);
  EXPECT_EQ(BytesOfBuffer("f32[<=10]{0:T(4)}"), 48);
  EXPECT_EQ(BytesOfBuffer("f32[0,9]{1,0:T(8,128)}"), 0);
}

TEST(PhysicalLayoutTest, EndsOfInt64) {
  EXPECT_EQ(LayoutOf("u1[9223372036854775807]{0}").BufferBytes(), Int128{1} << 60);
  EXPECT_EQ(LayoutOf("c128[9223372036854775807]{0}").BufferBytes(), ((Int128{1} << 63) - 1) * 16);
  EXPECT_EQ(BytesOfBuffer("s8[0,9223372036854775807]{1,0}"), 0);
  EXPECT_EQ(BytesOfBuffer("s8[1]{0:T(9223372036854775807)}"), INT64_MAX);
  const auto code = [](const Shape& shape) { return PhysicalLayoutOf(shape).status().code(); };
  for (const absl::string_view shape :
       {"s8[9223372036854775807]{0:T(2)}", "s8[3037000499,3037000499]{1,0:T(2,2)}",
        "s8[1,1]{1,0:T(4294967296,4294967296)}"}) {
    EXPECT_EQ(code(*ParseShape(shape)), absl::StatusCode::kOutOfRange) << shape;
  }
  EXPECT_EQ(code(Shape::Array(ElementType::kS8, {3037000500, 3037000500})),
            absl::StatusCode::kOutOfRange);
  EXPECT_GT(LayoutOf("s8[1]{0:L(9223372036854775807)E(9223372036854775807)}").BufferBytes(), 0);
}

TEST(PhysicalLayoutTest, SomeLayoutsHaveNoAddresses) {
  EXPECT_THAT(ErrorOf("f32[?]"), HasSubstr("no bound"));
  EXPECT_THAT(ErrorOf("f32[4]{0:T(0)}"), HasSubstr("size 0"));
  EXPECT_THAT(ErrorOf("f32[4]{0:T(2,*)}"), HasSubstr("ends in *"));
  EXPECT_THAT(ErrorOf("f32[4]{0:SC(0:1)}"), HasSubstr("split"));
  EXPECT_THAT(ErrorOf("f32[4]{0:M(4)}"), HasSubstr("prefix"));
  std::string many = "f32[4]{0:T";
  for (int i = 0; i < 100000; ++i) many += "(2)";
  EXPECT_THAT(ErrorOf(many + "}"), HasSubstr("more than 64 axes"));
}

TEST(PhysicalLayoutTest, SamePlaces) {
  const auto same = [](absl::string_view a, absl::string_view b) {
    return HaveSamePlaces(*ParseShape(a), *ParseShape(b));
  };
  EXPECT_TRUE(same("f32[2,3]", "s32[2,3]{1,0}"));
  EXPECT_TRUE(same("f32[2,3]{1,0:T(2,2)S(1)}", "f32[2,3]{1,0:T(2,2)L(8)}"));
  EXPECT_TRUE(same("s4[8]", "s8[8]{0:E(4)}"));
  EXPECT_FALSE(same("f32[2,3]{0,1}", "f32[2,3]"));
  EXPECT_FALSE(same("f32[2,3]{1,0:T(2,2)}", "f32[2,3]{1,0:T(2,1)}"));
  EXPECT_FALSE(same("f32[2,3]", "bf16[2,3]"));
  EXPECT_FALSE(same("f32[2,3]", "f32[3,2]"));
  EXPECT_FALSE(same("f32[2]{0:M(4)}", "f32[2]"));
}

TEST(PhysicalLayoutTest, WidthsThatFit) {
  const auto ratio = [](absl::string_view a, absl::string_view b) {
    const auto result = WidthRatioOf(LayoutOf(a), LayoutOf(b));
    return result.ok() ? absl::StrCat(result->narrow_in_from, " ", result->narrow_in_to)
                       : std::string(result.status().message());
  };
  EXPECT_EQ(ratio("f32[2]", "s8[8]"), "4 1");
  EXPECT_EQ(ratio("u2[8]", "bf16[1]"), "1 8");
  EXPECT_EQ(ratio("u8[4]", "u8[8]{0:E(3)}"), "elements of 8 bits as elements of 3 bits");
  EXPECT_THAT(ratio("f64[9223372036854775807]", "s8[8]"), HasSubstr("2^63 - 1 places"));
}

}  // namespace
}  // namespace xla_indexing::internal
