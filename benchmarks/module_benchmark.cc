// Whole modules, every instruction in both directions, and a large computation taken as one fusion.
//
// Each iteration has an MLIRContext of its own, as a program has that analyses a module once: the
// time of making every expression for the first time is in it.

#include <cstdint>
#include <memory>
#include <string>

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
BENCHMARK_CAPTURE(AllInstructions, gemma2_2b, "backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AllInstructions, llama31_8b, "tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AllInstructions, large_loop, kLargeLoop)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AllInstructions, mobilenet_v2, "tools/data/benchmarking/mobilenet_v2.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AllInstructions, maxtext_train_step,
                  "tools/benchmarks/hlo/nv_maxtext_1n1g_jit_train_step_before_optimization.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AllInstructions, resnet50,
                  "backends/cpu/benchmarks/hlo/resnet50_keras_jax_f32.hlo")
    ->Unit(benchmark::kMillisecond);

// The computation of the module that has the most instructions, from its root to its parameters or
// back.
void OneFusion(benchmark::State& state, const char* path, bool output_to_input) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  const HloComputation* largest = module->entry_computation();
  for (const HloComputation* computation : module->computations()) {
    if (computation->instruction_count() > largest->instruction_count()) largest = computation;
  }
  int64_t maps = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    const auto entries = output_to_input ? ComputeOutputToInputIndexing(*largest, &context)
                                         : ComputeInputToOutputIndexing(*largest, &context);
    if (!entries.ok()) return Skip(state, entries.status());
    maps = CountMaps(*entries);
  }
  state.counters["instructions"] = static_cast<double>(largest->instruction_count());
  state.counters["maps"] = static_cast<double>(maps);
  // U for each instruction.
  meter.Report(static_cast<double>(largest->instruction_count()));
}
BENCHMARK_CAPTURE(OneFusion, large_loop_output_to_input, kLargeLoop, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneFusion, large_loop_input_to_output, kLargeLoop, false)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing
