// The normal form of a map as a relation: range variables count only as to whether they have a
// value.
#include <cstdint>
#include <set>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/simplify/joined_relation.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;

class SimplifyAsRelationTest : public MapTextFixture {
 protected:
  void ExpectForm(absl::string_view text, absl::string_view form) {
    IndexingMap map = Parse(text);
    map.Simplify();
    EXPECT_EQ(map.ToString(), form) << text;
  }
};

TEST_F(SimplifyAsRelationTest, EachRuleForRangeVariables) {
  // A value that a constraint gives is put in.
  ExpectForm("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 9], d0 - s0 in [0, 0]",
             "(d0) -> (d0), domain: d0 in [0, 9]");
  // A variable of constraints alone is eliminated.
  ExpectForm("(d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], d0 + s0 in [20, 30]",
             "(d0) -> (d0), domain: d0 in [11, 30]");
  // The odd numbers from 1 to 7 are counted from 0.
  ExpectForm(
      "(d0)[s0] -> (d0 + s0 floordiv 2), domain: d0 in [0, 9], s0 in [1, 7], "
      "s0 mod 2 in [1, 1]",
      "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3]");
  // The digits of one number become it.
  ExpectForm(
      "(d0)[s0, s1] -> (d0 + s0 * 4 + s1), domain: d0 in [0, 9], s0 in [0, 7], "
      "s1 in [0, 3]",
      "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 31]");
  // A variable in nothing goes, and the others are numbered in the order of their use.
  ExpectForm(
      "(d0)[s0, s1, s2] -> (s2, d0, s0), domain: d0 in [0, 9], s0 in [0, 1], s1 in [0, 7], "
      "s2 in [0, 2]",
      "(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 9], s0 in [0, 2], s1 in [0, 1]");
}

TEST_F(SimplifyAsRelationTest, OneRuleUsesTheResultOfAnother) {
  // Some s1 in [0, 1] with (s0 + 2*s1) mod 4 = 1: s0 is odd, and its odd values are counted.
  ExpectForm(
      "(d0)[s0, s1] -> (d0 + s0 * 5), domain: d0 in [0, 2], s0 in [0, 8], s1 in [0, 1], "
      "(s0 + s1 * 2) mod 4 in [1, 1]",
      "(d0)[s0] -> (d0 + s0 * 10 + 5), domain: d0 in [0, 2], s0 in [0, 3]");
}

TEST_F(SimplifyAsRelationTest, RuntimeVariablesStay) {
  ExpectForm(
      "(d0)[s0]{rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 9], s0 in [0, 1], rt0 in [0, 3], "
      "rt1 in [0, 4]",
      "(d0){rt0, rt1} -> (d0 + rt1), domain: d0 in [0, 9], rt0 in [0, 3], rt1 in [0, 4]");
  ExpectForm(
      "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 1], rt0 in [0, 3], "
      "s0 in [2, 3]",
      "KNOWN EMPTY (d0){rt0} -> 1 results");
}

// Sums of variables and digits of one variable are told from all others without a simplifier. Over
// all small ones the form is what a simplifier makes of them.
TEST_F(SimplifyAsRelationTest, SumsAndDigitsHaveTheFormOfTheSimplifier) {
  int64_t as_they_were = 0;
  const auto check = [&](AffineExpr expr, const Interval& d0, const Interval& d1) {
    IndexingMap map(kPartsFit, mlir::AffineMap::get(2, 0, {expr}, &context_), {{d0, {}}, {d1, {}}},
                    {}, {});
    map.Simplify();
    internal::ExprSimplifier simplifier(&context_, {d0, d1}, {});
    ASSERT_EQ(map.results()[0], simplifier.Simplify(expr)) << map.ToString();
    as_they_were += map.results()[0] == expr ? 1 : 0;
  };
  const AffineExpr d0 = mlir::getAffineDimExpr(0, &context_);
  const AffineExpr d1 = mlir::getAffineDimExpr(1, &context_);
  for (const int64_t first : {-1, 0, 1}) {
    for (int64_t last = first; last < first + 14; ++last) {
      const Interval bounds = Interval::Closed(first, last);
      for (int64_t divisor = 1; divisor <= 6; ++divisor) {
        const AffineExpr high = d0.floorDiv(divisor);
        check(high, bounds, Interval::OfSize(2));
        check(d0 % divisor, bounds, Interval::OfSize(2));
        for (int64_t modulus = 1; modulus <= 6; ++modulus) {
          check(high % modulus, bounds, Interval::OfSize(2));
        }
      }
    }
  }
  EXPECT_GT(as_they_were, 500);
  as_they_were = 0;
  for (int64_t size0 = 1; size0 <= 3; ++size0) {
    for (int64_t size1 = 1; size1 <= 3; ++size1) {
      for (int64_t factor0 = -2; factor0 <= 2; ++factor0) {
        for (int64_t factor1 = -2; factor1 <= 2; ++factor1) {
          for (const int64_t constant : {-3, 0, 4}) {
            // In this order and in the other one, and a sum times a number.
            const Interval bounds0 = Interval::OfSize(size0).Add(5);
            const Interval bounds1 = Interval::OfSize(size1);
            check(d0 * factor0 + d1 * factor1 + constant, bounds0, bounds1);
            check(d1 * factor1 + d0 * factor0 + constant, bounds0, bounds1);
            check((d1 + d0 * factor0) * factor1 + constant, bounds0, bounds1);
          }
        }
      }
    }
  }
  EXPECT_GT(as_they_were, 100);
}

// What is left out where ranges are results by themselves would change nothing: over all maps of two
// results, two range variables and a dimension.
TEST_F(SimplifyAsRelationTest, RangesThatAreResultsNeedNoRules) {
  const AffineExpr d0 = mlir::getAffineDimExpr(0, &context_);
  const AffineExpr s0 = mlir::getAffineSymbolExpr(0, &context_);
  const AffineExpr s1 = mlir::getAffineSymbolExpr(1, &context_);
  const AffineExpr exprs[] = {d0,      s0,          s1,
                              d0 + s0, s0 * 2 + s1, s1.floorDiv(2),
                              s0 * 2,  d0 % 2,      mlir::getAffineConstantExpr(3, &context_)};
  for (const AffineExpr first : exprs) {
    for (const AffineExpr second : exprs) {
      for (int64_t size0 = 0; size0 <= 3; ++size0) {
        for (int64_t size1 = 0; size1 <= 3; ++size1) {
          for (const int64_t dim_size : {1, 4}) {
            IndexingMap map(kPartsFit, mlir::AffineMap::get(1, 2, {first, second}, &context_),
                            {{Interval::OfSize(dim_size), {}}},
                            {{Interval::OfSize(size0), {}}, {Interval::OfSize(size1), {}}}, {});
            internal::JoinedRelation relation(map);
            relation.Simplify();
            map.Simplify();
            if (relation.map().IsKnownEmpty()) {
              EXPECT_TRUE(map.IsKnownEmpty()) << map.ToString();
            } else {
              EXPECT_EQ(map, relation.map()) << map.ToString() << relation.map().ToString();
            }
          }
        }
      }
    }
  }
}

TEST_F(SimplifyAsRelationTest, IsTheSameRelation) {
  for (int seed = 0; seed < Cases(8000); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const IndexingMap map = SmallMaps(static_cast<uint32_t>(seed), &context).Map();
    IndexingMap form = map;
    form.Simplify();
    ASSERT_TRUE(form.Verify().ok()) << map.ToString();
    ASSERT_EQ(form.num_runtimes(), map.num_runtimes()) << map.ToString();
    ASSERT_EQ(RelationPoints(form), RelationPoints(map)) << map.ToString() << "\n"
                                                         << form.ToString();
  }
}

// Range variables are numbered by the form in which they are used, and the form of a sum depends on
// the numbers of its variables, so a map whose variables get other numbers is looked at again.
TEST_F(SimplifyAsRelationTest, TwiceIsOnce) {
  const int count = Cases(8000);
  int changed = 0;
  for (int seed = 0; seed < count; ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    IndexingMap once = SmallMaps(static_cast<uint32_t>(seed), &context).Map();
    once.Simplify();
    IndexingMap twice = once;
    twice.Simplify();
    changed += twice != once ? 1 : 0;
  }
  EXPECT_EQ(changed, 0);
}

TEST_F(SimplifyAsRelationTest, WithoutRangeVariablesIsTheFormOfTheFunction) {
  int without_ranges = 0;
  for (int seed = 0; seed < Cases(8000); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const IndexingMap map = RandomMaps(static_cast<uint32_t>(seed), &context).Map();
    if (map.num_ranges() > 0) continue;
    ++without_ranges;
    IndexingMap function = map;
    function.Simplify({.keep_variables = true});
    IndexingMap relation = map;
    relation.Simplify();
    ASSERT_EQ(relation, function) << map.ToString();
  }
  EXPECT_GT(without_ranges, Cases(1000));
}

}  // namespace
}  // namespace xla_indexing
