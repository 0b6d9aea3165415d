#include "xla_indexing/hlo/verify/verifier.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Shape Vector() { return Shape::Array(ElementType::kF32, {4}); }

std::vector<std::string> Messages(const HloModule& module) {
  std::vector<std::string> messages;
  for (const VerificationError& error : FindErrors(module, 100)) messages.push_back(error.message);
  return messages;
}

TEST(VerifierTest, AModuleThatIsRightHasNoErrors) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  main->AddInstruction(HloOpcode::kNegate, "n", Vector(), {p});
  EXPECT_THAT(Messages(module), IsEmpty());
  EXPECT_TRUE(VerifyModule(module).ok());
}

TEST(VerifierTest, AnErrorNamesItsInstruction) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  const HloInstruction* n =
      main->AddInstruction(HloOpcode::kNegate, "n", Shape::Array(ElementType::kF32, {5}), {p});
  const std::vector<VerificationError> errors = FindErrors(module, 100);
  ASSERT_EQ(errors.size(), 1);
  EXPECT_EQ(errors[0].module, &module);
  EXPECT_EQ(errors[0].computation, main);
  EXPECT_EQ(errors[0].instruction, n);
  EXPECT_EQ(errors[0].ToString(),
            "instruction 'n' (negate) has shape f32[5] but its operands and attributes give "
            "f32[4]");
  EXPECT_EQ(VerifyModule(module), absl::InvalidArgumentError(errors[0].ToString()));
}

TEST(VerifierTest, AnErrorOfParsedTextShowsItsPlace) {
  const auto module = ParseModule(
      "HloModule m\n"
      "ENTRY e {\n"
      "  p = f32[2,3] parameter(0)\n"
      "  ROOT t = f32[2,3] transpose(p), dimensions={1,0}\n"
      "}\n",
      "m.hlo");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(VerifyModule(**module).message(),
            "m.hlo:4:8: error: instruction 't' (transpose) has shape f32[2,3] but its operands "
            "and attributes give f32[3,2]\n"
            "  ROOT t = f32[2,3] transpose(p), dimensions={1,0}\n"
            "       ^");
}

TEST(VerifierTest, FindsAsManyErrorsAsRequested) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  for (int k = 0; k < 10; ++k) {
    main->AddInstruction(HloOpcode::kNegate, absl::StrCat("n", k),
                         Shape::Array(ElementType::kF32, {5}), {p});
  }
  EXPECT_EQ(FindErrors(module, 3).size(), 3);
  EXPECT_EQ(FindErrors(module, 3)[2].instruction->name(), "n2");
  EXPECT_EQ(FindErrors(module, 100).size(), 10);
  EXPECT_THAT(FindErrors(module, 0), IsEmpty());
}

TEST(VerifierTest, AModuleHasAComputationAndAComputationInstructions) {
  HloModule empty("m");
  EXPECT_THAT(Messages(empty), ElementsAre("module 'm' has no computation"));
  empty.AddComputation("main");
  EXPECT_THAT(Messages(empty), ElementsAre("computation 'main' has no instructions"));
}

TEST(VerifierTest, TheRootIsOneOfTheComputation) {
  HloModule module("m");
  HloComputation* other = module.AddComputation("other");
  HloInstruction* p = other->AddParameter(0, "p", Vector());
  HloComputation* main = module.AddComputation("main");
  main->AddParameter(0, "p", Vector());
  main->SetRoot(p);
  EXPECT_THAT(Messages(module),
              ElementsAre("the root of computation 'main' is in another computation"));
}

TEST(VerifierTest, NamesAreUnique) {
  HloModule module("m");
  for (int k = 0; k < 2; ++k) {
    HloComputation* twice = module.AddComputation("twice");
    HloInstruction* p = twice->AddParameter(0, "p", Vector());
    twice->AddInstruction(HloOpcode::kNegate, "p", Vector(), {p});
  }
  EXPECT_THAT(Messages(module),
              ElementsAre("instruction 'p' (negate) is defined twice in computation 'twice'",
                          "computation 'twice' is defined twice",
                          "instruction 'p' (negate) is defined twice in computation 'twice'"));
}

TEST(VerifierTest, ParametersAreNumberedWithoutAGap) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  main->AddParameter(0, "p", Vector());
  main->AddParameter(0, "again", Vector());
  main->AddParameter(2, "q", Vector());
  main->AddParameter(-1, "negative", Vector());
  main->AddParameter(int64_t{1} << 40, "far", Vector());
  main->AddInstruction(HloOpcode::kParameter, "none", Vector());
  EXPECT_THAT(
      Messages(module),
      ElementsAre("computation 'main' has no parameter 1",
                  "instruction 'again' (parameter) is parameter 0, a number that is taken or out "
                  "of range",
                  "instruction 'negative' (parameter) is parameter -1, a number that is taken or "
                  "out of range",
                  "instruction 'far' (parameter) is parameter 1099511627776, a number that is "
                  "taken or out of range",
                  "instruction 'none' (parameter) is parameter -1, a number that is taken or out "
                  "of range"));
}

TEST(VerifierTest, OperandsComeBeforeTheirUsersInTheSameComputation) {
  HloModule module("m");
  HloComputation* other = module.AddComputation("other");
  HloInstruction* elsewhere = other->AddParameter(0, "elsewhere", Vector());
  HloComputation* main = module.AddComputation("main");
  main->AddInstruction(HloOpcode::kNegate, "n", Vector(), {elsewhere});
  EXPECT_THAT(Messages(module),
              ElementsAre("instruction 'n' (negate) has the operand 'elsewhere', which does not "
                          "come before it in its computation"));
}

TEST(VerifierTest, ControlPredecessorsAreOtherInstructionsOfTheComputation) {
  HloModule module("m");
  HloComputation* other = module.AddComputation("other");
  const HloInstruction* elsewhere = other->AddParameter(0, "elsewhere", Vector());
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  HloInstruction* n = main->AddInstruction(HloOpcode::kNegate, "n", Vector(), {p});
  const auto set = [&](const HloInstruction* predecessor) {
    n->SetAttribute(AttributeKey::kControlPredecessors,
                    absl::Span<const HloInstruction* const>(&predecessor, 1));
  };
  set(p);
  EXPECT_THAT(Messages(module), IsEmpty());
  for (const HloInstruction* wrong : {elsewhere, static_cast<const HloInstruction*>(n)}) {
    set(wrong);
    EXPECT_THAT(Messages(module),
                ElementsAre(absl::StrCat("instruction 'n' (negate) has the control predecessor '",
                                         wrong->name(),
                                         "', which is not another instruction of its "
                                         "computation")));
  }
}

TEST(VerifierTest, CalledComputationsComeBeforeTheirCallers) {
  HloModule foreign("f");
  HloComputation* far = foreign.AddComputation("far");
  far->AddParameter(0, "p", Vector());
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  HloInstruction* call = main->AddInstruction(HloOpcode::kCall, "c", Vector(), {p});
  HloComputation* late = module.AddComputation("late");
  late->AddParameter(0, "p", Vector());
  for (const HloComputation* wrong : {main, late, far}) {
    call->SetAttribute(AttributeKey::kToApply, wrong);
    EXPECT_THAT(Messages(module),
                ElementsAre(absl::StrCat("instruction 'c' (call) calls computation '",
                                         wrong->name(), "', which does not come before its own")));
  }
}

TEST(VerifierTest, EveryShapeHasANumberOfElementsThatFits64Bits) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape huge = Shape::Array(ElementType::kF32, {int64_t{1} << 32, int64_t{1} << 32});
  HloInstruction* p = main->AddParameter(0, "p", huge);
  main->AddInstruction(HloOpcode::kNegate, "n", huge, {p});
  EXPECT_THAT(Messages(module),
              ElementsAre(HasSubstr("instruction 'p' (parameter) has no valid shape"),
                          HasSubstr("instruction 'n' (negate) has no valid shape")));
}

TEST(VerifierTest, AnAttributeOfAnotherKindIsReported) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  HloInstruction* t = main->AddInstruction(HloOpcode::kReverse, "t", Vector(), {p});
  t->SetAttribute(AttributeKey::kDimensions, absl::string_view("{zero}"));
  HloInstruction* g = main->AddInstruction(
      HloOpcode::kGetTupleElement, "g", Vector(),
      {main->AddInstruction(HloOpcode::kTuple, "tuple", Shape::Tuple({Vector()}), {p})});
  g->SetAttribute(AttributeKey::kIndex, absl::string_view("zero"));
  HloInstruction* c = main->AddInstruction(HloOpcode::kCall, "c", Vector(), {p});
  c->SetAttribute(AttributeKey::kToApply, absl::string_view("f"));
  EXPECT_THAT(Messages(module),
              ElementsAre("t: reverse of f32[4]: no list of integers is given for dimensions",
                          "g: get-tuple-element of (f32[4]): no integer is given for index",
                          "c: call of f32[4]: no computation is given for to_apply"));
}

TEST(VerifierTest, ACalledComputationHasARootAndAllParameters) {
  HloModule module("m");
  HloComputation* empty = module.AddComputation("empty");
  HloComputation* gap = module.AddComputation("gap");
  gap->AddParameter(1, "q", Vector());
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Vector());
  for (const HloComputation* wrong : {empty, gap}) {
    main->AddInstruction(HloOpcode::kCall, absl::StrCat("call_", wrong->name()), Vector(), {p, p})
        ->SetAttribute(AttributeKey::kToApply, wrong);
  }
  EXPECT_THAT(
      Messages(module),
      ElementsAre("computation 'empty' has no instructions", "computation 'gap' has no parameter 0",
                  HasSubstr("call_empty: call of f32[4] and f32[4]: computation 'empty' "
                            "is empty"),
                  HasSubstr("computation 'gap' has no parameter 0")));
}

TEST(VerifierTest, TheEntryIsAsItsLayoutSays) {
  const auto error = [](absl::string_view layout) {
    const auto module = ParseModule(
        absl::StrCat("HloModule m, entry_computation_layout={", layout,
                     "}\nf { x = f32[9] parameter(0) }\n"
                     "ENTRY e { p = f32[2,3]{1,0} parameter(0) q = (s32[], f32[4]) parameter(1)\n"
                     "ROOT r = f32[2,3] negate(p) }\n"),
        "f.hlo");
    EXPECT_TRUE(module.ok()) << module.status();
    return module.ok() ? std::string(VerifyModule(**module).message()) : "";
  };
  EXPECT_EQ(error("(f32[2,3]{1,0}, (s32[], f32[4]))->f32[2,3]{1,0}"), "");
  // Layouts are the caller's, and the precision may be another one.
  EXPECT_EQ(error("(f32[2,3]{0,1:T(2,2)}, (s32[], f32[4]{0}))->bf16[2,3]{0,1}"), "");
  EXPECT_THAT(error("(f32[3,2], (s32[], f32[4]))->f32[2,3]"),
              HasSubstr("f.hlo:3:11: error: instruction 'p' (parameter) has shape f32[2,3] and "
                        "entry_computation_layout says f32[3,2]"));
  EXPECT_THAT(error("(f32[2,3], (s32[], s32[4]))->f32[2,3]"),
              HasSubstr("has shape (s32[], f32[4]) and entry_computation_layout says "));
  EXPECT_THAT(error("(f32[2,3], (s32[], f32[4]))->s32[2,3]"),
              HasSubstr("f.hlo:4:6: error: instruction 'r' (negate) has shape f32[2,3] and "
                        "entry_computation_layout says s32[2,3]"));
  EXPECT_THAT(error("(f32[2,3])->f32[2,3]"),
              HasSubstr("computation 'e' takes 2 parameters, and entry_computation_layout has 1"));
  HloModule built("m");
  built.AddComputation("main")->AddParameter(0, "p", Vector());
  built.SetAttribute("entry_computation_layout", "{(f32[4])->}");
  EXPECT_THAT(Messages(built), ElementsAre("entry_computation_layout={(f32[4])->} is malformed"));
}

TEST(VerifierTest, AChainOfFortyThousandInstructionsIsOrdinary) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* last = main->AddParameter(0, "p", Vector());
  for (int k = 0; k < 40000; ++k) {
    last = main->AddInstruction(HloOpcode::kNegate, absl::StrCat("n", k), Vector(), {last});
  }
  EXPECT_THAT(Messages(module), IsEmpty());
}

}  // namespace
}  // namespace xla_indexing
