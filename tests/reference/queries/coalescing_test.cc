// Coalescing against simulated launches: every thread, every address.
#include "xla_indexing/gpu/coalescing.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/launch.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/hlo_chain.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::reference {
namespace {

constexpr int64_t kMaxThreadPoints = 100000;

template <typename C>
ChainSizes Factors(Random& random, const C& choices, int64_t count) {
  ChainSizes factors;
  for (int64_t i = 0; i < count; ++i) factors.push_back(random.Pick(choices));
  return factors;
}

std::string RandomType(Random& random) {
  return random.Pick(std::vector<std::string>{"f32", "f32", "bf16", "s8", "pred", "s4", "u2", "f64",
                                              "c128", "u1"});
}

CoalescingOptions RandomOptions(Random& random) {
  CoalescingOptions options;
  if (random.OneIn(4)) options.warp_size = 64;
  if (random.OneIn(6)) options.sector_bytes = 64;
  if (random.OneIn(6)) options.line_bytes = 64;
  if (random.OneIn(6)) options.alignment_bytes = int64_t{1} << random.Between(2, 9);
  return options;
}

absl::StatusOr<ThreadMapping> RandomMapping(const Shape& shape, Random& random,
                                            mlir::MLIRContext* context) {
  const int64_t elements = *shape.ElementCount();
  const int64_t last = shape.rank() - 1;
  switch (shape.rank() < 2 ? 0 : random.Between(0, 5)) {
    case 0:
    case 1: {
      LoopOptions loop;
      loop.threads_per_block = random.Pick(std::vector<int64_t>{32, 64, 96, 100, 128, 128, 33, 1});
      loop.vector_width = random.Pick(std::vector<int64_t>{1, 1, 2, 4, 3});
      loop.elements_per_thread = loop.vector_width * random.Pick(std::vector<int64_t>{1, 1, 2, 3});
      return RowMajorLoop(shape, loop, context);
    }
    case 2: {
      TileOptions tile;
      tile.lanes = random.Between(0, last);
      tile.rows = (tile.lanes + random.Between(1, last)) % shape.rank();
      tile.threads_per_row = random.Pick(std::vector<int64_t>{32, 16, 12, 8});
      return TiledTranspose(shape, tile, context);
    }
    case 3: {
      RowReductionOptions row;
      row.row_length = std::max<int64_t>(shape.dimension(last), 1);
      if (elements == 0) row.row_length = 1;
      row.threads_per_row = random.Pick(std::vector<int64_t>{32, 64, 16, 5});
      row.vector_width = random.Pick(std::vector<int64_t>{1, 2, 4});
      return RowReduction(shape, row, context);
    }
    case 4: {
      ColumnReductionOptions column;
      column.row_length = elements == 0 ? 1 : std::max<int64_t>(shape.dimension(last), 1);
      column.threads_per_row = random.Pick(std::vector<int64_t>{32, 16, 10});
      column.rows_per_block = random.Pick(std::vector<int64_t>{32, 4, 3});
      return ColumnReduction(shape, column, context);
    }
    default: {
      // Threads in a box of three coordinates, loops in another order than memory.
      std::vector<std::string> results;
      std::vector<std::string> bounds;
      const std::vector<std::string> names = {"th_x", "th_y", "bl_x", "bl_y"};
      const std::vector<int64_t> sizes = {random.Between(1, 40), random.Between(1, 4), 2, 3};
      for (int64_t dim = 0; dim <= last; ++dim) {
        const int64_t size = std::max<int64_t>(shape.dimension(dim), 1);
        const auto i = static_cast<size_t>(random.Between(0, 3));
        const auto j = static_cast<size_t>(random.Between(0, 3));
        results.push_back(absl::StrCat("(", names[i], " * ", random.Between(-2, 5), " + ", names[j],
                                       " floordiv ", random.Between(1, 3), " + s0 * ",
                                       random.Between(0, 4), ") mod ", size));
        if (random.OneIn(3)) {
          bounds.push_back(absl::StrCat(", ", names[i], " + ", names[j], " * 3 in [", 1, ", ",
                                        random.Between(5, 60), "]"));
        }
      }
      std::string text = absl::StrCat("(", absl::StrJoin(names, ", "), ")[s0] -> (",
                                      absl::StrJoin(results, ", "), "), domain: ");
      for (size_t i = 0; i < names.size(); ++i) {
        absl::StrAppend(&text, names[i], " in [0, ", sizes[i] - 1, "], ");
      }
      absl::StrAppend(&text, "s0 in [0, ", random.Between(0, 5), "]", absl::StrJoin(bounds, ""));
      if (elements == 0) return RowMajorLoop(shape, {}, context);
      return ParseThreadMapping(text, context);
    }
  }
}

absl::Status CompareAnswers(const Coalescing& said, const SectorCounts& counted) {
  const auto is = [](const Interval& interval, int64_t count) {
    return interval == Interval::Point(count);
  };
  if (is(said.requests, counted.requests) && is(said.sectors, counted.sectors) &&
      is(said.least_sectors, counted.least) && is(said.lines, counted.lines) &&
      said.worst.has_value() == (counted.requests > 0) &&
      said.worst_cost.units == counted.worst_sectors &&
      said.worst_cost.least == counted.worst_least) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(
      "requests ", said.requests.ToString(), " ", counted.requests, ", sectors ",
      said.sectors.ToString(), " ", counted.sectors, ", least ", said.least_sectors.ToString(), " ",
      counted.least, ", lines ", said.lines.ToString(), " ", counted.lines, ", worst ",
      said.worst_cost.units, "/", said.worst_cost.least, " ", counted.worst_sectors, "/",
      counted.worst_least, " ", said.reason));
}

// The addresses of the worst request have its cost.
absl::Status CheckWorst(const CoalescingAnalysis& analysis, const Coalescing& said,
                        const OperandIndexing* indexing, const Shape& accessed,
                        const CoalescingOptions& options) {
  if (!said.worst) return absl::OkStatus();
  const auto addresses = analysis.AddressesOf(*said.worst, indexing, accessed);
  if (!addresses.ok()) return addresses.status();
  const int64_t width = BitOf(Shape::Array(accessed.element_type(), {2}), {1});
  std::set<int64_t> sectors;
  std::set<int64_t> bytes;
  for (const LaneAddress& lane : *addresses) {
    for (int64_t bit = lane.bit; bit < lane.bit + width; ++bit) {
      bytes.insert(bit / 8);
      sectors.insert(bit / 8 / options.sector_bytes);
    }
  }
  const auto num_bytes = static_cast<int64_t>(bytes.size());
  if (static_cast<int64_t>(sectors.size()) == said.worst_cost.units &&
      (num_bytes + options.sector_bytes - 1) / options.sector_bytes == said.worst_cost.least) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the worst request has ", sectors.size(),
                                          " sectors of its addresses, ", said.worst_cost.units,
                                          " are said"));
}

// Where the tensor may begin at several places, least and most are over these.
absl::Status CheckAccess(const CoalescingAnalysis& analysis, const OperandIndexing* indexing,
                         const Shape& accessed, const CoalescingOptions& options) {
  const Coalescing said =
      indexing == nullptr ? analysis.OfWrites() : analysis.OfReads(*indexing, accessed);
  const IndexingMap* map = indexing == nullptr ? nullptr : &indexing->map();
  const auto counted = [&](int64_t base) {
    return CountSectors({analysis.mapping(), map, accessed, options.warp_size, base, {}},
                        options.sector_bytes, options.line_bytes);
  };
  if (options.alignment_bytes >= options.line_bytes) {
    absl::Status status = CompareAnswers(said, counted(0));
    status.Update(CheckWorst(analysis, said, indexing, accessed, options));
    return status;
  }
  Interval sectors;
  Interval lines;
  for (int64_t base = 0; base < options.line_bytes; base += options.alignment_bytes) {
    const SectorCounts counts = counted(base);
    sectors = sectors.Union(Interval::Point(counts.sectors));
    lines = lines.Union(Interval::Point(counts.lines));
  }
  if (said.sectors == sectors && said.lines == lines) {
    return CheckWorst(analysis, said, indexing, accessed, options);
  }
  return absl::InternalError(absl::StrCat("sectors ", said.sectors.ToString(), " ",
                                          sectors.ToString(), ", lines ", said.lines.ToString(),
                                          " ", lines.ToString()));
}

// A module whose parameter 0 is read through maps of reshapes, transposes, slices, pads,
// broadcasts and reductions.
std::string RandomModule(Random& random) {
  const std::vector<int64_t> choices = {2, 3, 4, 5, 7, 8, 16, 32, 1};
  const int64_t kinds = random.Between(0, 5);
  std::string text;
  if (kinds < 3) {
    const unsigned steps = kinds == 0 ? kReindexings : kReindexings | kCutting | kPlacing;
    HloChain chain;
    do {
      chain = RandomHloChain(Factors(random, choices, random.Between(1, 4)), random.Between(1, 4),
                             steps, random);
    } while (chain.empty());
    text = ToHlo(chain);
  } else {
    const ChainSizes sizes = Factors(random, choices, random.Between(1, 3));
    const auto rank = static_cast<int64_t>(sizes.size());
    ChainSizes layout;
    for (int64_t i = 0; i < rank; ++i) layout.push_back(i);
    random.Shuffle(&layout);
    const std::string tiles =
        random.Pick(std::vector<std::string>{"", "", ":T(4)", ":T(2,4)(2,1)", ":T(8,16)", ":T(3,5)",
                                             ":T(8,4)(4)", ":T(*,16)", ":T(32)(8)(2)"});
    const std::string shape = absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]{",
                                           absl::StrJoin(layout, ","), tiles, "}");
    if (kinds == 3) {
      // A broadcast to one more dimension.
      const int64_t place = random.Between(0, rank);
      ChainSizes dims;
      ChainSizes result = sizes;
      const int64_t size = random.Between(1, 40);
      for (int64_t i = 0; i < rank; ++i) dims.push_back(i < place ? i : i + 1);
      result.insert(result.begin() + place, size);
      text = absl::StrCat("f {\n  p = ", shape, " parameter(0)\n  ROOT b = f32[",
                          absl::StrJoin(result, ","), "] broadcast(p), dimensions={",
                          absl::StrJoin(dims, ","), "}\n}\n");
    } else {
      // A reduction of one dimension.
      const int64_t place = random.Between(0, rank - 1);
      ChainSizes result = sizes;
      result.erase(result.begin() + place);
      text = absl::StrCat("f {\n  p = ", shape,
                          " parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[",
                          absl::StrJoin(result, ","), "] reduce(p, z), dimensions={", place,
                          "}, to_apply=add\n}\n");
    }
  }
  return absl::StrReplaceAll(absl::StrCat("add {\n a = f32[] parameter(0)\n b = f32[] "
                                          "parameter(1)\n ROOT r = f32[] add(a, b)\n}\n\nENTRY ",
                                          text),
                             {{"f32", RandomType(random)}});
}

absl::Status CheckRandom(uint64_t seed, int* exact, mlir::MLIRContext* context) {
  Random random(seed);
  const std::string text = RandomModule(random);
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
  if (!module.ok()) return absl::InternalError(absl::StrCat(module.status().message(), text));
  const HloComputation& computation = *(*module)->entry_computation();
  const Shape& output = computation.root_instruction()->shape();
  const auto entries = Entries(computation, Direction::kOutputToInput, context);
  if (!entries.ok()) return entries.status();
  const CoalescingOptions options = RandomOptions(random);
  auto mapping = RandomMapping(output, random, context);
  if (!mapping.ok()) return absl::InternalError(absl::StrCat(mapping.status().message(), text));
  const std::string mapping_text = mapping->map.ToString();
  const auto with_text = [&](const absl::Status& status) {
    if (status.ok()) return status;
    return absl::InternalError(absl::StrCat(status.message(), "\nseed ", seed, "\n", text,
                                            mapping_text, " warp ", options.warp_size, " sector ",
                                            options.sector_bytes, " line ", options.line_bytes,
                                            " alignment ", options.alignment_bytes));
  };
  int64_t points = mapping->ThreadsPerBlock() * mapping->NumBlocks();
  for (const Variable& range : mapping->map.ranges()) points *= *range.bounds.Size();
  if (points > kMaxThreadPoints) return absl::OkStatus();
  auto analysis = CoalescingAnalysis::Create(*std::move(mapping), output, options);
  if (!analysis.ok()) return with_text(analysis.status());
  absl::Status status = CheckAccess(*analysis, nullptr, output, options);
  for (const IndexingEntry& entry : *entries) {
    const Shape& operand = computation.parameters()[entry.operand]->shape();
    for (const OperandIndexing& map : entry.indexing) {
      int64_t all = points;
      for (const Variable& range : map.map().ranges()) all *= *range.bounds.Size();
      if (all > 4 * kMaxThreadPoints || !map.IsExact()) continue;
      ++*exact;
      absl::Status of_map = CheckAccess(*analysis, &map, operand, options);
      if (!of_map.ok()) {
        of_map = absl::InternalError(absl::StrCat(of_map.message(), "\n", map.ToString()));
      }
      status.Update(of_map);
    }
  }
  return with_text(status);
}

class RandomLaunchesTest : public ::testing::TestWithParam<int> {};

constexpr int kLaunchShards = 4;
constexpr int kCasesPerShard = 600;

TEST_P(RandomLaunchesTest, AreCounted) {
  std::unique_ptr<mlir::MLIRContext> context;
  int compared = 0;
  const int cases = Cases(kCasesPerShard);
  for (int i = 0; i < cases; ++i) {
    if (i % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const absl::Status status =
        CheckRandom(GetParam() * kCasesPerShard + i, &compared, context.get());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_GT(compared, cases * 5 / 6);
}
INSTANTIATE_TEST_SUITE_P(All, RandomLaunchesTest, ::testing::Range(0, kLaunchShards));

// --- Runtime values

class RuntimeValuesTest : public ::testing::Test {
 protected:
  RuntimeValuesTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  // The map of parameter 0, and what is said of it.
  void Analyse(absl::string_view entry) {
    auto module = ParseModule(absl::StrCat("ENTRY e {\n", entry, "\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    const HloComputation& computation = *module_->entry_computation();
    entries_ = Entries(computation, Direction::kOutputToInput, &context_).value();
    ASSERT_EQ(entries_[0].operand, 0);
    ASSERT_EQ(entries_[0].indexing.size(), 1);
    const Shape& output = computation.root_instruction()->shape();
    analysis_.emplace(CoalescingAnalysis::OfLoop(output, loop_, &context_, options_).value());
    said_ = analysis_->OfReads(Map(), Operand());
    ASSERT_FALSE(said_.IsUnknown()) << said_.reason;
  }
  const OperandIndexing& Map() const { return entries_[0].indexing.maps()[0]; }
  const Shape& Operand() const { return module_->entry_computation()->parameters()[0]->shape(); }
  SectorCounts Simulate(std::function<int64_t(int, const std::vector<int64_t>&)> values) const {
    return CountSectors(
        {analysis_->mapping(), &Map().map(), Operand(), options_.warp_size, 0, std::move(values)});
  }
  // One value for all points: least and most are over all values.
  void ExpectHullOfValues() {
    const IndexingMap& map = Map().map();
    std::vector<int64_t> values;
    Interval requests;
    Interval sectors;
    Interval least;
    Interval lines;
    const std::function<void()> visit = [&] {
      if (values.size() < static_cast<size_t>(map.num_runtimes())) {
        const Interval bounds = map.runtimes()[values.size()].bounds;
        for (int64_t value = bounds.lower(); value <= bounds.upper(); ++value) {
          values.push_back(value);
          visit();
          values.pop_back();
        }
        return;
      }
      const SectorCounts counts =
          Simulate([&](int i, const std::vector<int64_t>&) { return values[i]; });
      requests = requests.Union(Interval::Point(counts.requests));
      sectors = sectors.Union(Interval::Point(counts.sectors));
      least = least.Union(Interval::Point(counts.least));
      lines = lines.Union(Interval::Point(counts.lines));
    };
    visit();
    EXPECT_EQ(said_.requests, requests);
    EXPECT_EQ(said_.sectors, sectors);
    EXPECT_EQ(said_.least_sectors, least);
    EXPECT_EQ(said_.lines, lines);
  }
  // Values that differ from point to point: what any of them give is within the counts.
  void ExpectContainsAny(int tries) {
    const IndexingMap& map = Map().map();
    Random random(7);
    for (int i = 0; i < tries; ++i) {
      // Few values or many; equal elements have equal values.
      const int64_t spread = random.Between(0, 2);
      const uint64_t salt = random.Bits();
      const SectorCounts counts = Simulate([&](int rt, const std::vector<int64_t>& point) {
        uint64_t hash = salt + static_cast<uint64_t>(rt);
        const std::vector<int64_t> dims(point.begin(), point.begin() + map.num_dims());
        const std::vector<int64_t> ranges(point.begin() + map.num_dims(), point.end());
        for (const mlir::AffineExpr element : Map().bindings()[rt].element) {
          hash = MixBits(hash ^ static_cast<uint64_t>(ValueAt(element, dims, ranges)));
        }
        const Interval bounds = map.runtimes()[rt].bounds;
        const int64_t size = spread == 0   ? 1
                             : spread == 1 ? std::min<int64_t>(3, *bounds.Size())
                                           : *bounds.Size();
        return bounds.lower() + static_cast<int64_t>(hash % static_cast<uint64_t>(size));
      });
      EXPECT_TRUE(said_.requests.Contains(counts.requests));
      EXPECT_TRUE(said_.sectors.Contains(counts.sectors))
          << said_.sectors.ToString() << " " << counts.sectors;
      EXPECT_TRUE(said_.least_sectors.Contains(counts.least))
          << said_.least_sectors.ToString() << " " << counts.least;
      EXPECT_TRUE(said_.lines.Contains(counts.lines))
          << said_.lines.ToString() << " " << counts.lines;
      if (said_.coalesced == true) {
        EXPECT_LE(static_cast<double>(counts.worst_sectors),
                  1.25 * static_cast<double>(counts.worst_least));
      }
    }
  }

  mlir::MLIRContext context_;
  std::unique_ptr<HloModule> module_;
  InstructionIndexing entries_;
  std::optional<CoalescingAnalysis> analysis_;
  LoopOptions loop_;
  CoalescingOptions options_;
  Coalescing said_;
};

TEST_F(RuntimeValuesTest, Slices) {
  Analyse(
      "p = bf16[20,37] parameter(0) i = s32[] parameter(1) j = s32[] parameter(2)\n"
      "ROOT r = bf16[9,11] dynamic-slice(p, i, j), dynamic_slice_sizes={9,11}");
  ExpectHullOfValues();
  loop_ = {32, 2, 2};
  Analyse(
      "p = s4[300] parameter(0) i = s32[] parameter(1)\n"
      "ROOT r = s4[100] dynamic-slice(p, i), dynamic_slice_sizes={100}");
  ExpectHullOfValues();
  Analyse(
      "p = f32[8,64] parameter(0) i = s32[] parameter(1) z = s32[] constant(0)\n"
      "ROOT r = f32[2,64] dynamic-slice(p, i, z), dynamic_slice_sizes={2,64}");
  EXPECT_TRUE(said_.IsExact());
  ExpectHullOfValues();
}

TEST_F(RuntimeValuesTest, UpdatesWhereverTheyAre) {
  // How many threads read the update does not depend on the place, which warps do.
  Analyse(
      "u = f32[20] parameter(0) p = f32[150] parameter(1) i = s32[] parameter(2)\n"
      "ROOT r = f32[150] dynamic-update-slice(p, u, i)");
  ExpectHullOfValues();
}

TEST_F(RuntimeValuesTest, Gathers) {
  for (const char* sizes : {"10,64", "10,7", "40,3", "5,100"}) {
    const std::string columns(
        absl::string_view(sizes).substr(absl::string_view(sizes).find(',') + 1));
    const std::string rows(absl::string_view(sizes).substr(0, absl::string_view(sizes).find(',')));
    Analyse(absl::StrCat("p = f32[50,", columns, "] parameter(0) i = s32[", rows,
                         ",1] parameter(1)\nROOT r = f32[", sizes,
                         "] gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
                         "start_index_map={0}, index_vector_dim=1, slice_sizes={1,",
                         columns, "}"));
    ExpectContainsAny(60);
  }
  Analyse(
      "p = s8[500] parameter(0) i = s32[70,1] parameter(1)\n"
      "ROOT r = s8[70] gather(p, i), offset_dims={}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1}");
  ExpectContainsAny(60);
}

}  // namespace
}  // namespace xla_indexing::reference
