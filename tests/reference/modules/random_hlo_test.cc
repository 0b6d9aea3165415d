// The random modules are valid, the same for the same seed, and reach the edges.

#include "tests/testing/random/random_hlo.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/reference/execute/execute.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

void ExpectValid(const std::string& text) {
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
  ASSERT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module) << "\n" << text;
  const auto again = ParseModule((*module)->ToString());
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << text;
  std::string difference;
  EXPECT_TRUE(ModulesEqual(**module, **again, &difference)) << difference << "\n" << text;
}

TEST(RandomHloTest, OperationModulesAreValidAndEndInTheirOperation) {
  for (HloOpcode opcode : RandomOpcodes()) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::string text = RandomOperationModule(opcode, seed);
      ExpectValid(text);
      if (HasFatalFailure()) return;
      const auto module = ParseModule(text);
      EXPECT_EQ((*module)->entry_computation()->root_instruction()->opcode(), opcode) << text;
    }
  }
}

TEST(RandomHloTest, FusionModulesAreValid) {
  for (uint64_t seed = 0; seed < 1000 && !HasFatalFailure(); ++seed) {
    ExpectValid(RandomFusionModule(seed));
  }
}

TEST(RandomHloTest, EqualSeedsGiveEqualModulesAndDifferentOnesDifferent) {
  EXPECT_EQ(RandomFusionModule(7), RandomFusionModule(7));
  EXPECT_NE(RandomFusionModule(7), RandomFusionModule(8));
  EXPECT_NE(RandomOperationModule(HloOpcode::kPad, 1), RandomOperationModule(HloOpcode::kPad, 2));
}

TEST(RandomHloTest, EveryOpcodeOfTheListOccursInFusions) {
  std::set<HloOpcode> seen;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const auto module = ParseModule(RandomFusionModule(seed));
    ASSERT_TRUE(module.ok()) << module.status();
    for (const HloComputation* computation : (*module)->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        seen.insert(instruction->opcode());
      }
    }
  }
  for (HloOpcode opcode : RandomOpcodes()) {
    // set-dimension-size makes a size that is not known, for which no other operation is made.
    if (opcode == HloOpcode::kSetDimensionSize) continue;
    EXPECT_TRUE(seen.contains(opcode)) << OpcodeName(opcode);
  }
}

// Whether one of the first modules of an opcode contains all of the words in its root's line.
bool SomeModuleHas(HloOpcode opcode, std::initializer_list<absl::string_view> words) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string text = RandomOperationModule(opcode, seed);
    const size_t main = text.find("ENTRY");
    const absl::string_view root = absl::string_view(text).substr(text.find("ROOT", main));
    if (std::all_of(words.begin(), words.end(),
                    [&](absl::string_view word) { return absl::StrContains(root, word); })) {
      return true;
    }
  }
  return false;
}

TEST(RandomHloTest, EdgesOfAttributesOccur) {
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kPad, {"padding=-"}));
  EXPECT_TRUE(
      SomeModuleHas(HloOpcode::kReduceWindow, {"stride", "pad", "lhs_dilate", "rhs_dilate"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kReduceWindow, {"(f32[", "pad"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kReduce, {"dimensions={}"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kReduce, {"= (", "dimensions={0,1,2}"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kGather, {"operand_batching_dims", "offset_dims={0"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kGather, {"start_index_map={}"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kDot, {"lhs_batch_dims", "lhs_contracting_dims"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kSlice, {":2]"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kConcatenate, {"[0"}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kBitcast, {"s4["}));
  EXPECT_TRUE(SomeModuleHas(HloOpcode::kFusion, {"v0, v0"}));
}

}  // namespace
}  // namespace xla_indexing
