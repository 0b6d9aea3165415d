#include "xla_indexing/ops/rules/arithmetic/contraction.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Numbers = std::vector<int64_t>;
// Elements of the result and of an operand.
using ElementPairs = std::set<std::pair<Numbers, Numbers>>;

class ContractionTest : public ::testing::Test {
 protected:
  const HloInstruction& Root(const std::string& text) {
    auto module = ParseAndVerifyModule(text);
    EXPECT_TRUE(module.ok()) << module.status() << text;
    modules_.push_back(*std::move(module));
    return *modules_.back()->entry_computation()->root_instruction();
  }

  InstructionIndexing EntriesOf(const HloInstruction& instruction) {
    const auto entries = ComputeIndexing(instruction, Direction::kOutputToInput, &context_);
    EXPECT_TRUE(entries.ok()) << entries.status();
    return *entries;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::vector<std::unique_ptr<HloModule>> modules_;
};

// What the maps of one entry relate; the first `rank` dimensions are those of the result.
ElementPairs PairsOf(const IndexingEntry& entry, size_t rank) {
  ElementPairs pairs;
  for (const OperandIndexing& indexing : entry.indexing) {
    const absl::Status status = indexing.map().ForEachPoint(
        1 << 20, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> /*symbols*/,
                     llvm::ArrayRef<int64_t> results) {
          pairs.emplace(Numbers(dims.begin(), dims.begin() + rank),
                        Numbers(results.begin(), results.end()));
        });
    EXPECT_TRUE(status.ok()) << status;
  }
  return pairs;
}

TEST_F(ContractionTest, OperandsOfADotShareItsLoops) {
  // The contracting dimensions are listed in another order than the operands have them.
  const HloInstruction& dot = Root(R"(
    ENTRY e {
      a = f32[5,2,3] parameter(0)
      b = f32[3,4,5] parameter(1)
      ROOT d = f32[2,4] dot(a, b), lhs_contracting_dims={2,0}, rhs_contracting_dims={0,2}
    })");
  EXPECT_THAT(ContractionLoops(dot), ElementsAre(3, 5));
  const InstructionIndexing steps = ContractionSteps(dot, EntriesOf(dot), &context_);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].indexing.maps()[0].map().ToString(),
            "(d0, d1, d2, d3) -> (d3, d0, d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2], "
            "d3 in [0, 4]");
  EXPECT_EQ(steps[1].indexing.maps()[0].map().ToString(),
            "(d0, d1, d2, d3) -> (d2, d1, d3), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 2], "
            "d3 in [0, 4]");
}

TEST_F(ContractionTest, OperationsThatCombineNothingHaveNoLoops) {
  EXPECT_THAT(
      ContractionLoops(Root("ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }")),
      IsEmpty());
}

// Over all steps a contraction reads what it reads.
TEST_F(ContractionTest, TheStepsTogetherReadWhatTheOperationReads) {
  int compared = 0;
  for (const HloOpcode opcode :
       {HloOpcode::kDot, HloOpcode::kScaledDot, HloOpcode::kRaggedDot, HloOpcode::kConvolution,
        HloOpcode::kReduce, HloOpcode::kReduceWindow}) {
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(400)); ++seed) {
      const std::string text = RandomOperationModule(opcode, seed);
      SCOPED_TRACE(text);
      const HloInstruction& root = Root(text);
      const InstructionIndexing entries = EntriesOf(root);
      const InstructionIndexing steps = ContractionSteps(root, entries, &context_);
      std::map<std::tuple<int64_t, int64_t, int64_t>, ElementPairs> by_steps;
      for (const IndexingEntry& entry : steps) {
        if (HasRuntimeVariables(entry.indexing)) continue;
        by_steps[{entry.output_leaf, entry.operand, entry.operand_leaf}] =
            PairsOf(entry, root.shape().Leaf(entry.output_leaf).rank());
      }
      for (const IndexingEntry& entry : entries) {
        // Whatever depends on sizes of groups that are known when the program runs is executed,
        // tile by tile, by the reference.
        if (HasRuntimeVariables(entry.indexing)) continue;
        const ElementPairs& together =
            by_steps[{entry.output_leaf, entry.operand, entry.operand_leaf}];
        EXPECT_EQ(together, PairsOf(entry, root.shape().Leaf(entry.output_leaf).rank()));
        ++compared;
      }
      modules_.pop_back();
    }
  }
  EXPECT_GT(compared, Cases(400) * 6);
}

}  // namespace
}  // namespace xla_indexing::internal
