#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::testing::ElementsAre;

class RewriteTest : public ::testing::Test {
 protected:
  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return map.ok() ? *map : IndexingMap(&context_);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  AffineExpr d0_ = mlir::getAffineDimExpr(0, &context_);
  AffineExpr d1_ = mlir::getAffineDimExpr(1, &context_);
  AffineExpr s0_ = mlir::getAffineSymbolExpr(0, &context_);
  AffineExpr s1_ = mlir::getAffineSymbolExpr(1, &context_);
};

constexpr int kRemoved = VariableRemap::kRemoved;

TEST_F(RewriteTest, RemovesUnusedSymbolsOfBothKinds) {
  IndexingMap map = Parse(
      "(d0, d1)[s0, s1, s2]{rt0, rt1} -> (d1 + s1, rt1), domain: d0 in [0, 9], d1 in [0, 8], "
      "s0 in [0, 1], s1 in [0, 2], s2 in [0, 3], rt0 in [0, 4], rt1 in [0, 5], "
      "s2 + rt1 in [0, 6]");
  const VariableRemap remap = map.RemoveUnusedSymbols();
  EXPECT_TRUE(map.Verify().ok()) << map.Verify();
  EXPECT_EQ(map.ToString(),
            "(d0, d1)[s0, s1]{rt0} -> (d1 + s0, rt0), domain: d0 in [0, 9], d1 in [0, 8], "
            "s0 in [0, 2], s1 in [0, 3], rt0 in [0, 5], s1 + rt0 in [0, 6]");
  EXPECT_TRUE(remap.changed);
  EXPECT_THAT(remap.ranges, ElementsAre(kRemoved, 0, 1));
  EXPECT_THAT(remap.runtimes, ElementsAre(kRemoved, 0));
}

TEST_F(RewriteTest, AMapThatUsesAllItsVariablesStays) {
  const IndexingMap map = Parse(
      "(d0)[s0]{rt0} -> (d0), domain: d0 in [0, 9], s0 in [0, 1], rt0 in [0, 2], "
      "s0 + rt0 in [0, 2]");
  IndexingMap removed = map;
  const VariableRemap remap = removed.RemoveUnusedSymbols();
  EXPECT_EQ(removed, map);
  EXPECT_FALSE(remap.changed);
  EXPECT_THAT(remap.ranges, ElementsAre(0));
  EXPECT_THAT(remap.runtimes, ElementsAre(0));
}

TEST_F(RewriteTest, AnUnusedVariableWithAnEmptyIntervalLeavesTheMapEmpty) {
  IndexingMap map = Parse("(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [0, 1]");
  map.mutable_range(0).bounds = Interval::Empty();
  IndexingMap without_symbols = map;
  const VariableRemap remap = without_symbols.RemoveUnusedSymbols();
  EXPECT_TRUE(without_symbols.IsKnownEmpty());
  EXPECT_EQ(without_symbols.ToString(), "KNOWN EMPTY (d0) -> 1 results");
  EXPECT_TRUE(remap.changed);
  EXPECT_THAT(remap.ranges, ElementsAre(kRemoved));
  EXPECT_FALSE(without_symbols.RemoveUnusedSymbols().changed);
  EXPECT_TRUE(without_symbols.IsKnownEmpty());
}

TEST_F(RewriteTest, RemovalKeepsNames) {
  IndexingMap map = Parse(
      "(a, b)[k, l]{p, q} -> (b + l + q), domain: a in [0, 9], b in [0, 8], k in [0, 1], "
      "l in [0, 2], p in [0, 3], q in [0, 4]");
  map.RemoveUnusedSymbols();
  EXPECT_EQ(
      map.ToString(),
      "(a, b)[l]{q} -> (b + l + q), domain: a in [0, 9], b in [0, 8], l in [0, 2], q in [0, 4]");
}

TEST_F(RewriteTest, SubstitutesInResultsAndConstraintsOnly) {
  const IndexingMap map = Parse(
      "(d0, d1)[s0]{rt0} -> (d0 * 2, d1 + s0, rt0), domain: d0 in [0, 9], d1 in [0, 8], "
      "s0 in [0, 7], rt0 in [0, 6], d0 + rt0 in [0, 5]");
  const absl::StatusOr<IndexingMap> result =
      map.Substitute({Add(d1_, Constant(3, &context_)), AffineExpr()}, {FloorDiv(d0_, 2)});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->ToString(),
            "(d0, d1)[s0]{rt0} -> (d1 * 2 + 6, d1 + d0 floordiv 2, rt0), domain: d0 in [0, 9], "
            "d1 in [0, 8], s0 in [0, 7], rt0 in [0, 6], d1 + rt0 + 3 in [0, 5]");
}

TEST_F(RewriteTest, SubstitutionIsSimultaneous) {
  const absl::StatusOr<IndexingMap> result =
      Parse("(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 8]").Substitute({d1_, d0_}, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->ToString(), "(d0, d1) -> (d1, d0), domain: d0 in [0, 9], d1 in [0, 8]");
}

TEST_F(RewriteTest, ConstraintsThatBecomeEqualOrTrivialMerge) {
  const IndexingMap map = Parse(
      "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 mod 4 in [0, 2], "
      "d1 mod 4 in [1, 3]");
  const absl::StatusOr<IndexingMap> same = map.Substitute({AffineExpr(), d0_}, {});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->ToString(),
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 mod 4 in [1, 2]");
  const absl::StatusOr<IndexingMap> inside =
      map.Substitute({AffineExpr(), Constant(1, &context_)}, {});
  ASSERT_TRUE(inside.ok());
  EXPECT_EQ(inside->ToString(),
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 mod 4 in [0, 2]");
  const absl::StatusOr<IndexingMap> outside =
      map.Substitute({AffineExpr(), Constant(4, &context_)}, {});
  ASSERT_TRUE(outside.ok());
  EXPECT_TRUE(outside->IsKnownEmpty());
}

TEST_F(RewriteTest, SubstitutionRefusesWhatDoesNotFit) {
  const IndexingMap map = Parse("(d0) -> (d0 * 4611686018427387904), domain: d0 in [0, 1]");
  const absl::Status overflow = map.Substitute({Scale(d0_, 2)}, {}).status();
  EXPECT_EQ(overflow.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(map.Substitute({d0_, d0_}, {}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(map.Substitute({}, {d0_}).status().code(), absl::StatusCode::kInvalidArgument);
  // A replacement by a variable that the map does not have.
  EXPECT_EQ(map.Substitute({FloorDiv(d1_, 4)}, {}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RewriteTest, RangeVariablesBecomeDimensionsAfterTheOthers) {
  const IndexingMap map = Parse(
      "(d0)[s0, s1]{rt0} -> (d0 + s1, s0, rt0), domain: d0 in [0, 9], s0 in [0, 8], "
      "s1 in [0, 7], rt0 in [0, 6], s0 + rt0 in [0, 5]");
  const IndexingMap converted = map.ConvertRangeVariablesToDimensions();
  EXPECT_TRUE(converted.Verify().ok()) << converted.Verify();
  EXPECT_EQ(converted.ToString(),
            "(d0, d1, d2){rt0} -> (d0 + d2, d1, rt0), domain: d0 in [0, 9], d1 in [0, 8], "
            "d2 in [0, 7], rt0 in [0, 6], d1 + rt0 in [0, 5]");
}

TEST_F(RewriteTest, ConvertedRangeVariablesKeepTheirNames) {
  EXPECT_EQ(Parse("(d0)[k, s1] -> (k, s1), domain: d0 in [0, 9], k in [0, 8], s1 in [0, 7]")
                .ConvertRangeVariablesToDimensions()
                .ToString(),
            "(d0, k, d2) -> (k, d2), domain: d0 in [0, 9], k in [0, 8], d2 in [0, 7]");
}

TEST_F(RewriteTest, ConversionOfAMapWithoutRangeVariablesChangesNothing) {
  const IndexingMap map = Parse("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 3]");
  EXPECT_EQ(map.ConvertRangeVariablesToDimensions(), map);
}

// For each point of the used variables, the results: what a map is, its unused variables aside.
using Relation = std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>>;

Relation RelationOf(const IndexingMap& map) {
  Relation relation;
  const absl::Status status = map.ForEachPoint(
      1 << 20,
      [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> results) {
        relation.insert({dims.vec(), results.vec()});
      });
  EXPECT_TRUE(status.ok()) << status;
  return relation;
}

TEST_F(RewriteTest, RemovingSymbolsKeepsTheRelation) {
  RandomMaps random(5, &context_);
  int compared = 0;
  for (int i = 0; i < Cases(2000); ++i) {
    IndexingMap map = random.Map();
    for (int d = 0; d < map.num_dims(); ++d) map.mutable_dim(d).bounds = Interval::Closed(-1, 3);
    for (int s = 0; s < map.num_ranges(); ++s) map.mutable_range(s).bounds = Interval::Closed(0, 2);
    for (int s = 0; s < map.num_runtimes(); ++s) {
      map.mutable_runtime(s).bounds = Interval::OfSize(random.Int(0, 4));
    }
    IndexingMap removed = map;
    const VariableRemap remap = removed.RemoveUnusedSymbols();
    ASSERT_TRUE(removed.Verify().ok()) << removed.Verify();
    ASSERT_EQ(remap.changed, map.num_symbols() != removed.num_symbols()) << map.ToString();
    // Numbers near the ends of int64 overflow; those maps cannot be compared.
    const auto ignore = [](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                           llvm::ArrayRef<int64_t>) {};
    if (!map.ForEachPoint(1 << 20, ignore).ok()) continue;
    ++compared;
    ASSERT_EQ(RelationOf(map), RelationOf(removed)) << map.ToString();
  }
  EXPECT_GT(compared, Cases(1000));
}

}  // namespace
}  // namespace xla_indexing::internal
