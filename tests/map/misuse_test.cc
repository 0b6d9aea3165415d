// What a program can get wrong when it calls functions of map/: each call ends in a Status that
// says what is wrong, with the numbers, or in an answer that claims nothing.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/cover.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {
namespace {

using internal::CountPoints;
using ::mlir::AffineExpr;
using ::mlir::AffineMap;
using ::testing::HasSubstr;

class MapMisuseTest : public ::testing::Test {
 protected:
  static constexpr auto kNoThreading = mlir::MLIRContext::Threading::DISABLED;

  IndexingMap Parse(absl::string_view text, mlir::MLIRContext* context) {
    absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, context);
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *std::move(map) : IndexingMap(context);
  }

  template <typename Result>
  static void ExpectRefused(const Result& result, absl::string_view message) {
    absl::Status status = absl::OkStatus();
    if constexpr (std::is_same_v<Result, absl::Status>) {
      status = result;
    } else {
      status = result.status();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(std::string(message)));
  }

  // A map of one dimension and one range variable.
  absl::StatusOr<IndexingMap> Create(AffineExpr result, Constraints constraints = {}) {
    return IndexingMap::Create(AffineMap::get(1, 1, {result}, &context_), {ten_}, {ten_}, {},
                               std::move(constraints));
  }
  AffineExpr Binary(mlir::AffineExprKind kind, AffineExpr lhs, int64_t rhs) {
    return mlir::getAffineBinaryOpExpr(kind, lhs, mlir::getAffineConstantExpr(rhs, &context_));
  }

  mlir::MLIRContext context_{kNoThreading};
  mlir::MLIRContext other_context_{kNoThreading};
  AffineExpr d0_ = mlir::getAffineDimExpr(0, &context_);
  AffineExpr s0_ = mlir::getAffineSymbolExpr(0, &context_);
  AffineExpr other_d0_ = mlir::getAffineDimExpr(0, &other_context_);
  const Variable ten_ = {Interval::Closed(0, 9), {}};
  const IndexingMap map_ = Parse("(d0) -> (d0), domain: d0 in [0, 9]", &context_);
  const IndexingMap other_ = Parse("(d0) -> (d0), domain: d0 in [0, 9]", &other_context_);
};

TEST_F(MapMisuseTest, CreateComparesNumbersOfVariables) {
  ExpectRefused(IndexingMap::Create(AffineMap(), {}, {}, {}), "the map has no affine map");
  ExpectRefused(IndexingMap::Create(AffineMap::get(2, 0, d0_), {ten_}, {}, {}),
                "the affine map has 2 dimensions, the map has 1 dimension variables");
  ExpectRefused(
      IndexingMap::Create(AffineMap::get(0, 1, s0_), {}, {ten_}, {ten_}),
      "the affine map has 1 symbols, the map has 1 range variables and 1 runtime variables");
  ExpectRefused(IndexingMap::FromTensorSizes(AffineMap::get(1, 0, d0_), {4, 5}),
                "the affine map has 1 dimensions, the map has 2 dimension variables");
  ExpectRefused(IndexingMap::FromTensorSizes(AffineMap::get(1, 0, d0_), {-4}),
                "the size of dimension 0 is -4");
  ExpectRefused(IndexingMap::FromTensorSizes(AffineMap::get(0, 1, s0_), {}, {-1}),
                "the size of range 0 is -1");
}

TEST_F(MapMisuseTest, CreateVerifiesExpressions) {
  const AffineExpr far_dim = mlir::getAffineDimExpr(70, &context_);
  const AffineExpr far_symbol = mlir::getAffineSymbolExpr(70, &context_);
  ExpectRefused(Create(far_dim + d0_), "an expression uses dimension 70 of 1");
  ExpectRefused(Create(far_symbol + d0_), "an expression uses symbol 70 of 1");
  ExpectRefused(Create(d0_, {{far_dim + d0_, Interval::Point(3)}}),
                "an expression uses dimension 70 of 1");
  // Constraints that would not be kept are verified as well.
  ExpectRefused(Create(d0_, {{far_dim, Interval::All()}}), "an expression uses dimension 70 of 1");
  ExpectRefused(Create(d0_, {{AffineExpr(), Interval::Point(3)}}), "an expression is null");
  ExpectRefused(Create(AffineExpr()), "an expression is null");
  ExpectRefused(Create(Binary(mlir::AffineExprKind::Mod, d0_, 0)), "an expression divides by 0");
  ExpectRefused(Create(Binary(mlir::AffineExprKind::Mod, d0_, -3)), "an expression divides by -3");
  ExpectRefused(Create(Binary(mlir::AffineExprKind::FloorDiv, d0_, 0)),
                "an expression divides by 0");
  ExpectRefused(Create(d0_ * s0_), "an expression multiplies two variables");
  ExpectRefused(Create(d0_.ceilDiv(3)), "an expression has a ceildiv");
}

TEST_F(MapMisuseTest, CreateVerifiesNames) {
  Variable named = ten_;
  named.name = mlir::StringAttr::get(&context_, "k 1");
  ExpectRefused(IndexingMap::Create(AffineMap::get(1, 0, d0_), {named}, {}, {}),
                "the name 'k 1' of d0 is not an identifier");
}

TEST_F(MapMisuseTest, ExpressionsOfAnotherContextAreRefused) {
  ExpectRefused(Create(d0_ + other_d0_), "an expression is of another MLIRContext");
  ExpectRefused(Create(d0_, {{other_d0_ % 2, Interval::Point(0)}}),
                "an expression is of another MLIRContext");
  IndexingMap map = map_;
  ExpectRefused(map.AddConstraint(other_d0_ % 2, Interval::Point(0)),
                "an expression is of another MLIRContext");
  ExpectRefused(map.Substitute({other_d0_}, {}), "an expression is of another MLIRContext");
  EXPECT_EQ(map, map_);
}

TEST_F(MapMisuseTest, ConstraintsAreOverTheMapsVariables) {
  IndexingMap map = map_;
  ExpectRefused(map.AddConstraint(AffineExpr(), Interval::Point(0)), "an expression is null");
  ExpectRefused(map.AddConstraint(s0_ + d0_, Interval::Point(0)),
                "an expression uses symbol 0 of 0");
  EXPECT_EQ(map, map_);
  EXPECT_TRUE(map.AddConstraint(d0_ % 2, Interval::Point(0)).ok());
  EXPECT_EQ(map.ToString(), "(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]");
}

TEST_F(MapMisuseTest, ReplacementsAreOverTheMapsVariables) {
  ExpectRefused(map_.Substitute({mlir::getAffineDimExpr(3, &context_)}, {}),
                "an expression uses dimension 3 of 1");
  ExpectRefused(map_.Substitute({d0_, d0_}, {}),
                "2 dimensions and 0 symbols to be replaced in a map of 1 and 0");
}

TEST_F(MapMisuseTest, PointsHaveAsManyNumbersAsThereAreVariables) {
  ExpectRefused(map_.Evaluate({}, {}),
                "a point of 0 dimensions and 0 symbols for a map of 1 and 0");
  ExpectRefused(map_.Contains({1}, {2}),
                "a point of 1 dimensions and 1 symbols for a map of 1 and 0");
}

TEST_F(MapMisuseTest, MapsOfTwoContextsAreNotComposed) {
  ExpectRefused(ComposeIndexingMaps(map_, other_), "maps of two MLIRContexts cannot be composed");
  ExpectRefused(ComposeIndexingMaps(other_, map_), "maps of two MLIRContexts cannot be composed");
}

TEST_F(MapMisuseTest, MapsOfTwoContextsAreNotCompared) {
  EXPECT_FALSE(map_ == other_);
  EXPECT_FALSE(IndexingMap::MakeEmpty(&context_, 1, 0, 0, 1) ==
               IndexingMap::MakeEmpty(&other_context_, 1, 0, 0, 1));
  ExpectRefused(SameFunction(map_, other_), "maps of two MLIRContexts");
  ExpectRefused(SameRelation(map_, other_), "maps of two MLIRContexts");
  ExpectRefused(IsSubrelation(map_, other_), "maps of two MLIRContexts");
  StepBudget budget(1000);
  EXPECT_EQ(IsCovered(map_, {other_}, &budget), Answer::kUndecided);
}

TEST_F(MapMisuseTest, MapsWithOtherNumbersAreNotCompared) {
  const IndexingMap two = Parse("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9]", &context_);
  ExpectRefused(SameFunction(map_, two), "and one of 2 dimensions, 1 results");
  ExpectRefused(SameRelation(map_, two), "and one of 2 dimensions, 1 results");
  ExpectRefused(IsBijectionOnto(map_, {10, 10}), "2");
  ExpectRefused(IsBijectionOnto(map_, {-3}), "-3");
  StepBudget budget(1000);
  EXPECT_EQ(IsCovered(map_, {two}, &budget), Answer::kUndecided);
}

TEST_F(MapMisuseTest, BudgetsMayBeAnything) {
  for (const int64_t steps : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                              std::numeric_limits<int64_t>::max()}) {
    EXPECT_TRUE(SameRelation(map_, map_, steps)->IsYes());
    EXPECT_TRUE(Inverse(map_, steps).ok());
    EXPECT_TRUE(ImageAsBox(map_, steps).ok());
    EXPECT_TRUE(IsInjective(map_, steps).ok());
    EXPECT_TRUE(IsBijectionOnto(map_, {10}, steps).ok());
    EXPECT_EQ(map_.ForEachPoint(steps, [](auto, auto, auto) {}).ok(), steps > 0);
  }
}

TEST_F(MapMisuseTest, InfiniteIntervalsAreNoNumbers) {
  for (const absl::string_view text :
       {"(d0)[s0] -> (d0 * 4 + s0), domain: d0 in [0, inf], s0 in [0, 3]",
        "(d0)[s0] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in [-inf, inf]",
        "(d0)[s0] -> (d0 - s0), domain: d0 in [-inf, 3], s0 in [-inf, 5], d0 + s0 in [0, 9]",
        "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [-inf, inf], d0 - rt0 in [0, inf]",
        "(d0) -> (d0 floordiv 3, d0 mod 3), domain: d0 in [-inf, inf], d0 mod 5 in [2, 2]"}) {
    IndexingMap map = Parse(text, &context_);
    EXPECT_TRUE(IsEmptyDomain(map)->IsNo()) << text;
    EXPECT_TRUE(SameRelation(map, map)->IsYes()) << text;
    EXPECT_TRUE(SameFunction(map, map)->IsYes()) << text;
    EXPECT_TRUE(IsInjective(map).ok()) << text;
    EXPECT_TRUE(IsBijectionOnto(map, llvm::SmallVector<int64_t, 4>(map.num_results(), 9)).ok());
    EXPECT_TRUE(ImageAsBox(map).ok()) << text;
    (void)Inverse(map);
    StepBudget budget(100000);
    EXPECT_TRUE(CountPoints(map, &budget).has_lower()) << text;
    EXPECT_TRUE(CountImage(map, &budget).has_lower()) << text;
    EXPECT_TRUE(CountPairs(map, &budget).has_lower()) << text;
    EXPECT_FALSE(map.ForEachPoint(1000000, [](auto, auto, auto) {}).ok()) << text;
    map.Simplify({.keep_variables = true});
    EXPECT_TRUE(map.Verify().ok()) << text;
  }
}

using MapMisuseDeathTest = MapMisuseTest;

TEST_F(MapMisuseDeathTest, NumbersThatAreSaidToFitAreLookedAt) {
  EXPECT_DEATH(IndexingMap(kPartsFit, AffineMap(), {}, {}, {}), "other numbers of variables");
  EXPECT_DEATH(IndexingMap(kPartsFit, AffineMap::get(2, 0, d0_), {ten_}, {}, {}),
               "other numbers of variables");
  EXPECT_DEATH(IndexingMap(kPartsFit, AffineMap::get(1, 0, d0_), {ten_}, {ten_}, {}),
               "other numbers of variables");
  IndexingMap map = map_;
  EXPECT_DEATH(map.mutable_dim(1), "a dimension that is not there");
  EXPECT_DEATH(map.mutable_range(0), "a range variable that is not there");
  EXPECT_DEATH(map.mutable_runtime(-1), "a runtime variable that is not there");
  EXPECT_DEATH(map.AddConstraint(kPartsFit, AffineExpr(), Interval::Point(0)), "null expression");
  StepBudget budget(1000);
  EXPECT_DEATH(CountUnionOfImages({map_}, {}, &budget), "other numbers of results");
  EXPECT_DEATH(CountUnionOfImages({map_, other_}, {10}, &budget), "two contexts");
}

}  // namespace
}  // namespace xla_indexing
