// Modules of the sizes that occur.

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"

namespace xla_indexing {
namespace {

TEST(LargeModules, FortyThousandInstructionsInAChain) {
  std::string text = "HloModule m\nENTRY e {\n  x0 = f32[64]{0} parameter(0)\n";
  for (int i = 1; i < 40000; ++i) {
    absl::StrAppend(&text, "  x", i, " = f32[64]{0} add(x", i - 1, ", x", i - 1,
                    "), metadata={op_name=\"jit(f)/add\"}\n");
  }
  const auto module = RoundTrip(text + "}\n");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->instruction_count(), 40000);
  EXPECT_EQ(Root(*module).name(), "x39999");
  EXPECT_EQ(Root(*module).index_in_computation(), 39999);
  // All shapes are one object.
  EXPECT_EQ(&Root(*module).shape(), &Root(*module).operand(0)->shape());
}

TEST(LargeModules, FortyThousandOmittedShapes) {
  std::string text = "HloModule m\nENTRY e {\n  x0 = f32[64]{0} parameter(0)\n";
  for (int i = 1; i < 40000; ++i) {
    absl::StrAppend(&text, "  x", i, " = negate(x", i - 1, ")\n");
  }
  EXPECT_NE(RoundTrip(text + "}\n"), nullptr);
}

TEST(LargeModules, FortyThousandOperandsAndComputations) {
  std::string computations = "HloModule m\n", operands, shapes;
  for (int i = 0; i < 40000; ++i) {
    absl::StrAppend(&computations, "c", i, " { p = f32[] parameter(0) }\n");
    absl::StrAppend(&operands, i == 0 ? "" : ", ", i % 5 == 0 ? "/*index=*/" : "", "p");
    absl::StrAppend(&shapes, i == 0 ? "" : ", ", "f32[]");
  }
  EXPECT_NE(RoundTrip(absl::StrCat(computations, "ENTRY e { p = f32[] parameter(0)\n t = (", shapes,
                                   ") tuple(", operands, ") }")),
            nullptr);
}

}  // namespace
}  // namespace xla_indexing
