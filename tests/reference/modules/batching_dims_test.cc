// Batching dimensions of gather and scatter, as the StableHLO RFC on them has it: its worked
// examples executed by the library's maps; a batched gather (scatter) is the concatenation of those
// of the slices; and the form without batching dimensions has equal maps.

#include "xla_indexing/hlo/transforms/batching_dims.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/entries.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::reference {
namespace {

using internal::FoldOptions;
using internal::FoldRuntimeVariables;
using ::testing::ElementsAreArray;

std::unique_ptr<HloModule> Parse(const std::string& text) {
  auto module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status() << text;
  if (!module.ok()) return nullptr;
  EXPECT_TRUE(VerifyModule(**module).ok()) << VerifyModule(**module) << text;
  return *std::move(module);
}

bool HasBatchingDims(const HloModule& module) {
  const HloInstruction& root = *module.entry_computation()->root_instruction();
  return !root.GetIntegers(AttributeKey::kOperandBatchingDims).empty() ||
         !root.GetIntegers(AttributeKey::kInputBatchingDims).empty();
}

// A module's entry, executed, and its maps.
class ExecutedModule {
 public:
  ExecutedModule(const HloModule& module, const std::vector<Value>& arguments,
                 mlir::MLIRContext* context, const FusionOptions& options = {})
      : entry_(*module.entry_computation()) {
    ExecutionOptions execution_options;
    execution_options.drops_whole_windows =
        options.indexing.scatter_bounds == ScatterBounds::kWindow;
    auto execution = Execute(entry_, Pointers(arguments), 0, execution_options);
    EXPECT_TRUE(execution.ok()) << execution.status();
    execution_ = *std::move(execution);
    auto entries = Entries(entry_, Direction::kOutputToInput, context, options);
    EXPECT_TRUE(entries.ok()) << entries.status();
    entries_ = *std::move(entries);
  }

  const InstructionIndexing& entries() const { return entries_; }

  // The pairs of an element of the result and one of a parameter.
  Relation RelationTo(int64_t parameter, int64_t output_leaf = 0) const {
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (const IndexingEntry& entry : entries_) {
      if (entry.operand != parameter || entry.output_leaf != output_leaf) continue;
      const MapEnds ends = {entry_.root_instruction()->shape().Leaf(output_leaf),
                            entry_.parameter(parameter)->shape()};
      for (const OperandIndexing& indexing : entry.indexing) {
        const auto relation = RelationOf(indexing, ends, execution_);
        EXPECT_TRUE(relation.ok()) << relation.status();
        if (relation.ok()) pairs.insert(relation->begin(), relation->end());
      }
    }
    return Relation(pairs.begin(), pairs.end());
  }

  bool IsExact() const {
    return absl::c_all_of(
        entries_, [](const IndexingEntry& entry) { return entry.indexing.label().IsExact(); });
  }

  // The maps as text, with runtime variables bound to what their values come from. Not those of
  // the indices.
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    FoldOptions options;
    options.rebind_through_data_movement = true;
    for (const IndexingEntry& entry : entries_) {
      if (entry.operand == entry_.root_instruction()->operand_count() / 2) continue;
      OperandIndexingSet maps = FoldRuntimeVariables(entry.indexing, options);
      maps.Simplify();
      for (const OperandIndexing& indexing : maps) {
        lines.push_back(
            absl::StrCat(entry.output_leaf, ".", entry.operand, " ", indexing.ToString(&entry_)));
      }
    }
    return lines;
  }

 private:
  const HloComputation& entry_;
  Execution execution_;
  InstructionIndexing entries_;
};

// The worked examples.

constexpr int64_t kStarts[] = {0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 0, 9,
                               0, 0, 2, 1, 2, 2, 1, 2, 0, 1, 1, 0};

constexpr char kGather[] = R"(
HloModule gather
ENTRY main {
  operand = s32[2,3,4,2] parameter(0)
  start_indices = s64[2,2,3,2] parameter(1)
  ROOT result = s32[2,2,3,2,2] gather(operand, start_indices), offset_dims={3,4},
    collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={1},
    start_index_map={2,1}, index_vector_dim=3, slice_sizes={1,1,2,2}
}
)";

constexpr int64_t kGathered[] = {1,  2,  3,  4,  3,  4,  5,  6,  13, 14, 15, 16, 33, 34, 35, 36,
                                 35, 36, 37, 38, 41, 42, 43, 44, 1,  2,  3,  4,  13, 14, 15, 16,
                                 21, 22, 23, 24, 43, 44, 45, 46, 33, 34, 35, 36, 27, 28, 29, 30};

constexpr char kScatter[] = R"(
HloModule scatter
add {
  arg0 = s64[] parameter(0)
  arg1 = s64[] parameter(1)
  ROOT sum = s64[] add(arg0, arg1)
}
ENTRY main {
  input = s64[2,3,4,2] parameter(0)
  scatter_indices = s64[2,2,3,2] parameter(1)
  update = s64[2,2,3,2,2] parameter(2)
  ROOT result = s64[2,3,4,2] scatter(input, scatter_indices, update),
    update_window_dims={3,4}, inserted_window_dims={1}, input_batching_dims={0},
    scatter_indices_batching_dims={1}, scatter_dims_to_operand_dims={2,1}, index_vector_dim=3,
    to_apply=add
}
)";

constexpr int64_t kScattered[] = {3,  4,  6,  7,  6,  7,  7,  8,  9,  10, 11, 12, 15, 16, 17, 18,
                                  17, 18, 19, 20, 22, 23, 24, 25, 25, 26, 28, 29, 30, 31, 31, 32,
                                  35, 36, 38, 39, 38, 39, 39, 40, 41, 42, 44, 45, 46, 47, 47, 48};

class BatchingDimsTest : public ::testing::Test {
 protected:
  BatchingDimsTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  // The operand holds 1, 2, 3, ..; the updates ones.
  static std::vector<Value> Arguments(const HloModule& module) {
    std::vector<Value> arguments = RandomArguments(*module.entry_computation(), 0);
    int64_t next = 1;
    for (Element& element : arguments[0][0].elements()) element.value = next++;
    for (size_t i = 0; i < std::size(kStarts); ++i) {
      arguments[1][0].elements()[i].value = kStarts[i];
    }
    if (arguments.size() > 2) {
      for (Element& element : arguments[2][0].elements()) element.value = 1;
    }
    return arguments;
  }

  // The result of a gather as its map reads it from the operand.
  std::vector<int64_t> Gathered(const HloModule& module) {
    const std::vector<Value> arguments = Arguments(module);
    const ExecutedModule executed(module, arguments, &context_);
    EXPECT_TRUE(executed.IsExact());
    std::vector<int64_t> result(
        module.entry_computation()->root_instruction()->shape().ElementCount().value(), 0);
    for (const auto& [to, from] : executed.RelationTo(0)) {
      EXPECT_EQ(result[to], 0) << "an element is read twice";
      result[to] = static_cast<int64_t>(*arguments[0][0].elements()[from].value);
    }
    return result;
  }

  // The result of an adding scatter: the operand's elements and the updates that their maps name.
  std::vector<int64_t> Scattered(const HloModule& module, ScatterBounds bounds) {
    const std::vector<Value> arguments = Arguments(module);
    FusionOptions options;
    options.indexing.scatter_bounds = bounds;
    const ExecutedModule executed(module, arguments, &context_, options);
    EXPECT_TRUE(executed.IsExact());
    std::vector<int64_t> result(
        module.entry_computation()->root_instruction()->shape().ElementCount().value(), 0);
    for (const int64_t parameter : {0, 2}) {
      for (const auto& [to, from] : executed.RelationTo(parameter)) {
        result[to] += static_cast<int64_t>(*arguments[parameter][0].elements()[from].value);
      }
    }
    return result;
  }

  // Equal text of the maps of all operands but the indices, and equal relations of all of them.
  // (The indices are read through one more concatenate, so that a range variable may begin at
  // another number.) Of the indices of a scatter, a form without batching dimensions reads more:
  // there an index vector could address all batches, but for the iota in it.
  void ExpectEqualMaps(const HloModule& a, const HloModule& b) {
    const HloComputation& entry = *a.entry_computation();
    const HloInstruction& root = *entry.root_instruction();
    const int64_t indices =
        root.opcode() == HloOpcode::kScatter && HasBatchingDims(a) != HasBatchingDims(b)
            ? root.operand_count() / 2
            : -1;
    for (const uint64_t seed : {0, 1}) {
      const std::vector<Value> arguments = RandomArguments(entry, seed);
      const ExecutedModule of_a(a, arguments, &context_);
      const ExecutedModule of_b(b, arguments, &context_);
      EXPECT_EQ(of_a.Lines(), of_b.Lines()) << a.ToString();
      for (int64_t leaf = 0; leaf < entry.root_instruction()->shape().LeafCount(); ++leaf) {
        for (int64_t i = 0; i < static_cast<int64_t>(entry.parameters().size()); ++i) {
          const Relation relation = of_a.RelationTo(i, leaf);
          const Relation other = of_b.RelationTo(i, leaf);
          const bool is_more = HasBatchingDims(b) && absl::c_includes(relation, other);
          EXPECT_TRUE(relation == other || (i == indices && is_more))
              << "operand " << i << " leaf " << leaf << "\n"
              << a.ToString();
        }
      }
    }
  }

  mlir::MLIRContext context_;
};

TEST_F(BatchingDimsTest, TheGatherOfTheSpecification) {
  const auto gather = Parse(kGather);
  EXPECT_THAT(Gathered(*gather), ElementsAreArray(kGathered));
  const auto decomposed = DecomposeGatherBatchingDims(*gather);
  ASSERT_TRUE(decomposed.ok()) << decomposed.status();
  EXPECT_THAT(Gathered(**decomposed), ElementsAreArray(kGathered));
}

TEST_F(BatchingDimsTest, TheScatterOfTheSpecification) {
  const auto scatter = Parse(kScatter);
  const auto decomposed = DecomposeScatterBatchingDims(*scatter);
  ASSERT_TRUE(decomposed.ok()) << decomposed.status();
  for (const ScatterBounds bounds : {ScatterBounds::kWindow, ScatterBounds::kElement}) {
    EXPECT_THAT(Scattered(*scatter, bounds), ElementsAreArray(kScattered));
    EXPECT_THAT(Scattered(**decomposed, bounds), ElementsAreArray(kScattered));
  }
}

// A module with this instruction, its operands being parameters.
std::string OnParameters(const HloInstruction& instruction) {
  std::string text = "HloModule batched\n";
  if (instruction.opcode() == HloOpcode::kScatter) {
    absl::StrAppend(&text, instruction.to_apply()->ToString(), "\n");
  }
  absl::StrAppend(&text, "ENTRY main {\n");
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    absl::StrAppend(&text, "p", i, " = ", instruction.operand(i)->shape().ToString(), " parameter(",
                    i, ")\n");
  }
  std::vector<std::string> operands;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    operands.push_back(absl::StrCat("p", i));
  }
  const std::string line = instruction.ToString();
  const std::string opcode = absl::StrCat(" ", OpcodeName(instruction.opcode()), "(");
  const size_t attributes = line.find(')', line.find(opcode)) + 1;
  return absl::StrCat(text, "ROOT r = ", instruction.shape().ToString(), opcode,
                      absl::StrJoin(operands, ", "), ")", line.substr(attributes), "\n}\n");
}

// Forms with and without batching dimensions.

TEST_F(BatchingDimsTest, BothFormsOfTheSpecificationsExamplesHaveEqualMaps) {
  const auto gather = Parse(kGather);
  const auto scatter = Parse(kScatter);
  const auto plain_gather = DecomposeGatherBatchingDims(*gather);
  const auto plain_scatter = DecomposeScatterBatchingDims(*scatter);
  ASSERT_TRUE(plain_gather.ok() && plain_scatter.ok());
  ExpectEqualMaps(**plain_gather, *gather);
  ExpectEqualMaps(**plain_scatter, *scatter);
}

// Calls `check` for random modules whose root is a gather, or scatter, with batching dimensions.
void ForRandomModules(HloOpcode opcode, int count,
                      absl::FunctionRef<void(const HloModule&)> check) {
  for (uint64_t seed = 0; count > 0; ++seed) {
    const auto module = Parse(RandomOperationModule(opcode, seed));
    if (!HasBatchingDims(*module)) continue;
    SCOPED_TRACE(module->ToString());
    check(*module);
    if (::testing::Test::HasFailure()) return;
    --count;
  }
}

TEST_F(BatchingDimsTest, BothFormsOfRandomGathersHaveEqualMaps) {
  ForRandomModules(HloOpcode::kGather, 100, [&](const HloModule& random) {
    const auto module = Parse(OnParameters(*random.entry_computation()->root_instruction()));
    const auto plain = DecomposeGatherBatchingDims(*module);
    ASSERT_TRUE(plain.ok()) << plain.status();
    EXPECT_FALSE(HasBatchingDims(**plain));
    const auto again = RecognizeGatherBatchingDims(**plain);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(HasBatchingDims(**again));
    ExpectEqualMaps(**plain, *module);
    ExpectEqualMaps(**again, *module);
  });
}

TEST_F(BatchingDimsTest, BothFormsOfRandomScattersHaveEqualMaps) {
  ForRandomModules(HloOpcode::kScatter, 100, [&](const HloModule& random) {
    const auto module = Parse(OnParameters(*random.entry_computation()->root_instruction()));
    const auto plain = DecomposeScatterBatchingDims(*module);
    ASSERT_TRUE(plain.ok()) << plain.status();
    EXPECT_FALSE(HasBatchingDims(**plain));
    const auto again = RecognizeScatterBatchingDims(**plain);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_TRUE(HasBatchingDims(**again));
    ExpectEqualMaps(**plain, *module);
    ExpectEqualMaps(**again, *module);
  });
}

// A batched gather is the concatenation of the gathers of the slices; so is a scatter.

using Dims = std::vector<int64_t>;

// The dimensions without `dropped`, as they are numbered then.
Dims Without(absl::Span<const int64_t> dims, int64_t dropped) {
  Dims result;
  for (const int64_t dim : dims) {
    if (dim != dropped) result.push_back(dim - (dim > dropped ? 1 : 0));
  }
  return result;
}

Shape WithoutDimension(const Shape& shape, int64_t dropped) {
  Dims sizes;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (d != dropped) sizes.push_back(shape.dimension(d));
  }
  return Shape::Array(shape.element_type(), sizes);
}

Shape WithSizeOne(const Shape& shape, int64_t dim) {
  Shape result = Shape::Array(shape.element_type(), shape.dimensions());
  result.SetDimension(dim, 1);
  return result;
}

std::string List(absl::string_view name, absl::Span<const int64_t> dims) {
  return absl::StrCat(", ", name, "={", absl::StrJoin(dims, ","), "}");
}

// The text of a computation that does what a gather or scatter with batching dimensions does, its
// operands being parameters, slice by slice along the first batching dimension.
class SliceBySlice {
 public:
  explicit SliceBySlice(const HloInstruction& instruction)
      : instruction_(instruction), is_gather_(instruction.opcode() == HloOpcode::kGather) {
    const auto ints = [&](AttributeKey gather, AttributeKey scatter) {
      return instruction.GetIntegers(is_gather_ ? gather : scatter);
    };
    window_dims_ = ints(AttributeKey::kOffsetDims, AttributeKey::kUpdateWindowDims);
    operand_batching_ = ints(AttributeKey::kOperandBatchingDims, AttributeKey::kInputBatchingDims);
    indices_batching_ =
        ints(AttributeKey::kStartIndicesBatchingDims, AttributeKey::kScatterIndicesBatchingDims);
    vector_dim_ = *instruction.GetInteger(AttributeKey::kIndexVectorDim);
    of_operand_ = operand_batching_[0];
    of_indices_ = indices_batching_[0];
    // The dimension of the result, or of the updates, that runs with it.
    int64_t batch_dim = of_indices_ - (of_indices_ > vector_dim_ ? 1 : 0);
    for (of_windows_ = 0;; ++of_windows_) {
      if (absl::c_linear_search(window_dims_, of_windows_)) continue;
      if (batch_dim-- == 0) break;
    }
  }

  std::string Text() {
    std::string text = "HloModule slices\n";
    if (!is_gather_) absl::StrAppend(&text, instruction_.to_apply()->ToString(), "\n");
    absl::StrAppend(&text, "ENTRY main {\n");
    for (int64_t i = 0; i < instruction_.operand_count(); ++i) {
      absl::StrAppend(&text, "p", i, " = ", instruction_.operand(i)->shape().ToString(),
                      " parameter(", i, ")\n");
    }
    const int64_t size = instruction_.operand(0)->shape().dimension(of_operand_);
    const std::vector<const Shape*> leaves = instruction_.shape().Leaves();
    std::vector<std::vector<std::string>> parts(leaves.size());
    for (int64_t b = 0; b < size; ++b) AppendSlice(b, leaves, &parts, &text);
    std::vector<std::string> results;
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      results.push_back(absl::StrCat("r", leaf));
      const bool is_root = leaves.size() == 1;
      absl::StrAppend(&text, is_root ? "ROOT " : "", results.back(), " = ",
                      leaves[leaf]->ToString(), " concatenate(", absl::StrJoin(parts[leaf], ", "),
                      "), dimensions={", is_gather_ ? of_windows_ : of_operand_, "}\n");
    }
    if (leaves.size() > 1) {
      absl::StrAppend(&text, "ROOT all = ", instruction_.shape().ToString(), " tuple(",
                      absl::StrJoin(results, ", "), ")\n");
    }
    return absl::StrCat(text, "}\n");
  }

 private:
  void AppendSlice(int64_t b, const std::vector<const Shape*>& leaves,
                   std::vector<std::vector<std::string>>* parts, std::string* text) const {
    const int64_t indices = instruction_.operand_count() / 2;
    std::vector<std::string> operands;
    for (int64_t i = 0; i < instruction_.operand_count(); ++i) {
      const int64_t dim = i < indices ? of_operand_ : i == indices ? of_indices_ : of_windows_;
      operands.push_back(AppendPart(i, b, dim, text));
    }
    std::vector<Shape> shapes;
    const int64_t dim = is_gather_ ? of_windows_ : of_operand_;
    for (const Shape* leaf : leaves) shapes.push_back(WithoutDimension(*leaf, dim));
    const std::string name = absl::StrCat("slice", b);
    absl::StrAppend(text, name, " = ",
                    (shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes)).ToString(), " ",
                    OpcodeName(instruction_.opcode()), "(", absl::StrJoin(operands, ", "), ")",
                    Attributes(), "\n");
    for (size_t leaf = 0; leaf < shapes.size(); ++leaf) {
      std::string value = name;
      if (shapes.size() > 1) {
        value = absl::StrCat(name, "_", leaf);
        absl::StrAppend(text, value, " = ", shapes[leaf].ToString(), " get-tuple-element(", name,
                        "), index=", leaf, "\n");
      }
      (*parts)[leaf].push_back(absl::StrCat("part", b, "_", leaf));
      absl::StrAppend(text, (*parts)[leaf].back(), " = ",
                      WithSizeOne(*leaves[leaf], dim).ToString(), " reshape(", value, ")\n");
    }
  }

  // Element b of an operand along a dimension, which is left out.
  std::string AppendPart(int64_t i, int64_t b, int64_t dim, std::string* text) const {
    const Shape& shape = instruction_.operand(i)->shape();
    std::vector<std::string> ranges;
    for (int64_t d = 0; d < shape.rank(); ++d) {
      ranges.push_back(d == dim ? absl::StrCat("[", b, ":", b + 1, "]")
                                : absl::StrCat("[0:", shape.dimension(d), "]"));
    }
    const std::string name = absl::StrCat("p", i, "_", b);
    absl::StrAppend(text, "s", name, " = ", WithSizeOne(shape, dim).ToString(), " slice(p", i,
                    "), slice={", absl::StrJoin(ranges, ", "), "}\n", name, " = ",
                    WithoutDimension(shape, dim).ToString(), " reshape(s", name, ")\n");
    return name;
  }

  std::string Attributes() const {
    const auto operand_dims = [&](AttributeKey key) {
      return Without(instruction_.GetIntegers(key), of_operand_);
    };
    const Dims window_dims = Without(window_dims_, of_windows_);
    const Dims operand_batching = Without(operand_batching_, of_operand_);
    const Dims indices_batching = Without(indices_batching_, of_indices_);
    const std::string vector_dim =
        absl::StrCat(", index_vector_dim=", vector_dim_ - (of_indices_ < vector_dim_ ? 1 : 0));
    if (is_gather_) {
      Dims slice_sizes(instruction_.gather_slice_sizes().begin(),
                       instruction_.gather_slice_sizes().end());
      slice_sizes.erase(slice_sizes.begin() + of_operand_);
      return absl::StrCat(
          List("offset_dims", window_dims),
          List("collapsed_slice_dims", operand_dims(AttributeKey::kCollapsedSliceDims)),
          List("operand_batching_dims", operand_batching),
          List("start_indices_batching_dims", indices_batching),
          List("start_index_map", operand_dims(AttributeKey::kStartIndexMap)), vector_dim,
          List("slice_sizes", slice_sizes));
    }
    return absl::StrCat(
        List("update_window_dims", window_dims),
        List("inserted_window_dims", operand_dims(AttributeKey::kInsertedWindowDims)),
        List("input_batching_dims", operand_batching),
        List("scatter_indices_batching_dims", indices_batching),
        List("scatter_dims_to_operand_dims", operand_dims(AttributeKey::kScatterDimsToOperandDims)),
        vector_dim, ", to_apply=", instruction_.to_apply()->name());
  }

  const HloInstruction& instruction_;
  bool is_gather_;
  absl::Span<const int64_t> window_dims_;
  absl::Span<const int64_t> operand_batching_;
  absl::Span<const int64_t> indices_batching_;
  int64_t vector_dim_;
  int64_t of_operand_;
  int64_t of_indices_;
  int64_t of_windows_ = 0;
};

class ConcatenationTest : public ::testing::TestWithParam<HloOpcode> {};

TEST_P(ConcatenationTest, JoinsTheGathersOrScattersOfTheSlices) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int compared = 0;
  ForRandomModules(GetParam(), 100, [&](const HloModule& module) {
    const HloInstruction& root = *module.entry_computation()->root_instruction();
    const auto batched = Parse(OnParameters(root));
    const auto slices = Parse(SliceBySlice(root).Text());
    ASSERT_NE(batched, nullptr);
    ASSERT_NE(slices, nullptr);
    const std::vector<Value> arguments = RandomArguments(*batched->entry_computation(), 7);
    FusionOptions options;
    options.indexing.exact = true;
    const ExecutedModule whole(*batched, arguments, &context, options);
    const ExecutedModule parts(*slices, arguments, &context, options);
    // The elements of an operand that are left cannot always be named exactly.
    if (!whole.IsExact() || !parts.IsExact()) return;
    ++compared;
    for (int64_t leaf = 0; leaf < root.shape().LeafCount(); ++leaf) {
      for (int64_t i = 0; i < root.operand_count(); ++i) {
        EXPECT_EQ(whole.RelationTo(i, leaf), parts.RelationTo(i, leaf))
            << "operand " << i << " leaf " << leaf << "\n"
            << slices->ToString();
      }
    }
  });
  EXPECT_GE(compared, 60);
}

INSTANTIATE_TEST_SUITE_P(All, ConcatenationTest,
                         ::testing::Values(HloOpcode::kGather, HloOpcode::kScatter),
                         [](const ::testing::TestParamInfo<HloOpcode>& info) {
                           return std::string(OpcodeName(info.param));
                         });

}  // namespace
}  // namespace xla_indexing::reference
