// Graphs whose paths soon lead to every element of an array, under a condition or none: products, sums and
// updates at offsets that the program computes, with slices, pads and concatenations of what they make.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/seed.h"

namespace xla_indexing::reference {
namespace {

// `steps` operations on two parameters f32[2,2] and an offset, each of the last four values.
std::string RandomText(uint64_t seed, int steps) {
  std::mt19937_64 random(Seeded(seed));
  std::string text =
      "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
      "ENTRY e {\n zero = f32[] constant(0)\n v0 = f32[2,2] parameter(0)\n"
      " v1 = f32[2,2] parameter(1)\n at = s32[] parameter(2)\n none = s32[] constant(0)\n";
  int count = 2;
  for (int step = 0; step < steps; ++step) {
    const auto draw = [&] {
      const int last = std::min(count, 4);
      return absl::StrCat("v", count - 1 - static_cast<int>(random() % last));
    };
    const std::string x = draw();
    const std::string y = draw();
    const auto row = static_cast<int>(random() % 2);
    const std::string part = absl::StrCat("slice={[", row, ":", row + 1, "],[0:2]}");
    const std::string next = absl::StrCat("v", count);
    std::string made;
    switch (random() % 7) {
      case 0:
        made = absl::StrCat("dot(", x, ", ", y, "), lhs_contracting_dims={1}, ",
                            "rhs_contracting_dims={0}");
        break;
      case 1:
        absl::StrAppend(&text, " r", count, " = f32[2] reduce(", x, ", zero), dimensions={", row,
                        "}, to_apply=add\n");
        made = absl::StrCat("broadcast(r", count, "), dimensions={", static_cast<int>(random() % 2),
                            "}");
        break;
      case 2:
        absl::StrAppend(&text, " a", count, " = f32[1,2] slice(", x, "), ", part, "\n b", count,
                        " = f32[1,2] slice(", y, "), slice={[0:1],[0:2]}\n");
        made = absl::StrCat("concatenate(a", count, ", b", count, "), dimensions={0}");
        break;
      case 3:
        absl::StrAppend(&text, " a", count, " = f32[1,2] slice(", x, "), ", part, "\n");
        made = absl::StrCat("pad(a", count, ", zero), padding=", row, "_", 1 - row, "x0_0");
        break;
      case 4:
        absl::StrAppend(&text, " a", count, " = f32[1,2] slice(", x, "), ", part, "\n");
        made = absl::StrCat("dynamic-update-slice(", y, ", a", count, ", at, none)");
        break;
      case 5:
        absl::StrAppend(&text, " a", count, " = f32[1,2] dynamic-slice(", x,
                        ", at, none), dynamic_slice_sizes={1,2}\n c", count, " = f32[2] reshape(a",
                        count, ")\n");
        made = absl::StrCat("broadcast(c", count, "), dimensions={", row, "}");
        break;
      default:
        made = absl::StrCat("add(", x, ", ", y, ")");
        break;
    }
    absl::StrAppend(&text, step + 1 == steps ? " ROOT " : " ", next, " = f32[2,2] ", made, "\n");
    ++count;
  }
  return text + "}\n";
}

TEST(EveryElementTest, RandomGraphs) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const absl::Status status = CheckModule(RandomText(seed, 3 + seed % 10), seed, &context);
    ASSERT_TRUE(status.ok()) << status;
  }
}

// An element of the result reads every element of p where its row is the updated one, and the parts that
// slices take of p under the same condition.
TEST(EveryElementTest, UnderACondition) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[2,4] parameter(0)
  rows = f32[3,2] parameter(1)
  at = s32[] parameter(2)
  zero = f32[] constant(0)
  none = s32[] constant(0)
  low = f32[2,2] slice(p), slice={[0:2],[0:2]}
  high = f32[2,2] slice(p), slice={[0:2],[2:4]}
  turned = f32[2,4] concatenate(high, low), dimensions={1}
  sum = f32[2,4] add(p, turned)
  total = f32[] reduce(sum, zero), dimensions={0,1}, to_apply=add
  row = f32[1,2] broadcast(total), dimensions={}
  ROOT r = f32[3,2] dynamic-update-slice(rows, row, at, none)
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace xla_indexing::reference
