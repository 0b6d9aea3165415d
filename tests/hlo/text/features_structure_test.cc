// Features of HLO text above the level of an instruction: modules, computations, names, operands,
// comments. Each test parses, prints, reparses and compares; the numbers are those of the list of
// features that the parser must take.

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Feature01ModuleHeader, AttributesInAnyOrderAreKept) {
  const auto module = RoundTrip(R"(
HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, is_scheduled=true,
  input_output_alias={ {}: (0, {}, may-alias) }, replica_count=2, num_partitions=4,
  allow_spmd_sharding_propagation_to_output={true}, frontend_attributes={a="1", b.c={x = "}"}},
  buffer_donor={ (0, {1}) }, alias_passthrough_params=true

ENTRY e { ROOT p = f32[4]{0} parameter(0) })");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->name(), "m");
  EXPECT_TRUE(module->is_scheduled());
  EXPECT_EQ(module->replica_count(), 2);
  EXPECT_EQ(module->num_partitions(), 4);
  EXPECT_EQ(module->FindAttribute("input_output_alias"), "{ {}: (0, {}, may-alias) }");
  EXPECT_EQ(module->FindAttribute("frontend_attributes"), R"({a="1", b.c={x = "}"}})");
  EXPECT_EQ(module->attributes().size(), 9u);
}

TEST(Feature02NoHeader, ModuleIsNamedAfterItsEntry) {
  const auto module = RoundTrip("add { a = f32[] parameter(0) }  main { p = f32[2] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->name(), "module_main");
  EXPECT_EQ(module->computations().size(), 2u);
}

TEST(Feature02NoHeader, InstructionsAloneAreOneComputation) {
  const auto module = RoundTrip("p = f32[2] parameter(0)\nROOT n = f32[2] negate(p)\n");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->name(), "module_entry");
  EXPECT_EQ(Root(*module).opcode(), HloOpcode::kNegate);
}

TEST(Feature03SeveralModules, AreSplitAtSeparatorLinesAndKeepTheirNames) {
  const auto modules = ParseModules({"f.hlo",
                                     "HloModule a\nENTRY e { p = f32[] parameter(0) }\n"
                                     "// -----\n"
                                     "// only a comment\n\n"
                                     "// ---------------------\n"
                                     "HloModule b\nENTRY e { p = s8[] parameter(0) }\n"});
  ASSERT_EQ(modules.size(), 2u);
  ASSERT_TRUE(modules[0].ok() && modules[1].ok());
  EXPECT_EQ((*modules[0])->name(), "a");
  EXPECT_EQ((*modules[1])->name(), "b");
}

TEST(Feature03SeveralModules, AfterAnErrorParsingGoesOnWithTheNext) {
  const auto modules = ParseModules({"f.hlo",
                                     "HloModule a\nENTRY e { p = f32[] nonsense }\n"
                                     "// -----\n"
                                     "HloModule b\nENTRY e { p = s8[] parameter(0) }\n"
                                     "// -----\n"
                                     "HloModule c,\n"});
  ASSERT_EQ(modules.size(), 3u);
  EXPECT_THAT(std::string(modules[0].status().message()), HasSubstr("f.hlo:2:21: error: "));
  EXPECT_TRUE(modules[1].ok());
  // The text of the third piece ends where the name of an attribute should be.
  EXPECT_THAT(std::string(modules[2].status().message()), HasSubstr("f.hlo:8:1: error: expected"));
}

TEST(Feature04EntryAndRoot, DefaultToTheLast) {
  const auto module = RoundTrip(
      "HloModule m\n a { p = f32[] parameter(0) }\n b { ROOT p = f32[] parameter(0)\n"
      "  n = f32[] negate(p) }\n c { p = f32[] parameter(0)\n n = f32[] negate(p) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry_computation()->name(), "c");
  EXPECT_EQ(Root(*module).name(), "n");
  EXPECT_EQ(module->FindComputation("b")->root_instruction()->name(), "p");
}

TEST(Feature04EntryAndRoot, AreTakenFromTheirMarksWithOrWithoutPercent) {
  for (const char* entry : {"ENTRY %b", "ENTRY b"}) {
    const auto module =
        RoundTrip(std::string("HloModule m\n a { p = f32[] parameter(0) }\n") + entry +
                  " { p = f32[] parameter(0) }\n c { q = f32[] parameter(0) }");
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->entry_computation()->name(), "b");
  }
}

TEST(Feature05Signature, IsOptionalAndAnOpeningBraceAfterItIsTheBody) {
  const auto module = RoundTrip(
      "HloModule m\n%f (a: f32[2], b.1: (s32[], f32[3])) -> f32[2] {\n %a = f32[2] parameter(0)\n"
      " %b.1 = (s32[], f32[3]) parameter(1)\n ROOT %n = f32[2]{0} negate(%a) }\n"
      "%g (a: f32[2]) -> f32[2]{0} { ROOT %a = f32[2] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->computations().size(), 2u);
}

TEST(Feature05Signature, ResultMustBeThatOfTheRoot) {
  EXPECT_THAT(
      ErrorOf("HloModule m\nf (a: f32[2]) -> f32[3] {\n a = f32[2] parameter(0) }"),
      HasSubstr("f.hlo:2:3: error: computation 'f' declares the result f32[3], its root 'a' "
                "has the shape f32[2]"));
}

TEST(Feature06Names, MayEqualKeywordsOpcodesAndTypesAndMixPercent) {
  const auto module = RoundTrip(
      Entry("%f32 = f32[] parameter(0)\n add = f32[] parameter(1)\n x = f32[] add(f32, %add)\n"
            "ENTRY = f32[] negate(x)\n ROOT = f32[] negate(ENTRY)\n"
            "ROOT _x.clone-2 = f32[] multiply(%ENTRY, ROOT)"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).name(), "_x.clone-2");
  EXPECT_EQ(Root(*module).operand(0)->name(), "ENTRY");
  EXPECT_EQ(Root(*module).operand(1)->name(), "ROOT");
  EXPECT_EQ(Root(*module).operand(1)->operand(0)->operand(0)->operand(0)->name(), "f32");
}

TEST(Feature06Names, AreOfTheirComputationAndUnique) {
  EXPECT_NE(RoundTrip("HloModule m\na { p = f32[] parameter(0) }\nb { p = f32[] parameter(0) }"),
            nullptr);
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(0)\np = f32[] negate(p)")),
              HasSubstr("f.hlo:5:1: error: 'p' is defined twice"));
  EXPECT_THAT(ErrorOf("HloModule m\na { p = f32[] parameter(0) }\na { p = f32[] parameter(0) }"),
              HasSubstr("f.hlo:3:1: error: computation 'a' is defined twice"));
  EXPECT_THAT(ErrorOf("HloModule m\na { p = f32[] parameter(0) }\nb { n = f32[] negate(p) }"),
              HasSubstr("'p' is not defined"));
}

TEST(Feature07Operands, TakeShapesCommentsAndNames) {
  const auto module = RoundTrip(
      Entry("a = f32[2]{0} parameter(0)\n b = f32[2] parameter(1)\n"
            "x = f32[2] add(f32[2]{0} %a, f32[2] b)\n ROOT y = f32[2] add(/*index=0*/x, %a)"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).operand(0)->name(), "x");
  EXPECT_EQ(Root(*module).operand(1)->name(), "a");
}

TEST(Feature07Operands, NestedInstructionsStandBeforeTheirUser) {
  const auto module =
      RoundTrip(Entry("a = f32[2] parameter(0)\n"
                      "ROOT n = f32[2] negate(f32[2] multiply(a, f32[2] negate(a)))\n"
                      "multiply = f32[2] copy(a)"));
  ASSERT_NE(module, nullptr);
  const auto instructions = module->entry_computation()->instructions();
  ASSERT_EQ(instructions.size(), 5u);
  EXPECT_EQ(instructions[1]->opcode(), HloOpcode::kNegate);
  EXPECT_EQ(instructions[2]->opcode(), HloOpcode::kMultiply);
  EXPECT_EQ(instructions[2]->operand(1), instructions[1]);
  EXPECT_EQ(instructions[3]->name(), "n");
  EXPECT_TRUE(instructions[3]->is_root());
  // A name that the text defines later is not taken for a nested instruction.
  EXPECT_NE(instructions[2]->name(), "multiply");
  EXPECT_EQ(instructions[4]->name(), "multiply");
}

TEST(Feature07Operands, CompactTupleAccessIsGetTupleElement) {
  const auto module =
      RoundTrip(Entry("p = (f32[2], (s32[], f32[], pred[])) parameter(0)\n"
                      "ROOT t = (f32[2], pred[]) tuple(%p#0, %p#1#2)"));
  ASSERT_NE(module, nullptr);
  const HloInstruction& root = Root(*module);
  EXPECT_EQ(root.operand(0)->opcode(), HloOpcode::kGetTupleElement);
  EXPECT_EQ(root.operand(0)->tuple_index(), 0);
  EXPECT_EQ(root.operand(1)->tuple_index(), 2);
  EXPECT_EQ(root.operand(1)->operand(0)->tuple_index(), 1);
  EXPECT_EQ(root.operand(1)->shape().ToString(), "pred[]");
}

TEST(Feature07Operands, MayBeShapesInASingleInstruction) {
  for (const char* text : {"add(f32[10], f32[10]{0})", "f32[10] add(f32[10], f32[10]{0})",
                           "ROOT %x = f32[10] add(f32[10], f32[10]{0})"}) {
    const auto module = RoundTrip(text);
    ASSERT_NE(module, nullptr) << text;
    EXPECT_EQ(Root(*module).opcode(), HloOpcode::kAdd);
    ASSERT_EQ(module->entry_computation()->parameters().size(), 2u);
    EXPECT_EQ(Root(*module).operand(1), module->entry_computation()->parameter(1));
    EXPECT_EQ(Root(*module).operand(1)->shape().ToString(), "f32[10]{0}");
  }
}

TEST(Feature07Operands, ForwardReferencesAndShapesElsewhereAreErrors) {
  EXPECT_THAT(ErrorOf(Entry("n = f32[] negate(p)\np = f32[] parameter(0)")),
              HasSubstr("f.hlo:4:18: error: 'p' is not defined before this place"));
  EXPECT_THAT(ErrorOf(Entry("n = f32[] negate(f32[])")), HasSubstr("expected an operand"));
  EXPECT_THAT(ErrorOf(Entry("p = f32[2] parameter(0)\nn = f32[3] negate(f32[3] p)")),
              HasSubstr("'p' has the shape f32[2], not f32[3]"));
}

TEST(Feature08ResultShape, IsInferredWhereItFollows) {
  const auto module =
      RoundTrip(Entry("a = f32[2,3] parameter(0)\n t = transpose(a), dimensions={1,0}\n"
                      "ROOT x = add(t, t)"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).shape().ToStringWithoutLayout(), "f32[3,2]");
}

TEST(Feature08ResultShape, MustBeGivenWhereItDoesNotFollow) {
  EXPECT_THAT(ErrorOf(Entry("p = parameter(0)")),
              HasSubstr("f.hlo:4:1: error: this instruction gives no shape, and none follows"));
  EXPECT_THAT(ErrorOf(Entry("c = constant(1)")), HasSubstr("a constant needs its shape"));
}

TEST(Feature09Parameters, ComeInAnyOrderButHaveNoGaps) {
  const auto module = RoundTrip(
      Entry("b = f32[2] parameter(1), parameter_replication={true,false}\n a = s32[] parameter(0)\n"
            "ROOT n = f32[2] negate(b)"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->entry_computation()->parameter(0)->name(), "a");
  EXPECT_EQ(module->entry_computation()->parameter(1)->name(), "b");
  EXPECT_EQ(module->entry_computation()->parameter(1)->GetTextByName("parameter_replication"),
            "{true,false}");
  EXPECT_THAT(ErrorOf(Entry("a = f32[] parameter(0)\nb = f32[] parameter(2)")),
              HasSubstr("a parameter 2 but no parameter 1"));
  EXPECT_THAT(ErrorOf(Entry("a = f32[] parameter(0)\nb = f32[] parameter(0)")),
              HasSubstr("f.hlo:5:1: error: parameter 0 is defined twice"));
  EXPECT_THAT(ErrorOf(Entry("a = f32[] parameter(-1)")),
              HasSubstr("no parameter can have the number -1"));
}

TEST(Feature10Comments, StandAnywhere) {
  const auto module = RoundTrip(
      "// first\nHloModule /* name */ m // last\nENTRY /**/ e { // body\n"
      "p = (f32[/*a*/2,3]{1,/*b*/0}, /*index=1*/s32[]) parameter(/*zero*/0) // done\n"
      "ROOT g = f32[2,3]{1,0} get-tuple-element(p), /* why */ index=/*first*/0 }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).operand(0)->shape().ToString(), "(f32[2,3]{1,0}, s32[])");
  EXPECT_THAT(ErrorOf("HloModule m /* open"), HasSubstr("f.hlo:1:13: error: this comment is not "
                                                        "closed"));
}

TEST(Feature20CalledComputations, AreFoundByEveryAttribute) {
  const auto module = RoundTrip(R"(HloModule m
c { p = pred[] parameter(0) }
f { p = f32[] parameter(0) }
ENTRY e {
  p = f32[] parameter(0)
  i = s32[] parameter(1)
  a = f32[] call(p), to_apply=%f
  b = f32[] fusion(p), kind=kLoop, calls=f
  d = f32[] conditional(i, p, p), branch_computations={%f, f}
  x = f32[] custom-call(p), custom_call_target="t", called_computations={%f}
  ROOT w = f32[] while(p), condition=c, body=%f
})");
  ASSERT_NE(module, nullptr);
  const HloComputation* f = module->FindComputation("f");
  const HloComputation* e = module->entry_computation();
  EXPECT_EQ(e->FindInstruction("a")->to_apply(), f);
  EXPECT_EQ(e->FindInstruction("b")->calls(), f);
  EXPECT_EQ(e->FindInstruction("b")->fusion_kind(), "kLoop");
  EXPECT_THAT(e->FindInstruction("d")->branch_computations(), ElementsAre(f, f));
  EXPECT_THAT(e->FindInstruction("x")->called_computations(), ElementsAre(f));
  EXPECT_EQ(Root(*module).while_condition(), module->FindComputation("c"));
  EXPECT_EQ(Root(*module).while_body(), f);
  EXPECT_EQ(Root(*module).called_computations().size(), 2u);
}

TEST(Feature20CalledComputations, TrueComesBeforeFalseInAPredicatedConditional) {
  const auto module = RoundTrip(R"(HloModule m
t { p = f32[] parameter(0) }
f { p = f32[] parameter(0) }
ENTRY e {
  p = pred[] parameter(0)
  x = f32[] parameter(1)
  ROOT d = f32[] conditional(p, x, x), false_computation=f, true_computation=t
})");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(Root(*module).branch_computations(),
              ElementsAre(module->FindComputation("t"), module->FindComputation("f")));
}

TEST(Feature20CalledComputations, MayBeWrittenInPlace) {
  const auto module = RoundTrip(
      Entry("p = f32[] parameter(0)\nROOT c = f32[] call(p), to_apply={ %x = f32[] parameter(0)\n"
            " ROOT n = f32[] negate(x) }, metadata={op_name=\"c\"}"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(Root(*module).to_apply()->root_instruction()->opcode(), HloOpcode::kNegate);
  EXPECT_EQ(module->computations().size(), 2u);
  EXPECT_EQ(module->computations()[1], module->entry_computation());
}

TEST(Feature20CalledComputations, MayBeWrittenInPlaceInAList) {
  const auto module = RoundTrip(Entry(R"(
  p = f32[4] parameter(0)
  i = s32[] parameter(1)
  c = f32[4] conditional(i, p, p, p), branch_computations={
    {
      x = f32[4] parameter(0)
      ROOT r = f32[4] reverse(x), dimensions={0}
    },
    { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) },
    { x = f32[4] parameter(0)
      ROOT c = f32[4] call(x), to_apply={ y = f32[4] parameter(0) }
    }
  }
  b = pred[] parameter(2)
  d = f32[4] conditional(b, p, p), true_computation={ t = f32[4] parameter(0) },
      false_computation={ ROOT f = f32[4] parameter(0) }
  ROOT x = f32[4] custom-call(p), custom_call_target="t",
      called_computations={ { t = f32[4] parameter(0) } })"));
  ASSERT_NE(module, nullptr);
  const HloComputation& e = *module->entry_computation();
  const auto root = [&](absl::string_view name, size_t branch) {
    return e.FindInstruction(name)->called_computations()[branch]->root_instruction()->name();
  };
  EXPECT_EQ(root("c", 0), "r");
  EXPECT_EQ(root("c", 1), "n");
  EXPECT_EQ(root("c", 2), "c");
  EXPECT_EQ(root("d", 0), "t");
  EXPECT_EQ(root("d", 1), "f");
  EXPECT_EQ(root("x", 0), "t");
  EXPECT_EQ(module->computations().size(), 8u);
}

TEST(Feature20CalledComputations, MustBeDefinedBefore) {
  EXPECT_THAT(ErrorOf(Entry("p = f32[] parameter(0)\nc = f32[] call(p), to_apply=%e")),
              HasSubstr("f.hlo:5:29: error: computation 'e' is not defined before this place"));
}

TEST(Feature21Async, StartOfAnyOperationCallsAComputationOfItsOwn) {
  const auto module =
      RoundTrip(Entry("a = f32[10] parameter(0)\n"
                      "s = ((f32[10]), f32[20], s32[]) custom-call-start(f32[10] a), "
                      "async_execution_thread=\"t\", custom_call_target=\"bar\"\n"
                      "u = ((f32[10]), f32[20], s32[]) custom-call-update(s)\n"
                      "ROOT d = f32[20] custom-call-done(u)"));
  ASSERT_NE(module, nullptr);
  const HloInstruction* start = module->entry_computation()->FindInstruction("s");
  EXPECT_EQ(start->opcode(), HloOpcode::kAsyncStart);
  EXPECT_EQ(start->calls()->execution_thread(), "t");
  const HloInstruction* wrapped = start->calls()->root_instruction();
  EXPECT_EQ(wrapped->opcode(), HloOpcode::kCustomCall);
  EXPECT_EQ(wrapped->custom_call_target(), "bar");
  EXPECT_EQ(wrapped->shape().ToString(), "f32[20]");
  EXPECT_EQ(wrapped->operand(0), start->calls()->parameter(0));
  EXPECT_EQ(Root(*module).opcode(), HloOpcode::kAsyncDone);
  EXPECT_EQ(Root(*module).operand(0)->opcode(), HloOpcode::kAsyncUpdate);
}

TEST(Feature21Async, LongFormAndOperationsWithTheirOwnSteps) {
  const auto module = RoundTrip(R"(HloModule m
%w { ROOT p = f32[2] parameter(0) }, execution_thread="t"
ENTRY e {
  a = f32[2] parameter(0)
  %s = ((f32[2]), f32[2], u32[]) async-start(%a), calls=%w, async_execution_thread="t"
  d = f32[2] async-done(s)
  c = (f32[2], f32[2], u32[]) copy-start(d)
  ROOT cd = f32[2] copy-done(c)
})");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->FindComputation("w")->execution_thread(), "t");
  EXPECT_EQ(Root(*module).opcode(), HloOpcode::kCopyDone);
}

TEST(Feature27StackFrameTables, AreKept) {
  const auto module = RoundTrip(R"(HloModule m

FileNames
1 "a.py"
2 "b \"c\".py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=2 end_line=2 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY e { ROOT p = f32[] parameter(0), metadata={op_name="x" stack_frame_id=1} })");
  ASSERT_NE(module, nullptr);
  EXPECT_THAT(std::string(module->stack_frame_tables()), HasSubstr("2 \"b \\\"c\\\".py\""));
  EXPECT_THAT(std::string(module->stack_frame_tables()),
              HasSubstr("1 {file_location_id=1 parent_frame_id=1}"));
}

TEST(Feature29Order, ControlPredecessorsAreInstructionsAndOrderIsTheSchedule) {
  const auto module = RoundTrip(
      "HloModule m, is_scheduled=true\nENTRY e {\n b = f32[] parameter(1)\n a = f32[] "
      "parameter(0)\n"
      "x = f32[] custom-call(a), custom_call_target=\"t\", schedule=SCHEDULE_LATEST\n"
      "ROOT n = f32[] negate(b), control-predecessors={%a, x}\n}");
  ASSERT_NE(module, nullptr);
  const HloComputation* e = module->entry_computation();
  EXPECT_THAT(Root(*module).control_predecessors(),
              ElementsAre(e->FindInstruction("a"), e->FindInstruction("x")));
  EXPECT_EQ(e->instructions()[0]->name(), "b");
  EXPECT_EQ(e->FindInstruction("x")->GetTextByName("schedule"), "SCHEDULE_LATEST");
}

TEST(Feature31Aliasing, IsKeptInTheHeader) {
  const auto module = RoundTrip(
      "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}) }, "
      "buffer_donor={ (0, {1}) }\nENTRY e { p = f32[] parameter(0) }");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->FindAttribute("buffer_donor"), "{ (0, {1}) }");
}

}  // namespace
}  // namespace xla_indexing
