// The files of a directory of real HLO modules, and modules of the sizes that occur.

#include "tests/testing/corpus.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "parse_helpers.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

TEST(Corpus, EveryPieceParsesPrintsAndReparsesEqual) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  // The number of pieces that are no valid HLO, by file: those cut off from their modules, those
  // that begin with a stray line, and a text protocol buffer.
  const std::map<std::string, int> expected_errors = {{"case_conditional.hlo", 1},
                                                      {"if_conditional.hlo", 1},
                                                      {"module_attributes.hlo", 1},
                                                      {"spmd_module_sharding.hlo", 1},
                                                      {"simple.hlo", 1}};
  std::map<std::string, int> errors;
  int64_t valid = 0;
  ForEachCorpusFile([&](const std::string& name, const std::string& text) {
    for (const auto& module : ParseModules({name, text})) {
      if (!module.ok()) {
        ++errors[name];
        EXPECT_EQ(expected_errors.count(name), 1u) << module.status().message();
        EXPECT_EQ(module.status().message().find(name + ":"), 0u) << module.status().message();
        continue;
      }
      ++valid;
      const auto again = ParseModule((*module)->ToString(), name);
      ASSERT_TRUE(again.ok()) << again.status().message();
      std::string difference;
      EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << name << ": " << difference;
    }
  });
  EXPECT_EQ(errors, expected_errors);
  EXPECT_EQ(valid, 398);
}

// What JAX prints is right, all of it, and so is what is printed of it here.
TEST(Corpus, EveryProgramOfJaxParsesVerifiesPrintsAndReparsesEqual) {
  XLA_INDEXING_SKIP_WITHOUT(XLA_INDEXING_CORPUS_JAX);
  int64_t count = 0;
  ForEachCorpusFile(
      [&](const std::string& name, const std::string& text) {
        for (const auto& module : ParseModules({name, text})) {
          ASSERT_TRUE(module.ok()) << module.status().message();
          const absl::Status status = VerifyModule(**module);
          EXPECT_TRUE(status.ok()) << status.message();
          const auto again = ParseModule((*module)->ToString(), name);
          ASSERT_TRUE(again.ok()) << again.status().message();
          std::string difference;
          EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << name << ": " << difference;
          ++count;
        }
      },
      XLA_INDEXING_CORPUS_JAX);
  EXPECT_GT(count, 0);
}

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
