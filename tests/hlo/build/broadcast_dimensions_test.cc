#include "xla_indexing/hlo/build/broadcast_dimensions.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"

namespace xla_indexing::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<Shape> Arrays(std::initializer_list<absl::string_view> texts) {
  std::vector<Shape> shapes;
  for (const absl::string_view text : texts) shapes.push_back(ShapeOf(text));
  return shapes;
}

// `f32[2,3] {0,1} {1}`: the result and the dimensions of each operand; or the error.
std::string Text(const absl::StatusOr<ImplicitBroadcast>& broadcast) {
  if (!broadcast.ok()) return std::string(broadcast.status().message());
  std::string text = broadcast->result.ToString();
  for (const std::vector<int64_t>& dimensions : broadcast->dimensions) {
    absl::StrAppend(&text, " {", absl::StrJoin(dimensions, ","), "}");
  }
  return text;
}

std::string Numpy(std::initializer_list<absl::string_view> operands) {
  return Text(BroadcastLikeNumpy(Arrays(operands)));
}

std::string Xla(std::initializer_list<absl::string_view> operands,
                const std::vector<int64_t>& broadcast_dimensions = {}) {
  return Text(BroadcastLikeXla(Arrays(operands), broadcast_dimensions));
}

// The derived dimensions for arrays of these ranks.
absl::StatusOr<std::vector<int64_t>> Derived(int64_t lhs, int64_t rhs) {
  return NumpyBroadcastDimensions(Shape::Array(ElementType::kF32, std::vector<int64_t>(lhs, 2)),
                                  Shape::Array(ElementType::kF32, std::vector<int64_t>(rhs, 2)));
}

TEST(NumpyBroadcastDimensions, BeginAtTheDifferenceOfTheRanks) {
  EXPECT_THAT(*Derived(2, 4), ElementsAre(2, 3));
  EXPECT_THAT(*Derived(4, 2), ElementsAre(2, 3));
  EXPECT_THAT(*Derived(1, 2), ElementsAre(1));
  EXPECT_THAT(*Derived(3, 4), ElementsAre(1, 2, 3));
}

TEST(NumpyBroadcastDimensions, AreNoneOfScalarsAndOfEqualRanks) {
  EXPECT_THAT(*Derived(0, 3), ElementsAre());
  EXPECT_THAT(*Derived(3, 0), ElementsAre());
  EXPECT_THAT(*Derived(0, 0), ElementsAre());
  EXPECT_THAT(*Derived(2, 2), ElementsAre());
}

TEST(NumpyBroadcastDimensions, AreAnErrorOfTuplesAndOfTooManyDimensions) {
  EXPECT_EQ(NumpyBroadcastDimensions(ShapeOf("f32[2]"), ShapeOf("()")).status().message(),
            "operand 1, (), is not an array");
  EXPECT_THAT(Derived(65, 1).status().message(),
              AllOf(HasSubstr("operand 0, "), HasSubstr("has rank 65")));
}

TEST(BroadcastLikeNumpy, LinesUpOnTheRight) {
  EXPECT_EQ(Numpy({"f32[10,1]", "f32[1,5]"}), "f32[10,5] {0,1} {0,1}");
  EXPECT_EQ(Numpy({"f32[]", "f32[1,5]"}), "f32[1,5] {} {0,1}");
  EXPECT_EQ(Numpy({"f32[10,1]", "f32[6,8,1,5]"}), "f32[6,8,10,5] {2,3} {0,1,2,3}");
  EXPECT_EQ(Numpy({"pred[]", "f32[3,1]", "f32[1,2,1,4]"}), "pred[1,2,3,4] {} {2,3} {0,1,2,3}");
  EXPECT_EQ(Numpy({"f32[7]"}), "f32[7] {0}");
}

TEST(BroadcastLikeNumpy, SizesThatDifferAreErrors) {
  EXPECT_EQ(Numpy({"f32[10,2]", "f32[6,8,10,5]"}),
            "operand 1, f32[6,8,10,5], dimension 3: size 5 does not go with size 2 of operand 0, "
            "f32[10,2], dimension 1");
  EXPECT_THAT(Numpy({}), HasSubstr("at least one operand"));
  EXPECT_EQ(Numpy({"opaque[]"}), "operand 0, opaque[], is not an array");
}

TEST(BroadcastLikeXla, EqualRanksAndScalarsNeedNoDimensions) {
  EXPECT_EQ(Xla({"f32[10,1]", "f32[1,5]"}), "f32[10,5] {0,1} {0,1}");
  EXPECT_EQ(Xla({"f32[10,1]", "f32[1,5]"}, {0, 1}), "f32[10,5] {0,1} {0,1}");
  EXPECT_EQ(Xla({"f32[]", "f32[1,5]"}), "f32[1,5] {} {0,1}");
  EXPECT_EQ(Xla({"f32[1,5]", "f32[]"}), "f32[1,5] {0,1} {}");
  EXPECT_EQ(Xla({"f32[]", "f32[]"}), "f32[] {} {}");
}

TEST(BroadcastLikeXla, DifferentRanksNeedThem) {
  EXPECT_EQ(Xla({"f32[10,1]", "f32[6,8,1,5]"}),
            "operand 0, f32[10,1], has rank 2 and operand 1, f32[6,8,1,5], has rank 4: operands of "
            "different ranks need broadcast_dimensions");
  EXPECT_EQ(Xla({"f32[10,1]", "f32[6,8,1,5]"}, {2, 3}), "f32[6,8,10,5] {2,3} {0,1,2,3}");
  EXPECT_EQ(Xla({"f32[6,8,1,5]", "f32[10,1]"}, {2, 3}), "f32[6,8,10,5] {0,1,2,3} {2,3}");
  // They need not be the last ones.
  EXPECT_EQ(Xla({"f32[6,1]", "f32[6,8,9,5]"}, {0, 2}), "f32[6,8,9,5] {0,2} {0,1,2,3}");
  EXPECT_EQ(Xla({"f32[]", "f32[6]", "f32[6,8]"}, {0}), "f32[6,8] {} {0} {0,1}");
}

TEST(BroadcastLikeXla, DimensionsThatDoNotFitAreErrors) {
  EXPECT_EQ(Xla({"f32[10,1]", "f32[6,8,1,5]"}, {2}),
            "broadcast_dimensions={2} has length 1, but operand 0, f32[10,1], has rank 2");
  EXPECT_EQ(
      Xla({"f32[6,8,1,5]", "f32[10,1]"}, {2, 4}),
      "broadcast_dimensions={2,4}: 4, for operand 1, f32[10,1], dimension 1 of size 1, is not "
      "a dimension of operand 0, f32[6,8,1,5], of rank 4");
  EXPECT_THAT(Xla({"f32[10,1]", "f32[6,8,1,5]"}, {-1, 2}), HasSubstr("{-1,2}: -1, for operand 0"));
  EXPECT_EQ(
      Xla({"f32[5,10]", "f32[6,8,10,5]"}, {3, 2}),
      "broadcast_dimensions={3,2}: 2, for operand 0, f32[5,10], dimension 1 of size 10, comes "
      "after 3; they should ascend");
  EXPECT_THAT(Xla({"f32[5,5]", "f32[6,8,10,5]"}, {3, 3}), HasSubstr("3, for operand 0, f32[5,5]"));
  EXPECT_EQ(Xla({"f32[10,1]", "f32[6,8,1,5]"}, {1, 3}),
            "operand 1, f32[6,8,1,5], dimension 1: size 8 does not go with size 10 of operand 0, "
            "f32[10,1], dimension 0");
  EXPECT_EQ(Xla({"f32[2,3]", "f32[2,3]"}, {1, 0}),
            "broadcast_dimensions={1,0}: all operands have rank 2, as operand 0, f32[2,3]; their "
            "dimensions belong together in order");
  EXPECT_EQ(Xla({"f32[2]", "f32[]"}, {0}),
            "broadcast_dimensions={0} has length 1, but operand 1, f32[], has rank 0");
  EXPECT_THAT(Xla({"f32[2]", "f32[2,2]"}, {INT64_MAX}), HasSubstr("9223372036854775807"));
}

TEST(BroadcastLikeXla, BoundsAreThoseOfTheTables) {
  EXPECT_EQ(Xla({"f32[<=10,1]", "f32[1,<=5]"}), "f32[<=10,<=5] {0,1} {0,1}");
  EXPECT_EQ(Xla({"f32[<=10]", "f32[6,7]"}, {1}), "f32[6,7] {1} {0,1}");
  EXPECT_THAT(Xla({"f32[<=5]", "f32[6,7]"}, {1}), HasSubstr("size 7 does not go with size <=5"));
  const auto guarded = BroadcastLikeXla(Arrays({"f32[<=7]", "f32[6,7]"}), {1});
  ASSERT_TRUE(guarded.ok());
  ASSERT_EQ(guarded->guards.size(), 1u);
  EXPECT_EQ(guarded->guards[0].ToString(), "operand 0 dimension 0 (<=7): size 1 or 7");
}

TEST(BroadcastLikeXla, WithTheDerivedDimensionsBroadcastsAsNumpyDoes) {
  const std::vector<Shape> shapes = Arrays({"f32[]", "f32[4]", "f32[1]", "f32[3,1]", "f32[1,4]",
                                            "f32[2,3,4]", "f32[2,1,1]", "f32[5,1,3,1]", "f32[?]"});
  for (const Shape& lhs : shapes) {
    for (const Shape& rhs : shapes) {
      const std::vector<Shape> operands = {lhs, rhs};
      const auto derived = NumpyBroadcastDimensions(lhs, rhs);
      ASSERT_TRUE(derived.ok());
      EXPECT_EQ(Text(BroadcastLikeXla(operands, *derived)), Text(BroadcastLikeNumpy(operands)));
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
