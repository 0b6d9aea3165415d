#include "xla_indexing/affine/index_algebra.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/affine/expr_testing.h"
#include "xla_indexing/affine/build.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;
using Sizes = std::vector<int64_t>;

// One step of a chain of reindexings, from the array after it to the array before it.
struct Step {
  enum Kind { kReshape, kTranspose, kReverse } kind;
  Sizes before;
  Sizes after;
  std::vector<int> permutation;  // after[i] = before[permutation[i]]
  std::vector<bool> reversed;

  Step Inverse() const {
    Step inverse = *this;
    std::swap(inverse.before, inverse.after);
    for (size_t i = 0; i < permutation.size(); ++i) {
      inverse.permutation[permutation[i]] = static_cast<int>(i);
    }
    return inverse;
  }

  // The element of `before` that element `index` of `after` is.
  Sizes Apply(const Sizes& index) const {
    Sizes result(before.size());
    if (kind == kReshape) {
      int64_t position = 0;
      for (size_t i = 0; i < after.size(); ++i) position = position * after[i] + index[i];
      for (size_t i = before.size(); i-- > 0;) {
        result[i] = position % before[i];
        position /= before[i];
      }
    } else if (kind == kTranspose) {
      for (size_t i = 0; i < index.size(); ++i) result[permutation[i]] = index[i];
    } else {
      for (size_t i = 0; i < index.size(); ++i) {
        result[i] = reversed[i] ? before[i] - 1 - index[i] : index[i];
      }
    }
    return result;
  }

  void Apply(IndexAlgebra& algebra, llvm::SmallVector<LinearSum, 4>& index) const {
    if (kind == kReshape) {
      index = algebra.Delinearize(algebra.Linearize(index, after), before);
      return;
    }
    llvm::SmallVector<LinearSum, 4> result(before.size());
    for (size_t i = 0; i < index.size(); ++i) {
      if (kind == kTranspose) {
        result[permutation[i]] = index[i];
      } else {
        result[i] = index[i];
        if (reversed[i]) {
          result[i].Scale(-1);
          result[i].AddConstant(before[i] - 1);
        }
      }
    }
    index = std::move(result);
  }
};

class RandomChain {
 public:
  explicit RandomChain(uint64_t seed) : rng_(seed) {}

  int Int(int lower, int upper) { return std::uniform_int_distribution<int>(lower, upper)(rng_); }

  // Shapes of one number of elements, the product of some of `factors`.
  void StartWith(Sizes factors, int max_factors) {
    std::shuffle(factors.begin(), factors.end(), rng_);
    factors.resize(Int(1, max_factors));
    factors_ = factors;
  }

  Sizes Shape() {
    Sizes shape(Int(1, 4), 1);
    for (int64_t factor : factors_) shape[Int(0, static_cast<int>(shape.size()) - 1)] *= factor;
    return shape;
  }

  Step NextStep(const Sizes& before) {
    Step step{static_cast<Step::Kind>(Int(0, 2)), before, before, {}, {}};
    if (step.kind == Step::kReshape) {
      step.after = Shape();
    } else if (step.kind == Step::kTranspose) {
      step.permutation.resize(before.size());
      std::iota(step.permutation.begin(), step.permutation.end(), 0);
      std::shuffle(step.permutation.begin(), step.permutation.end(), rng_);
      for (size_t i = 0; i < before.size(); ++i) step.after[i] = before[step.permutation[i]];
    } else {
      for (size_t i = 0; i < before.size(); ++i) step.reversed.push_back(Int(0, 1) == 1);
    }
    return step;
  }

  std::vector<Step> Chain(int length) {
    std::vector<Step> chain;
    Sizes shape = Shape();
    for (int i = 0; i < length; ++i) {
      chain.push_back(NextStep(shape));
      shape = chain.back().after;
    }
    return chain;
  }

 private:
  std::mt19937_64 rng_;
  Sizes factors_;
};

llvm::SmallVector<LinearSum, 4> Variables(IndexAlgebra& algebra, mlir::MLIRContext* context,
                                          size_t count) {
  llvm::SmallVector<LinearSum, 4> index;
  for (size_t i = 0; i < count; ++i) {
    index.push_back(algebra.Evaluate(mlir::getAffineDimExpr(i, context), {}, {}));
  }
  return index;
}

std::vector<Interval> Box(const Sizes& sizes) {
  std::vector<Interval> box;
  for (int64_t size : sizes) box.push_back(Interval::OfSize(size));
  return box;
}

std::string Describe(const std::vector<Step>& chain) {
  std::string text;
  for (const Step& step : chain) {
    text += " " + std::to_string(step.kind) + "[";
    for (int64_t size : step.after) text += std::to_string(size) + ",";
    text += "]";
  }
  return text;
}

// A chain followed by its inverse is the identity, literally.
void ExpectRoundTrips(const Sizes& factors, int max_factors, int max_length, int cases,
                      uint64_t seed) {
  RandomChain random(seed);
  for (int i = 0; i < cases; ++i) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    random.StartWith(factors, max_factors);
    std::vector<Step> chain = random.Chain(random.Int(1, max_length));
    Sizes shape = chain.front().before;
    for (size_t j = chain.size(); j-- > 0;) chain.push_back(chain[j].Inverse());
    IndexAlgebra algebra(&context, Box(shape));
    llvm::SmallVector<LinearSum, 4> index = Variables(algebra, &context, shape.size());
    llvm::SmallVector<LinearSum, 4> identity = index;
    for (size_t j = chain.size(); j-- > 0;) chain[j].Apply(algebra, index);
    for (size_t j = 0; j < shape.size(); ++j) {
      ASSERT_EQ(algebra.Lower(index[j]), algebra.Lower(identity[j]))
          << "case " << i << ", index " << j << ":" << Describe(chain);
    }
  }
}

TEST(IndexAlgebraTest, ChainThenInverseIsTheIdentity) {
  ExpectRoundTrips({2, 2, 2, 3, 3, 5, 7, 2, 4}, 7, 8, 10000, 1);
}

TEST(IndexAlgebraTest, LargeChainThenInverseIsTheIdentity) {
  ExpectRoundTrips({3, 5, 7, 96, 768, 50257, 2, 1024, 11, 13}, 6, 16, 5000, 2);
}

TEST(IndexAlgebraTest, ChainsOfOneAndZeroFactorsEndWell) {
  ExpectRoundTrips({1, 1, 1, 1, 2}, 4, 8, 500, 3);
}

// Every step's indices are those of its definition, at every element.
TEST(IndexAlgebraTest, ComposedIndicesAreThoseOfTheDefinition) {
  RandomChain random(4);
  for (int i = 0; i < 400; ++i) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    random.StartWith({2, 2, 3, 3, 5}, 4);
    std::vector<Step> chain = random.Chain(random.Int(1, 4));
    Sizes shape = chain.back().after;
    IndexAlgebra algebra(&context, Box(shape));
    llvm::SmallVector<LinearSum, 4> index = Variables(algebra, &context, shape.size());
    for (size_t j = chain.size(); j-- > 0;) chain[j].Apply(algebra, index);
    std::vector<AffineExpr> lowered;
    for (const LinearSum& sum : index) lowered.push_back(algebra.Lower(sum));
    ForEachPoint(Box(shape), [&](const std::vector<int64_t>& point) {
      Sizes expected = point;
      for (size_t j = chain.size(); j-- > 0;) expected = chain[j].Apply(expected);
      for (size_t j = 0; j < expected.size(); ++j) {
        ASSERT_TRUE(Value(lowered[j], point, {}) == expected[j])
            << "case " << i << ":" << Describe(chain) << " gives " << ToString(lowered[j]);
      }
    });
  }
}

TEST(IndexAlgebraTest, EvaluateKeepsValues) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  RandomExpr random(&context, 77);
  for (int i = 0; i < 3000; ++i) {
    std::vector<Interval> box = random.Box(2, 8);
    AffineExpr inner0 = random.Expr(2, 2);
    AffineExpr inner1 = random.Expr(2, 1);
    AffineExpr outer = random.Expr(2, 2);
    IndexAlgebra algebra(&context, box);
    llvm::SmallVector<LinearSum, 2> bound = {algebra.Evaluate(inner0, {}, {}),
                                             algebra.Evaluate(inner1, {}, {})};
    for (LinearSum& sum : bound) sum = algebra.MakeIndex(sum, Interval::All());
    AffineExpr lowered = algebra.Lower(algebra.Evaluate(outer, bound, {}));
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      std::vector<int64_t> middle = {static_cast<int64_t>(Value(inner0, point, {})),
                                     static_cast<int64_t>(Value(inner1, point, {}))};
      ASSERT_TRUE(Value(outer, middle, {}) == Value(lowered, point, {}))
          << ToString(outer) << " of " << ToString(inner0) << " and " << ToString(inner1)
          << " became " << ToString(lowered);
    });
  }
}

}  // namespace
}  // namespace xla_indexing
