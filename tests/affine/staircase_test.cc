// Sums of floors found from their values: against all functions of the kind, and the identities
// that they stand for.
#include "xla_indexing/affine/internal/staircase.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/expr_testing.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Function = std::function<int64_t(int64_t)>;

Staircase Known(const Function& f, int64_t first, int64_t steps, bool periodic) {
  Staircase result;
  result.first = first;
  result.periodic = periodic;
  for (int64_t i = 0; i <= steps; ++i) result.values.push_back(f(first + i));
  return result;
}

int64_t ValueOf(const StaircaseForm& form, int64_t x) {
  int64_t value = form.slope * x + form.constant;
  for (const StaircaseFloor& floor : form.floors) {
    value += floor.factor * FloorDiv(floor.p * x + floor.q, floor.m);
  }
  return value;
}

std::string Text(const std::optional<StaircaseForm>& form) {
  if (!form) return "none";
  std::string text = absl::StrCat(form->slope, "*x + ", form->constant);
  for (const StaircaseFloor& floor : form->floors) {
    absl::StrAppend(&text, " + ", floor.factor, "*floor((", floor.p, "*x + ", floor.q, ")/",
                    floor.m, ")");
  }
  return text;
}

// The steps that floors have at `size` points one after another, by their definition.
std::set<std::vector<int64_t>> Words(int64_t size) {
  std::set<std::vector<int64_t>> words;
  for (int64_t m = 1; m <= 2 * size + 1; ++m) {
    for (int64_t p = 0; p <= m; ++p) {
      for (int64_t q = 0; q < m; ++q) {
        std::vector<int64_t> word;
        for (int64_t x = 0; x < size; ++x) {
          word.push_back(FloorDiv(p * (x + 1) + q, m) - FloorDiv(p * x + q, m));
        }
        words.insert(word);
      }
    }
  }
  return words;
}

// Whether steps = a + k1*w1 (+ k2*w2) with integers a, k1 and k2.
bool IsSum(const std::vector<int64_t>& steps, const std::vector<int64_t>& w1,
           const std::vector<int64_t>& w2) {
  // What the steps are where both words are zero, where only one is one, and where both are.
  std::optional<int64_t> at[4];
  for (size_t i = 0; i < steps.size(); ++i) {
    std::optional<int64_t>& known = at[w1[i] + 2 * w2[i]];
    if (known && *known != steps[i]) return false;
    known = steps[i];
  }
  // Three values are free, and the fourth follows.
  return !at[0] || !at[1] || !at[2] || !at[3] || *at[0] + *at[3] == *at[1] + *at[2];
}

TEST(StaircaseTest, FindsTheFewestFloorsOfAllShortFunctions) {
  // All functions with up to six steps of 0, 1, 2 or 3; which x is the first does not matter.
  for (int64_t size = 0; size <= 6; ++size) {
    const std::set<std::vector<int64_t>> words = Words(size);
    const std::vector<int64_t> zero(size, 0);
    for (int64_t code = 0; code < int64_t{1} << (2 * size); ++code) {
      std::vector<int64_t> steps;
      Staircase f;
      f.first = code % 11 - 7;
      f.values.push_back(code % 5);
      for (int64_t i = 0; i < size; ++i) {
        steps.push_back((code >> (2 * i)) & 3);
        f.values.push_back(f.values.back() + steps.back());
      }
      size_t fewest = 3;
      if (IsSum(steps, zero, zero)) fewest = 0;
      for (auto w1 = words.begin(); w1 != words.end() && fewest > 1; ++w1) {
        if (IsSum(steps, *w1, zero)) fewest = 1;
        for (auto w2 = words.begin(); w2 != w1 && fewest > 2; ++w2) {
          if (IsSum(steps, *w1, *w2)) fewest = 2;
        }
      }
      const std::optional<StaircaseForm> form = FewestFloors(f);
      ASSERT_EQ(form.has_value(), fewest <= 2) << "size " << size << " code " << code;
      if (!form) continue;
      ASSERT_EQ(form->floors.size(), fewest)
          << "size " << size << " code " << code << ": " << Text(form);
      for (int64_t i = 0; i <= size; ++i) {
        ASSERT_EQ(ValueOf(*form, f.first + i), f.values[i])
            << "size " << size << " code " << code << " at " << i << ": " << Text(form);
      }
    }
  }
}

TEST(StaircaseTest, TakesAllSumsOfTwoFloorsApart) {
  // Everywhere, from one period and from two, and at all x where there are many.
  for (int64_t m1 = 2; m1 <= 5; ++m1) {
    for (int64_t m2 = 2; m2 <= 6; ++m2) {
      for (int64_t p1 = 1; p1 < m1; ++p1) {
        for (int64_t p2 = 1; p2 < m2; ++p2) {
          for (int64_t q = 0; q < m2; ++q) {
            for (int64_t k1 = -2; k1 <= 3; ++k1) {
              for (const int64_t k2 : {-6, -1, 1, 2}) {
                const Function f = [&](int64_t x) {
                  return x - 4 + k1 * FloorDiv(p1 * x + 1, m1) + k2 * FloorDiv(p2 * x + q, m2);
                };
                const int64_t period = std::lcm(m1, m2);
                const auto form = FewestFloors(Known(f, 0, period, true));
                ASSERT_TRUE(form) << k1 << "*floor((" << p1 << "*x + 1)/" << m1 << ") + " << k2
                                  << "*floor((" << p2 << "*x + " << q << ")/" << m2 << ")";
                for (int64_t x = -2 * period; x <= 2 * period; ++x) {
                  ASSERT_EQ(ValueOf(*form, x), f(x)) << Text(form) << " at " << x;
                }
                EXPECT_EQ(Text(FewestFloors(Known(f, 0, 2 * period, true))), Text(form));
                const auto seen = FewestFloors(Known(f, -3, 2 * period, false));
                ASSERT_TRUE(seen) << Text(form);
                EXPECT_LE(seen->floors.size(), form->floors.size());
                for (int64_t x = -3; x <= 2 * period - 3; ++x) {
                  ASSERT_EQ(ValueOf(*seen, x), f(x)) << Text(seen) << " at " << x;
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(StaircaseTest, OfFloorsWithOneStepTakesDigits) {
  const auto form = [](const Function& f, int64_t first, int64_t last) {
    return Text(FewestFloors(Known(f, first, last - first, false)));
  };
  // Without a constant; the least divisor; a mod of x; a digit of another floor.
  EXPECT_EQ(form([](int64_t x) { return FloorDiv(x, 32); }, 3, 50),
            "0*x + 0 + 1*floor((1*x + 0)/32)");
  EXPECT_EQ(form([](int64_t x) { return FloorDiv(x + 6, 7); }, 0, 6),
            "0*x + 0 + 1*floor((1*x + 5)/6)");
  EXPECT_EQ(form([](int64_t x) { return FloorMod(x + 3, 8); }, 0, 7),
            "1*x + 3 + -8*floor((1*x + 3)/8)");
  EXPECT_EQ(form([](int64_t x) { return FloorMod(FloorDiv(x, 4), 2); }, 0, 9),
            "0*x + 0 + -2*floor((1*x + 0)/8) + 1*floor((1*x + 0)/4)");
}

TEST(StaircaseTest, LeavesWhatIsTooLarge) {
  const Function f = [](int64_t x) { return FloorDiv(x, 3); };
  EXPECT_TRUE(FewestFloors(Known(f, 0, kMaxStaircase, false)));
  EXPECT_FALSE(FewestFloors(Known(f, 0, kMaxStaircase + 1, false)));
  EXPECT_FALSE(FewestFloors(Staircase{}));
  EXPECT_TRUE(FewestFloors({kMaxStaircaseStep, false, {0, 0, kMaxStaircaseStep}}));
  EXPECT_FALSE(FewestFloors({kMaxStaircaseStep + 1, false, {0, 0, 1}}));
  EXPECT_FALSE(FewestFloors({0, false, {0, 0, kMaxStaircaseStep + 1}}));
  EXPECT_FALSE(FewestFloors({0, false, {kInt64Min, kInt64Max}}));
  EXPECT_FALSE(FewestFloors({kInt64Min, false, {0, 0, 1}}));
}

// Identities of expressions; `y` is the dividend without a constant.
class FloorIdentitiesTest : public ExprFixture {
 protected:
  AffineExpr Floor(AffineExpr y, int64_t constant, int64_t m) {
    return FloorDiv(Add(y, Constant(constant, &context_)), m);
  }
  AffineExpr Simplified(AffineExpr e) {
    ExprSimplifier simplifier(&context_, {Interval::All(), Interval::OfSize(1000)}, {});
    return simplifier.Simplify(e);
  }
  std::vector<AffineExpr> Dividends() { return {D(0), D(1), D(0) * 2 + D(1) * 3}; }
};

// sum_{k < n} floor((y + k*a)/(n*a)) = floor(y/a)
TEST_F(FloorIdentitiesTest, OfHermite) {
  for (const AffineExpr y : Dividends()) {
    for (int64_t n = 2; n <= 5; ++n) {
      for (int64_t a = 1; a <= 5; ++a) {
        for (int64_t constant = 0; constant < a; ++constant) {
          AffineExpr sum = Constant(0, &context_);
          for (int64_t k = 0; k < n; ++k) sum = Add(sum, Floor(y, constant + k * a, n * a));
          EXPECT_EQ(ToString(Simplified(sum)), ToString(Simplified(Floor(y, constant, a))));
        }
      }
    }
  }
}

// floor(y/m) - floor(y/2m) = floor((y + m)/2m)
TEST_F(FloorIdentitiesTest, OfHalves) {
  for (const AffineExpr y : Dividends()) {
    for (int64_t m = 1; m <= 9; ++m) {
      EXPECT_EQ(ToString(Simplified(Sub(Floor(y, 0, m), Floor(y, 0, 2 * m)))),
                ToString(Simplified(Floor(y, m, 2 * m))));
    }
  }
}

// floor((y + n - r)/n) - floor(y/n) = floor((y mod n)/r) and
// y - (n - r)*floor(y/n) - r*floor((y + n - r)/n) = (y mod n) mod r, where n/2 <= r < n
TEST_F(FloorIdentitiesTest, OfDigitsOfDigits) {
  for (const AffineExpr y : {D(0), D(1)}) {
    for (int64_t n = 3; n <= 11; ++n) {
      for (int64_t r = (n + 1) / 2; r < n; ++r) {
        const AffineExpr low = Floor(y, 0, n);
        const AffineExpr high = Floor(y, n - r, n);
        EXPECT_EQ(ToString(Simplified(Sub(high, low))),
                  ToString(Simplified(FloorDiv(Mod(y, n), r))));
        EXPECT_EQ(ToString(Simplified(Sub(Sub(y, Scale(low, n - r)), Scale(high, r)))),
                  ToString(Simplified(Mod(Mod(y, n), r))));
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
