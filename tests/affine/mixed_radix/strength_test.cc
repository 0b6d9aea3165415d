// How strong the normal form is on expressions of up to two divisions of one variable, all with
// small parameters and random ones with larger, and of two variables. They are compared through
// their tables of values:
//
//   equal         the result has the values of the expression
//   minimal       no expression of the grammar with these values has fewer divisions
//   canonical     expressions with equal values have one result
//
// Grammar: x = (a*d + c) op m, and then (k*x + e*d + f) op n or k*x + (e*d + f) op n, where op is
// floordiv or mod, and linear expressions. With two variables a*d and e*d are a*d0 + a1*d1 and
// e*d0 + e1*d1.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

int CountDivisions(AffineExpr e) {
  int count = 0;
  e.walk([&](AffineExpr part) {
    count += part.getKind() == AffineExprKind::FloorDiv || part.getKind() == AffineExprKind::Mod;
  });
  return count;
}

struct Parameters {
  bool nested;
  bool first_is_mod;
  bool second_is_mod;
  int64_t a, c, m, k, e, f, n;
  int64_t a1 = 0, e1 = 0;
};

class StrengthTest : public ::testing::Test {
 protected:
  explicit StrengthTest(std::vector<Interval> box = {Interval::Closed(-4, 19)})
      : box_(std::move(box)) {}

  AffineExpr Linear(int64_t factor, int64_t factor1, int64_t constant) {
    const AffineExpr d0 = Scale(mlir::getAffineDimExpr(0, &context_), factor);
    const AffineExpr d1 = Scale(mlir::getAffineDimExpr(1, &context_), factor1);
    return Add(Add(d0, d1), Constant(constant, &context_));
  }
  static AffineExpr Divide(bool is_mod, AffineExpr e, int64_t divisor) {
    return is_mod ? Mod(e, divisor) : FloorDiv(e, divisor);
  }
  AffineExpr Make(const Parameters& p) {
    const AffineExpr x = Scale(Divide(p.first_is_mod, Linear(p.a, p.a1, p.c), p.m), p.k);
    const AffineExpr rest = Linear(p.e, p.e1, p.f);
    return p.nested ? Divide(p.second_is_mod, Add(x, rest), p.n)
                    : Add(x, Divide(p.second_is_mod, rest, p.n));
  }

  uint64_t Table(AffineExpr e) const {
    uint64_t hash = 0;
    ForEachPoint(box_, [&](const std::vector<int64_t>& point) {
      hash = MixBits(hash ^ static_cast<uint64_t>(Value(e, point, {})));
    });
    return hash;
  }

  // Fewest divisions known by table.
  void Know(AffineExpr e) {
    const int divisions = CountDivisions(e);
    const auto [known, is_new] = fewest_.try_emplace(Table(e), divisions);
    if (!is_new) known->second = std::min(known->second, divisions);
  }

  // An expression that is measured, or one of several where there is less time.
  void Take(AffineExpr e) {
    if (taken_++ % ChosenEffort().one_of != 0) return;
    exprs_.push_back(e);
    Know(e);
  }

  struct Shares {
    double minimal;
    double canonical;  // of pairs of equal expressions, classes weighted by their size
  };

  // Fails where a result has other values.
  Shares Measure() {
    size_t minimal = 0;
    std::map<uint64_t, std::map<const void*, double>> classes;
    for (const AffineExpr e : exprs_) {
      ExprSimplifier simplifier(&context_, box_, {});
      const AffineExpr result = simplifier.Simplify(e);
      const uint64_t table = Table(e);
      EXPECT_EQ(Table(result), table) << ToString(e) << " became " << ToString(result);
      if (HasFailure()) return {0, 0};
      minimal += CountDivisions(result) <= fewest_[table];
      classes[table][result.getAsOpaquePointer()] += 1;
    }
    double pairs = 0, same = 0;
    for (const auto& [table, results] : classes) {
      double size = 0, equal = 0;
      for (const auto& [result, count] : results) {
        size += count;
        equal += count * (count - 1);
      }
      if (size < 2) continue;
      pairs += size;
      same += equal / (size - 1);
    }
    return {static_cast<double>(minimal) / static_cast<double>(exprs_.size()), same / pairs};
  }

  void ExpectShares(double minimal, double canonical) {
    const Shares shares = Measure();
    RecordProperty("minimal", absl::StrCat(shares.minimal));
    RecordProperty("canonical", absl::StrCat(shares.canonical));
    EXPECT_GE(shares.minimal, minimal);
    EXPECT_GE(shares.canonical, canonical);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  const std::vector<Interval> box_;
  std::vector<AffineExpr> exprs_;
  int taken_ = 0;
  std::unordered_map<uint64_t, int> fewest_;
};

TEST_F(StrengthTest, AllExpressionsWithParametersUpToFour) {
  constexpr int64_t kMost = 4;
  for (int64_t a = -kMost; a <= kMost; ++a) {
    for (int64_t c = -16; c <= 16; ++c) Know(Linear(a, 0, c));
  }
  for (const int kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
    for (int64_t a = 1; a <= kMost; ++a) {
      for (int64_t c = 0; c <= kMost; ++c) {
        for (int64_t m = 2; m <= kMost; ++m) {
          for (int64_t k = -kMost; k <= kMost; ++k) {
            for (int64_t e = 0; e <= kMost; ++e) {
              for (int64_t f = 0; f <= kMost; f += 2) {
                for (int64_t n = 2; n <= kMost && k != 0; ++n) {
                  Take(Make(
                      {(kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0, a, c, m, k, e, f, n}));
                }
              }
            }
          }
        }
      }
    }
  }
  ExpectShares(0.992, 0.944);
}

TEST_F(StrengthTest, RandomExpressionsWithParametersUpToTwelve) {
  constexpr int64_t kMost = 12;
  for (int64_t a = -kMost; a <= kMost; ++a) {
    for (int64_t c = -144; c <= 144; ++c) Know(Linear(a, 0, c));
  }
  Random random(7);
  for (int i = 0; i < Cases(100000); ++i) {
    const int64_t k = random.Between(1, kMost) * (random.OneIn(2) ? 1 : -1);
    Take(Make({random.OneIn(2), random.OneIn(2), random.OneIn(2), random.Between(1, kMost),
               random.Between(0, kMost), random.Between(2, kMost), k, random.Between(-kMost, kMost),
               random.Between(0, kMost), random.Between(2, kMost)}));
  }
  ExpectShares(0.995, 0.899);
}

class StrengthOfTwoVariablesTest : public StrengthTest {
 protected:
  StrengthOfTwoVariablesTest() : StrengthTest({Interval::Closed(-3, 12), Interval::Closed(0, 9)}) {}
};

TEST_F(StrengthOfTwoVariablesTest, RandomExpressionsWithParametersUpToFour) {
  constexpr int64_t kMost = 4;
  for (int64_t a = -kMost; a <= kMost; ++a) {
    for (int64_t a1 = -kMost; a1 <= kMost; ++a1) {
      for (int64_t c = -16; c <= 16; ++c) Know(Linear(a, a1, c));
    }
  }
  Random random(7);
  for (int i = 0; i < Cases(100000); ++i) {
    const int64_t k = random.Between(1, kMost) * (random.OneIn(2) ? 1 : -1);
    Parameters p = {random.OneIn(2),
                    random.OneIn(2),
                    random.OneIn(2),
                    random.Between(0, kMost),
                    random.Between(0, kMost),
                    random.Between(2, kMost),
                    k,
                    random.OneIn(3) ? 0 : random.Between(-kMost, kMost),
                    random.Between(0, kMost),
                    random.Between(2, kMost)};
    p.a1 = random.Between(-kMost, kMost);
    p.e1 = random.OneIn(2) ? 0 : random.Between(-kMost, kMost);
    Take(Make(p));
  }
  ExpectShares(0.996, 0.951);
}

}  // namespace
}  // namespace xla_indexing::internal
