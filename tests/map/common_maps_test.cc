// The maps that everyone writes, against their definitions at every point of small ones.

#include "xla_indexing/map/common_maps.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "tests/map/random_map.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

class CommonMapsTest : public MapTextFixture {};

// All lists of up to three sizes, each of 0 to 3.
std::vector<PointList> SmallShapes() {
  std::vector<PointList> shapes = {{}};
  for (size_t first = 0, rank = 0; rank < 3; ++rank) {
    const size_t end = shapes.size();
    for (; first < end; ++first) {
      for (int64_t size = 0; size <= 3; ++size)
        shapes.push_back(Join(shapes[first], PointList{size}));
    }
  }
  return shapes;
}

int64_t ProductOf(const PointList& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

TEST_F(CommonMapsTest, LinearizeAndDelinearizeCountInRowMajorOrder) {
  for (const PointList& sizes : SmallShapes()) {
    const IndexingMap identity = CreateIdentityMap(sizes, &context_).value();
    const auto linear = LinearizeShape(sizes, identity.results(), &context_);
    ASSERT_TRUE(linear.ok()) << linear.status();
    const IndexingMap to_linear =
        IndexingMap::FromTensorSizes(mlir::AffineMap::get(sizes.size(), 0, *linear), sizes).value();
    const auto indices = DelinearizeIndex(sizes, mlir::getAffineDimExpr(0, &context_));
    ASSERT_TRUE(indices.ok()) << indices.status();
    EXPECT_EQ(indices->size(), sizes.size());
    const int64_t count = ProductOf(sizes);
    const IndexingMap from_linear =
        IndexingMap::FromTensorSizes(mlir::AffineMap::get(1, 0, *indices, &context_), count)
            .value();
    int64_t position = 0;
    ForAllPoints(identity, [&](auto dims, auto /*symbols*/, auto /*results*/) {
      EXPECT_EQ(to_linear.Evaluate(dims, {}).value()[0], position);
      EXPECT_EQ(Join(from_linear.Evaluate(position, {}).value()), Join(dims));
      ++position;
    });
    EXPECT_EQ(position, count);
  }
}

TEST_F(CommonMapsTest, BitcastsKeepPlacesInMemory) {
  int tried = 0;
  const auto place = [](const PointList& sizes, const PointList& order,
                        llvm::ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (size_t i = order.size(); i > 0; --i) at = at * sizes[order[i - 1]] + index[order[i - 1]];
    return at;
  };
  for (const PointList& from : SmallShapes()) {
    for (const PointList& to : SmallShapes()) {
      if (ProductOf(from) != ProductOf(to)) continue;
      PointList from_order(from.size());
      PointList to_order(to.size());
      std::iota(from_order.begin(), from_order.end(), 0);
      std::iota(to_order.rbegin(), to_order.rend(), 0);
      std::rotate(from_order.begin(), from_order.begin() + from.size() / 2, from_order.end());
      const auto map = GetBitcastMap({from, from_order}, {to, to_order}, &context_);
      ASSERT_TRUE(map.ok()) << map.status();
      ForAllPoints(*map, [&](auto dims, auto /*symbols*/, auto results) {
        EXPECT_EQ(place(from, from_order, dims), place(to, to_order, results));
        ++tried;
      });
    }
  }
  EXPECT_GT(tried, 1000);
}

// A small random map with variables of all kinds.
IndexingMap SmallMap(RandomMaps& random, mlir::MLIRContext* context) {
  const auto variables = [&](int64_t most) {
    Variables made(random.Int(0, most));
    for (Variable& variable : made) {
      const int64_t least = random.Int(-2, 1);
      variable.bounds = Interval::Closed(least, least + random.Int(0, 2));
    }
    return made;
  };
  const Variables dims = variables(2);
  const Variables ranges = variables(2);
  const Variables runtimes = variables(2);
  const auto expr = [&] {
    const auto num_dims = static_cast<int>(dims.size());
    return random.Expr(num_dims, static_cast<int>(ranges.size() + runtimes.size()), 1);
  };
  llvm::SmallVector<mlir::AffineExpr, 4> results = {expr(), expr()};
  Constraints constraints;
  if (random.Chance(60)) constraints.push_back({expr(), Interval::Closed(-3, random.Int(-3, 8))});
  return IndexingMap::Create(
             mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, context),
             dims, ranges, runtimes, constraints)
      .value();
}

PointList Reversed(int count) {
  PointList list(count);
  std::iota(list.rbegin(), list.rend(), 0);
  return list;
}

llvm::SmallVector<int, 4> AsInts(const PointList& list) { return {list.begin(), list.end()}; }

// Whether two maps have the same points, where `same(dims, symbols)` is the point of `a` that a point of
// `b` comes from.
template <typename Back>
void ExpectSamePoints(const IndexingMap& a, const IndexingMap& b, Back back) {
  const auto points = [](const IndexingMap& map, auto visit) {
    return map.ForEachPoint(int64_t{1} << 20, visit);
  };
  std::set<PointList> of_a;
  std::set<PointList> of_b;
  const absl::Status read_a = points(
      a, [&](auto dims, auto symbols, auto results) { of_a.insert(Join(dims, symbols, results)); });
  const absl::Status read_b = points(b, [&](auto dims, auto symbols, auto results) {
    of_b.insert(Join(back(Join(dims, symbols)), results));
  });
  // Sums of one map may be in another order, and pass 64 bits on the way.
  for (const absl::Status& read : {read_a, read_b}) {
    if (!read.ok()) {
      EXPECT_TRUE(absl::IsOutOfRange(read)) << read;
      return;
    }
  }
  EXPECT_EQ(of_a, of_b) << a.ToString() << '\n' << b.ToString();
}

TEST_F(CommonMapsTest, VariablesOfAnotherKindAreTheSamePoints) {
  RandomMaps random(31, &context_);
  for (int i = 0; i < Cases(5000); ++i) {
    const IndexingMap map = SmallMap(random, &context_);
    const int dims = map.num_dims();
    const int ranges = map.num_ranges();
    const int runtimes = map.num_runtimes();
    const auto to_dims = RangesToDimensions(map, AsInts(Reversed(ranges)));
    ASSERT_TRUE(to_dims.ok()) << to_dims.status();
    EXPECT_EQ(to_dims->num_ranges(), 0);
    ExpectSamePoints(map, *to_dims, [&](PointList p) {
      std::reverse(p.begin() + dims, p.begin() + dims + ranges);
      return p;
    });
    const auto to_ranges = DimensionsToRanges(map, AsInts(Reversed(dims)));
    ASSERT_TRUE(to_ranges.ok()) << to_ranges.status();
    EXPECT_EQ(to_ranges->num_dims(), 0);
    ExpectSamePoints(map, *to_ranges, [&](PointList p) {
      std::rotate(p.begin(), p.begin() + ranges, p.begin() + ranges + dims);
      std::reverse(p.begin(), p.begin() + dims);
      return p;
    });
    const auto all_dims = RuntimesToDimensions(map);
    ASSERT_TRUE(all_dims.ok()) << all_dims.status();
    ExpectSamePoints(map, *all_dims, [&](PointList p) {
      std::rotate(p.begin() + dims, p.begin() + dims + runtimes, p.end());
      return p;
    });
    PointList values(runtimes);
    for (int64_t& value : values) value = random.Int(-2, 2);
    const auto constant = RuntimesToConstants(map, values);
    if (!constant.ok()) {
      EXPECT_TRUE(absl::IsOutOfRange(constant.status()));
      continue;
    }
    std::set<PointList> expected;
    const absl::Status read = map.ForEachPoint(1 << 20, [&](auto d, auto s, auto results) {
      const llvm::ArrayRef<int64_t> symbols = s;
      if (Join(symbols.drop_front(ranges)) == values) {
        expected.insert(Join(d, symbols.take_front(ranges), results));
      }
    });
    if (read.ok()) {
      EXPECT_EQ(FunctionPoints(*constant), expected) << map.ToString();
    }
  }
}

TEST_F(CommonMapsTest, ConversesAreThePointsTheOtherWayRound) {
  RandomMaps random(72, &context_);
  int64_t compared = 0;
  for (int i = 0; i < Cases(3000); ++i) {
    const IndexingMap map = SmallMap(random, &context_);
    // The pairs of points for every value of the runtime variables; nullopt if there are too many,
    // or if a number does not fit.
    const auto pairs_of = [&](const IndexingMap& of, bool turned) {
      std::set<std::vector<PointList>> pairs;
      const absl::Status read =
          of.ForEachPoint(1 << 20, [&](auto dims, auto symbols, auto results) {
            const llvm::ArrayRef<int64_t> all = symbols;
            const PointList d(dims.begin(), dims.end());
            const PointList r(results.begin(), results.end());
            pairs.insert({Join(all.take_back(of.num_runtimes())), turned ? r : d, turned ? d : r});
          });
      return read.ok() ? std::optional(pairs) : std::nullopt;
    };
    const auto converse = Converse(map);
    if (!converse.ok()) continue;
    const auto expected = pairs_of(map, /*turned=*/true);
    const auto pairs = pairs_of(*converse, /*turned=*/false);
    if (!expected || !pairs) continue;
    EXPECT_EQ(*pairs, *expected) << map.ToString() << converse->ToString();
    compared += static_cast<int64_t>(expected->size());
  }
  EXPECT_GT(compared, Cases(3000));
}

TEST_F(CommonMapsTest, UnusedDimensionsAndConstraintsAreTakenAway) {
  RandomMaps random(73, &context_);
  for (int i = 0; i < Cases(3000); ++i) {
    const IndexingMap map = SmallMap(random, &context_);
    llvm::SmallVector<int> kept;
    const auto smaller = WithoutUnusedDimensions(map, &kept);
    ASSERT_TRUE(smaller.ok()) << smaller.status();
    std::set<PointList> expected;
    const absl::Status read = map.ForEachPoint(1 << 20, [&](auto dims, auto symbols, auto results) {
      PointList left;
      for (const int dim : kept) left.push_back(dims[dim]);
      expected.insert(Join(left, symbols, results));
    });
    if (read.ok()) {
      EXPECT_EQ(FunctionPoints(*smaller), expected) << map.ToString();
    }
    for (int symbol = 0; symbol < map.num_symbols(); ++symbol) {
      bool is_in = false;
      for (const Constraint& constraint : map.constraints()) {
        is_in |= constraint.expr.isFunctionOfSymbol(symbol);
      }
      EXPECT_EQ(IsSymbolConstrained(map, symbol), is_in);
    }
    if (map.constraints().empty()) continue;
    const auto without = ReplaceConstraint(map, 0, std::nullopt);
    ASSERT_TRUE(without.ok()) << without.status();
    EXPECT_EQ(without->constraints().size() + 1, map.constraints().size());
    const auto same = ReplaceConstraint(map, 0, map.constraints()[0]);
    ASSERT_TRUE(same.ok()) << same.status();
    EXPECT_EQ(*same, map);
  }
  EXPECT_THAT(
      std::string(ReplaceConstraint(IndexingMap(&context_), 0, std::nullopt).status().message()),
      HasSubstr("there is no constraint 0 of 0"));
}

TEST_F(CommonMapsTest, RangesContainAllValues) {
  RandomMaps random(32, &context_);
  int tight = 0;
  for (int i = 0; i < Cases(20000); ++i) {
    const IndexingMap map = SmallMap(random, &context_);
    const mlir::AffineExpr expr = random.Expr(map.num_dims(), map.num_symbols(), 2);
    const Interval range = RangeOf(map, expr);
    IndexingMap of_expr(kPartsFit, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), expr),
                        Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
                        Constraints(map.constraints()));
    Interval hull;
    const absl::Status read = of_expr.ForEachPoint(1 << 20, [&](auto, auto, auto results) {
      EXPECT_TRUE(range.Contains(results[0])) << of_expr.ToString() << ' ' << range.ToString();
      hull = hull.Union(Interval::Point(results[0]));
    });
    tight += read.ok() && hull == range ? 1 : 0;
  }
  EXPECT_GT(tight, Cases(8000));
}

TEST_F(CommonMapsTest, ResultsAreSelectedInOrder) {
  const IndexingMap map =
      Parse("(d0)[s0] -> (d0, s0, d0 + s0), domain: d0 in [0, 3], s0 in [0, 1]");
  EXPECT_EQ(SelectResults(map, {2, 0}).value(),
            Parse("(d0)[s0] -> (d0 + s0, d0), domain: d0 in [0, 3], s0 in [0, 1]"));
}

TEST_F(CommonMapsTest, ErrorsSayWhatIsWrong) {
  const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context_);
  const auto message = [](const auto& result) { return std::string(result.status().message()); };
  EXPECT_THAT(message(DelinearizeIndex({2, -1}, d0)), HasSubstr("dimension 1 has the size -1"));
  EXPECT_THAT(message(LinearizeShape({2, 3}, {d0}, &context_)),
              HasSubstr("1 indices for an array of rank 2"));
  EXPECT_THAT(message(LinearizeShape({2, INT64_MAX, 3}, {d0, d0, d0}, &context_)),
              HasSubstr("does not fit"));
  EXPECT_THAT(message(GetBitcastMap({{2, 3}, {1, 0}}, {{5}, {0}}, &context_)),
              HasSubstr("arrays of 6 and 5 elements"));
  EXPECT_THAT(message(GetBitcastMap({{2, 3}, {1, 1}}, {{6}, {0}}, &context_)),
              HasSubstr("dimension 1 is named twice"));
  EXPECT_THAT(message(SelectResults(Parse("(d0) -> (d0), domain: d0 in [0, 3]"), {1})),
              HasSubstr("there is no result 1 of 1"));
}

}  // namespace
}  // namespace xla_indexing
