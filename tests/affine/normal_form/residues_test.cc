// Residue classes of expressions, and what facts do to the normal form.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class ResiduesTest : public ExprFixture {
 protected:
  // Both dimensions are in [0, 99], and d0 is in the class.
  std::string Simplified(AffineExpr e, const Congruence& residues) {
    ExprSimplifier simplifier(&context_, {Interval::OfSize(100), Interval::OfSize(100)}, {});
    simplifier.Assume(LinearSum::Of(D(0)), residues);
    return ToString(simplifier.Simplify(e));
  }
  Congruence Residues(AffineExpr e, const Congruence& of_d0) {
    ExprSimplifier simplifier(&context_, {Interval::OfSize(100), Interval::OfSize(100)}, {});
    simplifier.Assume(LinearSum::Of(D(0)), of_d0);
    return simplifier.Residues(e);
  }
};

TEST_F(ResiduesTest, ComeFromCoefficientsAndFacts) {
  EXPECT_EQ(Residues(D(0) * 6 + D(1) * 4 + 3, Congruence::All()), Congruence::Of(1, 2));
  EXPECT_EQ(Residues(D(0) * 3, Congruence::Of(1, 4)), Congruence::Of(3, 12));
  EXPECT_EQ(Residues(D(0) + D(1) * 8, Congruence::Of(3, 4)), Congruence::Of(3, 4));
  EXPECT_EQ(Residues(D(0).floorDiv(2), Congruence::Of(3, 4)), Congruence::Of(1, 2));
  EXPECT_EQ(Residues((D(0) + D(1)) % 6, Congruence::Of(3, 4)), Congruence::All());
  EXPECT_EQ(Residues(D(0) % 6, Congruence::Of(3, 4)), Congruence::Of(1, 2));
}

TEST_F(ResiduesTest, AModOfAKnownResidueIsANumber) {
  EXPECT_EQ(Simplified(D(0) % 2, Congruence::Of(3, 4)), "1");
  EXPECT_EQ(Simplified((D(0) + D(1) * 4) % 4, Congruence::Of(3, 4)), "3");
  EXPECT_EQ(Simplified((D(0) * 3 + 1) % 12, Congruence::Of(1, 4)), "4");
}

TEST_F(ResiduesTest, DivisionsWithoutRemainderCancel) {
  EXPECT_EQ(Simplified(D(0).floorDiv(2) * 2, Congruence::Of(0, 2)), "d0");
  EXPECT_EQ(Simplified(D(0).floorDiv(4) * 8, Congruence::Of(1, 4)), "d0 * 2 - 2");
  EXPECT_EQ(Simplified(D(0).floorDiv(2), Congruence::Of(0, 2)), "d0 floordiv 2");
}

// d0 = 2 * (d0 floordiv 2), so that there is a way without the variable beside its floor.
TEST_F(ResiduesTest, SumsHaveTheFewestSummandsThatResiduesAllow) {
  EXPECT_EQ(Simplified((D(0) * 5).floorDiv(2), Congruence::Of(0, 2)), "(d0 floordiv 2) * 5");
  EXPECT_EQ(Simplified(D(0) * 7 + D(0).floorDiv(2), Congruence::Of(0, 2)), "(d0 floordiv 2) * 15");
}

// d0 is 0 or 2, so that (d0 + 1) mod 3 is 1 or 0.
TEST_F(ResiduesTest, TheResidueLeavesTheDividend) {
  EXPECT_EQ(Simplified((D(0) + 1).floorDiv(2), Congruence::Of(0, 2)), "d0 floordiv 2");
  EXPECT_EQ(Simplified((D(0) + 1).floorDiv(2), Congruence::Of(1, 2)), "d0 floordiv 2 + 1");
  EXPECT_EQ(Simplified((D(0) + 2).floorDiv(6), Congruence::Of(2, 3)), "(d0 + 1) floordiv 6");
}

// Every rule at once, at every point at which the fact holds.
TEST_F(ResiduesTest, NormalFormsAreEqualWhereTheFactsHold) {
  RandomExpr random(&context_, /*seed=*/7);
  int with_points = 0;
  for (int i = 0; i < Cases(8000); ++i) {
    const std::vector<Interval> box = random.Box(3, 7);
    const AffineExpr expr = random.Expr(3, 2);
    ExprSimplifier simplifier(&context_, box, {});
    struct Fact {
      AffineExpr sum;
      Congruence residues;
    };
    std::vector<Fact> facts;
    for (int64_t k = random.Int(1, 2); k > 0; --k) {
      AffineExpr sum = D(random.Int(0, 2)) * random.Int(1, 3);
      if (random.Int(0, 2) == 0) sum = sum + D(random.Int(0, 2)) * random.Int(-3, 3);
      if (random.Int(0, 4) == 0) sum = sum + D(random.Int(0, 2)).floorDiv(random.Int(2, 4));
      facts.push_back({sum, Congruence::Of(random.Int(0, 11), random.Int(2, 12))});
      QuasiAffineSum digits = simplifier.Evaluate(sum);
      if (!digits.IsConstant())
        simplifier.Assume(LinearSum::FromExpr(simplifier.ToExpr(digits)), facts.back().residues);
    }
    const AffineExpr simplified = simplifier.Simplify(expr);
    const Congruence residues = simplifier.Residues(expr);
    const Interval range = simplifier.Range(expr);
    bool any = false;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      for (const Fact& fact : facts) {
        if (!fact.residues.Contains(static_cast<int64_t>(Value(fact.sum, point, {})))) return;
      }
      any = true;
      const int64_t value = static_cast<int64_t>(Value(expr, point, {}));
      ASSERT_EQ(static_cast<int64_t>(Value(simplified, point, {})), value)
          << ToString(expr) << " -> " << ToString(simplified);
      ASSERT_TRUE(residues.Contains(value)) << ToString(expr) << " " << residues.ToString();
      ASSERT_TRUE(range.Contains(value)) << ToString(expr) << " " << range.ToString();
    });
    if (HasFatalFailure()) return;
    with_points += any ? 1 : 0;
  }
  EXPECT_GT(with_points, Cases(2000));
}

TEST_F(ResiduesTest, FactsThatContradictEachOtherChangeNothingElse) {
  ExprSimplifier simplifier(&context_, {Interval::OfSize(100)}, {});
  simplifier.Assume(LinearSum::Of(D(0)), Congruence::Of(0, 2));
  simplifier.Assume(LinearSum::Of(D(0)), Congruence::Of(1, 2));
  EXPECT_TRUE(simplifier.Simplify(D(0).floorDiv(2) * 2 + D(0) % 2));
}

}  // namespace
}  // namespace xla_indexing::internal
