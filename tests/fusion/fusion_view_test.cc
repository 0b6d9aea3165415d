#include "xla_indexing/fusion/fusion_view.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class FusionViewTest : public ::testing::Test {
 protected:
  void Parse(absl::string_view text) {
    auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    text_ = module_->ToString();
  }
  // No view changes the module that it is of.
  void TearDown() override {
    if (module_ == nullptr) return;
    EXPECT_EQ(module_->ToString(), text_);
  }

  const HloInstruction* Find(absl::string_view name) const {
    for (const HloComputation* computation : module_->computations()) {
      if (const HloInstruction* found = computation->FindInstruction(name)) return found;
    }
    ADD_FAILURE() << "no instruction " << name;
    return nullptr;
  }
  std::vector<const HloInstruction*> FindAll(std::vector<absl::string_view> names) const {
    std::vector<const HloInstruction*> found;
    for (const absl::string_view name : names) found.push_back(Find(name));
    return found;
  }
  FusionView Between(std::vector<absl::string_view> from, std::vector<absl::string_view> roots) {
    auto view = FusionView::Between(FindAll(from), FindAll(roots));
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }
  FusionView Of(std::vector<absl::string_view> names) {
    auto view = FusionView::OfInstructions(FindAll(names));
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }
  FusionView OfPair(absl::string_view producer, absl::string_view consumer,
                    FusionView::ProducerIs is = FusionView::ProducerIs::kInternal) {
    auto view = FusionView::OfProducerConsumer(*Find(producer), *Find(consumer), is);
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }

  // `output leaf, parameter, leaf: map` of each map.
  std::vector<std::string> Maps(const FusionView& view,
                                Direction direction = Direction::kOutputToInput) {
    std::vector<std::string> texts;
    const auto entries = Entries(view.computation(), direction, &context_);
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : *entries) {
      for (const OperandIndexing& map : entry.indexing) {
        texts.push_back(absl::StrCat(entry.output_leaf, ", ", entry.operand, ", ",
                                     entry.operand_leaf, ": ", map.ToString()));
      }
    }
    return texts;
  }
  static std::vector<std::string> Names(FusionView::Instructions instructions) {
    std::vector<std::string> names;
    for (const HloInstruction* i : instructions) names.emplace_back(i->name());
    return names;
  }
  static std::vector<std::string> NamesOfAll(const FusionView& view) {
    return Names(view.computation().instructions());
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
  std::string text_;
};

// A softmax of rows, and beside it two fusions of which the first has two outputs.
constexpr char kSoftmaxAndFusions[] = R"(
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
  turn_and_negate {
    x = f32[4,8] parameter(0)
    turned = f32[8,4] transpose(x), dimensions={1,0}
    negated = f32[4,8] negate(x)
    ROOT both = (f32[8,4], f32[4,8]) tuple(turned, negated)
  }
  turn_back {
    y = f32[8,4] parameter(0)
    z = f32[4,8] parameter(1)
    back = f32[4,8] transpose(y), dimensions={1,0}
    ROOT sum = f32[4,8] add(back, z)
  }
  ENTRY e {
    p = f32[4,8] parameter(0)
    zero = f32[] constant(0)
    exp = f32[4,8] exponential(p)
    rows = f32[4] reduce(exp, zero), dimensions={1}, to_apply=add
    wide = f32[4,8] broadcast(rows), dimensions={0}
    soft = f32[4,8] divide(exp, wide)
    f = (f32[8,4], f32[4,8]) fusion(soft), kind=kLoop, calls=turn_and_negate
    f0 = f32[8,4] get-tuple-element(f), index=0
    f1 = f32[4,8] get-tuple-element(f), index=1
    g = f32[4,8] fusion(f0, f1), kind=kLoop, calls=turn_back
    again = f32[4,8] fusion(f0, soft), kind=kLoop, calls=turn_back
    ROOT out = (f32[4,8], f32[4,8], f32[4,8]) tuple(g, f1, again)
  })";

constexpr char kDomain[] = ", domain: d0 in [0, 3], d1 in [0, 7]";

TEST_F(FusionViewTest, ChainsCancelThroughTheFusionsOfProducerAndConsumer) {
  Parse(kSoftmaxAndFusions);
  const FusionView view = OfPair("f", "g");
  // The tuple is looked through, and one map is left where two transposes undo each other.
  EXPECT_THAT(NamesOfAll(view), ElementsAre("soft", "turned", "negated", "back", "sum"));
  EXPECT_THAT(Maps(view), ElementsAre(absl::StrCat("0, 0, 0: (d0, d1) -> (d0, d1)", kDomain)));
  EXPECT_THAT(Names(view.operands()), ElementsAre("soft"));
  EXPECT_THAT(Names(view.roots()), ElementsAre("g"));
}

TEST_F(FusionViewTest, AnOutputOfTheProducerIsARootAfterTheConsumer) {
  Parse(kSoftmaxAndFusions);
  const FusionView view = OfPair("soft", "f", FusionView::ProducerIs::kOutput);
  EXPECT_THAT(Names(view.roots()), ElementsAre("f", "soft"));
  EXPECT_THAT(Names(view.operands()), ElementsAre("exp", "wide"));
  EXPECT_EQ(view.computation().root_instruction()->shape().LeafCount(), 3);
  EXPECT_THAT(Maps(view),
              ElementsAre("0, 0, 0: (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]",
                          "0, 1, 0: (d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]",
                          absl::StrCat("1, 0, 0: (d0, d1) -> (d0, d1)", kDomain),
                          absl::StrCat("1, 1, 0: (d0, d1) -> (d0, d1)", kDomain),
                          absl::StrCat("2, 0, 0: (d0, d1) -> (d0, d1)", kDomain),
                          absl::StrCat("2, 1, 0: (d0, d1) -> (d0, d1)", kDomain)));
}

TEST_F(FusionViewTest, CopiesAndOriginalsAreFoundInBothDirections) {
  Parse(kSoftmaxAndFusions);
  const FusionView view = OfPair("f", "again");
  const HloComputation& c = view.computation();
  // The view has no instructions that are not needed: nobody reads the second output of f.
  EXPECT_THAT(NamesOfAll(view), ElementsAre("soft", "turned", "back", "sum"));
  EXPECT_THAT(view.CopiesOf(*Find("negated")), IsEmpty());
  EXPECT_THAT(view.CopiesOf(*Find("f")), IsEmpty());
  EXPECT_THAT(view.CopiesOf(*Find("p")), IsEmpty());
  // Each name of a value leads to the one instruction that has it.
  for (const absl::string_view name : {"turned", "f0", "y"}) {
    EXPECT_THAT(view.CopiesOf(*Find(name)), ElementsAre(c.FindInstruction("turned"))) << name;
  }
  for (const absl::string_view name : {"sum", "again"}) {
    EXPECT_THAT(view.CopiesOf(*Find(name)), ElementsAre(c.FindInstruction("sum"))) << name;
  }
  for (const absl::string_view name : {"soft", "x", "z"}) {
    EXPECT_THAT(view.CopiesOf(*Find(name)), ElementsAre(c.parameter(0))) << name;
    EXPECT_EQ(view.ParameterOf(*Find(name)), 0) << name;
  }
  EXPECT_EQ(view.ParameterOf(*Find("sum")), std::nullopt);
  for (const absl::string_view name : {"soft", "turned", "back", "sum"}) {
    EXPECT_EQ(view.OriginalOf(*c.FindInstruction(name)), Find(name));
  }
  EXPECT_EQ(view.OriginalOf(*Find("soft")), nullptr) << "it is not of the view";
}

TEST_F(FusionViewTest, IndexingBeginsAndEndsAtAnyInstruction) {
  Parse(kSoftmaxAndFusions);
  // The maps from the root to the hero, a sum of rows, come first.
  const FusionView epilogue = Between({"rows"}, {"soft"});
  EXPECT_THAT(Names(epilogue.operands()), ElementsAre("p", "rows"));
  EXPECT_THAT(Maps(epilogue), ElementsAre(absl::StrCat("0, 0, 0: (d0, d1) -> (d0, d1)", kDomain),
                                          absl::StrCat("0, 1, 0: (d0, d1) -> (d0)", kDomain)));
  // Then come those from the hero to the root.
  EXPECT_THAT(Maps(epilogue, Direction::kInputToOutput),
              ElementsAre(absl::StrCat("0, 0, 0: (d0, d1) -> (d0, d1)", kDomain),
                          "0, 1, 0: (d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 7]"));
  // The array that the hero reads, which threads go over, leads to the parameters.
  EXPECT_THAT(Maps(Between({}, {"exp"})),
              ElementsAre(absl::StrCat("0, 0, 0: (d0, d1) -> (d0, d1)", kDomain)));
  // An instruction leads to itself.
  const FusionView itself = Between({"rows"}, {"rows"});
  EXPECT_THAT(NamesOfAll(itself), ElementsAre("rows"));
  EXPECT_THAT(Maps(itself), ElementsAre("0, 0, 0: (d0) -> (d0), domain: d0 in [0, 3]"));
  // A value that no root is computed from is no parameter.
  const FusionView apart = Between({"f"}, {"soft"});
  EXPECT_EQ(apart.ParameterOf(*Find("f")), std::nullopt);
  // A hero in a fusion is found in a view of it.
  const auto whole = FusionView::OfFusion(*Find("again"));
  ASSERT_TRUE(whole.ok()) << whole.status();
  const HloInstruction* hero = whole->CopiesOf(*Find("back"))[0];
  const auto inner = FusionView::Between({hero}, {whole->computation().root_instruction()});
  ASSERT_TRUE(inner.ok()) << inner.status();
  EXPECT_THAT(Names(inner->operands()), ElementsAre("back", "soft"));
  EXPECT_EQ(inner->ParameterOf(*hero), 0);
}

TEST_F(FusionViewTest, RootsOfASetAreWhatIsUsedOutside) {
  Parse(kSoftmaxAndFusions);
  EXPECT_THAT(Names(Of({"exp", "rows", "wide", "soft"}).roots()), ElementsAre("soft"));
  // exp is read by soft too.
  EXPECT_THAT(Names(Of({"rows", "exp"}).roots()), ElementsAre("exp", "rows"));
  // f1 is read outside, so that f is a root, both of its outputs.
  const FusionView view = Of({"g", "f"});
  EXPECT_THAT(Names(view.roots()), ElementsAre("f", "g"));
  EXPECT_EQ(view.computation().root_instruction()->shape().LeafCount(), 3);
  // f0 is not, and is not asked about.
  EXPECT_THAT(Names(Of({"again", "f0", "f1", "f", "g"}).roots()), ElementsAre("f1", "g", "again"));
  // The root of a computation is used by whoever runs it. Parameters may be given.
  EXPECT_THAT(Names(Of({"sum", "back", "z", "y"}).roots()), ElementsAre("sum"));
  // Constants are in the view where they are in the set.
  EXPECT_THAT(Names(Of({"rows"}).operands()), ElementsAre("exp", "zero"));
  EXPECT_THAT(Names(Of({"rows", "zero"}).operands()), ElementsAre("exp"));
}

TEST_F(FusionViewTest, AllInstructionsAreTheComputation) {
  Parse(kSoftmaxAndFusions);
  const auto view = FusionView::OfComputation(*module_->entry_computation());
  ASSERT_TRUE(view.ok()) << view.status();
  const auto instructions = module_->entry_computation()->instructions();
  const auto of_all = FusionView::OfInstructions(instructions);
  ASSERT_TRUE(of_all.ok()) << of_all.status();
  EXPECT_EQ(view->module().ToString(), of_all->module().ToString());
  const auto entries = Entries(*module_->entry_computation(), Direction::kOutputToInput, &context_);
  const auto of_view = Entries(view->computation(), Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok() && of_view.ok());
  ASSERT_EQ(entries->size(), of_view->size());
  for (size_t i = 0; i < entries->size(); ++i) {
    EXPECT_TRUE((*entries)[i].indexing == (*of_view)[i].indexing);
  }
  // A combiner is copied with what calls it.
  EXPECT_NE(view->module().FindComputation("add"), nullptr);
  EXPECT_EQ(view->module().computations().size(), 2u);
}

TEST_F(FusionViewTest, AComputationThatIsCalledTwiceHasTwoCopies) {
  Parse(R"(
    twice { a = f32[4] parameter(0) two = f32[4] add(a, a) ROOT n = f32[4] negate(two) }
    ENTRY e {
      p = f32[4] parameter(0)
      once = f32[4] call(p), to_apply=twice
      ROOT again = f32[4] fusion(once), kind=kLoop, calls=twice
    })");
  const FusionView view = OfPair("once", "again");
  EXPECT_THAT(NamesOfAll(view), ElementsAre("p", "two", "n", "two.1", "n.1"));
  EXPECT_THAT(Names(view.CopiesOf(*Find("two"))), ElementsAre("two", "two.1"));
  EXPECT_THAT(Names(view.CopiesOf(*Find("a"))), ElementsAre("p", "n"));
  EXPECT_THAT(Names(view.CopiesOf(*Find("once"))), ElementsAre("n"));
  EXPECT_EQ(view.OriginalOf(*view.computation().FindInstruction("two.1")), Find("two"));
}

TEST_F(FusionViewTest, AnArrayOfAnotherProducerIsOneParameterHoweverItIsRead) {
  Parse(R"(
    ENTRY e {
      p = (f32[4], (f32[4], s32[])) parameter(0)
      q = f32[4] parameter(1)
      in = (f32[4], s32[]) get-tuple-element(p), index=1
      a = f32[4] get-tuple-element(in), index=0
      in2 = (f32[4], s32[]) get-tuple-element(p), index=1
      a2 = f32[4] get-tuple-element(in2), index=0
      t = (f32[4], f32[4]) tuple(q, a2)
      a3 = f32[4] get-tuple-element(t), index=1
      b = f32[4] get-tuple-element(p), index=0
      q2 = f32[4] get-tuple-element(t), index=0
      s = f32[4] add(q2, a)
      u = f32[4] add(a2, b)
      v = f32[4] add(q, a3)
      w = f32[4] add(s, u)
      ROOT r = f32[4] add(w, v)
    })");
  const FusionView view = Of({"s", "u", "v", "w", "r"});
  EXPECT_THAT(Names(view.operands()), ElementsAre("q2", "a", "b"));
  for (const absl::string_view name : {"a", "a2", "a3"}) {
    EXPECT_EQ(view.ParameterOf(*Find(name)), 1) << name;
  }
  EXPECT_EQ(view.ParameterOf(*Find("q")), 0);
  // A tuple that is outside is a parameter as it is.
  const FusionView with_tuple = Of({"a"});
  EXPECT_THAT(Names(with_tuple.operands()), ElementsAre("in"));
  EXPECT_THAT(Maps(with_tuple), ElementsAre("0, 0, 0: (d0) -> (d0), domain: d0 in [0, 3]"));
}

TEST_F(FusionViewTest, ParametersAreInTheOrderOfTheirFirstUse) {
  Parse(R"(
    f { x = f32[4] parameter(0) y = f32[4] parameter(1) ROOT d = f32[4] subtract(y, x) }
    ENTRY e {
      p = f32[4] parameter(0)
      q = f32[4] parameter(1)
      r = f32[4] parameter(2)
      fused = f32[4] fusion(p, q), kind=kLoop, calls=f
      s = f32[4] add(r, fused)
      ROOT t = f32[4] add(s, p)
    })");
  EXPECT_THAT(Names(Of({"fused", "s", "t"}).operands()), ElementsAre("q", "p", "r"));
  // A root that is read from outside comes last.
  const auto view = FusionView::Create(
      FindAll({"r", "fused"}), [&](const HloInstruction& i) { return i.name() == "fused"; });
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(Names(view->operands()), ElementsAre("q", "p", "r"));
  EXPECT_EQ(Maps(*view)[0], "0, 2, 0: (d0) -> (d0), domain: d0 in [0, 3]");
}

TEST_F(FusionViewTest, AFusionThatTakesItsOperandInAnotherLayoutCopiesIt) {
  // The bitcast reads elements in the order in which they lie in memory in the fusion: column by
  // column, so that its element 3 * j + i is (i, j). In the layout of p it would be row by row.
  Parse(R"(
    f { x = f32[3,2]{0,1} parameter(0) ROOT b = f32[6]{0} bitcast(x) }
    ENTRY e {
      p = f32[3,2]{1,0} parameter(0)
      ROOT r = f32[6]{0} fusion(p), kind=kLoop, calls=f
    })");
  const auto view = FusionView::OfFusion(*Find("r"));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_THAT(Maps(*view),
              ElementsAre("0, 0, 0: (d0) -> (d0 mod 3, d0 floordiv 3), domain: d0 in [0, 5]"));
  const auto entries = Entries(*Find("r"), Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(absl::StrCat("0, 0, 0: ", (*entries)[0].indexing.begin()->ToString()), Maps(*view)[0]);
}

TEST_F(FusionViewTest, LoopsBranchesAndDevicesComeWithWhatTheyCall) {
  Parse(R"(
    HloModule m, replica_count=2
    add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
    twice { c = s32[4] parameter(0) ROOT d = s32[4] add(c, c) }
    body { x = s32[4] parameter(0) ROOT y = s32[4] call(x), to_apply=twice }
    condition { z = s32[4] parameter(0) ROOT never = pred[] constant(false) }
    ENTRY fusion_view {
      p = s32[4] parameter(0)
      which = s32[] parameter(1)
      w = s32[4] while(p), condition=condition, body=body
      c0 = s32[4] conditional(which, w, p), branch_computations={twice, body}
      ar = s32[4] all-reduce(c0), replica_groups={{0,1}}, to_apply=add
      n = s32[4] negate(ar), control-predecessors={w}
      ROOT r = s32[4] abs(n)
    })");
  const FusionView view = Of({"w", "c0", "ar", "n", "r"});
  EXPECT_EQ(view.module().replica_count(), 2);
  EXPECT_EQ(view.module().computations().size(), 5u);
  const auto of_view = Entries(view.computation(), Direction::kOutputToInput, &context_);
  const auto entries = Entries(*module_->entry_computation(), Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok() && of_view.ok()) << entries.status() << of_view.status();
  ASSERT_EQ(entries->size(), 2u);
  ASSERT_EQ(of_view->size(), 2u);
  // The selector of the branch is met after the state of the loop, as in the original.
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ((*entries)[i].indexing.size(), (*of_view)[i].indexing.size());
    EXPECT_EQ((*entries)[i].indexing.begin()->ToString(),
              (*of_view)[i].indexing.begin()->ToString());
  }
  EXPECT_THAT(view.computation().ToString(), Not(HasSubstr("control-predecessors")));
}

TEST_F(FusionViewTest, AViewOutlivesTheModuleThatItIsOf) {
  auto module = ParseAndVerifyModule(kSoftmaxAndFusions);
  ASSERT_TRUE(module.ok());
  auto view = FusionView::OfComputation(*(*module)->entry_computation());
  ASSERT_TRUE(view.ok());
  const std::string text = view->module().ToString();
  module->reset();
  const FusionView moved = *std::move(view);
  EXPECT_EQ(moved.module().ToString(), text);
  EXPECT_TRUE(CheckBuiltModule(moved.module()).ok());
  // p is read in its place and, for the sums, by rows, by each of three outputs.
  EXPECT_EQ(Maps(moved).size(), 6u);
}

TEST_F(FusionViewTest, HugeAndEmptyArraysAreOrdinary) {
  Parse(R"(
    ENTRY e {
      p = f32[9223372036854775807] parameter(0)
      empty = f32[0,5] parameter(1)
      n = f32[9223372036854775807] negate(p)
      v = f32[9223372036854775807] reverse(n), dimensions={0}
      t = f32[5,0] transpose(empty), dimensions={1,0}
      i = s32[1] iota(), iota_dimension=0
      ROOT r = (f32[9223372036854775807], f32[5,0], s32[1]) tuple(v, t, i)
    })");
  EXPECT_THAT(Maps(OfPair("n", "v")),
              ElementsAre("0, 0, 0: (d0) -> (-d0 + 9223372036854775806), domain: d0 in [0, "
                          "9223372036854775806]"));
  EXPECT_THAT(Maps(Of({"n", "v", "t", "i", "r"})).size(), 1);
  EXPECT_THAT(NamesOfAll(Of({"i"})), ElementsAre("i"));
}

TEST_F(FusionViewTest, CallsThatGrowPastABoundStayCalls) {
  // Each computation calls the one before twice: 2^40 instructions in all.
  std::string text = "c0 { x0 = f32[4] parameter(0) ROOT y0 = f32[4] negate(x0) }\n";
  for (int i = 1; i <= 40; ++i) {
    absl::StrAppend(&text, "c", i, " { x", i, " = f32[4] parameter(0) a", i, " = f32[4] call(x", i,
                    "), to_apply=c", i - 1, " ROOT b", i, " = f32[4] call(a", i, "), to_apply=c",
                    i - 1, " }\n");
  }
  absl::StrAppend(&text,
                  "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=c40 }");
  Parse(text);
  const auto view = FusionView::OfFusion(*Find("r"));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_LE(view->computation().instruction_count(), FusionView::kMaxInlined);
  EXPECT_GT(view->computation().instruction_count(), FusionView::kMaxInlined / 8);
  EXPECT_GT(view->module().computations().size(), 1u);
  // In a question with few steps left fewer calls are replaced: four of them have 3 instructions.
  const QuestionBudget budget(14);
  const auto small = FusionView::OfFusion(*Find("r"));
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_EQ(small->computation().instruction_count(), 6);
}

TEST_F(FusionViewTest, CallsThatNestDeeperThanABoundStayCalls) {
  std::string text = "c0 { x0 = f32[4] parameter(0) ROOT y0 = f32[4] negate(x0) }\n";
  for (int i = 1; i <= 2000; ++i) {
    absl::StrAppend(&text, "c", i, " { x", i, " = f32[4] parameter(0) ROOT y", i,
                    " = f32[4] call(x", i, "), to_apply=c", i - 1, " }\n");
  }
  absl::StrAppend(&text,
                  "ENTRY e { p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=c2000 }");
  Parse(text);
  const auto view = FusionView::OfFusion(*Find("r"));
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->computation().root_instruction()->opcode(), HloOpcode::kCall);
}

TEST_F(FusionViewTest, SaysWhatIsWrong) {
  Parse(kSoftmaxAndFusions);
  const auto expect = [](const absl::StatusOr<FusionView>& view, absl::string_view message) {
    EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(view.status().message(), absl::StrCat("fusion view: ", message));
  };
  expect(FusionView::OfInstructions({}), "there are no instructions to compute");
  expect(FusionView::Between({Find("p")}, {}), "there are no instructions to compute");
  expect(FusionView::OfInstructions({nullptr}), "an instruction is null");
  expect(FusionView::Between({nullptr}, {Find("soft")}), "an instruction is null");
  expect(FusionView::Between({Find("x")}, {Find("soft")}),
         "instruction 'x' is in computation 'turn_and_negate', and 'soft' in 'e'");
  expect(FusionView::OfInstructions({Find("soft"), Find("back")}),
         "instruction 'back' is in computation 'turn_back', and 'soft' in 'e'");
  expect(FusionView::OfInstructions({Find("p")}), "there are no instructions but parameters");
  expect(FusionView::OfInstructions({Find("exp"), Find("soft")}),
         "'soft' reads 'wide', which is outside and computed from 'exp': a fusion of both would "
         "wait for itself");
  expect(FusionView::OfProducerConsumer(*Find("exp"), *Find("soft")),
         "'soft' reads 'wide', which is outside and computed from 'exp': a fusion of both would "
         "wait for itself");
  expect(FusionView::OfProducerConsumer(*Find("exp"), *Find("f")),
         "'exp' is not computed for 'f' to read");
  expect(FusionView::OfProducerConsumer(*Find("soft"), *Find("soft")),
         "'soft' is not computed for 'soft' to read");
  expect(FusionView::OfProducerConsumer(*Find("p"), *Find("exp")),
         "'p' is not computed for 'exp' to read");
  expect(FusionView::OfProducerConsumer(*Find("turned"), *Find("g")),
         "instruction 'g' is in computation 'e', and 'turned' in 'turn_and_negate'");
  HloModule empty("m");
  expect(FusionView::OfComputation(*empty.AddComputation("c")), "computation 'c' has no root");
}

TEST_F(FusionViewTest, SaysWhatDoesNotVerify) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const HloInstruction* p = main->AddParameter(0, "p", Shape::Array(ElementType::kF32, {4}));
  const HloInstruction* wrong =
      main->AddInstruction(HloOpcode::kNegate, "wrong", Shape::Array(ElementType::kF32, {5}), {p});
  const auto view = FusionView::OfFusion(*wrong);
  EXPECT_EQ(view.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(view.status().message()),
              HasSubstr("instruction 'wrong' (negate) has shape"));
}

}  // namespace
}  // namespace xla_indexing
