#include "xla_indexing/query/index_structure/affine_runs.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

// Quotients of all small lines: the runs follow one another, are affine, and say what the map says.
TEST(AffineRunsTest, AllSmallLinesFallIntoTheirRuns) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int divided = 0;
  for (int64_t factor = 1; factor <= 5; ++factor) {
    for (int64_t divisor = 2; divisor <= 6; ++divisor) {
      for (int64_t offset = 0; offset < divisor; ++offset) {
        for (int64_t size = 1; size <= 8; ++size) {
          const std::string text = absl::Substitute(
              "(d0, d1) -> (d1 * 2 - ((d0 * $0 + $1) floordiv $2) * 3, d0), domain: d0 in [2, $3], "
              "d1 in [0, 1]",
              factor, offset, divisor, size + 1);
          const IndexingMap map = ParseIndexingMap(text, &context).value();
          const std::vector<OperandIndexing> runs = InAffineRuns(OperandIndexing(kPartsFit, map));
          const auto value = [&](int64_t i) { return -3 * ((i * factor + offset) / divisor); };
          // The fewest intervals from the left in which the differences are one number.
          std::vector<int64_t> ends;
          for (int64_t first = 2; first <= size + 1; first = ends.back() + 1) {
            int64_t last = first;
            while (last < size + 1 && (last == first || value(last + 1) - value(last) ==
                                                            value(last) - value(last - 1))) {
              ++last;
            }
            ends.push_back(last);
          }
          ASSERT_EQ(runs.size(), ends.size()) << text;
          divided += runs.size() > 1 ? 1 : 0;
          int64_t first = 2;
          for (size_t k = 0; k < runs.size(); ++k) {
            EXPECT_EQ(runs[k].map().dims()[0].bounds, Interval::Closed(first, ends[k])) << text;
            EXPECT_TRUE(runs[k].map().results()[0].isPureAffine()) << text;
            first = ends[k] + 1;
            const absl::Status status = runs[k].map().ForEachPoint(
                100, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> /*symbols*/,
                         llvm::ArrayRef<int64_t> results) {
                  EXPECT_EQ(results[0], dims[1] * 2 + value(dims[0])) << text;
                  EXPECT_EQ(results[1], dims[0]);
                });
            EXPECT_TRUE(status.ok()) << status;
          }
        }
      }
    }
  }
  EXPECT_GT(divided, 300);
}

TEST(AffineRunsTest, EachDimensionIsCutByItself) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (int64_t offset = 0; offset < 4; ++offset) {
    const std::string text = absl::Substitute(
        "(d0, d1) -> ((d0 + $0) floordiv 4 + d1, (d0 * 2) floordiv 3 - (d1 + $0) floordiv 3), "
        "domain: d0 in [1, 4], d1 in [2, 5]",
        offset);
    const IndexingMap map = ParseIndexingMap(text, &context).value();
    int points = 0;
    for (const OperandIndexing& run : InAffineRuns(OperandIndexing(kPartsFit, map))) {
      for (const mlir::AffineExpr result : run.map().results()) {
        EXPECT_TRUE(result.isPureAffine()) << run.ToString();
      }
      const absl::Status status = run.map().ForEachPoint(
          100, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> /*symbols*/,
                   llvm::ArrayRef<int64_t> results) {
            ++points;
            EXPECT_EQ(results[0], (dims[0] + offset) / 4 + dims[1]) << text;
            EXPECT_EQ(results[1], dims[0] * 2 / 3 - (dims[1] + offset) / 3) << text;
          });
      EXPECT_TRUE(status.ok()) << status;
    }
    EXPECT_EQ(points, 16) << text;
  }
}

TEST(AffineRunsTest, WhatIsDividedTogetherOrBendsOftenStays) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const char* text :
       {"(d0, d1) -> ((d0 + d1) floordiv 2), domain: d0 in [0, 5], d1 in [0, 5]",
        "(d0) -> (d0 mod 2), domain: d0 in [0, 40]",
        "(d0) -> (d0 floordiv 3), domain: d0 in [0, 4096]",
        "(d0)[s0] -> (d0 floordiv 3 + s0), domain: d0 in [0, 5], s0 in [0, 1]"}) {
    const OperandIndexing map(kPartsFit, ParseIndexingMap(text, &context).value());
    EXPECT_EQ(InAffineRuns(map), std::vector<OperandIndexing>{map}) << text;
  }
}

}  // namespace
}  // namespace xla_indexing::internal
