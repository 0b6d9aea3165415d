#include "xla_indexing/query/in_place/in_place_aliases.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InPlaceAliasesTest : public ::testing::Test {
 protected:
  std::vector<std::string> AliasesOf(absl::string_view text) {
    auto module = ParseAndVerifyModule(std::string(text));
    EXPECT_TRUE(module.ok()) << module.status();
    std::vector<std::string> lines;
    for (const CheckedAlias& alias : CheckAliases(**module, &context_)) {
      lines.push_back(alias.ToString());
    }
    return lines;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(InPlaceAliasesTest, AliasesOfTheHeaderAreSafeWhereNothingReadsLater) {
  const auto with = [](absl::string_view header, absl::string_view body) {
    return absl::StrCat("HloModule m, ", header, "\nENTRY e {\n", body, "\n}\n");
  };
  EXPECT_THAT(
      AliasesOf(with("input_output_alias={ {}: (0, {}, may-alias) }",
                     "p = f32[4] parameter(0) ROOT n = f32[4] negate(p)")),
      ElementsAre("alias of the module: output {} in parameter 0 {}, written by n: any order"));
  EXPECT_THAT(AliasesOf(with("input_output_alias={ {}: (0, {}, must-alias) }",
                             "p = f32[4] parameter(0) ROOT r = f32[4] reverse(p), dimensions={0}")),
              ElementsAre(HasSubstr("unsafe: element {1} is written before element {2}")));
  const std::string later = R"(p = f32[4] parameter(0)
      n = f32[4] negate(p)
      a = f32[4] add(n, p)
      ROOT t = (f32[4], f32[4]) tuple(n, a))";
  EXPECT_THAT(AliasesOf(with("is_scheduled=true, input_output_alias={ {0}: (0, {}), {1}: (0, {}) }",
                             later)),
              ElementsAre(HasSubstr("unsafe: a reads p after n has written it"),
                          HasSubstr("unsafe: output {0} is in it, too")));
  EXPECT_THAT(
      AliasesOf(with("input_output_alias={ {0}: (0, {}), {2}: (0, {}), {0}: (7, {}) }", later)),
      ElementsAre(HasSubstr("a reads p after n"),
                  HasSubstr("unsafe: there is no {2} of the output"),
                  HasSubstr("unsafe: there is no operand 7")));
  EXPECT_THAT(AliasesOf(with("input_output_alias={ {}: (0 }",
                             "p = f32[4] parameter(0) ROOT n = f32[4] negate(p)")),
              ElementsAre(HasSubstr("unsafe: the aliases cannot be read")));
}

// A loop that updates element i of an array which it carries, for i from 0 to 3.
std::string LoopOver(absl::string_view body, absl::string_view entry,
                     absl::string_view header = "input_output_alias={ {1}: (0, {}) }") {
  return absl::StrCat("HloModule m, ", header, R"(
      body {
        c = (s32[], f32[4]) parameter(0)
        i = s32[] get-tuple-element(c), index=0
        a = f32[4] get-tuple-element(c), index=1
        one = s32[] constant(1)
        next = s32[] add(i, one)
        x = f32[1] slice(a), slice={[0:1]}
        )",
                      body, R"(
      }
      condition {
        c = (s32[], f32[4]) parameter(0)
        i = s32[] get-tuple-element(c), index=0
        n = s32[] constant(4)
        ROOT r = pred[] compare(i, n), direction=LT
      }
      ENTRY e {
        p = f32[4] parameter(0)
        zero = s32[] constant(0)
        )",
                      entry, "\n}\n");
}

TEST_F(InPlaceAliasesTest, ALoopWritesWhatItCarriesInItsBody) {
  const std::string loop =
      "t = (s32[], f32[4]) tuple(zero, p) "
      "ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body";
  const std::string update = "u = f32[4] dynamic-update-slice(a, x, i) ";
  const std::string root = "ROOT r = (s32[], f32[4]) tuple(next, u)";
  EXPECT_THAT(AliasesOf(LoopOver(update + root, loop)),
              ElementsAre("alias of the module: output {1} in parameter 0 {}, written by body/u: "
                          "any order"));
  EXPECT_THAT(AliasesOf(LoopOver("u = f32[4] reverse(a), dimensions={0} " + root, loop)),
              ElementsAre(HasSubstr("written by body/u: unsafe: element {1} is written before")));
  // The body reads the array after it is updated.
  EXPECT_THAT(AliasesOf(LoopOver("u = f32[4] dynamic-update-slice(a, x, i) "
                                 "v = f32[4] add(u, a) "
                                 "ROOT r = (s32[], f32[4]) tuple(next, u)",
                                 loop)),
              ElementsAre(HasSubstr("unsafe: v reads c after u has written it")));
  // What the loop hands on is not written.
  EXPECT_THAT(AliasesOf(LoopOver("ROOT r = (s32[], f32[4]) tuple(next, a)", loop)),
              ElementsAre("alias of the module: output {1} in parameter 0 {}: any order"));
}

TEST_F(InPlaceAliasesTest, WhatALoopChangesIsReadBeforeIt) {
  const std::string body = "ROOT r = (s32[], f32[4]) tuple(next, y)";
  const std::string negated = "y = f32[4] negate(a) ";
  const std::string loop =
      "t = (s32[], f32[4]) tuple(zero, p) "
      "w = (s32[], f32[4]) while(t), condition=condition, body=body "
      "v = f32[4] get-tuple-element(w), index=1 ";
  const std::string header = "input_output_alias={ {0}: (0, {}) }";
  EXPECT_THAT(AliasesOf(LoopOver(
                  negated + body,
                  loop + "s = f32[4] add(v, p) ROOT t2 = (f32[4], f32[4]) tuple(v, s)", header)),
              ElementsAre(HasSubstr("written by w: unsafe: s reads p after w has written it")));
  EXPECT_THAT(
      AliasesOf(LoopOver(negated + body, loop + "ROOT t2 = (f32[4], f32[4]) tuple(v, p)", header)),
      ElementsAre(HasSubstr("unsafe: w writes it, and output 1 is the operand itself")));
  // What the loop starts from is computed into the buffer.
  const std::string later =
      "q = f32[4] reverse(p), dimensions={0} "
      "t = (s32[], f32[4]) tuple(zero, q) "
      "ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body";
  EXPECT_THAT(AliasesOf(LoopOver(negated + body, later)),
              ElementsAre(HasSubstr("written by q: unsafe: element {1} is written before")));
  const std::string elementwise =
      "q = f32[4] negate(p) "
      "t = (s32[], f32[4]) tuple(zero, q) "
      "ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body";
  EXPECT_THAT(AliasesOf(LoopOver(negated + body, elementwise)),
              ElementsAre(HasSubstr("any order")));
}

TEST_F(InPlaceAliasesTest, ALoopMayNotCarryABufferTwiceWhereItChangesIt) {
  const auto carried_twice = [](absl::string_view body) {
    return absl::StrCat(R"(HloModule m, input_output_alias={ {0}: (0, {}) }
      body {
        c = (f32[4], f32[4]) parameter(0)
        a = f32[4] get-tuple-element(c), index=0
        b = f32[4] get-tuple-element(c), index=1
        )",
                        body, R"(
      }
      condition {
        c = (f32[4], f32[4]) parameter(0)
        ROOT r = pred[] constant(true)
      }
      ENTRY e {
        p = f32[4] parameter(0)
        t = (f32[4], f32[4]) tuple(p, p)
        w = (f32[4], f32[4]) while(t), condition=condition, body=body
        v = f32[4] get-tuple-element(w), index=0
        ROOT r = (f32[4]) tuple(v)
      })");
  };
  EXPECT_THAT(
      AliasesOf(carried_twice("n = f32[4] add(a, b) ROOT r = (f32[4], f32[4]) tuple(n, b)")),
      ElementsAre(HasSubstr("unsafe: w changes p as element 0 of what it carries, and reads "
                            "it as element 1")));
  EXPECT_THAT(
      AliasesOf(carried_twice("n = f32[4] negate(a) ROOT r = (f32[4], f32[4]) tuple(n, b)")),
      ElementsAre(HasSubstr("written by body/n: any order")));
}

TEST_F(InPlaceAliasesTest, AnOutputThatIsAnotherParameterIsCopiedAtTheEnd) {
  EXPECT_THAT(AliasesOf(R"(HloModule m, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }
      ENTRY e {
        p = f32[4] parameter(0)
        q = f32[4] parameter(1)
        n = f32[4] add(p, q)
        ROOT t = (f32[4], f32[4]) tuple(q, n)
      })"),
              ElementsAre(HasSubstr("output {0} in parameter 0 {}: any order"),
                          HasSubstr("unsafe: n writes it, and output 0 is the operand itself")));
}

TEST_F(InPlaceAliasesTest, AliasesOfInstructionsAreAskedAboutThem) {
  EXPECT_THAT(AliasesOf(R"(HloModule m
      f { p = f32[4] parameter(0) ROOT r = f32[4] reverse(p), dimensions={0} }
      ENTRY e {
        p = f32[4] parameter(0)
        c = f32[4] copy(p)
        ROOT r = f32[4] fusion(c), kind=kLoop, calls=f, output_to_operand_aliasing={{}: (0, {})}
      })"),
              ElementsAre(HasSubstr("alias of r: output {} in operand 0 {}: unsafe: element {1}")));
}

// An entry whose y = negate(c) states that it lies in the buffer of c, a copy of parameter x.
std::string NegatedInPlace(absl::string_view header, absl::string_view before,
                           absl::string_view after, absl::string_view of = "c") {
  return absl::StrCat("HloModule m", header, R"(
      f { p = f32[16] parameter(0) ROOT n = f32[16] negate(p) }
      ENTRY e {
        x = f32[16] parameter(0)
        c = f32[16] copy(x)
        )",
                      before, " y = f32[16] fusion(", of,
                      "), kind=kLoop, calls=f, output_to_operand_aliasing={{}: (0, {})} ", after,
                      "\n}\n");
}

TEST_F(InPlaceAliasesTest, WhatAnInstructionOverwritesIsReadBeforeIt) {
  const std::string alias = "alias of y: output {} in operand 0 {}: ";
  const auto of = [&](absl::string_view header, absl::string_view before, absl::string_view after,
                      absl::string_view operand = "c") {
    const auto lines = AliasesOf(NegatedInPlace(header, before, after, operand));
    EXPECT_FALSE(lines.empty());
    return lines.empty() ? "" : lines.back();
  };
  const std::string pair = "ROOT t = (f32[16], f32[16]) tuple(y, r)";
  for (const std::string scheduled : {", is_scheduled=true", ""}) {
    SCOPED_TRACE(scheduled);
    // With the result itself, after it, and before it.
    EXPECT_EQ(of(scheduled, "", "r = f32[16] add(c, y) " + pair),
              alias + "unsafe: r reads c after y has written it");
    EXPECT_EQ(of(scheduled, "", "ROOT t = (f32[16], f32[16]) tuple(y, c)"),
              alias + "unsafe: y overwrites c, which is output 1");
    EXPECT_EQ(of(scheduled, "r = f32[16] reverse(c), dimensions={0}", pair), alias + "any order");
    // As another name, which is an output, too.
    EXPECT_EQ(of(scheduled, "b = f32[4,4] bitcast(c)", "ROOT t = (f32[16], f32[4,4]) tuple(y, b)"),
              alias + "unsafe: y overwrites c, which is output 1");
    // The buffer is not the entry's own.
    EXPECT_EQ(of(scheduled, "", "ROOT r = f32[16] reverse(y), dimensions={0}", "x"),
              alias + "unsafe: x is a parameter that is not donated");
    EXPECT_EQ(of(scheduled + ", buffer_donor={ (0, {}) }", "",
                 "ROOT r = f32[16] reverse(y), dimensions={0}", "x"),
              alias + "any order");
    EXPECT_EQ(of(scheduled + ", input_output_alias={ {}: (0, {}) }", "",
                 "ROOT r = f32[16] negate(y)", "x"),
              alias + "any order");
    EXPECT_EQ(of(scheduled, "k = f32[16] constant({0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0})",
                 "ROOT r = f32[16] reverse(y), dimensions={0}", "k"),
              alias + "unsafe: k is a constant");
  }
  // Without a schedule, what can come before does.
  const std::string later = "r = f32[16] reverse(c), dimensions={0} " + pair;
  EXPECT_EQ(of("", "", later), alias + "any order");
  EXPECT_EQ(of(", is_scheduled=true", "", later),
            alias + "unsafe: r reads c after y has written it");
  EXPECT_EQ(of(", is_scheduled=true", "b = f32[4,4] bitcast(c)",
               "r = f32[4,4] transpose(b), dimensions={1,0} "
               "ROOT t = (f32[16], f32[4,4]) tuple(y, r)"),
            alias + "unsafe: r reads c after y has written it");
  // But for what waits for something else.
  EXPECT_EQ(of("", "", "r = f32[16] reverse(c), dimensions={0}, control-predecessors={y} " + pair),
            alias + "unsafe: r reads c after y has written it");
}

TEST_F(InPlaceAliasesTest, WhatAnAsynchronousOperationReadsIsReadUntilItIsDone) {
  const std::string started = "s = (f32[16], f32[16], u32[]) copy-start(c)";
  const std::string done = "d = f32[16] copy-done(s) ROOT t = (f32[16], f32[16]) tuple(y, d)";
  EXPECT_THAT(AliasesOf(NegatedInPlace(", is_scheduled=true", started, done)),
              ElementsAre(HasSubstr("unsafe: d reads c after y has written it")));
  // What is made is written from the start on.
  EXPECT_THAT(AliasesOf(R"(HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}) }
      ENTRY e {
        x = f32[4] parameter(0)
        z = f32[4] parameter(1)
        s = (f32[4], f32[4], u32[]) copy-start(z)
        r = f32[4] reverse(x), dimensions={0}
        d = f32[4] copy-done(s)
        ROOT t = (f32[4], f32[4]) tuple(d, r)
      })"),
              ElementsAre(HasSubstr("written by s: unsafe: r reads x after s has written it")));
}

TEST_F(InPlaceAliasesTest, ACallHandsOnWhatItsComputationHandsOn) {
  EXPECT_THAT(AliasesOf(R"(HloModule m, is_scheduled=true
      same { p = f32[4] parameter(0) ROOT b = f32[2,2] bitcast(p) }
      ENTRY e {
        x = f32[4] parameter(0)
        c = f32[4] copy(x)
        k = f32[2,2] call(c), to_apply=same
        y = f32[4] negate(c), output_to_operand_aliasing={{}: (0, {})}
        r = f32[2,2] transpose(k), dimensions={1,0}
        ROOT t = (f32[4], f32[2,2]) tuple(y, r)
      })"),
              ElementsAre(HasSubstr("unsafe: r reads c after y has written it")));
}

TEST_F(InPlaceAliasesTest, OneOrderHasToDoForAllAliases) {
  // Each may come last, but not both.
  EXPECT_THAT(AliasesOf(R"(HloModule m
      ENTRY e {
        x = f32[4] parameter(0)
        c = f32[4] copy(x)
        y = f32[4] negate(c), output_to_operand_aliasing={{}: (0, {})}
        z = f32[4] exponential(c), output_to_operand_aliasing={{}: (0, {})}
        ROOT t = (f32[4], f32[4]) tuple(y, z)
      })"),
              ElementsAre(HasSubstr("alias of y: output {} in operand 0 {}: unsafe: no order puts "
                                    "z, which reads c, before y, which writes it"),
                          HasSubstr("no order puts y, which reads c, before z")));
  // The header's outputs, each of which is computed from both parameters.
  EXPECT_THAT(AliasesOf(R"(HloModule m, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }
      ENTRY e {
        x = f32[4] parameter(0)
        z = f32[4] parameter(1)
        a = f32[4] add(x, z)
        s = f32[4] subtract(x, z)
        ROOT t = (f32[4], f32[4]) tuple(a, s)
      })"),
              ElementsAre(HasSubstr("no order puts s, which reads x, before a"),
                          HasSubstr("no order puts a, which reads z, before s")));
}

TEST_F(InPlaceAliasesTest, WhatIsInADonatedBufferAlreadyIsReadBeforeTheOutput) {
  // y lies in the buffer of x, and so does output 0, which is written while y is still read.
  const auto of = [&](absl::string_view order) {
    return AliasesOf(absl::StrCat(
        "HloModule m, is_scheduled=true, input_output_alias={ {0}: (0, {}) }\nENTRY e {\n"
        "x = f32[4] parameter(0)\nz = f32[4] parameter(1)\n"
        "y = f32[4] negate(x), output_to_operand_aliasing={{}: (0, {})}\n",
        order, "ROOT t = (f32[4], f32[4]) tuple(o, r)\n}\n"));
  };
  const std::string output = "o = f32[4] negate(z)\n";
  const std::string reader = "r = f32[4] reverse(y), dimensions={0}\n";
  EXPECT_THAT(of(output + reader),
              ElementsAre(HasSubstr("written by o: unsafe: r reads y after o has written it"),
                          HasSubstr("alias of y: output {} in operand 0 {}: any order")));
  EXPECT_THAT(of(reader + output),
              ElementsAre(HasSubstr("written by o: any order"), HasSubstr(": any order")));
}

TEST_F(InPlaceAliasesTest, AnAliasOfACustomCallIsItsOwnAnswerWhereNobodyReadsLater) {
  const auto of = [&](absl::string_view rest) {
    return AliasesOf(
        absl::StrCat("HloModule m, is_scheduled=true\nENTRY e {\n"
                     "x = f32[4] parameter(0)\nc = f32[4] copy(x)\n",
                     rest, "\n}\n"));
  };
  EXPECT_THAT(of("ROOT y = f32[4] custom-call(c), custom_call_target=\"f\", "
                 "output_to_operand_aliasing={{}: (0, {})}"),
              ElementsAre(HasSubstr("undecided: the custom call answers for it")));
  EXPECT_THAT(of("y = f32[4] custom-call(c), custom_call_target=\"f\", "
                 "output_to_operand_aliasing={{}: (0, {})}\nROOT r = f32[4] add(c, y)"),
              ElementsAre(HasSubstr("unsafe: r reads c after y has written it")));
  // Two results in one value, which is passed twice.
  EXPECT_THAT(of("ROOT y = (f32[4], f32[4]) custom-call(c, c), custom_call_target=\"f\", "
                 "output_to_operand_aliasing={{0}: (0, {}), {1}: (1, {})}"),
              ElementsAre(HasSubstr("undecided"), HasSubstr("unsafe: output {0} is in it, too")));
}

TEST_F(InPlaceAliasesTest, BuffersOfOtherMemorySpacesAreNotShared) {
  const std::string other = "unsafe: the output is in memory space 0 and the operand in ";
  EXPECT_THAT(AliasesOf("HloModule m, input_output_alias={ {}: (0, {}) }\nENTRY e { "
                        "x = f32[64]{0:S(1)} parameter(0) ROOT n = f32[64]{0} negate(x) }"),
              ElementsAre(HasSubstr(other + "1")));
  EXPECT_THAT(AliasesOf("HloModule m\nENTRY e { x = f32[64] parameter(0) "
                        "c = f32[64]{0:S(1)} copy(x) ROOT n = f32[64]{0} negate(c), "
                        "output_to_operand_aliasing={{}: (0, {})} }"),
              ElementsAre(HasSubstr(other + "1")));
  // Also on the way: what the loop starts from, which would lie in the parameter's buffer, is elsewhere.
  EXPECT_THAT(
      AliasesOf(LoopOver("y = f32[4] negate(a) ROOT r = (s32[], f32[4]) tuple(next, y)",
                         "q = f32[4]{0:S(1)} negate(p) t = (s32[], f32[4]{0:S(1)}) tuple(zero, q) "
                         "ROOT w = (s32[], f32[4]) while(t), condition=condition, body=body")),
      ElementsAre(HasSubstr("unsafe: the output is in memory space ")));
}

// exp of an array, a loop that only reads it, and one more elementwise step.
constexpr absl::string_view kDonatedThenLoop = R"(HloModule m
    condition {
      s = (s32[], f32[], f32[64]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(8)
      ROOT lt = pred[] compare(i, n), direction=LT
    }
    body {
      s = (s32[], f32[], f32[64]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      a = f32[] get-tuple-element(s), index=1
      x = f32[64] get-tuple-element(s), index=2
      v = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
      w = f32[] reshape(v)
      a2 = f32[] add(a, w)
      one = s32[] constant(1)
      i2 = s32[] add(i, one)
      ROOT t = (s32[], f32[], f32[64]) tuple(i2, a2, x)
    }
    ENTRY e {
      x = f32[64] parameter(0)
      mid = f32[64] exponential(x)
      zi = s32[] constant(0)
      zf = f32[] constant(0)
      init = (s32[], f32[], f32[64]) tuple(zi, zf, mid)
      loop = (s32[], f32[], f32[64]) while(init), condition=condition, body=body
      total = f32[] get-tuple-element(loop), index=1
      totals = f32[64] broadcast(total), dimensions={}
      turned = f32[64] reverse(mid), dimensions={0}
      half = f32[32] slice(mid), slice={[0:32]}
      final = f32[64] add(mid, totals)
      ROOT t = (f32[64], f32[], f32[64], f32[32]) tuple(final, total, turned, half)
    })";

TEST_F(InPlaceAliasesTest, IntermediateValuesMayLieInADonatedBufferOneAfterTheOther) {
  auto module = ParseAndVerifyModule(std::string(kDonatedThenLoop));
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const auto ask = [&](const std::vector<std::string>& names) {
    std::vector<BufferValue> values;
    for (const std::string& name : names) {
      for (const HloInstruction* i : entry.instructions()) {
        if (i->name() == name) values.push_back({i, name == "loop" ? 2 : 0});
      }
    }
    const auto checked = CheckOneBuffer(values, &context_);
    if (!checked.ok()) return std::vector<std::string>{checked.status().ToString()};
    std::vector<std::string> lines;
    for (const CheckedValue& value : *checked) lines.push_back(value.ToString());
    return lines;
  };
  EXPECT_THAT(ask({"x", "mid"}), ElementsAre("mid over x: any order"));
  EXPECT_THAT(ask({"x", "mid", "final"}),
              ElementsAre("mid over x: any order", "final over mid: any order"));
  EXPECT_THAT(ask({"x", "final"}), ElementsAre("final over x: any order"));
  // What the loop hands on is mid.
  EXPECT_THAT(ask({"x", "mid", "loop", "final"}),
              ElementsAre("mid over x: any order", "loop#2 over mid: any order",
                          "final over loop#2: any order"));
  EXPECT_THAT(ask({"x", "mid", "turned"}),
              ElementsAre(HasSubstr("any order"), HasSubstr("turned over mid: unsafe: element")));
  // final reads mid and is to come after half, which is to come after all that reads mid.
  EXPECT_THAT(
      ask({"x", "mid", "half", "final"}),
      ElementsAre(HasSubstr("any order"),
                  HasSubstr("half over mid: unsafe: no order puts final, which reads mid, before"),
                  HasSubstr("unsafe: final overwrites half, which is output 3")));
  EXPECT_THAT(ask({"mid", "x"}), ElementsAre(HasSubstr("unsafe")));
  EXPECT_THAT(ask({"half", "final"}),
              ElementsAre(HasSubstr("the output has 256 bytes and the operand 128")));
  EXPECT_THAT(ask({"x"}), ElementsAre(HasSubstr("at least two values")));
}

TEST_F(InPlaceAliasesTest, ASortMayChangeWhereContentsDecide) {
  const auto sorted = [](absl::string_view comparison, int size) {
    return absl::StrCat(
        "HloModule m, input_output_alias={ {}: (0, {}) } c { a = f32[] parameter(0) "
        "b = f32[] parameter(1) ROOT r = pred[] compare(",
        comparison, " } ENTRY e { p = f32[", size, "] parameter(0) ROOT s = f32[", size,
        "] sort(p), dimensions={0}, to_apply=c }");
  };
  EXPECT_THAT(AliasesOf(sorted("a, b), direction=LT", 4)),
              ElementsAre(HasSubstr("unsafe: element {0} is written before element {1}")));
}

}  // namespace
}  // namespace xla_indexing
