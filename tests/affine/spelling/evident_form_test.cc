// Expressions that the simplifier leaves as they are, and which need not be shown to it.
#include "xla_indexing/affine/spelling/evident_form.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

class EvidentFormTest : public ExprFixture {
 protected:
  // The interval of a variable where dimensions, then symbols, have these.
  static auto RangeOf(const std::vector<Interval>& dims,
                      const std::vector<Interval>& symbols = {}) {
    return [&](AffineExpr variable) -> const Interval* {
      const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable);
      const size_t position =
          dim ? dim.getPosition() : llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
      const std::vector<Interval>& list = dim ? dims : symbols;
      return position < list.size() ? &list[position] : nullptr;
    };
  }
  static bool IsEvident(AffineExpr e, const std::vector<Interval>& dims,
                        const std::vector<Interval>& symbols = {}) {
    return IsEvidentForm(e, RangeOf(dims, symbols));
  }

  // Expects that an evident form stays, and counts it.
  void Check(AffineExpr e, const std::vector<Interval>& box) {
    if (!e || !IsEvident(e, box)) return;
    ++evident_;
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)), ToString(e))
        << box[0].ToString() << " " << box[1].ToString();
  }

  // Expects that an evident form found is that of the simplifier, and counts it.
  void CheckFormOf(AffineExpr e, const std::vector<Interval>& box) {
    const AffineExpr form = e ? EvidentFormOf(e, RangeOf(box)) : AffineExpr();
    if (!form) return;
    ++evident_;
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)), ToString(form))
        << ToString(e) << " " << box[0].ToString() << " " << box[1].ToString();
  }

  int64_t evident_ = 0;
};

const std::vector<std::pair<Interval, Interval>>& SmallBoxes() {
  static const auto* const boxes = new std::vector<std::pair<Interval, Interval>>{
      {Interval::Closed(0, 1), Interval::Closed(0, 1)},
      {Interval::Closed(0, 2), Interval::Closed(0, 3)},
      {Interval::Closed(-3, 1), Interval::Closed(2, 4)},
      {Interval::Closed(0, 30), Interval::Closed(-5, 40)},
      {Interval::Closed(2, 40), Interval::Point(3)},
      {Interval::AtLeast(1), Interval::Closed(0, 3)},
      {Interval::All(), Interval::AtMost(9)}};
  return *boxes;
}

TEST_F(EvidentFormTest, DivisionsOfSumsStay) {
  for (const auto& [first, second] : SmallBoxes()) {
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
  CasesInTurn cases;
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
                if (!cases.IsNextTried()) continue;
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
  EXPECT_GT(evident_, Cases(20000));
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

// Sums of a floor and a mod with all small coefficients, alone and divided again.
TEST_F(EvidentFormTest, FormsByTheDefinitionOfModAreThoseOfTheSimplifier) {
  const std::vector<AffineExpr> dividends = {D(0), D(0) + D(1) * 3, D(0).floorDiv(3), D(0) * 2 + 1};
  for (const auto& [first, second] : SmallBoxes()) {
    for (const AffineExpr e : dividends) {
      for (const int64_t n : {2, 3, 4}) {
        for (const int64_t of_mod : {-2, -1, 0, 1, 2}) {
          for (const int64_t multiple : {-2, -1, 0, 1, 2}) {
            for (const int64_t of_first : {-2, -1, 0, 1, 2}) {
              for (const int64_t of_second : {0, 1, 5}) {
                const AffineExpr linear = Add(Scale(D(0), of_first), Scale(D(1), of_second));
                const AffineExpr sum =
                    Add(Add(Scale(Mod(e, n), of_mod), linear), Scale(FloorDiv(e, n), multiple * n));
                for (const AffineExpr whole :
                     {sum, FloorDiv(sum, 3), Mod(sum, 5), Add(sum, Constant(1, &context_))}) {
                  CheckFormOf(whole, {first, second});
                  if (HasFailure()) return;
                }
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(evident_, 4000);
}

TEST_F(EvidentFormTest, FormsOfDivisionsAreThoseOfTheSimplifier) {
  CasesInTurn cases;
  for (const auto& [first, second] : SmallBoxes()) {
    for (int64_t m = 2; m <= 6; ++m) {
      for (int64_t a = -1; a <= 2 * m + 1; ++a) {
        for (int64_t b = -1; b <= 2 * m + 1; ++b) {
          const AffineExpr sum = Add(Scale(D(0), a), Scale(D(1), b));
          for (int64_t c = -m - 1; c <= 2 * m; ++c) {
            const AffineExpr dividend = Add(sum, Constant(c, &context_));
            if (!cases.IsNextTried()) continue;
            CheckFormOf(Mod(dividend, m), {first, second});
            CheckFormOf(FloorDiv(dividend, m), {first, second});
            for (const int64_t n : {2, 3}) {
              CheckFormOf(FloorDiv(FloorDiv(dividend, m), n), {first, second});
              CheckFormOf(Mod(FloorDiv(dividend, m), n), {first, second});
            }
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(evident_, Cases(5000));
}

TEST_F(EvidentFormTest, EachRuleLeadsToAForm) {
  const std::vector<Interval> box = {Interval::Closed(0, 99), Interval::Closed(0, 63),
                                     Interval::Point(3)};
  const auto form = [&](AffineExpr e) { return EvidentFormOf(e, RangeOf(box)); };
  const AffineExpr e = D(0) + D(1) * 2;
  EXPECT_EQ(form(D(1) + D(2) * 2), D(1) + 6);
  EXPECT_EQ(form((e.floorDiv(8)) * 16 + (e % 8) * 2), D(0) * 2 + D(1) * 4);
  EXPECT_EQ(form(D(0) * 2 - (D(0).floorDiv(6)) * 12), (D(0) % 6) * 2);
  EXPECT_EQ(form(D(1) * 5 - (D(1) % 4) * 5), (D(1).floorDiv(4)) * 20);
  EXPECT_EQ(form(((D(0).floorDiv(4)) * 4 + D(0) % 4 + D(1)).floorDiv(16)),
            (D(0) + D(1)).floorDiv(16));
  EXPECT_EQ(form((D(0).floorDiv(3)).floorDiv(5)), D(0).floorDiv(15));
  EXPECT_EQ(form((D(0) * 8 + D(1) + 7) % 6), (D(0) * 2 + D(1) + 1) % 6);
  EXPECT_EQ(form((D(0) * 320 + D(1) + 64).floorDiv(192)), (D(0) * 5 + 1).floorDiv(3));
  EXPECT_EQ(form(((D(0) * 64 + D(1)).floorDiv(192)) % 7), (D(0).floorDiv(3)) % 7);
  EXPECT_EQ(form((D(0) * 9 + D(1).floorDiv(64)) % 7), (D(0) * 2) % 7);
  EXPECT_EQ(form(D(0) * 5 + (D(1) + D(2)).floorDiv(64)), AffineExpr());
  EXPECT_EQ(form(D(0) * 5 + D(1).floorDiv(64) + D(1) % 64 + 1), D(0) * 5 + D(1) + 1);
  // Other coefficients, other dividends, what is not evident, and what does not fit.
  EXPECT_FALSE(form((e.floorDiv(8)) * 16 + (e % 8) * 3));
  EXPECT_FALSE(form((D(0).floorDiv(8)) * 8 + D(1) % 8));
  EXPECT_FALSE(form((D(0) * 8 + D(1)) % 7 + D(0)));
  EXPECT_FALSE(form(D(0).floorDiv(int64_t{1} << 62).floorDiv(4)));
  constexpr int64_t kHuge = (int64_t{1} << 62) + 3;
  EXPECT_FALSE(
      EvidentFormOf((D(0) * 2 + 3).floorDiv(kHuge - 4), RangeOf({Interval::Point(kHuge)})));
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
