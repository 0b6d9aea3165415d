#include "xla_indexing/report/write/report_changes.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/report/analysis/report_kernels.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReportChangesTest : public testing::Test {
 protected:
  ModuleReport ReportOf(absl::string_view body) {
    auto module = ParseModule(absl::StrCat(
        "HloModule m\nENTRY e {\n  p = f32[1024,1024]{1,0} parameter(0)\n", body, "}"));
    EXPECT_TRUE(module.ok()) << module.status();
    modules_.push_back(*std::move(module));
    auto report = ReportKernels(*modules_.back());
    EXPECT_TRUE(report.ok()) << report.status();
    return *std::move(report);
  }

 private:
  std::vector<std::unique_ptr<HloModule>> modules_;
};

constexpr char kHalves[] =
    "  s = f32[512,1024]{1,0} slice(p), slice={[0:512], [0:1024]}, metadata={op_name=\"half\"}\n"
    "  ROOT n = f32[512,1024]{1,0} negate(s), metadata={op_name=\"neg\"}\n";
constexpr char kWhole[] =
    "  s = f32[512,1024]{1,0} slice(p), slice={[0:512], [0:1024]}, metadata={op_name=\"half\"}\n"
    "  n = f32[1024,1024]{1,0} negate(p), metadata={op_name=\"neg\"}\n"
    "  ROOT t = (f32[512,1024]{1,0}, f32[1024,1024]{1,0}) tuple(s, n)\n";

TEST_F(ReportChangesTest, AreByPlace) {
  const ModuleReport halves = ReportOf(kHalves);
  const ModuleReport whole = ReportOf(kWhole);
  const std::vector<PlaceChange> changes = ChangesBetween(halves, whole);
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].place, "neg");
  EXPECT_EQ(changes[0].name, "e/n");
  // Read and written.
  EXPECT_EQ(changes[0].traffic_before, 2 * 512 * 1024 * 4);
  EXPECT_EQ(changes[0].traffic_after, 2 * 1024 * 1024 * 4);
  const std::string text = ChangesText(halves, whole);
  EXPECT_THAT(text, HasSubstr("\nWorse\n"));
  EXPECT_THAT(text, HasSubstr("+4.0 MiB  neg  (e/n)\n"));
  EXPECT_THAT(text, Not(HasSubstr("Better")));
  EXPECT_THAT(ChangesText(whole, halves), HasSubstr("\nBetter\n"));
}

TEST_F(ReportChangesTest, SayWhatIsNewAndWhatIsGone) {
  const ModuleReport halves = ReportOf(kHalves);
  const ModuleReport one = ReportOf(
      "  ROOT n = f32[512,1024]{1,0} slice(p), slice={[0:512], [0:1024]}, "
      "metadata={op_name=\"\033[31mred\"}\n");
  const std::string text = ChangesText(halves, one);
  EXPECT_THAT(text, HasSubstr("\nNew\n"));
  EXPECT_THAT(text, HasSubstr("\nGone\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST_F(ReportChangesTest, OfEqualModulesAreNone) {
  const ModuleReport halves = ReportOf(kHalves);
  EXPECT_TRUE(ChangesBetween(halves, halves).empty());
  EXPECT_THAT(ChangesText(halves, halves), HasSubstr("No kernel takes or moves more or less."));
}

}  // namespace
}  // namespace xla_indexing
