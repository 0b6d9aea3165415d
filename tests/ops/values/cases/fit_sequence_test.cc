#include "xla_indexing/ops/values/cases/fit_sequence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

class DigitalLineTest : public ::testing::Test {
 protected:
  DigitalLineTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  // The values of an expression of d0 at 0, 1, ..
  std::vector<int64_t> ValuesOf(mlir::AffineExpr expr, int64_t count) {
    const IndexingMap map(kPartsFit, mlir::AffineMap::get(1, 0, {expr}, &context_),
                          {{Interval::OfSize(count), {}}}, {}, {}, {});
    std::vector<int64_t> values;
    for (int64_t x = 0; x < count; ++x) {
      const auto point = map.Evaluate({x}, {});
      EXPECT_TRUE(point.ok()) << point.status();
      values.push_back((*point)[0]);
    }
    return values;
  }

  mlir::MLIRContext context_;
  mlir::AffineExpr x_ = mlir::getAffineDimExpr(0, &context_);
};

int64_t FloorOf(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

TEST_F(DigitalLineTest, EveryDigitalLineIsFound) {
  for (int64_t n = 1; n <= 12; ++n) {
    for (int64_t q = 1; q <= 9; ++q) {
      for (int64_t p = -2 * q; p <= 2 * q; ++p) {
        for (int64_t b = -q; b <= q; ++b) {
          std::vector<int64_t> values;
          for (int64_t x = 0; x < n; ++x) values.push_back(FloorOf(p * x + b, q));
          mlir::AffineExpr fitted = FitFloor(values, x_);
          ASSERT_TRUE(fitted) << n << " " << p << " " << b << " " << q;
          ASSERT_EQ(ValuesOf(fitted, n), values) << n << " " << p << " " << b << " " << q;
        }
      }
    }
  }
}

// Long lines of slopes that are hard to tell apart.
TEST_F(DigitalLineTest, LongLinesAreFound) {
  constexpr int64_t kLength = 4096;
  for (const int64_t q : {97, 1000, 4093, 4095, 40000}) {
    for (const int64_t p : {int64_t{1}, int64_t{2}, q / 2 - 1, q / 3, q - 1, q + 1, 7 * q + 3}) {
      for (const int64_t b : {int64_t{0}, q / 2, q - 1}) {
        std::vector<int64_t> values;
        for (int64_t x = 0; x < kLength; ++x) values.push_back((p * x + b) / q);
        mlir::AffineExpr fitted = FitFloor(values, x_);
        ASSERT_TRUE(fitted) << p << " " << b << " " << q;
        ASSERT_EQ(ValuesOf(fitted, kLength), values) << p << " " << b << " " << q;
      }
    }
  }
}

// All sequences of 6 values of 0 to 3: either a line is found, or there is none with q up to 12.
TEST_F(DigitalLineTest, WhereThereIsNoDigitalLineNoneIsFound) {
  constexpr int64_t kLength = 6;
  for (int64_t code = 0; code < 1 << (2 * kLength); ++code) {
    std::vector<int64_t> values;
    for (int64_t x = 0; x < kLength; ++x) values.push_back(code >> (2 * x) & 3);
    bool is_line = false;
    for (int64_t q = 1; q <= 12 && !is_line; ++q) {
      for (int64_t p = -3 * q; p <= 3 * q && !is_line; ++p) {
        int64_t lowest = q * values[0];
        int64_t highest = lowest + q - 1;
        for (int64_t x = 1; x < kLength; ++x) {
          lowest = std::max(lowest, q * values[x] - p * x);
          highest = std::min(highest, q * values[x] - p * x + q - 1);
        }
        is_line = lowest <= highest;
      }
    }
    mlir::AffineExpr fitted = FitFloor(values, x_);
    ASSERT_EQ(static_cast<bool>(fitted), is_line) << code;
    if (fitted) {
      ASSERT_EQ(ValuesOf(fitted, kLength), values);
    }
    // In pieces, every sequence is what it is.
    const auto runs = FitFloors(values, x_, kLength);
    ASSERT_TRUE(runs.has_value());
    size_t next = 0;
    for (const FittedRun& run : *runs) {
      ASSERT_EQ(run.begin, next);
      next = run.end;
      const std::vector<int64_t> all = ValuesOf(run.value, kLength);
      for (size_t x = run.begin; x < run.end; ++x) ASSERT_EQ(all[x], values[x]) << code;
    }
    ASSERT_EQ(next, values.size());
    ASSERT_EQ(is_line, runs->size() == 1) << code;
  }
}

TEST_F(DigitalLineTest, NumbersThatAreTooGreatAreNotFitted) {
  EXPECT_FALSE(FitFloor({0, int64_t{1} << 41, 1}, x_));
  EXPECT_FALSE(FitFloors({0, int64_t{1} << 41, 1}, x_, 8).has_value());
  EXPECT_FALSE(FitFloors({0, 5, 1, 9, 2, 7}, x_, 1).has_value());
}

}  // namespace
}  // namespace xla_indexing::internal
