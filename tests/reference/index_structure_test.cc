// What gathers and scatters are said to be, against their values: random ones whose indices are made
// of slices, reverses, transposes, broadcasts and diagonals by arithmetic, and any others.
#include "xla_indexing/query/index_structure.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/dependence.h"
#include "tests/reference/devices.h"
#include "tests/reference/execute.h"
#include "tests/reference/value.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random_hlo.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/query/equivalence.h"

namespace xla_indexing::reference {
namespace {

// A gather from, or a scatter into, s32[sizes] with an index vector for every element: coordinate k is
// start + stride * (index along a dimension of the result).
struct MadeAccess {
  std::string text;
  std::set<std::string> parts;  // of the name that it has to have
  bool is_scatter = false;
};

MadeAccess MakeAccess(uint64_t seed, bool is_scatter) {
  Random random(seed);
  MadeAccess made;
  made.is_scatter = is_scatter;
  const auto rank = static_cast<int>(random.Between(1, 3));
  std::vector<int64_t> sizes;
  std::vector<int64_t> starts;
  std::vector<int64_t> strides;
  std::vector<int64_t> counts;
  for (int i = 0; i < rank; ++i) {
    const int64_t stride = is_scatter ? 1 : random.Between(1, 3);
    const int64_t count = random.Between(2, 4);
    const int64_t slack = random.Between(0, 2);
    const int64_t size = (count - 1) * stride + 1 + slack;
    const int64_t low = random.Between(0, slack);
    const bool is_reversed = !is_scatter && random.OneIn(3);
    sizes.push_back(size);
    counts.push_back(count);
    strides.push_back(is_reversed ? -stride : stride);
    starts.push_back(is_reversed ? low + (count - 1) * stride : low);
    if (stride > 1) made.parts.insert("strided slice");
    if (is_reversed) made.parts.insert("reverse");
  }
  if (made.parts.count("strided slice") == 0 && counts != sizes) made.parts.insert("slice");
  // Which dimension of the operand runs along each dimension of the result; rank: none.
  std::vector<int> along(rank);
  std::iota(along.begin(), along.end(), 0);
  random.Shuffle(&along);
  if (!std::is_sorted(along.begin(), along.end())) made.parts.insert("transpose");
  bool is_diagonal = false;
  if (!is_scatter && rank > 1 && random.OneIn(5)) {
    // Two dimensions of the operand run along one of the result.
    is_diagonal = true;
    counts[along[1]] = counts[along[0]] = std::min(counts[along[0]], counts[along[1]]);
  }
  std::vector<int64_t> result;
  for (const int dim : along) result.push_back(counts[dim]);
  if (is_diagonal) result.erase(result.begin() + 1);
  if (!is_scatter && random.OneIn(4)) {
    result.push_back(random.Between(2, 3));
    made.parts.insert("broadcast");
  }
  if (is_diagonal) made.parts = {"diagonal"};

  std::string body;
  const std::string type = random.OneIn(2) ? "s32" : "s64";
  const std::string shape = absl::StrCat("[", absl::StrJoin(result, ","), "]");
  std::vector<std::string> components;
  std::vector<int64_t> with_one = result;
  with_one.push_back(1);
  const std::string vector_shape = absl::StrCat("[", absl::StrJoin(with_one, ","), "]");
  for (int k = 0; k < rank; ++k) {
    auto dim = std::find(along.begin(), along.end(), k) - along.begin();
    if (is_diagonal && dim > 0) --dim;
    absl::StrAppend(&body, "  i", k, " = ", type, shape, " iota(), iota_dimension=", dim, "\n");
    absl::StrAppend(&body, "  a", k, " = ", type, "[] constant(", strides[k], ")\n  b", k, " = ",
                    type, "[] constant(", starts[k], ")\n");
    absl::StrAppend(&body, "  aa", k, " = ", type, shape, " broadcast(a", k, "), dimensions={}\n");
    absl::StrAppend(&body, "  bb", k, " = ", type, shape, " broadcast(b", k, "), dimensions={}\n");
    absl::StrAppend(&body, "  m", k, " = ", type, shape, " multiply(i", k, ", aa", k, ")\n");
    absl::StrAppend(&body, "  s", k, " = ", type, shape, " add(m", k, ", bb", k, ")\n");
    absl::StrAppend(&body, "  v", k, " = ", type, vector_shape, " reshape(s", k, ")\n");
    components.push_back(absl::StrCat("v", k));
  }
  std::vector<int64_t> with_vector = result;
  with_vector.push_back(rank);
  absl::StrAppend(&body, "  indices = ", type, "[", absl::StrJoin(with_vector, ","),
                  "] concatenate(", absl::StrJoin(components, ", "), "), dimensions={",
                  result.size(), "}\n");
  std::vector<int> all(rank);
  std::iota(all.begin(), all.end(), 0);
  const std::string dims = absl::StrJoin(all, ",");
  const std::string operand = absl::StrCat("s32[", absl::StrJoin(sizes, ","), "]");
  if (!is_scatter) {
    made.text = absl::StrCat(
        "HloModule m\nENTRY e {\n  p = ", operand, " parameter(0)\n", body, "  ROOT r = s32", shape,
        " gather(p, indices), offset_dims={}, collapsed_slice_dims={", dims, "}, start_index_map={",
        dims, "}, index_vector_dim=", result.size(), ", slice_sizes={",
        absl::StrJoin(std::vector<int>(rank, 1), ","), "}\n}\n");
    if (made.parts.empty()) made.parts = {"copy"};
    return made;
  }
  const bool replaces = random.OneIn(2);
  made.parts = {replaces ? "dynamic-update-slice" : "accumulation over disjoint windows"};
  made.text = absl::StrCat(
      "HloModule m\nf { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] ",
      replaces ? "add(b, z)" : "add(a, b)", " }\nENTRY e {\n  p = ", operand,
      " parameter(0)\n  u = s32", shape, " parameter(1)\n", body, "  ROOT r = ", operand,
      " scatter(p, indices, u), update_window_dims={}, inserted_window_dims={", dims,
      "}, scatter_dims_to_operand_dims={", dims, "}, index_vector_dim=", result.size(),
      ", to_apply=f\n}\n");
  if (replaces) {
    made.text.replace(made.text.find("ROOT c = s32[] add(b, z)"), 24, "");
    made.text.replace(made.text.find("b = s32[] parameter(1)"), 22, "ROOT b = s32[] parameter(1)");
  }
  return made;
}

std::vector<std::vector<std::optional<Integer>>> ValuesOf(const Value& value) {
  std::vector<std::vector<std::optional<Integer>>> values;
  for (const Array& array : value) {
    values.emplace_back();
    for (const Element& element : array.elements()) values.back().push_back(element.value);
  }
  return values;
}

// The rewritten module reads the same and has the same values.
void ExpectSameAfterRewriting(const HloModule& module, uint64_t seed, mlir::MLIRContext* context) {
  const auto rewritten = RewriteIndices(module, context);
  ASSERT_TRUE(rewritten.ok()) << rewritten.status();
  const HloComputation& before = *module.entry_computation();
  const HloComputation& after = *(*rewritten)->entry_computation();
  // Values that only decide where elements are need not be read any more.
  const HloInstruction& root = *before.root_instruction();
  const auto is_data = [&](int64_t parameter) {
    for (int64_t i = 0; i < root.operand_count(); i += 2) {
      if (root.operand(i) == before.parameters()[parameter]) return true;
    }
    return false;
  };
  const auto report = CompareReads(before, after, context);
  ASSERT_TRUE(report.ok()) << report.status();
  for (const LeafComparison& leaf : report->leaves) {
    if (!is_data(leaf.parameter)) continue;
    EXPECT_NE(leaf.same, Answer::kNo) << (*rewritten)->ToString();
  }
  const std::vector<Value> arguments = RandomArguments(before, seed);
  const auto of_before = Execute(before, Pointers(arguments), seed);
  const auto of_after = Execute(after, Pointers(arguments), seed);
  if (!of_before.ok()) return;
  ASSERT_TRUE(of_after.ok()) << of_after.status() << (*rewritten)->ToString();
  auto expected = ValuesOf(of_before->ValueOf(&root));
  if (root.opcode() == HloOpcode::kScatter) {
    // Values of scatters are arbitrary in executions; of one that replaces they are its updates.
    if (after.root_instruction()->opcode() != HloOpcode::kDynamicUpdateSlice) return;
    const auto truth = DependenceOfInstruction(root, *of_before);
    ASSERT_TRUE(truth.ok());
    expected = ValuesOf(of_before->ValueOf(root.operand(0)));
    for (const auto& [to, from] : truth->at({0, 2, 0})) {
      expected[0][to] = of_before->ValueOf(root.operand(2))[0].elements()[from].value;
    }
  }
  EXPECT_EQ(expected, ValuesOf(of_after->ValueOf(after.root_instruction())))
      << (*rewritten)->ToString();
  const auto reads_before = DependenceOfComputation(before, Pointers(arguments), seed);
  const auto reads_after = DependenceOfComputation(after, Pointers(arguments), seed);
  if (!reads_before.ok() || !reads_after.ok()) return;
  for (const auto& [pair, relation] : *reads_before) {
    if (!is_data(pair.operand)) continue;
    EXPECT_EQ(relation, reads_after->at(pair)) << (*rewritten)->ToString();
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
    ExpectSameAfterRewriting(**module, i, context.get());
    if (::testing::Test::HasFailure()) FAIL() << "seed " << i << "\n" << made.text;
  }
  EXPECT_GT(named.size(), 15);
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
    ExpectSameAfterRewriting(**module, i, context.get());
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
