#include "xla_indexing/fusion/hlo_indexer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
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

// The number of instructions with operands that were given what another was given before. All have
// the maps that each has for itself.
int64_t CheckModule(const HloModule& module) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  std::set<SharedIndexing> given;
  int64_t shared = 0;
  for (const HloInstruction* instruction : InstructionsOf(module)) {
    const auto to_input = indexer.Index(*instruction, Direction::kOutputToInput);
    const auto to_output = indexer.Index(*instruction, Direction::kInputToOutput);
    const auto own_to_input = Entries(*instruction, Direction::kOutputToInput, &context);
    const auto own_to_output = Entries(*instruction, Direction::kInputToOutput, &context);
    EXPECT_TRUE(to_input.ok() && to_output.ok() && own_to_input.ok() && own_to_output.ok());
    if (!to_input.ok() || !to_output.ok()) return shared;
    EXPECT_TRUE(AreEqual(**to_input, *own_to_input)) << instruction->ToString();
    EXPECT_TRUE(AreEqual(**to_output, *own_to_output)) << instruction->ToString();
    if (instruction->operand_count() == 0) continue;
    shared += given.insert(*to_input).second ? 0 : 1;
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
