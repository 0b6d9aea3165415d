// What the reference takes and what it does not.

#include "tests/reference/execute/can_execute.h"

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing::reference {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<HloModule> Parsed(absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(std::string(text));
  EXPECT_TRUE(module.ok()) << module.status() << '\n' << text;
  if (!module.ok()) return nullptr;
  const absl::Status status = VerifyModule(**module);
  EXPECT_TRUE(status.ok()) << status << '\n' << text;
  return *std::move(module);
}

std::string Reason(absl::string_view text) {
  const std::unique_ptr<HloModule> module = Parsed(text);
  return module == nullptr ? "" : std::string(CanExecute(*module).message());
}

TEST(CanExecuteTest, TakesWhatTheRandomTestsCompare) {
  int taken = 0;
  int asked = 0;
  for (const HloOpcode opcode : RandomOpcodes()) {
    int taken_of_opcode = 0;
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::unique_ptr<HloModule> module = Parsed(RandomOperationModule(opcode, seed));
      ASSERT_NE(module, nullptr);
      ++asked;
      taken_of_opcode += CanExecute(*module).ok();
    }
    taken += taken_of_opcode;
    // An operation with a size that is only known at run time has no definition.
    if (opcode == HloOpcode::kSetDimensionSize || opcode == HloOpcode::kDynamicReshape) continue;
    EXPECT_GT(taken_of_opcode, 0) << OpcodeName(opcode);
  }
  EXPECT_GT(taken, asked * 8 / 10);
}

TEST(CanExecuteTest, ComparesModulesThatNobodyChose) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CheckOptions options;
  options.is_any_module = true;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::unique_ptr<HloModule> module = Parsed(RandomFusionModule(seed));
    ASSERT_NE(module, nullptr);
    if (!CanExecute(*module).ok()) continue;
    const absl::Status status = CheckModule(*module, seed, &context, options);
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(CanExecuteTest, SizesAreKnownAndSmall) {
  EXPECT_EQ(Reason("ENTRY e { ROOT p = f32[16,16] parameter(0) }"), "");
  EXPECT_EQ(Reason("ENTRY e { ROOT p = f32[16,17] parameter(0) }"), "p: it is large");
  EXPECT_EQ(Reason("ENTRY e { ROOT p = f32[4294967296,1073741824] parameter(0) }"),
            "p: it is large");
  EXPECT_EQ(Reason("ENTRY e { ROOT p = f32[4,<=4] parameter(0) }"),
            "p: the size is known at run time");
  EXPECT_EQ(Reason("ENTRY e { ROOT p = f32[?] parameter(0) }"), "p: the size is known at run time");
}

TEST(CanExecuteTest, WindowsAndTilesAreSmall) {
  EXPECT_THAT(
      Reason("add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } "
             "ENTRY e { p = f32[4] parameter(0) z = f32[] constant(0) ROOT r = f32[1] "
             "reduce-window(p, z), window={size=1000000000 pad=0_999999996}, to_apply=add }"),
      HasSubstr("many steps"));
  EXPECT_THAT(Reason("ENTRY e { p = f32[4] parameter(0) z = f32[] constant(0) ROOT r = f32[2] "
                     "pad(p, z), padding=-4611686018427387904_4611686018427387902 }"),
              HasSubstr("many steps"));
  EXPECT_THAT(Reason("ENTRY e { p = f32[4]{0:T(1000000000)} parameter(0) "
                     "ROOT b = f32[4] bitcast(p) }"),
              HasSubstr("many steps"));
}

// Each computation calls the one before twice.
TEST(CanExecuteTest, CallsAreCountedAsOftenAsTheyAreMade) {
  const auto doubled = [](int times) {
    std::string text = "c0 { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) } ";
    for (int i = 1; i <= times; ++i) {
      absl::StrAppend(
          &text, absl::StrReplaceAll("cI { p = f32[8] parameter(0) a = f32[8] call(p), to_apply=cJ "
                                     "ROOT b = f32[8] call(a), to_apply=cJ } ",
                                     {{"I", absl::StrCat(i)}, {"J", absl::StrCat(i - 1)}}));
    }
    return absl::StrCat(text, "ENTRY e { p = f32[8] parameter(0) ROOT r = f32[8] call(p), ",
                        "to_apply=c", times, " }");
  };
  EXPECT_EQ(Reason(doubled(4)), "");
  EXPECT_THAT(Reason(doubled(60)), HasSubstr("many steps"));
}

TEST(CanExecuteTest, TheHeaderHasTheDevices) {
  const auto reduced = [](absl::string_view header, absl::string_view groups) {
    return absl::StrCat(
        "HloModule m", header,
        "\nadd { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) } ENTRY e "
        "{ p = f32[10] parameter(0) ROOT r = f32[10] all-reduce(p), replica_groups=",
        groups, ", to_apply=add }");
  };
  EXPECT_EQ(Reason(reduced(", replica_count=2", "{{0,1}}")), "");
  EXPECT_EQ(Reason(reduced("", "{{0,1}}")), "r: other devices");
  EXPECT_EQ(Reason("ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] collective-permute(p) }"),
            "r: no pairs");
  EXPECT_EQ(Reason(reduced(", replica_count=16", "{}")), "the module has many devices");
}

}  // namespace
}  // namespace xla_indexing::reference
