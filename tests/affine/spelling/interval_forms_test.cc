// Functions of a variable of few values, which are told by these: affine/spelling/interval_forms.cc.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class IntervalFormsTest : public ExprFixture {
 protected:
  std::string Simplified(AffineExpr e, int64_t lower, int64_t upper) {
    const std::vector<Interval> box = {Interval::Closed(lower, upper)};
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  }

  // All e*d0 + k*((a*d0 + c) op m) with small parameters, or some of them where there is less time.
  std::vector<AffineExpr> ExpressionsOfOneDivision() {
    std::vector<AffineExpr> exprs;
    int made = 0;
    const auto add = [&](int64_t e, int64_t k, AffineExpr division) {
      if (made++ % kOneCaseOf == 0) exprs.push_back(Add(Scale(D(0), e), Scale(division, k)));
    };
    for (int64_t m = 2; m <= 7; ++m) {
      for (int64_t a = -2; a <= 3; ++a) {
        for (int64_t c = 0; c < m && a != 0; ++c) {
          const AffineExpr dividend = Add(Scale(D(0), a), Constant(c, &context_));
          for (int64_t k = -6; k <= 6; ++k) {
            for (int64_t e = -2; e <= 2 && k != 0; ++e) {
              add(e, k, FloorDiv(dividend, m));
              add(e, k, Mod(dividend, m));
            }
          }
        }
      }
    }
    return exprs;
  }
};

// Grouped by their values on an interval.
TEST_F(IntervalFormsTest, EqualExpressionsOfOneDivisionHaveOneFormThatNoneIsShorterThan) {
  struct Class {
    AffineExpr shortest;
    AffineExpr form;
  };
  const std::vector<AffineExpr> exprs = ExpressionsOfOneDivision();
  for (const auto& interval :
       {Interval::Closed(-1, 1), Interval::Closed(2, 4), Interval::Closed(10, 13),
        Interval::Closed(-2, 3), Interval::Closed(-3, 4), Interval::Closed(0, 9),
        Interval::Closed(-4, 19)}) {
    const std::vector<Interval> box = {interval};
    std::map<std::vector<int64_t>, Class> classes;
    for (const AffineExpr e : exprs) {
      std::vector<int64_t> values;
      for (int64_t x = interval.lower(); x <= interval.upper(); ++x) {
        values.push_back(static_cast<int64_t>(Value(e, {x}, {})));
      }
      const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
      ASSERT_EQ(ExprSimplifier(&context_, box, {}).Simplify(form), form) << ToString(e);
      Class& of_values = classes.try_emplace(values, Class{e, form}).first->second;
      ASSERT_EQ(of_values.form, form)
          << ToString(of_values.form) << " and " << ToString(form) << " for " << ToString(e);
      if (SizeOf(e) < SizeOf(of_values.shortest)) of_values.shortest = e;
    }
    for (const auto& [values, of_values] : classes) {
      ASSERT_LE(SizeOf(of_values.form), SizeOf(of_values.shortest))
          << ToString(of_values.form) << " and " << ToString(of_values.shortest);
    }
  }
}

// On [-3, 4] d0 floordiv 5 is -1 below 0, and 0 from there on, as d0 floordiv 8 is, so that 5 times it
// is d0 - d0 mod 5 where d0 is in [-3, 4]. Of -1 and its residue 4 the one without a minus is written.
TEST_F(IntervalFormsTest, AModTakesThePlaceOfAFloorOfFewValues) {
  EXPECT_EQ(Simplified(D(0).floorDiv(8) * 5 - D(0), -3, 4), "-(d0 mod 5)");
  EXPECT_EQ(Simplified(D(0) * 3 - (-D(0)).floorDiv(6) * 5, -3, 4), "d0 * 4 + (d0 * 4) mod 5");
}

// On [-3, 4] d0 floordiv 12 is -1 below 0, and 0 from there on, as (d0 floordiv 2) floordiv 5 is.
TEST_F(IntervalFormsTest, FunctionsOfADivisionOfFewValuesAreFound) {
  EXPECT_EQ(Simplified(D(0).floorDiv(2) - D(0).floorDiv(12) * 5, -3, 4), "(d0 floordiv 2) mod 5");
  EXPECT_EQ(Simplified((D(0) + D(0).floorDiv(8)) % 2, -3, 4), "(d0 mod 5) mod 2");
  EXPECT_EQ(Simplified((((D(0) * 3).floorDiv(11)) % 2) * 4, 0, 9), "((d0 floordiv 4) mod 2) * 4");
}

// d1 - d0 is in [-12, 4], where 7*L + 24 and L + 3 have multiples of 32 and of 5 at the same places.
TEST_F(IntervalFormsTest, ASumOfFewValuesIsLikeAVariable) {
  const std::vector<Interval> box = {Interval::Closed(0, 9), Interval::Closed(-3, 4)};
  const AffineExpr e = (D(1) * 7 - D(0) * 7 + 24).floorDiv(32);
  EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)), "(-d0 + d1 + 3) floordiv 5");
}

// A variable has 48 values in [-7, 40].
TEST_F(IntervalFormsTest, DivisionsInDivisionsThatAreOneFloorAreFoundForManyValues) {
  EXPECT_EQ(
      Simplified(D(0) + (((D(0) * -17).floorDiv(10)) * -3 - D(0) * 5).floorDiv(10) * 6, -7, 40),
      "d0");
}

}  // namespace
}  // namespace xla_indexing::internal
