#include "xla_indexing/hlo/transforms/set_aside.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SetAsideTest : public ::testing::Test {
 protected:
  void Set(const std::string& text) {
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    written_ = *std::move(module);
    copy_ = SetErrorsAside(*written_);
    ASSERT_TRUE(copy_.ok()) << copy_.status();
    EXPECT_TRUE(VerifyModule(*copy_->module).ok()) << VerifyModule(*copy_->module);
  }

  const HloInstruction& Find(absl::string_view computation, absl::string_view name) const {
    return *copy_->module->FindComputation(computation)->FindInstruction(name);
  }

  std::unique_ptr<HloModule> written_;
  absl::StatusOr<ModuleWithErrorsAside> copy_;
};

TEST_F(SetAsideTest, AModuleThatVerifiesIsCopied) {
  Set("ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }");
  EXPECT_TRUE(copy_->set_aside.empty());
  EXPECT_TRUE(ModulesEqual(*copy_->module, *written_));
}

TEST_F(SetAsideTest, AnInstructionThatIsWrongIsOneOfWhichNothingIsKnown) {
  Set("ENTRY e { p = f32[2,3] parameter(0)\n"
      "t = f32[2,3] transpose(p), dimensions={1,0}\n"
      "ROOT n = f32[2,3] negate(t) }");
  ASSERT_EQ(copy_->set_aside.size(), 1);
  EXPECT_FALSE(copy_->set_aside[0].is_call);
  EXPECT_EQ(copy_->set_aside[0].error.instruction->name(), "t");
  const HloInstruction& t = Find("e", "t");
  EXPECT_EQ(t.opcode(), HloOpcode::kCustomCall);
  EXPECT_EQ(t.shape().ToStringWithoutLayout(), "f32[2,3]");
  EXPECT_EQ(t.operand(0)->name(), "p");
  EXPECT_THAT(std::string(WhyUnverified(t).value_or("")),
              StartsWith("instruction 't' (transpose) has shape f32[2,3] but"));
  EXPECT_EQ(Find("e", "n").opcode(), HloOpcode::kNegate);
  EXPECT_EQ(WhyUnverified(Find("e", "n")), std::nullopt);
}

TEST_F(SetAsideTest, ACallIsGivenValuesOfItsParametersShapes) {
  for (const char* caller : {"fusion(a, a), kind=kLoop, calls=c", "call(a, a), to_apply=c"}) {
    Set(
        absl::StrCat("c { p = f32[4] parameter(0) q = f32[] parameter(1)\n"
                     "ROOT n = f32[4] negate(p) }\n"
                     "ENTRY e { a = f32[4] parameter(0)\n"
                     "r.operand1 = f32[4] negate(a)\n"
                     "ROOT r = f32[4] ",
                     caller, " }"));
    ASSERT_EQ(copy_->set_aside.size(), 1);
    EXPECT_TRUE(copy_->set_aside[0].is_call);
    const HloInstruction& r = Find("e", "r");
    EXPECT_EQ(r.opcode(), written_->entry_computation()->root_instruction()->opcode());
    EXPECT_EQ(r.operand(0)->name(), "a");
    // The other name is taken.
    EXPECT_EQ(r.operand(1)->name(), "r.operand1.1");
    EXPECT_EQ(r.operand(1)->shape().ToStringWithoutLayout(), "f32[]");
    EXPECT_EQ(r.operand(1)->operand(0)->name(), "a");
    EXPECT_TRUE(WhyUnverified(*r.operand(1)).has_value());
  }
}

TEST_F(SetAsideTest, ACallOfAnotherResultOrNumberOfOperandsIsOneOfWhichNothingIsKnown) {
  for (const char* caller :
       {"f32[5] fusion(a), kind=kLoop, calls=c", "f32[4] fusion(a, a), kind=kLoop, calls=c",
        "f32[4] fusion(), kind=kLoop, calls=c", "f32[4] fusion(a), kind=kLoop"}) {
    Set(
        absl::StrCat("c { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }\n"
                     "ENTRY e { a = f32[4] parameter(0) ROOT r = ",
                     caller, " }"));
    ASSERT_EQ(copy_->set_aside.size(), 1);
    EXPECT_FALSE(copy_->set_aside[0].is_call) << caller;
    EXPECT_TRUE(WhyUnverified(Find("e", "r")).has_value());
  }
}

TEST_F(SetAsideTest, UsersOfAWrongInstructionAreKept) {
  Set("c { p = f32[2] parameter(0) ROOT s = f32[2] slice(p), slice={[1:4]} }\n"
      "ENTRY e { a = f32[2] parameter(0) f = f32[2] fusion(a), kind=kLoop, calls=c\n"
      "s = ((f32[2]), f32[3]) async-start(a), calls=c\n"
      "d = f32[3] async-done(s)\n"
      "ROOT t = (f32[2], f32[3]) tuple(f, d) }");
  // The slice, and the start whose result is not the computation's.
  ASSERT_EQ(copy_->set_aside.size(), 2);
  EXPECT_TRUE(WhyUnverified(Find("c", "s")).has_value());
  EXPECT_TRUE(WhyUnverified(Find("e", "s")).has_value());
  EXPECT_EQ(Find("e", "f").calls(), copy_->module->FindComputation("c"));
  EXPECT_EQ(Find("e", "d").opcode(), HloOpcode::kAsyncDone);
  // A module with instructions set aside is one like any other: it prints and reads back.
  const auto read = ParseModule(copy_->module->ToString());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(ModulesEqual(**read, *copy_->module));
}

TEST(SetAsideErrorsTest, AModuleThatDoesNotHangTogetherIsAnError) {
  HloModule module("m");
  HloComputation* e = module.AddComputation("e");
  HloInstruction* p = e->AddParameter(1, "p", Shape::Array(ElementType::kF32, {4}));
  e->AddInstruction(HloOpcode::kNegate, "n", p->shape(), {p});
  EXPECT_THAT(std::string(SetErrorsAside(module).status().message()),
              HasSubstr("'e' has no parameter 0"));
}

}  // namespace
}  // namespace xla_indexing
