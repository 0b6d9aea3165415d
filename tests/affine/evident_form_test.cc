// Expressions that the simplifier leaves as they are, and which need not be shown to it.
#include "xla_indexing/affine/internal/evident_form.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/affine/expr_testing.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class EvidentFormTest : public ExprFixture {
 protected:
  // Whether the form is evident where dimensions, then symbols, have these intervals.
  static bool IsEvident(AffineExpr e, const std::vector<Interval>& dims,
                        const std::vector<Interval>& symbols = {}) {
    return IsEvidentForm(e, [&](AffineExpr variable) -> const Interval* {
      const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable);
      const size_t position =
          dim ? dim.getPosition() : llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
      const std::vector<Interval>& list = dim ? dims : symbols;
      return position < list.size() ? &list[position] : nullptr;
    });
  }

  // Expects that an evident form stays, and counts it.
  void Check(AffineExpr e, const std::vector<Interval>& box) {
    if (!e || !IsEvident(e, box)) return;
    ++evident_;
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)), ToString(e))
        << box[0].ToString() << " " << box[1].ToString();
  }

  int64_t evident_ = 0;
};

TEST_F(EvidentFormTest, DivisionsOfSumsStay) {
  const std::vector<std::pair<Interval, Interval>> boxes = {
      {Interval::Closed(0, 1), Interval::Closed(0, 1)},
      {Interval::Closed(0, 2), Interval::Closed(0, 3)},
      {Interval::Closed(-3, 1), Interval::Closed(2, 4)},
      {Interval::Closed(0, 30), Interval::Closed(-5, 40)},
      {Interval::AtLeast(1), Interval::Closed(0, 3)},
      {Interval::All(), Interval::AtMost(9)}};
  for (const auto& [first, second] : boxes) {
    for (int64_t m = 2; m <= 6; ++m) {
      for (int64_t a = -1; a <= 2 * m + 1; ++a) {
        for (int64_t b = -1; b <= 2 * m + 1; ++b) {
          const AffineExpr sum = Add(Scale(D(0), a), Scale(D(1), b));
          for (int64_t c = -m - 1; c <= 2 * m; ++c) {
            const AffineExpr dividend = Add(sum, Constant(c, &context_));
            Check(FloorDiv(dividend, m), {first, second});
            Check(Mod(dividend, m), {first, second});
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(evident_, 5000);
}

TEST_F(EvidentFormTest, SumsOfDigitsStay) {
  std::vector<AffineExpr> digits;
  for (int64_t m = 2; m <= 5; ++m) {
    digits.push_back(FloorDiv(D(0), m));
    digits.push_back(Mod(D(0), m));
    for (int64_t n = 2; n <= 4; ++n) digits.push_back(Mod(FloorDiv(D(0), m), n));
  }
  std::vector<AffineExpr> others = {Constant(0, &context_), D(1),
                                    Scale(D(1), -3),        FloorDiv(D(1), 3),
                                    Mod(D(1), 4),           Mod(FloorDiv(D(1), 2), 3)};
  for (const Interval& second : {Interval::Closed(0, 9), Interval::AtLeast(2)}) {
    for (int64_t lower = -1; lower <= 3; ++lower) {
      for (int64_t size = 2; size <= 25; ++size) {
        for (const AffineExpr digit : digits) {
          for (const AffineExpr other : others) {
            for (const int64_t k : {-1, 1, 2, 5}) {
              for (const int64_t c : {-4, 0, 1}) {
                const AffineExpr sum = Add(Add(Scale(digit, k), other), Constant(c, &context_));
                Check(sum, {Interval::Closed(lower, lower + size - 1), second});
                if (HasFailure()) return;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(evident_, 20000);
}

TEST_F(EvidentFormTest, EachConditionIsNeeded) {
  const std::vector<Interval> box = {Interval::Closed(0, 99), Interval::Closed(0, 63)};
  const std::vector<AffineExpr> evident = {
      D(0) * 3 - D(1) + 7,           D(0).floorDiv(8) + (D(1) % 6) * 5 - 2,
      (D(0).floorDiv(8)) % 3,        (D(0) * 128 + D(1)).floorDiv(36),
      (D(0) * 5 + D(1) * 3 + 2) % 7, (D(0) - 2).floorDiv(3)};
  for (const AffineExpr e : evident) EXPECT_TRUE(IsEvident(e, box)) << ToString(e);
  const std::vector<AffineExpr> others = {
      D(0) + D(0).floorDiv(8),            // a variable twice
      -(D(0).floorDiv(8)),                // negative
      D(0).floorDiv(200),                 // a number
      D(0) % 100,                         // the variable
      (D(0) * 7 + D(1)).floorDiv(6),      // d0 is shorter in the sum
      (D(0) * 64 + D(1)).floorDiv(192),   // a split: d1 is below 64
      (D(0) * 3 + D(1) * 6).floorDiv(9),  // a split: 3 divides everything
      (D(0) + D(1) * 3 + 6).floorDiv(6),  // 6 leaves
      (D(0) * 6 + D(1) * 6 + 6) % 7,      // 6 - (d0 + d1) mod 7
      (D(0) * 8 + D(1)) % 7};             // 8 becomes 1
  for (const AffineExpr e : others) EXPECT_FALSE(IsEvident(e, box)) << ToString(e);
  EXPECT_FALSE(IsEvident(D(0), {Interval::Point(3)}));
  EXPECT_FALSE(IsEvident(D(0) % 2, {Interval::Closed(3, 4)}));
  EXPECT_FALSE(IsEvident((D(0).floorDiv(4)) % 3, {Interval::Closed(8, 15)}));
  EXPECT_FALSE(IsEvident(D(0).floorDiv(4) + 3, {Interval::Closed(-3, 15)}));
  EXPECT_FALSE(IsEvident(D(0) + D(1), {Interval::Closed(0, 4)}));
}

TEST_F(EvidentFormTest, SymbolsStandAfterDimensions) {
  const std::vector<Interval> dims = {Interval::Closed(0, 99)};
  const std::vector<Interval> symbols = {Interval::Closed(0, 63)};
  EXPECT_TRUE(IsEvident((D(0) % 9) * 2 + S(0), dims, symbols));
  EXPECT_TRUE(IsEvident(D(0) + S(0) % 5, dims, symbols));
  EXPECT_TRUE(IsEvident((D(0) * 5 + S(0)).floorDiv(7), dims, symbols));
}

}  // namespace
}  // namespace xla_indexing::internal
