// Unions of positions, against the sets of points where they lead somewhere.
#include "xla_indexing/fusion/chain/position_union.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
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

  // Up to one restriction on each variable, intervals and residues of all kinds.
  std::vector<Restrictions> AllRestrictions() {
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
    std::vector<Restrictions> all(1);
    for (const auto& first : of_variable[0]) {
      all.push_back({first});
      for (const auto& second : of_variable[1]) {
        all.push_back({first, second});
        all.push_back({second, first});
      }
    }
    return all;
  }

  Points PointsOf(const Restrictions& restrictions) const {
    Points points;
    for (int64_t x = 0; x < kSizes[0]; ++x) {
      for (int64_t y = 0; y < kSizes[1]; ++y) {
        const bool is_in =
            std::all_of(restrictions.begin(), restrictions.end(), [&](const Restriction& each) {
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

TEST_F(PositionUnionTest, TheUnionOfTwoPositionsHasTheirPoints) {
  const std::vector<Restrictions> all = AllRestrictions();
  std::map<UnionKind, int> kinds;
  for (const Restrictions& a : all) {
    const Points of_a = PointsOf(a);
    for (const Restrictions& b : all) {
      const Points of_b = PointsOf(b);
      Points of_both = of_a;
      of_both.insert(of_b.begin(), of_b.end());
      Restrictions joined;
      const UnionKind kind = UnionOf(a, b, algebra_, &joined);
      ++kinds[kind];
      if (kind == UnionKind::kNone) continue;
      const bool is_joined = kind == UnionKind::kJoined;
      EXPECT_EQ(is_joined ? PointsOf(joined) : kind == UnionKind::kFirst ? of_a : of_b, of_both);
    }
  }
  EXPECT_EQ(kinds.size(), 4u);
}

TEST_F(PositionUnionTest, IntervalsThatTouchBecomeOneAndAWholeOneVanishes) {
  const Restrictions low = {On(0, Interval::Closed(0, 1))};
  const Restrictions middle = {On(0, Interval::Closed(2, 2))};
  const Restrictions high = {On(0, Interval::Closed(3, 3))};
  Restrictions most, all;
  EXPECT_EQ(UnionOf(low, high, algebra_, &all), UnionKind::kNone);
  ASSERT_EQ(UnionOf(low, middle, algebra_, &most), UnionKind::kJoined);
  EXPECT_EQ(most[0].interval, Interval::Closed(0, 2));
  ASSERT_EQ(UnionOf(high, most, algebra_, &all), UnionKind::kJoined);
  EXPECT_TRUE(all.empty());
}

TEST_F(PositionUnionTest, BoxesThatDifferInTwoNumbersStayApart) {
  const Restrictions a = {On(0, Interval::Closed(0, 1)), On(1, Interval::Closed(0, 0))};
  const Restrictions b = {On(0, Interval::Closed(1, 2)), On(1, Interval::Closed(0, 1))};
  Restrictions joined;
  EXPECT_EQ(UnionOf(a, b, algebra_, &joined), UnionKind::kNone);
}

TEST_F(PositionUnionTest, TheUnionOfEqualPositionsIsTheSecond) {
  const Restrictions a = {On(0, Interval::Closed(0, 1))};
  Restrictions joined;
  EXPECT_EQ(UnionOf(a, a, algebra_, &joined), UnionKind::kSecond);
}

TEST_F(PositionUnionTest, AConstantIsWrittenWithTheOneNumberThatHasOneValue) {
  Position position;
  position.indices = {Number{Digit::Constant(5, 8)}, variables_[1]};
  position.restrictions = {On(0, Interval::Point(3))};
  const std::optional<Indices> written = WithPinnedNumber(position, algebra_);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ((*written)[0], algebra_.Affine(variables_[0], 1, 2, 1, 8));
  EXPECT_EQ((*written)[1], variables_[1]);
}

TEST_F(PositionUnionTest, WithoutOneSuchNumberOrAConstantNothingIsWritten) {
  Position no_point, no_constant, two_points;
  no_point.indices = {Number{Digit::Constant(5, 8)}};
  no_point.restrictions = {On(0, Interval::Closed(2, 3))};
  EXPECT_FALSE(WithPinnedNumber(no_point, algebra_).has_value());
  no_constant.indices = {variables_[1], Number()};
  no_constant.restrictions = {On(0, Interval::Point(3))};
  EXPECT_FALSE(WithPinnedNumber(no_constant, algebra_).has_value());
  two_points.indices = no_point.indices;
  two_points.restrictions = {On(0, Interval::Point(3)), On(1, Interval::Point(1))};
  EXPECT_FALSE(WithPinnedNumber(two_points, algebra_).has_value());
}

}  // namespace
}  // namespace xla_indexing::internal
