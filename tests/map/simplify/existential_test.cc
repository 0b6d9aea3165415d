#include "xla_indexing/map/simplify/existential.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/seed.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

class ExistentialTest : public ::testing::Test {
 protected:
  std::string Eliminated(const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify({.keep_variables = true});
    if (EliminateRangeVariables(&map)) map.Simplify({.keep_variables = true});
    map.RemoveUnusedSymbols();
    return map.ToString();
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(ExistentialTest, WindowsWithoutGapsJoin) {
  EXPECT_EQ(Eliminated("(d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 9], "
                       "d0 + s0 in [20, 30]"),
            "(d0) -> (d0), domain: d0 in [11, 30]");
  EXPECT_EQ(Eliminated("(d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 2], "
                       "d0 - s0 * 3 in [10, 12]"),
            "(d0) -> (d0), domain: d0 in [10, 18]");
}

TEST_F(ExistentialTest, WindowsWithGapsStay) {
  const std::string text =
      "(d0)[s0] -> (d0), domain: d0 in [10, 17], s0 in [0, 2], d0 - s0 * 3 in [10, 11]";
  EXPECT_EQ(Eliminated(text), text);
}

TEST_F(ExistentialTest, AllResiduesOfAVariableLeaveNothing) {
  EXPECT_EQ(Eliminated("(d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 8], "
                       "(d0 + s0 * 2) mod 3 in [1, 1]"),
            "(d0) -> (d0), domain: d0 in [0, 30]");
  // Only the even multiples are taken modulo 6: d0 is odd.
  EXPECT_EQ(Eliminated("(d0)[s0] -> (d0), domain: d0 in [0, 30], s0 in [0, 2], "
                       "(d0 + s0 * 2) mod 6 in [1, 1]"),
            "(d0) -> (d0), domain: d0 in [1, 29], (d0 + 1) mod 2 in [0, 0]");
}

TEST_F(ExistentialTest, GroupsOfTheirOwnWithAPointGo) {
  EXPECT_EQ(Eliminated("(d0)[s0, s1] -> (d0), domain: d0 in [0, 30], s0 in [0, 20], s1 in [0, 20], "
                       "s0 mod 4 in [0, 1], s0 * 2 - s1 in [0, 0], s1 mod 3 in [1, 1]"),
            "(d0) -> (d0), domain: d0 in [0, 30]");
}

TEST_F(ExistentialTest, UsedVariablesStay) {
  const std::string text =
      "(d0)[s0] -> (d0, s0), domain: d0 in [11, 30], s0 in [0, 9], d0 + s0 in [20, 30]";
  EXPECT_EQ(Eliminated(text), text);
}

TEST_F(ExistentialTest, VariablesOfOneResidueClassCountItsElements) {
  const auto rescaled = [&](const std::string& text) {
    IndexingMap map = ParseIndexingMap(text, &context_).value();
    map.Simplify({.keep_variables = true});
    if (RescaleRangeVariables(&map)) map.Simplify({.keep_variables = true});
    return map.ToString();
  };
  EXPECT_EQ(rescaled("(d0)[s0] -> (s0 floordiv 2), domain: d0 in [0, 9], s0 in [0, 8], "
                     "(s0 - 1) mod 2 in [0, 0]"),
            "(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 3]");
  EXPECT_EQ(rescaled("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [-3, 8], s0 mod 4 in [1, 1]"),
            "(d0)[s0] -> (s0 * 4 - 3), domain: d0 in [0, 9], s0 in [0, 2]");
  // Dimensions and runtime variables have values of their own.
  for (const char* text : {"(d0) -> (d0), domain: d0 in [1, 9], (d0 + 1) mod 2 in [0, 0]",
                           "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 8], "
                           "rt0 mod 2 in [0, 0]"}) {
    EXPECT_EQ(rescaled(text), text);
  }
}

// The relation of a map: for each point of dimensions and runtime variables, the results.
std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> PointsOf(const IndexingMap& map) {
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> relation;
  const auto add = [&](auto dims, auto symbols, auto results) {
    std::vector<int64_t> from(dims.begin(), dims.end());
    from.insert(from.end(), symbols.begin() + map.num_ranges(), symbols.end());
    relation.insert({from, std::vector<int64_t>(results.begin(), results.end())});
  };
  EXPECT_TRUE(map.ForEachPoint(1 << 20, add).ok());
  return relation;
}

TEST_F(ExistentialTest, RandomMapsKeepTheirRelation) {
  std::mt19937_64 rng(Seeded(3));
  const auto number = [&](int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(rng);
  };
  int eliminated = 0;
  int rescaled = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    const int num_ranges = static_cast<int>(number(1, 3));
    Variables dims = {{Interval::OfSize(number(1, 7)), {}}};
    Variables runtimes;
    if (number(0, 2) == 0) runtimes.push_back({Interval::OfSize(number(1, 4)), {}});
    Variables ranges;
    for (int r = 0; r < num_ranges; ++r) {
      const int64_t lower = number(-3, 3);
      ranges.push_back({Interval::Closed(lower, lower + number(0, 6)), {}});
    }
    const int num_symbols = num_ranges + static_cast<int>(runtimes.size());
    const auto expr = [&] {
      mlir::AffineExpr sum = mlir::getAffineConstantExpr(number(-2, 2), &context_);
      if (number(0, 1)) sum = sum + mlir::getAffineDimExpr(0, &context_) * number(-3, 3);
      for (int s = 0; s < num_symbols; ++s) {
        mlir::AffineExpr term = mlir::getAffineSymbolExpr(s, &context_);
        if (number(0, 4) == 0) term = term.floorDiv(number(2, 3));
        if (number(0, 1)) sum = sum + term * number(-4, 4);
      }
      return number(0, 2) == 0 ? sum % number(2, 8) : sum;
    };
    Constraints constraints;
    for (int64_t c = number(1, 3); c > 0; --c) {
      const int64_t lower = number(-5, 5);
      constraints.push_back({expr(), Interval::Closed(lower, lower + number(0, 6))});
    }
    if (number(0, 3) == 0) {
      constraints.push_back(
          {mlir::getAffineSymbolExpr(0, &context_) % number(2, 4), Interval::Point(number(0, 1))});
    }
    mlir::AffineExpr result = mlir::getAffineDimExpr(0, &context_);
    if (number(0, 3) == 0) result = result + mlir::getAffineSymbolExpr(0, &context_);
    const mlir::AffineMap affine_map = mlir::AffineMap::get(1, num_symbols, result);
    IndexingMap map(kPartsFit, affine_map, dims, ranges, runtimes, constraints);
    const auto expected = PointsOf(map);
    map.Simplify({.keep_variables = true});
    const std::string before = map.ToString();
    if (EliminateRangeVariables(&map)) {
      ++eliminated;
      ASSERT_TRUE(map.Verify().ok()) << before;
      ASSERT_EQ(PointsOf(map), expected) << before << "\n" << map.ToString();
      map.Simplify({.keep_variables = true});
    }
    if (RescaleRangeVariables(&map)) {
      ++rescaled;
      map.Simplify({.keep_variables = true});
    }
    ASSERT_EQ(PointsOf(map), expected) << before << "\n" << map.ToString();
  }
  EXPECT_GT(eliminated, Cases(1000));
  EXPECT_GT(rescaled, Cases(100));
}

}  // namespace
}  // namespace xla_indexing::internal
