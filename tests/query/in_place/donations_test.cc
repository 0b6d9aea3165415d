#include "xla_indexing/query/in_place/donations.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;

// `p0: possible 0,1`, with a header behind the module's name.
std::vector<std::string> AnswersOf(absl::string_view entry, absl::string_view header = "") {
  const auto module =
      ParseAndVerifyModule(absl::StrCat("HloModule m", header, "\nENTRY e {\n", entry, "\n}"));
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto donations = CheckDonations(**module, &context);
  EXPECT_TRUE(donations.ok()) << donations.status();
  std::vector<std::string> answers;
  for (const Donation& donation : *donations) {
    EXPECT_FALSE(donation.why.empty());
    answers.push_back(absl::StrCat(donation.parameter.instruction->name(), ": ",
                                   DonationAnswerName(donation.answer), " ",
                                   absl::StrJoin(donation.output_leaves, ",")));
  }
  return answers;
}

TEST(DonationsTest, AResultMayHaveTheBufferOfWhatIsReadBefore) {
  EXPECT_THAT(AnswersOf("p = f32[4] parameter(0)\n q = f32[3] parameter(1)\n"
                        "n = f32[4] negate(p)\n r = f32[4] reverse(n), dimensions={0}\n"
                        "ROOT t = (f32[4], f32[4]) tuple(n, r)"),
              ElementsAre("p: possible 0,1", "q: impossible "));
  // An element is written before another one has read it.
  EXPECT_THAT(AnswersOf("p = f32[4] parameter(0)\n"
                        "ROOT r = f32[4] reverse(p), dimensions={0}"),
              ElementsAre("p: impossible "));
  // A result that is a parameter needs no buffer.
  EXPECT_THAT(AnswersOf("p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
                        "ROOT t = (f32[4]) tuple(q)"),
              ElementsAre("p: impossible ", "q: impossible "));
}

TEST(DonationsTest, WhatIsStatedIsSaid) {
  constexpr absl::string_view kEntry =
      "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
      "n = f32[4] negate(p)\n c = f32[4] reverse(q), dimensions={0}\n"
      "ROOT t = (f32[4], f32[4]) tuple(n, c)";
  EXPECT_THAT(AnswersOf(kEntry, ", input_output_alias={ {0}: (0, {}), {1}: (1, {}) }"),
              ElementsAre("p: aliased 0", "q: copied 1"));
  EXPECT_THAT(AnswersOf(kEntry, ", input_output_alias={ {0}: (0, {}) }, buffer_donor={ (1, {}) }"),
              ElementsAre("p: aliased 0", "q: unused "));
}

}  // namespace
}  // namespace xla_indexing
