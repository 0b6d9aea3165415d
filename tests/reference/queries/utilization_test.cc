// Utilization against executions of random modules: what was read, counted.
#include "xla_indexing/query/utilization/utilization.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::reference {
namespace {

absl::StatusOr<InstructionIndexing> EntriesOf(const Executed& executed, bool exact,
                                              mlir::MLIRContext* context) {
  FusionOptions options;
  options.indexing.exact = exact;
  return executed.is_computation
             ? Entries(*executed.result.parent(), Direction::kOutputToInput, context, options)
             : Entries(executed.result, Direction::kOutputToInput, context, options);
}

// The maps that are counted: the exact ones where the usual ones are not.
OperandIndexingSet CountedMaps(const InstructionIndexing& usual, const InstructionIndexing& exact,
                               const OperandUtilization& of) {
  const auto find = [&](const InstructionIndexing& entries) {
    for (const IndexingEntry& entry : entries) {
      if (entry.output_leaf == of.output_leaf && entry.operand == of.operand &&
          entry.operand_leaf == of.operand_leaf) {
        return entry.indexing;
      }
    }
    return OperandIndexingSet();
  };
  const OperandIndexingSet maps = find(usual);
  return maps.label().IsExact() ? maps : find(exact);
}

absl::Status Expect(const Interval& said, int64_t counted, bool exactly, absl::string_view what) {
  if (exactly ? said == Interval::Point(counted) : said.Contains(counted)) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat(what, ": ", said.ToString(), " is said, ", counted, " counted"));
}

struct UtilizationTally {
  int64_t entries = 0;
  int64_t not_found = 0;  // without runtime values and exact, but an interval
};

// One entry as one device sees it, or, with replica maps, by indices on any device.
absl::Status CheckEntry(const Executed& executed, const OperandUtilization& said,
                        const OperandIndexingSet& maps, UtilizationTally* tally) {
  // An empty tuple reads nothing.
  if (executed.result.shape().LeafCount() == 0) return absl::OkStatus();
  const Shape& output = executed.result.shape().Leaf(said.output_leaf);
  const Shape& operand = executed.operands()[said.operand]->shape().Leaf(said.operand_leaf);
  const int64_t output_size = *output.ElementCount();
  const int64_t operand_size = *operand.ElementCount();
  const Utilization& utilization = said.utilization;
  bool is_remote = false;
  for (const OperandIndexing& map : maps) is_remote |= map.replica_map() != nullptr;
  if (is_remote && utilization.has_runtime_values) return absl::OkStatus();
  const Relation& truth = executed.truth.at({said.output_leaf, said.operand, said.operand_leaf});
  const bool is_exact = maps.label().IsExact();
  ++tally->entries;
  if (is_exact && !utilization.has_runtime_values && !utilization.IsExact()) ++tally->not_found;
  const auto num_devices = static_cast<int64_t>(executed.devices.count());
  for (int64_t device = 0; device < num_devices; ++device) {
    const auto counts = [&](int64_t position) {
      return is_remote || (output_size > 0 && position / output_size == device);
    };
    std::set<int64_t> elements;
    for (const auto& [from, to] : truth) {
      if (counts(from)) elements.insert(to % operand_size);
    }
    int64_t reads = 0;
    for (const OperandIndexing& map : maps) {
      const absl::StatusOr<Relation> relation =
          RelationOf(map, {output, operand}, executed.devices);
      if (!relation.ok()) return relation.status();
      std::set<std::pair<int64_t, int64_t>> pairs;
      for (const auto& [from, to] : *relation) {
        if (counts(from)) pairs.emplace(from % output_size, to % operand_size);
      }
      reads += static_cast<int64_t>(pairs.size());
    }
    absl::Status status = Expect(utilization.elements, operand_size, true, "elements");
    status.Update(Expect(utilization.elements_read, static_cast<int64_t>(elements.size()),
                         is_exact && utilization.elements_read.IsPoint(), "elements read"));
    // It is not known what an over-approximate map reads; its pairs are an upper bound.
    if (is_exact) {
      status.Update(Expect(utilization.reads, reads, utilization.reads.IsPoint(), "reads"));
    } else if (!utilization.reads.Contains(reads)) {
      status.Update(absl::InternalError("pairs of over-approximate maps past the most"));
    }
    if (!status.ok()) {
      std::string text =
          absl::StrCat(status.message(), " of operand ", said.operand, " leaf ", said.operand_leaf,
                       " for output ", said.output_leaf, " of ", executed.result.ToString());
      for (const OperandIndexing& map : maps) absl::StrAppend(&text, "\n", map.ToString());
      return absl::InternalError(text);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckUtilization(const Executed& executed, mlir::MLIRContext* context,
                              UtilizationTally* tally) {
  const absl::StatusOr<UtilizationReport> report =
      executed.is_computation ? ComputeUtilization(*executed.result.parent(), context)
                              : ComputeUtilization(executed.result, context);
  if (!report.ok()) return report.status();
  const absl::StatusOr<InstructionIndexing> usual = EntriesOf(executed, false, context);
  if (!usual.ok()) return usual.status();
  const absl::StatusOr<InstructionIndexing> exact = EntriesOf(executed, true, context);
  if (!exact.ok()) return exact.status();
  for (const OperandUtilization& said : report->operands) {
    const absl::Status status =
        CheckEntry(executed, said, CountedMaps(*usual, *exact, said), tally);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

template <typename Make>
void CheckUtilizationOfModules(int first, int count, Make make) {
  std::unique_ptr<mlir::MLIRContext> context;
  UtilizationTally tally;
  for (int i = first; i < first + count; ++i) {
    // A context keeps what it has interned, so it is renewed now and then.
    if ((i - first) % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const absl::Status status = ForEachExecuted(make(i), i, {}, [&](const Executed& executed) {
      return CheckUtilization(executed, context.get(), &tally);
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(tally.not_found, 0) << "of " << tally.entries << " entries";
}

class UtilizationOfOperationsTest : public ::testing::TestWithParam<int> {};
class UtilizationOfFusionsTest : public ::testing::TestWithParam<int> {};

constexpr int kUtilizationShards = 4;
constexpr int kUtilizationModulesPerShard = 20000 / (2 * kUtilizationShards);

TEST_P(UtilizationOfOperationsTest, IsWhatIsRead) {
  const std::vector<HloOpcode> opcodes = RandomOpcodes();
  CheckUtilizationOfModules(
      GetParam() * kUtilizationModulesPerShard, Cases(kUtilizationModulesPerShard),
      [&](int i) { return RandomOperationModule(opcodes[i % opcodes.size()], i); });
}
INSTANTIATE_TEST_SUITE_P(All, UtilizationOfOperationsTest, ::testing::Range(0, kUtilizationShards));

TEST_P(UtilizationOfFusionsTest, IsWhatIsRead) {
  CheckUtilizationOfModules(GetParam() * kUtilizationModulesPerShard,
                            Cases(kUtilizationModulesPerShard),
                            [](int i) { return RandomFusionModule(i); });
}
INSTANTIATE_TEST_SUITE_P(All, UtilizationOfFusionsTest, ::testing::Range(0, kUtilizationShards));

struct CountedProgram {
  std::string name;
  std::string text;   // of the entry; integers are parameters of few elements
  int64_t parameter;  // whose reads are counted
};

std::vector<CountedProgram> CountedPrograms() {
  const std::string rows =
      ", update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add\n";
  const std::string elements =
      ", update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add\n";
  const std::string windows =
      ", update_window_dims={1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
      "index_vector_dim=1, to_apply=add\n";
  const std::string bounded =
      R"(  lo = s32[] constant(0) los = s32[2,1] broadcast(lo), dimensions={}
  hi = s32[] constant(2) his = s32[2,1] broadcast(hi), dimensions={}
  c = s32[2,1] clamp(los, i, his)
)";
  const std::string three_rows =
      "  x = f32[3,2] parameter(0) i = s32[2,1] parameter(1) u = f32[2,2] parameter(2)\n";
  return {
      {"rows", three_rows + "  ROOT r = f32[3,2] scatter(x, i, u)" + rows, 2},
      {"more updates than elements",
       "  x = f32[2] parameter(0) i = s32[4,1] parameter(1) u = f32[4] parameter(2)\n"
       "  ROOT r = f32[2] scatter(x, i, u)" +
           elements,
       2},
      {"windows",
       "  x = f32[4] parameter(0) i = s32[3,1] parameter(1) u = f32[3,2] parameter(2)\n"
       "  ROOT r = f32[4] scatter(x, i, u)" +
           windows,
       2},
      {"one window",
       "  x = f32[4] parameter(0) i = s32[1,1] parameter(1) u = f32[1,3] parameter(2)\n"
       "  ROOT r = f32[4] scatter(x, i, u)" +
           windows,
       2},
      {"two components", R"(  x = f32[3,4] parameter(0) i = s32[2,2] parameter(1)
  u = f32[2,1,2] parameter(2)
  ROOT r = f32[3,4] scatter(x, i, u), update_window_dims={1,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=add
)",
       2},
      {"a batch", R"(  x = f32[2,4] parameter(0) i = s32[2,1] parameter(1) u = f32[2,2] parameter(2)
  ROOT r = f32[2,4] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={},
    scatter_dims_to_operand_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0},
    index_vector_dim=1, to_apply=add
)",
       2},
      {"a row each by an iota", R"(  x = f32[3,4] parameter(0) i = s32[3,1] parameter(1)
  u = f32[3] parameter(2) n = s32[3,1] iota(), iota_dimension=0
  v = s32[3,2] concatenate(n, i), dimensions={1}
  ROOT r = f32[3,4] scatter(x, v, u), update_window_dims={}, inserted_window_dims={0,1},
    scatter_dims_to_operand_dims={0,1}, index_vector_dim=1, to_apply=add
)",
       2},
      {"a result in one dimension",
       three_rows + "  s = f32[3,2] scatter(x, i, u)" + rows + "  ROOT r = f32[6] reshape(s)\n", 2},
      {"a transposed result in other dimensions",
       "  x = f32[4,3] parameter(0) i = s32[2,1] parameter(1) u = f32[2,3] parameter(2)\n"
       "  s = f32[4,3] scatter(x, i, u)" +
           rows + "  t = f32[3,4] transpose(s), dimensions={1,0}\n  ROOT r = f32[2,6] reshape(t)\n",
       2},
      {"rows that are inside", three_rows + bounded + "  ROOT r = f32[3,2] scatter(x, c, u)" + rows,
       2},
      {"rows of a gather", R"(  x = f32[4,2] parameter(0) i = s32[3,1] parameter(1)
  ROOT r = f32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,2}
)",
       0},
      {"more rows of a gather than there are", R"(  x = f32[2,2] parameter(0)
  i = s32[4,1] parameter(1)
  ROOT r = f32[4,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,2}
)",
       0},
      {"a dynamic-slice", R"(  x = f32[5,3] parameter(0) i = s32[] parameter(1)
  j = s32[] parameter(2)
  ROOT r = f32[2,2] dynamic-slice(x, i, j), dynamic_slice_sizes={2,2}
)",
       0},
      {"a dynamic-update-slice", R"(  x = f32[5,3] parameter(0) u = f32[2,2] parameter(1)
  i = s32[] parameter(2) j = s32[] parameter(3)
  ROOT r = f32[5,3] dynamic-update-slice(x, u, i, j)
)",
       1},
  };
}

// Over all values of the integers that are next to the operand's indices, the least and the greatest
// counts are those that are said.
TEST(UtilizationOfIndexedTest, BoundsAreReached) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const CountedProgram& program : CountedPrograms()) {
    SCOPED_TRACE(program.name);
    const auto module = ParseAndVerifyModule(absl::StrCat(
        "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
        "ENTRY e {\n",
        program.text, "}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& entry = *(*module)->entry_computation();
    const auto report = ComputeUtilization(entry, &context);
    ASSERT_TRUE(report.ok()) << report.status();
    std::vector<Value> arguments = RandomArguments(entry, 1);
    std::vector<Element*> integers;
    for (Value& argument : arguments) {
      if (argument[0].shape().element_type() != ElementType::kS32) continue;
      for (Element& element : argument[0].elements()) integers.push_back(&element);
    }
    constexpr int64_t kLeast = -1;
    constexpr int64_t kGreatest = 4;
    for (Element* element : integers) element->value = kLeast;
    Interval reads = Interval::Empty();
    Interval elements_read = Interval::Empty();
    size_t next = 0;
    while (next < integers.size()) {
      const auto truth = DependenceOfComputation(entry, Pointers(arguments), 1);
      ASSERT_TRUE(truth.ok()) << truth.status();
      const Relation& pairs = truth->at({0, program.parameter, 0});
      std::set<int64_t> elements;
      for (const auto& [to, from] : pairs) elements.insert(from);
      reads = reads.Union(Interval::Point(static_cast<int64_t>(pairs.size())));
      elements_read = elements_read.Union(Interval::Point(static_cast<int64_t>(elements.size())));
      for (next = 0; next < integers.size(); ++next) {
        if (*integers[next]->value < kGreatest) {
          *integers[next]->value += 1;
          break;
        }
        integers[next]->value = kLeast;
      }
    }
    for (const OperandUtilization& of : report->operands) {
      if (of.operand != program.parameter) continue;
      EXPECT_EQ(of.utilization.reads, reads);
      EXPECT_EQ(of.utilization.elements_read, elements_read);
    }
  }
}

}  // namespace
}  // namespace xla_indexing::reference
