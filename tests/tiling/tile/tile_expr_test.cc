#include "xla_indexing/tiling/tile/tile_expr.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/tiling/tile/tile_condition.h"

namespace xla_indexing {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TileExpr T(int dim) { return TileExpr::Size(dim); }
TileExpr K(int dim) { return TileExpr::Index(dim); }
TileExpr Rt(int variable) { return TileExpr::Runtime(variable); }

TEST(TileExprTest, IsWrittenAsAffineExpressionsAre) {
  EXPECT_EQ(TileExpr().ToString(), "0");
  EXPECT_EQ((K(0) * T(0) * 8 + Rt(1) - 3).ToString(), "k0 * t0 * 8 + rt1 - 3");
  EXPECT_EQ((K(0) * T(0) * -1 + 15).ToString(), "-k0 * t0 + 15");
  EXPECT_EQ((K(1) - T(0) * 2).ToString(), "k1 - t0 * 2");
  EXPECT_EQ(((T(0) - 1) * 8 + T(1)).ToString(), "(t0 - 1) * 8 + t1");
  EXPECT_EQ(FloorDiv(K(0) * T(0), 8).ToString(), "(k0 * t0) floordiv 8");
  EXPECT_EQ((CeilDiv(K(0) * T(0), 2) - 1).ToString(), "((k0 * t0) ceildiv 2) - 1");
  EXPECT_EQ(Mod(FloorDiv(T(0), 8), 4).ToString(), "(t0 floordiv 8) mod 4");
  EXPECT_EQ(Min(CeilDiv(T(0), 8), 4).ToString(), "min(t0 ceildiv 8, 4)");
  EXPECT_EQ(TileExpr::Choice(T(0), TileRelation::kMoreThan, 1, T(1), 8).ToString(),
            "(t0 > 1 ? t1 : 8)");
  EXPECT_EQ(TileExpr::Unknown().ToString(), "?");
  EXPECT_EQ((T(0) * kLeast).ToString(), "-t0 * 9223372036854775808");
  TileNames names;
  names.sizes = {"rows"};
  names.indices = {"i"};
  names.runtimes = {"start"};
  EXPECT_EQ((K(0) * T(0) + K(1) * T(1) + Rt(0)).ToString(names), "i * rows + k1 * t1 + start");
}

TEST(TileExprTest, IsJsonWithAKeyForWhatItIs) {
  EXPECT_EQ(TileExpr(-3).ToJson(), "-3");
  EXPECT_EQ(TileExpr::Unknown().ToJson(), "null");
  EXPECT_EQ((K(0) * T(1) + Rt(2)).ToJson(),
            R"({"sum": [{"product": [{"index": 0}, {"size": 1}]}, {"runtime": 2}]})");
  EXPECT_EQ(Min(FloorDiv(T(0), 8), 4).ToJson(), R"({"min": [{"floordiv": [{"size": 0}, 8]}, 4]})");
  EXPECT_EQ(TileExpr::Choice(Mod(T(0), 2), TileRelation::kEqual, 0, CeilDiv(T(0), 2), 1).ToJson(),
            R"({"if": {"left": {"mod": [{"size": 0}, 2]}, "relation": "=", "right": 0}, )"
            R"("then": {"ceildiv": [{"size": 0}, 2]}, "else": 1})");
}

TEST(TileExprTest, SimplifiesWhatIsObvious) {
  EXPECT_EQ(T(0) + 0, T(0));
  EXPECT_EQ(T(0) * 1, T(0));
  EXPECT_EQ(T(0) * 0, TileExpr(0));
  EXPECT_EQ(TileExpr(3) * T(0) * 4, T(0) * 12);
  EXPECT_EQ((K(0) * 3) * (T(0) * 5), K(0) * T(0) * 15);
  EXPECT_EQ(T(0) + T(1) + T(0), T(0) * 2 + T(1));
  EXPECT_EQ(T(0) + 2 - T(0), TileExpr(2));
  EXPECT_EQ(FloorDiv(K(0) * 16 + Rt(0) + 3, 8), K(0) * 2 + FloorDiv(Rt(0) + 3, 8));
  EXPECT_EQ(CeilDiv(K(0) * 16, 8), K(0) * 2);
  EXPECT_EQ(Mod(K(0) * 16 + 3, 8), TileExpr(3));
  EXPECT_EQ(FloorDiv(TileExpr(-7), 2), TileExpr(-4));
  EXPECT_EQ(CeilDiv(TileExpr(-7), 2), TileExpr(-3));
  EXPECT_EQ(Mod(TileExpr(-7), 2), TileExpr(1));
  EXPECT_EQ(Min(T(0), T(0)), T(0));
  EXPECT_EQ(TileExpr::Choice(8, TileRelation::kMultipleOf, 4, T(0), T(1)), T(0));
  EXPECT_EQ(TileExpr::Choice(T(0), TileRelation::kAtMost, 4, T(1), T(1)), T(1));
  EXPECT_NE(T(0), K(0));
  EXPECT_NE(T(0), T(1));
}

TEST(TileExprTest, HasNoValueThatDoesNotFit) {
  EXPECT_EQ((T(0) * 2).Evaluate({kMost}), std::nullopt);
  EXPECT_EQ((T(0) * 2 - T(1) * 2).Evaluate({kMost, kMost}), std::nullopt);
  // A sum may be larger on the way.
  EXPECT_EQ((T(0) + T(1) - T(2)).Evaluate({kMost, kMost, kMost}), kMost);
  EXPECT_EQ(T(1).Evaluate({4}), std::nullopt);
  EXPECT_EQ(K(0).Evaluate({4}), std::nullopt);
  EXPECT_EQ(TileExpr::Unknown().Evaluate({4}), std::nullopt);
  EXPECT_FALSE((TileExpr(kMost) + 1).IsKnown());
  EXPECT_FALSE((T(0) * kMost * 2).IsKnown());
  EXPECT_FALSE((T(0) * kMost + T(0)).IsKnown());
  EXPECT_FALSE(FloorDiv(T(0), 0).IsKnown());
  EXPECT_FALSE(CeilDiv(T(0), -1).IsKnown());
  EXPECT_FALSE(Mod(T(0), kLeast).IsKnown());
  EXPECT_FALSE((TileExpr::Unknown() * 0).IsKnown());
  // The alternative that is not chosen is not evaluated.
  EXPECT_EQ(TileExpr::Choice(T(0), TileRelation::kEqual, 1, 7, TileExpr::Unknown()).Evaluate({1}),
            7);
  EXPECT_TRUE(HoldsFor(kLeast, TileRelation::kMultipleOf, -1));
  EXPECT_FALSE(HoldsFor(0, TileRelation::kMultipleOf, 0));
}

TEST(TileExprTest, IsAffineButForMinimaAndChoices) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const mlir::AffineExpr k0 = mlir::getAffineDimExpr(0, &context);
  const mlir::AffineExpr t0 = mlir::getAffineSymbolExpr(0, &context);
  const mlir::AffineExpr rt0 = mlir::getAffineSymbolExpr(2, &context);
  EXPECT_EQ((K(0) * 8 + Rt(0) + 1).ToAffine(&context, 2), k0 * 8 + rt0 + 1);
  EXPECT_EQ((K(0) * T(0) * 8 + 1).ToAffine(&context, 2), k0 * t0 * 8 + 1);
  EXPECT_EQ(Mod(FloorDiv(K(0) * T(0), 8), 4).ToAffine(&context, 2), (k0 * t0).floorDiv(8) % 4);
  EXPECT_FALSE(Min(T(0), 8).ToAffine(&context, 2));
  EXPECT_FALSE(TileExpr::Choice(T(0), TileRelation::kEqual, 1, 7, 8).ToAffine(&context, 2));
  EXPECT_FALSE(TileExpr::Unknown().ToAffine(&context, 2));
  EXPECT_FALSE((T(0) * T(1)).ToAffine(&context, 2));
  EXPECT_FALSE(T(2).ToAffine(&context, 2));
  EXPECT_FALSE(
      (T(0) * kMost + T(1) * kMost + FloorDiv(T(0) * kMost, 2) * kMost).ToAffine(&context, 1));
}

// Any expression of small numbers, with its value as it is made.
struct Valued {
  TileExpr expr;
  int64_t value = 0;
};

Valued RandomExpr(Random& random, const std::vector<int64_t>& t, const std::vector<int64_t>& k,
                  int depth) {
  const int dim = static_cast<int>(random.Between(0, 1));
  if (depth == 0 || random.OneIn(6)) {
    switch (random.Between(0, 2)) {
      case 0:
        return {T(dim), t[dim]};
      case 1:
        return {K(dim), k[dim]};
      default: {
        const int64_t number = random.Between(-9, 9);
        return {number, number};
      }
    }
  }
  const Valued a = RandomExpr(random, t, k, depth - 1);
  const Valued b = RandomExpr(random, t, k, depth - 1);
  const int64_t divisor = random.Between(1, 6);
  const int64_t floor = a.value >= 0 ? a.value / divisor : -((-a.value + divisor - 1) / divisor);
  switch (random.Between(0, 7)) {
    case 0:
      return {a.expr + b.expr, a.value + b.value};
    case 1:
      return {a.expr - b.expr, a.value - b.value};
    case 2:
      return {a.expr * (divisor - 3), a.value * (divisor - 3)};
    case 3:
      return {FloorDiv(a.expr, divisor), floor};
    case 4:
      return {CeilDiv(a.expr, divisor), floor + (a.value - floor * divisor == 0 ? 0 : 1)};
    case 5:
      return {Mod(a.expr, divisor), a.value - floor * divisor};
    case 6:
      return {Min(a.expr, b.expr), a.value < b.value ? a.value : b.value};
    default:
      return {TileExpr::Choice(a.expr, TileRelation::kAtLeast, divisor, b.expr, a.expr),
              a.value >= divisor ? b.value : a.value};
  }
}

TEST(TileExprTest, RandomExpressionsHaveTheValuesThatTheyAreMadeOf) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  int64_t affine = 0;
  const int kExprs = Cases(20000);
  for (int i = 0; i < kExprs; ++i) {
    Random random(i);
    const std::vector<int64_t> t = {random.Between(1, 20), random.Between(1, 20)};
    const std::vector<int64_t> k = {random.Between(0, 20), random.Between(0, 20)};
    const Valued made = RandomExpr(random, t, k, 4);
    ASSERT_EQ(made.expr.Evaluate(t, k), made.value) << made.expr.ToString();
    const TileExpr fixed = made.expr.WithSizes(t);
    ASSERT_EQ(fixed.Evaluate({}, k), made.value) << made.expr.ToString();
    const TileExpr swapped = made.expr.Substitute({T(1), T(0)}, {K(1), K(0)});
    ASSERT_EQ(swapped.Evaluate({t[1], t[0]}, {k[1], k[0]}), made.value) << made.expr.ToString();
    const mlir::AffineExpr expr = fixed.ToAffine(&context, 0);
    if (!expr) continue;
    ++affine;
    const auto value = llvm::dyn_cast<mlir::AffineConstantExpr>(
        expr.replaceDims({mlir::getAffineConstantExpr(k[0], &context),
                          mlir::getAffineConstantExpr(k[1], &context)}));
    ASSERT_TRUE(value);
    ASSERT_EQ(value.getValue(), made.value) << made.expr.ToString();
    ASSERT_EQ(TileExpr::Of(expr, {K(0), K(1)}, {}).Evaluate({}, k), made.value);
  }
  EXPECT_GT(affine, kExprs / 3);
}

TileCondition OneClause(std::vector<TileAlternative> alternatives, TileSizeSet others = {}) {
  TileCondition condition;
  condition.clauses.push_back({std::move(alternatives), std::move(others)});
  return condition;
}

TEST(TileConditionTest, AlternativesAreOfLiteralsThatAllHold) {
  const TileCondition condition =
      OneClause({{{T(0), TileRelation::kEqual, 1}},
                 {{T(1), TileRelation::kMultipleOf, 8}, {24, TileRelation::kMultipleOf, T(1)}}});
  EXPECT_EQ(condition.ToString(), "t0 = 1 or (t1 mod 8 = 0 and 24 mod t1 = 0)");
  EXPECT_EQ(condition.Holds({1, 5}), Answer::kYes);
  EXPECT_EQ(condition.Holds({2, 24}), Answer::kYes);
  EXPECT_EQ(condition.Holds({2, 16}), Answer::kNo);
  EXPECT_EQ(condition.Holds({2}), Answer::kUndecided);
  EXPECT_EQ(condition.Holds({1}), Answer::kYes);
  EXPECT_EQ(condition.ToJson(),
            R"({"clauses": [{"alternatives": [[{"left": {"size": 0}, "relation": "=", "right": 1}])"
            R"(, [{"left": {"size": 1}, "relation": "multiple of", "right": 8}, )"
            R"({"left": 24, "relation": "multiple of", "right": {"size": 1}}]]}]})");
}

TEST(TileConditionTest, ClausesAllHoldOrOneOfTheSizesIsGiven) {
  TileCondition condition;
  condition.clauses.push_back({{{{T(0), TileRelation::kAtMost, 4}}}, {}});
  condition.clauses.push_back({{{{T(1), TileRelation::kAtLeast, 3}}}, {{1}, {{1}, {2}}}});
  condition.others = {{0, 1}, {{6, 1}, {7, 3}}};
  EXPECT_EQ(condition.ToString(),
            "((t0 <= 4) and (t1 >= 3 or t1 in {1 to 2})) or (t0, t1) in {(6, 1), (7, 3)}");
  EXPECT_EQ(condition.Holds({4, 2}), Answer::kYes);
  EXPECT_EQ(condition.Holds({6, 1}), Answer::kYes);
  EXPECT_EQ(condition.Holds({6, 3}), Answer::kNo);
  condition.is_by_points = true;
  EXPECT_EQ(condition.Holds({4, 2}), Answer::kYes);
  EXPECT_EQ(condition.Holds({6, 3}), Answer::kUndecided);
}

TEST(TileConditionTest, AClauseOfNothingIsFalse) {
  TileCondition condition = OneClause({});
  EXPECT_EQ(condition.ToString(), "false");
  EXPECT_EQ(condition.Holds({1}), Answer::kNo);
  condition.is_by_points = true;
  EXPECT_EQ(condition.ToString(), "decided point by point");
  EXPECT_EQ(condition.Holds({1}), Answer::kUndecided);
  EXPECT_EQ(condition.ToJson(), R"({"clauses": [{"alternatives": []}], "by_points": true})");
  EXPECT_EQ(AllHold({}, {}), Answer::kYes);
  EXPECT_EQ(AllHold({condition, OneClause({})}, {1}), Answer::kNo);
}

TEST(TileConditionTest, SizesMayBeThoseOfOtherDimensions) {
  const TileCondition condition =
      OneClause({{{T(0), TileRelation::kMultipleOf, 8}}}, {{0}, {{3}, {5}}});
  const auto moved = condition.Substitute({T(4)});
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(moved->ToString(), "t4 mod 8 = 0 or t4 in {3, 5}");
  EXPECT_FALSE(condition.Substitute({T(4) * 2}).has_value());
}

}  // namespace
}  // namespace xla_indexing
