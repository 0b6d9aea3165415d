#include "xla_indexing/base/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

  // Calls `here` on this thread and, at the same time, `there` on as many others. Those that have not
  // begun when this thread has come back are not waited for.
  void Run(size_t others, absl::FunctionRef<void()> here, absl::FunctionRef<void()> there) {
    Call call{there, others};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (size_t i = 0; i < others; ++i) Start(&call);
    }
    here();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      call.running -= call.not_begun.size();
      for (Kept* kept : call.not_begun) {
        kept->call = nullptr;
        Keep(kept);
      }
    }
    WaitAwake([&] { return call.running == 0; });
    std::unique_lock<std::mutex> lock(mutex_);
    call.are_done.wait(lock, [&] { return call.running == 0; });
  }

 private:
  static void Renew() { of_process_ = new KeptThreads; }

  struct Call;
  // A thread, and what it is to do.
  struct Kept {
    std::atomic<Call*> call = nullptr;
    bool stays = true;
    std::condition_variable has_news = {};
  };
  struct Call {
    absl::FunctionRef<void()> run;
    std::atomic<size_t> running;  // threads that have not come back
    std::vector<Kept*> not_begun = {};
    std::condition_variable are_done = {};
  };

  // Waits for a short time without sleeping: about as long as it takes to wake a thread that sleeps,
  // so that this costs at most twice what is the best. Others may have the processor meanwhile.
  template <typename Condition>
  static void WaitAwake(Condition holds) {
    constexpr std::chrono::microseconds kTimeToWake(100);
    const auto end = std::chrono::steady_clock::now() + kTimeToWake;
    while (!holds() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  void Start(Call* call) {
    if (waiting_.empty()) {
      auto made = std::make_unique<Kept>();
      made->call = call;
      call->not_begun.push_back(made.get());
      std::thread([this, kept = std::move(made)] { Serve(*kept); }).detach();
      return;
    }
    // The one that has waited least: its memory is the nearest.
    Kept* const kept = waiting_.back();
    waiting_.pop_back();
    kept->call = call;
    call->not_begun.push_back(kept);
    kept->has_news.notify_one();
  }

  // Lets a thread without a call wait for the next one, or end where enough wait.
  void Keep(Kept* kept) {
    kept->stays = waiting_.size() < most_waiting_;
    if (kept->stays) return waiting_.push_back(kept);
    kept->has_news.notify_one();
  }

  void Serve(Kept& kept) {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      kept.has_news.wait(lock, [&] { return kept.call != nullptr || !kept.stays; });
      if (!kept.stays) return;
      Call& call = *kept.call.exchange(nullptr);
      std::erase(call.not_begun, &kept);
      lock.unlock();
      call.run();
      lock.lock();
      if (--call.running == 0) call.are_done.notify_one();
      Keep(&kept);
      if (!kept.stays) return;
      lock.unlock();
      WaitAwake([&] { return kept.call != nullptr; });
      lock.lock();
    }
  }

  inline static std::atomic<KeptThreads*> of_process_ = nullptr;

  const size_t most_waiting_ = std::max(std::thread::hardware_concurrency(), 1U);
  std::mutex mutex_;  // of everything here but what runs
  std::vector<Kept*> waiting_;
};

}  // namespace

void ParallelFor(int jobs, size_t count, absl::FunctionRef<void(size_t)> work) {
  const size_t threads = std::min<size_t>(static_cast<size_t>(std::max(jobs, 1)), count);
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  // This thread begins with the first piece, so that calls for the same pieces find in its memory
  // what it made of them.
  std::atomic<size_t> next = 1;
  const auto work_from = [&](size_t i) {
    for (; i < count; i = next++) work(i);
  };
  const auto here = [&] { work_from(0); };
  const auto there = [&] { work_from(next++); };
  KeptThreads::Get().Run(threads - 1, here, there);
}

}  // namespace xla_indexing::internal
