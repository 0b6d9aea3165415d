// Simplifying maps, and composing the maps of chains of operations. Each is done by this library
// (`ours`) and on the bare affine maps by MLIR, whose simplifyAffineMap knows no intervals
// (`mlir`).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "benchmarks/maps_to_simplify.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {
namespace {

using internal::ComputeIndexing;

BENCHMARK(IdentityMap);

// --- Single maps

void SimplifyOurs(benchmark::State& state, const std::string& text) {
  mlir::MLIRContext context(kNoThreading);
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
  if (!map.ok()) return Skip(state, map.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    IndexingMap simplified = *map;
    simplified.Simplify({.keep_variables = true});
    benchmark::DoNotOptimize(simplified.affine_map());
  }
  meter.Report();
}

void SimplifyMlir(benchmark::State& state, const std::string& text) {
  mlir::MLIRContext context(kNoThreading);
  const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
  if (!map.ok()) return Skip(state, map.status());
  IdentityMapMeter meter(state);
  for (auto _ : state) benchmark::DoNotOptimize(mlir::simplifyAffineMap(map->affine_map()));
  meter.Report();
}

// The least time of several runs of `simplify`, in seconds.
template <typename Simplify>
double LeastSeconds(Simplify simplify) {
  constexpr int kRuns = 15;
  constexpr int kTimes = 64;
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < kTimes; ++i) simplify();
    least = std::min(least, static_cast<double>(std::clock() - start));
  }
  return std::max(least, 1.0) / CLOCKS_PER_SEC / kTimes;
}

// The length of all results together, their greatest constants added up.
internal::ExprSize LengthOf(mlir::AffineMap map) {
  internal::ExprSize length;
  for (const mlir::AffineExpr result : map.getResults()) {
    const internal::ExprSize size = internal::SizeOf(result);
    length.divisions += size.divisions;
    length.nodes += size.nodes;
    length.greatest += size.greatest;
  }
  return length;
}

// All maps one after another: in how many cases MLIR is faster; in how many of these there are no
// constraints, which MLIR does not look at, and our results are not shorter either (the label names
// them); how many times as long we take in the worst case, and how many times as long MLIR takes in
// the geometric mean.
void AgainstMlir(benchmark::State& state) {
  mlir::MLIRContext context(kNoThreading);
  int64_t slower = 0;
  std::vector<std::string> unexcused;
  double worst = 0;
  double sum_of_logs = 0;
  for (auto _ : state) {
    for (const NamedMap& named : MapsToSimplify()) {
      const absl::StatusOr<IndexingMap> map = ParseIndexingMap(named.text, &context);
      if (!map.ok()) return Skip(state, map.status());
      IndexingMap simplified = *map;
      const double ours = LeastSeconds([&] {
        simplified = *map;
        simplified.Simplify({.keep_variables = true});
        benchmark::DoNotOptimize(simplified.affine_map());
      });
      mlir::AffineMap by_mlir;
      const double mlir = LeastSeconds([&] {
        by_mlir = mlir::simplifyAffineMap(map->affine_map());
        benchmark::DoNotOptimize(by_mlir);
      });
      slower += ours > mlir ? 1 : 0;
      if (ours > mlir && map->constraints().empty() &&
          LengthOf(simplified.affine_map()) >= LengthOf(by_mlir)) {
        unexcused.push_back(named.name);
      }
      worst = std::max(worst, ours / mlir);
      sum_of_logs += std::log(mlir / ours);
    }
  }
  const auto count = static_cast<double>(MapsToSimplify().size());
  state.counters["maps"] = count;
  state.counters["slower"] = static_cast<double>(slower);
  state.counters["slower_unexcused"] = static_cast<double>(unexcused.size());
  state.SetLabel(absl::StrJoin(unexcused, " "));
  state.counters["worst"] = worst;
  state.counters["mlir_to_ours"] = std::exp(sum_of_logs / count);
}
BENCHMARK(AgainstMlir)->Iterations(1)->Unit(benchmark::kMillisecond);

// --- Chains

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
      // Nothing cancels, because sizes do not divide one another.
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
    const auto entries = ComputeIndexing(*instruction, Direction::kOutputToInput, context);
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
    const auto entries = Entries(*module->entry_computation(), Direction::kOutputToInput, &context);
    if (!entries.ok()) return Skip(state, entries.status());
    benchmark::DoNotOptimize(entries->data());
  }
  meter.Report();
}

const bool registered = [] {
  for (const NamedMap& map : ExampleMaps()) {
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
