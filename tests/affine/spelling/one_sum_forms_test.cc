// Functions of one sum of variables, which are told by their values: affine/normal_form/values_in_turn.h,
// and the forms that are found from values alone, affine/spelling/one_sum_forms.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class OneSumFormsTest : public ExprFixture {
 protected:
  std::string Simplified(AffineExpr e, int64_t lower = -60, int64_t upper = 60) {
    const std::vector<Interval> box(2, Interval::Closed(lower, upper));
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

// All functions op(k*((a*d0 + c) mod 3) + f, n) that take two values v and v + 1: they tell one residue
// of d0 from the other two, and are grouped by their values where d0 is 0, 1 and 2.
TEST_F(OneSumFormsTest, FunctionsOfAResidueModuloThreeHaveOneForm) {
  std::map<std::vector<int64_t>, std::set<std::string>> forms;
  for (int64_t a = 1; a <= 5; ++a) {
    for (int64_t c = 0; c <= 2; ++c) {
      for (int64_t k = -3; k <= 3; ++k) {
        for (int64_t f = -4; f <= 4; ++f) {
          for (int64_t n = 2; n <= 5; ++n) {
            const AffineExpr sum = Scale(Mod(Scale(D(0), a) + c, 3), k) + f;
            for (const AffineExpr e : {FloorDiv(sum, n), Mod(sum, n)}) {
              std::vector<int64_t> values(3);
              for (int64_t x = 0; x < 3; ++x)
                values[x] = static_cast<int64_t>(Value(e, {x, 0}, {}));
              const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
              if (*greatest - *least == 1) forms[values].insert(Simplified(e));
            }
          }
        }
      }
    }
  }
  EXPECT_GE(forms.size(), 24U);
  for (const auto& [values, texts] : forms) {
    EXPECT_EQ(texts.size(), 1U) << *texts.begin() << " and " << *texts.rbegin();
  }
  // With five nodes there are only (d0 op m) op n, of which these have the period 3 and two values.
  const std::vector<int64_t> second = {0, 1, 0};
  const std::vector<int64_t> third = {0, 0, 1};
  const auto form_of = [&](const std::vector<int64_t>& values) { return *forms[values].begin(); };
  EXPECT_EQ(form_of(third), "(d0 mod 3) floordiv 2");
  EXPECT_EQ(form_of(second), "(d0 mod 3) mod 2");
}

// All op(k*op(a*L + c, m) + e*L + f, n) with small parameters, for a sum L of one variable and of two.
// Their periods are at most 18, so that the values where d0 and d1 are small tell them apart.
TEST_F(OneSumFormsTest, NestedDivisionsThatAreEqualHaveOneFormWhichIsNoLongerThanAnyOfThem) {
  struct Class {
    ExprSize least{99, 99, 99};
    std::set<std::string> texts;
    ExprSize size;
  };
  for (const int64_t in_sum : {0, 2}) {
    const AffineExpr l = D(0) + Scale(D(1), in_sum);
    std::map<std::vector<int64_t>, Class> classes;
    const auto take = [&](AffineExpr e) {
      std::vector<int64_t> values;
      for (int64_t x = 0; x < 36; ++x) values.push_back(static_cast<int64_t>(Value(e, {x, 0}, {})));
      for (int64_t y = 1; y < 3; ++y) values.push_back(static_cast<int64_t>(Value(e, {0, y}, {})));
      Class& with_values = classes[values];
      with_values.least = std::min(with_values.least, SizeOf(e));
      const std::vector<Interval> box(2, Interval::Closed(-60, 60));
      const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
      with_values.texts.insert(ToString(form));
      EXPECT_EQ(ExprSimplifier(&context_, box, {}).Simplify(form), form) << ToString(e);
      with_values.size = SizeOf(form);
    };
    for (int64_t m = 2; m <= 3; ++m) {
      for (int64_t n = 2; n <= 3; ++n) {
        for (int64_t i = 0; i < Cases(m * 6 * 3 * 2 * 4); ++i) {
          const int64_t k = i / m % 6 < 3 ? i / m % 6 - 3 : i / m % 6 - 2;
          const int64_t e = i / (m * 6) % 3;
          const int64_t f = i / (m * 18) % 2;
          const bool inner_is_mod = i / (m * 36) % 2 != 0;
          const bool outer_is_mod = i / (m * 72) != 0;
          const AffineExpr dividend = l + i % m;
          const AffineExpr inner = inner_is_mod ? Mod(dividend, m) : FloorDiv(dividend, m);
          const AffineExpr sum = Scale(inner, k) + Scale(l, e) + f;
          take(outer_is_mod ? Mod(sum, n) : FloorDiv(sum, n));
        }
      }
    }
    for (const auto& [values, with_values] : classes) {
      EXPECT_EQ(with_values.texts.size(), 1U)
          << *with_values.texts.begin() << " and " << *with_values.texts.rbegin();
      EXPECT_LE(with_values.size, with_values.least) << *with_values.texts.begin();
    }
  }
}

TEST_F(OneSumFormsTest, OfNestedFormsThatAreEquallyShortTheFirstInDictionaryOrderIsWritten) {
  // Where d0 mod 3 is 0, 1 and 2 both are 0, 1 and 1.
  EXPECT_EQ(Simplified((D(0) % 3 + 2).floorDiv(3)), "(d0 mod 3 + 1) floordiv 2");
  EXPECT_EQ(Simplified((D(0) % 3 + 1).floorDiv(2)), "(d0 mod 3 + 1) floordiv 2");
  EXPECT_EQ(Simplified((D(0) % 3 + 2).floorDiv(3) * 100), "((d0 mod 3 + 1) floordiv 2) * 100");
}

// 3*floor(3*d0/2) = 3*d0 + 3*floor(d0/2), and the same with 2.
TEST_F(OneSumFormsTest, AnInnerDivisionTakesTheSumBesideIt) {
  EXPECT_EQ(Simplified((D(0) * 3 + D(0).floorDiv(2) * 3).floorDiv(5)),
            "(((d0 * 3) floordiv 2) * 3) floordiv 5");
  EXPECT_EQ(Simplified((D(0) * 3 + D(0).floorDiv(2) * 3).floorDiv(7)),
            "(((d0 * 3) floordiv 2) * 3) floordiv 7");
  EXPECT_EQ(Simplified((D(0) * 2 + D(0).floorDiv(2) * 2) % 7), "(((d0 * 3) floordiv 2) * 2) mod 7");
  // With k*z = e (mod 7) the sum is k*floor((d0 + 2*z*d0)/2), but for multiples of 7.
  for (int64_t k = 1; k <= 6; ++k) {
    for (int64_t z = 1; z <= 6; ++z) {
      const AffineExpr sum = D(0) * (k * z % 7) + D(0).floorDiv(2) * k;
      const AffineExpr nested = ((D(0) * (1 + 2 * z)).floorDiv(2) * k) % 7;
      const std::vector<Interval> box = {Interval::Closed(-60, 60)};
      const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(sum % 7);
      EXPECT_LE(SizeOf(form), SizeOf(nested)) << ToString(sum) << " is " << ToString(form);
    }
  }
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
