#include "xla_indexing/fusion/hlo_indexer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/ops/internal/instruction_indexing.h"
#include "xla_indexing/ops/internal/instruction_kind.h"
#include "xla_indexing/ops/internal/operation_maps.h"

namespace xla_indexing {
namespace {

bool AreEqual(const InstructionIndexing& a, const InstructionIndexing& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].output_leaf != b[i].output_leaf || a[i].operand != b[i].operand ||
        a[i].operand_leaf != b[i].operand_leaf || a[i].indexing != b[i].indexing) {
      return false;
    }
  }
  return true;
}

// What an instruction has for itself, without anything that was found before.
InstructionIndexing Own(const HloInstruction& instruction, Direction direction,
                        mlir::MLIRContext* context, const FusionOptions& options) {
  const auto entries =
      internal::HasKind(instruction.opcode())
          ? internal::ComputeIndexing(instruction, direction, context, options.indexing)
          : Entries(instruction, direction, context, options);
  EXPECT_TRUE(entries.ok()) << entries.status();
  return entries.ok() ? *entries : InstructionIndexing();
}

// The number of instructions with operands that were given what another was given before, to the
// input. All have the maps that each has for itself, as they are defined and simplified.
int64_t CheckModule(const HloModule& module, const FusionOptions& options = {}) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context, options);
  // Is asked for simplified maps first.
  HloIndexer simplifying(&context, options);
  // The first question is answered without regard to others.
  for (HloIndexer* each : {&indexer, &simplifying}) {
    const HloInstruction* root = module.entry_computation()->root_instruction();
    EXPECT_TRUE(each->Index(*root, Direction::kInputToOutput).ok());
  }
  std::set<SharedIndexing> given;
  int64_t shared = 0;
  for (const HloInstruction* instruction : InstructionsOf(module)) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const auto simplified = simplifying.IndexSimplified(*instruction, direction);
      const auto entries = indexer.Index(*instruction, direction);
      const auto simplified_later = indexer.IndexSimplified(*instruction, direction);
      EXPECT_TRUE(entries.ok() && simplified.ok() && simplified_later.ok());
      if (!entries.ok() || !simplified.ok() || !simplified_later.ok()) return shared;
      // What is found and simplified in one question may take no more than the indexer's question.
      const QuestionBudget question;
      InstructionIndexing own = Own(*instruction, direction, &context, options);
      EXPECT_TRUE(AreEqual(**entries, own)) << instruction->ToString();
      for (IndexingEntry& entry : own) entry.indexing.Simplify();
      std::erase_if(own, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
      EXPECT_TRUE(AreEqual(**simplified, own)) << instruction->ToString();
      EXPECT_TRUE(AreEqual(**simplified_later, own)) << instruction->ToString();
      if (instruction->operand_count() == 0 || direction == Direction::kInputToOutput) continue;
      shared += given.insert(*entries).second ? 0 : 1;
    }
  }
  return shared;
}

std::unique_ptr<HloModule> Parse(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module);
  return *std::move(module);
}

// Each differs from the one before in one thing that its maps depend on.
TEST(HloIndexerTest, InstructionsThatDifferInOneAttributeShareNoMaps) {
  const auto module = Parse(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    ENTRY e {
      x = f32[8,8] parameter(0)
      c = f32[] constant(0)
      s0 = f32[4,8] slice(x), slice={[0:4], [0:8]}
      s1 = f32[4,8] slice(x), slice={[4:8], [0:8]}
      s2 = f32[4,8] slice(x), slice={[0:8:2], [0:8]}
      t0 = f32[8,8] transpose(x), dimensions={0,1}
      t1 = f32[8,8] transpose(x), dimensions={1,0}
      r0 = f32[8] reduce(x, c), dimensions={0}, to_apply=add
      r1 = f32[8] reduce(x, c), dimensions={1}, to_apply=add
      b0 = f32[8,8] broadcast(r0), dimensions={0}
      b1 = f32[8,8] broadcast(r1), dimensions={1}
      v0 = f32[8,8] reverse(x), dimensions={0}
      v1 = f32[8,8] reverse(x), dimensions={1}
      p0 = f32[9,8] pad(x, c), padding=1_0x0_0
      p1 = f32[9,8] pad(x, c), padding=0_1x0_0
      d0 = f32[8,8] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
      d1 = f32[8,8] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}
      k0 = f32[16,8] concatenate(x, x), dimensions={0}
      tu = (f32[8,8], f32[8,8]) tuple(x, v0)
      g0 = f32[8,8] get-tuple-element(tu), index=0
      g1 = f32[8,8] get-tuple-element(tu), index=1
      i = s32[] constant(0)
      j = s32[] constant(4)
      z0 = f32[4,8] dynamic-slice(x, i, i), dynamic_slice_sizes={4,8}
      z1 = f32[4,8] dynamic-slice(x, j, i), dynamic_slice_sizes={4,8}
      ROOT n = f32[8,8] add(g0, g1)
    })");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CheckModule(*module), 0);
}

TEST(HloIndexerTest, InstructionsOfOneKindShareTheirMaps) {
  const auto module = Parse(R"(
    ENTRY e {
      x = f32[8,8] parameter(0)
      a = f32[8,8] add(x, x), metadata={op_name="a"}
      m = f32[8,8] add(a, x), metadata={op_name="m"}
      t = f32[8,8] transpose(m), dimensions={1,0}
      ROOT u = f32[8,8] transpose(t), dimensions={1,0}, metadata={op_name="u"}
    })");
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(CheckModule(*module), 2);
}

// A computation is called by others, as a branch, and as the body of a loop.
constexpr char kCallsOfCalls[] = R"(
    c0 { s = (s32[], f32[4,4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      x = f32[4,4] get-tuple-element(s), index=1
      t = f32[4,4] transpose(x), dimensions={1,0}
      ROOT r = (s32[], f32[4,4]) tuple(i, t) }
    c1 { s = (s32[], f32[4,4]) parameter(0)
      a = (s32[], f32[4,4]) call(s), to_apply=c0
      ROOT b = (s32[], f32[4,4]) call(a), to_apply=c0 }
    below { s = (s32[], f32[4,4]) parameter(0)
      i = s32[] get-tuple-element(s), index=0
      n = s32[] constant(3)
      ROOT l = pred[] compare(i, n), direction=LT }
    c2 { s = (s32[], f32[4,4]) parameter(0)
      a = (s32[], f32[4,4]) call(s), to_apply=c1
      ROOT b = (s32[], f32[4,4]) while(a), condition=below, body=c0 }
    ENTRY e {
      p = (s32[], f32[4,4]) parameter(0)
      k = s32[] parameter(1)
      a = (s32[], f32[4,4]) call(p), to_apply=c2
      b = (s32[], f32[4,4]) conditional(k, a, p, p), branch_computations={c0, c1, c2}
      w = (s32[], f32[4,4]) while(b), condition=below, body=c1
      f = (s32[], f32[4,4]) fusion(w), kind=kLoop, calls=c1
      ROOT c = (s32[], f32[4,4]) call(f), to_apply=c2
    })";

// Fusions of computations that are the same but for names, and of others that differ from the first
// in one thing.
constexpr char kFusionsOfOneKind[] = R"(
    f0 { p = f32[8,4]{1,0} parameter(0) c = f32[] constant(1) b = f32[8,4]{1,0} broadcast(c), dimensions={}
      a = f32[8,4]{1,0} add(p, b) ROOT t = f32[4,8]{1,0} transpose(a), dimensions={1,0} }
    f1 { x.1 = f32[8,4]{1,0} parameter(0) x.2 = f32[] constant(1) x.3 = f32[8,4]{1,0} broadcast(x.2), dimensions={}
      x.4 = f32[8,4]{1,0} add(x.1, x.3), metadata={op_name="plus"}
      ROOT x.5 = f32[4,8]{1,0} transpose(x.4), dimensions={1,0} }
    f2 { p = f32[8,4]{0,1} parameter(0) ROOT r = f32[4,8]{1,0} bitcast(p) }
    f3 { p = f32[8,4]{1,0} parameter(0) ROOT r = f32[4,8]{1,0} bitcast(p) }
    f4 { q = f32[8,4]{1,0} parameter(0) ROOT s = f32[4,8]{1,0} bitcast(q) }
    f5 { p = f32[8,4]{1,0} parameter(0) q = f32[8,4]{1,0} parameter(1)
      ROOT r = f32[4,8]{1,0} transpose(p), dimensions={1,0} }
    f6 { p = f32[8,4]{1,0} parameter(0) q = f32[8,4]{1,0} parameter(1)
      ROOT r = f32[4,8]{1,0} transpose(q), dimensions={1,0} }
    f7 { p = f32[8,4]{1,0} parameter(0) n = f32[8,4]{1,0} negate(p)
      ROOT s = f32[4,4]{1,0} slice(n), slice={[0:4], [0:4]} }
    f8 { p = f32[8,4]{1,0} parameter(0) n = f32[8,4]{1,0} negate(p)
      ROOT s = f32[4,4]{1,0} slice(n), slice={[4:8], [0:4]} }
    g0 { p = f32[8,4]{1,0} parameter(0) ROOT f = f32[4,8]{1,0} fusion(p), kind=kLoop, calls=f0 }
    g1 { p = f32[8,4]{1,0} parameter(0) ROOT f = f32[4,8]{1,0} fusion(p), kind=kLoop, calls=f1 }
    g2 { p = f32[8,4]{1,0} parameter(0) ROOT f = f32[4,8]{1,0} fusion(p), kind=kLoop, calls=f4 }
    ENTRY e {
      x = f32[8,4]{1,0} parameter(0)
      y = f32[8,4]{0,1} parameter(1)
      k0 = f32[4,8]{1,0} fusion(x), kind=kLoop, calls=f0
      k1 = f32[4,8]{1,0} fusion(x), kind=kLoop, calls=f1, metadata={op_name="again"}
      k2 = f32[4,8]{1,0} fusion(y), kind=kLoop, calls=f2
      k3 = f32[4,8]{1,0} fusion(x), kind=kLoop, calls=f3
      k4 = f32[4,8]{1,0} fusion(x), kind=kInput, calls=f4
      k5 = f32[4,8]{1,0} fusion(x, x), kind=kLoop, calls=f5
      k6 = f32[4,8]{1,0} fusion(x, x), kind=kLoop, calls=f6
      k7 = f32[4,4]{1,0} fusion(x), kind=kLoop, calls=f7
      k8 = f32[4,4]{1,0} fusion(x), kind=kLoop, calls=f8
      c0 = f32[4,8]{1,0} call(x), to_apply=g0
      c1 = f32[4,8]{1,0} call(x), to_apply=g1
      c2 = f32[4,8]{1,0} call(x), to_apply=g2
      ROOT r = f32[4,8]{1,0} add(k0, k1)
    })";

TEST(HloIndexerTest, FusionsAndCallsOfComputationsThatSayTheSameShareTheirMaps) {
  const auto module = Parse(kFusionsOfOneKind);
  ASSERT_NE(module, nullptr);
  CheckModule(*module);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const auto entries = [&](const char* name, Direction direction) {
    return *indexer.Index(*module->entry_computation()->FindInstruction(name), direction);
  };
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    EXPECT_TRUE(indexer.Index(*module->entry_computation(), direction).ok());
    EXPECT_EQ(entries("k0", direction), entries("k1", direction));
    EXPECT_NE(entries("k0", direction), entries("k3", direction)) << "a bitcast";
    EXPECT_NE(entries("k2", direction), entries("k3", direction)) << "another layout";
    EXPECT_EQ(entries("k3", direction), entries("k4", direction));
    EXPECT_NE(entries("k5", direction), entries("k6", direction)) << "another operand";
    EXPECT_NE(entries("k7", direction), entries("k8", direction)) << "another slice";
    EXPECT_EQ(entries("c0", direction), entries("c1", direction));
    EXPECT_NE(entries("c0", direction), entries("c2", direction)) << "calls something else";
  }
}

// Loops and calls over computations of which some say the same: what they read depends on offsets,
// numbers of iterations and constants, which are named in bindings and reasons.
std::string RandomCallsOfEqualComputations(uint64_t seed) {
  Random random(seed);
  std::string text;
  std::string entry = R"(
    ENTRY e {
      x = f32[12,8] parameter(0)
      i = s32[] parameter(1)
      j = s32[] parameter(2)
      two = s32[] constant(2)
      n = s32[] parameter(3)
      s = (s32[], s32[], f32[12,8]) tuple(two, i, x)
  )";
  const std::vector<std::string> scalars = {"i", "j", "two"};
  for (int c = 0; c < 12; ++c) {
    // Names differ from computation to computation, numbers in few ways.
    const std::string v = absl::StrCat("v", seed % 7, ".", c, ".");
    const int64_t number = random.Between(1, 2);
    const std::string op = random.OneIn(2) ? "add" : "multiply";
    // A loop, or one of three functions.
    const int64_t form = random.OneIn(6) ? 3 : random.Between(0, 2);
    if (form < 3) {
      absl::StrAppend(&text, "f", c, " {\n ", v, "p = f32[12,8] parameter(0)\n ", v,
                      "i = s32[] parameter(1)\n ", v, "c = s32[] constant(", number, ")\n ", v,
                      "s = s32[] ", op, "(", v, "i, ", v, "c)\n ", v, "z = s32[] constant(0)\n ",
                      form == 1 ? absl::StrCat("ROOT ") : "", v, "d = f32[3,8] dynamic-slice(", v,
                      "p, ", v, "s, ", v, "z), dynamic_slice_sizes={3,8}\n");
      if (form == 0) {
        absl::StrAppend(&text, " ROOT ", v, "r = f32[3,8] reverse(", v, "d), dimensions={0}\n");
      }
      if (form == 2) {
        absl::StrAppend(&text, " ", v, "q = f32[3,8] dynamic-slice(", v, "p, ", v, "i, ", v,
                        "z), dynamic_slice_sizes={3,8}\n ROOT ", v, "r = f32[3,8] add(", v, "d, ",
                        v, "q)\n");
      }
      absl::StrAppend(&text, "}\n");
      absl::StrAppend(&entry, "  n", c, " = f32[3,8] ", random.OneIn(2) ? "call(" : "fusion(",
                      "x, ", random.Pick(scalars), ")");
      const bool is_call = absl::StrContains(entry.substr(entry.rfind(" = ")), "call(");
      absl::StrAppend(&entry, is_call ? ", to_apply=f" : ", kind=kLoop, calls=f", c, "\n");
      continue;
    }
    const std::string state = "(s32[], s32[], f32[12,8])";
    absl::StrAppend(
        &text, "b", c, " {\n ", v, "s = ", state, " parameter(0)\n ", v,
        "k = s32[] get-tuple-element(", v, "s), index=0\n ", v, "i = s32[] get-tuple-element(", v,
        "s), index=1\n ", v, "x = f32[12,8] get-tuple-element(", v, "s), index=2\n ", v,
        "one = s32[] constant(", number, ")\n ", v, "z = s32[] constant(0)\n ", v, "n = s32[] add(",
        v, "k, ", v, "one)\n ", v, "d = f32[1,8] dynamic-slice(", v, "x, ", v,
        op == "add" ? "i, " : "k, ", v, "z), dynamic_slice_sizes={1,8}\n ", v,
        "u = f32[12,8] dynamic-update-slice(", v, "x, ", v, "d, ", v, "k, ", v, "z)\n ROOT ", v,
        "t = ", state, " tuple(", v, "n, ", v, "i, ", v, "u)\n}\nc", c, " {\n ", v, "s = ", state,
        " parameter(0)\n ", v, "k = s32[] get-tuple-element(", v, "s), index=0\n ", v,
        "i = s32[] get-tuple-element(", v, "s), index=1\n ", v, "n = s32[] constant(5)\n ROOT ", v,
        "l = pred[] compare(", v, "k, ", v, random.OneIn(3) ? "i" : "n", "), direction=LT\n}\n");
    absl::StrAppend(&entry, "  n", c, " = ", state, " while(s), condition=c", c, ", body=b", c,
                    "\n");
  }
  return absl::StrCat(text, entry, "  ROOT root = f32[12,8] negate(x)\n}\n");
}

TEST(HloIndexerTest, ComputationsThatSayTheSameHaveTheMapsThatEachHasForItself) {
  for (uint64_t seed = 0; seed < Cases(20); ++seed) {
    const auto module = Parse(RandomCallsOfEqualComputations(seed));
    ASSERT_NE(module, nullptr);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    for (const bool fold : {true, false}) {
      FusionOptions options;
      options.indexing.fold_runtime_variables = fold;
      // Where calls are walked by themselves, what they call is kept.
      if (seed % 2 == 1) options.max_called_instructions = 0;
      CheckModule(*module, options);
      HloIndexer indexer(&context, options);
      for (const HloComputation* computation : module->computations()) {
        for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
          const auto entries = indexer.Index(*computation, direction);
          const auto own = Entries(*computation, direction, &context, options);
          ASSERT_TRUE(entries.ok() && own.ok());
          EXPECT_TRUE(AreEqual(**entries, *own)) << computation->ToString();
        }
      }
    }
  }
}

TEST(HloIndexerTest, KeptMapsOfCalledComputationsChangeNoAnswer) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  CheckModule(*module);
}

TEST(HloIndexerTest, AnswersCutShortByTheBudgetAreNotKept) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  int weaker = 0;
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    const auto own = Entries(*instruction, Direction::kOutputToInput, &context);
    ASSERT_TRUE(own.ok());
    for (int64_t steps = 0; steps < 40; ++steps) {
      const QuestionBudget budget(steps);
      const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
      ASSERT_TRUE(entries.ok());
      weaker += AreEqual(**entries, *own) ? 0 : 1;
    }
    const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
    ASSERT_TRUE(entries.ok());
    EXPECT_TRUE(AreEqual(**entries, *own)) << instruction->ToString();
  }
  EXPECT_GT(weaker, 20);
}

// Whatever the budget is, and so wherever it cuts a question, with all that was kept before it.
TEST(HloIndexerTest, EarlierQuestionsChangeNoAnswerThatTheBudgetCuts) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (int64_t steps = 0; steps < 3000; steps += 1 + steps / 20) {
    HloIndexer indexer(&context);
    for (const HloInstruction* instruction : InstructionsOf(*module)) {
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        ASSERT_TRUE(indexer.Index(*instruction, direction).ok());
        const auto cut = [&](const auto& ask) {
          const QuestionBudget budget(steps);
          return ask();
        };
        const auto entries = cut([&] { return indexer.Index(*instruction, direction); });
        const auto own = cut([&] { return Entries(*instruction, direction, &context); });
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << steps << " " << instruction->ToString();
      }
    }
  }
}

// What one leaf of an instruction needed, another one has, even where the budget that they share has
// too few steps to make it again.
TEST(HloIndexerTest, QuestionsThatShareABudgetMakeThingsOnce) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const HloInstruction& root = *module->entry_computation()->root_instruction();
  const OperandLeaf last{0, root.shape().LeafCount() - 1};
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    HloIndexer alone(&context);
    const QuestionBudget enough(int64_t{1} << 40);
    const int64_t before = QuestionBudget::Left();
    const auto own = alone.Index(root, direction, last);
    ASSERT_TRUE(own.ok());
    const int64_t steps = before - QuestionBudget::Left();
    HloIndexer indexer(&context);
    ASSERT_GT(steps, 100);
    ASSERT_TRUE(QuestionBudget::Spend(QuestionBudget::Left() - steps - steps / 4));
    for (int round = 0; round < 3; ++round) {
      const auto entries = indexer.Index(root, direction, last);
      ASSERT_TRUE(entries.ok());
      EXPECT_TRUE(AreEqual(**entries, **own));
      EXPECT_FALSE(QuestionBudget::IsSpent());
    }
  }
}

TEST(HloIndexerTest, TheEntriesOfLeavesAreThoseOfTheInstruction) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    InstructionIndexing to_input;
    InstructionIndexing to_output;
    for (int64_t leaf = 0; leaf < instruction->shape().LeafCount(); ++leaf) {
      const auto entries =
          indexer.Index(*instruction, Direction::kOutputToInput, OperandLeaf{0, leaf});
      ASSERT_TRUE(entries.ok());
      for (const IndexingEntry& entry : **entries) to_input.push_back(entry);
    }
    for (const OperandLeaf& leaf : UnreadOperandLeaves(instruction->operands(), {})) {
      const auto entries = indexer.Index(*instruction, Direction::kInputToOutput, leaf);
      ASSERT_TRUE(entries.ok());
      for (const IndexingEntry& entry : **entries) to_output.push_back(entry);
    }
    SortEntries(&to_output);
    EXPECT_TRUE(AreEqual(to_input, **indexer.Index(*instruction, Direction::kOutputToInput)));
    EXPECT_TRUE(AreEqual(to_output, **indexer.Index(*instruction, Direction::kInputToOutput)));
    EXPECT_LE(static_cast<int64_t>(to_input.size()), internal::MostEntries(*instruction));
  }
}

TEST(HloIndexerTest, EarlierQuestionsChangeNoAnswerAboutAComputation) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (int round = 0; round < 2; ++round) {
    for (const HloComputation* computation : module->computations()) {
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        const auto entries = indexer.Index(*computation, direction);
        const auto own = Entries(*computation, direction, &context);
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << computation->ToString();
      }
    }
  }
}

TEST(HloIndexerTest, LeavesThatAreNotThereAreRefused) {
  const auto module = Parse(kCallsOfCalls);
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const HloComputation& entry = *module->entry_computation();
  const int64_t parameters = static_cast<int64_t>(entry.parameters().size());
  for (const IndexingTarget target :
       {IndexingTarget(entry), IndexingTarget(*entry.root_instruction())}) {
    for (const OperandLeaf leaf : {OperandLeaf{0, 1000}, OperandLeaf{0, -1}, OperandLeaf{1, 0}}) {
      EXPECT_EQ(indexer.Index(target, Direction::kOutputToInput, leaf).status().code(),
                absl::StatusCode::kInvalidArgument)
          << leaf.operand << " " << leaf.operand_leaf;
    }
    for (const OperandLeaf leaf :
         {OperandLeaf{0, 1000}, OperandLeaf{0, -1}, OperandLeaf{-1, 0}, OperandLeaf{1000, 0}}) {
      EXPECT_EQ(indexer.Index(target, Direction::kInputToOutput, leaf).status().code(),
                absl::StatusCode::kInvalidArgument)
          << leaf.operand << " " << leaf.operand_leaf;
    }
  }
  EXPECT_TRUE(indexer.Index(entry, Direction::kInputToOutput, OperandLeaf{parameters - 1, 0}).ok());
}

// Values from which offsets are read: parameters, numbers that the module fixes in several ways, and
// what is made of parameters.
constexpr char kOffsets[] = R"(
  x = f32[12,8] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  pair = (s32[], s32[]) parameter(3)
  rows = s32[5,1] parameter(4)
  ints = s32[12,8] parameter(5)
  update = f32[3,2] parameter(6)
  y = f32[12,8] negate(x)
  first = s32[] get-tuple-element(pair), index=0
  second = s32[] get-tuple-element(pair), index=1
  zero = s32[] constant(0)
  nil = s32[] constant(0)
  two = s32[] constant(2)
  many = s32[] constant(100)
  three = s32[] add(two, two)
  next = s32[] add(i, two)
  below = pred[] compare(i, zero), direction=LT
  wrapped = s32[] select(below, next, i)
  same = s32[] copy(i)
  six = s32[] multiply(two, three)
  numbers = s32[5,1] iota(), iota_dimension=0
  list = s32[5,1] constant({{1}, {9}, {2}, {20}, {0}})
  more = s32[5,1] add(rows, numbers)
  sum = s32[] add(i, j)
  sorted = s32[5,1] sort(rows), dimensions={0}, to_apply=less
  flag = pred[] parameter(7)
  bit = s32[] convert(flag)
  after = s32[] add(bit, two)
  late = s32[] remainder(j, two)
)";

// Instructions in a random order that read these offsets.
std::string RandomReadsOfOffsets(uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> scalars = {"i",   "j",       "first", "second", "zero",
                                            "nil", "two",     "many",  "three",  "next",
                                            "six", "wrapped", "same",  "sum",    "late"};
  const std::vector<std::string> vectors = {"rows", "numbers", "list", "more", "sorted"};
  const std::vector<std::string> arrays = {"x", "y"};
  std::string text = absl::StrCat(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    take { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
    less { a = s32[] parameter(0) b = s32[] parameter(1)
      ROOT r = pred[] compare(a, b), direction=LT }
    ENTRY e {)",
                                  kOffsets);
  for (int n = 0; n < 60; ++n) {
    // Few offsets, so that the same ones meet again.
    const std::string& a = random.Pick(scalars);
    const std::string& b = random.OneIn(3) ? a : random.Pick(scalars);
    const std::string& vector = random.Pick(vectors);
    const std::string& array = random.Pick(arrays);
    absl::StrAppend(&text, "  n", n, " = ");
    switch (random.Between(0, 4)) {
      case 0:
        absl::StrAppend(&text, "f32[3,2] dynamic-slice(", array, ", ", a, ", ", b,
                        "), dynamic_slice_sizes={3,2}\n");
        break;
      case 1:
        absl::StrAppend(&text, "s32[12,2] dynamic-slice(ints, ", a, ", ", b,
                        "), dynamic_slice_sizes={12,2}\n");
        break;
      case 2:
        absl::StrAppend(&text, "f32[12,8] dynamic-update-slice(", array, ", update, ", a, ", ", b,
                        ")\n");
        break;
      case 3:
        absl::StrAppend(&text, "f32[5,8] gather(", array, ", ", vector,
                        "), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
                        "index_vector_dim=1, slice_sizes={1,8}\n");
        break;
      default:
        absl::StrAppend(&text, "f32[12,8] scatter(", array, ", ", vector,
                        ", u), update_window_dims={1}, inserted_window_dims={0}, "
                        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=",
                        random.OneIn(2) ? "add" : "take", "\n");
        break;
    }
  }
  absl::StrAppend(&text, "  ROOT root = f32[12,8] add(x, y)\n}\n");
  const std::string declared = "  late = s32[] remainder(j, two)\n";
  text.insert(text.find(declared) + declared.size(),
              "  u = f32[5,8] slice(x), slice={[0:5], [0:8]}\n");
  return text;
}

// The reasons of both name the loop, so that they are not shared.
TEST(HloIndexerTest, ReasonsNameTheInstructionsOfTheirOwnComputation) {
  std::string text;
  for (const std::string v : {"first.", "second."}) {
    absl::StrAppend(
        &text, v, "body { ", v, "s = (s32[], f32[64]) parameter(0)\n ", v,
        "k = s32[] get-tuple-element(", v, "s), index=0\n ", v, "x = f32[64] get-tuple-element(", v,
        "s), index=1\n ", v, "one = s32[] constant(1)\n ", v, "n = s32[] add(", v, "k, ", v,
        "one)\n ", v, "q = s32[] multiply(", v, "k, ", v, "k)\n ", v, "e = f32[1] dynamic-slice(",
        v, "x, ", v, "q), dynamic_slice_sizes={1}\n ", v, "u = f32[64] dynamic-update-slice(", v,
        "x, ", v, "e, ", v, "k)\n ROOT ", v, "r = (s32[], f32[64]) tuple(", v, "n, ", v, "u)\n}\n",
        v, "below { ", v, "s = (s32[], f32[64]) parameter(0)\n ", v, "k = s32[] get-tuple-element(",
        v, "s), index=0\n ", v, "n = s32[] constant(7)\n ROOT ", v, "l = pred[] compare(", v, "k, ",
        v, "n), direction=LT\n}\n", v, "f { ", v, "x = f32[64] parameter(0)\n ", v,
        "z = s32[] constant(0)\n ", v, "s = (s32[], f32[64]) tuple(", v, "z, ", v, "x)\n ", v,
        "loop = (s32[], f32[64]) while(", v, "s), condition=", v, "below, body=", v, "body\n ROOT ",
        v, "o = f32[64] get-tuple-element(", v, "loop), index=1\n}\n");
  }
  const auto module = Parse(text + R"(ENTRY e { x = f32[64] parameter(0)
      a = f32[64] call(x), to_apply=first.f
      ROOT b = f32[64] call(a), to_apply=second.f })");
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  ASSERT_TRUE(indexer.Index(*module->entry_computation(), Direction::kOutputToInput).ok());
  for (const std::string v : {"first.", "second.", "first."}) {
    const auto entries =
        indexer.Index(*module->FindComputation(v + "f"), Direction::kOutputToInput);
    ASSERT_TRUE(entries.ok());
    ASSERT_EQ((*entries)->size(), 1U);
    EXPECT_TRUE(absl::StrContains((*entries)->front().indexing.label().reason, v + "loop"))
        << (*entries)->front().indexing.label().reason;
  }
  CheckModule(*module);
}

// Each is asked about when the one before has ended, so that addresses come again.
TEST(HloIndexerTest, ModulesMayEndBeforeTheIndexer) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  for (uint64_t seed = 0; seed < Cases(40); ++seed) {
    for (const uint64_t again : {seed, seed + 1, seed}) {
      const auto module = Parse(again % 2 == 0 ? RandomCallsOfEqualComputations(again)
                                               : RandomReadsOfOffsets(again));
      ASSERT_NE(module, nullptr);
      for (const HloInstruction* instruction : InstructionsOf(*module)) {
        const auto entries = indexer.Index(*instruction, Direction::kOutputToInput);
        const auto own = Own(*instruction, Direction::kOutputToInput, &context, {});
        ASSERT_TRUE(entries.ok());
        EXPECT_TRUE(AreEqual(**entries, own)) << instruction->ToString();
      }
      for (const HloComputation* computation : module->computations()) {
        const auto entries = indexer.Index(*computation, Direction::kOutputToInput);
        const auto own = Entries(*computation, Direction::kOutputToInput, &context);
        ASSERT_TRUE(entries.ok() && own.ok());
        EXPECT_TRUE(AreEqual(**entries, *own)) << computation->ToString();
      }
    }
  }
}

TEST(HloIndexerTest, InstructionsThatReadOffsetsHaveTheMapsThatEachHasForItself) {
  int64_t shared = 0;
  for (uint64_t seed = 0; seed < Cases(60); ++seed) {
    const auto module = Parse(RandomReadsOfOffsets(seed));
    ASSERT_NE(module, nullptr);
    for (const bool exact : {false, true}) {
      for (const bool fold : {false, true}) {
        FusionOptions options;
        options.indexing.exact = exact;
        options.indexing.fold_runtime_variables = fold;
        shared += CheckModule(*module, options);
      }
    }
  }
  EXPECT_GT(shared, 16 * static_cast<int64_t>(Cases(60)));
}

// Operations across four devices, of few groups in many spellings.
std::string RandomCollectives(uint64_t seed) {
  Random random(seed);
  const std::vector<std::string> groups = {"{{0,1},{2,3}}", "{{0,2},{1,3}}",   "{{1,0},{3,2}}",
                                           "{{0,1},{3,2}}", "[2,2]<=[4]",      "[2,2]<=[2,2]T(1,0)",
                                           "{{0,3},{1,2}}", "{ {0,1}, {2,3} }"};
  std::string text = R"(HloModule m, num_partitions=4
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(b, a) }
    ENTRY e {
      x = f32[4,4] parameter(0)
  )";
  for (int n = 0; n < 40; ++n) {
    const std::string common =
        absl::StrCat(", channel_id=", n + 1, ", replica_groups=", random.Pick(groups));
    const std::string global = absl::StrCat(common, ", use_global_device_ids=true");
    const int64_t dim = random.Between(0, 1);
    const char* const apply = random.OneIn(2) ? "add" : "sum";
    absl::StrAppend(&text, "  n", n, " = ");
    switch (random.Between(0, 4)) {
      case 0:
        absl::StrAppend(&text, "f32[4,4] all-reduce(x)", global, ", to_apply=", apply, "\n");
        break;
      case 1:
        absl::StrAppend(&text, dim == 0 ? "f32[8,4]" : "f32[4,8]", " all-gather(x)", global,
                        ", dimensions={", dim, "}\n");
        break;
      case 2:
        absl::StrAppend(&text, dim == 0 ? "f32[2,4]" : "f32[4,2]", " reduce-scatter(x)", global,
                        ", dimensions={", dim, "}, to_apply=", apply, "\n");
        break;
      case 3:
        absl::StrAppend(&text, "f32[4,4] all-to-all(x)", common, ", dimensions={", dim, "}\n");
        break;
      default:
        absl::StrAppend(&text, "f32[4,4] collective-permute(x), channel_id=", n + 1,
                        ", source_target_pairs=",
                        random.OneIn(2) ? "{{0,1},{1,2},{2,3},{3,0}}" : "{{0,1},{1,0}}", "\n");
        break;
    }
  }
  absl::StrAppend(&text, "  ROOT root = f32[4,4] negate(x)\n}\n");
  return text;
}

TEST(HloIndexerTest, OperationsAcrossDevicesHaveTheMapsThatEachHasForItself) {
  int64_t shared = 0;
  for (uint64_t seed = 0; seed < Cases(30); ++seed) {
    const auto module = Parse(RandomCollectives(seed));
    ASSERT_NE(module, nullptr);
    shared += CheckModule(*module);
  }
  EXPECT_GT(shared, 3 * static_cast<int64_t>(Cases(30)));
}

TEST(HloIndexerTest, WhatIsKeptIsBounded) {
  std::string text = "ENTRY e {\n  x = f32[400,400] parameter(0)\n";
  constexpr int kSlices = 30'000;
  for (int i = 0; i < kSlices; ++i) {
    absl::StrAppend(&text, "  s", i, " = f32[1,1] slice(x), slice={[", i / 400, ":", i / 400 + 1,
                    "], [", i % 400, ":", i % 400 + 1, "]}\n");
  }
  const auto module = Parse(text + "  ROOT r = f32[400,400] negate(x)\n}\n");
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const HloInstruction& first = *module->entry_computation()->FindInstruction("s0");
  ASSERT_TRUE(indexer.Index(first, Direction::kInputToOutput).ok());
  const SharedIndexing before = *indexer.Index(first, Direction::kOutputToInput);
  EXPECT_EQ(*indexer.Index(first, Direction::kOutputToInput), before);
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    ASSERT_TRUE(indexer.Index(*instruction, Direction::kOutputToInput).ok());
  }
  // Forgotten, and the same when it is made again.
  const SharedIndexing after = *indexer.Index(first, Direction::kOutputToInput);
  EXPECT_NE(after, before);
  EXPECT_TRUE(AreEqual(*after, *before));
}

TEST(HloIndexerTest, RealModulesHaveTheMapsThatTheirInstructionsHave) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  int64_t shared = 0;
  ForEachCorpusFile([&](const std::string& name, const std::string& text) {
    SCOPED_TRACE(name);
    for (const auto& module : ParseModules({name, text})) {
      if (!module.ok() || !VerifyModule(**module).ok()) continue;
      shared += CheckModule(**module);
    }
  });
  EXPECT_GT(shared, 10000);
}

}  // namespace
}  // namespace xla_indexing
