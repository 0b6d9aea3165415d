// Whole modules, every instruction in both directions, and a large computation taken as one fusion.
//
// Each iteration has an MLIRContext of its own, as a program has that analyses a module once: the
// time of making every expression for the first time is in it.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {
namespace {

constexpr char kGemma2[] = "backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo";
constexpr char kLlama31[] = "tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo";
constexpr char kMobileNet[] = "tools/data/benchmarking/mobilenet_v2.hlo";
constexpr char kMaxText[] =
    "tools/benchmarks/hlo/nv_maxtext_1n1g_jit_train_step_before_optimization.hlo";
constexpr char kResNet50[] = "backends/cpu/benchmarks/hlo/resnet50_keras_jax_f32.hlo";
constexpr char kLargeLoop[] = "codegen/emitters/tests/loop/large_loop_slow_compile_time.hlo";

int64_t CountMaps(const InstructionIndexing& entries) {
  int64_t maps = 0;
  for (const IndexingEntry& entry : entries) maps += static_cast<int64_t>(entry.indexing.size());
  return maps;
}

// The number of maps of all instructions, both directions.
absl::StatusOr<int64_t> BuildAllMaps(const HloModule& module) {
  mlir::MLIRContext context(kNoThreading);
  int64_t maps = 0;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      const auto inputs = ComputeOutputToInputIndexingThroughCalls(*instruction, &context);
      if (!inputs.ok()) return inputs.status();
      const auto outputs = ComputeInputToOutputIndexingThroughCalls(*instruction, &context);
      if (!outputs.ok()) return outputs.status();
      maps += CountMaps(*inputs) + CountMaps(*outputs);
    }
  }
  return maps;
}

void AllInstructions(benchmark::State& state, const char* path) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  int64_t maps = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    const absl::StatusOr<int64_t> count = BuildAllMaps(*module);
    if (!count.ok()) return Skip(state, count.status());
    maps = *count;
  }
  state.counters["instructions"] = static_cast<double>(module->instruction_count());
  state.counters["maps"] = static_cast<double>(maps);
  // U for each map.
  meter.Report(static_cast<double>(maps));
}
#define MODULE_BENCHMARK(name, path) \
  BENCHMARK_CAPTURE(AllInstructions, name, path)->Unit(benchmark::kMillisecond)
MODULE_BENCHMARK(gemma2_2b, kGemma2);
MODULE_BENCHMARK(llama31_8b, kLlama31);
MODULE_BENCHMARK(large_loop, kLargeLoop);
MODULE_BENCHMARK(mobilenet_v2, kMobileNet);
MODULE_BENCHMARK(maxtext_train_step, kMaxText);
MODULE_BENCHMARK(resnet50, kResNet50);
#undef MODULE_BENCHMARK

// A computation from its root to its parameters or back: the module's largest (of a file that is
// one loop fusion), or its entry.
enum class Which { kLargest, kEntry };

void OneFusion(benchmark::State& state, const char* path, Which which, bool output_to_input) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  const HloComputation* chosen = module->entry_computation();
  for (const HloComputation* computation : module->computations()) {
    if (which == Which::kEntry) break;
    if (computation->instruction_count() > chosen->instruction_count()) chosen = computation;
  }
  int64_t maps = 0;
  int64_t exact = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    const auto entries = output_to_input ? ComputeOutputToInputIndexing(*chosen, &context)
                                         : ComputeInputToOutputIndexing(*chosen, &context);
    if (!entries.ok()) return Skip(state, entries.status());
    maps = CountMaps(*entries);
    exact = absl::c_count_if(
        *entries, [](const IndexingEntry& entry) { return entry.indexing.label().IsExact(); });
    state.counters["exact_percent"] =
        entries->empty() ? 100 : 100.0 * static_cast<double>(exact) / entries->size();
  }
  state.counters["instructions"] = static_cast<double>(chosen->instruction_count());
  state.counters["maps"] = static_cast<double>(maps);
  // U for each instruction.
  meter.Report(static_cast<double>(chosen->instruction_count()));
}
#define FUSION_BENCHMARK(name, path, which)                                \
  BENCHMARK_CAPTURE(OneFusion, name##_output_to_input, path, which, true)  \
      ->Unit(benchmark::kMillisecond);                                     \
  BENCHMARK_CAPTURE(OneFusion, name##_input_to_output, path, which, false) \
      ->Unit(benchmark::kMillisecond)
FUSION_BENCHMARK(large_loop, kLargeLoop, Which::kLargest);
FUSION_BENCHMARK(gemma2_2b, kGemma2, Which::kEntry);
FUSION_BENCHMARK(llama31_8b, kLlama31, Which::kEntry);
FUSION_BENCHMARK(llama31_70b, "tools/benchmarks/hlo/hlo_llama31_70b_fp8_16x8.hlo", Which::kEntry);
FUSION_BENCHMARK(llama3_8b_cp, "tools/benchmarks/hlo/hlo_llama3_8b_cp_bf16_1x4.hlo", Which::kEntry);
FUSION_BENCHMARK(mobilenet_v2, kMobileNet, Which::kEntry);
FUSION_BENCHMARK(maxtext_train_step, kMaxText, Which::kEntry);
FUSION_BENCHMARK(resnet50, kResNet50, Which::kEntry);
FUSION_BENCHMARK(dlrm_train_step, "backends/cpu/benchmarks/hlo/dlrm_keras_jax_f32_train_step.hlo",
                 Which::kEntry);
#undef FUSION_BENCHMARK

}  // namespace
}  // namespace xla_indexing
