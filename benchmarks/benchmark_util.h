// What the benchmarks share: the corpus, parsing, and the unit U that times are compared in.
//
// U is the time to build the identity map of rank 4, (d0, d1, d2, d3) -> (d0, d1, d2, d3), where
// MLIR has its expressions and the map already: four calls of getAffineDimExpr and one of
// AffineMap::get. It is the least that an analysis that answers in MLIR's maps can take, on any
// machine.

#ifndef XLA_INDEXING_BENCHMARKS_BENCHMARK_UTIL_H_
#define XLA_INDEXING_BENCHMARKS_BENCHMARK_UTIL_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {

// Files that several programs measure.
constexpr char kGemma2[] = "backends/cpu/benchmarks/hlo/gemma2_2b_keras_jax.hlo";
constexpr char kLlama31[] = "tools/benchmarks/hlo/hlo_llama31_8b_bf16_1x8.hlo";
constexpr char kMobileNet[] = "tools/data/benchmarking/mobilenet_v2.hlo";
constexpr char kMaxText[] =
    "tools/benchmarks/hlo/nv_maxtext_1n1g_jit_train_step_before_optimization.hlo";
constexpr char kResNet50[] = "backends/cpu/benchmarks/hlo/resnet50_keras_jax_f32.hlo";
constexpr char kLargeLoop[] = "codegen/emitters/tests/loop/large_loop_slow_compile_time.hlo";

constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

inline mlir::AffineMap BuildIdentityMap(mlir::MLIRContext* context) {
  llvm::SmallVector<mlir::AffineExpr, 4> results;
  for (unsigned i = 0; i < 4; ++i) results.push_back(mlir::getAffineDimExpr(i, context));
  return mlir::AffineMap::get(/*dimCount=*/4, /*symbolCount=*/0, results, context);
}

// The median of at least one number.
inline double Median(std::vector<double> numbers) {
  const auto median = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), median, numbers.end());
  return *median;
}

// Whose time is measured: that of all threads on their processors, or that which passes.
enum class MeterClock { kProcessor, kElapsed };

// Counts the time from where it is made to Report(), for the column U of the table. U itself is
// measured right before and right after, since a processor's clock changes: the median of its runs.
class IdentityMapMeter {
 public:
  explicit IdentityMapMeter(benchmark::State& state, MeterClock clock = MeterClock::kProcessor)
      : state_(state), clock_(clock) {
    MeasureUnit();
    start_ = Now(clock_);
  }

  // The time of one of `parts` equal parts of an iteration, in units of U.
  void Report(double parts = 1) {
    const double seconds = Now(clock_) - start_;
    MeasureUnit();
    state_.counters["U"] =
        seconds / (Median(units_) * parts * static_cast<double>(state_.iterations()));
  }

 private:
  static double Now(MeterClock clock) {
    if (clock == MeterClock::kProcessor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }

  // Seconds of processor time for one identity map, a few times.
  void MeasureUnit() {
    constexpr int kRuns = 7;
    constexpr int kMapsPerRun = 2000;
    mlir::MLIRContext context(kNoThreading);
    for (int run = 0; run < kRuns; ++run) {
      const double start = Now(MeterClock::kProcessor);
      for (int i = 0; i < kMapsPerRun; ++i) benchmark::DoNotOptimize(BuildIdentityMap(&context));
      units_.push_back((Now(MeterClock::kProcessor) - start) / kMapsPerRun);
    }
  }

  benchmark::State& state_;
  const MeterClock clock_;
  double start_ = 0;
  std::vector<double> units_;
};

// The row of the table for U itself; it differs from 1 by what is uncertain.
inline void IdentityMap(benchmark::State& state) {
  mlir::MLIRContext context(kNoThreading);
  IdentityMapMeter meter(state);
  for (auto _ : state) benchmark::DoNotOptimize(BuildIdentityMap(&context));
  meter.Report();
}

// Ends the benchmark with an error in its row of the table.
inline void Skip(benchmark::State& state, const absl::Status& status) {
  state.SkipWithError(std::string(status.message()).c_str());
}

// A file of the corpus, by its path in it. Where there is none the benchmark is skipped, and its
// row of the table says so.
inline std::optional<SourceText> ReadCorpusFile(benchmark::State& state, absl::string_view path) {
  const std::string file = absl::StrCat(XLA_INDEXING_CORPUS, "/", path);
  std::ifstream stream(file);
  if (!stream) {
    state.SkipWithError(
        absl::StrCat("NOT MEASURED: no file ", file, "; set XLA_INDEXING_CORPUS").c_str());
    return std::nullopt;
  }
  std::stringstream text;
  text << stream.rdbuf();
  return SourceText{std::string(path), text.str()};
}

// The module of a text; null, and the benchmark skipped, where it does not parse.
inline std::unique_ptr<HloModule> ParseOrSkip(benchmark::State& state, absl::string_view text) {
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
  if (module.ok()) return *std::move(module);
  Skip(state, module.status());
  return nullptr;
}

// Parses a file of the corpus, or skips the benchmark.
inline std::unique_ptr<HloModule> ParseCorpusFileOrSkip(benchmark::State& state,
                                                        absl::string_view path) {
  const std::optional<SourceText> source = ReadCorpusFile(state, path);
  return source.has_value() ? ParseOrSkip(state, source->text) : nullptr;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BENCHMARKS_BENCHMARK_UTIL_H_
