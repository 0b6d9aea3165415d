// An implicit broadcast reads the same however it is made explicit.
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/equivalence/equivalence.h"

namespace xla_indexing {
namespace {

using SizesIn = std::vector<int64_t>;

// A product of two parameters of these sizes.
std::unique_ptr<HloModule> Product(const SizesIn& left, const SizesIn& right,
                                   BroadcastStyle style) {
  auto module = std::make_unique<HloModule>("m");
  HloBuilder builder(module->AddComputation("main"),
                     {.rule = BroadcastRule::kNumpy, .style = style});
  const auto a = builder.AddParameter(0, Shape::Array(ElementType::kF32, left));
  const auto b = builder.AddParameter(1, Shape::Array(ElementType::kF32, right));
  EXPECT_TRUE(a.ok() && b.ok());
  if (!a.ok() || !b.ok()) return nullptr;
  const auto product = builder.Add(HloOpcode::kMultiply, {*a, *b});
  EXPECT_TRUE(product.ok()) << product.status();
  return product.ok() ? std::move(module) : nullptr;
}

Answer ReadTheSame(const HloModule& a, const HloModule& b) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<EquivalenceReport> report =
      CompareReads(*a.entry_computation(), *b.entry_computation(), &context);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->same : Answer::kUndecided;
}

// The three cases of the document on PyTorch/XLA: one rank, a scalar, different ranks.
TEST(ImplicitBroadcastTest, BothStylesReadTheSame) {
  const std::vector<std::vector<SizesIn>> cases = {
      {{10, 1}, {1, 5}}, {{}, {1, 5}}, {{10, 1}, {6, 8, 1, 5}}};
  for (const std::vector<SizesIn>& sizes : cases) {
    const auto direct = Product(sizes[0], sizes[1], BroadcastStyle::kDirect);
    const auto promoted = Product(sizes[0], sizes[1], BroadcastStyle::kPromoted);
    ASSERT_TRUE(direct != nullptr && promoted != nullptr);
    EXPECT_EQ(ReadTheSame(*direct, *promoted), Answer::kYes);
  }
}

}  // namespace
}  // namespace xla_indexing
