// What constraints together say of a sum of variables.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using Coefficients = std::array<int64_t, 3>;

int64_t At(const Coefficients& sum, const Coefficients& point) {
  return sum[0] * point[0] + sum[1] * point[1] + sum[2] * point[2];
}

class SumBoundsTest : public MapTextFixture {
 protected:
  // Each variable is in [0, kMost].
  static constexpr int64_t kMost = 4;

  SumBoundsTest() {
    for (int64_t x = 0; x <= kMost; ++x) {
      for (int64_t y = 0; y <= kMost; ++y) {
        for (int64_t z = 0; z <= kMost; ++z) points_.push_back({x, y, z});
      }
    }
    for (int64_t a = -1; a <= 2; ++a) {
      for (int64_t b = -1; b <= 2; ++b) {
        for (int64_t c = -1; c <= 2; ++c) {
          if ((a != 0) + (b != 0) + (c != 0) > 1) sums_.push_back({a, b, c});
        }
      }
    }
  }

  LinearSum SumOf(const Coefficients& coefficients) {
    LinearSum sum;
    for (int i = 0; i < 3; ++i) {
      sum.AddTerm(mlir::getAffineDimExpr(i, &context_), coefficients[i]);
    }
    return sum;
  }

  // Counts for every sum whether its range under the constraints is the hull of its values.
  void CompareWithPoints(const Coefficients& first, const Interval& of_first,
                         const Coefficients& second, const Interval& of_second) {
    std::vector<Coefficients> domain;
    for (const Coefficients& point : points_) {
      if (of_first.Contains(At(first, point)) && of_second.Contains(At(second, point))) {
        domain.push_back(point);
      }
    }
    const Variable variable{Interval::Closed(0, kMost), {}};
    IndexingMap map(
        kPartsFit, mlir::AffineMap::get(3, 0, &context_), {variable, variable, variable}, {}, {},
        {{SumOf(first).ToExpr(&context_), of_first}, {SumOf(second).ToExpr(&context_), of_second}});
    map.Simplify();
    ASSERT_EQ(map.IsKnownEmpty(), domain.empty()) << map.ToString();
    if (domain.empty()) return;
    ExprSimplifier simplifier(&context_, map.DimBounds(), {});
    for (const Constraint& constraint : map.constraints()) {
      simplifier.Assume(LinearSum::FromExpr(constraint.expr), constraint.interval);
    }
    for (const Coefficients& sum : sums_) {
      int64_t least = std::numeric_limits<int64_t>::max();
      int64_t greatest = std::numeric_limits<int64_t>::min();
      for (const Coefficients& point : domain) {
        least = std::min(least, At(sum, point));
        greatest = std::max(greatest, At(sum, point));
      }
      const Interval range = simplifier.Range(SumOf(sum).ToExpr(&context_));
      ASSERT_LE(range.lower(), least) << map.ToString();
      ASSERT_GE(range.upper(), greatest) << map.ToString();
      ++ranges_;
      hulls_ += range == Interval::Closed(least, greatest) ? 1 : 0;
    }
  }

  std::vector<Coefficients> points_;
  std::vector<Coefficients> sums_;
  int64_t ranges_ = 0;
  int64_t hulls_ = 0;
};

TEST_F(SumBoundsTest, TwoConstraintsAddUp) {
  // d0 + 2*d1 + d2 is at most 6.
  IndexingMap map = Parse(
      "(d0, d1, d2) -> ((d0 + d1 * 2 + d2) mod 7), domain: d0 in [0, 9], d1 in [0, 9], "
      "d2 in [0, 9], d0 + d1 in [0, 3], d1 + d2 in [0, 3]");
  map.Simplify();
  EXPECT_EQ(map.results()[0], SumOf({1, 2, 1}).ToExpr(&context_));
  // Three times half of each: d0 + d1 + d2 is at most 4.
  map = Parse(
      "(d0, d1, d2) -> ((d0 + d1 + d2) mod 5), domain: d0 in [0, 3], d1 in [0, 3], d2 in [0, 3], "
      "d0 + d1 in [0, 3], d1 + d2 in [0, 3], d0 + d2 in [0, 3]");
  map.Simplify();
  EXPECT_EQ(map.results()[0], SumOf({1, 1, 1}).ToExpr(&context_));
}

TEST_F(SumBoundsTest, TwoConstraintsNarrowAVariable) {
  // 3*d0 = (d0 + d1) + (2*d0 - d1) is in [2, 7], and 3*d1 = 2*(d0 + d1) - (2*d0 - d1) in [1, 8].
  IndexingMap map = Parse(
      "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [2, 4], "
      "d0 * 2 - d1 in [0, 3]");
  map.Simplify();
  EXPECT_EQ(map.dims()[0].bounds, Interval::Closed(1, 2));
  EXPECT_EQ(map.dims()[1].bounds, Interval::Closed(1, 2));
}

// Ranges contain all values, of every two small constraints on three variables. Nearly always they
// are the hull: what is missing is between the vertices of the polyhedron and its integer points.
TEST_F(SumBoundsTest, AllSmallPairsOfConstraints) {
  CasesInTurn cases;
  for (size_t i = 0; i < sums_.size(); ++i) {
    for (size_t j = i + 1; j < sums_.size(); ++j) {
      for (const Interval& of_first : {Interval::Closed(0, 3), Interval::Closed(2, 4)}) {
        for (const Interval& of_second : {Interval::Closed(0, 3), Interval::Closed(2, 4)}) {
          if (!cases.IsNextTried()) continue;
          CompareWithPoints(sums_[i], of_first, sums_[j], of_second);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  RecordProperty("ranges", std::to_string(ranges_));
  RecordProperty("hulls", std::to_string(hulls_));
  EXPECT_GT(ranges_, Cases(240000));
  EXPECT_GE(static_cast<double>(hulls_), 0.97 * static_cast<double>(ranges_));
}

}  // namespace
}  // namespace xla_indexing::internal
