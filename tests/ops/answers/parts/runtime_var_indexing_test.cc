#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {
namespace {

TEST(ValueFunctionTest, AppliesToValues) {
  EXPECT_EQ(ValueFunction::AsIs().Apply(-7), -7);
  EXPECT_EQ(ValueFunction::Clamp(0, 26).Apply(-7), 0);
  EXPECT_EQ(ValueFunction::Clamp(0, 26).Apply(13), 13);
  EXPECT_EQ(ValueFunction::Clamp(0, 26).Apply(27), 26);
  EXPECT_EQ(ValueFunction::InRangeElseLast(3).Apply(0), 0);
  EXPECT_EQ(ValueFunction::InRangeElseLast(3).Apply(3), 2);
  EXPECT_EQ(ValueFunction::InRangeElseLast(3).Apply(-1), 2);
}

TEST(ValueFunctionTest, AppliesToIntervalsAsToTheirValues) {
  for (const ValueFunction& f :
       {ValueFunction::AsIs(), ValueFunction::Clamp(-2, 3), ValueFunction::InRangeElseLast(4)}) {
    for (int64_t lower = -6; lower <= 6; ++lower) {
      for (int64_t upper = lower; upper <= 6; ++upper) {
        Interval expected;
        for (int64_t v = lower; v <= upper; ++v) {
          expected = expected.Union(Interval::Point(f.Apply(v)));
        }
        EXPECT_EQ(f.Apply(Interval::Closed(lower, upper)), expected)
            << f.ToString() << " of [" << lower << ", " << upper << "]";
      }
    }
  }
}

TEST(ValueFunctionTest, AppliesToInfiniteIntervals) {
  EXPECT_EQ(ValueFunction::Clamp(0, 26).Apply(Interval::All()), Interval::Closed(0, 26));
  EXPECT_EQ(ValueFunction::Clamp(0, 26).Apply(Interval::AtLeast(20)), Interval::Closed(20, 26));
  EXPECT_EQ(ValueFunction::InRangeElseLast(4).Apply(Interval::AtLeast(2)), Interval::Closed(2, 3));
  EXPECT_EQ(ValueFunction::InRangeElseLast(4).Apply(Interval::AtMost(0)), Interval::Closed(0, 3));
  EXPECT_TRUE(ValueFunction::Clamp(0, 26).Apply(Interval::Empty()).IsEmpty());
}

TEST(ValueFunctionTest, PrintsAsTheCommandLineDoes) {
  EXPECT_EQ(ValueFunction::AsIs().ToString(), "as is");
  EXPECT_EQ(ValueFunction::Clamp(0, 226).ToString(), "clamp [0, 226]");
  EXPECT_EQ(ValueFunction::InRangeElseLast(3).ToString(), "in [0, 2], else 2");
}

TEST(ElementTypeTest, ValuesAreThoseOfTheType) {
  EXPECT_EQ(ValuesOfElementType(ElementType::kPred), Interval::Closed(0, 1));
  EXPECT_EQ(ValuesOfElementType(ElementType::kS8), Interval::Closed(-128, 127));
  EXPECT_EQ(ValuesOfElementType(ElementType::kU8), Interval::Closed(0, 255));
  EXPECT_EQ(ValuesOfElementType(ElementType::kU32), Interval::Closed(0, 4294967295));
  EXPECT_EQ(ValuesOfElementType(ElementType::kS64), Interval::Closed(kInt64Min, kInt64Max));
  EXPECT_EQ(ValuesOfElementType(ElementType::kU64), Interval::AtLeast(0));
  EXPECT_EQ(ValuesOfElementType(ElementType::kF32), Interval::All());
}

class BindingTest : public ::testing::Test {
 protected:
  BindingTest() : context_(mlir::MLIRContext::Threading::DISABLED), module_("m") {
    called_ = module_.AddComputation("called");
    main_ = module_.AddComputation("main");
    inner_ = called_->AddParameter(0, "inner", Shape::Array(ElementType::kS32, {4}));
    p_ = main_->AddParameter(0, "p", Shape::Array(ElementType::kS32, {4}));
    q_ = main_->AddParameter(
        1, "q", Shape::Tuple({Shape::Scalar(ElementType::kS32), Shape::Scalar(ElementType::kU8)}));
  }

  RuntimeVarIndexing Binding(const HloInstruction* instruction, int64_t leaf, int64_t index) {
    RuntimeVarIndexing binding;
    binding.instruction = instruction;
    binding.leaf = leaf;
    binding.element.push_back(mlir::getAffineConstantExpr(index, &context_));
    return binding;
  }

  mlir::MLIRContext context_;
  HloModule module_;
  HloComputation* called_;
  HloComputation* main_;
  HloInstruction* inner_;
  HloInstruction* p_;
  HloInstruction* q_;
};

TEST_F(BindingTest, SourcesAreOrderedByCallPathThenPositionThenLeaf) {
  const RuntimeVarIndexing p = Binding(p_, 0, 2);
  const RuntimeVarIndexing q0 = Binding(q_, 0, 0);
  const RuntimeVarIndexing q1 = Binding(q_, 1, 0);
  RuntimeVarIndexing called = Binding(inner_, 0, 0);
  called.call_path.push_back(q_);
  EXPECT_LT(CompareSources(p, q0), 0);
  EXPECT_GT(CompareSources(q0, p), 0);
  EXPECT_LT(CompareSources(q0, q1), 0);
  EXPECT_LT(CompareSources(q1, called), 0);
  EXPECT_EQ(CompareSources(called, called), 0);
  EXPECT_EQ(CompareSources(p, Binding(p_, 0, 10)), 0);
}

TEST_F(BindingTest, ValueFunctionsTellBindingsApart) {
  const RuntimeVarIndexing as_is = Binding(p_, 0, 2);
  RuntimeVarIndexing clamped = as_is;
  clamped.value = ValueFunction::Clamp(0, 3);
  EXPECT_LT(as_is.value, clamped.value);
  EXPECT_LT(clamped.value, ValueFunction::Clamp(0, 4));
  EXPECT_FALSE(as_is == clamped);
}

TEST_F(BindingTest, NamesWhatYieldsTheValue) {
  EXPECT_EQ(Binding(p_, 0, 2).YieldedBy(main_), "p");
  EXPECT_EQ(Binding(q_, 1, 2).YieldedBy(main_), "q#1");
  EXPECT_EQ(Binding(p_, 0, 2).YieldedBy(called_), "main/p");
  RuntimeVarIndexing called = Binding(inner_, 0, 0);
  called.call_path.push_back(q_);
  EXPECT_EQ(called.YieldedBy(main_), "q/called/inner");
}

TEST_F(BindingTest, HasTheValuesOfElementTypeAndValueFunction) {
  EXPECT_EQ(Binding(q_, 1, 0).ValueRange(), Interval::Closed(0, 255));
  RuntimeVarIndexing clamped = Binding(q_, 1, 0);
  clamped.value = ValueFunction::Clamp(0, 300);
  EXPECT_EQ(clamped.ValueRange(), Interval::Closed(0, 255));
  clamped.value = ValueFunction::Clamp(0, 30);
  EXPECT_EQ(clamped.ValueRange(), Interval::Closed(0, 30));
}

}  // namespace
}  // namespace xla_indexing::internal
