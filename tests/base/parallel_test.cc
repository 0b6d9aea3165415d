#include "xla_indexing/base/parallel.h"

#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing::internal {
namespace {

TEST(ParallelFor, DoesEveryPieceOnce) {
  for (const int jobs : {1, 2, 8, 100}) {
    for (const size_t count : {0, 1, 7, 1000}) {
      std::vector<int> calls(count);
      ParallelFor(jobs, count, [&](size_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1)) << jobs << " jobs";
    }
  }
}

TEST(ParallelFor, OneJobWorksInOrder) {
  std::vector<size_t> order;
  ParallelFor(1, 5, [&](size_t i) { order.push_back(i); });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

// The threads that have worked on `pieces` pieces that wait for one another.
std::set<std::thread::id> ThreadsOfPiecesThatWait(int pieces) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::barrier all_are_here(pieces);
  ParallelFor(pieces, static_cast<size_t>(pieces), [&](size_t) {
    all_are_here.arrive_and_wait();
    const std::lock_guard<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  return threads;
}

TEST(ParallelFor, WithAsManyJobsAsPiecesEachHasAThreadToItself) {
  for (const int pieces : {2, 3, 50}) EXPECT_EQ(ThreadsOfPiecesThatWait(pieces).size(), pieces);
}

TEST(ParallelFor, KeepsItsThreadsForLaterCalls) {
  const std::set<std::thread::id> first = ThreadsOfPiecesThatWait(2);
  EXPECT_TRUE(first.contains(std::this_thread::get_id()));
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ThreadsOfPiecesThatWait(2), first);
}

TEST(ParallelFor, TheCallingThreadBeginsWithTheFirstPiece) {
  for (int i = 0; i < 100; ++i) {
    std::thread::id of_first;
    ParallelFor(3, 3, [&](size_t piece) {
      if (piece == 0) of_first = std::this_thread::get_id();
    });
    EXPECT_EQ(of_first, std::this_thread::get_id());
  }
}

// The threads of this process.
size_t ThreadsThatLive() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

TEST(ParallelFor, KeepsNoMoreThreadsThanThereAreProcessors) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "no list of threads";
  // Most of the second call's threads come when its work has been done.
  ThreadsOfPiecesThatWait(100);
  ParallelFor(100, 100, [](size_t) {});
  const size_t most = 1 + std::max(std::thread::hardware_concurrency(), 1U);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (ThreadsThatLive() > most && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_LE(ThreadsThatLive(), most);
}

// Its threads are those of the process that it was forked from, which has kept some.
TEST(ParallelForDeathTest, WorksInAForkedProcess) {
  ThreadsOfPiecesThatWait(2);
  EXPECT_EXIT(
      {
        alarm(20);
        std::_Exit(ThreadsOfPiecesThatWait(3).size() == 3 ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(ParallelFor, CallsWithinCallsHaveThreadsOfTheirOwn) {
  std::barrier both_are_here(2);
  ParallelFor(2, 2, [&](size_t) {
    both_are_here.arrive_and_wait();
    EXPECT_EQ(ThreadsOfPiecesThatWait(3).size(), 3);
  });
}

}  // namespace
}  // namespace xla_indexing::internal
