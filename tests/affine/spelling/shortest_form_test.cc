// How short normal forms are (affine/expr/expr_size.h).
#include <gtest/gtest.h>

#include <algorithm>
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

// The same tree, in which no sum is multiplied.
AffineExpr WithProductsMultipliedOut(AffineExpr e) {
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(e);
  if (!binary) return e;
  const AffineExpr lhs = WithProductsMultipliedOut(binary.getLHS());
  const AffineExpr rhs = WithProductsMultipliedOut(binary.getRHS());
  if (e.getKind() == mlir::AffineExprKind::Add) return lhs + rhs;
  const int64_t number = llvm::cast<mlir::AffineConstantExpr>(rhs).getValue();
  if (e.getKind() == mlir::AffineExprKind::FloorDiv) return lhs.floorDiv(number);
  return e.getKind() == mlir::AffineExprKind::Mod ? lhs % number : Scale(lhs, number);
}

using ShortestFormTest = ExprFixture;

TEST_F(ShortestFormTest, TermsThatNeverCarryLeaveADivision) {
  const std::vector<Interval> box = {Interval::Closed(0, 9), Interval::Closed(-3, 4)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 55).floorDiv(50)), "(d0 * 13 + 26) floordiv 25");
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 5) % 50 - D(1)), simplified((D(0) * 26 + 2) % 50 + 3));
}

// All floors and mods of a*d0 + b*d1 + c by m, of which no other form is known here: the values tell.
TEST_F(ShortestFormTest, DivisionsOfTwoVariablesOfFewValuesKeepTheirValues) {
  int shorter = 0;
  for (const auto& box : {std::vector<Interval>{Interval::Closed(0, 2), Interval::Closed(-1, 1)},
                          std::vector<Interval>{Interval::Closed(-2, 3), Interval::Closed(0, 1)}}) {
    for (int64_t m = 2; m <= 13; ++m) {
      for (int64_t a = -m; a <= m; ++a) {
        for (int64_t b = 1 - m; b <= m; b += ChosenEffort().one_of) {
          for (int64_t c = 0; c < m; ++c) {
            const AffineExpr y = D(0) * a + D(1) * b + c;
            for (const AffineExpr e : {y.floorDiv(m), y % m, y.floorDiv(m) % 3}) {
              const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
              ForEachPoint(box, [&](const std::vector<int64_t>& point) {
                ASSERT_EQ(Value(form, point, {}), Value(e, point, {}))
                    << ToString(e) << " is " << ToString(form);
              });
              shorter += SizeOf(form) < SizeOf(e) ? 1 : 0;
              ASSERT_LE(SizeOf(form).nodes, SizeOf(e).nodes) << ToString(e);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(shorter, Cases(10000));
}

// In products that are multiplied out constants may be greater than those of both factors. A form that
// depends on fewer variables may be longer.
TEST_F(ShortestFormTest, IsNeverLongerThanWhatItWasGiven) {
  RandomExpr random(&context_, 7);
  for (int i = 0; i < Cases(100000); ++i) {
    const int num_dims = static_cast<int>(random.Int(1, 3));
    std::vector<Interval> box = random.Box(num_dims, 60);
    // A variable of one value is replaced by it, which may be a great constant.
    for (Interval& interval : box)
      interval = Interval::Closed(interval.lower(), interval.upper() + 1);
    const AffineExpr e = random.Expr(num_dims, static_cast<int>(random.Int(0, 3)));
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    bool has_all_variables = true;
    for (int dim = 0; dim < num_dims; ++dim) {
      if (e.isFunctionOfDim(dim) && !form.isFunctionOfDim(dim)) has_all_variables = false;
    }
    if (!has_all_variables) continue;
    const ExprSize given = std::max(SizeOf(e), SizeOf(WithProductsMultipliedOut(e)));
    const ExprSize size = SizeOf(form);
    ASSERT_LE(std::pair(size.divisions, size.nodes), std::pair(given.divisions, given.nodes))
        << ToString(e) << " is " << ToString(form);
  }
}

// With Z = z0*d0 + z1*d1 + c (affine/spelling/spelling.h).
TEST_F(ShortestFormTest, SpellingsOfOneDivisionAreOneForm) {
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
        EXPECT_EQ(simplified(5 - (z * 6 - D(1) * 5 - 1) % 6), "(d1 * 5) mod 6");
      }
    }
  }
}

// In the dividend of floor(Y/3) mod 3 all numbers count modulo 9, 5 like -4.
TEST_F(ShortestFormTest, NumbersInAFloorOfAModAreTheSmallerOfTwoResidues) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(-60, 60)};
  for (const int64_t multiple : {-18, -9, 0, 9, 18}) {
    const AffineExpr e = (D(0) * 2 + D(1) * (5 + multiple) + 1 - multiple).floorDiv(3) % 3;
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)),
              "((d0 * 2 - d1 * 4 + 1) floordiv 3) mod 3");
  }
}

// -10*((d0 * 2) mod 3) = -5*((d0 * 4) mod 6), and -8*(Y mod 3) - 4 = -4*((2*Y + 1) mod 6). The greatest
// constants are 10 and 6, and 8 and 6.
TEST_F(ShortestFormTest, APartOfAFactorGoesIntoAModWhereNumbersBecomeSmaller) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified(((D(0) * 2) % 3) * -10), "((d0 * 4) mod 6) * -5");
  EXPECT_EQ(simplified(((D(0) * 2 + 1) % 3) * -8 - 4), "((d0 * 4 + 3) mod 6) * -4");
  // -4*((2*Y + 1) mod 3) - 2 is -2*((4*Y + 3) mod 6), which other spellings of it become.
  for (const AffineExpr e :
       {((D(0) * 2 + 1) % 3) * -4 - 2, ((D(0) * -8 - 9) % 6) * -2, ((D(0) + 1) % 3) * 4 - 10}) {
    EXPECT_EQ(simplified(e), "((d0 * 4 + 3) mod 6) * -2");
  }
}

// 2 goes into one of two mods: (d0 * 2) mod 10 has as many nodes as (d0 mod 5) * 2, and a greater number.
TEST_F(ShortestFormTest, AFactorGoesIntoThoseModsThatBecomeShorter) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(-60, 60)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified((D(0) % 5) * 2 + ((D(1) * 2) % 3) * 2), "(d0 mod 5) * 2 + (d1 * 4) mod 6");
  EXPECT_EQ(simplified((((D(0) % 5) * 2) % 3) * 2), "((d0 mod 5) * 4) mod 6");
}

// All k*((a*d0 + c) mod m) + b with small parameters and b between -k and k: equal ones have one form, and none
// is longer than what it was made of.
TEST_F(ShortestFormTest, EqualModsWithAConstantBesideThemHaveOneForm) {
  const std::vector<Interval> box = {Interval::Closed(-7, 40)};
  std::map<std::vector<int64_t>, std::string> forms;
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e) {
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    std::vector<int64_t> values;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      values.push_back(static_cast<int64_t>(Value(e, point, {})));
      ASSERT_EQ(static_cast<int64_t>(Value(form, point, {})), values.back()) << ToString(e);
    });
    EXPECT_LE(SizeOf(form), SizeOf(WithProductsMultipliedOut(e))) << ToString(e);
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

// All sums of two divisions of x with small parameters, where x is a variable or d0 + d1 * 2 and has six values:
// they keep their values, and become no longer.
TEST_F(ShortestFormTest, SumsOfTwoDivisionsOnFewValuesKeepTheirValues) {
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e, const std::vector<Interval>& box) {
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      ASSERT_EQ(static_cast<int64_t>(Value(form, point, {})),
                static_cast<int64_t>(Value(e, point, {})))
          << ToString(e) << " became " << ToString(form);
    });
    EXPECT_LE(SizeOf(form), SizeOf(WithProductsMultipliedOut(e)))
        << ToString(e) << " became " << ToString(form);
  };
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

}  // namespace
}  // namespace xla_indexing::internal
