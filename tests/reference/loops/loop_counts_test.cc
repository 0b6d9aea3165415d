// Loops that count in the ways in which programs do, executed, against the maps of all their
// iterations: y[row] = x[row] for as many rows as the loop runs.

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {
namespace {

// How a loop counts; the counter is `c`, of this type, and another leaf of the state is `n`, which
// is 4 throughout.
struct Counting {
  std::string name;
  std::string type = "s32[]";
  std::string init = "constant(0)";
  // Lines of the body that say what `next` is, and `row`, of type s32[].
  std::string body = "one = s32[] constant(1)\n next = s32[] add(c, one)\n row = s32[] copy(c)";
  // Lines of the condition that say what `go` is.
  std::string condition =
      "four = s32[] constant(4)\n ROOT go = pred[] compare(c, four), direction=LT";
  std::string config = "";
};

// For the names of the tests: without it they would hold the bytes of the object.
void PrintTo(const Counting& counting, std::ostream* stream) { *stream << counting.name; }

std::string Text(const Counting& counting) {
  return absl::StrReplaceAll(
      "HloModule m\n"
      "less {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
      " ROOT l = pred[] compare(a, b), direction=LT\n}\n"
      "body {\n p = (TYPE, s32[], f32[7], f32[7]) parameter(0)\n"
      " c = TYPE get-tuple-element(p), index=0\n n = s32[] get-tuple-element(p), index=1\n"
      " x = f32[7] get-tuple-element(p), index=2\n y = f32[7] get-tuple-element(p), index=3\n"
      " BODY\n"
      " element = f32[1] dynamic-slice(x, row), dynamic_slice_sizes={1}\n"
      " z = f32[7] dynamic-update-slice(y, element, row)\n"
      " ROOT t = (TYPE, s32[], f32[7], f32[7]) tuple(next, n, x, z)\n}\n"
      "condition {\n p = (TYPE, s32[], f32[7], f32[7]) parameter(0)\n"
      " c = TYPE get-tuple-element(p), index=0\n n = s32[] get-tuple-element(p), index=1\n"
      " CONDITION\n}\n"
      "ENTRY e {\n x = f32[7] parameter(0)\n y = f32[7] parameter(1)\n"
      " two = s32[] constant(2)\n n = s32[] multiply(two, two)\n c = TYPE INIT\n"
      " s = (TYPE, s32[], f32[7], f32[7]) tuple(c, n, x, y)\n"
      " ROOT w = (TYPE, s32[], f32[7], f32[7]) while(s), condition=condition, body=bodyCONFIG\n}\n",
      {{"TYPE", counting.type},
       {"INIT", counting.init},
       {"BODY", counting.body},
       {"CONDITION", counting.condition},
       {"CONFIG", counting.config}});
}

class LoopCountsTest : public testing::TestWithParam<Counting> {};

TEST_P(LoopCountsTest, AgreeWithTheReferenceAndAreExact) {
  const std::string text = Text(GetParam());
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  ASSERT_TRUE(status.ok()) << status;
  ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
    EXPECT_TRUE(entry.indexing.label().IsExact())
        << entry.output_leaf << " of " << entry.operand_leaf << ": "
        << entry.indexing.label().reason;
  });
}

std::string StepOf(const std::string& type, int step, const std::string& row) {
  return absl::StrCat("step = ", type, " constant(", step, ")\n next = ", type,
                      " add(c, step)\n row = s32[] ", row);
}

std::string CompareWith(const std::string& type, int limit, const std::string& direction) {
  return absl::StrCat("limit = ", type, " constant(", limit,
                      ")\n ROOT go = pred[] compare(c, limit), direction=", direction);
}

INSTANTIATE_TEST_SUITE_P(
    All, LoopCountsTest,
    testing::Values(
        Counting{.name = "LessThan"},
        Counting{.name = "AtMost", .condition = CompareWith("s32[]", 4, "LE")},
        Counting{.name = "NotEqual", .condition = CompareWith("s32[]", 4, "NE")},
        Counting{.name = "LimitOnTheLeft",
                 .condition = "four = s32[] constant(4)\n ROOT go = pred[] compare(four, c), "
                              "direction=GT"},
        Counting{.name = "DownToAbove",
                 .init = "constant(5)",
                 .body = StepOf("s32[]", -1, "copy(c)"),
                 .condition = CompareWith("s32[]", 1, "GT")},
        Counting{.name = "DownToAtLeast",
                 .init = "constant(6)",
                 .body = StepOf("s32[]", -2, "copy(c)"),
                 .condition = CompareWith("s32[]", 1, "GE")},
        Counting{.name = "InStepsOfThree",
                 .body = StepOf("s32[]", 3, "copy(c)"),
                 .condition = CompareWith("s32[]", 7, "LT")},
        Counting{.name = "NeverRuns", .condition = CompareWith("s32[]", 0, "LT")},
        Counting{.name = "LimitCarriedUnchanged",
                 .condition = "ROOT go = pred[] compare(c, n), direction=LT"},
        Counting{.name = "LimitComputed",
                 .condition = "two = s32[] constant(2)\n limit = s32[] multiply(n, two)\n"
                              " three = s32[] constant(3)\n less = s32[] subtract(limit, three)\n"
                              " ROOT go = pred[] compare(c, less), direction=LT"},
        Counting{.name = "CompareInAFusion",
                 .condition = "four = s32[] constant(4)\n"
                              " ROOT go = pred[] fusion(c, four), kind=kLoop, calls=less"},
        Counting{.name = "CompareInACall",
                 .condition = "four = s32[] constant(4)\n"
                              " ROOT go = pred[] call(c, four), to_apply=less"},
        Counting{.name = "NegatedCompare",
                 .condition = "four = s32[] constant(4)\n"
                              " end = pred[] compare(c, four), direction=GE\n"
                              " ROOT go = pred[] not(end)"},
        Counting{.name = "TwoCompares",
                 .condition = "four = s32[] constant(4)\n five = s32[] constant(5)\n"
                              " a = pred[] compare(c, four), direction=LT\n"
                              " b = pred[] compare(c, five), direction=LT\n"
                              " ROOT go = pred[] and(a, b)"},
        Counting{.name = "CarriedThroughACopy",
                 .body = "one = s32[] constant(1)\n sum = s32[] add(c, one)\n"
                         " next = s32[] copy(sum)\n row = s32[] copy(c)"},
        Counting{.name = "CarriedThroughConverts",
                 .body = "one = s64[] constant(1)\n wide = s64[] convert(c)\n"
                         " sum = s64[] add(wide, one)\n next = s32[] convert(sum)\n"
                         " row = s32[] convert(wide)"},
        Counting{.name = "OfAnUnsignedType",
                 .type = "u8[]",
                 .body = StepOf("u8[]", 1, "convert(c)"),
                 .condition = CompareWith("u8[]", 4, "LT")},
        Counting{.name = "OfEightBitsToTheirEnd",
                 .type = "s8[]",
                 .init = "constant(123)",
                 .body = absl::StrCat("wide = s32[] convert(c)\n first = s32[] constant(123)\n ",
                                      StepOf("s8[]", 1, "subtract(wide, first)")),
                 .condition = CompareWith("s8[]", 127, "LT")},
        Counting{.name = "RowsFromTheEnd",
                 .body = absl::StrCat("six = s32[] constant(6)\n ",
                                      StepOf("s32[]", 1, "subtract(six, c)"))},
        Counting{.name = "RowsOfASelect",
                 .body = absl::StrCat("zero = s32[] constant(0)\n seven = s32[] constant(7)\n"
                                      " is_negative = pred[] compare(c, zero), direction=LT\n"
                                      " from_end = s32[] add(c, seven)\n ",
                                      StepOf("s32[]", 1, "select(is_negative, from_end, c)"))},
        Counting{.name = "RowsOfARemainder",
                 .body = absl::StrCat("three = s32[] constant(3)\n ",
                                      StepOf("s32[]", 1, "remainder(c, three)"))},
        Counting{.name = "RowsOfMinimumAndMaximum",
                 .body = absl::StrCat("one = s32[] constant(1)\n two = s32[] constant(2)\n"
                                      " least = s32[] minimum(c, two)\n ",
                                      StepOf("s32[]", 1, "maximum(least, one)"))},
        Counting{.name = "RowsOfAClamp",
                 .body = absl::StrCat("one = s32[] constant(1)\n two = s32[] constant(2)\n ",
                                      StepOf("s32[]", 1, "clamp(one, c, two)"))},
        Counting{.name = "ToldByXla",
                 .config = R"(, backend_config={"known_trip_count":{"n":"4"}})"}),
    [](const testing::TestParamInfo<Counting>& info) { return info.param.name; });

// What the counter is after it has left its type is not said: such a loop is no counted one, and
// its maps are larger.
TEST(LoopCountsOfWrappingTest, AgreeWithTheReference) {
  Counting counting;
  counting.type = "s8[]";
  counting.init = "constant(126)";
  counting.body = absl::StrCat("wide = s32[] convert(c)\n mask = s32[] constant(3)\n ",
                               StepOf("s8[]", 1, "and(wide, mask)"));
  counting.condition = CompareWith("s8[]", -126, "NE");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(Text(counting), /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace xla_indexing::reference
