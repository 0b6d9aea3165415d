// Computations of one shape, made larger and larger, each taken as one fusion: chains, in which a
// path is long, and graphs in which paths meet again and again.
//
// Each iteration has an MLIRContext of its own, as a program has that analyses a fusion once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/entries.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {
namespace {

// What U is for.
enum class Per { kInstruction, kMap, kFusion };

void Measure(benchmark::State& state, const std::string& text, Direction direction, Per per) {
  const std::unique_ptr<HloModule> module = ParseOrSkip(state, text);
  if (module == nullptr) return;
  const HloComputation& computation = *module->entry_computation();
  size_t maps = 0;
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    const auto entries = direction == Direction::kOutputToInput
                             ? Entries(computation, Direction::kOutputToInput, &context)
                             : Entries(computation, Direction::kInputToOutput, &context);
    if (!entries.ok()) return Skip(state, entries.status());
    maps = 0;
    for (const IndexingEntry& entry : *entries) maps += entry.indexing.size();
  }
  const auto instructions = static_cast<double>(computation.instruction_count());
  state.counters["instructions"] = instructions;
  state.counters["maps"] = static_cast<double>(maps);
  meter.Report(per == Per::kFusion ? 1
               : per == Per::kMap  ? static_cast<double>(maps)
                                   : instructions);
}

// `x0`, a parameter of this shape, and then what `step` writes of each i: the lines of `x<i+1>`.
std::string ChainText(absl::string_view shape, int64_t length,
                      absl::FunctionRef<std::string(int64_t)> step) {
  std::string text = absl::StrCat("ENTRY e {\n  x0 = ", shape, " parameter(0)\n");
  for (int64_t i = 0; i < length; ++i) absl::StrAppend(&text, step(i));
  return text + "}\n";
}

// negate(negate(..)).
void Negations(benchmark::State& state, Direction direction) {
  const std::string text = ChainText("f32[64,32]", state.range(0), [](int64_t i) {
    return absl::Substitute("  x$1 = f32[64,32] negate(x$0)\n", i, i + 1);
  });
  Measure(state, text, direction, Per::kInstruction);
}

// x + transpose(x), again and again: two paths through each step, two maps in all.
void Diamonds(benchmark::State& state, Direction direction) {
  const std::string text = ChainText("f32[64,64]", state.range(0), [](int64_t i) {
    return absl::Substitute(
        "  t$0 = f32[64,64] transpose(x$0), dimensions={1,0}\n"
        "  x$1 = f32[64,64] add(x$0, t$0)\n",
        i, i + 1);
  });
  Measure(state, text, direction, Per::kInstruction);
}

// x + rotate(x, 2^i) for i = 0 .. k-1 over 2^k elements, as in a prefix sum or a Fourier transform:
// every rotation of the whole, each in as many maps as its parts have domains.
void Butterflies(benchmark::State& state, Direction direction) {
  const int64_t steps = state.range(0);
  const int64_t size = int64_t{1} << steps;
  const std::string text = ChainText(absl::StrCat("f32[", size, "]"), steps, [&](int64_t i) {
    const int64_t by = int64_t{1} << i;
    return absl::Substitute(
        "  h$0 = f32[$3] slice(x$0), slice={[$2:$4]}\n"
        "  l$0 = f32[$2] slice(x$0), slice={[0:$2]}\n"
        "  r$0 = f32[$4] concatenate(h$0, l$0), dimensions={0}\n"
        "  x$1 = f32[$4] add(x$0, r$0)\n",
        i, i + 1, by, size - by, size);
  });
  Measure(state, text, direction, Per::kMap);
}

// A random factor of 8*128*12*64 = 2^18 * 3 for each axis, of 2 to 5 axes.
std::vector<int64_t> RandomSizes(std::mt19937_64& random) {
  std::vector<int64_t> sizes(2 + random() % 4, 1);
  sizes[random() % sizes.size()] *= 3;
  for (int i = 0; i < 18; ++i) sizes[random() % sizes.size()] *= 2;
  return sizes;
}

// Transposes and reshapes, both random, one after the other over f32[8,128,12,64].
std::string RandomChainText(int64_t length, std::mt19937_64& random) {
  std::vector<int64_t> sizes = {8, 128, 12, 64};
  const auto shape = [&] { return absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]"); };
  std::string text = absl::StrCat("ENTRY e {\n  x0 = ", shape(), " parameter(0)\n");
  for (int64_t i = 0; i < length; ++i) {
    std::string attributes;
    if (i % 2 == 0) {
      std::vector<size_t> order(sizes.size());
      std::iota(order.begin(), order.end(), size_t{0});
      for (size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[random() % k]);
      attributes = absl::StrCat(", dimensions={", absl::StrJoin(order, ","), "}");
      std::vector<int64_t> permuted;
      for (const size_t dim : order) permuted.push_back(sizes[dim]);
      sizes = permuted;
    } else {
      sizes = RandomSizes(random);
    }
    absl::StrAppend(&text, "  x", i + 1, " = ", shape(), i % 2 == 0 ? " transpose" : " reshape",
                    "(x", i, ")", attributes, "\n");
  }
  return text + "}\n";
}

// Many chains of a length, each taken as one fusion; U is for each operation. MLIR has the
// expressions from the iterations before.
void RandomChains(benchmark::State& state) {
  constexpr int kChains = 64;
  std::mt19937_64 random(1);
  std::vector<std::unique_ptr<HloModule>> modules;
  for (int i = 0; i < kChains; ++i) {
    modules.push_back(ParseOrSkip(state, RandomChainText(state.range(0), random)));
    if (modules.back() == nullptr) return;
  }
  mlir::MLIRContext context(kNoThreading);
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    for (const std::unique_ptr<HloModule>& module : modules) {
      const auto entries =
          Entries(*module->entry_computation(), Direction::kOutputToInput, &context);
      if (!entries.ok()) return Skip(state, entries.status());
      benchmark::DoNotOptimize(entries->data());
    }
  }
  state.counters["chains"] = kChains;
  meter.Report(static_cast<double>(kChains * state.range(0)));
}
BENCHMARK(RandomChains)->RangeMultiplier(2)->Range(2, 64)->Unit(benchmark::kMillisecond);

#define FUSION_BENCHMARK(function)                                        \
  BENCHMARK_CAPTURE(function, output_to_input, Direction::kOutputToInput) \
      ->Unit(benchmark::kMillisecond)                                     \
      ->Apply(function##Sizes);                                           \
  BENCHMARK_CAPTURE(function, input_to_output, Direction::kInputToOutput) \
      ->Unit(benchmark::kMillisecond)                                     \
      ->Apply(function##Sizes)

void NegationsSizes(benchmark::internal::Benchmark* sizes) { sizes->Arg(1000)->Arg(40000); }
void DiamondsSizes(benchmark::internal::Benchmark* sizes) { sizes->Arg(100)->Arg(1000); }
void ButterfliesSizes(benchmark::internal::Benchmark* sizes) { sizes->Arg(4)->Arg(6)->Arg(7); }

FUSION_BENCHMARK(Negations);
FUSION_BENCHMARK(Diamonds);
FUSION_BENCHMARK(Butterflies);
#undef FUSION_BENCHMARK

// --- Short fusions

// What a context costs that is made and thrown away, which is in all the rows of ShortFusions.
void NewContext(benchmark::State& state) {
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    mlir::MLIRContext context(kNoThreading);
    benchmark::DoNotOptimize(&context);
  }
  meter.Report();
}
BENCHMARK(NewContext)->Unit(benchmark::kMillisecond);

// Fusions of two to some twenty instructions, as models have thousands of: their entry computation.
struct ShortFusion {
  const char* name;
  const char* text;
};
constexpr ShortFusion kShortFusions[] = {
    {"padded_window_reshape", R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY e {
  p0 = f32[8,54,54,64] parameter(0)
  zero = f32[] constant(0)
  padded = f32[8,56,56,64] pad(p0, zero), padding=0_0x1_1x1_1x0_0
  window = f32[8,28,28,64] reduce-window(padded, zero),
      window={size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}, to_apply=add
  ROOT flat = f32[8,784,64] reshape(window)
})"},
    {"softmax", R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY e {
  p0 = f32[2,65,125] parameter(0)
  zero = f32[] constant(0)
  row_max = f32[2,65] reduce(p0, zero), dimensions={2}, to_apply=add
  row_max_of_all = f32[2,65,125] broadcast(row_max), dimensions={0,1}
  shifted = f32[2,65,125] subtract(p0, row_max_of_all)
  exponential = f32[2,65,125] exponential(shifted)
  row_sum = f32[2,65] reduce(exponential, zero), dimensions={2}, to_apply=add
  row_sum_of_all = f32[2,65,125] broadcast(row_sum), dimensions={0,1}
  ROOT divide = f32[2,65,125] divide(exponential, row_sum_of_all)
})"},
    {"layer_norm", R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,128,768] parameter(0)
  scale = f32[768] parameter(1)
  offset = f32[768] parameter(2)
  zero = f32[] constant(0)
  count = f32[] constant(768)
  epsilon = f32[] constant(1e-5)
  counts = f32[4,128] broadcast(count), dimensions={}
  epsilons = f32[4,128] broadcast(epsilon), dimensions={}
  sum = f32[4,128] reduce(x, zero), dimensions={2}, to_apply=add
  mean = f32[4,128] divide(sum, counts)
  means = f32[4,128,768] broadcast(mean), dimensions={0,1}
  centred = f32[4,128,768] subtract(x, means)
  squared = f32[4,128,768] multiply(centred, centred)
  sum_of_squares = f32[4,128] reduce(squared, zero), dimensions={2}, to_apply=add
  variance = f32[4,128] divide(sum_of_squares, counts)
  shifted = f32[4,128] add(variance, epsilons)
  inverse = f32[4,128] rsqrt(shifted)
  inverses = f32[4,128,768] broadcast(inverse), dimensions={0,1}
  normal = f32[4,128,768] multiply(centred, inverses)
  scales = f32[4,128,768] broadcast(scale), dimensions={2}
  scaled = f32[4,128,768] multiply(normal, scales)
  offsets = f32[4,128,768] broadcast(offset), dimensions={2}
  ROOT result = f32[4,128,768] add(scaled, offsets)
})"},
    {"rope", R"(
ENTRY e {
  x = f32[4,128,12,64] parameter(0)
  cosine = f32[128,64] parameter(1)
  sine = f32[128,64] parameter(2)
  cosines = f32[4,128,12,64] broadcast(cosine), dimensions={1,3}
  sines = f32[4,128,12,64] broadcast(sine), dimensions={1,3}
  low = f32[4,128,12,32] slice(x), slice={[0:4], [0:128], [0:12], [0:32]}
  high = f32[4,128,12,32] slice(x), slice={[0:4], [0:128], [0:12], [32:64]}
  negated = f32[4,128,12,32] negate(high)
  turned = f32[4,128,12,64] concatenate(negated, low), dimensions={3}
  a = f32[4,128,12,64] multiply(x, cosines)
  b = f32[4,128,12,64] multiply(turned, sines)
  ROOT result = f32[4,128,12,64] add(a, b)
})"},
    {"attention_heads", R"(
ENTRY e {
  x = f32[4,128,768] parameter(0)
  bias = f32[768] parameter(1)
  biases = f32[4,128,768] broadcast(bias), dimensions={2}
  sum = f32[4,128,768] add(x, biases)
  split = f32[4,128,12,64] reshape(sum)
  heads = f32[4,12,128,64] transpose(split), dimensions={0,2,1,3}
  ROOT batch = f32[48,128,64] reshape(heads)
})"},
};

void ShortFusions(benchmark::State& state, Direction direction, const std::string& text) {
  Measure(state, text, direction, Per::kFusion);
}

const bool registered = [] {
  const auto add = [](const std::string& name, const std::string& text) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      const char* way =
          direction == Direction::kOutputToInput ? "/output_to_input" : "/input_to_output";
      benchmark::RegisterBenchmark(absl::StrCat("ShortFusions/", name, way).c_str(), ShortFusions,
                                   direction, text)
          ->Unit(benchmark::kMillisecond);
    }
  };
  for (const ShortFusion& fusion : kShortFusions) add(fusion.name, fusion.text);
  std::mt19937_64 random(1);
  for (const int64_t length : {2, 4, 8, 16}) {
    add(absl::StrCat("chain_", length), RandomChainText(length, random));
  }
  return true;
}();

// Each producer and each of its consumers in the entry of a real module as one virtual fusion: made,
// and in the other forms asked for its maps as well, of an indexer of its own or of one for all pairs,
// new in each round. U is for each pair.
enum class ViewWork { kMake, kMakeAndIndex, kMakeAndIndexThroughOne };
void ProducerConsumerViews(benchmark::State& state, const char* file, ViewWork work) {
  const std::unique_ptr<HloModule> module = ParseCorpusFileOrSkip(state, file);
  if (module == nullptr) return;
  std::vector<std::pair<const HloInstruction*, const HloInstruction*>> pairs;
  for (const HloInstruction* producer : module->entry_computation()->instructions()) {
    for (const HloInstruction* consumer : producer->users()) {
      if (FusionView::OfProducerConsumer(*producer, *consumer).ok()) {
        pairs.emplace_back(producer, consumer);
      }
    }
  }
  mlir::MLIRContext context(kNoThreading);
  IdentityMapMeter meter(state);
  for (auto _ : state) {
    HloIndexer one(&context);
    for (const auto& [producer, consumer] : pairs) {
      const auto view = FusionView::OfProducerConsumer(*producer, *consumer);
      if (work == ViewWork::kMake) continue;
      std::optional<HloIndexer> own;
      HloIndexer& indexer = work == ViewWork::kMakeAndIndexThroughOne ? one : own.emplace(&context);
      const auto entries = indexer.Index(view->computation(), Direction::kOutputToInput);
      if (!entries.ok()) return Skip(state, entries.status());
      benchmark::DoNotOptimize((*entries)->data());
    }
  }
  state.counters["pairs"] = static_cast<double>(pairs.size());
  meter.Report(static_cast<double>(pairs.size()));
}
BENCHMARK_CAPTURE(ProducerConsumerViews, make_gemma2, kGemma2, ViewWork::kMake)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ProducerConsumerViews, index_gemma2, kGemma2, ViewWork::kMakeAndIndex)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ProducerConsumerViews, index_one_gemma2, kGemma2,
                  ViewWork::kMakeAndIndexThroughOne)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ProducerConsumerViews, make_maxtext, kMaxText, ViewWork::kMake)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ProducerConsumerViews, index_maxtext, kMaxText, ViewWork::kMakeAndIndex)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ProducerConsumerViews, index_one_maxtext, kMaxText,
                  ViewWork::kMakeAndIndexThroughOne)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing::internal
