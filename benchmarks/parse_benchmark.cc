// Parsing of HLO text, in bytes per second and in U for a million bytes: large files of the corpus,
// and a long chain.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

// The text is copied in each iteration, as the parser keeps it. Taking the modules down counts too.
void ParseSource(benchmark::State& state, const SourceText& source) {
  int64_t instructions = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    instructions = 0;
    for (const auto& module : ParseModules(source)) {
      if (!module.ok()) return Skip(state, module.status());
      instructions += (*module)->instruction_count();
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(source.text.size()));
  state.counters["instructions"] = static_cast<double>(instructions);
  meter.Report(static_cast<double>(source.text.size()) / 1e6);
}

void Parse(benchmark::State& state, const char* path) {
  const std::optional<SourceText> source = ReadCorpusFile(state, path);
  if (source.has_value()) ParseSource(state, *source);
}
#define PARSE_BENCHMARK(name, path) \
  BENCHMARK_CAPTURE(Parse, name, path)->Unit(benchmark::kMillisecond)
PARSE_BENCHMARK(gemma2_2b, kGemma2);
PARSE_BENCHMARK(llama31_8b, kLlama31);
PARSE_BENCHMARK(large_loop, kLargeLoop);
PARSE_BENCHMARK(mobilenet_v2, kMobileNet);
PARSE_BENCHMARK(maxtext_train_step, kMaxText);
PARSE_BENCHMARK(resnet50, kResNet50);
#undef PARSE_BENCHMARK

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
