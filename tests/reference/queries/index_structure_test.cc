// What gathers and scatters are said to be, against their values: random ones whose indices are made
// of slices, reverses, transposes, broadcasts and diagonals by arithmetic, and any others.
#include "xla_indexing/query/index_structure/index_structure.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/made_indices.h"
#include "tests/testing/effort.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/query/equivalence/equivalence.h"

namespace xla_indexing::reference {
namespace {

std::vector<std::vector<std::optional<Integer>>> ValuesOf(const Value& value) {
  std::vector<std::vector<std::optional<Integer>>> values;
  for (const Array& array : value) {
    values.emplace_back();
    for (const Element& element : array.elements()) values.back().push_back(element.value);
  }
  return values;
}

// The result of a scatter, no two updates of which go to one element; none where it is not known here
// what its combiner does.
std::optional<Array> ScatterResult(const HloInstruction& scatter, const Execution& execution) {
  Array result = execution.ValueOf(scatter.operand(0))[0];
  const auto truth = DependenceOfInstruction(scatter, execution);
  EXPECT_TRUE(truth.ok()) << truth.status();
  const HloInstruction& combiner = *scatter.to_apply()->root_instruction();
  const bool is_parameter = combiner.opcode() == HloOpcode::kParameter;
  if (is_parameter ? combiner.parameter_number() != 1
                   : combiner.operand_count() != 2 || combiner.operand(0) == combiner.operand(1)) {
    return std::nullopt;
  }
  for (const auto& [to, from] : truth->at({0, 2, 0})) {
    std::optional<Integer>& element = result.elements()[to].value;
    const std::optional<Integer> update =
        execution.ValueOf(scatter.operand(2))[0].elements()[from].value;
    // The value of a number that is no integer is not followed.
    if (!element || !update) return std::nullopt;
    switch (combiner.opcode()) {
      case HloOpcode::kParameter:
        element = update;
        break;
      case HloOpcode::kMaximum:
        element = std::max(*element, *update);
        break;
      case HloOpcode::kMinimum:
        element = std::min(*element, *update);
        break;
      case HloOpcode::kAdd: {
        if (scatter.shape().element_type() != ElementType::kS32) return std::nullopt;
        const bool is_negated = combiner.operand(1)->opcode() == HloOpcode::kNegate;
        element = static_cast<int32_t>(
            static_cast<uint32_t>(static_cast<int64_t>(*element)) +
            static_cast<uint32_t>(static_cast<int64_t>(is_negated ? -*update : *update)));
        break;
      }
      default:
        return std::nullopt;
    }
  }
  return result;
}

// Whether the equivalence query decides that maps are equal, or finds no difference.
enum class MapsAre : uint8_t { kDecided, kNotDifferent };

// The rewritten module reads the same and has the same values.
void ExpectSameAfterRewriting(const HloModule& module, uint64_t seed, MapsAre maps_are,
                              mlir::MLIRContext* context) {
  const auto rewritten = RewriteIndices(module, context);
  ASSERT_TRUE(rewritten.ok()) << rewritten.status();
  const HloComputation& before = *module.entry_computation();
  const HloComputation& after = *(*rewritten)->entry_computation();
  // Values that only decide where elements are need not be read any more.
  const HloInstruction& root = *before.root_instruction();
  const auto is_data = [&](int64_t parameter) {
    const HloInstruction* read = before.parameters()[parameter];
    if (read->name() == "p" || read->name() == "f") return true;
    for (int64_t i = 0; i < root.operand_count(); i += 2) {
      if (root.operand(i) == read) return true;
    }
    return false;
  };
  const auto report = CompareReads(before, after, context);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const LeafComparison& leaf : report->leaves) {
    if (!is_data(leaf.parameter)) continue;
    if (leaf.same == Answer::kUndecided && maps_are == MapsAre::kNotDifferent) continue;
    EXPECT_EQ(leaf.same, Answer::kYes) << leaf.reason << (*rewritten)->ToString();
  }
  const std::vector<Value> arguments = RandomArguments(before, seed);
  const auto of_before = Execute(before, Pointers(arguments), seed);
  const auto of_after = Execute(after, Pointers(arguments), seed);
  ASSERT_TRUE(of_before.ok()) << of_before.status();
  ASSERT_TRUE(of_after.ok()) << of_after.status() << (*rewritten)->ToString();
  // Executions give scatters and maps arbitrary values.
  auto expected = ValuesOf(of_before->ValueOf(&root));
  bool is_expected = true;
  if (root.opcode() == HloOpcode::kScatter) {
    const std::optional<Array> result = ScatterResult(root, *of_before);
    is_expected = result.has_value();
    if (result) expected = ValuesOf({*result});
  }
  const auto instructions = after.instructions();
  if (is_expected &&
      !std::any_of(instructions.begin(), instructions.end(), [](const HloInstruction* i) {
        return i->opcode() == HloOpcode::kScatter || i->opcode() == HloOpcode::kMap;
      })) {
    EXPECT_EQ(expected, ValuesOf(of_after->ValueOf(after.root_instruction())))
        << (*rewritten)->ToString();
  }
  const auto reads_before = DependenceOfComputation(before, Pointers(arguments), seed);
  const auto reads_after = DependenceOfComputation(after, Pointers(arguments), seed);
  ASSERT_TRUE(reads_before.ok() && reads_after.ok());
  for (const auto& [pair, relation] : *reads_before) {
    if (!is_data(pair.operand)) continue;
    const auto after_it = reads_after->find(pair);
    const Relation of_after = after_it == reads_after->end() ? Relation() : after_it->second;
    EXPECT_EQ(relation, of_after) << (*rewritten)->ToString();
  }
}

TEST(RandomIndexStructureTest, WhatIsMadeByArithmeticIsRecognised) {
  std::map<std::string, int> named;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < Cases(10000); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const MadeAccess made = MakeAccess(i, /*is_scatter=*/i % 4 == 3);
    const auto module = ParseAndVerifyModule(made.text);
    ASSERT_TRUE(module.ok()) << module.status() << made.text;
    const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
    const auto structure = IndexStructureOf(root, context.get());
    ASSERT_TRUE(structure.ok()) << structure.status();
    const std::vector<std::string> parts = absl::StrSplit(structure->name, ", ");
    EXPECT_EQ(std::set<std::string>(parts.begin(), parts.end()), made.parts);
    EXPECT_EQ(structure->in_bounds.holds, Answer::kYes);
    if (made.is_scatter) {
      EXPECT_EQ(structure->unique.holds, Answer::kYes);
    }
    EXPECT_NE(structure->sorted.holds, Answer::kUndecided);
    ++named[structure->name];
    ExpectSameAfterRewriting(**module, i, MapsAre::kDecided, context.get());
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i << "\n" << made.text;
  }
  EXPECT_GT(named.size(), 15);
}

TEST(RandomIndexStructureTest, EveryClassOfIndexingSyntaxIsRecognisedAndRewritten) {
  std::map<std::string, int> made_of;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < Cases(10000); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const MadeClass made = MakeClass(i);
    const auto module = ParseAndVerifyModule(made.text);
    ASSERT_TRUE(module.ok()) << module.status() << made.text;
    const HloInstruction& root = *(*module)->entry_computation()->root_instruction();
    const auto structure = IndexStructureOf(root, context.get());
    ASSERT_TRUE(structure.ok()) << structure.status();
    EXPECT_TRUE(absl::StrContains(structure->name, made.contains)) << structure->name;
    EXPECT_EQ(std::count(made.forms.begin(), made.forms.end(), structure->form), 1)
        << structure->name << ": " << structure->reason;
    EXPECT_EQ(structure->not_replaced.empty(), !made.stays) << structure->not_replaced;
    EXPECT_EQ(structure->replacement.gather || structure->replacement.scatter, !made.stays);
    if (made.is_in_bounds) {
      EXPECT_EQ(structure->in_bounds.holds, Answer::kYes);
    }
    ++made_of[made.name];
    ExpectSameAfterRewriting(**module, i, MapsAre::kDecided, context.get());
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i << "\n" << made.text;
  }
  EXPECT_EQ(made_of.size(), 8);
}

// The index vectors of an executed gather or scatter, in the order of the operand's dimensions, and
// whether each window is inside.
struct ExecutedVectors {
  bool are_sorted = true;
  bool are_inside = true;
};

ExecutedVectors VectorsOf(const HloInstruction& instruction, const Execution& execution) {
  const bool is_gather = instruction.opcode() == HloOpcode::kGather;
  const Array& indices = execution.ValueOf(instruction.operand(1))[0];
  const Shape& operand = instruction.operand(0)->shape();
  const auto of_gather = instruction.gather_dimension_numbers();
  const auto of_scatter = instruction.scatter_dimension_numbers();
  const auto index_map =
      is_gather ? of_gather.start_index_map : of_scatter.scatter_dims_to_operand_dims;
  const auto operand_batching =
      is_gather ? of_gather.operand_batching_dims : of_scatter.input_batching_dims;
  const auto indices_batching =
      is_gather ? of_gather.start_indices_batching_dims : of_scatter.scatter_indices_batching_dims;
  const int64_t vector_dim = is_gather ? of_gather.index_vector_dim : of_scatter.index_vector_dim;
  std::vector<int64_t> window(operand.rank(), 1);
  size_t next = 0;
  for (int64_t dim = 0; dim < operand.rank(); ++dim) {
    if (is_gather) {
      window[dim] = instruction.gather_slice_sizes()[dim];
      continue;
    }
    const auto& inserted = of_scatter.inserted_window_dims;
    if (std::count(inserted.begin(), inserted.end(), dim) ||
        std::count(operand_batching.begin(), operand_batching.end(), dim)) {
      continue;
    }
    window[dim] = instruction.operand(2)->shape().dimension(of_scatter.update_window_dims[next++]);
  }
  std::vector<int64_t> batch_sizes(indices.sizes().begin(), indices.sizes().end());
  const bool has_vector_dim = vector_dim < static_cast<int64_t>(batch_sizes.size());
  if (has_vector_dim) batch_sizes.erase(batch_sizes.begin() + vector_dim);
  ExecutedVectors executed;
  std::optional<std::vector<Integer>> last;
  ForEachIndex(batch_sizes, [&](const Index& batch) {
    std::vector<Integer> vector;
    for (int64_t dim = 0; dim < operand.rank(); ++dim) {
      for (size_t i = 0; i < operand_batching.size(); ++i) {
        if (operand_batching[i] != dim) continue;
        const int64_t of = indices_batching[i];
        vector.push_back(batch[of - (has_vector_dim && of > vector_dim ? 1 : 0)]);
      }
      for (size_t j = 0; j < index_map.size(); ++j) {
        if (index_map[j] != dim) continue;
        Index at = batch;
        if (has_vector_dim) at.insert(at.begin() + vector_dim, static_cast<int64_t>(j));
        vector.push_back(*indices.at(at).value);
        executed.are_inside = executed.are_inside && vector.back() >= 0 &&
                              vector.back() <= operand.dimension(dim) - window[dim];
      }
    }
    executed.are_sorted = executed.are_sorted && (!last || *last <= vector);
    last = std::move(vector);
  });
  return executed;
}

TEST(RandomIndexStructureTest, OfAnyGathersAndScattersNothingIsSaidThatIsNotSo) {
  int decided = 0;
  int recognised = 0;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < Cases(6000); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const auto module = ParseAndVerifyModule(
        RandomOperationModule(i % 2 == 0 ? HloOpcode::kGather : HloOpcode::kScatter, i));
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& entry = *(*module)->entry_computation();
    const HloInstruction& root = *entry.root_instruction();
    if (!HasIndexStructure(root)) continue;
    const auto structure = IndexStructureOf(root, context.get());
    ASSERT_TRUE(structure.ok()) << structure.status();
    for (const uint64_t seed : {i, i + 1}) {
      const std::vector<Value> arguments = RandomArguments(entry, seed);
      const auto execution = Execute(entry, Pointers(arguments), seed);
      ASSERT_TRUE(execution.ok()) << execution.status();
      const ExecutedVectors vectors = VectorsOf(root, *execution);
      const auto check = [&](const IndexProperty& property, bool is_so) {
        if (property.holds == Answer::kUndecided) return;
        ++decided;
        EXPECT_EQ(property.holds == Answer::kYes, is_so) << property.reason;
      };
      check(structure->sorted, vectors.are_sorted);
      check(structure->in_bounds, vectors.are_inside);
      if (root.opcode() != HloOpcode::kScatter) continue;
      const auto truth = DependenceOfInstruction(root, *execution);
      ASSERT_TRUE(truth.ok());
      std::map<int64_t, std::set<int64_t>> updates_of;
      for (const auto& [to, from] : truth->at({0, 2, 0})) updates_of[to].insert(from);
      const bool is_unique = std::all_of(updates_of.begin(), updates_of.end(),
                                         [](const auto& of) { return of.second.size() < 2; });
      if (structure->unique.holds == Answer::kYes) {
        EXPECT_TRUE(is_unique) << structure->unique.reason;
      }
    }
    recognised += structure->form != IndexedForm::kUnrecognised ? 1 : 0;
    ExpectSameAfterRewriting(**module, i, MapsAre::kNotDifferent, context.get());
    if (::testing::Test::HasFailure()) {
      FAIL() << "seed " << i << "\n" << structure->name << "\n" << (*module)->ToString();
    }
  }
  std::cout << decided << " properties decided, " << recognised << " recognised\n";
  EXPECT_GT(decided, Cases(1000));
  EXPECT_GT(recognised, Cases(100));
}

}  // namespace
}  // namespace xla_indexing::reference
