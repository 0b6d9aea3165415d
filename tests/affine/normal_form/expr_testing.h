// What the tests of affine/ share: evaluation by definition, all points of a box, random
// expressions.
#ifndef XLA_INDEXING_TESTS_AFFINE_NORMAL_FORM_EXPR_TESTING_H_
#define XLA_INDEXING_TESTS_AFFINE_NORMAL_FORM_EXPR_TESTING_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/seed.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

// A test of expressions over dimensions and symbols.
class ExprFixture : public ::testing::Test {
 protected:
  mlir::AffineExpr D(unsigned i) { return mlir::getAffineDimExpr(i, &context_); }
  mlir::AffineExpr S(unsigned i) { return mlir::getAffineSymbolExpr(i, &context_); }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

inline std::string ToString(mlir::AffineExpr e) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (e) {
    e.print(os);
  } else {
    os << "null";
  }
  return text;
}

// The value of `e`, by the definition of its operations in 128-bit integers.
inline Int128 Value(mlir::AffineExpr e, const std::vector<int64_t>& dims,
                    const std::vector<int64_t>& symbols) {
  using Kind = mlir::AffineExprKind;
  if (e.getKind() == Kind::Constant) return llvm::cast<mlir::AffineConstantExpr>(e).getValue();
  if (e.getKind() == Kind::DimId) return dims[llvm::cast<mlir::AffineDimExpr>(e).getPosition()];
  if (e.getKind() == Kind::SymbolId) {
    return symbols[llvm::cast<mlir::AffineSymbolExpr>(e).getPosition()];
  }
  auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(e);
  Int128 lhs = Value(binary.getLHS(), dims, symbols);
  Int128 rhs = Value(binary.getRHS(), dims, symbols);
  if (e.getKind() == Kind::Add) return lhs + rhs;
  if (e.getKind() == Kind::Mul) return lhs * rhs;
  Int128 remainder = lhs % rhs;
  if (remainder < 0) remainder += rhs;
  if (e.getKind() == Kind::Mod) return remainder;
  return (lhs - remainder) / rhs;
}

// Calls `visit` for every point of the box, last variable fastest. The intervals are finite.
inline void ForEachPoint(const std::vector<Interval>& box,
                         const std::function<void(const std::vector<int64_t>&)>& visit) {
  std::vector<int64_t> point;
  for (const Interval& interval : box) {
    if (interval.IsEmpty()) return;
    point.push_back(interval.lower());
  }
  while (true) {
    visit(point);
    size_t i = box.size();
    while (i > 0 && point[i - 1] == box[i - 1].upper()) {
      point[i - 1] = box[i - 1].lower();
      --i;
    }
    if (i == 0) return;
    ++point[i - 1];
  }
}

// Random sums of floordivs, mods and variables of a few dimensions.
class RandomExpr {
 public:
  RandomExpr(mlir::MLIRContext* context, uint64_t seed) : context_(context), rng_(Seeded(seed)) {}

  int64_t Int(int64_t lower, int64_t upper) {
    return std::uniform_int_distribution<int64_t>(lower, upper)(rng_);
  }

  std::vector<Interval> Box(int num_dims, int64_t max_size) {
    std::vector<Interval> box;
    for (int i = 0; i < num_dims; ++i) {
      int64_t lower = Int(0, 3) == 0 ? Int(-4, 4) : 0;
      box.push_back(Interval::Closed(lower, lower + Int(0, max_size - 1)));
    }
    return box;
  }

  mlir::AffineExpr Expr(int num_dims, int depth) {
    mlir::AffineExpr sum = mlir::getAffineConstantExpr(Int(0, 2) == 0 ? Int(-9, 9) : 0, context_);
    int num_terms = static_cast<int>(Int(1, 3));
    for (int i = 0; i < num_terms; ++i) {
      mlir::AffineExpr term = mlir::getAffineDimExpr(Int(0, num_dims - 1), context_);
      if (depth > 0 && Int(0, 2) != 0) {
        mlir::AffineExpr dividend = Expr(num_dims, depth - 1);
        int64_t divisor = Int(1, 12);
        term = Int(0, 1) == 0 ? dividend.floorDiv(divisor) : dividend % divisor;
      }
      sum = sum + term * Int(-8, 8);
    }
    return sum;
  }

 private:
  mlir::MLIRContext* context_;
  std::mt19937_64 rng_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TESTS_AFFINE_NORMAL_FORM_EXPR_TESTING_H_
