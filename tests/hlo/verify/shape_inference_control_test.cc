#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

constexpr char kPlus[] =
    "plus { a = f32[3] parameter(0)  b = f32[3] parameter(1)  ROOT r = f32[3] add(a, b) }";

TEST(CallShapeTest, ACallHasTheShapeOfTheRoot) {
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]"}, "call(p0, p1), to_apply=plus", kPlus), "f32[3]");
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]"}, "fusion(p0, p1), kind=kLoop, calls=plus", kPlus),
            "f32[3]");
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "call(p0), to_apply=plus", kPlus),
              HasSubstr("computation 'plus' should take 1 parameter and takes 2"));
  EXPECT_THAT(
      CheckInstruction({"f32[3]", "f32[]"}, "fusion(p0, p1), kind=kLoop, calls=plus", kPlus),
      HasSubstr("parameter 1 of computation 'plus' is f32[3] and is given f32[]"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "bf16[3]"}, "call(p0, p1), to_apply=plus", kPlus),
              HasSubstr("parameter 1 of computation 'plus' is f32[3] and is given bf16[3]"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "f32[4] call(p0, p1), to_apply=plus", kPlus),
              HasSubstr("has shape f32[4] but its operands and attributes give f32[3]"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "call(p0, p1)"),
              HasSubstr("there is no to_apply"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "fusion(p0, p1), kind=kLoop"),
              HasSubstr("there is no calls"));
}

TEST(WhileShapeTest, ConditionAndBodyTakeTheState) {
  constexpr char kLoop[] = R"(
    body { s = (s32[], f32[3]) parameter(0)
           ROOT r = (s32[], f32[3]) copy(s) }
    condition { s = (s32[], f32[3]) parameter(0)
                i = s32[] get-tuple-element(s), index=0
                ROOT r = pred[] compare(i, i), direction=LT }
    other { s = (s32[], f32[4]) parameter(0)
            i = s32[] get-tuple-element(s), index=0
            ROOT r = pred[] compare(i, i), direction=LT }
    shrink { s = (s32[], f32[3]) parameter(0)
             ROOT r = s32[] get-tuple-element(s), index=0 }
    two { s = (s32[], f32[3]) parameter(0)  t = s32[] parameter(1)
          ROOT r = (s32[], f32[3]) copy(s) })";
  const auto check = [&](const char* attributes) {
    return CheckInstruction({"(s32[], f32[3])"}, absl::StrCat("while(p0), ", attributes), kLoop);
  };
  EXPECT_EQ(check("condition=condition, body=body"), "(s32[], f32[3])");
  EXPECT_THAT(check("condition=other, body=body"),
              HasSubstr("parameter 0 of computation 'other' is (s32[], f32[4]) and is given "
                        "(s32[], f32[3])"));
  EXPECT_THAT(check("condition=shrink, body=body"),
              HasSubstr("condition 'shrink' yields s32[] and should yield pred[]"));
  EXPECT_THAT(check("condition=condition, body=shrink"),
              HasSubstr("body 'shrink' yields s32[] from (s32[], f32[3])"));
  EXPECT_THAT(check("condition=condition, body=two"),
              HasSubstr("computation 'two' should take 1 parameter and takes 2"));
  EXPECT_THAT(check("body=body"), HasSubstr("there is no condition"));
  EXPECT_THAT(check("condition=condition"), HasSubstr("there is no body"));
}

TEST(ConditionalShapeTest, BranchesTakeTheirArgumentsAndYieldOneShape) {
  constexpr char kBranches[] = R"(
    first { a = f32[3] parameter(0)  ROOT r = f32[3] negate(a) }
    second { a = f32[5] parameter(0)  ROOT r = f32[3] slice(a), slice={[0:3]} }
    wide { a = f32[3] parameter(0)  ROOT r = f32[3,1] reshape(a) }
    none { ROOT r = f32[3] constant({1, 2, 3}) }
    two { a = f32[3] parameter(0)  b = f32[3] parameter(1)  ROOT r = f32[3] negate(a) })";
  const auto check = [&](const std::vector<std::string>& operands, const char* branches) {
    std::string text = "conditional(";
    for (size_t k = 0; k < operands.size(); ++k) absl::StrAppend(&text, k == 0 ? "p" : ", p", k);
    return CheckInstruction(operands, absl::StrCat(text, "), ", branches), kBranches);
  };
  EXPECT_EQ(check({"s32[]", "f32[3]", "f32[5]"}, "branch_computations={first, second}"), "f32[3]");
  EXPECT_EQ(
      check({"pred[]", "f32[5]", "f32[3]"}, "true_computation=second, false_computation=first"),
      "f32[3]");
  EXPECT_EQ(check({"s32[]", "f32[3]"}, "branch_computations={first}"), "f32[3]");
  EXPECT_THAT(check({"s32[]", "f32[3]", "f32[3]"}, "branch_computations={first, second}"),
              HasSubstr("parameter 0 of computation 'second' is f32[5] and is given f32[3]"));
  EXPECT_THAT(check({"s32[]", "f32[3]", "f32[3]"}, "branch_computations={first, wide}"),
              HasSubstr("branch 1, 'wide', yields f32[3,1] and branch 0 yields f32[3]"));
  EXPECT_THAT(check({"s32[]", "f32[3]"}, "branch_computations={none}"),
              HasSubstr("branch 0, 'none', has no root or no parameter 0"));
  EXPECT_THAT(check({"s32[]", "f32[3]"}, "branch_computations={two}"),
              HasSubstr("computation 'two' should take 1 parameter and takes 2"));
  EXPECT_THAT(check({"s32[]", "f32[3]"}, "branch_computations={first, first}"),
              HasSubstr("an argument for each of 2 branches, not 2 operands"));
  EXPECT_THAT(check({"s64[]", "f32[3]"}, "branch_computations={first}"),
              HasSubstr("operand 0 is neither pred[] nor s32[]"));
  EXPECT_THAT(check({"s32[1]", "f32[3]"}, "branch_computations={first}"),
              HasSubstr("operand 0 is neither pred[] nor s32[]"));
  EXPECT_THAT(check({"pred[]", "f32[3]"}, "branch_computations={first}"),
              HasSubstr("a predicate selects among 2 branches, not 1"));
  EXPECT_THAT(check({"pred[]", "f32[3]"}, "metadata={}"),
              HasSubstr("there are neither branch_computations nor"));
}

TEST(AsyncShapeTest, TheStateHoldsOperandsAndResult) {
  EXPECT_EQ(CheckInstruction({"f32[3]", "f32[3]"}, "async-start(p0, p1), calls=plus", kPlus),
            "((f32[3], f32[3]), f32[3])");
  EXPECT_EQ(
      CheckInstruction({"f32[3]", "f32[3]"},
                       "((f32[3], f32[3]), f32[3], u32[]) async-start(p0, p1), calls=plus", kPlus),
      "((f32[3], f32[3]), f32[3], u32[])");
  EXPECT_THAT(
      CheckInstruction({"f32[3]", "f32[3]"},
                       "((f32[3], f32[3]), f32[4], u32[]) async-start(p0, p1), calls=plus", kPlus),
      HasSubstr("give ((f32[3], f32[3]), f32[3])"));
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"},
                               "((f32[3]), f32[3]) async-start(p0, p1), calls=plus", kPlus),
              HasSubstr("give ((f32[3], f32[3]), f32[3])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] async-start(p0), calls=plus", kPlus),
              HasSubstr("give ((f32[3]), f32[3])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "async-start(p0, p0, p0), calls=plus", kPlus),
              HasSubstr("operand 2 is bound to parameter 2 of computation 'plus', which takes 2"));
  const std::string state = "((f32[3]), f32[5], u32[])";
  EXPECT_EQ(CheckInstruction({state}, "async-update(p0)"), state);
  EXPECT_EQ(CheckInstruction({state}, "async-done(p0)"), "f32[5]");
  EXPECT_THAT(CheckInstruction({state}, "f32[3] async-done(p0)"), HasSubstr("give f32[5]"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "async-update(p0)"),
              HasSubstr("the operand is not a tuple of 2 elements"));
  EXPECT_THAT(CheckInstruction({"(f32[3])"}, "async-done(p0)"),
              HasSubstr("the operand is not a tuple of 2 elements"));
}

TEST(TupleShapeTest, ATupleHoldsItsOperands) {
  EXPECT_EQ(CheckInstruction({"f32[3]", "(s32[], token[])"}, "tuple(p0, p1)"),
            "(f32[3], (s32[], token[]))");
  EXPECT_EQ(CheckInstruction({}, "() tuple()"), "()");
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "(f32[4]) tuple(p0)"),
              HasSubstr("has shape (f32[4]) but its operands and attributes give (f32[3])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "(f32[3], f32[3]) tuple(p0)"),
              HasSubstr("give (f32[3])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] tuple(p0)"), HasSubstr("give (f32[3])"));
  EXPECT_EQ(CheckInstruction({"(f32[3], s8[])"}, "get-tuple-element(p0), index=1"), "s8[]");
  EXPECT_THAT(CheckInstruction({"(f32[3])"}, "get-tuple-element(p0), index=1"),
              HasSubstr("index=1 of a tuple of 1 element"));
  EXPECT_THAT(CheckInstruction({"(f32[3])"}, "get-tuple-element(p0), index=-1"),
              HasSubstr("index=-1"));
  EXPECT_THAT(CheckInstruction({"(f32[3])"}, "get-tuple-element(p0)"),
              HasSubstr("there is no index"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "get-tuple-element(p0), index=0"),
              HasSubstr("the operand is not a tuple"));
}

TEST(TupleShapeTest, ATupleThatDoublesWithEachLineIsRefused) {
  std::string text = "t0 = tuple(p0, p0)\n";
  for (int k = 1; k < 40; ++k) {
    absl::StrAppend(&text, "t", k, " = tuple(t", k - 1, ", t", k - 1, ")\n");
  }
  EXPECT_THAT(CheckInstruction({"f32[]"}, absl::StrCat("negate(p0)\n", text)),
              HasSubstr("the shape is left out and would have more than 65536 parts"));
}

TEST(TupleShapeTest, ATupleOfMoreLevelsThanAreReadIsRefused) {
  std::string text = "t0 = tuple(p0)\n";
  for (int k = 1; k < 300; ++k) absl::StrAppend(&text, "t", k, " = tuple(t", k - 1, ")\n");
  EXPECT_THAT(CheckInstruction({"f32[]"}, absl::StrCat("negate(p0)\n", text)),
              HasSubstr("or 256 levels"));
}

TEST(PassingOnShapeTest, ValuesKeepTheirShape) {
  for (const char* opcode : {"opt-barrier", "domain"}) {
    EXPECT_EQ(CheckInstruction({"(f32[3], s8[])"}, std::string(opcode) + "(p0)"), "(f32[3], s8[])");
    EXPECT_THAT(CheckInstruction({"f32[3]"}, std::string("f32[4] ") + opcode + "(p0)"),
                HasSubstr("give f32[3]"));
  }
  EXPECT_EQ(CheckInstruction({"(f32[3], s8[])"}, "copy(p0)"), "(f32[3], s8[])");
}

// x: f32[3] and y: s8[] are bound to the parameters of f, one after another.
std::string CheckSteps(absl::string_view steps) {
  const auto module = ParseModule(absl::StrCat(R"(
      f { a = f32[3] parameter(0) b = s8[] parameter(1) ROOT n = f32[3] negate(a) }
      ENTRY e { x = f32[3] parameter(0) y = s8[] parameter(1)
      )",
                                               steps, "}"));
  const absl::Status status = module.ok() ? VerifyModule(**module) : module.status();
  return std::string(status.message());
}

TEST(AsyncShapeTest, StepsBindOperands) {
  EXPECT_EQ(CheckSteps(R"(
      s = ((), (), u32[]) async-start(), calls=f
      u = ((f32[3]), (), u32[]) async-update(s, x)
      p = ((f32[3]), (), u32[]) async-update(u)
      v = ((f32[3], s8[]), f32[3], u32[]) async-update(p, y)
      ROOT d = f32[3] async-done(v))"),
            "");
  // Where the start is not to be seen.
  EXPECT_EQ(CheckInstruction({"((f32[3]), (), u32[])", "s8[]"},
                             "((f32[3], s8[]), f32[9], u32[]) async-update(p0, p1)"),
            "((f32[3], s8[]), f32[9], u32[])");
  EXPECT_EQ(CheckInstruction({"((f32[3]), f32[2], u32[])", "s8[]"}, "async-update(p0, p1)"),
            "((f32[3], s8[]), f32[2], u32[])");
  EXPECT_THAT(CheckInstruction({"((f32[3]), f32[2], u32[])", "s8[]"},
                               "((f32[3], s8[]), f32[9], u32[]) async-update(p0, p1)"),
              HasSubstr("give ((f32[3], s8[]), f32[2], u32[])"));
  EXPECT_THAT(CheckInstruction({"(f32[3], f32[2])", "s8[]"}, "async-update(p0, p1)"),
              HasSubstr("element 0 of the operand is no tuple of operands"));
  EXPECT_THAT(CheckInstruction({}, "async-update()"), HasSubstr("takes at least one operand"));
}

TEST(AsyncShapeTest, StepsBindWhatTheComputationTakes) {
  const std::string start = "s = ((f32[3]), f32[3], u32[]) async-start(x), calls=f\n";
  EXPECT_THAT(CheckSteps(start + "ROOT d = f32[3] async-done(s)"),
              HasSubstr("computation 'f' takes 2 parameters, of which 1 is bound"));
  EXPECT_THAT(CheckSteps(start + "ROOT u = ((f32[3], f32[3]), f32[3], u32[]) async-update(s, x)"),
              HasSubstr("parameter 1 of computation 'f' is s8[] and is given f32[3]"));
  EXPECT_THAT(CheckSteps(start + "ROOT u = ((f32[3], s8[], s8[]), f32[3], u32[]) "
                                 "async-update(s, y, y)"),
              HasSubstr("operand 2 is bound to parameter 2 of computation 'f', which takes 2"));
  EXPECT_THAT(CheckSteps(start + "ROOT u = ((s8[], s8[]), f32[3], u32[]) async-update(s, y)"),
              HasSubstr("give ((f32[3], s8[]), f32[3], u32[])"));
  // When all operands are bound there is a result.
  EXPECT_THAT(CheckSteps("s = ((f32[3]), (), u32[]) async-start(x), calls=f\n"
                         "ROOT u = ((f32[3], s8[]), (), u32[]) async-update(s, y)"),
              HasSubstr("instruction 'u' (async-update) has shape"));
  // Through barriers and tuples.
  EXPECT_THAT(CheckSteps(start + R"(b = ((f32[3]), f32[3], u32[]) opt-barrier(s)
      t = (s8[], ((f32[3]), f32[3], u32[])) tuple(y, b)
      g = ((f32[3]), f32[3], u32[]) get-tuple-element(t), index=1
      ROOT d = f32[3] async-done(g))"),
              HasSubstr("computation 'f' takes 2 parameters, of which 1 is bound"));
}

TEST(TokenShapeTest, OrderingOperationsTakeTokens) {
  EXPECT_EQ(CheckInstruction({}, "after-all()"), "token[]");
  EXPECT_EQ(CheckInstruction({"token[]", "token[]"}, "after-all(p0, p1)"), "token[]");
  EXPECT_EQ(CheckInstruction({"token[]", "f32[]"}, "after-all(p0, p1)"), "token[]");
  EXPECT_EQ(CheckInstruction({"f32[3]", "token[]"}, "add-dependency(p0, p1)"), "f32[3]");
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "add-dependency(p0, p1)"),
              HasSubstr("operand 1 is not a token"));
}

TEST(TransferShapeTest, CopyStartHoldsTheCopyAndTheOriginal) {
  EXPECT_EQ(CheckInstruction({"f32[3]"}, "copy-start(p0)"), "(f32[3], f32[3], u32[])");
  EXPECT_EQ(CheckInstruction({"f32[3]"}, "(f32[3], f32[3]) copy-start(p0)"), "(f32[3], f32[3])");
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "(f32[3], f32[4], u32[]) copy-start(p0)"),
              HasSubstr("give (f32[3], f32[3], u32[])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "(f32[4], f32[3], u32[]) copy-start(p0)"),
              HasSubstr("give (f32[3], f32[3], u32[])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] copy-start(p0)"),
              HasSubstr("give (f32[3], f32[3], u32[])"));
  EXPECT_EQ(CheckInstruction({"(f32[3], f32[4], u32[])"}, "copy-done(p0)"), "f32[3]");
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "copy-done(p0)"),
              HasSubstr("the operand is not a tuple of 2 elements"));
}

TEST(TransferShapeTest, SendAndRecvTakeATokenAndHoldAContext) {
  EXPECT_EQ(CheckInstruction({"f32[3]", "token[]"}, "send(p0, p1), channel_id=1"),
            "(f32[3], u32[], token[])");
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "send(p0, p1), channel_id=1"),
              HasSubstr("operand 1 is not a token"));
  EXPECT_EQ(CheckInstruction({"(f32[3], u32[], token[])"}, "send-done(p0)"), "token[]");
  EXPECT_THAT(CheckInstruction({"(f32[3], u32[])"}, "send-done(p0)"),
              HasSubstr("the operand is not a tuple of 3 elements"));
  EXPECT_EQ(CheckInstruction({"token[]"}, "(f32[3], u32[], token[]) recv(p0), channel_id=1"),
            "(f32[3], u32[], token[])");
  EXPECT_THAT(CheckInstruction({"f32[]"}, "(f32[3], u32[], token[]) recv(p0)"),
              HasSubstr("operand 0 is not a token"));
  for (const char* shape : {"f32[3]", "(f32[3], u32[])", "(f32[3], u32[], u32[])",
                            "(f32[3], token[], token[])", "(f32[3], u32[], token[], u32[])"}) {
    EXPECT_THAT(CheckInstruction({"token[]"}, absl::StrCat(shape, " recv(p0)")),
                HasSubstr("is not (value, u32[], token[])"))
        << shape;
  }
}

TEST(TransferShapeTest, RecvDoneHoldsWhatWasReceived) {
  const std::string state = "(f32[3], u32[], token[])";
  EXPECT_EQ(CheckInstruction({state}, "recv-done(p0)"), "(f32[3], token[])");
  EXPECT_EQ(CheckInstruction({state}, "(f32[2], token[]) recv-done(p0)"), "(f32[2], token[])");
  EXPECT_THAT(CheckInstruction({state}, "(s32[3], token[]) recv-done(p0)"),
              HasSubstr("give (f32[3], token[])"));
  EXPECT_THAT(CheckInstruction({state}, "(f32[3,1], token[]) recv-done(p0)"),
              HasSubstr("give (f32[3], token[])"));
  EXPECT_THAT(CheckInstruction({state}, "f32[3] recv-done(p0)"),
              HasSubstr("give (f32[3], token[])"));
  EXPECT_THAT(CheckInstruction({"f32[3]"}, "f32[3] recv-done(p0)"),
              HasSubstr("the operand is not a tuple of 3 elements"));
}

TEST(TransferShapeTest, InfeedAndOutfeedTakeATokenAndYieldOne) {
  EXPECT_EQ(CheckInstruction({"token[]"}, "((f32[3], s8[]), token[]) infeed(p0)"),
            "((f32[3], s8[]), token[])");
  EXPECT_THAT(CheckInstruction({"f32[]"}, "(f32[3], token[]) infeed(p0)"),
              HasSubstr("operand 0 is not a token"));
  for (const char* shape : {"f32[3]", "(token[])", "(f32[3], f32[3])"}) {
    EXPECT_THAT(CheckInstruction({"token[]"}, absl::StrCat(shape, " infeed(p0)")),
                HasSubstr("is not (value, token[])"))
        << shape;
  }
  EXPECT_EQ(CheckInstruction({"f32[3]", "token[]"}, "outfeed(p0, p1)"), "token[]");
  EXPECT_THAT(CheckInstruction({"f32[3]", "f32[3]"}, "outfeed(p0, p1)"),
              HasSubstr("operand 1 is not a token"));
}

TEST(CustomCallShapeTest, AnyShapeIsTaken) {
  EXPECT_EQ(CheckInstruction({"b(f32[4])", "f32[?]"},
                             "(f32[2], b(f32[4])) custom-call(p0, p1), custom_call_target=\"t\""),
            "(f32[2], b(f32[4]))");
  EXPECT_THAT(CheckInstruction({}, "custom-call(), custom_call_target=\"t\""),
              HasSubstr("must be given"));
}

}  // namespace
}  // namespace xla_indexing
