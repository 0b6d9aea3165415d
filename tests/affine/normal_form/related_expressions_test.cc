// Expressions that are made of one another, as those of fusions are: sums, floors and mods of
// earlier ones. What one knows of the other, digits of one number above all, is what most rules
// are about, and seldom comes up where expressions are drawn one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// An expression and its value at each point of a box, by definition.
struct Tabulated {
  AffineExpr expr;
  std::vector<int64_t> values;
};

class RelatedExpressions {
 public:
  RelatedExpressions(mlir::MLIRContext* context, uint64_t seed)
      : context_(context), random_(context, seed) {}

  // A box of one to three dimensions.
  const std::vector<Interval>& box() const { return box_; }
  const std::vector<std::vector<int64_t>>& points() const { return points_; }

  // Expressions over a new box, its dimensions first.
  std::vector<Tabulated> Make() {
    MakeBox();
    std::vector<Tabulated> pool;
    for (size_t i = 0; i < box_.size(); ++i) {
      Tabulated dim{mlir::getAffineDimExpr(static_cast<unsigned>(i), context_), {}};
      for (const std::vector<int64_t>& point : points_) dim.values.push_back(point[i]);
      pool.push_back(dim);
    }
    for (int64_t steps = random_.Int(2, 7); steps > 0; --steps) {
      const Tabulated sum = Sum(pool);
      const int64_t m = OneOf({2, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 9, 10, 12, 15, 24});
      const Tabulated quotient = Divided(sum, m, FloorDiv(sum.expr, m), &internal::FloorDiv);
      const Tabulated remainder = Divided(sum, m, Mod(sum.expr, m), &FloorMod);
      const int64_t kind = random_.Int(0, 9);
      if (kind < 4) {
        pool.push_back(quotient);
      } else if (kind < 8) {
        pool.push_back(remainder);
      } else {  // the digits in another order, or the last one reversed
        pool.push_back(kind == 8 ? Added(quotient, remainder, random_.Int(1, 12))
                                 : Added(Added(Zero(), quotient, m), remainder, -1));
      }
    }
    pool.push_back(Sum(pool));
    pool.push_back(Sum(pool));
    return pool;
  }

 private:
  int64_t OneOf(const std::vector<int64_t>& numbers) {
    return numbers[static_cast<size_t>(random_.Int(0, static_cast<int64_t>(numbers.size()) - 1))];
  }

  void MakeBox() {
    const int64_t dims = random_.Int(1, 3);
    const int64_t most = dims == 1 ? 40 : dims == 2 ? 12 : 6;
    box_.clear();
    for (int64_t i = 0; i < dims; ++i) {
      const int64_t least = random_.Int(0, 2) == 0 ? random_.Int(-6, 4) : 0;
      box_.push_back(Interval::Closed(least, least + random_.Int(1, most - 1)));
    }
    points_.clear();
    ForEachPoint(box_, [&](const std::vector<int64_t>& point) { points_.push_back(point); });
  }

  Tabulated Zero() const {
    return {Constant(0, context_), std::vector<int64_t>(points_.size(), 0)};
  }

  static Tabulated Added(Tabulated sum, const Tabulated& term, int64_t factor) {
    sum.expr = Add(sum.expr, Scale(term.expr, factor));
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += factor * term.values[i];
    return sum;
  }

  static Tabulated Divided(const Tabulated& sum, int64_t m, AffineExpr expr,
                           int64_t (*divide)(int64_t, int64_t)) {
    Tabulated divided{expr, sum.values};
    for (int64_t& value : divided.values) value = divide(value, m);
    return divided;
  }

  // A sum of up to three expressions, the last ones more often than others, and a constant.
  Tabulated Sum(const std::vector<Tabulated>& pool) {
    Tabulated sum = Zero();
    const int64_t constant = random_.Int(0, 1) == 0 ? random_.Int(-12, 12) : 0;
    sum.expr = Constant(constant, context_);
    for (int64_t& value : sum.values) value = constant;
    const auto last = static_cast<int64_t>(pool.size()) - 1;
    for (int64_t terms = random_.Int(1, 3); terms > 0; --terms) {
      const int64_t first = random_.Int(0, 1) == 0 ? 0 : std::max<int64_t>(0, last - 2);
      const Tabulated& term = pool[static_cast<size_t>(random_.Int(first, last))];
      sum = Added(sum, term, OneOf({1, 1, 1, 1, -1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 8, 12}));
    }
    return sum;
  }

  mlir::MLIRContext* context_;
  RandomExpr random_;
  std::vector<Interval> box_;
  std::vector<std::vector<int64_t>> points_;
};

TEST(RelatedExpressionsTest, ValuesRangesAndResiduesAreRight) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  RelatedExpressions expressions(&context, 20261122);
  int64_t changed = 0;
  for (int i = 0; i < Cases(24000); ++i) {
    const std::vector<Tabulated> pool = expressions.Make();
    ExprSimplifier simplifier(&context, expressions.box(), {});
    for (const Tabulated& known : pool) {
      const AffineExpr simplified = simplifier.Simplify(known.expr);
      const Interval range = simplifier.Range(known.expr);
      const Congruence residues = simplifier.Residues(known.expr);
      changed += simplified != known.expr ? 1 : 0;
      for (size_t p = 0; p < known.values.size(); ++p) {
        const int64_t value = known.values[p];
        ASSERT_EQ(static_cast<int64_t>(Value(simplified, expressions.points()[p], {})), value)
            << ToString(known.expr) << " became " << ToString(simplified);
        ASSERT_TRUE(range.Contains(value))
            << ToString(known.expr) << " leaves " << range.ToString();
        ASSERT_TRUE(residues.Contains(value))
            << ToString(known.expr) << " leaves " << residues.ToString();
      }
    }
  }
  EXPECT_GT(changed, Cases(50000));
}

}  // namespace
}  // namespace xla_indexing::internal
