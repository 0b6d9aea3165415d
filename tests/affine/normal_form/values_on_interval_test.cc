// Ranges and forms where the values of one sum are few (affine/normal_form/values_on_interval.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

using ValuesOnIntervalTest = ExprFixture;

// a*d0 + k*floor((b*d0 + c)/m) + d1, and with mod, over every interval of d0 that is short.
TEST_F(ValuesOnIntervalTest, RangesAreExactWhereOneVariableOfFewValuesIsDivided) {
  const Interval other = Interval::Closed(-1, 2);
  for (int64_t m = 2; m <= 5; ++m) {
    for (int64_t b = -2; b <= 3; ++b) {
      for (int64_t k = -6; k <= 6; k += 3) {
        for (int64_t c = 0; c < m; ++c) {
          for (const bool is_floor : {false, true}) {
            const AffineExpr dividend = D(0) * b + c;
            const AffineExpr part = is_floor ? dividend.floorDiv(m) : dividend % m;
            const AffineExpr e = D(0) * 2 + part * k + D(1);
            for (int64_t upper = 0; upper <= 9; upper += 3) {
              const std::vector<Interval> box = {Interval::Closed(-2, upper), other};
              Interval hull = Interval::Empty();
              ForEachPoint(box, [&](const std::vector<int64_t>& point) {
                const auto value = static_cast<int64_t>(Value(e, point, {}));
                hull = hull.Union(Interval::Point(value));
              });
              ASSERT_EQ(ExprSimplifier(&context_, box, {}).Range(e), hull) << ToString(e);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
