// Loops of more iterations than are composed one by one: their maps are squared.

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/check_module.h"

namespace xla_indexing::reference {
namespace {

// (i + 1, `next`) of (i, x, y, z), three arrays of 5 numbers, as long as i < `count`.
void CheckLoop(const std::string& body, const std::string& next, int count) {
  const std::string state = "(s32[], f32[5], f32[5], f32[5])";
  const std::string text = absl::StrCat(
      "HloModule m\nbody {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n"
      " x = f32[5] get-tuple-element(p), index=1\n y = f32[5] get-tuple-element(p), index=2\n"
      " z = f32[5] get-tuple-element(p), index=3\n one = s32[] constant(1)\n"
      " j = s32[] add(i, one)\n zero = f32[1] constant({0})\n",
      body, "\n ROOT t = ", state, " tuple(j, ", next, ")\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(", count,
      ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n"
      " zero = s32[] constant(0)\n x = f32[5] parameter(0)\n y = f32[5] parameter(1)\n"
      " z = f32[5] parameter(2)\n s = ",
      state, " tuple(zero, x, y, z)\n ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

TEST(LongLoopsTest, LeavesChangePlaces) {
  for (const int count : {257, 258, 259, 300}) {
    CheckLoop(" r = f32[5] reverse(x), dimensions={0}", "y, z, r", count);
  }
}

TEST(LongLoopsTest, ElementsRotate) {
  for (const int count : {257, 263}) {
    CheckLoop(
        " a = f32[1] slice(x), slice={[0:1]}\n b = f32[4] slice(x), slice={[1:5]}\n"
        " r = f32[5] concatenate(b, a), dimensions={0}",
        "r, y, x", count);
  }
}

TEST(LongLoopsTest, ElementsLeave) {
  CheckLoop(
      " b = f32[4] slice(x), slice={[1:5]}\n"
      " r = f32[5] concatenate(b, zero), dimensions={0}\n a = f32[5] add(y, z)",
      "r, a, z", 257);
}

TEST(LongLoopsTest, AtTheBoundIterationsAreComposedOneByOne) {
  CheckLoop(" r = f32[5] reverse(x), dimensions={0}", "y, z, r", 256);
}

}  // namespace
}  // namespace xla_indexing::reference
