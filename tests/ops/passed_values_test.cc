// What callers pass to the parameters of the computations that they call.

#include "xla_indexing/ops/internal/passed_values.h"

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing::internal {
namespace {

// The values of a leaf of the first parameter of `computation`.
Interval Passed(const std::string& text, const std::string& computation, int64_t leaf) {
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return Interval::Empty();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  PassedValues values(&context);
  for (const HloComputation* each : (*module)->computations()) {
    if (each->name() == computation) return values.Of(*each->parameter(0), leaf);
  }
  ADD_FAILURE() << "no " << computation;
  return Interval::Empty();
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
