// Coalescing: of single operand maps and of all instructions of a module.
//
// `U` is the time of one operand map: the address, the count and the worst request. In
// `CoalescingOfOneMap` the thread mapping is made before; in the rows `_and_loop` the row-major
// loop is made each time, in the rows `_vectors` a thread has 4 elements in one access.
//
// `CoalescingOfAllInstructions` asks of every map of every instruction of a module, output to
// input, with the row-major loop over each output, made once an instruction. `exact_percent` is how
// many of the answers are exact.

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {
namespace {

// The map of parameter 0 of an entry.
void CoalescingOfOneMap(benchmark::State& state, const char* entry, const LoopOptions& loop,
                        bool makes_loop) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(
      state, absl::StrCat("add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] "
                          "add(a, b) }\nENTRY e {\n",
                          entry, "\n}\n"));
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  const HloComputation& computation = *module->entry_computation();
  const auto entries = Entries(computation, Direction::kOutputToInput, &context);
  if (!entries.ok()) return Skip(state, entries.status());
  const Shape& output = computation.root_instruction()->shape();
  const Shape& operand = computation.parameters()[0]->shape();
  const OperandIndexing& map = entries->front().indexing.maps().front();
  auto analysis = CoalescingAnalysis::OfLoop(output, loop, &context);
  if (!analysis.ok()) return Skip(state, analysis.status());
  bool is_exact = true;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    if (makes_loop) analysis = CoalescingAnalysis::OfLoop(output, loop, &context);
    is_exact = analysis->OfReads(map, operand).IsExact();
    benchmark::DoNotOptimize(is_exact);
  }
  if (!is_exact) return Skip(state, absl::InternalError("the count is not exact"));
  meter.Report();
}

constexpr char kIdentity[] = "p = f32[1024,1024] parameter(0) ROOT r = f32[1024,1024] negate(p)";
constexpr char kTranspose[] =
    "p = f32[1024,1024] parameter(0) ROOT r = f32[1024,1024] transpose(p), dimensions={1,0}";
constexpr char kOddTranspose[] =
    "p = f32[100,37,53] parameter(0) ROOT r = f32[53,100,37] transpose(p), dimensions={2,0,1}";
constexpr char kBroadcast[] =
    "p = f32[1024] parameter(0) ROOT r = f32[64,1024,512] broadcast(p), dimensions={1}";
constexpr char kSlice[] =
    "p = f32[512,1000] parameter(0) ROOT r = f32[400,700] slice(p), slice={[50:450], [11:711]}";
constexpr char kPad[] =
    "p = f32[500,1000] parameter(0) z = f32[] parameter(1) "
    "ROOT r = f32[512,1024] pad(p, z), padding=3_9x10_14";
constexpr char kReduce[] =
    "p = f32[1024,4096] parameter(0) z = f32[] constant(0) "
    "ROOT r = f32[1024] reduce(p, z), dimensions={1}, to_apply=add";
constexpr char kReshape[] =
    "p = f32[64,96,128] parameter(0) t = f32[64,128,96] transpose(p), dimensions={0,2,1} "
    "ROOT r = f32[512,1536] reshape(t)";

#define ONE_MAP(name, entry)                                                                     \
  BENCHMARK_CAPTURE(CoalescingOfOneMap, name, entry, LoopOptions{}, false);                      \
  BENCHMARK_CAPTURE(CoalescingOfOneMap, name##_vectors, entry, (LoopOptions{128, 4, 4}), false); \
  BENCHMARK_CAPTURE(CoalescingOfOneMap, name##_and_loop, entry, LoopOptions{}, true)
ONE_MAP(identity, kIdentity);
ONE_MAP(transpose, kTranspose);
ONE_MAP(odd_transpose, kOddTranspose);
ONE_MAP(broadcast, kBroadcast);
ONE_MAP(slice, kSlice);
ONE_MAP(pad, kPad);
ONE_MAP(reduce, kReduce);
ONE_MAP(reshaped_transpose, kReshape);
#undef ONE_MAP

void CoalescingOfAllInstructions(benchmark::State& state, const char* path) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, path);
  if (module == nullptr) return;
  mlir::MLIRContext context(kNoThreading);
  struct Asked {
    const Shape& output;
    const Shape& operand;
    OperandIndexing map;
  };
  std::vector<std::vector<Asked>> instructions;
  int64_t maps = 0;
  for (const HloInstruction* instruction : InstructionsOf(*module)) {
    const auto entries = Entries(*instruction, Direction::kOutputToInput, &context);
    if (!entries.ok()) return Skip(state, entries.status());
    std::vector<Asked>& asked = instructions.emplace_back();
    for (const IndexingEntry& entry : *entries) {
      for (const OperandIndexing& map : entry.indexing) {
        asked.push_back({instruction->shape().Leaf(entry.output_leaf),
                         instruction->operand(entry.operand)->shape().Leaf(entry.operand_leaf),
                         map});
        ++maps;
      }
    }
  }
  int64_t exact = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    exact = 0;
    for (const std::vector<Asked>& of_instruction : instructions) {
      const Shape* output = nullptr;
      absl::StatusOr<CoalescingAnalysis> analysis = absl::UnknownError("");
      for (const Asked& asked : of_instruction) {
        if (output != &asked.output) {
          output = &asked.output;
          analysis = CoalescingAnalysis::OfLoop(*output, {}, &context);
          if (!analysis.ok()) return Skip(state, analysis.status());
        }
        exact += analysis->OfReads(asked.map, asked.operand).IsExact() ? 1 : 0;
      }
    }
  }
  state.counters["maps"] = static_cast<double>(maps);
  state.counters["exact_percent"] =
      maps == 0 ? 100 : 100.0 * static_cast<double>(exact) / static_cast<double>(maps);
  meter.Report(static_cast<double>(maps));
}
#define OF_ALL(name, path) \
  BENCHMARK_CAPTURE(CoalescingOfAllInstructions, name, path)->Unit(benchmark::kMillisecond)
OF_ALL(gemma2_2b, kGemma2);
OF_ALL(llama31_8b, kLlama31);
OF_ALL(large_loop, kLargeLoop);
OF_ALL(mobilenet_v2, kMobileNet);
OF_ALL(maxtext_train_step, kMaxText);
OF_ALL(resnet50, kResNet50);
#undef OF_ALL

}  // namespace
}  // namespace xla_indexing
