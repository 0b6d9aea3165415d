#include "xla_indexing/fusion/hlo_indexer.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fusion/own_answers.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/repeating_modules.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"

namespace xla_indexing {
namespace {

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

TEST(HloIndexerTest, ComputationsThatSayTheSameHaveTheMapsThatEachHasForItself) {
  for (int seed = 0; seed < Cases(20); ++seed) {
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
    const SharedIndexing of_output = *indexer.Index(*instruction, Direction::kOutputToInput);
    const SharedIndexing of_input = *indexer.Index(*instruction, Direction::kInputToOutput);
    EXPECT_TRUE(AreEqual(to_input, *of_output));
    EXPECT_TRUE(AreEqual(to_output, *of_input));
    EXPECT_LE(static_cast<int64_t>(to_input.size()), internal::MostEntries(*instruction));
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

// The reasons of both name the loop, so that they are shared by views of one call and not by those of
// the other.
TEST(HloIndexerTest, InstructionsThatReadOffsetsHaveTheMapsThatEachHasForItself) {
  int64_t shared = 0;
  for (int seed = 0; seed < Cases(60); ++seed) {
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

TEST(HloIndexerTest, OperationsAcrossDevicesHaveTheMapsThatEachHasForItself) {
  int64_t shared = 0;
  for (int seed = 0; seed < Cases(30); ++seed) {
    const auto module = Parse(RandomCollectives(seed));
    ASSERT_NE(module, nullptr);
    shared += CheckModule(*module);
  }
  EXPECT_GT(shared, 3 * static_cast<int64_t>(Cases(30)));
}

// Every instruction of a softmax of rows, as its definition says.
TEST(HloIndexerTest, OneWalkLeadsFromTheRootToEveryInstruction) {
  const auto module = Parse(R"(
    max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
    ENTRY e {
      p = f32[4,8] parameter(0)
      unread = f32[4,8] negate(p)
      lowest = f32[] constant(-inf)
      m = f32[4] reduce(p, lowest), dimensions={1}, to_apply=max
      mb = f32[4,8] broadcast(m), dimensions={0}
      s = f32[4,8] subtract(p, mb)
      ROOT t = f32[8,4] transpose(s), dimensions={1,0}
    })");
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const auto reads = indexer.IndexEachInstruction(*module->entry_computation());
  ASSERT_TRUE(reads.ok()) << reads.status();
  std::vector<std::string> texts;
  for (const InstructionReads& read : *reads) {
    for (const OperandIndexing& map : read.indexing) {
      texts.push_back(absl::StrCat(read.instruction->name(), ": ", map.ToString()));
    }
  }
  const std::string domain = ", domain: d0 in [0, 7], d1 in [0, 3]";
  EXPECT_EQ(texts, (std::vector<std::string>{
                       "t: (d0, d1) -> (d0, d1)" + domain, "s: (d0, d1) -> (d1, d0)" + domain,
                       "mb: (d0, d1) -> (d1, d0)" + domain, "m: (d0, d1) -> (d1)" + domain,
                       "lowest: (d0, d1) -> ()" + domain, "p: (d0, d1) -> (d1, d0)" + domain,
                       "p: (d0, d1)[s0] -> (d1, s0)" + domain + ", s0 in [0, 7]"}));
}

TEST(HloIndexerTest, TheWalkToEveryInstructionStartsAtALeafOfTheRoot) {
  const auto module = Parse(R"(
    ENTRY e {
      p = f32[4] parameter(0)
      k = token[] after-all()
      n = f32[4] negate(p)
      ROOT t = (f32[4], token[], f32[4]) tuple(p, k, n)
    })");
  ASSERT_NE(module, nullptr);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexer indexer(&context);
  const HloComputation& entry = *module->entry_computation();
  const auto names = [&](int64_t leaf) {
    const auto reads = indexer.IndexEachInstruction(entry, leaf);
    std::vector<std::string> names;
    for (const InstructionReads& read : *reads) {
      names.push_back(absl::StrCat(read.instruction->name(), " ", read.leaf));
    }
    return names;
  };
  EXPECT_EQ(names(0), (std::vector<std::string>{"t 0", "p 0"}));
  EXPECT_EQ(names(1), (std::vector<std::string>{"t 1", "n 0", "p 0"}));
  const absl::Status status = indexer.IndexEachInstruction(entry, 2).status();
  EXPECT_EQ(std::string(status.message()), "the root t has 2 leaves, leaf 2 was asked for");
}

}  // namespace
}  // namespace xla_indexing
