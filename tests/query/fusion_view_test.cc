// Queries about fusions that are not in the module answer what they answer about those that are.
#include "xla_indexing/fusion/fusion_view.h"

#include <memory>

#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

TEST(FusionViewQueryTest, AnswersAreThoseAboutTheFusion) {
  const auto module = ParseAndVerifyModule(R"(
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    fused {
      x = f32[8,16] parameter(0) z = f32[] parameter(1)
      t = f32[16,8] transpose(x), dimensions={1,0}
      ROOT m = f32[16] reduce(t, z), dimensions={1}, to_apply=add
    }
    ENTRY e {
      p = f32[8,16] parameter(0) zero = f32[] parameter(1)
      apart = f32[16,8] transpose(p), dimensions={1,0}
      sum = f32[16] reduce(apart, zero), dimensions={1}, to_apply=add
      fusion = f32[16] fusion(p, zero), kind=kInput, calls=fused
      ROOT both = (f32[16], f32[16]) tuple(sum, fusion)
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const HloComputation& fused = *(*module)->FindComputation("fused");
  const auto view = FusionView::OfProducerConsumer(*entry.FindInstruction("apart"),
                                                   *entry.FindInstruction("sum"));
  ASSERT_TRUE(view.ok()) << view.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto of_view = ComputeUtilization(view->computation(), &context);
  const auto of_fusion = ComputeUtilization(fused, &context);
  ASSERT_TRUE(of_view.ok() && of_fusion.ok());
  EXPECT_EQ(of_view->operands, of_fusion->operands);
  EXPECT_EQ(of_view->total, of_fusion->total);
  // All of p once, the beginning of the sums for each of 16.
  EXPECT_EQ(of_view->total.bytes_of_reads, Interval::Point(4 * (128 + 16)));
  const auto comparison = CompareReads(view->computation(), fused, &context);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->same, Answer::kYes);
  const auto other = FusionView::OfFusion(*entry.FindInstruction("sum"));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(CompareReads(other->computation(), fused, &context)->same, Answer::kNo);
}

}  // namespace
}  // namespace xla_indexing
