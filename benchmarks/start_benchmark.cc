// The program print-indexing on a small file, from start to end, as one waits for it: most of that
// is starting.

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"
#include "benchmarks/benchmark_util.h"

namespace xla_indexing {
namespace {

// Runs the program with its output thrown away; its largest resident memory in MB, or -1 where it
// did not run or did not succeed.
double RunProgram(const char* program, const char* file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  char* const arguments[] = {const_cast<char*>(program), const_cast<char*>(file), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child || status != 0) return -1;
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void Start(benchmark::State& state) {
  double megabytes = 0;
  IdentityMapMeter meter(state, MeterClock::kElapsed);
  for (auto _ : state) {
    const double used =
        RunProgram(XLA_INDEXING_PROGRAM, XLA_INDEXING_SOURCE_DIR "/examples/softmax.hlo");
    if (used < 0) return Skip(state, absl::InternalError("print-indexing failed"));
    megabytes = std::max(megabytes, used);
  }
  state.counters["resident_MB"] = megabytes;
  meter.Report();
}
BENCHMARK(Start)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xla_indexing
