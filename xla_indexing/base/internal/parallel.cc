#include "xla_indexing/base/internal/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace xla_indexing::internal {
namespace {

// Runs one function on several threads, which are kept for the next call: a new thread has no
// memory yet, and to get some takes longer than many a piece of work.
class KeptThreads {
 public:
  // The threads of this process. They are never stopped: a thread that waits when the process ends
  // has nothing left to do. A forked process has threads of its own.
  static KeptThreads& Get() {
    [[maybe_unused]] static const int is_made = [] {
      Renew();
      return pthread_atfork(nullptr, nullptr, &Renew);
    }();
    return *of_process_;
  }

  // Calls `run` on this thread and, at the same time, on as many others.
  void Run(size_t others, absl::FunctionRef<void()> run) {
    Call call{run, others};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = 0; i < others; ++i) Start(&call);
    }
    run();
    std::unique_lock<std::mutex> lock(mutex_);
    call.are_done.wait(lock, [&] { return call.running == 0; });
  }

 private:
  static void Renew() { of_process_ = new KeptThreads; }

  struct Call {
    absl::FunctionRef<void()> run;
    size_t running;  // threads that have not come back
    std::condition_variable are_done = {};
  };
  // A thread, and what it is to do.
  struct Kept {
    Call* call = nullptr;
    std::condition_variable has_call = {};
  };

  void Start(Call* call) {
    if (waiting_.empty()) {
      auto made = std::make_unique<Kept>();
      made->call = call;
      std::thread([this, kept = std::move(made)] { Serve(*kept); }).detach();
      return;
    }
    // The one that has waited least: its memory is the nearest.
    Kept* const kept = waiting_.back();
    waiting_.pop_back();
    kept->call = call;
    kept->has_call.notify_one();
  }

  void Serve(Kept& kept) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (bool stays = true; stays;) {
      kept.has_call.wait(lock, [&] { return kept.call != nullptr; });
      Call& call = *std::exchange(kept.call, nullptr);
      lock.unlock();
      call.run();
      lock.lock();
      stays = waiting_.size() < most_waiting_;
      if (stays) waiting_.push_back(&kept);
      if (--call.running == 0) call.are_done.notify_one();
    }
  }

  inline static std::atomic<KeptThreads*> of_process_ = nullptr;

  const size_t most_waiting_ = std::max(std::thread::hardware_concurrency(), 1U);
  std::mutex mutex_;  // of everything here but what runs
  std::vector<Kept*> waiting_;
};

}  // namespace

void ParallelFor(int jobs, size_t count, absl::FunctionRef<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  const size_t threads = std::min<size_t>(static_cast<size_t>(std::max(jobs, 1)), count);
  if (threads <= 1) return run();
  KeptThreads::Get().Run(threads - 1, run);
}

}  // namespace xla_indexing::internal
