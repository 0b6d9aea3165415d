#include "xla_indexing/map/indexing_map.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/hash/hash_testing.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineMap;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IndexingMapTest : public ::testing::Test {
 protected:
  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *map : IndexingMap(&context_);
  }

  // A map of one dimension and one range variable to the result.
  IndexingMap MapTo(AffineExpr result, Constraints constraints = {}) {
    return IndexingMap(kPartsFit, AffineMap::get(1, 1, result), {{Interval::Closed(0, 9), {}}},
                       {{Interval::Closed(0, 3), {}}}, {}, constraints);
  }

  void ExpectInvalid(const IndexingMap& map, absl::string_view message) {
    const absl::Status status = map.Verify();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), message);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  AffineExpr d0_ = mlir::getAffineDimExpr(0, &context_);
  AffineExpr d1_ = mlir::getAffineDimExpr(1, &context_);
  AffineExpr s0_ = mlir::getAffineSymbolExpr(0, &context_);
};

TEST_F(IndexingMapTest, FromTensorSizesMakesIntervalsOfIndices) {
  const IndexingMap map =
      IndexingMap::FromTensorSizes(AffineMap::get(2, 1, {d1_, s0_, d0_}, &context_), {10, 1}, {4})
          .value();
  EXPECT_TRUE(map.Verify().ok()) << map.Verify();
  EXPECT_EQ(map.ToString(),
            "(d0, d1)[s0] -> (d1, s0, d0), domain: d0 in [0, 9], d1 in [0, 0], s0 in [0, 3]");
  EXPECT_THAT(map.DimBounds(), ElementsAre(Interval::Closed(0, 9), Interval::Point(0)));
  EXPECT_THAT(map.SymbolBounds(), ElementsAre(Interval::Closed(0, 3)));
}

TEST_F(IndexingMapTest, ASizeOfZeroIsAnEmptyDomain) {
  const IndexingMap map =
      IndexingMap::FromTensorSizes(AffineMap::get(2, 0, {d0_, d1_}, &context_), {10, 0}).value();
  EXPECT_TRUE(map.Verify().ok());
  EXPECT_TRUE(map.IsKnownEmpty());
  EXPECT_EQ(map.ToString(), "KNOWN EMPTY (d0, d1) -> 2 results");
}

TEST_F(IndexingMapTest, AMapWithoutVariablesIsValidAndNotEmpty) {
  const IndexingMap map(&context_);
  EXPECT_TRUE(map.Verify().ok());
  EXPECT_FALSE(map.IsKnownEmpty());
  EXPECT_EQ(map.ToString(), "() -> ()");
  EXPECT_EQ(map.context(), &context_);
}

TEST_F(IndexingMapTest, SymbolsAreRangeVariablesThenRuntimeVariables) {
  const IndexingMap map = Parse(
      "(d0)[s0, s1]{rt0} -> (), domain: d0 in [0, 9], s0 in [0, 1], s1 in [0, 2], "
      "rt0 in [0, 3]");
  EXPECT_EQ(map.num_symbols(), 3);
  EXPECT_EQ(map.symbol(1).bounds, Interval::Closed(0, 2));
  EXPECT_EQ(map.symbol(2).bounds, Interval::Closed(0, 3));
  EXPECT_THAT(map.SymbolBounds(),
              ElementsAre(Interval::Closed(0, 1), Interval::Closed(0, 2), Interval::Closed(0, 3)));
}

TEST_F(IndexingMapTest, CreateTakesPartsThatFit) {
  const Variable ten = {Interval::Closed(0, 9), {}};
  const absl::StatusOr<IndexingMap> map =
      IndexingMap::Create(AffineMap::get(1, 1, d0_ + s0_), {ten}, {ten}, {},
                          {{d0_ - s0_, Interval::AtLeast(0)}, {s0_, Interval::AtMost(3)}});
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->ToString(),
            "(d0)[s0] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], d0 - s0 in [0, inf]");
}

TEST_F(IndexingMapTest, VerifyFindsVariablesThatAreNotDeclared) {
  ExpectInvalid(MapTo(d0_, {{d0_ + d1_, Interval::Point(0)}}),
                "an expression uses dimension 1 of 1");
  ExpectInvalid(MapTo(d0_, {{mlir::getAffineSymbolExpr(3, &context_), Interval::Point(0)}}),
                "an expression uses symbol 3 of 1");
}

TEST_F(IndexingMapTest, VerifyRefusesWhatIsNoQuasiAffineExpression) {
  ExpectInvalid(MapTo(d0_.floorDiv(s0_)), "an expression divides by a variable");
  ExpectInvalid(MapTo(d0_ % s0_), "an expression divides by a variable");
  ExpectInvalid(MapTo(d0_ * s0_), "an expression multiplies two variables");
  ExpectInvalid(MapTo(d0_.ceilDiv(3)),
                "an expression has a ceildiv, which is written as -((-e) floordiv m)");
  AffineExpr by_zero = mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::FloorDiv, d0_,
                                                   mlir::getAffineConstantExpr(0, &context_));
  ExpectInvalid(MapTo(by_zero), "an expression divides by 0");
  ExpectInvalid(MapTo(d0_, {{by_zero + d0_, Interval::Point(0)}}), "an expression divides by 0");
  EXPECT_TRUE(MapTo((d0_ * 3 + s0_ - 4).floorDiv(5) % 2).Verify().ok());
}

TEST_F(IndexingMapTest, VerifyBoundsNestingAndTerms) {
  AffineExpr nested = d0_;
  for (int i = 0; i < kMaxExprDepth; ++i) nested = (nested + 1).floorDiv(3);
  EXPECT_TRUE(MapTo(nested).Verify().ok());
  ExpectInvalid(MapTo((nested + 1).floorDiv(3)), "an expression has a nesting of more than 256");

  // As a tree, 2^13 terms.
  AffineExpr shared = d0_;
  for (int i = 0; i < 13; ++i) {
    shared = mlir::getAffineBinaryOpExpr(mlir::AffineExprKind::Add, shared.floorDiv(3), shared % 5);
  }
  ExpectInvalid(MapTo(shared), "an expression has more than 4096 terms");
}

TEST_F(IndexingMapTest, VerifyRefusesNamesThatAreNoIdentifiers) {
  IndexingMap map = MapTo(d0_);
  map.mutable_range(0).name = mlir::StringAttr::get(&context_, "k 1");
  ExpectInvalid(map, "the name 'k 1' of s0 is not an identifier");
}

TEST_F(IndexingMapTest, AddedConstraintsAreKeptInOrderOncePerExpression) {
  IndexingMap map = MapTo(d0_);
  map.AddConstraint(kPartsFit, s0_ % 2, Interval::Point(0));
  map.AddConstraint(kPartsFit, d0_ + s0_, Interval::Closed(0, 8));
  map.AddConstraint(kPartsFit, d0_ % 4, Interval::Closed(0, 2));
  map.AddConstraint(kPartsFit, d0_ + s0_, Interval::Closed(3, 12));
  EXPECT_EQ(map.ToString(),
            "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [3, 8], "
            "d0 mod 4 in [0, 2], s0 mod 2 in [0, 0]");
}

TEST_F(IndexingMapTest, AConstraintOnAVariableNarrowsItsInterval) {
  IndexingMap map = MapTo(d0_ + s0_);
  map.AddConstraint(kPartsFit, d0_, Interval::AtLeast(4));
  map.AddConstraint(kPartsFit, s0_, Interval::Closed(-5, 1));
  EXPECT_EQ(map.ToString(), "(d0)[s0] -> (d0 + s0), domain: d0 in [4, 9], s0 in [0, 1]");
}

TEST_F(IndexingMapTest, AConstraintThatCannotHoldMakesTheMapEmpty) {
  IndexingMap disjoint = MapTo(d0_);
  disjoint.AddConstraint(kPartsFit, d0_, Interval::Closed(20, 30));
  EXPECT_TRUE(disjoint.IsKnownEmpty());

  IndexingMap contradiction = MapTo(d0_);
  contradiction.AddConstraint(kPartsFit, d0_ + s0_, Interval::Closed(8, 9));
  EXPECT_FALSE(contradiction.IsKnownEmpty());
  contradiction.AddConstraint(kPartsFit, d0_ + s0_, Interval::Closed(-1, 7));
  EXPECT_TRUE(contradiction.IsKnownEmpty());

  IndexingMap constant = MapTo(d0_);
  constant.AddConstraint(kPartsFit, Constant(5, &context_), Interval::Closed(0, 5));
  EXPECT_FALSE(constant.IsKnownEmpty());
  EXPECT_TRUE(constant.constraints().empty());
  constant.AddConstraint(kPartsFit, Constant(5, &context_), Interval::Closed(6, 9));
  EXPECT_TRUE(constant.IsKnownEmpty());
}

TEST_F(IndexingMapTest, EveryEmptyIntervalMakesAMapEmpty) {
  const IndexingMap map =
      Parse("(d0)[s0]{rt0} -> (), domain: d0 in [0, 9], s0 in [0, 9], rt0 in [0, 9]");
  EXPECT_FALSE(map.IsKnownEmpty());
  IndexingMap dim = map;
  dim.mutable_dim(0).bounds = Interval::Empty();
  IndexingMap range = map;
  range.mutable_range(0).bounds = Interval::Empty();
  IndexingMap runtime = map;
  runtime.mutable_runtime(0).bounds = Interval::Empty();
  EXPECT_TRUE(dim.IsKnownEmpty());
  EXPECT_TRUE(range.IsKnownEmpty());
  EXPECT_TRUE(runtime.IsKnownEmpty());
}

TEST_F(IndexingMapTest, TheCanonicalEmptyMapIsEmptyWhateverItsVariables) {
  for (int dims = 0; dims < 3; ++dims) {
    for (int ranges = 0; ranges < 2; ++ranges) {
      for (int runtimes = 0; runtimes < 2; ++runtimes) {
        const IndexingMap map = IndexingMap::MakeEmpty(&context_, dims, ranges, runtimes, 2);
        EXPECT_TRUE(map.IsKnownEmpty()) << map.ToString();
        EXPECT_TRUE(map.Verify().ok()) << map.Verify();
        EXPECT_EQ(map.num_dims(), dims);
        EXPECT_EQ(map.num_ranges(), ranges);
        EXPECT_EQ(map.num_runtimes(), runtimes);
        EXPECT_EQ(map.num_results(), 2);
      }
    }
  }
}

TEST_F(IndexingMapTest, EqualityLooksAtExpressionsIntervalsAndConstraints) {
  const absl::string_view text =
      "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [0, 3], "
      "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]";
  const IndexingMap map = Parse(text);
  EXPECT_EQ(map, Parse(text));
  // Other orders of constraints and other names are no difference.
  EXPECT_EQ(map, Parse("(x)[y]{z} -> (x + y), domain: x in [0, 9], y in [0, 3], z in [0, 3], "
                       "x + y in [0, 5], x mod 2 in [0, 0]"));
  for (const absl::string_view other : {
           "(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [0, 3], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]",
           "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 8], s0 in [0, 3], rt0 in [0, 3], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]",
           "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [1, 3], rt0 in [0, 3], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]",
           "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [0, 4], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]",
           "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [0, 3], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 6]",
           "(d0)[s0]{rt0} -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], rt0 in [0, 3], "
           "d0 mod 2 in [0, 0]",
           // One symbol more of the one kind and one less of the other.
           "(d0)[s0, s1] -> (d0 + s0), domain: d0 in [0, 9], s0 in [0, 3], s1 in [0, 3], "
           "d0 mod 2 in [0, 0], d0 + s0 in [0, 5]",
       }) {
    EXPECT_NE(map, Parse(other)) << other;
  }
}

TEST_F(IndexingMapTest, EmptyMapsOfTheSameDimensionsAndResultsAreEqual) {
  IndexingMap empty = Parse("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 9], s0 in [0, 3]");
  empty.mutable_range(0).bounds = Interval::Empty();
  EXPECT_EQ(empty, IndexingMap::MakeEmpty(&context_, 1, 0, 0, 1));
  EXPECT_NE(empty, IndexingMap::MakeEmpty(&context_, 2, 0, 0, 1));
  EXPECT_NE(empty, IndexingMap::MakeEmpty(&context_, 1, 0, 0, 2));
  EXPECT_EQ(absl::Hash<IndexingMap>()(empty),
            absl::Hash<IndexingMap>()(IndexingMap::MakeEmpty(&context_, 1, 0, 0, 1)));
  EXPECT_NE(Parse("() -> (0)"), IndexingMap::MakeEmpty(&context_, 0, 0, 0, 1));
}

TEST_F(IndexingMapTest, EqualMapsHashEqually) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(std::vector<IndexingMap>{
      Parse("() -> ()"), Parse("() -> (0)"), Parse("(d0) -> (d0), domain: d0 in [0, 9]"),
      Parse("(x) -> (x), domain: x in [0, 9]"), Parse("(d0) -> (d0), domain: d0 in [0, 8]"),
      Parse("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 2 in [0, 0]"),
      Parse("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 3]"),
      Parse("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 3]"),
      Parse("KNOWN EMPTY (d0) -> 1 results"), Parse("KNOWN EMPTY (d0)[s0] -> 1 results"),
      Parse("KNOWN EMPTY () -> 1 results")}));
}

}  // namespace
}  // namespace xla_indexing::internal
