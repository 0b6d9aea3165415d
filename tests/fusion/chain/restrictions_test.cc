#include "xla_indexing/fusion/chain/restrictions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/testing/effort.h"
#include "tests/testing/number_value.h"
#include "tests/testing/random.h"

namespace xla_indexing::internal {
namespace {

using Point = std::vector<int64_t>;

std::vector<Point> PointsOf(const PositionalAlgebra& algebra) {
  std::vector<Point> points = {{}};
  for (int i = 0; i < algebra.num_variables(); ++i) {
    std::vector<Point> longer;
    for (const Point& point : points) {
      for (int64_t value = 0; value <= algebra.RangeOfVariable(i).upper(); ++value) {
        longer.push_back(point);
        longer.back().push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

bool Satisfies(const PositionalAlgebra& algebra, const Restrictions& restrictions,
               const Point& point) {
  for (const Restriction& restriction : restrictions) {
    const int64_t value = ValueOfNumber(algebra, restriction.index, point);
    if (!restriction.interval.Contains(value) || !restriction.residues.Contains(value)) {
      return false;
    }
  }
  return true;
}

// Indices of a reshaped array, some reversed, some moved by a step that all values take part in.
llvm::SmallVector<Number, 4> RandomNumbers(PositionalAlgebra* algebra, Random* random) {
  const std::vector<std::vector<int64_t>> shapes = {{6, 4}, {4, 6}, {2, 3, 4},
                                                    {8, 3}, {24},   {3, 8}};
  llvm::SmallVector<Number, 4> numbers;
  for (const int64_t size : random->Pick(shapes)) numbers.push_back(algebra->AddVariable(size));
  for (int64_t i = random->Between(0, 2); i > 0; --i) {
    const auto reshaped = algebra->Reshape(numbers, random->Pick(shapes));
    EXPECT_TRUE(reshaped.has_value());
    if (reshaped) numbers = *reshaped;
    for (Number& number : numbers) {
      if (random->OneIn(3)) Reverse(number);
    }
  }
  for (Number& number : numbers) {
    if (!random->OneIn(3)) continue;
    const int64_t factor = random->Between(1, 3);
    const int64_t offset = random->Between(0, 4);
    const auto moved = algebra->Affine(
        number, factor, offset, 1, (SizeOf(number) - 1) * factor + offset + random->Between(1, 3));
    EXPECT_TRUE(moved.has_value());
    if (moved) number = *moved;
  }
  return numbers;
}

Restriction RandomRestriction(const llvm::SmallVector<Number, 4>& numbers, Random* random) {
  Restriction restriction{random->Pick(numbers)};
  const int64_t size = SizeOf(restriction.index);
  const int64_t lower = random->Between(-1, size / 2);
  restriction.interval = Interval::Closed(lower, lower + random->Between(0, size));
  if (random->OneIn(3)) {
    restriction.residues = Congruence::Of(random->Between(0, 5), random->Between(1, 6));
  }
  return restriction;
}

TEST(RestrictionsTest, TheFormIsOfTheSamePoints) {
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Cases(20000)); ++seed) {
    Random random(seed);
    PositionalAlgebra algebra;
    const auto numbers = RandomNumbers(&algebra, &random);
    Restrictions given, form;
    bool some_are_left = true;
    for (int64_t i = random.Between(1, 4); i > 0 && some_are_left; --i) {
      given.push_back(RandomRestriction(numbers, &random));
      some_are_left = Restrict(given.back(), algebra, form);
    }
    const Restrictions written = RestrictionsToWrite(form, algebra);
    for (const Point& point : PointsOf(algebra)) {
      const bool expected = Satisfies(algebra, given, point);
      ASSERT_EQ(some_are_left && Satisfies(algebra, form, point), expected) << "seed " << seed;
      ASSERT_EQ(some_are_left && Satisfies(algebra, written, point), expected) << "seed " << seed;
    }
  }
}

class RestrictionsFormTest : public ::testing::Test {
 protected:
  Restrictions Form(const std::vector<Restriction>& given) {
    Restrictions form;
    for (const Restriction& restriction : given) {
      EXPECT_TRUE(Restrict(restriction, algebra_, form));
    }
    return RestrictionsToWrite(form, algebra_);
  }

  PositionalAlgebra algebra_;
  const Number low_ = algebra_.AddVariable(4);
  const Number high_ = algebra_.AddVariable(6);
  // high*4 + low
  const Number both_ = algebra_.Reshape({high_, low_}, {24})->front();
};

TEST_F(RestrictionsFormTest, AnIntervalIsOneOfDigits) {
  EXPECT_EQ(Form({{both_, Interval::Closed(4, 15)}}), Form({{high_, Interval::Closed(1, 3)}}));
  EXPECT_EQ(Form({{both_, Interval::Closed(9, 10)}}),
            Form({{low_, Interval::Closed(1, 2)}, {high_, Interval::Point(2)}}));
}

// floor(N/2), whose least digit is half of a variable, and floor(N/3), a digit of a run; reversed
// they are floor((23 - N)/2) and floor((23 - N)/3).
TEST_F(RestrictionsFormTest, HighDigitsAreAskedForAsTheWholeNumber) {
  const Number half = algebra_.Reshape({both_}, {12, 2})->front();
  EXPECT_EQ(Form({{half, Interval::Closed(1, 6)}}), Form({{both_, Interval::Closed(2, 13)}}));
  const Number third = algebra_.Reshape({both_}, {8, 3})->front();
  EXPECT_EQ(Form({{third, Interval::Closed(1, 4)}}), Form({{both_, Interval::Closed(3, 14)}}));
  Number reversed = both_;
  Reverse(reversed);
  for (const int64_t divisor : {2, 3}) {
    const Number high = algebra_.Reshape({reversed}, {24 / divisor, divisor})->front();
    EXPECT_EQ(Form({{high, Interval::Closed(1, 4)}}),
              Form({{reversed, Interval::Closed(divisor, 5 * divisor - 1)}}));
  }
  // Asked for in both ways it is asked for once.
  EXPECT_EQ(Form({{half, Interval::Closed(1, 6)}, {both_, Interval::Closed(2, 13)}}),
            Form({{both_, Interval::Closed(2, 13)}}));
}

TEST_F(RestrictionsFormTest, ImpliedRestrictionsAreNotWritten) {
  EXPECT_EQ(Form({{both_, Interval::Closed(5, 15)}, {high_, Interval::Closed(1, 5)}}),
            Form({{both_, Interval::Closed(5, 15)}}));
  EXPECT_EQ(Form({{both_, Interval::All(), Congruence::Of(1, 2)}}),
            Form({{low_, Interval::All(), Congruence::Of(1, 2)}}));
  EXPECT_EQ(Form({{high_, Interval::Closed(2, 4), Congruence::Of(0, 3)}}),
            Form({{high_, Interval::Point(3)}}));
}

TEST_F(RestrictionsFormTest, AMovedNumberIsWhatWasMoved) {
  const auto moved = algebra_.Affine(both_, 3, 5, 1, 80);
  ASSERT_TRUE(moved.has_value());
  // 3*N + 5 in [20, 50], = 2 (mod 6): N in [5, 15], N odd.
  EXPECT_EQ(Form({{*moved, Interval::Closed(20, 50), Congruence::Of(2, 6)}}),
            Form({{both_, Interval::Closed(5, 15), Congruence::Of(1, 2)}}));
}

TEST_F(RestrictionsFormTest, ContradictionsLeaveNothing) {
  Restrictions form;
  ASSERT_TRUE(Restrict({low_, Interval::Point(1)}, algebra_, form));
  EXPECT_FALSE(Restrict({both_, Interval::All(), Congruence::Of(0, 2)}, algebra_, form));
}

}  // namespace
}  // namespace xla_indexing::internal
