// A module that is fused, and has the copies that XLA would make, computes what it did: on random modules, every element of the result has the
// value, and depends on the elements of the parameters, that it has in the module as it was.
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "tests/reference/execute/can_execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/module_results.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/gpu/fusing/copy_like_xla.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

// Adds to `checked` where both were executed, and to `fusions` those that were made.
void CheckFused(const std::string& text, uint64_t seed, int64_t* checked, int64_t* fusions) {
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  auto fused = FuseLikeXla(**module);
  ASSERT_TRUE(fused.ok()) << fused.status() << "\n" << text;
  auto copied = CopyLikeXla(**fused);
  ASSERT_TRUE(copied.ok()) << copied.status() << "\n" << text;
  *fused = std::move(copied->module);
  const std::string fused_text = (*fused)->ToString();
  const auto again = ParseAndVerifyModule(fused_text);
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << fused_text;
  for (const HloInstruction* instruction : (*fused)->entry_computation()->instructions()) {
    *fusions += instruction->opcode() == HloOpcode::kFusion;
  }
  if ((*module)->replica_count() * (*module)->num_partitions() > 1) return;
  if (!CanExecute(**module).ok() || !CanExecute(**fused).ok()) return;
  const std::vector<Value> arguments = RandomArguments(*(*module)->entry_computation(), seed);
  const auto before = DependenceOfComputation(*(*module)->entry_computation(), Pointers(arguments),
                                              0, kWithValuesOfSources);
  if (!before.ok()) return;
  const auto after = DependenceOfComputation(*(*fused)->entry_computation(), Pointers(arguments), 0,
                                             kWithValuesOfSources);
  ASSERT_TRUE(after.ok()) << after.status() << "\n" << text << "\n" << fused_text;
  EXPECT_EQ(*before, *after) << text << "\n" << fused_text;
  const auto value = ResultOfModule(**module, arguments);
  const auto fused_value = ResultOfModule(**fused, arguments);
  ASSERT_TRUE(value.ok() && fused_value.ok());
  EXPECT_TRUE(HaveSameValues(*value, *fused_value));
  if (::testing::Test::HasFailure()) FAIL() << text << "\n" << fused_text;
  ++*checked;
}

TEST(FuseLikeXlaReferenceTest, RandomModulesComputeWhatTheyDid) {
  const int64_t count = Cases(6000);
  int64_t checked = 0;
  int64_t fusions = 0;
  for (int64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    CheckFused(RandomFusionModule(seed), seed, &checked, &fusions);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked * 2, count);
  EXPECT_GE(fusions * 4, count);
}

// Operations that share kernels, and nothing else: most of the modules become few fusions.
TEST(FuseLikeXlaReferenceTest, ModulesOfFusibleOperationsComputeWhatTheyDid) {
  const std::vector<HloOpcode> opcodes = {HloOpcode::kAdd,
                                          HloOpcode::kBroadcast,
                                          HloOpcode::kConcatenate,
                                          HloOpcode::kDot,
                                          HloOpcode::kDynamicUpdateSlice,
                                          HloOpcode::kExponential,
                                          HloOpcode::kMultiply,
                                          HloOpcode::kNegate,
                                          HloOpcode::kReduce,
                                          HloOpcode::kReshape,
                                          HloOpcode::kScatter,
                                          HloOpcode::kSelect,
                                          HloOpcode::kSlice,
                                          HloOpcode::kTranspose,
                                          HloOpcode::kTuple};
  const int64_t count = Cases(6000);
  int64_t checked = 0;
  int64_t fusions = 0;
  for (int64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    CheckFused(RandomFusionModule(opcodes, seed), seed, &checked, &fusions);
    if (HasFailure()) return;
  }
  EXPECT_GE(checked * 10, count * 9);
  EXPECT_GE(fusions * 2, count);
}

}  // namespace
}  // namespace xla_indexing::reference
