// What a program can get wrong when it makes, changes and pairs the values of ops/: each call ends
// in a Status that says what is wrong, with the numbers.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/ops/indexing_test.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/fits_shapes.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::testing::HasSubstr;

constexpr char kAtRuntime[] =
    "(d0)[s0]{rt0} -> (d0 + rt0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 6]";

class OpsMisuseTest : public IndexingTest {
 protected:
  OpsMisuseTest() {
    const HloInstruction* root = Entry(R"(
      a = s32[] parameter(0)
      t = s32[100] parameter(1)
      ROOT r = (s32[], s32[100]) tuple(a, t))");
    tuple_ = root;
    a_ = root->operand(0);
    t_ = root->operand(1);
  }

  static void ExpectRefused(const absl::Status& status, absl::string_view message) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(message)));
  }
  // The map with one runtime variable that is bound so.
  void ExpectRefused(const RuntimeVarIndexing& binding, absl::string_view message) {
    ExpectRefused(OperandIndexing::Create(Map(kAtRuntime), {binding}).status(), message);
  }
  static RuntimeVarIndexing Binding(const HloInstruction* instruction) {
    RuntimeVarIndexing binding;
    binding.instruction = instruction;
    return binding;
  }
  RuntimeVarIndexing ElementOf(const HloInstruction* instruction, AffineExpr index) {
    RuntimeVarIndexing binding = Binding(instruction);
    binding.element = {index};
    return binding;
  }
  OperandIndexing Make(absl::string_view map) { return OperandIndexing::Create(Map(map)).value(); }

  AffineExpr Dim(unsigned i) { return mlir::getAffineDimExpr(i, &context_); }
  AffineExpr Symbol(unsigned i) { return mlir::getAffineSymbolExpr(i, &context_); }
  static Shape Array(absl::Span<const int64_t> sizes) {
    return Shape::Array(ElementType::kF32, sizes);
  }

  mlir::MLIRContext other_context_{mlir::MLIRContext::Threading::DISABLED};
  const HloInstruction* tuple_;
  const HloInstruction* a_;
  const HloInstruction* t_;
};

TEST_F(OpsMisuseTest, EachRuntimeVariableHasABinding) {
  ExpectRefused(OperandIndexing::Create(Map(kAtRuntime)).status(),
                "a map with 1 runtime variables and 0 bindings");
  ExpectRefused(OperandIndexing::Create(Map("() -> ()"), {Binding(a_)}).status(),
                "a map with 0 runtime variables and 1 bindings");
  const auto made = OperandIndexing::Create(Map(kAtRuntime), {Binding(a_)});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->BindingToString(0), "rt0: a, as is; (d0) -> (), domain: d0 in [0, 3]");
}

TEST_F(OpsMisuseTest, BindingsNameElements) {
  ExpectRefused(RuntimeVarIndexing(), "the binding of rt0: an instruction is null");
  RuntimeVarIndexing called_by_nobody = Binding(a_);
  called_by_nobody.call_path = {nullptr};
  ExpectRefused(called_by_nobody, "the binding of rt0: an instruction is null");
  RuntimeVarIndexing leaf = Binding(a_);
  leaf.leaf = 1;
  ExpectRefused(leaf, "the binding of rt0: a has no leaf 1 of 1");
  leaf.leaf = -1;
  ExpectRefused(leaf, "the binding of rt0: a has no leaf -1 of 1");
  RuntimeVarIndexing of_tuple = Binding(tuple_);
  of_tuple.leaf = 1;
  ExpectRefused(of_tuple, "the binding of rt0: an element of 0 indices in s32[100]");
  ExpectRefused(ElementOf(a_, Dim(0)), "the binding of rt0: an element of 1 indices in s32[]");
  RuntimeVarIndexing no_value = Binding(a_);
  no_value.value = ValueFunction::Clamp(6, 0);
  ExpectRefused(no_value, "the binding of rt0: its values are in no interval, [6, 0]");
}

TEST_F(OpsMisuseTest, BindingsAreOverTheVariablesBeforeTheirs) {
  ExpectRefused(ElementOf(t_, AffineExpr()), "the binding of rt0: an expression is null");
  ExpectRefused(ElementOf(t_, Dim(1)), "the binding of rt0: an expression uses dimension 1 of 1");
  // Symbol 1 is rt0 itself.
  ExpectRefused(ElementOf(t_, Symbol(1)), "the binding of rt0: an expression uses symbol 1 of 1");
  ExpectRefused(ElementOf(t_, mlir::getAffineDimExpr(0, &other_context_)),
                "the binding of rt0: an expression is of another MLIRContext");
  EXPECT_TRUE(OperandIndexing::Create(Map(kAtRuntime), {ElementOf(t_, Dim(0) + Symbol(0))}).ok());
}

TEST_F(OpsMisuseTest, DevicesAreOverTheVariablesAndTheReader) {
  RuntimeVarIndexing on_device = Binding(a_);
  on_device.device = Dim(1);
  ExpectRefused(on_device, "the binding of rt0: a device, and there is no replica map");
  const auto with = [&](AffineExpr device, Constraints constraints = {}) {
    return OperandIndexing::Create(Map(kAtRuntime), {on_device}, ExactnessLabel::Exact(),
                                   ReplicaMap{Interval::OfSize(8), device, std::move(constraints)})
        .status();
  };
  EXPECT_TRUE(with(Dim(1)).ok()) << with(Dim(1));
  ExpectRefused(with(AffineExpr()), "the replica map: an expression is null");
  ExpectRefused(with(Dim(2)), "the replica map: an expression uses dimension 2 of 2");
  ExpectRefused(with(Symbol(2)), "the replica map: an expression uses symbol 2 of 2");
  ExpectRefused(with(Dim(1), {{Dim(7) + 1, Interval::Point(0)}}),
                "the replica map: an expression uses dimension 7 of 2");
  on_device.device = Dim(2);
  ExpectRefused(with(Dim(1)), "the binding of rt0: an expression uses dimension 2 of 2");
}

TEST_F(OpsMisuseTest, MapsOfTwoContextsAreNotComposed) {
  const OperandIndexing here = Make("(d0) -> (d0), domain: d0 in [0, 9]");
  const OperandIndexing there =
      OperandIndexing::Create(
          IndexingMap::FromTensorSizes(
              mlir::AffineMap::get(1, 0, mlir::getAffineDimExpr(0, &other_context_)), {10})
              .value())
          .value();
  ExpectRefused(ComposeOperandIndexing(here, there).status(),
                "maps of two MLIRContexts cannot be composed");
  OperandIndexingSet both(here);
  both.Add(there);
  EXPECT_EQ(both.size(), 2u);
  ExpectRefused(ComposeOperandIndexingSets(OperandIndexingSet(here), both).status(),
                "maps of two MLIRContexts cannot be composed");
  EXPECT_FALSE(here == there);
  EXPECT_FALSE(OperandIndexing::IdenticalRelation(here, there));
  EXPECT_FALSE(Covers(here, there));
  ExpectRefused(VerifyFits(both, Array({10}), Array({10})), "maps of two MLIRContexts in one set");
  both.Simplify();
  both.DropSubsumed(Array({10}));
  EXPECT_EQ(both.size(), 2u);
}

TEST_F(OpsMisuseTest, CoveringAsksForAsManyDimensions) {
  const OperandIndexing map = Make("(d0) -> (d0), domain: d0 in [0, 9]");
  for (const Shape& to : {Array({10}), Array({}), Array({10, 10})}) {
    UnionMember member(map, &to);
    EXPECT_EQ(member.Covers(member), to.rank() == 1);
  }
}

TEST_F(OpsMisuseTest, ConstraintsAreVerified) {
  OperandIndexing map = Make("(d0) -> (d0), domain: d0 in [0, 9]");
  ExpectRefused(map.AddConstraint(Dim(3) + 1, Interval::Point(0)),
                "an expression uses dimension 3 of 1");
  EXPECT_TRUE(map.AddConstraint(Dim(0), Interval::AtMost(4)).ok());
  EXPECT_EQ(map.ToString(), "(d0) -> (d0), domain: d0 in [0, 4]");
}

TEST_F(OpsMisuseTest, MapsFitTheArraysThatTheyLeadBetween) {
  const OperandIndexing identity = Make("(d0) -> (d0), domain: d0 in [0, 3]");
  const auto fits = [](const OperandIndexing& map, const Shape& from, const Shape& to) {
    return VerifyFits(map, from, to);
  };
  EXPECT_TRUE(fits(identity, Array({4}), Array({4})).ok());
  EXPECT_TRUE(fits(identity, Array({5}), Array({6})).ok());
  EXPECT_TRUE(fits(identity, Array({Shape::kUnboundedSize}), Array({Shape::kUnboundedSize})).ok());
  ExpectRefused(fits(identity, Array({2}), Array({4})),
                "dimension 0 of (d0) -> (d0), domain: d0 in [0, 3] has values in [0, 3], and the "
                "indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(fits(identity, Array({4}), Array({2})),
                "result 0 of (d0) -> (d0), domain: d0 in [0, 3] has values in [0, 3], and the "
                "indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(fits(identity, Array({4, 4}), Array({4})),
                "a map of 1 dimensions and 1 results from f32[4,4] to f32[4]");
  ExpectRefused(fits(identity, Array({4}), Array({})),
                "a map of 1 dimensions and 1 results from f32[4] to f32[]");
  ExpectRefused(fits(identity, tuple_->shape(), Array({4})), "from array to array");
  // Devices that constraints leave out do not count, and neither do those of an interval that the
  // map does not reach.
  EXPECT_TRUE(fits(Make("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [-5, 5], "
                        "d0 * 2 + s0 in [0, 19]"),
                   Array({10}), Array({20}))
                  .ok());
  EXPECT_TRUE(fits(OperandIndexing::Unknown(&context_, "no idea"), Array({4}), Array({2})).ok());
}

TEST_F(OpsMisuseTest, RulesForCustomCallsLeadToElementsThatAreThere) {
  const CustomCallRule::Builder past_the_end = [&](const CustomCallLeaf&) {
    return InstructionIndexing{
        {0, 0, 0, OperandIndexingSet(Make("(d0) -> (d0 + 1), domain: d0 in [0, 3]"))}};
  };
  CustomCallRegistry registry;
  registry.Add("next", {past_the_end, past_the_end});
  IndexingOptions options;
  options.custom_calls = &registry;
  const HloInstruction* call = Entry(R"(
    p = f32[4] parameter(0)
    ROOT r = f32[4] custom-call(p), custom_call_target="next")");
  ExpectRefused(ComputeIndexing(*call, Direction::kOutputToInput, &context_, options).status(),
                "has values in [1, 4], and the indices of dimension 0 of f32[4] are [0, 3]");
}

TEST_F(OpsMisuseTest, LeavesThatAreNotThere) {
  for (const int64_t leaf : {-1, 2}) {
    EXPECT_FALSE(
        ComputeIndexing(*tuple_, Direction::kOutputToInput, &context_, {}, OperandLeaf{0, leaf})
            .ok());
    EXPECT_FALSE(
        ComputeIndexing(*tuple_, Direction::kInputToOutput, &context_, {}, OperandLeaf{0, leaf})
            .ok());
    EXPECT_FALSE(
        ComputeIndexing(*tuple_, Direction::kInputToOutput, &context_, {}, OperandLeaf{leaf, 0})
            .ok());
  }
}

using OpsMisuseDeathTest = OpsMisuseTest;

TEST_F(OpsMisuseDeathTest, NumbersThatAreSaidToFitAreLookedAt) {
  EXPECT_DEATH(OperandIndexing(kPartsFit, Map(kAtRuntime)), "another number of runtime variables");
  EXPECT_DEATH(OperandIndexing::InNormalForm(Map(kAtRuntime)),
               "another number of runtime variables");
  OperandIndexing map = Make("(d0) -> (d0), domain: d0 in [0, 9]");
  EXPECT_DEATH(map.SetDimBounds(1, Interval::Point(0)), "a dimension that is not there");
  EXPECT_DEATH(map.SetBinding(kPartsFit, 0, Binding(a_)), "a runtime variable that is not there");
  EXPECT_DEATH(map.ElementMap(0), "a runtime variable that is not there");
  EXPECT_DEATH(map.BindingToString(0), "a runtime variable that is not there");
  EXPECT_DEATH(map.DeviceMap(), "without a replica map");
  EXPECT_DEATH(map.DevicesRead(), "without a replica map");
  EXPECT_DEATH(map.ElementDeviceMap(0), "a binding without a device");
}

}  // namespace
}  // namespace xla_indexing::internal
