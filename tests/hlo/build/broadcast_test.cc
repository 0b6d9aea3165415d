// The tables, the pseudo-code and the examples of MLIR's document on the trait Broadcastable.

#include "xla_indexing/hlo/build/broadcast.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"

namespace xla_indexing::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `f32[2,?]`; `*` has no rank.
MaybeRanked Type(absl::string_view text) {
  if (text == "*") return std::nullopt;
  return ShapeOf(text);
}

std::vector<MaybeRanked> Types(std::initializer_list<absl::string_view> texts) {
  std::vector<MaybeRanked> types;
  for (const absl::string_view text : texts) types.push_back(Type(text));
  return types;
}

// The inferred shape, `*` without rank, or the error.
std::string Infer(std::initializer_list<absl::string_view> operands) {
  const auto inferred = InferBroadcastShape(Types(operands));
  if (!inferred.ok()) return std::string(inferred.status().message());
  return inferred->shape.has_value() ? inferred->shape->ToString() : "*";
}

std::vector<std::string> Guards(std::initializer_list<absl::string_view> operands) {
  const auto inferred = InferBroadcastShape(Types(operands));
  EXPECT_TRUE(inferred.ok()) << inferred.status();
  std::vector<std::string> texts;
  if (!inferred.ok()) return texts;
  for (const BroadcastGuard& guard : inferred->guards) {
    texts.push_back(absl::StrCat(guard.dimension, ": ", guard.ToString()));
  }
  return texts;
}

// Empty where the result is right.
std::string Verify(std::initializer_list<absl::string_view> operands, absl::string_view result) {
  return std::string(VerifyBroadcastShape(Types(operands), Type(result)).message());
}

DimensionSize Size(absl::string_view text) {
  return DimensionSize::Of(*Type(absl::StrCat("f32[", text, "]")), 0);
}

// What two sizes give, either way round; `error` where they do not go together.
std::string Pair(absl::string_view a, absl::string_view b) {
  const auto ab = InferBroadcastDimension(Size(a), Size(b));
  const auto ba = InferBroadcastDimension(Size(b), Size(a));
  EXPECT_EQ(ab.ok(), ba.ok()) << a << " " << b;
  if (!ab.ok() || !ba.ok()) return "error";
  EXPECT_EQ(*ab, *ba) << a << " " << b;
  return ab->ToString();
}

TEST(BroadcastDimension, FollowsTheTable) {
  EXPECT_EQ(Pair("?", "?"), "?");
  EXPECT_EQ(Pair("?", "1"), "?");
  EXPECT_EQ(Pair("?", "7"), "7");
  EXPECT_EQ(Pair("1", "1"), "1");
  EXPECT_EQ(Pair("1", "7"), "7");
  EXPECT_EQ(Pair("7", "7"), "7");
  EXPECT_EQ(Pair("7", "8"), "error");
}

TEST(BroadcastDimension, IsStaticBoundedOrNeither) {
  EXPECT_EQ(Size("3"), DimensionSize::Static(3));
  EXPECT_EQ(Size("<=3"), DimensionSize::AtMost(3));
  EXPECT_EQ(Size("?"), DimensionSize::Unbounded());
  // However a shape came to a dimension without bound.
  const Shape shape = Shape::Array(ElementType::kF32, {Shape::kUnboundedSize});
  EXPECT_EQ(DimensionSize::Of(shape, 0), DimensionSize::Unbounded());
}

TEST(BroadcastDimension, ZeroIsAStaticSizeOtherThanOne) {
  EXPECT_EQ(Pair("0", "1"), "0");
  EXPECT_EQ(Pair("0", "0"), "0");
  EXPECT_EQ(Pair("0", "5"), "error");
  EXPECT_EQ(Pair("0", "?"), "0");
  EXPECT_EQ(Pair("0", "<=5"), "0");
  EXPECT_EQ(Pair("<=0", "<=5"), "<=0");
  EXPECT_EQ(Pair("<=0", "2"), "error");
}

TEST(BroadcastDimension, BoundsFollowTheTable) {
  EXPECT_EQ(Pair("<=5", "1"), "<=5");
  EXPECT_EQ(Pair("<=1", "1"), "<=1");
  EXPECT_EQ(Pair("<=5", "3"), "3");
  EXPECT_EQ(Pair("<=5", "5"), "5");
  EXPECT_EQ(Pair("<=5", "6"), "error");
  EXPECT_EQ(Pair("<=1", "2"), "error");
  EXPECT_EQ(Pair("<=5", "<=3"), "<=3");
  EXPECT_EQ(Pair("<=5", "<=1"), "<=5");
  EXPECT_EQ(Pair("<=1", "<=1"), "<=1");
  EXPECT_EQ(Pair("<=5", "?"), "?");
}

TEST(BroadcastDimension, TakesTheLargestSizes) {
  EXPECT_EQ(Pair("9223372036854775807", "1"), "9223372036854775807");
  EXPECT_EQ(Pair("9223372036854775807", "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Pair("9223372036854775807", "9223372036854775806"), "error");
  EXPECT_EQ(Pair("<=9223372036854775807", "9223372036854775807"), "9223372036854775807");
}

// The pseudo-code of the document, where sizes are `?` or numbers; 0 counts with those above 1.
std::optional<std::string> InferDim(const std::string& dim0, const std::string& dim1) {
  const auto is_above_1 = [](const std::string& dim) { return dim != "?" && dim != "1"; };
  if (is_above_1(dim0) && is_above_1(dim1)) {
    if (dim0 != dim1) return std::nullopt;
    return dim0;
  }
  if (is_above_1(dim1)) return dim1;
  return dim0 == "1" && dim1 == "?" ? dim1 : dim0;
}

TEST(BroadcastShape, AgreesWithThePseudoCodeForThreeOperandsInEveryOrder) {
  const std::vector<std::string> sizes = {"?", "0", "1", "2", "3"};
  int failures = 0;
  for (const std::string& a : sizes) {
    for (const std::string& b : sizes) {
      for (const std::string& c : sizes) {
        std::optional<std::string> expected = InferDim(a, b);
        if (expected.has_value()) expected = InferDim(*expected, c);
        failures += expected.has_value() ? 0 : 1;
        const std::vector<std::pair<std::string, std::string>> groupings = {
            {a, Pair(b, c)}, {b, Pair(a, c)}, {c, Pair(a, b)}};
        for (const auto& [alone, together] : groupings) {
          EXPECT_EQ(together == "error" ? "error" : Pair(alone, together),
                    expected.value_or("error"))
              << a << " " << b << " " << c;
        }
        for (const auto& [x, y, z] :
             {std::tuple(a, b, c), std::tuple(a, c, b), std::tuple(b, a, c), std::tuple(b, c, a),
              std::tuple(c, a, b), std::tuple(c, b, a)}) {
          const auto inferred = InferBroadcastShape({Type(absl::StrCat("f32[", x, "]")),
                                                     Type(absl::StrCat("f32[", y, "]")),
                                                     Type(absl::StrCat("f32[", z, "]"))});
          ASSERT_EQ(inferred.ok(), expected.has_value()) << x << " " << y << " " << z;
          if (inferred.ok()) {
            EXPECT_EQ(inferred->shape->ToString(), absl::StrCat("f32[", *expected, "]"));
          }
        }
      }
    }
  }
  // Those of the 125 triples fail that hold two of {0, 2, 3}. Triples with none of these: 2^3;
  // triples with a single kind k of them: 3^3 - 2^3 each.
  EXPECT_EQ(failures, 125 - 8 - 3 * 19);
}

TEST(BroadcastShape, IsExpandedOnTheLeft) {
  EXPECT_EQ(Infer({"f32[4]", "f32[2,3,4]"}), "f32[2,3,4]");
  EXPECT_EQ(Infer({"f32[10,1]", "f32[6,8,1,5]"}), "f32[6,8,10,5]");
  EXPECT_EQ(Infer({"f32[]", "f32[]"}), "f32[]");
  EXPECT_EQ(Infer({"f32[]", "f32[1,5]"}), "f32[1,5]");
  EXPECT_EQ(Infer({"f32[3,1]", "f32[?]", "f32[2,1,1]"}), "f32[2,3,?]");
  EXPECT_EQ(Infer({"f32[2,3]{0,1}"}), "f32[2,3]");
}

TEST(BroadcastShape, LeavesUnrankedOperandsOut) {
  EXPECT_EQ(Infer({"*"}), "*");
  EXPECT_EQ(Infer({"*", "*"}), "*");
  EXPECT_EQ(Infer({"*", "f32[2]", "*", "f32[3,1]"}), "f32[3,2]");
  EXPECT_EQ(Infer({"*", "f32[2]", "*", "f32[3]"}),
            "operand 3, f32[3], dimension 0: size 3 does not go with size 2 of operand 1, f32[2], "
            "dimension 0");
}

TEST(BroadcastShape, ErrorsNameTheOperandThatTheSizeComesFrom) {
  EXPECT_EQ(Infer({"f32[1,1]", "f32[4,1,3]", "f32[1]", "f32[2,5]"}),
            "operand 3, f32[2,5], dimension 1: size 5 does not go with size 3 of operand 1, "
            "f32[4,1,3], dimension 2");
  EXPECT_EQ(Infer({"f32[<=5]", "f32[<=3]", "f32[4]"}),
            "operand 2, f32[4], dimension 0: size 4 does not go with size <=3 of operand 1, "
            "f32[<=3], dimension 0");
}

TEST(BroadcastShape, BadOperandsAreErrors) {
  EXPECT_THAT(Infer({}), HasSubstr("at least one operand"));
  EXPECT_EQ(Infer({"f32[2]", "(f32[2])"}), "operand 1, (f32[2]), is not an array");
  EXPECT_EQ(Infer({"token[]"}), "operand 0, token[], is not an array");
  const Shape negative = Shape::Array(ElementType::kF32, {2, -3});
  EXPECT_EQ(InferBroadcastShape({negative}).status().message(),
            "operand 0, f32[2,-3], dimension 1: size -3 is negative");
  const std::vector<int64_t> ones(65, 1);
  const Shape most = Shape::Array(ElementType::kF32, absl::MakeConstSpan(ones).subspan(1));
  const Shape more = Shape::Array(ElementType::kF32, ones);
  EXPECT_TRUE(InferBroadcastShape({most, most}).ok());
  EXPECT_THAT(InferBroadcastShape({most, more}).status().message(),
              AllOf(HasSubstr("operand 1, f32[1,"), HasSubstr("has rank 65"), HasSubstr("64")));
  EXPECT_THAT(VerifyBroadcastShape({most}, more).message(),
              AllOf(HasSubstr("the result, f32[1,"), HasSubstr("has rank 65")));
}

TEST(BroadcastShape, RanksAreRequiredWhereTheyAreNeeded) {
  const auto ranked = RequireRanks(Types({"f32[2]", "s32[?]"}));
  ASSERT_TRUE(ranked.ok());
  EXPECT_THAT(*ranked, ElementsAre(*Type("f32[2]"), *Type("s32[?]")));
  EXPECT_THAT(RequireRanks(Types({"f32[2]", "*"})).status().message(),
              HasSubstr("operand 1 has no rank"));
}

TEST(BroadcastGuards, AreThePreconditionsOfTheTable) {
  // (?, ?): sizes above 1 must be equal.
  EXPECT_THAT(Guards({"f32[?]", "f32[?]"}),
              ElementsAre("0: operand 0 dimension 0 (?) and operand 1 dimension 0 (?): size 1 or "
                          "one size in common"));
  // (?, 1): none.
  EXPECT_THAT(Guards({"f32[?]", "f32[1]"}), IsEmpty());
  // (?, >1): above 1, it must be the other size.
  EXPECT_THAT(Guards({"f32[?]", "f32[4]"}),
              ElementsAre("0: operand 0 dimension 0 (?): size 1 or 4"));
  // Static sizes are checked before.
  EXPECT_THAT(Guards({"f32[1,4]", "f32[4,4]"}), IsEmpty());
}

TEST(BroadcastGuards, NameEveryDynamicDimensionAndTheBoundOfTheResult) {
  EXPECT_THAT(
      Guards({"f32[?,<=5]", "f32[3,7,1]", "f32[<=9,<=3]"}),
      ElementsAre("1: operand 0 dimension 0 (?) and operand 2 dimension 0 (<=9): size 1 or 7",
                  "2: operand 0 dimension 1 (<=5) and operand 2 dimension 1 (<=3): size 1 "
                  "or one size in common, at most 3"));
  EXPECT_THAT(Guards({"f32[?,<=5]"}), IsEmpty());
  EXPECT_THAT(
      Guards({"f32[?]", "f32[0]", "f32[?]"}),
      ElementsAre("0: operand 0 dimension 0 (?) and operand 2 dimension 0 (?): size 1 or 0"));
}

TEST(BroadcastExamples, CorrectUses) {
  EXPECT_EQ(Verify({"s32[1,2]", "s32[1,2]"}, "s32[1,2]"), "");
  EXPECT_EQ(Verify({"s32[?]", "s32[?]"}, "s32[?]"), "");
  EXPECT_EQ(Verify({"s32[1]", "s32[4]"}, "s32[4]"), "");
  EXPECT_EQ(Verify({"s32[4]"}, "s32[?]"), "");
  EXPECT_EQ(Verify({"s32[4]", "s32[2,3,4]"}, "s32[2,3,4]"), "");
  EXPECT_EQ(Verify({"pred[2]", "s32[2]"}, "s64[2]"), "");
  EXPECT_EQ(Verify({"s32[2]"}, "*"), "");
  EXPECT_EQ(Verify({"*", "*"}, "s32[2]"), "");
}

TEST(BroadcastExamples, IncorrectUses) {
  EXPECT_EQ(Verify({"s32[3]", "s32[2]"}, "s32[?]"),
            "operand 1, s32[2], dimension 0: size 2 does not go with size 3 of operand 0, s32[3], "
            "dimension 0");
  EXPECT_EQ(Verify({"s32[3]", "s32[3]"}, "s32[1,3]"),
            "the result, s32[1,3], has rank 2, but operand 0, s32[3], gives it rank 1");
  EXPECT_EQ(Verify({"s32[?]", "s32[?]"}, "s32[4]"),
            "the result, s32[4], dimension 0: size 4 is not the size ? that operand 0, s32[?], "
            "dimension 0 gives it");
  EXPECT_EQ(Verify({"s32[2]", "s32[2]"}, "s32[4]"),
            "the result, s32[4], dimension 0: size 4 is not the size 2 that operand 0, s32[2], "
            "dimension 0 gives it");
  EXPECT_EQ(Verify({"s32[1]", "s32[1]"}, "s32[4]"),
            "the result, s32[4], dimension 0: size 4 is not the size 1 that operand 0, s32[1], "
            "dimension 0 gives it");
}

TEST(BroadcastVerification, FollowsTheTable) {
  EXPECT_EQ(Verify({"f32[?]"}, "f32[?]"), "");
  EXPECT_THAT(Verify({"f32[?]"}, "f32[1]"), HasSubstr("size 1 is not the size ?"));
  EXPECT_EQ(Verify({"f32[0]"}, "f32[?]"), "");
  EXPECT_EQ(Verify({"f32[0]"}, "f32[0]"), "");
  EXPECT_THAT(Verify({"f32[0]"}, "f32[1]"), HasSubstr("size 1 is not the size 0"));
  EXPECT_EQ(Verify({"f32[4]"}, "f32[<=4]"), "");
  EXPECT_THAT(Verify({"f32[4]"}, "f32[<=3]"), HasSubstr("size <=3 is not the size 4"));
  EXPECT_THAT(Verify({"f32[<=4]"}, "f32[4]"), HasSubstr("size 4 is not the size <=4"));
  EXPECT_EQ(Verify({"f32[<=4]"}, "f32[?]"), "");
}

TEST(BroadcastVerification, ComesAfterInference) {
  EXPECT_THAT(Verify({"f32[3]", "f32[2]"}, "*"), HasSubstr("size 2 does not go with size 3"));
  EXPECT_THAT(Verify({}, "*"), HasSubstr("at least one operand"));
  EXPECT_EQ(Verify({"*"}, "(f32[2])"), "the result, (f32[2]), is not an array");
  EXPECT_EQ(Verify({"f32[2,3]", "f32[4,2,3]"}, "f32[2,3]"),
            "the result, f32[2,3], has rank 2, but operand 1, f32[4,2,3], gives it rank 3");
}

// Two sizes are compatible where some size at run time is both; bounds include all below.
bool AreCompatible(DimensionSize a, DimensionSize b) {
  if (a.is_dynamic && b.is_dynamic) return true;
  if (!a.is_dynamic && !b.is_dynamic) return a.size == b.size;
  const DimensionSize fixed = a.is_dynamic ? b : a;
  const DimensionSize open = a.is_dynamic ? a : b;
  return open.IsUnbounded() || fixed.size <= open.size;
}

TEST(BroadcastVerification, AVerifiedResultIsCompatibleWithTheInferredOne) {
  const std::vector<absl::string_view> sizes = {"?", "0", "1", "2", "3", "<=0", "<=1", "<=2"};
  int verified = 0;
  for (const absl::string_view a : sizes) {
    for (const absl::string_view b : sizes) {
      const auto inferred = InferBroadcastDimension(Size(a), Size(b));
      for (const absl::string_view result : sizes) {
        const bool is_right = VerifyBroadcastShape({Type(absl::StrCat("f32[", a, "]")),
                                                    Type(absl::StrCat("f32[", b, "]"))},
                                                   Type(absl::StrCat("f32[", result, "]")))
                                  .ok();
        if (!inferred.ok()) {
          EXPECT_FALSE(is_right) << a << " " << b << " " << result;
          continue;
        }
        if (*inferred == Size(result)) {
          EXPECT_TRUE(is_right) << a << " " << b;
        }
        if (!is_right) continue;
        ++verified;
        EXPECT_TRUE(AreCompatible(*inferred, Size(result))) << a << " " << b << " " << result;
      }
    }
  }
  EXPECT_GT(verified, 100);
}

}  // namespace
}  // namespace xla_indexing::internal
