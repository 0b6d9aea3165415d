// Arrays that are computed whole, against the reference: every array of integers or predicates that the
// library computes from a module's arguments has the values that execution gives it.

#include "xla_indexing/ops/values/known_arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::reference {
namespace {

using internal::ArrayEvaluator;
using internal::KnownLeaves;

bool HoldsIntegers(const Shape& shape) {
  return IsIntegral(shape.element_type()) || IsPred(shape.element_type());
}

// The arrays of integers of a value.
KnownLeaves AsKnown(const Value& value) {
  KnownLeaves leaves;
  for (const Array& array : value) {
    std::shared_ptr<const Literal> known;
    absl::StatusOr<Literal> literal = Literal::Zeros(array.shape());
    if (HoldsIntegers(array.shape()) && literal.ok()) {
      for (size_t i = 0; i < array.elements().size(); ++i) {
        literal->SetBits(static_cast<int64_t>(i),
                         static_cast<uint64_t>(static_cast<int64_t>(*array.elements()[i].value)));
      }
      known = std::make_shared<const Literal>(*std::move(literal));
    }
    leaves.push_back(std::move(known));
  }
  return leaves;
}

// Whether the reference defines all elements, from operands that it defines.
bool IsDefined(const HloInstruction& instruction, const Execution& execution,
               const std::vector<bool>& defined) {
  if (instruction.opcode() == HloOpcode::kParameter) return true;
  const absl::Span<const HloInstruction* const> operands = instruction.operands();
  const Value& value = execution.ValueOf(&instruction);
  return std::all_of(operands.begin(), operands.end(),
                     [&](const HloInstruction* operand) {
                       return defined[static_cast<size_t>(operand->index_in_computation())];
                     }) &&
         std::all_of(value.begin(), value.end(), [](const Array& array) {
           return std::none_of(array.elements().begin(), array.elements().end(),
                               [](const Element& element) { return element.is_arbitrary; });
         });
}

struct ArrayCounts {
  int64_t compared = 0;
  int64_t known = 0;
};

// Compares all arrays of a module's entry.
void CompareArrays(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                   ArrayCounts* counts) {
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  std::vector<Value> arguments = RandomArguments(entry, seed);
  for (Value& argument : arguments) {
    for (Array& array : argument) {
      for (Element& element : array.elements()) element.is_arbitrary = false;
    }
  }
  std::vector<const Value*> pointers;
  std::vector<KnownLeaves> known_arguments;
  for (const Value& argument : arguments) {
    pointers.push_back(&argument);
    known_arguments.push_back(AsKnown(argument));
  }
  const absl::StatusOr<Execution> execution = Execute(entry, pointers, seed);
  ASSERT_TRUE(execution.ok()) << execution.status();
  StepBudget budget(int64_t{1} << 20);
  const std::vector<KnownLeaves> results =
      ArrayEvaluator(context, &budget).EvaluateAll(entry, known_arguments);
  std::vector<bool> defined;
  for (const HloInstruction* instruction : entry.instructions()) {
    defined.push_back(IsDefined(*instruction, *execution, defined));
    const Value& value = execution->ValueOf(instruction);
    const KnownLeaves& leaves = results[static_cast<size_t>(instruction->index_in_computation())];
    ASSERT_EQ(leaves.size(), value.size());
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      if (!defined.back() || !HoldsIntegers(value[leaf].shape())) continue;
      ++counts->compared;
      if (leaves[leaf] == nullptr) continue;
      ++counts->known;
      for (size_t i = 0; i < value[leaf].elements().size(); ++i) {
        const Integer expected = *value[leaf].elements()[i].value;
        const auto number = leaves[leaf]->IntegerAt(static_cast<int64_t>(i));
        // Values of u64 past the greatest int64 are not read.
        const bool is_read = expected <= std::numeric_limits<int64_t>::max();
        ASSERT_EQ(number.has_value(), is_read) << instruction->name();
        ASSERT_TRUE(!is_read || expected == *number)
            << instruction->name() << " element " << i << " is " << *number << "\n"
            << text;
      }
    }
  }
}

class KnownArraysTest : public ::testing::TestWithParam<int> {};

TEST_P(KnownArraysTest, AgreeWithExecution) {
  const std::vector<HloOpcode> opcodes = {HloOpcode::kAdd,          HloOpcode::kAnd,
                                          HloOpcode::kBroadcast,    HloOpcode::kCompare,
                                          HloOpcode::kConcatenate,  HloOpcode::kConvert,
                                          HloOpcode::kDynamicSlice, HloOpcode::kDynamicUpdateSlice,
                                          HloOpcode::kGather,       HloOpcode::kIota,
                                          HloOpcode::kMaximum,      HloOpcode::kMultiply,
                                          HloOpcode::kNot,          HloOpcode::kPad,
                                          HloOpcode::kReduce,       HloOpcode::kReduceWindow,
                                          HloOpcode::kReshape,      HloOpcode::kReverse,
                                          HloOpcode::kScatter,      HloOpcode::kSelect,
                                          HloOpcode::kShiftLeft,    HloOpcode::kSlice,
                                          HloOpcode::kSubtract,     HloOpcode::kTranspose,
                                          HloOpcode::kWhile,        HloOpcode::kConditional,
                                          HloOpcode::kClamp,        HloOpcode::kRemainder,
                                          HloOpcode::kDivide,       HloOpcode::kSort,
                                          HloOpcode::kDot};
  const int count = Cases(500);
  ArrayCounts counts;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < count && !HasFatalFailure(); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const auto seed = static_cast<uint64_t>(GetParam() * count + i);
    CompareArrays(RandomFusionModule(opcodes, seed), seed, context.get(), &counts);
  }
  std::cout << counts.known << " of " << counts.compared << " arrays known\n";
  EXPECT_GT(counts.known * 10, counts.compared * 9);
}

INSTANTIATE_TEST_SUITE_P(All, KnownArraysTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace xla_indexing::reference
