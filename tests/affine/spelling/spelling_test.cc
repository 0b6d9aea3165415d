// The one spelling of a sum (affine/spelling/spelling.h), and how long expressions are (affine/expr/expr_size.h).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/spelling/evident_form.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

TEST(ExprSizeTest, CountsDivisionsNodesAndTheGreatestConstant) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  const AffineExpr d1 = mlir::getAffineDimExpr(1, &context);
  EXPECT_EQ(SizeOf(d0), (ExprSize{0, 1, 0}));
  EXPECT_EQ(SizeOf(-d0), (ExprSize{0, 3, 1}));
  EXPECT_EQ(SizeOf((d0 + d1 * 128).floorDiv(36)), (ExprSize{1, 7, 128}));
  EXPECT_EQ(SizeOf(d1 * 3 + (d0 + d1 * 20).floorDiv(36)), (ExprSize{1, 11, 36}));
  EXPECT_EQ(SizeOf(d0 % 4 - (d0.floorDiv(4)) * 7), (ExprSize{2, 9, 7}));
}

class SpellingTest : public ExprFixture {
 protected:
  // The form of an expression, which has its values. It, or the form of that, is its own form.
  AffineExpr FormOf(AffineExpr e, const std::vector<Interval>& box) {
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      ASSERT_EQ(static_cast<int64_t>(Value(form, point, {})),
                static_cast<int64_t>(Value(e, point, {})))
          << ToString(e) << " is " << ToString(form);
    });
    AffineExpr settled = form;
    for (int i = 0; i < 3; ++i) settled = ExprSimplifier(&context_, box, {}).Simplify(settled);
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(settled)), ToString(settled))
        << ToString(e);
    return form;
  }
};

TEST_F(SpellingTest, TermsThatNeverCarryLeaveADivision) {
  const std::vector<Interval> box = {Interval::Closed(0, 9), Interval::Closed(-3, 4)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 55).floorDiv(50)), "(d0 * 13 + 26) floordiv 25");
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 5) % 50 - D(1)), simplified((D(0) * 26 + 2) % 50 + 3));
}

// All floors and mods of a*d0 + b*d1 + c by m.
TEST_F(SpellingTest, DivisionsOfTwoVariablesKeepTheirValuesAndSettle) {
  for (const auto& box : {std::vector<Interval>{Interval::Closed(0, 2), Interval::Closed(-1, 1)},
                          std::vector<Interval>{Interval::Closed(-2, 3), Interval::Closed(0, 1)}}) {
    for (int64_t m = 2; m <= 13; ++m) {
      for (int64_t a = -m; a <= m; ++a) {
        for (int64_t b = 1 - m; b <= m; b += ChosenEffort().one_of) {
          for (int64_t c = 0; c < m && !HasFailure(); ++c) {
            const AffineExpr y = D(0) * a + D(1) * b + c;
            for (const AffineExpr e : {y.floorDiv(m), y % m, y.floorDiv(m) % 3}) FormOf(e, box);
          }
        }
      }
    }
  }
}

// What a reader looks for in a spelling: digits, strides, offsets and turned indices.
TEST_F(SpellingTest, DigitsAndStridesShow) {
  const std::vector<Interval> box = {Interval::Closed(0, 99), Interval::Closed(0, 63)};
  for (const auto& [e, text] : {
           std::pair((D(0) * 5 + 5) % 6, "-(d0 mod 6) + 5"),
           std::pair((D(0) * 8 + 8) % 9, "-(d0 mod 9) + 8"),
           std::pair(-(D(0) % 6) + 5, "-(d0 mod 6) + 5"),
           std::pair(-(D(0) % 6) + 7, "-(d0 mod 6) + 7"),
           std::pair((-D(0) + 103).floorDiv(8), "-(d0 floordiv 8) + 12"),
           std::pair((-D(0) + 99).floorDiv(8), "(-d0 + 99) floordiv 8"),
           std::pair(-((D(0) - 92).floorDiv(8)), "(-d0 + 99) floordiv 8"),
           std::pair((D(1) * 3) % 4, "(-d1) mod 4"),
           std::pair((D(0) + 1) % 2, "(d0 + 1) mod 2"),
           std::pair((D(0) + 1).floorDiv(2), "(d0 + 1) floordiv 2"),
           std::pair((D(0) - 1) % 6, "(d0 + 5) mod 6"),
           std::pair((D(0) + 11).floorDiv(4), "(d0 + 11) floordiv 4"),
           std::pair((D(0) * 6).floorDiv(5), "d0 + d0 floordiv 5"),
           std::pair((D(0) * 7 + D(1)).floorDiv(3), "(d0 * 7 + d1) floordiv 3"),
           std::pair((D(0) + D(1) * 128) % 36, "(d0 + d1 * 20) mod 36"),
           std::pair((D(0) * 6 + D(1) * 4) % 8, "(d0 * 6 + d1 * 4) mod 8"),
           std::pair(((D(0) * 2 - D(1) * 4 + 1).floorDiv(3)) % 3,
                     "((d0 * 2 + d1 * 5 + 1) floordiv 3) mod 3"),
       }) {
    EXPECT_EQ(ToString(FormOf(e, box)), text) << ToString(e);
  }
}

// With Z = z0*d0 + z1*d1 + c (affine/spelling/spelling.h).
TEST_F(SpellingTest, SpellingsOfOneDivisionAreOneForm) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(0, 40)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  for (int64_t z0 = -2; z0 <= 2; ++z0) {
    for (int64_t z1 = -2; z1 <= 2; ++z1) {
      for (int64_t c = -2; c <= 2; ++c) {
        const AffineExpr z = D(0) * z0 + D(1) * z1 + c;
        const auto floor = [&](AffineExpr y, int64_t m) { return (y + z * m).floorDiv(m) - z; };
        const auto negated = [&](AffineExpr y, int64_t m) {
          return z - 1 - (z * m - y - 1).floorDiv(m);
        };
        for (const auto& [dividend, m, text] :
             {std::tuple(D(0) + 3, int64_t{5}, "(d0 + 3) floordiv 5"),
              std::tuple(D(0) + D(1) * 128, int64_t{36}, "(d0 + d1 * 128) floordiv 36"),
              std::tuple(D(0) * 5 + D(1) * 3, int64_t{7}, "(d0 * 5 + d1 * 3) floordiv 7")}) {
          EXPECT_EQ(simplified(floor(dividend, m)), text);
          EXPECT_EQ(simplified(negated(dividend, m)), text);
        }
        EXPECT_EQ(simplified((D(1) * 5 + z * 6) % 6), simplified((D(1) * 5 + D(0) * (6 * z0)) % 6));
        EXPECT_EQ(simplified(5 - (z * 6 - D(1) * 5 - 1) % 6), "(-d1) mod 6");
      }
    }
  }
}

// All k*((a*d0 + c) mod m) + b with small parameters and b between -k and k: equal ones have one form.
TEST_F(SpellingTest, EqualModsWithAConstantBesideThemHaveOneForm) {
  const std::vector<Interval> box = {Interval::Closed(-7, 40)};
  std::map<std::vector<int64_t>, std::string> forms;
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e) {
    const AffineExpr form = FormOf(e, box);
    std::vector<int64_t> values;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      values.push_back(static_cast<int64_t>(Value(e, point, {})));
    });
    const auto& [known, is_new] = forms.try_emplace(values, ToString(form));
    EXPECT_EQ(known->second, ToString(form)) << ToString(e);
  };
  for (int64_t m = 2; m <= 6; ++m) {
    for (int64_t a = 1 - m; a < m; ++a) {
      for (int64_t c = 0; c < m; ++c) {
        for (const int64_t k : {-6, -4, -3, -2, -1, 1, 2, 3, 4, 6}) {
          if (a == 0 || !cases.IsNextTried()) continue;
          const int64_t most = std::abs(k) - 1;
          for (int64_t b = -most; b <= most; ++b) check(((D(0) * a + c) % m) * k + b);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(forms.size(), Cases(1000));
}

// All sums of two divisions of x with small parameters, where x is a variable or d0 + d1 * 2 and has six values.
TEST_F(SpellingTest, SumsOfTwoDivisionsOnFewValuesKeepTheirValues) {
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e, const std::vector<Interval>& box) { FormOf(e, box); };
  const auto check_both = [&](int64_t m, int64_t n, int64_t c, int64_t k) {
    for (const AffineExpr x : {D(0), D(0) + D(1) * 2}) {
      const std::vector<Interval> box =
          x == D(0) ? std::vector<Interval>{Interval::Closed(-2, 3)}
                    : std::vector<Interval>{Interval::OfSize(2), Interval::OfSize(3)};
      for (const int64_t a : {-3, -1, 1, 2, 3}) {
        const AffineExpr y = x * a + c;
        check((x + c).floorDiv(m) + y.floorDiv(n) * k, box);
        check((x + c).floorDiv(m) + (y % n) * k, box);
        check(((x % m) * k + y).floorDiv(n), box);
        check((x.floorDiv(m) * k + y) % n + x, box);
      }
    }
  };
  for (int64_t m = 2; m <= 6; ++m) {
    for (int64_t n = 2; n <= 6; ++n) {
      for (int64_t c = -1; c <= 4; ++c) {
        for (const int64_t k : {-3, -2, -1, 1, 2, 3}) {
          if (cases.IsNextTried()) check_both(m, n, c, k);
          if (HasFailure()) return;
        }
      }
    }
  }
}

// floor((3*X + Y)/3) has the same length as X + floor(Y/3), and MLIR makes one of the other where X
// is a multiple of 3 as written: the summands would not be in their order.
TEST_F(SpellingTest, SummandsStayInTheirOrderBesideNestedFormsOfTheSameLength) {
  const AffineExpr e =
      (D(2) % 7).floorDiv(3) + ((D(0) + D(1) * 2) % 6) * 2 - (D(2) * 3 + 4) % 7 - S(0) * 5;
  const std::vector<Interval> box = {Interval::Closed(-7, 6), Interval::Closed(-20, 20),
                                     Interval::Closed(-70, 70)};
  ExprSimplifier simplifier(&context_, box, {Interval::Closed(-5, 2)});
  EXPECT_EQ(ToString(simplifier.Simplify(e)),
            "(d2 mod 7) floordiv 3 + ((d0 + d1 * 2) mod 6) * 2 - (d2 * 3 + 4) mod 7 - s0 * 5");
}

// All sums of two variables and a number, in and out of order, over boxes with and without points.
TEST_F(SpellingTest, EvidentFormsAreGivenBack) {
  int evident = 0;
  const AffineExpr d0 = D(0);
  for (const auto& box : {std::vector<Interval>{Interval::Closed(0, 2), Interval::Closed(-1, 1)},
                          std::vector<Interval>{Interval::Closed(0, 2), Interval::Point(3)}}) {
    const auto range_of = [&](AffineExpr v) -> const Interval* { return &box[v == d0 ? 0 : 1]; };
    for (int64_t a = -2; a <= 2; ++a) {
      for (int64_t b = -2; b <= 2; ++b) {
        for (const AffineExpr e :
             {D(0) * a + D(1) * b, D(1) * b + D(0) * a, D(0) * a + D(1) * b + 3,
              D(0) * a + D(0) * b, D(0).floorDiv(2) * a + D(1) * b}) {
          if (!IsEvidentForm(e, range_of)) continue;
          ++evident;
          EXPECT_EQ(ToString(FormOf(e, box)), ToString(e));
        }
      }
    }
  }
  EXPECT_GT(evident, 60);
}

}  // namespace
}  // namespace xla_indexing::internal
