// Utilization of every instruction of a module beside computing its maps: the maps alone, and maps
// and counts. `ratio` is the time of the counts in units of that of the maps.
//
// Each iteration has an MLIRContext of its own, as a program has that analyses a module once.

#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

void OfAllInstructions(benchmark::State& state, const char* path) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  const std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  std::clock_t maps_time = 0;
  std::clock_t counts_time = 0;
  int64_t exact = 0;
  int64_t entries = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    exact = entries = 0;
    for (const HloInstruction* instruction : instructions) {
      const std::clock_t start = std::clock();
      const auto maps = Entries(*instruction, Direction::kOutputToInput, &context);
      const std::clock_t middle = std::clock();
      if (!maps.ok()) return Skip(state, maps.status());
      FusionOptions options;
      options.indexing.exact = true;
      const auto report = ReportUtilization(
          *maps,
          [&] {
            return HloIndexer(&context, options).Index(*instruction, Direction::kOutputToInput);
          },
          *instruction, instruction->operands());
      if (!report.ok()) return Skip(state, report.status());
      maps_time += middle - start;
      counts_time += std::clock() - middle;
      for (const OperandUtilization& operand : report->operands) {
        ++entries;
        exact += operand.utilization.IsExact() ? 1 : 0;
      }
    }
  }
  state.counters["ratio"] = static_cast<double>(counts_time) / static_cast<double>(maps_time);
  state.counters["entries"] = static_cast<double>(entries);
  state.counters["exact_percent"] =
      entries == 0 ? 100 : 100.0 * static_cast<double>(exact) / static_cast<double>(entries);
  meter.Report(static_cast<double>(instructions.size()));
}
#define UTILIZATION_BENCHMARK(name, path) \
  BENCHMARK_CAPTURE(OfAllInstructions, name, path)->Unit(benchmark::kMillisecond)
UTILIZATION_BENCHMARK(gemma2_2b, kGemma2);
UTILIZATION_BENCHMARK(llama31_8b, kLlama31);
UTILIZATION_BENCHMARK(large_loop, kLargeLoop);
UTILIZATION_BENCHMARK(mobilenet_v2, kMobileNet);
UTILIZATION_BENCHMARK(maxtext_train_step, kMaxText);
UTILIZATION_BENCHMARK(resnet50, kResNet50);
#undef UTILIZATION_BENCHMARK

}  // namespace
}  // namespace xla_indexing
