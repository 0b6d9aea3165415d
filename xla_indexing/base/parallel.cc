#include "xla_indexing/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace xla_indexing {

void ParallelFor(int jobs, size_t count, absl::FunctionRef<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const size_t thread_count = std::min<size_t>(static_cast<size_t>(jobs), count);
  for (size_t i = 1; i < thread_count; ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace xla_indexing
