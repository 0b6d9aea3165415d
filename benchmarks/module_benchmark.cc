// Whole modules, every instruction, output to input and in both directions, on one thread and on
// two; and a large computation taken as one fusion.
//
// Each iteration has an MLIRContext of its own, as a program has that analyses a module once: the
// time of making every expression for the first time is in it.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::internal {
namespace {

enum class Directions { kToInput, kBoth };

int64_t CountMaps(const InstructionIndexing& entries) {
  int64_t maps = 0;
  for (const IndexingEntry& entry : entries) maps += static_cast<int64_t>(entry.indexing.size());
  return maps;
}

// The number of maps of all instructions, on a thread for each context.
absl::StatusOr<int64_t> BuildAllMaps(const HloModule& module, Directions directions, int threads) {
  std::vector<std::unique_ptr<mlir::MLIRContext>> owned(threads);
  std::vector<const HloInstruction*> instructions;
  ParallelFor(threads, owned.size(), [&](size_t i) {
    owned[i] = std::make_unique<mlir::MLIRContext>(kNoThreading);
    if (i == 0) instructions = InstructionsOf(module);
  });
  std::vector<mlir::MLIRContext*> contexts;
  contexts.reserve(owned.size());
  for (const auto& context : owned) contexts.push_back(context.get());
  ParallelIndexingOptions options;
  options.input_to_output = directions == Directions::kBoth;
  struct alignas(64) OfThread {
    absl::Status status;
    int64_t maps = 0;
  };
  std::vector<OfThread> of_threads(threads);
  const absl::Status asked = ComputeIndexingInParallel(
      instructions, contexts, options, [&](const IndexedInstruction& result) {
        OfThread& of_thread = of_threads[result.thread];
        for (const auto* entries : {&result.output_to_input, &result.input_to_output}) {
          of_thread.status.Update(entries->status());
          if (entries->ok()) of_thread.maps += CountMaps(***entries);
        }
      });
  if (!asked.ok()) return asked;
  ParallelFor(threads, owned.size(), [&](size_t i) { owned[i].reset(); });
  int64_t maps = 0;
  for (const OfThread& of_thread : of_threads) {
    if (!of_thread.status.ok()) return of_thread.status;
    maps += of_thread.maps;
  }
  return maps;
}

// U is for each instruction.
void MeasureAllMaps(benchmark::State& state, const char* path, Directions directions, int threads,
                    MeterClock clock) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  int64_t maps = 0;
  IdentityMapMeter meter(state, clock);
  for (auto _ : state) {
    const absl::StatusOr<int64_t> count = BuildAllMaps(*module, directions, threads);
    if (!count.ok()) return Skip(state, count.status());
    maps = *count;
  }
  const auto instructions = static_cast<double>(module->instruction_count());
  state.counters["instructions"] = instructions;
  state.counters["maps"] = static_cast<double>(maps);
  meter.Report(instructions);
}

void AllInstructions(benchmark::State& state, const char* path, Directions directions) {
  MeasureAllMaps(state, path, directions, /*threads=*/1, MeterClock::kProcessor);
}
#define MODULE_BENCHMARK(name, path)                                                     \
  BENCHMARK_CAPTURE(AllInstructions, name##_output_to_input, path, Directions::kToInput) \
      ->Unit(benchmark::kMillisecond);                                                   \
  BENCHMARK_CAPTURE(AllInstructions, name##_both, path, Directions::kBoth)               \
      ->Unit(benchmark::kMillisecond)
MODULE_BENCHMARK(gemma2_2b, kGemma2);
MODULE_BENCHMARK(llama31_8b, kLlama31);
MODULE_BENCHMARK(large_loop, kLargeLoop);
MODULE_BENCHMARK(mobilenet_v2, kMobileNet);
MODULE_BENCHMARK(maxtext_train_step, kMaxText);
MODULE_BENCHMARK(resnet50, kResNet50);
#undef MODULE_BENCHMARK

// Asks an indexer about the instructions of a module one by one, in a new context, as a pass does
// that looks at one instruction after another; or asks a new indexer about each of them (`alone`).
// Each set is simplified. Loops are left out, since one of them takes as long as all else.
enum class Indexer { kOne, kNewEach };

void OneByOne(benchmark::State& state, const HloModule& module, Direction direction,
              Indexer which) {
  std::vector<const HloInstruction*> instructions = InstructionsOf(module);
  std::erase_if(instructions, [](const HloInstruction* instruction) {
    return instruction->opcode() == HloOpcode::kWhile;
  });
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    HloIndexer one(&context);
    for (const HloInstruction* instruction : instructions) {
      std::optional<HloIndexer> own;
      HloIndexer& indexer = which == Indexer::kOne ? one : own.emplace(&context);
      const auto entries = indexer.IndexSimplified(*instruction, direction);
      if (!entries.ok()) return Skip(state, entries.status());
      benchmark::DoNotOptimize(entries->get());
    }
  }
  state.counters["instructions"] = static_cast<double>(instructions.size());
  // U for each instruction.
  meter.Report(static_cast<double>(instructions.size()));
}

void OneByOneOfFile(benchmark::State& state, const char* path, Direction direction, Indexer which) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module != nullptr) OneByOne(state, *module, direction, which);
}
#define ONE_BY_ONE_BENCHMARK(name, path)                                                     \
  BENCHMARK_CAPTURE(OneByOneOfFile, name##_output_to_input, path, Direction::kOutputToInput, \
                    Indexer::kOne)                                                           \
      ->Name("OneByOne/" #name "_output_to_input")                                           \
      ->Unit(benchmark::kMillisecond);                                                       \
  BENCHMARK_CAPTURE(OneByOneOfFile, name##_input_to_output, path, Direction::kInputToOutput, \
                    Indexer::kOne)                                                           \
      ->Name("OneByOne/" #name "_input_to_output")                                           \
      ->Unit(benchmark::kMillisecond);                                                       \
  BENCHMARK_CAPTURE(OneByOneOfFile, name##_alone, path, Direction::kOutputToInput,           \
                    Indexer::kNewEach)                                                       \
      ->Name("OneByOne/" #name "_output_to_input_alone")                                     \
      ->Unit(benchmark::kMillisecond)
ONE_BY_ONE_BENCHMARK(gemma2_2b, kGemma2);
ONE_BY_ONE_BENCHMARK(llama31_8b, kLlama31);
ONE_BY_ONE_BENCHMARK(resnet50, kResNet50);
#undef ONE_BY_ONE_BENCHMARK

// A module of nothing but 4,000 operations across 512 devices, which stand in groups of 16 in two
// orders, half of them written as lists and half in iota form.
std::string TextOfCollectives() {
  constexpr int kDevices = 512;
  constexpr int kGroup = 16;
  constexpr int kGroups = kDevices / kGroup;
  constexpr int kRounds = 1000;
  // The groups that are runs of devices, and those that are every 32nd device.
  std::string runs;
  std::string strides;
  for (int group = 0; group < kGroups; ++group) {
    for (int i = 0; i < kGroup; ++i) {
      const char* before = i > 0 ? "," : group > 0 ? "},{" : "{{";
      absl::StrAppend(&runs, before, group * kGroup + i);
      absl::StrAppend(&strides, before, i * kGroups + group);
    }
  }
  absl::StrAppend(&runs, "}}");
  absl::StrAppend(&strides, "}}");
  const std::string groups[] = {runs, strides, "[32,16]<=[512]", "[32,16]<=[16,32]T(1,0)"};
  std::string text = absl::StrCat("HloModule collectives, num_partitions=", kDevices, R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY main {
  p0 = f32[256,1024] parameter(0)
)");
  std::string last = "p0";
  int channel = 0;
  const auto add = [&](absl::string_view shape, absl::string_view operation,
                       absl::string_view attributes, absl::string_view of_groups) {
    const std::string name = absl::StrCat("c", ++channel);
    absl::StrAppend(&text, "  ", name, " = ", shape, " ", operation, "(", last,
                    "), channel_id=", channel, ", use_global_device_ids=true, ", attributes,
                    "replica_groups=", of_groups, "\n");
    last = name;
  };
  for (int round = 0; round < kRounds; ++round) {
    const std::string& of_round = groups[round % 4];
    add("f32[256,1024]", "all-reduce", "to_apply=add, ", of_round);
    add("f32[256,16384]", "all-gather", "dimensions={1}, ", of_round);
    add("f32[256,1024]", "reduce-scatter", "dimensions={1}, to_apply=add, ", of_round);
    absl::StrAppend(&text, "  a", round, " = f32[256,1024] all-to-all(", last,
                    "), channel_id=", ++channel, ", dimensions={0}, replica_groups=", of_round,
                    "\n");
    last = absl::StrCat("a", round);
  }
  absl::StrAppend(&text, "  ROOT result = f32[256,1024] copy(", last, ")\n}\n");
  return text;
}

void OneByOneOfCollectives(benchmark::State& state, Direction direction, Indexer which) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, TextOfCollectives());
  if (module != nullptr) OneByOne(state, *module, direction, which);
}
BENCHMARK_CAPTURE(OneByOneOfCollectives, to_input, Direction::kOutputToInput, Indexer::kOne)
    ->Name("OneByOne/collectives_output_to_input");
BENCHMARK_CAPTURE(OneByOneOfCollectives, to_output, Direction::kInputToOutput, Indexer::kOne)
    ->Name("OneByOne/collectives_input_to_output");
BENCHMARK_CAPTURE(OneByOneOfCollectives, alone, Direction::kOutputToInput, Indexer::kNewEach)
    ->Name("OneByOne/collectives_output_to_input_alone");

// Both directions on several threads; time, and U, is that which passes.
void InParallel(benchmark::State& state, const char* path) {
  MeasureAllMaps(state, path, Directions::kBoth, static_cast<int>(state.range(0)),
                 MeterClock::kElapsed);
}
#define PARALLEL_BENCHMARK(name, path)      \
  BENCHMARK_CAPTURE(InParallel, name, path) \
      ->ArgName("threads")                  \
      ->Arg(1)                              \
      ->Arg(2)                              \
      ->UseRealTime()                       \
      ->Unit(benchmark::kMillisecond)
PARALLEL_BENCHMARK(llama31_8b, kLlama31);
PARALLEL_BENCHMARK(resnet50, kResNet50);
#undef PARALLEL_BENCHMARK

// How many times as fast two threads are as one (`two_threads`), and how many times as much two
// threads do that have nothing to do with each other (`two_runs`), which is what the machine gives.
// All are measured in turn, since the clock changes; the counters are medians.
void Speedup(benchmark::State& state, const char* path) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  const auto seconds = [](auto work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const auto build = [&](int threads) {
    benchmark::DoNotOptimize(BuildAllMaps(*module, Directions::kBoth, threads));
  };
  std::vector<double> two_threads;
  std::vector<double> two_runs;
  for (auto _ : state) {
    const double one = seconds([&] { build(1); });
    two_threads.push_back(one / seconds([&] { build(2); }));
    two_runs.push_back(2 * one / seconds([&] { ParallelFor(2, 2, [&](size_t) { build(1); }); }));
  }
  state.counters["two_threads"] = Median(std::move(two_threads));
  state.counters["two_runs"] = Median(std::move(two_runs));
}
BENCHMARK_CAPTURE(Speedup, llama31_8b, kLlama31)
    ->Iterations(15)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Speedup, resnet50, kResNet50)
    ->Iterations(150)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

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
    const auto entries = output_to_input ? Entries(*chosen, Direction::kOutputToInput, &context)
                                         : Entries(*chosen, Direction::kInputToOutput, &context);
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
}  // namespace xla_indexing::internal
