// Unions of positions, against the sets of points where they lead somewhere.
#include "xla_indexing/fusion/position_union.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "xla_indexing/affine/positional.h"
#include "xla_indexing/base/congruence.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {
namespace {

constexpr int64_t kSizes[] = {4, 3};

using Points = std::set<std::pair<int64_t, int64_t>>;

class PositionUnionTest : public ::testing::Test {
 protected:
  PositionUnionTest() {
    for (const int64_t size : kSizes) variables_.push_back(algebra_.AddVariable(size));
  }

  Restriction On(int variable, Interval interval, Congruence residues = Congruence::All()) const {
    return {variables_[static_cast<size_t>(variable)], interval, residues};
  }

  // Positions with up to one restriction on each variable, intervals and residues of all kinds.
  std::vector<Position> AllPositions() {
    std::vector<std::vector<Restriction>> of_variable(2);
    for (int variable = 0; variable < 2; ++variable) {
      for (int64_t low = 0; low < kSizes[variable]; ++low) {
        for (int64_t high = low; high < kSizes[variable]; ++high) {
          if (high - low + 1 == kSizes[variable]) continue;
          of_variable[static_cast<size_t>(variable)].push_back(
              On(variable, Interval::Closed(low, high)));
        }
      }
      for (int64_t residue = 0; residue < 2; ++residue) {
        of_variable[static_cast<size_t>(variable)].push_back(
            On(variable, Interval::All(), Congruence::Of(residue, 2)));
      }
    }
    std::vector<Position> positions(1);
    for (const auto& first : of_variable[0]) {
      positions.emplace_back().restrictions = {first};
      for (const auto& second : of_variable[1]) {
        positions.emplace_back().restrictions = {first, second};
        positions.emplace_back().restrictions = {second, first};
      }
    }
    for (Position& position : positions) {
      position.indices.assign(variables_.begin(), variables_.end());
    }
    return positions;
  }

  Points PointsOf(const Position& position) const {
    Points points;
    for (int64_t x = 0; x < kSizes[0]; ++x) {
      for (int64_t y = 0; y < kSizes[1]; ++y) {
        const bool is_in = std::all_of(
            position.restrictions.begin(), position.restrictions.end(), [&](const auto& each) {
              const int64_t value = each.index == variables_[0] ? x : y;
              return each.interval.Contains(value) && each.residues.Contains(value);
            });
        if (is_in) points.insert({x, y});
      }
    }
    return points;
  }

  PositionalAlgebra algebra_;
  std::vector<Number> variables_;
};

TEST_F(PositionUnionTest, OfAllPairsIsThatOfTheirPoints) {
  const std::vector<Position> positions = AllPositions();
  int united = 0, contained = 0;
  for (const Position& a : positions) {
    const Points of_a = PointsOf(a);
    for (const Position& b : positions) {
      const Points of_b = PointsOf(b);
      if (Contains(a, b)) {
        EXPECT_TRUE(std::includes(of_a.begin(), of_a.end(), of_b.begin(), of_b.end()));
        ++contained;
      }
      const std::optional<Position> both = UnionOf(a, b, algebra_);
      if (!both) continue;
      ++united;
      Points of_both;
      std::set_union(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                     std::inserter(of_both, of_both.end()));
      EXPECT_EQ(PointsOf(*both), of_both);
      EXPECT_EQ(both->indices, a.indices);
    }
  }
  EXPECT_GT(contained, 0);
  EXPECT_GT(united, 0);
}

TEST_F(PositionUnionTest, IntervalsThatTouchBecomeOneAndAWholeOneVanishes) {
  Position low, middle, high;
  low.restrictions = {On(0, Interval::Closed(0, 1))};
  middle.restrictions = {On(0, Interval::Closed(2, 2))};
  high.restrictions = {On(0, Interval::Closed(3, 3))};
  EXPECT_FALSE(UnionOf(low, high, algebra_).has_value());
  const std::optional<Position> most = UnionOf(low, middle, algebra_);
  ASSERT_TRUE(most.has_value());
  EXPECT_EQ(most->restrictions[0].interval, Interval::Closed(0, 2));
  const std::optional<Position> all = UnionOf(high, *most, algebra_);
  ASSERT_TRUE(all.has_value());
  EXPECT_TRUE(all->restrictions.empty());
}

TEST_F(PositionUnionTest, BoxesThatDifferInTwoNumbersStayApart) {
  Position a, b;
  a.restrictions = {On(0, Interval::Closed(0, 1)), On(1, Interval::Closed(0, 0))};
  b.restrictions = {On(0, Interval::Closed(1, 2)), On(1, Interval::Closed(0, 1))};
  EXPECT_FALSE(Contains(a, b));
  EXPECT_FALSE(UnionOf(a, b, algebra_).has_value());
}

}  // namespace
}  // namespace xla_indexing
