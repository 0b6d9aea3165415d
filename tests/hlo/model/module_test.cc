// The model: opcodes, construction without text, equality.

#include "xla_indexing/hlo/model/module.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/text/parse_helpers.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Opcode, ThereAre134AndEveryNameReadsBack) {
  EXPECT_EQ(kOpcodeCount, 135);  // With the one for those that are not known.
  std::set<absl::string_view> names;
  for (int i = 0; i < kOpcodeCount; ++i) {
    const auto opcode = static_cast<HloOpcode>(i);
    if (opcode == HloOpcode::kUnknown) continue;
    names.insert(OpcodeName(opcode));
    EXPECT_EQ(OpcodeFromName(OpcodeName(opcode)), opcode);
  }
  EXPECT_EQ(names.size(), 134u);
  EXPECT_EQ(OpcodeFromName("nonsense"), std::nullopt);
  EXPECT_EQ(OpcodeFromName(OpcodeName(HloOpcode::kUnknown)), std::nullopt);
  EXPECT_EQ(OpcodeName(HloOpcode::kDynamicUpdateSlice), "dynamic-update-slice");
  EXPECT_EQ(OpcodeName(HloOpcode::kRoundNearestAfz), "round-nearest-afz");
  EXPECT_EQ(OpcodeArity(HloOpcode::kAdd), 2);
  EXPECT_EQ(OpcodeArity(HloOpcode::kTuple), std::nullopt);
  EXPECT_TRUE(IsElementwise(HloOpcode::kSelect));
  EXPECT_FALSE(IsElementwise(HloOpcode::kBroadcast));
}

// `user operand` of each use.
std::vector<std::string> UsesOf(const HloInstruction& instruction) {
  std::vector<std::string> texts;
  for (const HloInstruction::Use& use : instruction.uses()) {
    texts.push_back(absl::StrCat(use.user->name(), " ", use.operand));
  }
  return texts;
}

TEST(HloInstruction, KnowsItsUsersInTheOrderOfTheComputation) {
  const auto module = RoundTrip(R"(HloModule m
ENTRY main {
  p = f32[4] parameter(0)
  a = f32[4] add(p, p)
  n = f32[4] negate(p)
  b = f32[4] add(a, p)
  ROOT t = (f32[4], f32[4], f32[4]) tuple(p, n, p)
})");
  ASSERT_NE(module, nullptr);
  const HloComputation& main = *module->entry_computation();
  const HloInstruction* p = main.parameter(0);
  EXPECT_THAT(UsesOf(*p), ElementsAre("a 0", "a 1", "n 0", "b 1", "t 0", "t 2"));
  EXPECT_THAT(p->users(), ElementsAre(main.FindInstruction("a"), main.FindInstruction("n"),
                                      main.FindInstruction("b"), main.FindInstruction("t")));
  EXPECT_THAT(UsesOf(*main.FindInstruction("a")), ElementsAre("b 0"));
  EXPECT_THAT(main.FindInstruction("b")->users(), ElementsAre());
  EXPECT_THAT(main.root_instruction()->users(), ElementsAre());
}

TEST(HloInstruction, KnowsItsUsersWhileItsComputationIsBuilt) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  const HloInstruction* p = main->AddParameter(0, "p", shape);
  EXPECT_THAT(UsesOf(*p), ElementsAre());
  main->AddInstruction(HloOpcode::kNegate, "n", shape, {p});
  EXPECT_THAT(UsesOf(*p), ElementsAre("n 0"));
  main->AddInstruction(HloOpcode::kAdd, "a", shape, {p, p});
  EXPECT_THAT(UsesOf(*p), ElementsAre("n 0", "a 0", "a 1"));
  // An operand of another computation, which the verifier refuses, has no such user.
  HloComputation* other = module.AddComputation("other");
  other->AddInstruction(HloOpcode::kNegate, "n", shape, {p});
  EXPECT_EQ(p->uses().size(), 3u);
}

// Builds `text`'s module without text.
TEST(HloModule, IsBuiltWithoutTextAsItIsParsed) {
  const auto parsed = RoundTrip(R"(HloModule m, is_scheduled=true
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
ENTRY main {
  p = f32[4,6] parameter(0)
  zero = s32[] constant(3)
  r = f32[4] reduce(p, p), dimensions={1}, to_apply=add, metadata={op_name="r"}
  ROOT w = f32[2] reduce-window(r, p), window={size=3 pad=0_1}, to_apply=add
  s = f32[1,1] slice(p), slice={[1:2], [0:6:7]}
})");
  ASSERT_NE(parsed, nullptr);

  HloModule module("m");
  module.SetAttribute("is_scheduled", "true");
  HloComputation* add = module.AddComputation("add");
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  HloInstruction* a = add->AddParameter(0, "a", scalar);
  HloInstruction* b = add->AddParameter(1, "b", scalar);
  add->SetRoot(add->AddInstruction(HloOpcode::kAdd, "s", scalar, {a, b}));
  HloComputation* main = module.AddComputation("main");
  module.SetEntry(main);
  HloInstruction* p = main->AddParameter(0, "p", Shape::Array(ElementType::kF32, {4, 6}));
  main->AddConstant("zero", Literal::IntegerScalar(ElementType::kS32, 3));
  HloInstruction* r =
      main->AddInstruction(HloOpcode::kReduce, "r", Shape::Array(ElementType::kF32, {4}), {p, p});
  {
    // The values that attributes refer to are copied.
    std::vector<int64_t> dimensions = {1};
    r->SetAttribute(AttributeKey::kDimensions, dimensions);
    r->SetAttribute(AttributeKey::kToApply, add);
    r->SetTextAttribute("metadata", std::string("{op_name=\"r\"}"));
    dimensions[0] = 77;
  }
  HloInstruction* w = main->AddInstruction(HloOpcode::kReduceWindow, "w",
                                           Shape::Array(ElementType::kF32, {2}), {r, p});
  Window window;
  window.dimensions.push_back({.size = 3, .padding_high = 1});
  w->SetAttribute(AttributeKey::kWindow, &window);
  w->SetAttribute(AttributeKey::kToApply, add);
  main->SetRoot(w);
  HloInstruction* s =
      main->AddInstruction(HloOpcode::kSlice, "s", Shape::Array(ElementType::kF32, {1, 1}), {p});
  s->SetAttribute(AttributeKey::kSlice,
                  absl::Span<const SliceRange>({SliceRange{.start = 1, .limit = 2, .stride = 1},
                                                SliceRange{.start = 0, .limit = 6, .stride = 7}}));

  std::string difference;
  EXPECT_TRUE(ModulesEqual(module, *parsed, &difference)) << difference;
  EXPECT_EQ(module.ToString(), parsed->ToString());
  EXPECT_THAT(r->called_computations(), ElementsAre(add));
  EXPECT_EQ(main->FindInstruction("w"), w);
  EXPECT_EQ(main->FindInstruction("x"), nullptr);
  EXPECT_TRUE(w->is_root());
  EXPECT_FALSE(s->is_root());
  EXPECT_EQ(s->source_offset(), HloInstruction::kNoSourceOffset);
  EXPECT_EQ(s->ToString(), "%s = f32[1,1] slice(%p), slice={[1:2], [0:6:7]}");
}

TEST(HloModule, AttributesAreReplaced) {
  HloModule module("m");
  HloComputation* e = module.AddComputation("e");
  HloInstruction* i =
      e->AddInstruction(HloOpcode::kIota, "i", Shape::Array(ElementType::kS32, {2}));
  i->SetAttribute(AttributeKey::kIotaDimension, 1);
  i->SetAttribute(AttributeKey::kIotaDimension, 0);
  i->SetTextAttribute("mine", "1");
  i->SetTextAttribute("mine", "2");
  EXPECT_EQ(i->ToString(), "%i = s32[2] iota(), iota_dimension=0, mine=2");
}

TEST(HloModule, InstructionsKnowWhereTheyStandInTheText) {
  const auto module = ParseModule(Entry("  p = f32[] parameter(0)\n  ROOT n = f32[] negate(%p)"));
  ASSERT_TRUE(module.ok());
  const std::string& text = (*module)->source()->text;
  EXPECT_EQ(text.substr(Root(**module).source_offset(), 5), "n = f");
  EXPECT_EQ(text.substr(Root(**module).operand(0)->source_offset(), 5), "p = f");
}

TEST(ModulesEqual, NamesTheFirstDifference) {
  const std::string base =
      "HloModule m, a=1\nc { q = f32[] parameter(0) }\nENTRY e { p = f32[2]{0} parameter(0)\n"
      "k = s32[2] constant({1, 2})\n ROOT t = f32[2]{0} transpose(p), dimensions={0}, x=1 }";
  const auto difference = [&](const std::string& from, const std::string& to) {
    std::string changed = base;
    changed.replace(changed.find(from), from.size(), to);
    const auto a = ParseModule(base), b = ParseModule(changed);
    EXPECT_TRUE(a.ok()) << a.status().message();
    EXPECT_TRUE(b.ok()) << b.status().message();
    std::string text;
    const bool equal = ModulesEqual(**a, **b, &text);
    EXPECT_EQ(equal, text.empty());
    return text;
  };
  EXPECT_EQ(difference("m,", "m,"), "");
  EXPECT_EQ(difference("HloModule m", "HloModule n"), "module: names differ: 'm' and 'n'");
  EXPECT_EQ(difference("a=1", "a=2"), "header: values of a differ: '1' and '2'");
  EXPECT_EQ(difference(", a=1", ""), "module m: numbers of header attributes differ: 1 and 0");
  EXPECT_EQ(difference("{0} parameter", " parameter"),
            "instruction p: shapes differ: 'f32[2]{0}' and 'f32[2]'");
  EXPECT_EQ(difference("1, 2", "1, 3"), "instruction k: what stands in the parentheses differs");
  EXPECT_EQ(difference("transpose", "reverse"),
            "instruction t: opcodes differ: 'transpose' and 'reverse'");
  EXPECT_EQ(difference("dimensions={0}", "dimensions={1}"),
            "instruction t: values of attribute dimensions differ");
  EXPECT_EQ(difference("x=1", "y=1"), "instruction t: attributes differ: 'x' and 'y'");
  EXPECT_EQ(difference("ROOT t", "t"), "");
  EXPECT_EQ(difference("ENTRY e", "e"), "");
  EXPECT_EQ(difference("}\nENTRY e", "}, execution_thread=\"t\"\nENTRY e"),
            "computation c: execution threads differ: '' and 't'");
}

}  // namespace
}  // namespace xla_indexing
