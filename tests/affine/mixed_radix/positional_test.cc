#include "xla_indexing/affine/mixed_radix/positional.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/testing/effort.h"
#include "tests/testing/number_value.h"
#include "tests/testing/random.h"

namespace xla_indexing::internal {
namespace {

using Values = std::vector<int64_t>;

int64_t Count(const Values& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

Values Delinearize(int64_t position, const Values& sizes) {
  Values indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = position % sizes[i];
    position /= sizes[i];
  }
  return indices;
}

int64_t Linearize(const Values& indices, const Values& sizes) {
  int64_t position = 0;
  for (size_t i = 0; i < sizes.size(); ++i) position = position * sizes[i] + indices[i];
  return position;
}

// The indices of an element after some steps, as numbers and, for every element of the first array,
// as values; none where the element has no place.
class Chain {
 public:
  Chain(const Values& sizes, Random* random) : random_(*random), sizes_(sizes), start_(sizes) {
    for (const int64_t size : sizes) numbers_.push_back(algebra_.AddVariable(size));
    for (int64_t i = 0; i < Count(sizes); ++i) values_.push_back(Delinearize(i, sizes));
  }

  void Step() {
    switch (random_.Between(0, 4)) {
      case 0:
      case 1:
        return Reshape();
      case 2:
        return Transpose();
      case 3:
        return Reverse();
      default:
        return Move();
    }
  }

  void Check() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!values_[i]) continue;
      const Values variables = Delinearize(static_cast<int64_t>(i), start_);
      for (size_t dim = 0; dim < sizes_.size(); ++dim) {
        ASSERT_EQ(ValueOfNumber(algebra_, numbers_[dim], variables), (*values_[i])[dim])
            << steps_ << " dimension " << dim << " element " << i;
        ASSERT_TRUE(algebra_.RangeOf(numbers_[dim]).Contains((*values_[i])[dim])) << steps_;
      }
    }
  }

 private:
  void Reshape() {
    Values factors;
    for (int64_t size : sizes_) {
      for (int64_t p = 2; size > 1; ++p) {
        for (; size % p == 0; size /= p) factors.push_back(p);
      }
    }
    Values to(random_.Between(1, 4), 1);
    for (const int64_t factor : factors) {
      to[random_.Between(0, static_cast<int64_t>(to.size()) - 1)] *= factor;
    }
    auto reshaped = algebra_.Reshape(numbers_, to);
    ASSERT_TRUE(reshaped.has_value()) << steps_;
    numbers_ = *std::move(reshaped);
    for (std::optional<Values>& value : values_) {
      if (value) value = Delinearize(Linearize(*value, sizes_), to);
    }
    sizes_ = to;
    steps_ += " reshape";
  }

  void Transpose() {
    Values order(sizes_.size());
    std::iota(order.begin(), order.end(), 0);
    random_.Shuffle(&order);
    const auto permuted = [&](const auto& list) {
      auto result = list;
      for (size_t i = 0; i < order.size(); ++i) result[i] = list[order[i]];
      return result;
    };
    numbers_ = permuted(numbers_);
    for (std::optional<Values>& value : values_) {
      if (value) value = permuted(*value);
    }
    sizes_ = permuted(sizes_);
    steps_ += " transpose";
  }

  void Reverse() {
    const int64_t dim = random_.Between(0, static_cast<int64_t>(sizes_.size()) - 1);
    internal::Reverse(numbers_[dim]);
    for (std::optional<Values>& value : values_) {
      if (value) (*value)[dim] = sizes_[dim] - 1 - (*value)[dim];
    }
    steps_ += " reverse";
  }

  // A slice, pad or concatenation, one way or the other.
  void Move() {
    const int64_t dim = random_.Between(0, static_cast<int64_t>(sizes_.size()) - 1);
    const int64_t factor = random_.OneIn(3) ? random_.Between(1, 3) : 1;
    const int64_t divisor = factor == 1 && random_.OneIn(3) ? random_.Between(1, 3) : 1;
    const int64_t offset = random_.Between(-4, 4);
    const int64_t size = random_.Between(1, 12);
    std::optional<Number> moved = algebra_.Affine(numbers_[dim], factor, offset, divisor, size);
    std::vector<std::optional<Values>> values = values_;
    bool any = false;
    for (std::optional<Values>& value : values) {
      if (!value) continue;
      const int64_t image = (*value)[dim] * factor + offset;
      if (image % divisor != 0 || image < 0 || image / divisor >= size) {
        value.reset();
      } else {
        (*value)[dim] = image / divisor;
        any = true;
      }
    }
    // Where there is no element there may be no number, and none is asked for.
    if (!any) return;
    ASSERT_TRUE(moved.has_value()) << steps_;
    numbers_[dim] = *std::move(moved);
    values_ = std::move(values);
    sizes_[dim] = size;
    steps_ += " move";
  }

  Random& random_;
  PositionalAlgebra algebra_;
  Values sizes_;
  Values start_;
  llvm::SmallVector<Number, 4> numbers_;
  std::vector<std::optional<Values>> values_;
  std::string steps_;
};

TEST(PositionalTest, NumbersAreTheIndicesOfEveryElement) {
  for (int seed = 0; seed < Cases(8000); ++seed) {
    Random random(seed);
    Values sizes;
    for (int64_t i = random.Between(1, 4); i > 0; --i) sizes.push_back(random.Between(1, 7));
    Chain chain(sizes, &random);
    for (int64_t i = random.Between(1, 8); i > 0; --i) {
      chain.Step();
      if (HasFatalFailure()) return;
    }
    chain.Check();
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

class PositionalAlgebraTest : public ::testing::Test {
 protected:
  llvm::SmallVector<Number, 4> Reshape(llvm::ArrayRef<Number> indices, const Values& to) {
    auto reshaped = algebra_.Reshape(indices, to);
    EXPECT_TRUE(reshaped.has_value());
    return reshaped ? *std::move(reshaped) : llvm::SmallVector<Number, 4>();
  }

  PositionalAlgebra algebra_;
};

TEST_F(PositionalAlgebraTest, ADigitIsCutAtEveryDivisorAndJoinedAgain) {
  for (int64_t a = 1; a <= 12; ++a) {
    for (int64_t b = 1; b <= 12; ++b) {
      const Number d = algebra_.AddVariable(a * b);
      const auto cut = Reshape({d}, {a, b});
      EXPECT_EQ(cut[0].size(), a == 1 ? 0u : 1u);
      EXPECT_EQ(Reshape(cut, {a * b})[0], d);
    }
  }
}

TEST_F(PositionalAlgebraTest, AReshapeBetweenAnySizesCancelsAgainstItsInverse) {
  for (int64_t a = 1; a <= 12; ++a) {
    for (int64_t b = 1; b <= 12; ++b) {
      const Number d0 = algebra_.AddVariable(a);
      const Number d1 = algebra_.AddVariable(b);
      for (int64_t c = 1; c <= a * b; ++c) {
        if (a * b % c != 0) continue;
        const auto there = Reshape({d0, d1}, {c, a * b / c});
        const auto back = Reshape(there, {a, b});
        EXPECT_EQ(back[0], d0) << a << " " << b << " " << c;
        EXPECT_EQ(back[1], d1) << a << " " << b << " " << c;
      }
    }
  }
}

TEST_F(PositionalAlgebraTest, ARunHoldsNoMoreThanItsDigitDependsOn) {
  const Number d0 = algebra_.AddVariable(12);
  const Number d1 = algebra_.AddVariable(8);
  const auto indices = Reshape({d0, d1}, {16, 6});
  // 8 = 2 * 4 and 12 = 3 * 4: floor((d0 mod 3)*8 + d1) / 6) needs d1 floordiv 2 and d0 mod 3.
  ASSERT_EQ(indices[1].size(), 2u);
  EXPECT_EQ(indices[1][0].extent, 2);  // d1 mod 2
  const PositionalAlgebra::Source& run = algebra_.source(indices[1][1].source);
  EXPECT_EQ(SizeOf(run.number), 12);
}

TEST_F(PositionalAlgebraTest, AffineStepsComposeAndCancel) {
  for (int64_t size = 1; size <= 6; ++size) {
    for (int64_t start = 0; start <= 4; ++start) {
      for (int64_t step = 1; step <= 4; ++step) {
        const Number d = algebra_.AddVariable(size);
        const int64_t outer = start + (size - 1) * step + 3;
        const auto there = algebra_.Affine(d, step, start, 1, outer);
        ASSERT_TRUE(there.has_value());
        const auto back = algebra_.Affine(*there, 1, -start, step, size);
        ASSERT_TRUE(back.has_value());
        EXPECT_EQ(*back, d) << size << " " << start << " " << step;
      }
    }
  }
}

// A chain that only the elements with d = 0 take part in has made 0 of d. Another chain that comes
// to 0 knows nothing of d.
TEST_F(PositionalAlgebraTest, AStepOfSomeValuesIsNotUndoneElsewhere) {
  const Number d = algebra_.AddVariable(2);
  ASSERT_EQ(algebra_.Affine(d, 1, 0, 1, 1), Number());
  ASSERT_EQ(algebra_.Affine(d, 1, -1, 1, 1), Number());
  for (int64_t offset = 0; offset < 2; ++offset) {
    EXPECT_EQ(algebra_.Affine(Number(), 1, offset, 1, 2), Number{Digit::Constant(offset, 2)});
  }
}

// A chain that only the last two of four elements take part in has them as the second row of two,
// which are the last two of four again. Another chain that comes to the four has elements in both rows.
TEST_F(PositionalAlgebraTest, AReshapeOfSomeValuesIsNotUndoneElsewhere) {
  const Number d = algebra_.AddVariable(4);
  const std::optional<Number> last = algebra_.Affine(d, 1, -2, 1, 2);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(Reshape({Number{Digit::Constant(1, 2)}, *last}, {4})[0], d);
  PositionalAlgebra other;
  const auto rows = other.Reshape({other.AddVariable(4)}, {2, 2});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(Reshape({d}, {2, 2}), *rows);
}

// (d + 4) / 2 is [1, d floordiv 2] of two rows, where d is even. Another chain comes to these indices
// with any d.
TEST_F(PositionalAlgebraTest, IndicesOfSomeValuesAreNotTakenForAllOfThem) {
  const Number d = algebra_.AddVariable(4);
  const std::optional<Number> half = algebra_.Affine(d, 1, 4, 2, 4);
  ASSERT_TRUE(half.has_value());
  const auto indices = Reshape({*half}, {2, 2});
  EXPECT_EQ(indices,
            (llvm::SmallVector<Number, 4>{{Digit::Constant(1, 2)}, Reshape({d}, {2, 2})[0]}));
  const std::optional<Number> element = algebra_.Affine(Reshape(indices, {4})[0], 2, 0, 1, 8);
  ASSERT_TRUE(element.has_value());
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(ValueOfNumber(algebra_, *element, {i}), i / 2 * 2 + 4);
}

TEST_F(PositionalAlgebraTest, ConstantResiduesAreThoseOfEveryValue) {
  const Number d = algebra_.AddVariable(9);
  const auto number = algebra_.Affine(d, 6, 2, 1, 60);
  ASSERT_TRUE(number.has_value());
  EXPECT_EQ(algebra_.ConstantResidue(*number, 2), 0);
  EXPECT_EQ(algebra_.ConstantResidue(*number, 3), 2);
  EXPECT_EQ(algebra_.ConstantResidue(*number, 4), std::nullopt);
}

}  // namespace
}  // namespace xla_indexing::internal
