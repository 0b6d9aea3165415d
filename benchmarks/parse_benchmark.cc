// Parsing of HLO text, in bytes per second: large files of the corpus, and a long chain.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/parser.h"

namespace xla_indexing {
namespace {

// The text is copied in each iteration, as the parser keeps it. Taking the modules down counts too.
void ParseSource(benchmark::State& state, const SourceText& source) {
  int64_t instructions = 0;
  for (auto _ : state) {
    instructions = 0;
    for (const auto& module : ParseModules(source)) {
      if (!module.ok()) return Skip(state, module.status());
      instructions += (*module)->instruction_count();
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source.text.size()));
  state.counters["instructions"] = static_cast<double>(instructions);
}

void Parse(benchmark::State& state, const char* path) {
  const std::optional<SourceText> source = ReadCorpusFile(state, path);
  if (source.has_value()) ParseSource(state, *source);
}
BENCHMARK_CAPTURE(Parse, gemma2_2b, "backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, llama31_8b, "tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, large_loop, "codegen/emitters/tests/loop/large_loop_slow_compile_time.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, mobilenet_v2, "tools/data/benchmarking/mobilenet_v2.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, maxtext_train_step,
                  "tools/benchmarks/hlo/nv_maxtext_1n1g_jit_train_step_before_optimization.hlo")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Parse, resnet50, "backends/cpu/benchmarks/hlo/resnet50_keras_jax_f32.hlo")
    ->Unit(benchmark::kMillisecond);

// A chain of this many instructions: the time for each must not grow with the length.
void ParseChain(benchmark::State& state) {
  SourceText source{"chain.hlo", "ENTRY e {\n  x0 = f32[64] parameter(0)\n"};
  for (int64_t i = 1; i < state.range(0); ++i) {
    absl::StrAppend(&source.text, "  x", i, " = f32[64] add(x", i - 1, ", x", i - 1, ")\n");
  }
  source.text += "}\n";
  ParseSource(state, source);
}
BENCHMARK(ParseChain)->Arg(1000)->Arg(10000)->Arg(40000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing
