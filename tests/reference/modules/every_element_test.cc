// Graphs whose paths soon lead to every element of an array, under a condition or none: products, sums and
// updates at offsets that the program computes, with slices, pads and concatenations of what they make.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/effort.h"
#include "tests/testing/seed.h"

namespace xla_indexing::reference {
namespace {

// `steps` operations on two parameters f32[3,3] and an offset, each of some of the last four values. What is
// read of an array may be all of it, two rows, a diagonal, or a row that the program chooses.
std::string RandomText(uint64_t seed, int steps) {
  std::mt19937_64 random(Seeded(seed));
  std::string text =
      "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
      "ENTRY e {\n zero = f32[] constant(0)\n v0 = f32[3,3] parameter(0)\n"
      " v1 = f32[3,3] parameter(1)\n at = s32[] parameter(2)\n none = s32[] constant(0)\n";
  int count = 2;
  for (int step = 0; step < steps; ++step) {
    const auto draw = [&] {
      const int last = std::min(count, 4);
      return absl::StrCat("v", count - 1 - static_cast<int>(random() % last));
    };
    const std::string x = draw();
    const std::string y = draw();
    const auto axis = static_cast<int>(random() % 2);
    const std::string rows = absl::StrCat("slice={[", axis, ":", axis + 2, "],[0:3]}");
    const std::string next = absl::StrCat("v", count);
    const auto part = [&](absl::string_view shape, absl::string_view operation) {
      const std::string name = absl::StrCat("p", count, "_", text.size());
      absl::StrAppend(&text, " ", name, " = f32", shape, " ", operation, "\n");
      return name;
    };
    const auto spread = [&](const std::string& row) {
      return absl::StrCat("broadcast(", row, "), dimensions={", axis, "}");
    };
    std::string made;
    switch (random() % 8) {
      case 0:
        made = absl::StrCat("dot(", x, ", ", y, "), lhs_contracting_dims={1}, ",
                            "rhs_contracting_dims={0}");
        break;
      case 1:
        made = spread(part("[3]", absl::StrCat("reduce(", x, ", zero), dimensions={", random() % 2,
                                               "}, to_apply=add")));
        break;
      case 2: {
        const std::string two = part("[2,3]", absl::StrCat("slice(", x, "), ", rows));
        const std::string one = part("[1,3]", absl::StrCat("slice(", y, "), slice={[0:1],[0:3]}"));
        made = absl::StrCat("concatenate(", two, ", ", one, "), dimensions={0}");
        break;
      }
      case 3: {
        const std::string two = part("[2,3]", absl::StrCat("slice(", x, "), ", rows));
        made = absl::StrCat("pad(", two, ", zero), padding=", axis, "_", 1 - axis, "x0_0");
        break;
      }
      case 4: {
        const std::string one = part("[1,3]", absl::StrCat("slice(", x, "), slice={[1:2],[0:3]}"));
        made = absl::StrCat("dynamic-update-slice(", y, ", ", one, ", at, none)");
        break;
      }
      case 5: {
        const std::string one = part("[1,3]", absl::StrCat("dynamic-slice(", x, ", at, none), ",
                                                           "dynamic_slice_sizes={1,3}"));
        made = spread(part("[3]", absl::StrCat("reshape(", one, ")")));
        break;
      }
      case 6: {
        const std::string flat = part("[9]", absl::StrCat("reshape(", x, ")"));
        made = spread(part("[3]", absl::StrCat("slice(", flat, "), slice={[0:9:4]}")));
        break;
      }
      default:
        made = absl::StrCat("add(", x, ", ", y, ")");
        break;
    }
    absl::StrAppend(&text, step + 1 == steps ? " ROOT " : " ", next, " = f32[3,3] ", made, "\n");
    ++count;
  }
  return text + "}\n";
}

TEST(EveryElementTest, RandomGraphs) {
  const auto count = static_cast<uint64_t>(Cases(3000));
  for (uint64_t seed = 0; seed < count; ++seed) {
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

// Every element of an array without elements leads to nothing, also through a broadcast, a product and a
// reduction.
TEST(EveryElementTest, OfArraysWithoutElements) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(R"(add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  p = f32[2,0] parameter(0)
  q = f32[2,4] parameter(1)
  zero = f32[] constant(0)
  total = f32[] reduce(q, zero), dimensions={0,1}, to_apply=add
  none = f32[2,0] broadcast(total), dimensions={}
  both = f32[2,0] add(p, none)
  product = f32[0,4] dot(both, q), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  sum = f32[] reduce(product, zero), dimensions={0,1}, to_apply=add
  ROOT r = f32[3] broadcast(sum), dimensions={}
})",
                                          /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace xla_indexing::reference
