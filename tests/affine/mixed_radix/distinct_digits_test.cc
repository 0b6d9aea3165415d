// Sums of digits of variables: their ranges, and how they are written, against all of their values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// floor(number/place) mod size; without a size (0) floor(number/place).
AffineExpr DigitOf(AffineExpr number, int64_t place, int64_t size) {
  const AffineExpr quotient = FloorDiv(number, place);
  return size == 0 ? quotient : Mod(quotient, size);
}

std::vector<AffineExpr> AllDigitsOf(AffineExpr number, int64_t values) {
  std::vector<AffineExpr> digits;
  for (int64_t place = 1; place < values; ++place) {
    for (const int64_t size : {0, 2, 3, 4, 6}) digits.push_back(DigitOf(number, place, size));
  }
  return digits;
}

int CountSummandsAndDivisions(AffineExpr e) {
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(e);
  if (!binary) return 1;
  const bool is_sum = e.getKind() == mlir::AffineExprKind::Add;
  const bool is_product = e.getKind() == mlir::AffineExprKind::Mul;
  return CountSummandsAndDivisions(binary.getLHS()) +
         (is_sum       ? CountSummandsAndDivisions(binary.getRHS())
          : is_product ? 0
                       : 1);
}

using DistinctDigitsTest = ExprFixture;

TEST_F(DistinctDigitsTest, RangesAreExactWhereDigitsOfOneVariableAreIndependent) {
  int64_t independent = 0;
  for (int64_t values = 2; values <= 13; ++values) {
    const Interval box[] = {Interval::OfSize(values), Interval::OfSize(3)};
    const std::vector<AffineExpr> digits = AllDigitsOf(D(0), values);
    for (const AffineExpr a : digits) {
      for (const AffineExpr b : digits) {
        std::set<std::pair<Int128, Int128>> pairs;
        std::set<Int128> of_a;
        std::set<Int128> of_b;
        for (int64_t x = 0; x < values; ++x) {
          const std::pair<Int128, Int128> pair = {Value(a, {x}, {}), Value(b, {x}, {})};
          pairs.insert(pair);
          of_a.insert(pair.first);
          of_b.insert(pair.second);
        }
        for (const int64_t factor : {-3, 5}) {
          const AffineExpr e = Add(Add(Scale(a, factor), Scale(b, 2)), D(1));
          Int128 least = INT64_MAX;
          Int128 greatest = INT64_MIN;
          for (const auto& [of_first, of_second] : pairs) {
            const Int128 value = factor * of_first + 2 * of_second;
            least = std::min(least, value);
            greatest = std::max(greatest, value + 2);
          }
          ExprSimplifier simplifier(&context_, box, {});
          const Interval range = simplifier.Range(e);
          const Interval hull =
              Interval::Closed(static_cast<int64_t>(least), static_cast<int64_t>(greatest));
          ASSERT_TRUE(hull.IsSubsetOf(range)) << ToString(e) << " of " << values;
          if (pairs.size() != of_a.size() * of_b.size()) continue;
          ++independent;
          ASSERT_EQ(range.ToString(), hull.ToString()) << ToString(e) << " of " << values;
        }
      }
    }
  }
  EXPECT_GT(independent, 1000);
}

// Sums over numbers of one and of two variables: the form is at most one summand or division longer
// than the sum that was given, and it is its own form.
TEST_F(DistinctDigitsTest, SumsKeepTheirValuesAndDoNotGrow) {
  const Interval box[] = {Interval::OfSize(9), Interval::OfSize(4), Interval::Closed(-2, 5)};
  const std::pair<AffineExpr, int64_t> numbers[] = {
      {D(0), 9},
      {Add(Scale(D(0), 3), D(1)), 28},
      {Add(Scale(D(0), 2), Constant(5, &context_)), 22}};
  CasesInTurn cases;
  for (const auto& [number, values] : numbers) {
    for (const AffineExpr a : AllDigitsOf(number, values)) {
      for (const AffineExpr b : AllDigitsOf(D(2), 6)) {
        for (const int64_t factor : {-4, 1, 3}) {
          if (!cases.IsNextTried()) continue;
          const AffineExpr e = Add(Scale(a, factor), Add(Scale(b, 2), Constant(7, &context_)));
          ExprSimplifier simplifier(&context_, box, {});
          const AffineExpr form = simplifier.Simplify(e);
          ASSERT_LE(CountSummandsAndDivisions(form), CountSummandsAndDivisions(e) + 1)
              << ToString(e) << " is " << ToString(form);
          ForEachPoint({box[0], box[1], box[2]}, [&](const std::vector<int64_t>& at) {
            ASSERT_EQ(Value(form, at, {}), Value(e, at, {}))
                << ToString(e) << " is " << ToString(form);
          });
          ExprSimplifier other(&context_, box, {});
          ASSERT_EQ(other.Simplify(form), form) << ToString(form);
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
