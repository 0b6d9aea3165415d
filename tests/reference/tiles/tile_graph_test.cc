// Graphs of tiles, executed: every program, every loop, masks and all.
#include "xla_indexing/tiling/kernel/tile_graph.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLFunctionalExtras.h"
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

void CheckModule(const std::string& text, uint64_t seed,
                 llvm::function_ref<std::vector<Tiling>(const TilingSpace&)> tilings_of,
                 Tally* tally) {
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
  for (const Tiling& tiling : tilings_of(tiled->space())) {
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
    const absl::Status status = ExecuteTiles(**numbered, *entry.root_instruction(), *tiled, *graph);
    ASSERT_TRUE(status.ok()) << status << "\n" << tiled->space().ToString() << graph->ToString();
  }
}

void CheckRandomTilings(const std::string& text, uint64_t seed, int count, Tally* tally) {
  const auto random_tilings = [&](const TilingSpace& space) {
    Random random(seed);
    std::vector<Tiling> tilings;
    for (int i = 0; i < count; ++i) tilings.push_back(RandomTiling(space, &random));
    return tilings;
  };
  CheckModule(text, seed, random_tilings, tally);
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
    CheckRandomTilings(RandomFusionModule(kTiledOpcodes, seed), seed, 4, &tally);
  }
  std::printf("%lld modules, %lld tilings, %lld made, %lld of exact tiles\n",
              static_cast<long long>(tally.modules), static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made), static_cast<long long>(tally.exact));
  EXPECT_GT(tally.made, tally.tried / 2);
}

// Transposes of arrays of up to three dimensions in all layouts of the operand and the result, by all tiles
// of up to 8 elements in each dimension: sectors and lines of loads and stores.
TEST(TileGraphExecutionTest, SectorsAreThoseOfAllLayoutsAndTiles) {
  Tally tally;
  uint64_t number = 0;
  CasesInTurn cases;
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{40}, {9, 16}, {12, 5}, {3, 8, 5}, {2, 4, 12}}) {
    const auto rank = static_cast<int64_t>(sizes.size());
    std::vector<int64_t> of_operand(rank);
    std::iota(of_operand.begin(), of_operand.end(), 0);
    do {
      std::vector<int64_t> of_result(rank);
      std::iota(of_result.begin(), of_result.end(), 0);
      do {
        const std::string type = number % 3 == 0 ? "u8" : number % 3 == 1 ? "f32" : "f64";
        const std::string text = absl::StrCat(
            "ENTRY e { p = ", type, "[", absl::StrJoin(sizes, ","), "]{",
            absl::StrJoin(of_operand, ","), "} parameter(0)\n ROOT r = ", type, "[",
            absl::StrJoin(sizes, ","), "]{", absl::StrJoin(of_result, ","), "} negate(p) }");
        std::vector<Tiling> tilings;
        const int64_t last = int64_t{1} << (3 * rank);
        for (int64_t tile = 0; tile < last; ++tile) {
          ++number;
          if (!cases.IsNextTried()) continue;
          Tiling& tiling = tilings.emplace_back();
          for (int64_t i = 0; i < rank; ++i) tiling.sizes.push_back((tile >> (3 * i)) % 8 + 1);
        }
        const auto all = [&](const TilingSpace&) { return tilings; };
        CheckModule(text, number, all, &tally);
      } while (std::next_permutation(of_result.begin(), of_result.end()));
    } while (std::next_permutation(of_operand.begin(), of_operand.end()));
  }
  std::printf("%lld tilings, %lld made\n", static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made));
  EXPECT_EQ(tally.made, tally.tried);
}

// --- Arrays of rows that are put together ---

// What rows are made of: rows cut out of an array, an array of their own, one row again and again, a
// scalar, sums of rows of an array.
enum class PieceRows { kSlice, kParameter, kRow, kScalar, kSum };
constexpr PieceRows kAllRows[] = {PieceRows::kSlice, PieceRows::kParameter, PieceRows::kRow,
                                  PieceRows::kScalar, PieceRows::kSum};

// How pieces become an array of `rows` rows.
enum class Joined { kConcatenate, kPad, kInteriorPad, kUpdate };

struct JoinedRows {
  Joined joined = Joined::kConcatenate;
  // The numbers of rows of the pieces, or of the one piece in what is padded or updated.
  std::vector<int64_t> sizes;
  std::vector<PieceRows> kinds;
  int64_t rows = 0;
  int64_t columns = 0;
  // What is done with the array: nothing, its transpose, all in one dimension, columns added up, or
  // rows added up.
  int then = 0;
};

class JoinedRowsText {
 public:
  explicit JoinedRowsText(const JoinedRows& joined) : joined_(joined) {}

  std::string Write() {
    std::vector<std::string> pieces;
    for (size_t i = 0; i < joined_.sizes.size(); ++i) {
      pieces.push_back(AddPiece(joined_.kinds[i], joined_.sizes[i]));
    }
    const std::string shape = ShapeOf(joined_.rows);
    const int64_t first = joined_.rows - joined_.sizes[0];
    switch (joined_.joined) {
      case Joined::kConcatenate:
        Add("j", shape,
            absl::StrCat("concatenate(", absl::StrJoin(pieces, ", "), "), dimensions={0}"));
        break;
      case Joined::kPad:
        Add("j", shape,
            absl::StrCat("pad(", pieces[0], ", zero), padding=", first / 2, "_", first - first / 2,
                         "x0_0"));
        break;
      case Joined::kInteriorPad:
        Add("j", shape,
            absl::StrCat("pad(", pieces[0], ", zero), padding=0_", first - (joined_.sizes[0] - 1),
                         "_1x0_0"));
        break;
      case Joined::kUpdate:
        Add("at", "s32[]", absl::StrCat("constant(", first / 2, ")"));
        Add("at0", "s32[]", "constant(0)");
        Add("j", shape,
            absl::StrCat("dynamic-update-slice(", AddPiece(PieceRows::kParameter, joined_.rows),
                         ", ", pieces[0], ", at, at0)"));
        break;
    }
    AddRoot();
    return absl::StrCat(
        "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, "
        "b) "
        "}\nENTRY e {\n  zero = f32[] constant(0)\n",
        lines_, "}\n");
  }

 private:
  std::string ShapeOf(int64_t rows) const {
    return absl::StrCat("f32[", rows, ",", joined_.columns, "]");
  }
  void Add(absl::string_view name, absl::string_view shape, absl::string_view what) {
    absl::StrAppend(&lines_, "  ", name, " = ", shape, " ", what, "\n");
  }
  std::string AddParameter(absl::string_view shape) {
    const std::string name = absl::StrCat("p", parameters_);
    Add(name, shape, absl::StrCat("parameter(", parameters_++, ")"));
    return name;
  }

  std::string AddPiece(PieceRows kind, int64_t rows) {
    const std::string name = absl::StrCat("v", pieces_++);
    const std::string row = absl::StrCat("f32[", joined_.columns, "]");
    switch (kind) {
      case PieceRows::kSlice: {
        // All slices are of one array, from its last row on.
        const int64_t all = joined_.rows + 1;
        if (sliced_.empty()) sliced_ = AddParameter(ShapeOf(all));
        end_ = end_ > rows ? end_ : all;
        Add(name, ShapeOf(rows),
            absl::StrCat("slice(", sliced_, "), slice={[", end_ - rows, ":", end_,
                         "], [0:", joined_.columns, "]}"));
        end_ -= rows;
        return name;
      }
      case PieceRows::kParameter:
        return AddParameter(ShapeOf(rows));
      case PieceRows::kRow:
        if (row_.empty()) row_ = AddParameter(row);
        Add(name, ShapeOf(rows), absl::StrCat("broadcast(", row_, "), dimensions={1}"));
        return name;
      case PieceRows::kScalar:
        Add(name, ShapeOf(rows),
            absl::StrCat("broadcast(", AddParameter("f32[]"), "), dimensions={}"));
        return name;
      case PieceRows::kSum:
        Add(absl::StrCat(name, "s"), row,
            absl::StrCat("reduce(", AddParameter(ShapeOf(3)),
                         ", zero), dimensions={0}, to_apply=add"));
        Add(name, ShapeOf(rows), absl::StrCat("broadcast(", name, "s), dimensions={1}"));
        return name;
    }
    return name;
  }

  void AddRoot() {
    const int64_t rows = joined_.rows;
    const int64_t columns = joined_.columns;
    switch (joined_.then) {
      case 0:
        return Add("ROOT r", ShapeOf(rows), "negate(j)");
      case 1:
        return Add("ROOT r", absl::StrCat("f32[", columns, ",", rows, "]"),
                   "transpose(j), dimensions={1,0}");
      case 2:
        return Add("ROOT r", absl::StrCat("f32[", rows * columns, "]"), "reshape(j)");
      case 3:
        return Add("ROOT r", absl::StrCat("f32[", rows, "]"),
                   "reduce(j, zero), dimensions={1}, to_apply=add");
      default:
        return Add("ROOT r", absl::StrCat("f32[", columns, "]"),
                   "reduce(j, zero), dimensions={0}, to_apply=add");
    }
  }

  const JoinedRows& joined_;
  std::string lines_;
  int parameters_ = 0;
  int pieces_ = 0;
  std::string sliced_;
  std::string row_;
  int64_t end_ = 0;
};

// All tilings of a space of small dimensions, each also with parallel dimensions of several tiles in
// loops.
std::vector<Tiling> AllTilings(const TilingSpace& space) {
  std::vector<Tiling> tilings = {Tiling()};
  for (int dim = 0; dim < space.num_dims(); ++dim) {
    std::vector<Tiling> longer;
    for (const Tiling& tiling : tilings) {
      for (int64_t size = 1; size <= space.dims()[dim].size + 1; ++size) {
        Tiling& next = longer.emplace_back(tiling);
        next.sizes.push_back(size);
        if (!space.IsParallel(dim) || size >= space.dims()[dim].size) continue;
        longer.push_back(longer.back());
        longer.back().loops.push_back(dim);
      }
    }
    tilings = std::move(longer);
  }
  return tilings;
}

// Ways to write n as a sum of up to three numbers.
std::vector<std::vector<int64_t>> SumsOf(int64_t n) {
  std::vector<std::vector<int64_t>> sums;
  for (int64_t a = 1; a < n; ++a) {
    sums.push_back({a, n - a});
    for (int64_t b = 1; a + b < n; ++b) sums.push_back({a, b, n - a - b});
  }
  return sums;
}

std::vector<JoinedRows> AllJoinedRows() {
  std::vector<JoinedRows> all;
  for (int64_t rows = 2; rows <= 4; ++rows) {
    for (int64_t columns = 1; columns <= 2; ++columns) {
      for (int then = 0; then < 5; ++then) {
        for (const std::vector<int64_t>& sizes : SumsOf(rows)) {
          for (const PieceRows a : kAllRows) {
            for (const PieceRows b : kAllRows) {
              if (sizes.size() == 2) {
                all.push_back({Joined::kConcatenate, sizes, {a, b}, rows, columns, then});
                continue;
              }
              for (const PieceRows c : kAllRows) {
                all.push_back({Joined::kConcatenate, sizes, {a, b, c}, rows, columns, then});
              }
            }
          }
        }
        for (const Joined joined : {Joined::kPad, Joined::kInteriorPad, Joined::kUpdate}) {
          for (int64_t size = 1; size <= rows; ++size) {
            if (joined == Joined::kInteriorPad && 2 * size - 1 > rows) continue;
            for (const PieceRows kind : kAllRows) {
              all.push_back({joined, {size}, {kind}, rows, columns, then});
            }
          }
        }
      }
    }
  }
  return all;
}

TEST(TileGraphExecutionTest, RowsAreLoadedByTheProgramsThatNeedThem) {
  Tally tally;
  CasesInTurn cases;
  for (const JoinedRows& joined : AllJoinedRows()) {
    if (!cases.IsNextTried()) continue;
    CheckModule(JoinedRowsText(joined).Write(), tally.modules, AllTilings, &tally);
    if (HasFailure()) return;
  }
  std::printf("%lld modules, %lld tilings, %lld made, %lld of exact tiles\n",
              static_cast<long long>(tally.modules), static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made), static_cast<long long>(tally.exact));
  EXPECT_GT(tally.exact, tally.made / 2);
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
    CheckRandomTilings(text, seed, 3, &tally);
  }
  std::printf("%lld modules, %lld tilings, %lld made, %lld of exact tiles\n",
              static_cast<long long>(tally.modules), static_cast<long long>(tally.tried),
              static_cast<long long>(tally.made), static_cast<long long>(tally.exact));
  EXPECT_GT(tally.made, 0);
}

}  // namespace
}  // namespace xla_indexing::reference
