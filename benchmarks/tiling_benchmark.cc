// Symbolic tiles: of single maps and of whole computations.
//
// `TileOfOneMap` makes the symbolic tile of a map that is there already, in `_and_sizes` with
// whether given sizes are exact and the tile that they have. `TileOfManyDimensions` is that of a
// reshape of 24 dimensions to 6. `TileOfSoftmax` goes from the maps of a softmax to the tiles of
// all its instructions, `TilingsOf..` look for tilings within 48 KiB.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "benchmarks/maps_to_simplify.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"

namespace xla_indexing {
namespace {

using Sizes = std::vector<int64_t>;

void Measure(benchmark::State& state, const std::string& text, const Sizes& sizes, bool asks) {
  mlir::MLIRContext context(kNoThreading);
  const auto map = ParseIndexingMap(text, &context);
  if (!map.ok()) return Skip(state, map.status());
  const OperandIndexing indexing(kPartsFit, *map);
  bool is_exact = true;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    const auto tile = SymbolicTile::Of(indexing);
    benchmark::DoNotOptimize(&tile);
    if (!asks) continue;
    const auto concrete = tile->FullTile(sizes);
    is_exact = concrete->is_exact;
  }
  if (!is_exact) return Skip(state, absl::InternalError("the tile is not exact"));
  meter.Report();
}

void TileOfOneMap(benchmark::State& state, const char* text, const Sizes& sizes, bool asks) {
  Measure(state, text, sizes, asks);
}

constexpr char kIdentity[] =
    "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 63], d1 in [0, 127], d2 in [0, 255]";
constexpr char kTranspose[] =
    "(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 63], d1 in [0, 127], d2 in [0, 255]";
constexpr char kReduce[] =
    "(d0, d1)[s0] -> (d0, d1, s0), domain: d0 in [0, 63], d1 in [0, 127], s0 in [0, 255]";
constexpr char kCollapse[] =
    "(d0, d1, d2) -> (d0 * 128 + d1, d2), domain: d0 in [0, 63], d1 in [0, 127], d2 in [0, 255]";
constexpr char kExpand[] =
    "(d0, d1) -> (d0 floordiv 128, d0 mod 128, d1), domain: d0 in [0, 8191], d1 in [0, 255]";
constexpr char kGeneric[] =
    "(d0, d1) -> (d0 floordiv 2, (d0 mod 2) * 64 + d1), domain: d0 in [0, 255], d1 in [0, 63]";
constexpr char kWindow[] =
    "(d0, d1)[s0, s1] -> (d0 * 2 + s0, d1 * 2 + s1), domain: d0 in [0, 111], d1 in [0, 111], "
    "s0 in [0, 6], s1 in [0, 6]";
constexpr char kPaddedWindow[] =
    "(d0)[s0] -> (d0 + s0 - 1), domain: d0 in [0, 111], s0 in [0, 2], d0 + s0 - 1 in [0, 111]";

#define ONE_MAP(name, map, ...)                                            \
  BENCHMARK_CAPTURE(TileOfOneMap, name, map, (Sizes{__VA_ARGS__}), false); \
  BENCHMARK_CAPTURE(TileOfOneMap, name##_and_sizes, map, (Sizes{__VA_ARGS__}), true)
ONE_MAP(identity, kIdentity, 4, 8, 32);
ONE_MAP(transpose, kTranspose, 4, 8, 32);
ONE_MAP(reduce, kReduce, 4, 8);
ONE_MAP(collapse, kCollapse, 2, 128, 32);
ONE_MAP(expand, kExpand, 64, 32);
ONE_MAP(generic_reshape, kGeneric, 4, 64);
ONE_MAP(window, kWindow, 8, 8);
ONE_MAP(padded_window, kPaddedWindow, 8);
#undef ONE_MAP

void TileOfManyDimensions(benchmark::State& state) {
  std::vector<std::string> dims;
  std::vector<std::string> results;
  std::vector<std::string> domain;
  for (int group = 0; group < 6; ++group) {
    std::vector<std::string> terms;
    for (int i = 0; i < 4; ++i) {
      dims.push_back(absl::StrCat("d", group * 4 + i));
      terms.push_back(absl::StrCat(dims.back(), " * ", 1 << (2 * (3 - i))));
      domain.push_back(absl::StrCat(dims.back(), " in [0, 3]"));
    }
    results.push_back(absl::StrJoin(terms, " + "));
  }
  Measure(state,
          absl::StrCat("(", absl::StrJoin(dims, ", "), ") -> (", absl::StrJoin(results, ", "),
                       "), domain: ", absl::StrJoin(domain, ", ")),
          Sizes(24, 4), /*asks=*/true);
}
BENCHMARK(TileOfManyDimensions);

// The formulas of all maps of maps_to_simplify.cc: offsets, sizes and strides, and the conditions,
// which may look at points. `most_us` is the map that takes longest.
void ConditionsOfMaps(benchmark::State& state) {
  mlir::MLIRContext context(kNoThreading);
  std::vector<SymbolicTile> tiles;
  for (const NamedMap& named : MapsToSimplify()) {
    absl::StatusOr<IndexingMap> map = ParseIndexingMap(named.text, &context);
    if (!map.ok()) return Skip(state, map.status());
    map->Simplify();
    tiles.push_back(*SymbolicTile::OfMap(*std::move(map)));
  }
  double most = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    for (const SymbolicTile& tile : tiles) {
      const auto start = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(tile.Offsets());
      benchmark::DoNotOptimize(tile.Sizes());
      benchmark::DoNotOptimize(tile.Strides());
      benchmark::DoNotOptimize(tile.Conditions());
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - start;
      most = std::max(most, took.count());
    }
  }
  state.counters["most_us"] = most;
  meter.Report(static_cast<double>(tiles.size()));
}
BENCHMARK(ConditionsOfMaps);

constexpr char kSoftmax[] = R"(
  max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }
  add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
  ENTRY e {
    p = f32[512,1024] parameter(0)
    lowest = f32[] constant(-inf)
    zero = f32[] constant(0)
    m = f32[512] reduce(p, lowest), dimensions={1}, to_apply=max
    mb = f32[512,1024] broadcast(m), dimensions={0}
    s = f32[512,1024] subtract(p, mb)
    x = f32[512,1024] exponential(s)
    d = f32[512] reduce(x, zero), dimensions={1}, to_apply=add
    db = f32[512,1024] broadcast(d), dimensions={0}
    ROOT q = f32[512,1024] divide(x, db)
  })";

void TileOfSoftmax(benchmark::State& state) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, kSoftmax);
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  size_t tiles = 1;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    const auto tiled = TiledComputation::Create(*module->entry_computation(), &context);
    if (!tiled.ok()) return Skip(state, tiled.status());
    tiles = tiled->reads().size();
  }
  state.counters["tiles"] = static_cast<double>(tiles);
  meter.Report(static_cast<double>(tiles));
}
BENCHMARK(TileOfSoftmax);

// The tilings of a computation for 48 KiB.
void FindTilings(benchmark::State& state, const std::string& text) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, text);
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  const auto tiled = TiledComputation::Create(*module->entry_computation(), &context);
  if (!tiled.ok()) return Skip(state, tiled.status());
  TilingSearch found;
  IdentityMapMeter meter(state);
  for (auto _ : state) found = tiled->FindTilings();
  state.counters["tried"] = static_cast<double>(found.num_tried);
  state.counters["bytes_moved"] =
      found.tilings.empty() ? 0 : static_cast<double>(found.tilings.front().cost.moved_bytes);
  meter.Report();
}

void TilingsOfSoftmax(benchmark::State& state) { FindTilings(state, kSoftmax); }
BENCHMARK(TilingsOfSoftmax);

constexpr char kMatmul[] = R"(
  ENTRY e {
    a = f32[1024,4096] parameter(0)
    b = f32[4096,1024] parameter(1)
    bias = f32[1024] parameter(2)
    d = f32[1024,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    biases = f32[1024,1024] broadcast(bias), dimensions={1}
    y = f32[1024,1024] add(d, biases)
    ROOT r = f32[1024,1024] tanh(y)
  })";

void TilingsOfMatmul(benchmark::State& state) { FindTilings(state, kMatmul); }
BENCHMARK(TilingsOfMatmul);

// 200 instructions of rank 12: transposes, which the tiles follow, and elementwise ones.
void TilingsOfManyInstructions(benchmark::State& state) {
  constexpr absl::string_view kShapes[] = {"f32[4,6,2,8,3,4,2,5,4,2,6,2]",
                                           "f32[2,6,2,4,5,2,4,3,8,2,6,4]"};
  std::string text = absl::StrCat("ENTRY e { n0 = ", kShapes[0], " parameter(0)\n");
  for (int i = 1; i < 200; ++i) {
    const absl::string_view before = kShapes[(i - 1) / 20 % 2];
    const absl::string_view shape = kShapes[i / 20 % 2];
    absl::StrAppend(&text, i == 199 ? "ROOT " : "", "n", i, " = ", shape,
                    shape == before ? " negate(n" : " transpose(n", i - 1, ")",
                    shape == before ? "" : ", dimensions={11,10,9,8,7,6,5,4,3,2,1,0}", "\n");
  }
  FindTilings(state, absl::StrCat(text, "}"));
}
BENCHMARK(TilingsOfManyInstructions)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing
