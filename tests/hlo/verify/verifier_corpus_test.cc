#include <cstdint>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/corpus.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// Five of the pieces parse, but hold an instruction whose shape contradicts its operation:
// - generate_hlo_test_checks_test_input.hlo calls functions of scalars with vectors;
// - invalid_concat.hlo puts side by side matrices of 2 and of 3 rows, and is named for it;
// - operand_upcaster.hlo multiplies two vectors without contracting them, into a vector;
// - print_indexing_test.hlo gives a fusion a vector for its scalar parameter;
// - rewrite_bf16_conv_to_onednn.hlo has a convolution that changes the size of the batch.
TEST(VerifierCorpusTest, EveryPieceVerifiesButFiveWhoseShapesContradictTheirOperations) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  std::map<std::string, std::string> errors;
  int64_t right = 0;
  ForEachCorpusFile([&](const std::string& name, const std::string& text) {
    for (const auto& module : ParseModules({name, text})) {
      if (!module.ok()) continue;
      const absl::Status status = VerifyModule(**module);
      if (status.ok()) {
        ++right;
      } else {
        errors[name] += std::string(status.message());
      }
    }
  });
  EXPECT_EQ(right, 393);
  EXPECT_THAT(
      errors,
      ElementsAre(Pair("generate_hlo_test_checks_test_input.hlo",
                       HasSubstr("parameter 0 of computation 'foo.bar.baz.0' is f32[] and is "
                                 "given f32[4]")),
                  Pair("invalid_concat.hlo", HasSubstr("operands 0 and 1 differ in dimension 0")),
                  Pair("operand_upcaster.hlo",
                       HasSubstr("has shape s32[8] but its operands and attributes give s16[8,8]")),
                  Pair("print_indexing_test.hlo",
                       HasSubstr("parameter 1 of computation 'fused_computation' is s32[] and is "
                                 "given s32[1024]")),
                  Pair("rewrite_bf16_conv_to_onednn.hlo",
                       HasSubstr("has shape bf16[4,4,5,5,32] but its operands and attributes give "
                                 "bf16[8,0,5,5,32]"))));
}

}  // namespace
}  // namespace xla_indexing
