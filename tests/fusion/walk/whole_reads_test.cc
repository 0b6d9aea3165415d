#include "xla_indexing/fusion/walk/whole_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/cache/called_computations.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/unions/whole_sets.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class WholeReadsTest : public ::testing::Test {
 protected:
  // Finds what all elements of the first leaf of the entry's root read. `computations` stand before
  // the entry.
  void Find(const std::string& instructions, const std::string& computations = "") {
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(
        absl::StrCat("HloModule m\n", computations, "ENTRY e {\n", instructions, "\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    called_ = std::make_unique<CalledComputations>(&context_, FusionOptions());
    const HloComputation& entry = *module_->entry_computation();
    reads_ = std::make_unique<WholeReads>(entry, *called_, &context_);
    const QuestionBudget budget;
    const absl::Status status = reads_->Find({0}, /*depth=*/0);
    ASSERT_TRUE(status.ok()) << status;
  }

  // `number.leaf` of the parameters that are whole.
  std::vector<std::string> Whole() const {
    std::vector<std::string> names;
    for (const HloInstruction* parameter : module_->entry_computation()->parameters()) {
      for (int64_t leaf = 0; leaf < parameter->shape().LeafCount(); ++leaf) {
        if (!reads_->IsWhole(*parameter, leaf)) continue;
        names.push_back(absl::StrCat(parameter->parameter_number(), ".", leaf));
      }
    }
    return names;
  }

  // The names of the instructions from which paths go on to a leaf of a parameter.
  std::vector<std::string> StartsOfPathsTo(OperandLeaf leaf) const {
    std::vector<std::string> names;
    const WholeReads::Rest rest = reads_->RestTo({leaf});
    for (const auto& [position, leaves] : rest.start) {
      EXPECT_FALSE(rest.left_out.test(static_cast<unsigned>(position)));
      names.emplace_back(module_->entry_computation()->instructions()[position]->name());
    }
    return names;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
  std::unique_ptr<CalledComputations> called_;
  std::unique_ptr<WholeReads> reads_;
};

TEST_F(WholeReadsTest, OperationsThatReadAllOfTheirOperands) {
  Find(R"( a = f32[2,3] parameter(0)  b = f32[3,2] parameter(1)  c = f32[3] parameter(2)
  d = f32[3,4] parameter(3)  unread = f32[2,3] parameter(4)
  t = f32[2,3] transpose(b), dimensions={1,0}  s = f32[2,3] add(a, t)
  u = f32[2,3] broadcast(c), dimensions={1}  v = f32[4,3] concatenate(s, u), dimensions={0}
  ROOT r = f32[4,4] dot(v, d), lhs_contracting_dims={1}, rhs_contracting_dims={0})");
  EXPECT_THAT(Whole(), ElementsAre("0.0", "1.0", "2.0", "3.0"));
}

// The maps of dots of all small sizes say so too.
TEST_F(WholeReadsTest, DotsReadAllOfTheirOperands) {
  const std::string numbers =
      "lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}";
  for (int code = 0; code < 81; ++code) {
    const int batch = 1 + code % 3;
    const int rows = 1 + code / 3 % 3;
    const int columns = 1 + code / 9 % 3;
    const int summed = 1 + code / 27;
    Find(absl::StrCat(" a = f32[", batch, ",", rows, ",", summed, "] parameter(0)\n b = f32[",
                      summed, ",", batch, ",", columns, "] parameter(1)\n ROOT r = f32[", batch,
                      ",", rows, ",", columns, "] dot(a, b), ", numbers));
    EXPECT_THAT(Whole(), ElementsAre("0.0", "1.0")) << code;
    const HloInstruction& dot = *module_->entry_computation()->root_instruction();
    const absl::StatusOr<SharedIndexing> entries = called_->ReadByAllOf(dot, 0, /*depth=*/0);
    ASSERT_TRUE(entries.ok()) << entries.status();
    ASSERT_EQ((*entries)->size(), 2);
    WholeSets sets(&context_);
    for (const IndexingEntry& entry : **entries) {
      EXPECT_TRUE(sets.IsWhole(entry.indexing, dot.operand(entry.operand)->shape())) << code;
    }
  }
}

TEST_F(WholeReadsTest, TuplesKeepLeavesApart) {
  Find(R"( p = (f32[4], f32[4]) parameter(0)  q = f32[4] parameter(1)
  a = f32[4] get-tuple-element(p), index=1  t = (f32[4], f32[4]) tuple(a, q)
  ROOT r = f32[4] get-tuple-element(t), index=0)");
  EXPECT_THAT(Whole(), ElementsAre("0.1"));
}

TEST_F(WholeReadsTest, PartsThatAreAllOfItTogether) {
  const std::string parts = R"( a = f32[6] parameter(0)  b = f32[6] parameter(1)
  low = f32[2] slice(a), slice={[0:2]}  high = f32[4] slice(a), slice={[2:6]}
  half = f32[3] slice(b), slice={[0:3]}
  ROOT r = f32[9] concatenate(low, high, half), dimensions={0})";
  Find(parts);
  EXPECT_THAT(Whole(), ElementsAre("0.0"));
  EXPECT_THAT(StartsOfPathsTo({1, 0}), ElementsAre("b"));
}

// The update has its place in the result wherever it starts. Which rows of the operand are read is
// decided when the program runs, also of what the operand is computed from.
TEST_F(WholeReadsTest, UpdatesAtRuntimeOffsets) {
  Find(R"( a = f32[8,2] parameter(0)  u = f32[3,2] parameter(1)  i = s32[] parameter(2)
  zero = s32[] constant(0)  b = f32[8,2] negate(a)
  ROOT r = f32[8,2] dynamic-update-slice(b, u, i, zero))");
  EXPECT_THAT(Whole(), ElementsAre("1.0", "2.0"));
  EXPECT_THAT(StartsOfPathsTo({0, 0}), IsEmpty());
}

// Wherever the rows start, each of them is all of the parameter.
TEST_F(WholeReadsTest, SlicesAtRuntimeOffsetsOfRowsThatAreAlike) {
  Find(R"( a = f32[2] parameter(0)  i = s32[] parameter(1)  zero = s32[] constant(0)
  b = f32[8,2] broadcast(a), dimensions={1}
  ROOT r = f32[3,2] dynamic-slice(b, i, zero), dynamic_slice_sizes={3,2})");
  EXPECT_THAT(Whole(), ElementsAre("1.0"));
  EXPECT_THAT(StartsOfPathsTo({0, 0}), ElementsAre("b"));
}

TEST_F(WholeReadsTest, CalledComputations) {
  Find(R"( a = f32[4] parameter(0)  b = f32[4] parameter(1)
  ROOT r = f32[4] call(a, b), to_apply=first)",
       "first {\n x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n"
       " ROOT z = f32[4] negate(x)\n}\n");
  EXPECT_THAT(Whole(), ElementsAre("0.0"));
}

// One leaf of a tuple that is whole says nothing of the other one.
TEST_F(WholeReadsTest, OperandsThatAreTuples) {
  Find(R"( p = (f32[4], f32[4]) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  c = f32[4] call(p), to_apply=second
  ROOT r = f32[4] add(a, c))",
       "second {\n x = (f32[4], f32[4]) parameter(0)\n"
       " ROOT z = f32[4] get-tuple-element(x), index=1\n}\n");
  EXPECT_THAT(Whole(), ElementsAre("0.0", "0.1"));
}

TEST_F(WholeReadsTest, ArraysWithoutElements) {
  Find(R"( a = f32[0] parameter(0)  ROOT r = f32[0] negate(a))");
  EXPECT_THAT(Whole(), IsEmpty());
}

}  // namespace
}  // namespace xla_indexing::internal
