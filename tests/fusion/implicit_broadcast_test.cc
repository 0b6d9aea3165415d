// Implicit broadcasts that the builder made explicit have the maps that they have without: from the
// result to each parameter and back.

#include "xla_indexing/ops/implicit_broadcast.h"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/map/sets/decide.h"

namespace xla_indexing {
namespace {

using Instructions = std::vector<const HloInstruction*>;

// An operation on operands of these shapes, lined up by numpy's rule or as XLA is told.
struct Operation {
  HloOpcode opcode = HloOpcode::kMap;
  std::vector<Shape> operands;
  bool is_numpy = true;
  std::vector<int64_t> broadcast_dimensions;

  absl::StatusOr<ImplicitBroadcast> LinedUp() const {
    return is_numpy ? BroadcastLikeNumpy(operands)
                    : BroadcastLikeXla(operands, broadcast_dimensions);
  }

  std::string ToString() const {
    std::string text(OpcodeName(opcode));
    for (const Shape& shape : operands) absl::StrAppend(&text, " ", shape.ToString());
    for (const int64_t d : broadcast_dimensions) absl::StrAppend(&text, " ", d);
    return text;
  }
};

// A computation of scalars that adds its parameters.
absl::StatusOr<const HloComputation*> AddSum(int64_t count, HloModule* module) {
  HloBuilder builder(module->AddComputation("sum"));
  absl::StatusOr<const HloInstruction*> sum = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const auto parameter = builder.AddParameter(i, Shape::Scalar(ElementType::kF32));
    if (!parameter.ok()) return parameter.status();
    sum = i == 0 ? parameter : builder.Add(HloOpcode::kAdd, {*sum, *parameter});
    if (!sum.ok()) return sum.status();
  }
  return builder.computation();
}

// The operation with its broadcasts explicit, on parameters.
absl::StatusOr<std::unique_ptr<HloModule>> Build(const Operation& operation, BroadcastStyle style) {
  auto module = std::make_unique<HloModule>("m");
  InstructionDetails details{.name = "operation",
                             .broadcast_dimensions = operation.broadcast_dimensions};
  if (operation.opcode == HloOpcode::kMap) {
    const auto sum = AddSum(static_cast<int64_t>(operation.operands.size()), module.get());
    if (!sum.ok()) return sum.status();
    details.attributes = {MakeAttribute(AttributeKey::kToApply, *sum)};
  }
  HloBuilder builder(
      module->AddComputation("main"),
      {.rule = operation.is_numpy ? BroadcastRule::kNumpy : BroadcastRule::kXla, .style = style});
  Instructions parameters;
  for (const Shape& shape : operation.operands) {
    const auto parameter = builder.AddParameter(static_cast<int64_t>(parameters.size()), shape);
    if (!parameter.ok()) return parameter.status();
    parameters.push_back(*parameter);
  }
  const auto root = builder.Add(operation.opcode, parameters, details);
  if (!root.ok()) return root.status();
  const absl::Status status = CheckBuiltModule(*module);
  if (!status.ok()) return status;
  return module;
}

// The maps of each operand, in normal form.
using SetsOfOperands = std::vector<OperandIndexingSet>;

SetsOfOperands ByOperand(const absl::StatusOr<InstructionIndexing>& entries, size_t count) {
  SetsOfOperands sets(count);
  EXPECT_TRUE(entries.ok()) << entries.status();
  if (!entries.ok()) return sets;
  for (const IndexingEntry& entry : *entries) {
    EXPECT_EQ(entry.output_leaf, 0);
    sets[entry.operand] = entry.indexing;
    sets[entry.operand].Simplify();
  }
  return sets;
}

std::string Text(const SetsOfOperands& sets) {
  std::string text;
  for (size_t i = 0; i < sets.size(); ++i) {
    for (const OperandIndexing& map : sets[i]) {
      absl::StrAppend(&text, i, ": ", map.MapToString(), "\n");
    }
  }
  return text;
}

using Index = std::vector<int64_t>;
using Relation = std::set<std::pair<Index, Index>>;

// All indices of an array, in order.
std::vector<Index> IndicesOf(const Shape& shape) {
  std::vector<Index> indices = {{}};
  for (const int64_t size : shape.dimensions()) {
    std::vector<Index> longer;
    for (const Index& index : indices) {
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    }
    indices = std::move(longer);
  }
  return indices;
}

// What the elements of the result read of an operand: the definition.
Relation Definition(const Shape& result, const Shape& operand,
                    const std::vector<int64_t>& dimensions) {
  Relation relation;
  for (const Index& r : IndicesOf(result)) {
    Index a;
    for (int64_t k = 0; k < operand.rank(); ++k) {
      a.push_back(operand.dimension(k) == 1 ? 0 : r[dimensions[k]]);
    }
    relation.emplace(r, a);
  }
  return relation;
}

// All pairs of a set; those of the way back turned round.
Relation PairsOf(const OperandIndexingSet& set, bool is_back) {
  Relation relation;
  for (const OperandIndexing& indexing : set) {
    EXPECT_TRUE(indexing.IsExact());
    const absl::Status status =
        indexing.map().ForEachPoint(1 << 20, [&](auto dims, auto, auto results) {
          Index from(dims.begin(), dims.end());
          Index to(results.begin(), results.end());
          if (is_back) from.swap(to);
          relation.emplace(std::move(from), std::move(to));
        });
    EXPECT_TRUE(status.ok()) << status;
  }
  return relation;
}

// The one case of every operand, in normal form, both ways; compared with the definition.
std::pair<SetsOfOperands, SetsOfOperands> ImplicitMaps(const Operation& operation,
                                                       mlir::MLIRContext* context) {
  std::pair<SetsOfOperands, SetsOfOperands> maps;
  const auto broadcast = operation.LinedUp();
  EXPECT_TRUE(broadcast.ok()) << broadcast.status();
  if (!broadcast.ok()) return maps;
  const BroadcastIndexing indexing =
      ComputeBroadcastIndexing(operation.operands, *broadcast, context);
  for (size_t i = 0; i < operation.operands.size(); ++i) {
    EXPECT_EQ(indexing.operands[i].size(), 1u);
    const BroadcastCase& one = indexing.operands[i][0];
    const Relation expected =
        Definition(broadcast->result, operation.operands[i], broadcast->dimensions[i]);
    EXPECT_EQ(PairsOf(one.result_to_operand, /*is_back=*/false), expected);
    EXPECT_EQ(PairsOf(one.operand_to_result, /*is_back=*/true), expected);
    maps.first.push_back(one.result_to_operand);
    maps.second.push_back(one.operand_to_result);
    maps.first.back().Simplify();
    maps.second.back().Simplify();
  }
  return maps;
}

// Compares the maps of the operation, built in both styles, with those without building it.
void Check(const Operation& operation, mlir::MLIRContext* context) {
  SCOPED_TRACE(operation.ToString());
  const auto [to_operand, to_result] = ImplicitMaps(operation, context);
  const size_t count = operation.operands.size();
  for (const BroadcastStyle style : {BroadcastStyle::kDirect, BroadcastStyle::kPromoted}) {
    const auto module = Build(operation, style);
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& main = *(*module)->entry_computation();
    const SetsOfOperands built_to_operand =
        ByOperand(Entries(main, Direction::kOutputToInput, context), count);
    const SetsOfOperands built_to_result =
        ByOperand(Entries(main, Direction::kInputToOutput, context), count);
    EXPECT_EQ(built_to_operand, to_operand) << Text(built_to_operand) << "not\n"
                                            << Text(to_operand);
    EXPECT_EQ(built_to_result, to_result) << Text(built_to_result) << "not\n" << Text(to_result);
  }
}

Shape Array(std::initializer_list<int64_t> dimensions) {
  return Shape::Array(ElementType::kF32, dimensions);
}

class DocumentBroadcast : public ::testing::Test {
 protected:
  DocumentBroadcast() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  mlir::MLIRContext context_;
};

TEST_F(DocumentBroadcast, CasesHaveTheSameMapsInBothStyles) {
  for (const bool is_numpy : {true, false}) {
    Check({HloOpcode::kMultiply, {Array({10, 1}), Array({1, 5})}, is_numpy, {}}, &context_);
    Check({HloOpcode::kMultiply, {Array({}), Array({1, 5})}, is_numpy, {}}, &context_);
  }
  Check({HloOpcode::kMultiply, {Array({10, 1}), Array({6, 8, 1, 5})}, true, {}}, &context_);
  Check({HloOpcode::kMultiply, {Array({10, 1}), Array({6, 8, 1, 5})}, false, {2, 3}}, &context_);
}

// Maps without normal form, as the builders of single operations and of the broadcast say them.
TEST_F(DocumentBroadcast, MapsAreTheSameRelationAsThoseOfTheBuiltModule) {
  const Operation operation = {
      HloOpcode::kMultiply, {Array({10, 1}), Array({6, 8, 1, 5})}, true, {}};
  const auto broadcast = operation.LinedUp();
  const auto module = Build(operation, BroadcastStyle::kPromoted);
  ASSERT_TRUE(broadcast.ok() && module.ok());
  const BroadcastIndexing indexing =
      ComputeBroadcastIndexing(operation.operands, *broadcast, &context_);
  const auto entries =
      Entries(*(*module)->entry_computation(), Direction::kOutputToInput, &context_);
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 2u);
  for (const IndexingEntry& entry : *entries) {
    const OperandIndexingSet& set = indexing.operands[entry.operand][0].result_to_operand;
    const auto same = SameRelation(set.maps()[0].map(), entry.indexing.maps()[0].map());
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_TRUE(same->IsYes());
  }
}

// --- Random broadcasts

constexpr int64_t kMaxElements = 48;

std::vector<int64_t> RandomSizes(Random& random) {
  std::vector<int64_t> sizes;
  int64_t elements = 1;
  for (int64_t rank = random.Between(0, 5); rank > 0; --rank) {
    int64_t size = random.OneIn(12) ? 0 : random.Between(1, 4);
    if (elements * size > kMaxElements) size = 1;
    elements *= size;
    sizes.push_back(size);
  }
  return sizes;
}

// Some of these sizes may become 1.
Shape RandomOperand(const std::vector<int64_t>& sizes, Random& random) {
  Shape shape = Shape::Scalar(ElementType::kF32);
  for (const int64_t size : sizes) shape.AddDimension(random.OneIn(3) ? 1 : size);
  return shape;
}

HloOpcode RandomOpcode(size_t operands, Random& random) {
  if (operands == 2 && random.OneIn(2)) return HloOpcode::kPower;
  if (operands == 3 && random.OneIn(2)) {
    return random.OneIn(2) ? HloOpcode::kSelect : HloOpcode::kClamp;
  }
  return HloOpcode::kMap;
}

Operation RandomOperation(Random& random) {
  Operation operation;
  const std::vector<int64_t> sizes = RandomSizes(random);
  const auto rank = static_cast<int64_t>(sizes.size());
  operation.is_numpy = !random.OneIn(3);
  if (!operation.is_numpy) {
    // Some of the dimensions of the result, not necessarily the last.
    for (int64_t d = 0; d < rank; ++d) {
      if (random.OneIn(2)) operation.broadcast_dimensions.push_back(d);
    }
    const auto lower = static_cast<int64_t>(operation.broadcast_dimensions.size());
    if (lower == rank) operation.broadcast_dimensions.clear();
  }
  bool is_list_used = false;
  for (int64_t count = random.Between(1, 4); count > 0; --count) {
    std::vector<int64_t> own = sizes;
    if (operation.is_numpy) {
      own.erase(own.begin(), own.begin() + random.Between(0, rank));
    } else if (!operation.operands.empty() && random.OneIn(4)) {
      own.clear();
    } else if (!operation.operands.empty() && !operation.broadcast_dimensions.empty() &&
               random.OneIn(2)) {
      own.clear();
      for (const int64_t d : operation.broadcast_dimensions) own.push_back(sizes[d]);
      is_list_used = true;
    }
    operation.operands.push_back(RandomOperand(own, random));
  }
  if (!is_list_used) operation.broadcast_dimensions.clear();
  operation.opcode = RandomOpcode(operation.operands.size(), random);
  if (operation.opcode == HloOpcode::kSelect) {
    operation.operands[0].SetElementType(ElementType::kPred);
  }
  return operation;
}

constexpr int kShards = 10;

class RandomBroadcast : public ::testing::TestWithParam<int> {};

TEST_P(RandomBroadcast, IsWhatItIsWithoutBuildingIt) {
  const int kCases = Cases(10000) / kShards;
  constexpr int kCasesOfAContext = 100;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < kCases && !HasFailure(); ++i) {
    if (i % kCasesOfAContext == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    Random random(static_cast<uint64_t>(GetParam()) * 1000000 + i);
    Check(RandomOperation(random), context.get());
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomBroadcast, ::testing::Range(0, kShards));

}  // namespace
}  // namespace xla_indexing
