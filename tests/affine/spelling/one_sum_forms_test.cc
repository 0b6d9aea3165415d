// Functions of one sum of variables, which are told by their values: affine/normal_form/values_in_turn.h,
// and the forms that are found from values alone, affine/spelling/one_sum_forms.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class OneSumFormsTest : public ExprFixture {
 protected:
  std::string Simplified(AffineExpr e) {
    const std::vector<Interval> box(2, Interval::Closed(-60, 60));
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  }

  // The value of a sum of variables at a point.
  static int64_t At(const QuasiAffineSum& sum, const std::vector<int64_t>& point) {
    int64_t value = sum.constant();
    for (const AtomTerm& term : sum.terms()) {
      value += term.coefficient * point[term.atom->position];
    }
    return value;
  }

  // Reads the expression as a function of one sum, and checks it at all points. Returns the period,
  // or 0 where it is none.
  int64_t ReadPeriod(AffineExpr e, const std::vector<Interval>& box) {
    ExprSimplifier simplifier(&context_, box, {});
    const auto function = AsFunctionOfOneSum(simplifier.Evaluate(e));
    if (!function) return 0;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      const int64_t value =
          At(function->beside, point) + function->values.At(At(function->one_sum, point));
      ASSERT_EQ(value, static_cast<int64_t>(Value(e, point, {}))) << ToString(e);
    });
    return function->values.Period();
  }
};

// floor((3*X + Y)/3) has the same length as X + floor(Y/3), and MLIR makes one of the other where X
// is a multiple of 3 as written: the summands would not be in their order.
TEST_F(OneSumFormsTest, SummandsStayInTheirOrderBesideNestedFormsOfTheSameLength) {
  const AffineExpr e =
      (D(2) % 7).floorDiv(3) + ((D(0) + D(1) * 2) % 6) * 2 - (D(2) * 3 + 4) % 7 - S(0) * 5;
  const std::vector<Interval> box = {Interval::Closed(-7, 6), Interval::Closed(-20, 20),
                                     Interval::Closed(-70, 70)};
  ExprSimplifier simplifier(&context_, box, {Interval::Closed(-5, 2)});
  EXPECT_EQ(ToString(simplifier.Simplify(e)),
            "(d2 mod 7) floordiv 3 + ((d0 + d1 * 2) mod 6) * 2 - (d2 * 3 + 4) mod 7 - s0 * 5");
}

// a*d0 + k*floor((b*d0 + c)/m) + d1, and with mod, over every interval of d0 that is short.
TEST_F(OneSumFormsTest, RangesAreExactWhereOneVariableOfFewValuesIsDivided) {
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

TEST_F(OneSumFormsTest, ValuesInTurnAreThoseOfTheFunction) {
  const std::vector<Interval> box = {Interval::Closed(-9, 15), Interval::Closed(-5, 14)};
  int64_t read = 0;
  int64_t cases = 0;
  const auto read_all = [&](int64_t m, int64_t n, int64_t a, int64_t e0, int64_t e1) {
    const AffineExpr l = D(0) + Scale(D(1), a) + 1;
    for (const AffineExpr inner : {Mod(l, m), FloorDiv(l, m)}) {
      const AffineExpr sum = inner * 2 + Scale(D(0), e0) + Scale(D(1), e1) + 1;
      for (const AffineExpr e : {Mod(sum, n), FloorDiv(sum, n)}) {
        ++cases;
        read += ReadPeriod(e, box) > 0 ? 1 : 0;
      }
    }
  };
  for (int64_t m = 2; m <= 4; ++m) {
    for (int64_t n = 2; n <= 4; ++n) {
      for (int64_t a = 1; a < m; ++a) {
        for (int64_t e0 = 0; e0 < n; ++e0) {
          for (int64_t e1 = 0; e1 < n && !HasFailure(); ++e1) read_all(m, n, a, e0, e1);
        }
      }
    }
  }
  EXPECT_GT(read, cases / 4);
}

TEST_F(OneSumFormsTest, ThePeriodIsTheLeast) {
  const std::vector<Interval> box = {Interval::Closed(-99, 99), Interval::Closed(-9, 9)};
  EXPECT_EQ(ReadPeriod((D(0) % 3 + 1).floorDiv(3), box), 3);
  EXPECT_EQ(ReadPeriod(((D(0) + 2) % 3) % 2 + D(1), box), 3);
  // With L = d0 + d1*2 the dividend 2*d0 + d1 is 2*L - 3*d1, so that d1 + floor(..) is floor(2*L/3).
  EXPECT_EQ(ReadPeriod((D(1) + (D(0) * 2 + D(1)).floorDiv(3)) % 2, box), 3);
  // No sum of d0 and d1 tells both digits.
  EXPECT_EQ(ReadPeriod(D(0) % 3 + D(1) % 3, box), 0);
  // A period above 24 is not looked at.
  EXPECT_EQ(ReadPeriod(D(0) % 24 + D(0).floorDiv(3), box), 24);
  EXPECT_EQ(ReadPeriod(D(0) % 25 + D(0).floorDiv(5), box), 0);
}

// Where d0 is 4*q + r with r in [0, 3], d0 + 2*floor(d0/4) + 4 is 6*q + r + 4, and a third of that is
// 2*q + 1, 2*q + 1, 2*q + 2 or 2*q + 2, rounded down.
TEST_F(OneSumFormsTest, DivisionsThatGrowLikeOneAreOne) {
  EXPECT_EQ(Simplified((D(0) + D(0).floorDiv(4) * 2 + 4).floorDiv(3)), "d0 floordiv 2 + 1");
  EXPECT_EQ(Simplified((D(1) * 3 + D(0) + D(0).floorDiv(4) * 2 + 4).floorDiv(3)),
            "d1 + d0 floordiv 2 + 1");
}

}  // namespace
}  // namespace xla_indexing::internal
