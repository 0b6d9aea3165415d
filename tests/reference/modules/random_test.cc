// The library against the reference, on random modules.
//
// 20,000 modules are all of them (tests/testing/effort.h): half of them of single operations, half of
// fusions. The seeds are 0, 1, 2, ..; a failure names its seed.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

constexpr int64_t kFusionShards = 8;

int64_t ModuleCount() { return Cases(20000); }

int64_t DivideRoundingUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A tenth of the modules of single operations are elementwise ones, of which there are many alike.
int64_t ModuleCountOf(HloOpcode opcode) {
  int64_t elementwise = 0;
  int64_t other = 0;
  for (HloOpcode each : RandomOpcodes()) ++(IsElementwise(each) ? elementwise : other);
  const int64_t count = ModuleCount();
  return IsElementwise(opcode) ? DivideRoundingUp(count, 20 * elementwise)
                               : DivideRoundingUp(count * 9, 20 * other);
}

void CheckModules(int64_t first_seed, int64_t count,
                  absl::FunctionRef<std::string(uint64_t seed)> make,
                  const CheckOptions& options = {}) {
  std::unique_ptr<mlir::MLIRContext> context;
  for (int64_t i = 0; i < count; ++i) {
    // A context keeps what it has interned, so it is renewed now and then.
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const uint64_t seed = static_cast<uint64_t>(first_seed + i);
    const absl::Status status = CheckModule(make(seed), seed, context.get(), options);
    ASSERT_TRUE(status.ok()) << status.message();
  }
}

class RandomOperationTest : public ::testing::TestWithParam<HloOpcode> {};

TEST_P(RandomOperationTest, AgreesWithTheReference) {
  CheckModules(0, ModuleCountOf(GetParam()),
               [&](uint64_t seed) { return RandomOperationModule(GetParam(), seed); });
}

INSTANTIATE_TEST_SUITE_P(All, RandomOperationTest, ::testing::ValuesIn(RandomOpcodes()),
                         [](const ::testing::TestParamInfo<HloOpcode>& info) {
                           return absl::StrReplaceAll(OpcodeName(info.param), {{"-", "_"}});
                         });

// Scatters that drop the elements of windows that are outside, and not whole windows.
TEST(RandomScatterTest, AgreesWithTheReferenceForSingleElements) {
  CheckOptions options;
  options.scatter_bounds = ScatterBounds::kElement;
  CheckModules(
      0, ModuleCountOf(HloOpcode::kScatter),
      [](uint64_t seed) { return RandomOperationModule(HloOpcode::kScatter, seed); }, options);
}

class RandomFusionTest : public ::testing::TestWithParam<int64_t> {};

TEST_P(RandomFusionTest, AgreesWithTheReference) {
  const int64_t count = DivideRoundingUp(ModuleCount(), 2 * kFusionShards);
  CheckModules(GetParam() * count, count, [](uint64_t seed) { return RandomFusionModule(seed); });
}

INSTANTIATE_TEST_SUITE_P(All, RandomFusionTest, ::testing::Range<int64_t>(0, kFusionShards));

// Whatever a question has to leave out when its budget ends, the answer is the relation or contains
// it.
TEST(RandomBudgetTest, AnyBudgetAgreesWithTheReference) {
  const int64_t count = DivideRoundingUp(ModuleCount(), 2 * kFusionShards);
  for (int64_t seed = 0; seed < count; ++seed) {
    CheckOptions options;
    options.steps = seed * seed % 211;
    CheckModules(seed, 1, [](uint64_t s) { return RandomFusionModule(s); }, options);
    if (HasFatalFailure()) return;
  }
}

TEST(RandomTest, AgreesForAsManyModulesAsRequested) {
  int64_t count = kFusionShards * DivideRoundingUp(ModuleCount(), 2 * kFusionShards);
  for (HloOpcode opcode : RandomOpcodes()) count += ModuleCountOf(opcode);
  EXPECT_GE(count, ModuleCount());
}

}  // namespace
}  // namespace xla_indexing::reference
