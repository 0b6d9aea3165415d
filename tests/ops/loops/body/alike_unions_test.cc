#include "xla_indexing/ops/loops/body/alike_unions.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {
namespace {

class AlikeUnionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = ParseModule(R"(
HloModule m
ENTRY e {
  x = f32[10] parameter(0)
  i = s32[] parameter(1)
  j = s32[] parameter(2)
  k = s64[] parameter(3)
  at_i = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
  at_j = f32[4] dynamic-slice(x, j), dynamic_slice_sizes={4}
  at_k = f32[4] dynamic-slice(x, k), dynamic_slice_sizes={4}
  ROOT t = (f32[4], f32[4], f32[4]) tuple(at_i, at_j, at_k)
})");
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  // The map of a slice to what it is sliced from: bound to the scalar that says where.
  OperandIndexingSet MapOf(absl::string_view slice) {
    const HloInstruction* const root = module_->entry_computation()->root_instruction();
    for (const HloInstruction* operand : root->operands()) {
      if (operand->name() != slice) continue;
      const auto entries = Entries(*operand, Direction::kOutputToInput, &context_);
      EXPECT_TRUE(entries.ok()) << entries.status();
      for (const IndexingEntry& entry : *entries) {
        if (entry.operand == 0) return entry.indexing;
      }
    }
    ADD_FAILURE() << "no slice " << slice;
    return {};
  }

  // The map of one slice, and that of another for the elements 0 and 1.
  OperandIndexingSet Both(absl::string_view whole, absl::string_view half) {
    OperandIndexingSet set = MapOf(whole);
    const OperandIndexingSet of_half = MapOf(half);
    for (OperandIndexing map : of_half) {
      map.SetDimBounds(0, Interval::Closed(0, 1));
      set.Add(std::move(map));
    }
    return set;
  }

  std::unique_ptr<HloModule> module_;
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(AlikeUnionsTest, WorkIsDoneOnceForUnionsThatDifferInWhatTheyAreReadFrom) {
  AlikeUnions unions;
  int times = 0;
  const auto work = [&](OperandIndexingSet* set) {
    ++times;
    OperandIndexingSet narrowed;
    for (OperandIndexing map : *set) {
      map.SetDimBounds(0, Interval::Closed(1, 2));
      narrowed.Add(std::move(map));
    }
    *set = std::move(narrowed);
  };
  OperandIndexingSet of_i = MapOf("at_i");
  unions.Do(&of_i, work);
  OperandIndexingSet of_j = MapOf("at_j");
  unions.Do(&of_j, work);
  EXPECT_EQ(times, 1);
  OperandIndexingSet expected = MapOf("at_j");
  work(&expected);
  EXPECT_TRUE(of_j == expected);
  EXPECT_FALSE(of_j == of_i);
}

TEST_F(AlikeUnionsTest, ArraysOfOtherShapesAndInAnotherOrderAreNotAlike) {
  AlikeUnions unions;
  int times = 0;
  const auto work = [&](OperandIndexingSet*) { ++times; };
  for (const absl::string_view slice : {"at_i", "at_k"}) {
    OperandIndexingSet set = MapOf(slice);
    unions.Do(&set, work);
    EXPECT_TRUE(set == MapOf(slice));
  }
  EXPECT_EQ(times, 2);
  OperandIndexingSet forwards = Both("at_i", "at_j");
  OperandIndexingSet backwards = Both("at_j", "at_i");
  unions.Do(&forwards, work);
  unions.Do(&backwards, work);
  EXPECT_EQ(times, 4);
  EXPECT_TRUE(backwards == Both("at_j", "at_i"));
}

}  // namespace
}  // namespace xla_indexing::internal
