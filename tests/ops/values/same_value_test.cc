// Scalars that have one value.

#include "xla_indexing/ops/values/same_value.h"

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

const HloInstruction* Named(const HloComputation& computation, const std::string& name) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->name() == name) return instruction;
  }
  return nullptr;
}

// The value of an instruction; of a call, that of the root of what it calls.
RuntimeVarIndexing ValueOf(const HloInstruction* instruction) {
  RuntimeVarIndexing value;
  value.instruction = instruction;
  if (instruction->opcode() == HloOpcode::kCall) {
    value.call_path.push_back(instruction);
    value.instruction = instruction->to_apply()->root_instruction();
  }
  return value;
}

// Whether `a` and `b` of an entry, which has i and j to compute them of, are the same.
bool AreSame(const std::string& text) {
  const auto module = ParseAndVerifyModule(absl::StrCat(R"(HloModule m
less {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT c = pred[] compare(x, y), direction=LT
}
ENTRY e {
  i = s32[] parameter(0)
  j = s32[] parameter(1)
  u = u32[] parameter(2)
  t = (s32[], s32[]) parameter(3)
  v = s32[1] parameter(4)
  five = s32[] constant(5)
)",
                                                        text, "\n  ROOT r = tuple(i)\n}\n"));
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return false;
  const HloComputation& entry = *(*module)->entry_computation();
  const HloInstruction* a = Named(entry, "a");
  const HloInstruction* b = Named(entry, "b");
  EXPECT_TRUE(a != nullptr && b != nullptr) << text;
  if (a == nullptr || b == nullptr) return false;
  const bool is_same = IsSameScalar(ValueOf(a), ValueOf(b));
  EXPECT_EQ(IsSameScalar(ValueOf(b), ValueOf(a)), is_same) << text;
  return is_same;
}

TEST(SameValueTest, OneOperationOfTheSameScalarsIsOneValue) {
  EXPECT_TRUE(AreSame("a = s32[] add(i, j)\nb = s32[] add(i, j)"));
  EXPECT_TRUE(
      AreSame("both = (s32[], s32[]) tuple(i, j)\na = s32[] get-tuple-element(both), index=1\n"
              "k = s32[] copy(five)\nb = s32[] get-tuple-element(both), index=1"));
  EXPECT_TRUE(
      AreSame("other = s32[] constant(5)\na = s32[] add(i, five)\nb = s32[] add(i, other)"));
  EXPECT_TRUE(
      AreSame("a = pred[] compare(i, j), direction=LT\nb = pred[] compare(i, j), direction=LT"));
  EXPECT_TRUE(
      AreSame("a = s32[] get-tuple-element(t), index=1\nb = s32[] get-tuple-element(t), index=1"));
  // In computations of their own.
  EXPECT_TRUE(
      AreSame("a = pred[] compare(i, j), direction=LT\nb = pred[] call(i, j), to_apply=less"));
  EXPECT_TRUE(
      AreSame("a = pred[] call(i, j), to_apply=less\nb = pred[] call(i, j), to_apply=less"));
}

TEST(SameValueTest, WhateverDiffersMayBeAnotherValue) {
  EXPECT_FALSE(AreSame("a = s32[] add(i, j)\nb = s32[] add(i, i)"));
  EXPECT_FALSE(AreSame("a = s32[] subtract(i, j)\nb = s32[] subtract(j, i)"));
  EXPECT_FALSE(AreSame("a = s32[] add(i, j)\nb = s32[] multiply(i, j)"));
  EXPECT_FALSE(AreSame("a = s64[] convert(i)\nb = s16[] convert(i)"));
  EXPECT_FALSE(AreSame("a = s32[] constant(4)\nb = s32[] copy(five)"));
  EXPECT_FALSE(
      AreSame("a = pred[] compare(i, j), direction=LT\nb = pred[] compare(i, j), direction=LE"));
  EXPECT_FALSE(
      AreSame("a = s32[] get-tuple-element(t), index=0\nb = s32[] get-tuple-element(t), index=1"));
  EXPECT_FALSE(
      AreSame("a = pred[] call(i, j), to_apply=less\nb = pred[] call(j, i), to_apply=less"));
  // Random numbers differ, and so does what more than elements of one array decides.
  EXPECT_FALSE(
      AreSame("a = s32[] rng(i, j), distribution=rng_uniform\n"
              "b = s32[] rng(i, j), distribution=rng_uniform"));
  // An element of an array is none of its scalars.
  EXPECT_FALSE(AreSame("a = s32[1] add(v, v)\nb = s32[1] add(v, v)"));
}

// A chain of more values than are compared.
TEST(SameValueTest, IsFoundWithinABound) {
  for (const int length : {10, 200}) {
    std::string text = "a0 = s32[] copy(i)\nb0 = s32[] copy(i)\n";
    for (int k = 1; k <= length; ++k) {
      for (const char* name : {"a", "b"}) {
        absl::StrAppend(&text, k == length ? name : absl::StrCat(name, k), " = s32[] add(", name,
                        k - 1, ", j)\n");
      }
    }
    EXPECT_EQ(AreSame(text), length == 10);
  }
}

// Whether `a`, in the body of a loop whose leaves 1 (x), 2 (n) and 3 (k) it passes through, is the
// same in all iterations.
bool IsOne(const std::string& text) {
  const std::string state = "(s32[], f32[4], s32[], s32[4], f32[4])";
  const auto module =
      ParseAndVerifyModule(absl::StrCat(R"(HloModule m
largest {
  x = s32[] parameter(0)
  y = s32[] parameter(1)
  ROOT c = s32[] maximum(x, y)
}
next {
  x = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT y = s32[] add(x, one)
}
condition {
  p = )",
                                        state, R"( parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=2
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  p = )",
                                        state, R"( parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4] get-tuple-element(p), index=1
  n = s32[] get-tuple-element(p), index=2
  k = s32[4] get-tuple-element(p), index=3
  y = f32[4] get-tuple-element(p), index=4
  one = s32[] constant(1)
  j = s32[] add(i, one)
  )",
                                        text, R"(
  z = f32[4] add(x, y)
  ROOT r = )",
                                        state, R"( tuple(j, x, n, k, z)
}
ENTRY e {
  p = )",
                                        state, R"( parameter(0)
  ROOT w = )",
                                        state, R"( while(p), condition=condition, body=body
})"));
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return false;
  const HloInstruction& loop = *(*module)->entry_computation()->root_instruction();
  RuntimeVarIndexing value = ValueOf(Named(*loop.while_body(), "a"));
  EXPECT_FALSE(IsSameInAllIterations(value, loop, {false, true, true, true, false}));
  value.call_path.insert(value.call_path.begin(), &loop);
  return IsSameInAllIterations(value, loop, {false, true, true, true, false});
}

TEST(SameValueTest, WhatIsComputedOfLeavesThatStayIsOneValue) {
  EXPECT_TRUE(IsOne("a = s32[] add(n, one)"));
  EXPECT_TRUE(IsOne("a = s32[] reduce(k, one), dimensions={0}, to_apply=largest"));
  EXPECT_TRUE(IsOne("a = s32[] call(n), to_apply=next"));
  EXPECT_TRUE(
      IsOne("b = s32[1] dynamic-slice(k, n), dynamic_slice_sizes={1}\n"
            "a = s32[] reshape(b)"));
  EXPECT_TRUE(
      IsOne("b = f32[1] slice(x), slice={[2:3]}\nc = s32[1] convert(b)\n"
            "a = s32[] reshape(c)"));
}

TEST(SameValueTest, WhatDependsOnTheIterationIsNot) {
  EXPECT_FALSE(IsOne("a = s32[] add(n, i)"));
  EXPECT_FALSE(IsOne("a = s32[] call(i), to_apply=next"));
  EXPECT_FALSE(
      IsOne("b = s32[1] dynamic-slice(k, i), dynamic_slice_sizes={1}\n"
            "a = s32[] reshape(b)"));
  EXPECT_FALSE(
      IsOne("b = f32[1] slice(y), slice={[2:3]}\nc = s32[1] convert(b)\n"
            "a = s32[] reshape(c)"));
  // Random numbers are others every time.
  EXPECT_FALSE(IsOne("a = s32[] rng(one, n), distribution=rng_uniform"));
}

}  // namespace
}  // namespace xla_indexing::internal
