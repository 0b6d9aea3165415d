// Simplifying maps, and composing the maps of chains of operations. Each is done by this library
// (`ours`) and on the bare affine maps by MLIR, whose simplifyAffineMap knows no intervals
// (`mlir`).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {
namespace {

BENCHMARK(IdentityMap);

// --- Single maps
// ----------------------------------------------------------------------------------

struct NamedMap {
  const char* name;
  const char* text;
};

// The examples of the indexing document, and what compositions of its operations look like.
constexpr NamedMap kMaps[] = {
    {"identity",
     "(d0, d1, d2, d3) -> (d0, d1, d2, d3), "
     "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], d3 in [0, 9]"},
    {"document_1_small_index",
     "(d0, d1) -> (d0 + d1 floordiv 16, d1 mod 16), domain: d0 in [0, 6], d1 in [0, 14]"},
    {"document_2_delinearize",
     "(d0, d1, d2) -> ((d0 * 100 + d1 * 10 + d2) floordiv 100, "
     "((d0 * 100 + d1 * 10 + d2) mod 100) floordiv 10, d2 mod 10), "
     "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
    {"document_3_multiples",
     "(d0, d1, d2) -> ((d0 * 16 + d1 * 4 + d2) floordiv 8, (d0 * 16 + d1 * 4 + d2) mod 8), "
     "domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
    {"document_4_negative",
     "(d0, d1) -> (-((-d0 * 11 - d1 + 109) floordiv 11) + 9), "
     "domain: d0 in [0, 9], d1 in [0, 10]"},
    {"document_constraints",
     "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 5], s0 in [1, 3], d0 + s0 in [0, 20], "
     "d0 * 6 + s0 * 2 - 7 in [3, 25], (d0 + s0 + 4) floordiv 3 in [1, 3]"},
    {"reshape_reshape",
     "(d0, d1, d2) -> (((d0 * 5 + d1 floordiv 2) * 20 + (d1 mod 2) * 10 + d2) floordiv 100, "
     "(((d0 * 5 + d1 floordiv 2) * 20 + (d1 mod 2) * 10 + d2) floordiv 10) mod 10, "
     "((d1 mod 2) * 10 + d2) mod 10), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"},
    {"gpu_threads",
     "(d0, d1)[s0, s1] -> (((d1 * 128 + d0) * 4 + s1) floordiv 49152 + s0 * 8, "
     "(((d1 * 128 + d0) * 4 + s1) floordiv 64) mod 768, ((d1 * 128 + d0) * 4 + s1) mod 64), "
     "domain: d0 in [0, 127], d1 in [0, 1023], s0 in [0, 3], s1 in [0, 3], "
     "(d1 * 128 + d0) * 4 + s1 in [0, 524287]"},
};

void SimplifyOurs(benchmark::State& state, const char* text) {
  mlir::MLIRContext context(kNoThreading);
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
  if (!map.ok()) return Skip(state, map.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    IndexingMap simplified = *map;
    simplified.Simplify();
    benchmark::DoNotOptimize(simplified.affine_map());
  }
  meter.Report();
}

void SimplifyMlir(benchmark::State& state, const char* text) {
  mlir::MLIRContext context(kNoThreading);
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
  if (!map.ok()) return Skip(state, map.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) benchmark::DoNotOptimize(mlir::simplifyAffineMap(map->affine_map()));
  meter.Report();
}

// --- Chains
// ---------------------------------------------------------------------------------------

// One operation after another on a tensor: reshape to these sizes, or a transpose with this
// permutation.
struct Step {
  bool is_transpose;
  std::vector<int64_t> numbers;
};
struct Chain {
  const char* name;
  std::vector<int64_t> sizes;  // of the parameter
  std::vector<Step> cycle;     // repeated as often as the length asks
};

const std::vector<Chain>& Chains() {
  static const auto* const chains = new std::vector<Chain>{
      // Comes back to the first shape after five steps, so that no length asked for is the
      // identity.
      {"reshapes",
       {32, 48, 20},
       {{false, {64, 480}},
        {false, {16, 30, 64}},
        {false, {15, 2048}},
        {false, {20, 48, 32}},
        {false, {32, 48, 20}}}},
      {"transposes", {2, 4, 8, 16, 32}, {{true, {1, 2, 3, 4, 0}}}},
      // The heads of an attention layer, split off, moved and merged again.
      {"attention",
       {4, 128, 768},
       {{false, {4, 128, 12, 64}},
        {true, {0, 2, 1, 3}},
        {false, {48, 128, 64}},
        {true, {0, 2, 1}},
        {false, {4, 12, 64, 128}},
        {true, {0, 3, 1, 2}},
        {false, {4, 128, 768}}}},
      // Nothing cancels: sizes do not divide one another.
      {"shuffle", {32, 48, 20}, {{true, {2, 0, 1}}, {false, {32, 48, 20}}}},
  };
  return *chains;
}

constexpr int kLengths[] = {2, 4, 8, 16};

// HLO of the chain, `length` operations from the parameter to the root.
std::string ChainText(const Chain& chain, int length) {
  const auto shape = [](const std::vector<int64_t>& sizes) {
    return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]");
  };
  std::vector<int64_t> sizes = chain.sizes;
  std::string text = absl::StrCat("ENTRY e {\n  x0 = ", shape(sizes), " parameter(0)\n");
  for (int i = 0; i < length; ++i) {
    const Step& step = chain.cycle[static_cast<size_t>(i) % chain.cycle.size()];
    const std::string numbers = absl::StrJoin(step.numbers, ",");
    if (step.is_transpose) {
      std::vector<int64_t> permuted;
      for (const int64_t dim : step.numbers) permuted.push_back(sizes[static_cast<size_t>(dim)]);
      sizes = permuted;
    } else {
      sizes = step.numbers;
    }
    absl::StrAppend(&text, "  x", i + 1, " = ", shape(sizes),
                    step.is_transpose ? " transpose(x" : " reshape(x", i,
                    step.is_transpose ? absl::StrCat("), dimensions={", numbers, "}") : ")", "\n");
  }
  return text + "}\n";
}

// The maps of the chain's operations, output to input, from the root to the parameter.
absl::StatusOr<std::vector<IndexingMap>> MapsOfSteps(const HloModule& module,
                                                     mlir::MLIRContext* context) {
  std::vector<IndexingMap> maps;
  const HloInstruction* instruction = module.entry_computation()->root_instruction();
  for (; !instruction->operands().empty(); instruction = instruction->operand(0)) {
    const auto entries = ComputeOutputToInputIndexing(*instruction, context);
    if (!entries.ok()) return entries.status();
    maps.push_back(entries->front().indexing.maps().front().map());
  }
  return maps;
}

// Step after step composed, and simplified after each.
void ComposeOurs(benchmark::State& state, const Chain* chain, int length) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, ChainText(*chain, length));
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  const auto steps = MapsOfSteps(*module, &context);
  if (!steps.ok()) return Skip(state, steps.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    IndexingMap composed = steps->front();
    for (size_t i = 1; i < steps->size(); ++i) {
      absl::StatusOr<IndexingMap> next = ComposeIndexingMaps(composed, (*steps)[i]);
      if (!next.ok()) return Skip(state, next.status());
      composed = *std::move(next);
      composed.Simplify();
    }
    benchmark::DoNotOptimize(composed.affine_map());
  }
  meter.Report();
}

void ComposeMlir(benchmark::State& state, const Chain* chain, int length) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, ChainText(*chain, length));
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  const auto steps = MapsOfSteps(*module, &context);
  if (!steps.ok()) return Skip(state, steps.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::AffineMap composed = steps->front().affine_map();
    for (size_t i = 1; i < steps->size(); ++i) {
      composed = mlir::simplifyAffineMap((*steps)[i].affine_map().compose(composed));
    }
    benchmark::DoNotOptimize(composed);
  }
  meter.Report();
}

// The chain as a computation: steps that cancel are never written out.
void ComputationOurs(benchmark::State& state, const Chain* chain, int length) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, ChainText(*chain, length));
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    const auto entries = ComputeOutputToInputIndexing(*module->entry_computation(), &context);
    if (!entries.ok()) return Skip(state, entries.status());
    benchmark::DoNotOptimize(entries->data());
  }
  meter.Report();
}

const bool registered = [] {
  for (const NamedMap& map : kMaps) {
    const std::string name = absl::StrCat("Simplify/", map.name);
    benchmark::RegisterBenchmark((name + "/ours").c_str(), SimplifyOurs, map.text);
    benchmark::RegisterBenchmark((name + "/mlir").c_str(), SimplifyMlir, map.text);
  }
  for (const Chain& chain : Chains()) {
    for (const int length : kLengths) {
      const std::string name = absl::StrCat("Chain/", chain.name, "/", length);
      benchmark::RegisterBenchmark((name + "/ours").c_str(), ComposeOurs, &chain, length);
      benchmark::RegisterBenchmark((name + "/mlir").c_str(), ComposeMlir, &chain, length);
      benchmark::RegisterBenchmark((name + "/ours_as_computation").c_str(), ComputationOurs, &chain,
                                   length);
    }
  }
  return true;
}();

}  // namespace
}  // namespace xla_indexing
