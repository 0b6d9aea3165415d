#include "xla_indexing/map/expr/digit_view.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "tests/map/sets/small_maps.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_program.h"

namespace xla_indexing::internal {
namespace {

int64_t ValueOf(const VariableDigit& digit, int64_t shift, int64_t v) {
  const int64_t quotient = FloorDiv(v + shift, digit.low);
  return digit.count == 0 ? quotient : FloorMod(quotient, digit.count);
}

int64_t ValueOf(const DigitSum& sum, const std::vector<int64_t>& variables) {
  int64_t value = sum.constant;
  for (const DigitTerm& term : sum.terms) {
    value +=
        term.coefficient * ValueOf(term.digit, term.digit.shift, variables[term.digit.variable]);
  }
  return value;
}

class DigitViewTest : public MapTextFixture {
 protected:
  std::optional<DigitSum> Of(absl::string_view expr) {
    const IndexingMap map =
        Parse(absl::StrCat("(d0, d1) -> (", expr, "), domain: d0 in [0, 99], d1 in [0, 99]"));
    return DigitSumOf(map.results()[0], 2);
  }
};

TEST_F(DigitViewTest, ADigitOfTwoVariablesIsNone) {
  EXPECT_FALSE(Of("(d0 + d1) floordiv 3").has_value());
  EXPECT_FALSE(Of("(d0 * 2) mod 5").has_value());
  EXPECT_FALSE(Of("(d0 mod 6 + 1) floordiv 2").has_value());
  EXPECT_TRUE(Of("d0 floordiv 3 - (d1 + 2) mod 4").has_value());
}

// a + s*((b + t*((v + c) op n)) op m) for all small numbers: where it is a sum of digits it is one at every
// value, and it is one wherever the constant of the dividend leaves digits.
TEST_F(DigitViewTest, DigitsOfDigitsAreDigitsForAllSmallNumbers) {
  const mlir::AffineExpr v = mlir::getAffineDimExpr(0, &context_);
  int found = 0;
  int all = 0;
  for (const int64_t s : {1, -1}) {
    for (const int64_t t : {1, -1}) {
      for (int64_t n = 1; n <= 6; ++n) {
        for (int64_t m = 1; m <= 4; ++m) {
          for (int64_t b = -7; b <= 7; ++b) {
            for (int64_t c = -4; c <= 4; ++c) {
              for (int ops = 0; ops < 4; ++ops) {
                const mlir::AffineExpr shifted = Add(v, Constant(c, &context_));
                const mlir::AffineExpr inner =
                    (ops & 1) != 0 ? Mod(shifted, n) : FloorDiv(shifted, n);
                const mlir::AffineExpr dividend = Add(Scale(inner, t), Constant(b, &context_));
                const mlir::AffineExpr outer =
                    (ops & 2) != 0 ? Mod(dividend, m) : FloorDiv(dividend, m);
                const mlir::AffineExpr expr = Add(Scale(outer, s), Constant(3, &context_));
                ++all;
                const std::optional<DigitSum> sum = DigitSumOf(expr, 1);
                // Sums with a floor inside always are, where no division is by 1.
                if ((ops & 1) == 0 && m > 1) {
                  ASSERT_TRUE(sum.has_value()) << n << ' ' << m << ' ' << b << ' ' << c;
                }
                if (!sum) continue;
                ++found;
                for (const DigitTerm& term : sum->terms) {
                  ASSERT_GE(term.digit.shift, 0);
                  ASSERT_LT(term.digit.shift, term.digit.Period());
                }
                for (int64_t x = -40; x <= 40; ++x) {
                  ASSERT_EQ(ValueOf(*sum, {x}), *ValueAt(expr, {x}, {}))
                      << "s " << s << " t " << t << " n " << n << " m " << m << " b " << b << " c "
                      << c << " ops " << ops << " at " << x;
                }
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(found, all / 2);
}

TEST_F(DigitViewTest, ACommonShiftIsOneForAllSmallDigits) {
  for (int64_t low = 1; low <= 4; ++low) {
    for (int64_t count = 0; count <= 3; ++count) {
      for (int64_t other_low = 1; other_low <= 4; ++other_low) {
        for (int64_t shift = 0; shift < (count == 0 ? low : low * count); ++shift) {
          for (int64_t other_shift = 0; other_shift < other_low * 2; ++other_shift) {
            const VariableDigit digit{0, shift, low, count};
            const VariableDigit other{0, other_shift, other_low, 2};
            const std::optional<int64_t> common = CommonShift({digit, other});
            if (!common) continue;
            for (const VariableDigit& d : {digit, other}) {
              const std::optional<int64_t> constant = ConstantAtShift(d, *common);
              ASSERT_TRUE(constant.has_value());
              for (int64_t x = -30; x <= 30; ++x) {
                ASSERT_EQ(ValueOf(d, d.shift, x), ValueOf(d, *common, x) + *constant);
              }
            }
          }
        }
      }
    }
  }
  // (v + 13) floordiv 8 mod 4 and (v + 5) mod 8 are digits of v + 13.
  EXPECT_EQ(CommonShift({{0, 13, 8, 4}, {0, 5, 1, 8}}), 13);
  EXPECT_EQ(CommonShift({{0, 13, 8, 4}, {0, 4, 1, 8}}), std::nullopt);
}

TEST_F(DigitViewTest, NumbersThatDoNotFitAreNoDigits) {
  EXPECT_FALSE(Of("(d0 floordiv 9223372036854775807) floordiv 2").has_value());
  EXPECT_FALSE(Of("(d0 floordiv 4611686018427387904) mod 3").has_value());
}

}  // namespace
}  // namespace xla_indexing::internal
