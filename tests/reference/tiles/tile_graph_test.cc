// Graphs of tiles, executed: every program, every loop, masks and all.
#include "xla_indexing/tiling/kernel/tile_graph.h"

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/tile_execution.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing::reference {
namespace {

// How many tilings were tried, could be made, and were exact in all of their tiles.
struct Tally {
  int64_t modules = 0;
  int64_t tried = 0;
  int64_t made = 0;
  int64_t exact = 0;
};

Tiling RandomTiling(const TilingSpace& space, Random* random) {
  Tiling tiling;
  for (int i = 0; i < space.num_dims(); ++i) {
    const int64_t size = space.dims()[i].size;
    // Divisors, other sizes, whole dimensions and more than that.
    std::vector<int64_t> candidates = {1, size, size + 1, 2, 4, random->Between(1, size + 2)};
    for (int64_t d = 1; d <= size; ++d) {
      if (size % d == 0) candidates.push_back(d);
    }
    tiling.sizes.push_back(std::max<int64_t>(random->Pick(candidates), 1));
    if (space.IsParallel(i) && random->OneIn(4)) tiling.loops.push_back(i);
  }
  random->Shuffle(&tiling.loops);
  return tiling;
}

void CheckModule(const std::string& text, uint64_t seed, int tilings, Tally* tally) {
  SCOPED_TRACE(text);
  const auto module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const auto numbered = NumberedComputation::Create(entry, seed);
  if (!numbered.ok()) {
    ASSERT_EQ(numbered.status().code(), absl::StatusCode::kUnimplemented) << numbered.status();
    return;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const auto tiled = TiledComputation::Create(entry, &context);
  if (!tiled.ok()) {
    // A root without an array.
    ASSERT_EQ(tiled.status().code(), absl::StatusCode::kInvalidArgument) << tiled.status();
    return;
  }
  ++tally->modules;
  Random random(seed);
  for (int i = 0; i < tilings; ++i) {
    const Tiling tiling = RandomTiling(tiled->space(), &random);
    SCOPED_TRACE(testing::Message() << "sizes " << absl::StrJoin(tiling.sizes, ", ") << ", loops "
                                    << absl::StrJoin(tiling.loops, ", "));
    ++tally->tried;
    const auto graph = tiled->Instantiate(tiling);
    if (!graph.ok()) {
      ASSERT_EQ(graph.status().code(), absl::StatusCode::kFailedPrecondition) << graph.status();
      continue;
    }
    ++tally->made;
    tally->exact += graph->IsExact() ? 1 : 0;
    const absl::Status status = ExecuteTiles(**numbered, *entry.root_instruction(), *graph);
    ASSERT_TRUE(status.ok()) << status << "\n" << tiled->space().ToString() << graph->ToString();
  }
}

constexpr HloOpcode kTiledOpcodes[] = {
    HloOpcode::kAdd,
    HloOpcode::kBroadcast,
    HloOpcode::kConcatenate,
    HloOpcode::kConvolution,
    HloOpcode::kDot,
    HloOpcode::kDot,
    HloOpcode::kDynamicSlice,
    HloOpcode::kDynamicUpdateSlice,
    HloOpcode::kNegate,
    HloOpcode::kGather,
    HloOpcode::kPad,
    HloOpcode::kPad,
    HloOpcode::kReduce,
    HloOpcode::kReduce,
    HloOpcode::kReduceWindow,
    HloOpcode::kReshape,
    HloOpcode::kReverse,
    HloOpcode::kScaledDot,
    HloOpcode::kScan,
    HloOpcode::kRaggedDot,
    HloOpcode::kSelect,
    HloOpcode::kSlice,
    HloOpcode::kTranspose,
    HloOpcode::kTuple,
    HloOpcode::kMultiply,
    HloOpcode::kConcatenate,
    HloOpcode::kGetTupleElement,
};

TEST(TileGraphExecutionTest, RandomFusionsHaveTheValuesOfTheUntiledComputation) {
  Tally tally;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(5000)) && !testing::Test::HasFailure();
       ++seed) {
    CheckModule(RandomFusionModule(kTiledOpcodes, seed), seed, 4, &tally);
  }
  std::printf("%lld modules, %lld tilings, %lld made, %lld of exact tiles\n",
              static_cast<long long>(tally.modules), static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made), static_cast<long long>(tally.exact));
  EXPECT_GT(tally.made, tally.tried / 2);
}

TEST(TileGraphExecutionTest, RandomFusionsOfAllOpcodes) {
  Tally tally;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(1500)) && !testing::Test::HasFailure();
       ++seed) {
    const std::string text = RandomFusionModule(seed);
    const auto module = ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status();
    // Operations across devices are executed on several.
    if ((*module)->replica_count() * (*module)->num_partitions() > 1) continue;
    CheckModule(text, seed, 3, &tally);
  }
  std::printf("%lld modules, %lld tilings, %lld made, %lld of exact tiles\n",
              static_cast<long long>(tally.modules), static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made), static_cast<long long>(tally.exact));
  EXPECT_GT(tally.made, 0);
}

}  // namespace
}  // namespace xla_indexing::reference
