// ComposeIndexingMaps against its definition: first, then second, point by point.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

class ComposeTest : public MapTextFixture {};

// The points of a composition by definition: (d, s2, s1, rt2, rt1, r) with a point (d, s1, rt1) of
// the first map whose results m are, with s2 and rt2, a point of the second.
std::set<PointList> PointsOfBoth(const IndexingMap& first, const IndexingMap& second) {
  // The second map's symbols at all of its points, so that no more are tried.
  std::set<PointList> second_symbols;
  ForAllPoints(second, [&](auto /*dims*/, auto symbols, auto /*results*/) {
    second_symbols.insert(Join(symbols));
  });
  std::set<PointList> points;
  ForAllPoints(first, [&](auto dims, auto symbols, auto middle) {
    const llvm::ArrayRef<int64_t> of_first = symbols;
    for (const PointList& tried : second_symbols) {
      const llvm::ArrayRef<int64_t> of_second = tried;
      const absl::StatusOr<bool> is_inside = second.Contains(middle, of_second);
      ASSERT_TRUE(is_inside.ok()) << is_inside.status();
      if (!*is_inside) continue;
      points.insert(Join(
          dims, of_second.take_front(second.num_ranges()), of_first.take_front(first.num_ranges()),
          of_second.drop_front(second.num_ranges()), of_first.drop_front(first.num_ranges()),
          second.Evaluate(middle, of_second).value()));
    }
  });
  return points;
}

// Gives every other variable a name.
void NameSome(IndexingMap* map, const std::string& prefix) {
  const auto name = [&](int i) {
    return mlir::StringAttr::get(map->context(), prefix + std::to_string(i));
  };
  for (int i = 0; i < map->num_dims(); i += 2) map->mutable_dim(i).name = name(i);
  for (int i = 0; i < map->num_ranges(); i += 2) map->mutable_range(i).name = name(10 + i);
  for (int i = 0; i < map->num_runtimes(); i += 2) map->mutable_runtime(i).name = name(20 + i);
}

std::vector<VariableName> NamesIn(llvm::ArrayRef<Variable> variables) {
  std::vector<VariableName> names;
  for (const Variable& variable : variables) names.push_back(variable.name);
  return names;
}

std::vector<VariableName> Both(llvm::ArrayRef<Variable> a, llvm::ArrayRef<Variable> b) {
  std::vector<VariableName> names = NamesIn(a);
  for (const Variable& variable : b) names.push_back(variable.name);
  return names;
}

TEST_F(ComposeTest, RandomMapsAreFollowedByOneAnother) {
  int num_points = 0;
  int num_of_three = 0;
  for (int seed = 0; seed < Cases(3000); ++seed) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    SmallMaps maps(static_cast<uint32_t>(seed), &context, 5);
    const int64_t num_middle = maps.Int(0, 3);
    NumVariables of_first{maps.Int(0, 2), maps.Int(0, 2), 0};
    of_first.runtimes = maps.Int(0, 1);
    NumVariables of_second{num_middle, maps.Int(0, 2), 0};
    of_second.runtimes = maps.Int(0, 1);
    IndexingMap first = maps.Map(of_first, num_middle);
    IndexingMap second = maps.Map(of_second, maps.Int(0, 2));
    NameSome(&first, "a");
    NameSome(&second, "b");
    SCOPED_TRACE(first.ToString() + " then " + second.ToString());
    const absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(first, second);
    ASSERT_TRUE(composed.ok()) << composed.status();
    ASSERT_TRUE(composed->Verify().ok()) << composed->Verify();
    ASSERT_EQ(composed->num_dims(), first.num_dims());
    ASSERT_EQ(composed->num_ranges(), second.num_ranges() + first.num_ranges());
    ASSERT_EQ(composed->num_runtimes(), second.num_runtimes() + first.num_runtimes());
    ASSERT_EQ(composed->num_results(), second.num_results());
    const std::set<PointList> expected = PointsOfBoth(first, second);
    EXPECT_EQ(FunctionPoints(*composed), expected) << composed->ToString();
    num_points += static_cast<int>(expected.size());
    num_of_three += num_middle == 3 && !expected.empty();

    EXPECT_EQ(NamesIn(composed->dims()), NamesIn(first.dims()));
    EXPECT_EQ(NamesIn(composed->ranges()), Both(second.ranges(), first.ranges()));
    EXPECT_EQ(NamesIn(composed->runtimes()), Both(second.runtimes(), first.runtimes()));
  }
  // The maps are not all empty.
  EXPECT_GT(num_points, Cases(3000));
  EXPECT_GE(num_of_three, Cases(3000) / 200);
}

TEST_F(ComposeTest, EveryResultStaysInTheIntervalOfItsDimension) {
  const IndexingMap first = Parse(
      "(d0, d1, d2) -> (d0 * 2, d1 + 3, d2 * 5), domain: d0 in [0, 9], d1 in [0, 9], "
      "d2 in [0, 9]");
  const IndexingMap second =
      Parse("(d0, d1, d2) -> (d0 + d1 + d2), domain: d0 in [0, 7], d1 in [4, 8], d2 in [1, 16]");
  // d0 * 2 in [0, 7], d1 + 3 in [4, 8] and d2 * 5 in [1, 16].
  IndexingMap composed = ComposeIndexingMaps(first, second).value();
  composed.Simplify({.keep_variables = true});
  EXPECT_EQ(composed.ToString(),
            "(d0, d1, d2) -> (d0 * 2 + d1 + d2 * 5 + 3), domain: d0 in [0, 3], d1 in [1, 5], "
            "d2 in [1, 3]");
}

TEST_F(ComposeTest, VariablesOfTheSecondMapComeFirst) {
  const IndexingMap first = Parse(
      "(d0)[a]{t} -> (d0 + a * 10 + t * 100), domain: d0 in [0, 1], a in [0, 2], t in [0, 3], "
      "d0 + a in [0, 2]");
  const IndexingMap second = Parse(
      "(d0)[b]{u} -> (d0, b, u), domain: d0 in [0, 999], b in [0, 4], u in [0, 5], "
      "d0 + b + u in [0, 300]");
  const IndexingMap composed = ComposeIndexingMaps(first, second).value();
  EXPECT_EQ(composed.ToString(),
            "(d0)[b, a]{u, t} -> (d0 + a * 10 + t * 100, b, u), domain: d0 in [0, 1], "
            "b in [0, 4], a in [0, 2], u in [0, 5], t in [0, 3], d0 + b + a * 10 + u + t * 100 in "
            "[0, 300], d0 + a in [0, 2], d0 + a * 10 + t * 100 in [0, 999]");
}

TEST_F(ComposeTest, AnEmptyDomainStaysEmpty) {
  const IndexingMap some = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  const IndexingMap empty = Parse("KNOWN EMPTY (d0) -> 1 results");
  IndexingMap composed = ComposeIndexingMaps(some, empty).value();
  composed.Simplify({.keep_variables = true});
  EXPECT_TRUE(composed.IsKnownEmpty()) << composed.ToString();
  composed = ComposeIndexingMaps(empty, some).value();
  composed.Simplify({.keep_variables = true});
  EXPECT_TRUE(composed.IsKnownEmpty()) << composed.ToString();
}

TEST_F(ComposeTest, ResultsThatAreNotAsManyAsDimensionsAreRefused) {
  const IndexingMap two = Parse("(d0) -> (d0, d0), domain: d0 in [0, 9]");
  const IndexingMap one = Parse("(d0) -> (d0), domain: d0 in [0, 9]");
  const absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(two, one);
  ASSERT_EQ(composed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(composed.status().message(), HasSubstr("a map with 2 results cannot be followed by "
                                                     "one with 1 dimensions"));
}

TEST_F(ComposeTest, NumbersThatDoNotFitAreRefused) {
  const IndexingMap large = Parse("(d0) -> (d0 * 4611686018427387904), domain: d0 in [0, 1]");
  const IndexingMap times_two = Parse("(d0) -> (d0 * 2), domain: d0 in [0, 9]");
  const IndexingMap constrained =
      Parse("(d0) -> (d0), domain: d0 in [0, 9], d0 * 2 + d0 mod 2 in [0, 9]");
  for (const IndexingMap& second : {times_two, constrained}) {
    const absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(large, second);
    ASSERT_EQ(composed.status().code(), absl::StatusCode::kOutOfRange) << second.ToString();
    EXPECT_THAT(composed.status().message(), HasSubstr("does not fit int64"));
  }
}

}  // namespace
}  // namespace xla_indexing
