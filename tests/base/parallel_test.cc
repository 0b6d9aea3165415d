#include "xla_indexing/base/parallel.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"

namespace xla_indexing {
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

}  // namespace
}  // namespace xla_indexing
