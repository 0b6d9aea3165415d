// What callers pass to the parameters of the computations that they call.

#include "xla_indexing/ops/values/passed_values.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/rules/frame/passed_scalar.h"

namespace xla_indexing::internal {
namespace {

// What is passed as a leaf of a parameter of `computation`, and the number of the parameter that has the
// leaf by which that is said.
std::pair<PassedScalar, int64_t> PassedTo(const std::string& text, const std::string& computation,
                                          int64_t parameter, int64_t leaf) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return {};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PassedValues values(&context);
  for (const HloComputation* each : (*module)->computations()) {
    if (each->name() != computation) continue;
    const PassedScalar passed = values.Of(*each->parameter(parameter), leaf);
    return {passed, passed.parameter->parameter_number()};
  }
  ADD_FAILURE() << "no " << computation;
  return {};
}

// The values of a leaf of the first parameter of `computation`.
Interval Passed(const std::string& text, const std::string& computation, int64_t leaf) {
  const PassedScalar passed = PassedTo(text, computation, 0, leaf).first;
  return passed.values.Add(passed.added);
}

// What parameter 1 of `computation`, a scalar, is more than parameter 0; nothing where it is not known
// to be always the same.
std::optional<int64_t> Difference(const std::string& text, const std::string& computation) {
  const auto [passed, parameter] = PassedTo(text, computation, 1, 0);
  return parameter == 0 ? std::optional(passed.added) : std::nullopt;
}

// for i = start; i < limit; i += step, with k and x beside i; `body` uses i, k and x.
std::string Loop(int start, int limit, int step, const std::string& body = "",
                 const std::string& before = "") {
  const std::string state = "(s32[], s32[], f32[])";
  return absl::StrCat(
      "HloModule m\n", before, "body {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " k = s32[] get-tuple-element(p), index=1\n x = f32[] get-tuple-element(p), index=2\n",
      body, " step = s32[] constant(", step, ")\n j = s32[] add(i, step)\n ROOT t = ", state,
      " tuple(j, k, x)\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n limit = s32[] constant(", limit,
      ")\n ROOT c = pred[] compare(i, limit), direction=", step > 0 ? "LT" : "GT",
      "\n}\nENTRY e {\n start = s32[] constant(", start,
      ")\n x = f32[] parameter(0)\n seven = s32[] constant(7)\n s = ", state,
      " tuple(start, seven, x)\n ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
}

// What the loop does is done here step by step.
TEST(PassedValuesTest, CountersHaveTheirValuesInAllIterations) {
  for (const int start : {0, 1, 5, -3}) {
    for (const int limit : {1, 4, 5, 17}) {
      for (const int step : {1, 2, 5, -1, -3}) {
        Interval in_body = Interval::Empty();
        Interval in_condition = Interval::Empty();
        for (int i = start;; i += step) {
          in_condition = in_condition.Union(Interval::Point(i));
          if (step > 0 ? i >= limit : i <= limit) break;
          in_body = in_body.Union(Interval::Point(i));
        }
        // A body that is not run says nothing.
        if (in_body.IsEmpty()) in_body = Interval::All();
        const std::string text = Loop(start, limit, step);
        EXPECT_EQ(Passed(text, "body", 0), in_body) << text;
        EXPECT_EQ(Passed(text, "condition", 0), in_condition) << text;
      }
    }
  }
}

TEST(PassedValuesTest, WhatPassesThroughIsWhatTheLoopBeginsWith) {
  EXPECT_EQ(Passed(Loop(0, 4, 1), "body", 1), Interval::Point(7));
  EXPECT_EQ(Passed(Loop(0, 4, 1), "condition", 1), Interval::Point(7));
}

TEST(PassedValuesTest, NothingIsKnownOfFloatsAndOfTheEntry) {
  EXPECT_EQ(Passed(Loop(0, 4, 1), "body", 2), Interval::All());
  EXPECT_EQ(Passed(Loop(0, 4, 1), "e", 0), Interval::All());
}

TEST(PassedValuesTest, OperandsAreFollowedThroughSeveralCalls) {
  const std::string inner = "inner {\n ROOT q = s32[] parameter(0)\n}\n";
  const std::string outer =
      "outer {\n q = s32[] parameter(0)\n one = s32[] constant(1)\n r = s32[] subtract(q, one)\n"
      " ROOT a = s32[] call(r), to_apply=inner\n}\n";
  const std::string text =
      Loop(1, 9, 1, " a = s32[] call(i), to_apply=outer\n", absl::StrCat(inner, outer));
  EXPECT_EQ(Passed(text, "outer", 0), Interval::Closed(1, 8));
  EXPECT_EQ(Passed(text, "inner", 0), Interval::Closed(0, 7));
}

TEST(PassedValuesTest, SeveralCallersPassAnyOfTheirValues) {
  const std::string inner = "inner {\n ROOT q = s32[] parameter(0)\n}\n";
  const std::string calls =
      " a = s32[] call(i), to_apply=inner\n b = s32[] fusion(k), kind=kLoop, calls=inner\n";
  EXPECT_EQ(Passed(Loop(0, 4, 1, calls, inner), "inner", 0), Interval::Closed(0, 7));
  const std::string any = " y = s32[] convert(x)\n c = s32[] call(y), to_apply=inner\n";
  EXPECT_EQ(Passed(Loop(0, 4, 1, absl::StrCat(calls, any), inner), "inner", 0), Interval::All());
}

TEST(PassedValuesTest, CallersOfOtherKindsMayPassAnything) {
  const std::string inner = "inner {\n ROOT q = s32[] parameter(0)\n}\n";
  const std::string calls =
      " a = s32[] call(i), to_apply=inner\n"
      " b = s32[] conditional(i, i, k), branch_computations={inner, inner}\n";
  EXPECT_EQ(Passed(Loop(0, 4, 1, calls, inner), "inner", 0), Interval::All());
}

// Where the sum may wrap it may be anything.
TEST(PassedValuesTest, ValuesThatMayWrapAreAny) {
  const std::string inner = "inner {\n ROOT q = s8[] parameter(0)\n}\n";
  const std::string call = " b = s8[] convert(i)\n a = s8[] call(b), to_apply=inner\n";
  EXPECT_EQ(Passed(Loop(0, 100, 1, call, inner), "inner", 0), Interval::Closed(0, 99));
  EXPECT_EQ(Passed(Loop(0, 200, 1, call, inner), "inner", 0), Interval::All());
}

// A call in a loop over i, which passes i * x[0] + x[1] and i * y[0] + y[1].
std::string CallOf(const std::string& name, const std::array<int, 2>& x,
                   const std::array<int, 2>& y) {
  std::string text;
  for (const auto& [each, of] : {std::pair('x', x), std::pair('y', y)}) {
    const std::string own = absl::StrCat(name, std::string(1, each));
    absl::StrAppend(&text, " ", own, "m = s32[] constant(", of[0], ")\n ", own,
                    "c = s32[] constant(", of[1], ")\n ", own, "p = s32[] multiply(i, ", own,
                    "m)\n ", own, " = s32[] add(", own, "p, ", own, "c)\n");
  }
  return absl::StrCat(text, " ", name, " = s32[] call(", name, "x, ", name, "y), to_apply=inner\n");
}

constexpr char kInnerOfTwo[] =
    "inner {\n q = s32[] parameter(0)\n ROOT r = s32[] parameter(1)\n}\n";

// All small linear functions of i. What is passed is computed here, iteration by iteration.
TEST(PassedValuesTest, LeavesThatDifferByAConstantAreTied) {
  for (int n = 0; n < 81; ++n) {
    const std::array<int, 2> x = {n % 3 - 1, n / 3 % 3 - 1};
    const std::array<int, 2> y = {n / 9 % 3 - 1, n / 27 - 1};
    std::set<int> differences;
    for (int i = 2; i < 7; i += 2) differences.insert((y[0] - x[0]) * i + y[1] - x[1]);
    const std::string text = Loop(2, 7, 2, CallOf("a", x, y), kInnerOfTwo);
    const bool is_tied = differences.size() == 1 && x[0] != 0;
    EXPECT_EQ(Difference(text, "inner"),
              is_tied ? std::optional<int64_t>(*differences.begin()) : std::nullopt)
        << text;
  }
}

TEST(PassedValuesTest, LeavesAreTiedWhereAllCallersPassOneDifference) {
  for (int n = 0; n < 81; ++n) {
    const std::array<int, 2> x = {n % 3, 1};
    const std::array<int, 2> y = {n / 3 % 3, n / 9 % 3};
    std::set<int> differences = {2};
    for (int i = 0; i < 4; ++i) differences.insert((y[0] - x[0]) * i + y[1] - x[1]);
    for (const bool is_first : {false, true}) {
      const std::string others = CallOf("a", x, y);
      const std::string calls = CallOf("b", {1, n / 27}, {1, n / 27 + 2});
      const std::string text =
          Loop(0, 4, 1, is_first ? others + calls : calls + others, kInnerOfTwo);
      const bool is_tied = differences.size() == 1 && x[0] != 0;
      EXPECT_EQ(Difference(text, "inner"), is_tied ? std::optional<int64_t>(2) : std::nullopt)
          << text;
    }
  }
}

// A computation of two numbers of this type with a loop of three iterations that adds a step to each of
// them; its body passes both to `used`.
std::string InnerThatCounts(const std::string& type, const std::array<int, 2>& steps) {
  const std::string text = absl::StrCat(
      "used {\n q = TYPE parameter(0)\n ROOT r = TYPE parameter(1)\n}\ncounts {\n"
      " p = STATE parameter(0)\n k = s32[] get-tuple-element(p), index=0\n"
      " a = TYPE get-tuple-element(p), index=1\n b = TYPE get-tuple-element(p), index=2\n"
      " u = TYPE call(a, b), to_apply=used\n one = s32[] constant(1)\n l = s32[] add(k, one)\n"
      " da = TYPE constant(",
      steps[0], ")\n db = TYPE constant(", steps[1],
      ")\n c = TYPE add(a, da)\n d = TYPE add(b, db)\n ROOT t = STATE tuple(l, c, d)\n}\n"
      "less {\n p = STATE parameter(0)\n k = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] constant(3)\n ROOT c = pred[] compare(k, n), direction=LT\n}\n"
      "inner {\n q = TYPE parameter(0)\n r = TYPE parameter(1)\n zero = s32[] constant(0)\n"
      " s = STATE tuple(zero, q, r)\n w = STATE while(s), condition=less, body=counts\n"
      " ROOT o = TYPE get-tuple-element(w), index=1\n}\n");
  return absl::StrReplaceAll(
      text, {{"STATE", absl::StrCat("(s32[], ", type, ", ", type, ")")}, {"TYPE", type}});
}

// A loop that is passed x and y and counts both, from them on, perhaps by other numbers.
TEST(PassedValuesTest, CountersAreTiedThatAreCountedAlike) {
  for (int n = 0; n < 81; ++n) {
    const std::array<int, 2> steps = {n % 3 - 1, n / 3 % 3 - 1};
    const std::array<int, 2> x = {1, n / 9 % 3 - 1};
    const std::array<int, 2> y = {1, n / 27 - 1};
    std::set<int> differences;
    for (int k = 0; k < 3; ++k) differences.insert(y[1] - x[1] + k * (steps[1] - steps[0]));
    const std::string inner = InnerThatCounts("s32[]", steps);
    const std::string text = Loop(2, 7, 2, CallOf("a", x, y), inner);
    EXPECT_EQ(Difference(text, "used"),
              differences.size() == 1 ? std::optional<int64_t>(*differences.begin()) : std::nullopt)
        << text;
    Interval values = Interval::Empty();
    for (int i = 2; i < 7; i += 2) {
      for (int k = 0; k < 3; ++k) values = values.Union(Interval::Point(i + x[1] + k * steps[0]));
    }
    EXPECT_EQ(Passed(text, "used", 0), values) << text;
  }
}

// One of two counters is greater by 5, until it wraps.
TEST(PassedValuesTest, CountersThatMayWrapAreAny) {
  for (const int limit : {121, 122}) {
    const std::string call =
        " five = s32[] constant(5)\n more = s32[] add(i, five)\n a = s8[] convert(i)\n"
        " b = s8[] convert(more)\n c = s8[] call(a, b), to_apply=inner\n";
    const std::string text = Loop(0, limit, 1, call, InnerThatCounts("s8[]", {1, 1}));
    EXPECT_EQ(Passed(text, "used", 0), Interval::Closed(0, limit + 1));
    EXPECT_EQ(Difference(text, "used"), limit + 6 > 127 ? std::nullopt : std::optional<int64_t>(5))
        << text;
    const PassedScalar second = PassedTo(text, "used", 1, 0).first;
    EXPECT_EQ(second.values == Interval::All(), limit + 6 > 127);
  }
}

// Both are what the entry is passed, of which nothing else is known.
TEST(PassedValuesTest, WhatIsPassedTwiceIsTied) {
  const std::string text = absl::StrCat(
      "HloModule m\n", kInnerOfTwo,
      "ENTRY e {\n x = s32[] parameter(0)\n c = s32[] copy(x)\n one = s32[] constant(1)\n"
      " y = s32[] add(x, one)\n ROOT a = s32[] call(WHICH), to_apply=inner\n}\n");
  EXPECT_EQ(Difference(absl::StrReplaceAll(text, {{"WHICH", "x, c"}}), "inner"), 0);
  EXPECT_EQ(Difference(absl::StrReplaceAll(text, {{"WHICH", "y, y"}}), "inner"), 0);
  EXPECT_EQ(Difference(absl::StrReplaceAll(text, {{"WHICH", "x, y"}}), "inner"), std::nullopt);
}

// A chain of calls, each of which passes on what it was passed.
TEST(PassedValuesTest, CallsAreFollowedOverSoManyLevels) {
  for (const int depth : {kMaxCallers - 1, kMaxCallers}) {
    std::string chain = "c0 {\n ROOT q = s32[] parameter(0)\n}\n";
    for (int i = 1; i < depth; ++i) {
      absl::StrAppend(&chain, "c", i, " {\n q = s32[] parameter(0)\n ROOT a = s32[] call(q), ",
                      "to_apply=c", i - 1, "\n}\n");
    }
    const std::string call = absl::StrCat(" a = s32[] call(i), to_apply=c", depth - 1, "\n");
    EXPECT_EQ(Passed(Loop(0, 4, 1, call, chain), "c0", 0),
              depth < kMaxCallers ? Interval::Closed(0, 3) : Interval::All());
  }
}

}  // namespace
}  // namespace xla_indexing::internal
