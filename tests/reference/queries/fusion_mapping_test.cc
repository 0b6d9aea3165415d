// The kernels of random fusions, thread by thread: together they read what the fusion reads and write
// what it writes.
#include "xla_indexing/gpu/fusion_mapping.h"

#include <cstdint>
#include <map>
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
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

constexpr int64_t kMaxPointsOfMapping = 300000;

// Elements by their positions, and how often each is named.
using Touched = std::map<int64_t, int64_t>;

// What the threads of an access touch; ResourceExhausted where that takes too long, and
// Unimplemented where it depends on runtime values.
absl::Status Touch(const ThreadAccess& access, Touched* touched) {
  const absl::StatusOr<OperandIndexingSet> maps = FromThreads(access);
  if (!maps.ok()) return maps.status();
  for (const OperandIndexing& map : *maps) {
    if (!map.IsExact() || map.map().num_runtimes() > 0) {
      return absl::UnimplementedError("depends on runtime values");
    }
    const absl::Status status = map.map().ForEachPoint(
        kMaxPointsOfMapping,
        [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> element) {
          ++(*touched)[PositionOf(access.accessed->dimensions(),
                                  Index(element.begin(), element.end()))];
        });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

struct MappingTally {
  std::map<EmitterKind, int> kinds;
  int reads = 0;
  int writes = 0;
};

void CheckKernel(const HloModule& module, uint64_t seed, const EmitterOptions& options,
                 mlir::MLIRContext* context, MappingTally* tally) {
  const HloComputation& entry = *module.entry_computation();
  const auto mapping = MappingForFusion(entry, context, options);
  if (!mapping.ok()) {
    EXPECT_EQ(mapping.status().code(), absl::StatusCode::kInvalidArgument) << mapping.status();
    return;
  }
  // Reads are of the arrays that threads go over; every element is computed by one of them.
  for (const RootMapping& root : mapping->roots) {
    for (const auto* arrays : {&root.reads, &root.writes}) {
      for (const ThreadedArray& array : *arrays) {
        const auto coverage = CoverageOf(array.mapping, array.shape());
        ASSERT_TRUE(coverage.ok()) << coverage.status();
        EXPECT_TRUE(coverage->IsOnce()) << array.mapping.map.ToString();
      }
    }
  }
  const auto accesses = AccessesOf(*mapping, context);
  ASSERT_TRUE(accesses.ok()) << accesses.status();
  const std::vector<Value> arguments = RandomArguments(entry, seed);
  const auto truth = DependenceOfComputation(entry, Pointers(arguments), seed);
  if (truth.status().code() == absl::StatusCode::kUnimplemented) return;
  ASSERT_TRUE(truth.ok()) << truth.status();
  ++tally->kinds[mapping->kind];

  // The elements of each leaf of a parameter that some element of the result depends on.
  std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> read;
  for (const auto& [place, relation] : *truth) {
    for (const auto& [output, element] : relation) {
      read[{place.operand, place.operand_leaf}].insert(element);
    }
  }
  std::map<std::pair<int64_t, int64_t>, Touched> by_threads;
  std::map<int64_t, Touched> written;
  std::set<std::pair<int64_t, int64_t>> not_known;
  for (const ThreadAccess& access : accesses->accesses) {
    const bool is_read = access.kind == ThreadAccess::Kind::kRead;
    const absl::Status status =
        Touch(access, is_read ? &by_threads[{access.number, access.leaf}] : &written[access.leaf]);
    if (!status.ok()) not_known.insert({is_read ? access.number : -1, access.leaf});
  }
  // An operand that is changed in place is not read.
  const bool is_in_place =
      mapping->kind == EmitterKind::kInPlaceUpdate || mapping->kind == EmitterKind::kScatter;
  for (const auto& [place, elements] : read) {
    if (is_in_place || not_known.contains(place)) continue;
    std::set<int64_t> touched;
    for (const auto& [element, times] : by_threads[place]) touched.insert(element);
    EXPECT_EQ(touched, elements) << "parameter " << place.first << ", leaf " << place.second;
    ++tally->reads;
  }
  for (const RootMapping& root : mapping->roots) {
    if (is_in_place || not_known.contains({-1, root.output_leaf})) continue;
    const int64_t count = root.root->shape().Leaf(root.root_leaf).ElementCount().value();
    const Touched& elements = written[root.output_leaf];
    EXPECT_EQ(static_cast<int64_t>(elements.size()), count);
    for (const auto& [element, times] : elements) EXPECT_EQ(times, 1) << "element " << element;
    ++tally->writes;
  }
}

TEST(RandomFusionMappingTest, ThreadsTogetherReadAndWriteWhatTheFusionDoes) {
  MappingTally tally;
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < Cases(4000); ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const HloOpcode opcode = i % 4 == 1   ? HloOpcode::kReduce
                             : i % 4 == 2 ? HloOpcode::kConcatenate
                                          : HloOpcode::kTranspose;
    const auto module =
        ParseAndVerifyModule(i % 4 == 0 ? RandomFusionModule(i) : RandomOperationModule(opcode, i));
    ASSERT_TRUE(module.ok()) << module.status();
    if (DeviceCount(**module) > 1) continue;
    // Small GPUs have vectors where arrays are small.
    EmitterOptions options;
    if (i % 3 == 0) options = {.warp_size = 32, .core_count = 1, .threads_per_core = 8};
    CheckKernel(**module, i, options, context.get(), &tally);
    if (HasFailure()) FAIL() << "seed " << i << "\n" << (*module)->ToString();
  }
  EXPECT_GT(tally.reads, Cases(3000));
  EXPECT_GT(tally.writes, Cases(2500));
  EXPECT_GT(tally.kinds[EmitterKind::kLoop], Cases(500));
  EXPECT_GT(tally.kinds[EmitterKind::kReduction], Cases(100));
  EXPECT_GT(tally.kinds[EmitterKind::kConcatenate], Cases(100));
}

// Sizes around those at which the rules change: rows, columns, parts of both, layouts, transposes.
TEST(RandomFusionMappingTest, ReductionsAndTransposesOfManySizesCoverTheirArrays) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::map<EmitterKind, int> kinds;
  int checked = 0;
  Random random(5);
  const std::vector<int64_t> sizes = {1, 2, 3, 4, 8, 16, 17, 32, 33, 37, 64, 70, 100, 130};
  for (int i = 0; i < Cases(600); ++i) {
    std::vector<int64_t> dims;
    int64_t elements = 1;
    const int64_t rank = random.Between(1, 4);
    for (int64_t d = 0; d < rank; ++d) {
      int64_t size = random.Pick(sizes);
      if (elements * size > 40000) size = 1;
      elements *= size;
      dims.push_back(size);
    }
    std::vector<int64_t> order;
    for (int64_t d = 0; d < rank; ++d) order.push_back(d);
    for (int64_t d = rank; d > 1; --d) std::swap(order[d - 1], order[random.Between(0, d - 1)]);
    const std::string type = random.Pick(std::vector<std::string>{"f32", "bf16", "s8", "f64"});
    const auto list = [](const std::vector<int64_t>& values) {
      std::string text;
      for (const int64_t value : values) absl::StrAppend(&text, text.empty() ? "" : ",", value);
      return text;
    };
    std::string text;
    std::vector<int64_t> layout;
    for (int64_t d = rank; d-- > 0;) layout.push_back(d);
    if (random.OneIn(3)) std::swap(layout[0], layout[random.Between(0, rank - 1)]);
    const std::string shape = absl::StrCat(type, "[", list(dims), "]{", list(layout), "}");
    if (i % 2 == 0) {
      std::vector<int64_t> kept;
      std::vector<int64_t> reduced;
      for (int64_t d = 0; d < rank; ++d) (random.OneIn(2) ? kept : reduced).push_back(d);
      std::vector<int64_t> result;
      for (const int64_t d : kept) result.push_back(dims[d]);
      text = absl::StrCat(
          "add { a = ", type, "[] parameter(0) b = ", type, "[] parameter(1) ROOT s = ", type,
          "[] add(a, b) }\nENTRY e { p = ", shape, " parameter(0) z = ", type,
          "[] constant(0) r = ", type, "[", list(result), "] reduce(p, z), dimensions={",
          list(reduced), "}, to_apply=add ROOT n = ", type, "[", list(result), "] negate(r) }");
    } else {
      std::vector<int64_t> result;
      for (const int64_t d : order) result.push_back(dims[d]);
      text = absl::StrCat("ENTRY e { p = ", shape, " parameter(0) t = ", type, "[", list(result),
                          "] transpose(p), dimensions={", list(order), "} ROOT n = ", type, "[",
                          list(result), "] negate(t) }");
    }
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    EmitterOptions options;
    options.core_count = random.Pick(std::vector<int64_t>{1, 4, 132});
    options.threads_per_core = random.Pick(std::vector<int64_t>{64, 2048});
    if (random.OneIn(4)) options.warp_size = 64;
    const auto mapping = MappingForFusion(*(*module)->entry_computation(), &context, options);
    ASSERT_TRUE(mapping.ok()) << mapping.status() << "\n" << text;
    ++kinds[mapping->kind];
    const auto accesses = AccessesOf(*mapping, &context);
    ASSERT_TRUE(accesses.ok()) << accesses.status();
    // Whatever the mapping, each element of the parameter is read once, and of the result written.
    for (const ThreadAccess& access : accesses->accesses) {
      Touched touched;
      const absl::Status status = Touch(access, &touched);
      if (status.code() == absl::StatusCode::kResourceExhausted) continue;
      ASSERT_TRUE(status.ok()) << status << "\n" << text;
      EXPECT_EQ(static_cast<int64_t>(touched.size()), access.accessed->ElementCount().value())
          << text;
      for (const auto& [element, times] : touched) ASSERT_EQ(times, 1) << text;
      ++checked;
    }
    EXPECT_EQ(accesses->accesses.size(), 2u) << text;
  }
  EXPECT_GT(kinds[EmitterKind::kReduction], Cases(60));
  EXPECT_GT(kinds[EmitterKind::kTranspose], Cases(40));
  EXPECT_GT(checked, Cases(1000));
}

}  // namespace
}  // namespace xla_indexing::reference
