// The memory that a parsed module takes, and that its maps take where all are kept, by instruction.
//
// What is counted is what the allocator has handed out and not got back, which is not what the
// process has of the system: that is more by what it holds in reserve.

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

// Bytes in use, those that large blocks have of the system themselves included.
int64_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

void Report(benchmark::State& state, int64_t bytes, int64_t instructions) {
  state.counters["instructions"] = static_cast<double>(instructions);
  state.counters["bytes_per_instruction"] =
      static_cast<double>(bytes) / static_cast<double>(instructions);
}

// The module without its text.
void ModuleMemory(benchmark::State& state, const char* path) {
  const std::optional<SourceText> source = ReadCorpusFile(state, path);
  if (!source.has_value()) return;
  const auto text_bytes = static_cast<int64_t>(source->text.size());
  for (auto _ : state) {
    const int64_t before = BytesInUse();
    const std::unique_ptr<HloModule> module = ParseOrSkip(state, source->text);
    if (module == nullptr) return;
    Report(state, BytesInUse() - before - text_bytes, module->instruction_count());
  }
}

// The maps of all instructions, output to input, and the context that holds their expressions.
void MapMemory(benchmark::State& state, const char* path) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  const std::vector<const HloInstruction*> instructions = InstructionsOf(*module);
  for (auto _ : state) {
    const int64_t before = BytesInUse();
    mlir::MLIRContext context(kNoThreading);
    const int64_t context_bytes = BytesInUse() - before;
    std::vector<SharedIndexing> kept;
    kept.reserve(instructions.size());
    absl::Status status;
    const absl::Status asked = ComputeIndexingInParallel(
        instructions, {&context}, {}, [&](const IndexedInstruction& result) {
          status.Update(result.output_to_input.status());
          if (result.output_to_input.ok()) kept.push_back(*result.output_to_input);
        });
    status.Update(asked);
    if (!status.ok()) return Skip(state, status);
    const int64_t all_bytes = BytesInUse() - before;
    Report(state, all_bytes, module->instruction_count());
    kept = {};
    // The expressions are what is left when the maps are gone.
    state.counters["of_it_expressions"] =
        static_cast<double>(BytesInUse() - before - context_bytes) /
        static_cast<double>(module->instruction_count());
  }
}

#define MEMORY_BENCHMARK(name, path)                                                         \
  BENCHMARK_CAPTURE(ModuleMemory, name, path)->Iterations(1)->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(MapMemory, name, path)->Iterations(1)->Unit(benchmark::kMillisecond)
MEMORY_BENCHMARK(gemma2_2b, kGemma2);
MEMORY_BENCHMARK(llama31_8b, kLlama31);
MEMORY_BENCHMARK(large_loop, kLargeLoop);
MEMORY_BENCHMARK(mobilenet_v2, kMobileNet);
MEMORY_BENCHMARK(maxtext_train_step, kMaxText);
MEMORY_BENCHMARK(resnet50, kResNet50);
#undef MEMORY_BENCHMARK

}  // namespace
}  // namespace xla_indexing
