#include "xla_indexing/hlo/verify/shape_inference.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo/verify/check_instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Layout Order(std::initializer_list<int64_t> minor_to_major) {
  Layout layout;
  layout.minor_to_major = minor_to_major;
  return layout;
}

std::vector<HloOpcode> AllOpcodes() {
  std::vector<HloOpcode> opcodes;
  opcodes.reserve(kOpcodeCount);
  for (int k = 0; k < kOpcodeCount; ++k) opcodes.push_back(static_cast<HloOpcode>(k));
  return opcodes;
}

TEST(ShapeInferenceTest, EveryOpcodeHasARule) {
  for (HloOpcode opcode : AllOpcodes()) {
    const shape_rules::ShapeRule rule = shape_rules::RuleFor(opcode);
    EXPECT_TRUE(rule.infer != nullptr || rule.check != nullptr) << OpcodeName(opcode);
  }
}

TEST(ShapeInferenceTest, EveryOpcodeOfFixedArityRefusesOtherOperandCounts) {
  for (HloOpcode opcode : AllOpcodes()) {
    const std::optional<int> arity = OpcodeArity(opcode);
    if (!arity.has_value()) continue;
    HloModule module("m");
    HloComputation* main = module.AddComputation("main");
    const Shape shape = Shape::Array(ElementType::kF32, {4});
    const std::vector<const HloInstruction*> operands(*arity + 1,
                                                      main->AddParameter(0, "p", shape));
    const HloInstruction* i = main->AddInstruction(opcode, "one.too.many", shape, operands);
    const std::string count = absl::StrCat("takes ", *arity, *arity == 1 ? " operand" : " operands",
                                           ", not ", *arity + 1);
    for (const absl::Status& status : {CheckShape(*i), InferShape(*i).status()}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << OpcodeName(opcode);
      EXPECT_THAT(status.message(), HasSubstr("one.too.many"));
      EXPECT_THAT(status.message(), HasSubstr(count));
    }
  }
}

TEST(ShapeInferenceTest, OnlyTheseOperationsDoWithoutOperands) {
  std::vector<std::string> inferred;
  for (HloOpcode opcode : AllOpcodes()) {
    HloModule module("m");
    HloComputation* callee = module.AddComputation("callee");
    callee->AddParameter(0, "x", Shape::Scalar(ElementType::kF32));
    HloComputation* main = module.AddComputation("main");
    HloInstruction* i = main->AddInstruction(opcode, "none", Shape::Scalar(ElementType::kF32));
    for (AttributeKey key : {AttributeKey::kToApply, AttributeKey::kCalls, AttributeKey::kBody,
                             AttributeKey::kCondition}) {
      i->SetAttribute(key, static_cast<const HloComputation*>(callee));
    }
    const int64_t zero[] = {0};
    i->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(zero));
    i->SetAttribute(AttributeKey::kNumCarries, int64_t{0});
    EXPECT_EQ(CheckShape(*i).ok(), opcode == HloOpcode::kCustomCall) << OpcodeName(opcode);
    if (InferShape(*i).ok()) inferred.emplace_back(OpcodeName(opcode));
  }
  EXPECT_THAT(inferred, ElementsAre("after-all", "async-start", "partition-id", "replica-id",
                                    "rng-get-and-update-state", "tuple"));
}

TEST(ShapeInferenceTest, AShapeThatOperandsDoNotDetermineIsUnimplemented) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {6});
  HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* reshape = main->AddInstruction(HloOpcode::kReshape, "r", shape, {p});
  EXPECT_EQ(InferShape(*p).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(InferShape(*reshape).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(InferShape(*reshape).status().message(), HasSubstr("r: the shape of reshape"));
}

TEST(ShapeInferenceTest, InferenceDoesNotReadTheShapeOfTheInstruction) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  HloInstruction* p = main->AddParameter(0, "p", Shape::Array(ElementType::kF32, {2, 3}));
  HloInstruction* t =
      main->AddInstruction(HloOpcode::kTranspose, "t", Shape::Scalar(ElementType::kS8), {p});
  const int64_t permutation[] = {1, 0};
  t->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(permutation));
  EXPECT_EQ(InferShape(*t)->ToString(), "f32[3,2]");
  EXPECT_EQ(CheckShape(*t).message(),
            "instruction 't' (transpose) has shape s8[] but its operands and attributes give "
            "f32[3,2]");
}

TEST(ShapeInferenceTest, OnlyOperationsThatPassAValueOnKeepItsLayout) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  Shape shape = Shape::Array(ElementType::kF32, {2, 3});
  shape.SetLayout(Order({0, 1}));
  HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* negate = main->AddInstruction(HloOpcode::kNegate, "n", shape, {p});
  HloInstruction* tuple = main->AddInstruction(HloOpcode::kTuple, "t", shape, {p});
  EXPECT_EQ(InferShape(*negate)->ToString(), "f32[2,3]");
  EXPECT_EQ(InferShape(*tuple)->ToString(), "(f32[2,3]{0,1})");
  EXPECT_TRUE(CheckShape(*negate).ok());
}

TEST(ShapeInferenceTest, AnInferredShapeHasANumberOfElementsThatFits64Bits) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape large = Shape::Array(ElementType::kF32, {int64_t{1} << 40});
  HloInstruction* p = main->AddParameter(0, "p", large);
  HloInstruction* dot = main->AddInstruction(HloOpcode::kDot, "d", large, {p, p});
  const absl::Status status = InferShape(*dot).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("d: dot"));
  EXPECT_THAT(status.message(), HasSubstr("f32[1099511627776,1099511627776]"));
}

TEST(ShapeInferenceTest, AgreementIgnoresLayoutsAndWhetherADimensionIsBounded) {
  EXPECT_EQ(CheckInstruction({"f32[2,3]{0,1}"}, "f32[2,3]{1,0} negate(p0)"), "f32[2,3]");
  EXPECT_EQ(CheckInstruction({"f32[<=5]"}, "f32[5] negate(p0)"), "f32[5]");
  EXPECT_EQ(CheckInstruction({"f32[5]"}, "f32[<=5] negate(p0)"), "f32[<=5]");
  EXPECT_EQ(CheckInstruction({"f32[?]"}, "f32[7] negate(p0)"), "f32[7]");
  EXPECT_THAT(CheckInstruction({"f32[<=5]"}, "f32[<=6] negate(p0)"),
              HasSubstr("has shape f32[<=6] but its operands and attributes give f32[<=5]"));
}

TEST(ShapeInferenceTest, LongShapesAreCutOffInMessages) {
  std::string tuple = "(f32[1]";
  for (int k = 0; k < 1000; ++k) absl::StrAppend(&tuple, ", f32[1]");
  absl::StrAppend(&tuple, ")");
  const std::string message = CheckInstruction({tuple}, "f32[1] negate(p0)");
  EXPECT_THAT(message, HasSubstr("operand 0 is not an array"));
  EXPECT_LT(message.size(), 400);
}

TEST(CheckIsValidTest, ReportsNegativeSizesOverflowAndLayoutsOfOtherRanks) {
  EXPECT_TRUE(CheckIsValid(Shape::Array(ElementType::kF32, {0, int64_t{1} << 62})).ok());
  EXPECT_FALSE(CheckIsValid(Shape::Array(ElementType::kF32, {4, int64_t{1} << 61})).ok());
  EXPECT_FALSE(
      CheckIsValid(Shape::Tuple({Shape::Array(ElementType::kF32, {4, int64_t{1} << 61})})).ok());
  EXPECT_FALSE(CheckIsValid(Shape::Array(ElementType::kF32, {3, -1})).ok());
  Shape shape = Shape::Array(ElementType::kF32, {2, 3});
  shape.SetLayout(Order({0, 1}));
  EXPECT_TRUE(CheckIsValid(shape).ok());
  shape.SetLayout(Order({0}));
  EXPECT_FALSE(CheckIsValid(shape).ok());
  shape.SetLayout(Order({0, 0}));
  EXPECT_FALSE(CheckIsValid(shape).ok());
  shape.SetLayout(Order({0, 2}));
  EXPECT_FALSE(CheckIsValid(shape).ok());
}

}  // namespace
}  // namespace xla_indexing::internal
