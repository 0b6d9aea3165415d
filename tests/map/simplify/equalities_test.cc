// Equalities make expressions shorter, and give range variables their values.
#include "xla_indexing/map/simplify/equalities.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class EqualitiesTest : public MapTextFixture {
 protected:
  void ExpectForm(absl::string_view text, absl::string_view form, bool keep_variables = false) {
    IndexingMap map = Parse(text);
    map.Simplify({.keep_variables = keep_variables});
    EXPECT_EQ(map.ToString(), form) << text;
  }

  static Variables Boxes(llvm::ArrayRef<Interval> intervals) {
    Variables variables;
    for (const Interval& interval : intervals) variables.push_back({interval, {}});
    return variables;
  }

  // Sums of a multiple of d0, one of d1 and a constant.
  AffineExpr Sum(int64_t a, int64_t b, int64_t c) {
    return Add(Add(Scale(d0_, a), Scale(d1_, b)), Constant(c, &context_));
  }

  AffineExpr d0_ = mlir::getAffineDimExpr(0, &context_);
  AffineExpr d1_ = mlir::getAffineDimExpr(1, &context_);
  AffineExpr s0_ = mlir::getAffineSymbolExpr(0, &context_);
};

TEST_F(EqualitiesTest, ResultsBecomeShorter) {
  const std::string domain = ", domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0]";
  for (const absl::string_view result :
       {"d0", "d1", "d0 * -6 + d1 * 7", "(d0 + d1) floordiv 2", "d0 + (d0 - d1) mod 3"}) {
    ExpectForm(absl::StrCat("(d0, d1) -> (", result, ")", domain),
               absl::StrCat("(d0, d1) -> (d0)", domain));
  }
  // One with an offset, and one of three variables.
  ExpectForm("(d0, d1) -> ((d0 + d1) mod 2), domain: d0 in [0, 6], d1 in [3, 9], d1 - d0 in [3, 3]",
             "(d0, d1) -> (1), domain: d0 in [0, 6], d1 in [3, 9], d0 - d1 in [-3, -3]");
  ExpectForm(
      "(d0, d1, d2) -> (d0 * 2 - d1 * 2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
      "d0 - d1 - d2 in [0, 0]",
      "(d0, d1, d2) -> (d2 * 2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
      "d0 - d1 - d2 in [0, 0]");
  // A runtime variable is a variable like the others.
  ExpectForm("(d0){rt0} -> (rt0 * 2 - d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in [0, 0]",
             "(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in [0, 0]");
}

TEST_F(EqualitiesTest, NoCoefficientNeedsToBeOne) {
  const std::string domain = ", domain: d0 in [0, 12], d1 in [0, 8], d0 * 2 - d1 * 3 in [0, 0]";
  // d0 is a multiple of 3 and d1 of 2, and 4*d0 is 6*d1.
  ExpectForm(absl::StrCat("(d0, d1) -> (d0 * 4 - d1 * 5, d0 mod 3, (d1 + 1) mod 2)", domain),
             absl::StrCat("(d0, d1) -> (d1, 0, 1)", domain));
}

TEST_F(EqualitiesTest, SeveralAreUsedTogether) {
  ExpectForm(
      "(d0, d1, d2, d3) -> (d3 - d0, d3), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
      "d3 in [0, 9], d0 - d1 in [0, 0], d1 - d2 in [0, 0], d2 - d3 in [0, 0]",
      "(d0, d1, d2, d3) -> (0, d0), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
      "d3 in [0, 9], d0 - d1 in [0, 0], d0 - d2 in [0, 0], d0 - d3 in [0, 0]");
  // No single one makes the result shorter: d0 = d1 + 5 = d2 + 11 = d3 + 18.
  ExpectForm(
      "(d0, d1, d2, d3) -> ((d0 - d3) floordiv 4), domain: d0 in [-99, 99], d1 in [-99, 99], "
      "d2 in [-99, 99], d3 in [-99, 99], d0 - d1 in [5, 5], d1 - d2 in [6, 6], d2 - d3 in [7, 7]",
      "(d0, d1, d2, d3) -> (4), domain: d0 in [-81, 99], d1 in [-86, 94], d2 in [-92, 88], "
      "d3 in [-99, 81], d0 - d1 in [5, 5], d0 - d2 in [11, 11], d0 - d3 in [18, 18]");
}

TEST_F(EqualitiesTest, FloorsAndModsAreReplacedToo) {
  const std::string domain = ", domain: d0 in [0, 9], d1 in [0, 39], d0 - d1 floordiv 4 in [0, 0]";
  ExpectForm(absl::StrCat("(d0, d1) -> ((d1 floordiv 4) * 3, d1 mod 4)", domain),
             absl::StrCat("(d0, d1) -> (d0 * 3, d0 * -4 + d1)", domain));
}

TEST_F(EqualitiesTest, OtherConstraintsBecomeShorter) {
  // d0 + d1 is 2*d0.
  ExpectForm(
      "(d0, d1) -> (0), domain: d0 in [0, 9], d1 in [0, 9], d0 - d1 in [0, 0], "
      "d0 + d1 in [3, 9]",
      "(d0, d1) -> (0), domain: d0 in [2, 4], d1 in [2, 4], d0 - d1 in [0, 0]");
  // It follows from the other one that d0 is a multiple of 3.
  ExpectForm(
      "(d0, d1) -> (0), domain: d0 in [0, 12], d1 in [0, 8], d0 * 2 - d1 * 3 in [0, 0], "
      "d0 mod 3 in [0, 0]",
      "(d0, d1) -> (0), domain: d0 in [0, 12], d1 in [0, 8], d0 * 2 - d1 * 3 in [0, 0]");
  ExpectForm(
      "(d0, d1, d2) -> (0), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9], "
      "d0 - d1 in [0, 0], d1 - d0 + d2 in [10, 12]",
      "KNOWN EMPTY (d0, d1, d2) -> 1 results");
}

// a*d0 + b*d1 = k and the sum p*d0 + q*d1 + 1, of factors up to kMostFactor.
struct SumUnderEquality {
  int64_t a;
  int64_t b;
  int64_t k;
  int64_t p;
  int64_t q;
};
constexpr int64_t kMostFactor = 3;

std::vector<SumUnderEquality> SmallSumsUnderEqualities() {
  std::vector<SumUnderEquality> sums;
  const auto add_all = [&](int64_t a, int64_t b) {
    for (int64_t k = -2; k <= 2; ++k) {
      for (int64_t p = -kMostFactor; p <= kMostFactor; ++p) {
        for (int64_t q = -kMostFactor; q <= kMostFactor; ++q) sums.push_back({a, b, k, p, q});
      }
    }
  };
  for (int64_t a = 1; a <= kMostFactor; ++a) {
    for (int64_t b = -kMostFactor; b <= kMostFactor; ++b) {
      if (b != 0 && std::gcd(a, b) == 1) add_all(a, b);
    }
  }
  return sums;
}

// Under a*d0 + b*d1 = k every sum p*d0 + q*d1 is written in the shortest of the ways in which a
// multiple of the equality can be added to it; results keep their values in divisions as well.
TEST_F(EqualitiesTest, SumsAreShortestUnderAllSmallEqualities) {
  int64_t shorter = 0;
  CasesInTurn cases;
  const Variables dims = Boxes({Interval::Closed(-6, 6), Interval::Closed(-7, 5)});
  for (const auto& [a, b, k, p, q] : SmallSumsUnderEqualities()) {
    if (!cases.IsNextTried()) continue;
    const AffineExpr sum = Sum(p, q, 1);
    const IndexingMap map(
        kPartsFit, mlir::AffineMap::get(2, 0, {sum, FloorDiv(sum, 3), Mod(sum, 4)}, &context_),
        dims, {}, {}, {{Sum(a, b, 0), Interval::Point(k)}});
    IndexingMap simplified = map;
    simplified.Simplify();
    const std::string texts = absl::StrCat(map.ToString(), "\n", simplified.ToString());
    ASSERT_EQ(FunctionPoints(simplified), FunctionPoints(map)) << texts;
    IndexingMap twice = simplified;
    ASSERT_FALSE(twice.Simplify()) << texts;
    if (simplified.IsKnownEmpty()) continue;
    ExprSize shortest = SizeOf(sum);
    for (int64_t t = -2 * kMostFactor; t <= 2 * kMostFactor; ++t) {
      shortest = std::min(shortest, SizeOf(Sum(p + t * a, q + t * b, 1 - t * k)));
    }
    ASSERT_LE(SizeOf(simplified.results()[0]), shortest) << texts;
    shorter += SizeOf(simplified.results()[0]) < SizeOf(sum) ? 1 : 0;
    for (int i = 1; i < 3; ++i) {
      ASSERT_LE(SizeOf(simplified.results()[i]), SizeOf(map.results()[i])) << texts;
    }
  }
  EXPECT_GT(shorter, Cases(1000));
}

// Some s0 in [l, u] with a*d0 + c*s0 = k is (k - a*d0)/c where that is an integer.
TEST_F(EqualitiesTest, GiveRangeVariablesTheirValues) {
  for (int64_t a = -3; a <= 3; ++a) {
    for (int64_t c = -4; c <= 4; ++c) {
      for (int64_t k = -3; k <= 3; ++k) {
        if (c == 0) continue;
        const IndexingMap map(kPartsFit,
                              mlir::AffineMap::get(1, 1, {s0_, Add(d0_, Mod(s0_, 2))}, &context_),
                              Boxes({Interval::Closed(-5, 7)}), Boxes({Interval::Closed(-2, 3)}),
                              {}, {{Add(Scale(d0_, a), Scale(s0_, c)), Interval::Point(k)}});
        IndexingMap simplified = map;
        simplified.Simplify();
        ASSERT_EQ(RelationPoints(simplified), RelationPoints(map)) << map.ToString() << "\n"
                                                                   << simplified.ToString();
        IndexingMap twice = simplified;
        ASSERT_FALSE(twice.Simplify()) << map.ToString() << "\n" << simplified.ToString();
        EXPECT_EQ(simplified.num_ranges(), 0) << map.ToString() << "\n" << simplified.ToString();
      }
    }
  }
}

TEST_F(EqualitiesTest, FunctionsKeepTheirVariables) {
  ExpectForm("(d0)[s0] -> (s0), domain: d0 in [0, 8], s0 in [0, 4], d0 * 2 - s0 * 4 in [0, 0]",
             "(d0) -> (d0 floordiv 2), domain: d0 in [0, 8], d0 mod 2 in [0, 0]");
  ExpectForm(
      "(d0)[s0] -> (d0 floordiv 2), domain: d0 in [0, 8], s0 in [0, 4], "
      "d0 * 2 - s0 * 4 in [0, 0]",
      "(d0)[s0] -> (s0), domain: d0 in [0, 8], s0 in [0, 4], d0 - s0 * 2 in [0, 0]",
      /*keep_variables=*/true);
}

}  // namespace
}  // namespace xla_indexing::internal
