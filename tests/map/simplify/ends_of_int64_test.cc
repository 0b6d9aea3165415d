// Maps whose numbers lie at the ends of int64, compared with their definition in 128 bits: whatever
// is said of a map holds of it in mathematical integers, wherever numbers on the way do not fit.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/inverse.h"
#include "xla_indexing/map/simplify/existential.h"
#include "xla_indexing/map/simplify/window_sums.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// Numbers that do not fit int64, as text in messages of tests.
using WidePoint = std::vector<Int128>;

Int128 WideFloorDiv(Int128 a, Int128 m) { return a / m - (a % m < 0 ? 1 : 0); }

// The value of an expression at a point, in 128 bits; none where even those are too few.
std::optional<Int128> WideValue(AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                                llvm::ArrayRef<int64_t> symbols) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return dims[dim.getPosition()];
  if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return symbols[symbol.getPosition()];
  }
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    return constant.getValue();
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const std::optional<Int128> a = WideValue(binary.getLHS(), dims, symbols);
  const std::optional<Int128> b = WideValue(binary.getRHS(), dims, symbols);
  if (!a || !b) return std::nullopt;
  Int128 result = 0;
  switch (expr.getKind()) {
    case AffineExprKind::Add:
      return __builtin_add_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
    case AffineExprKind::Mul:
      return __builtin_mul_overflow(*a, *b, &result) ? std::nullopt : std::optional(result);
    case AffineExprKind::FloorDiv:
      return WideFloorDiv(*a, *b);
    default:
      return *a - WideFloorDiv(*a, *b) * *b;
  }
}

bool WideContains(const Interval& interval, Int128 value) {
  return !interval.IsEmpty() && (!interval.has_lower() || interval.lower() <= value) &&
         (!interval.has_upper() || value <= interval.upper());
}

// Whether a point is in the domain, by definition; none where 128 bits are too few.
std::optional<bool> IsPointOf(const IndexingMap& map, llvm::ArrayRef<int64_t> dims,
                              llvm::ArrayRef<int64_t> symbols) {
  if (map.IsKnownEmpty()) return false;
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!map.dims()[i].bounds.Contains(dims[i])) return false;
  }
  for (int i = 0; i < map.num_symbols(); ++i) {
    if (!map.symbol(i).bounds.Contains(symbols[i])) return false;
  }
  for (const Constraint& constraint : map.constraints()) {
    const std::optional<Int128> value = WideValue(constraint.expr, dims, symbols);
    if (!value) return std::nullopt;
    if (!WideContains(constraint.interval, *value)) return false;
  }
  return true;
}

// All values of a short interval; of a long one some, next to its ends and to 0.
std::vector<int64_t> ValuesOf(const Interval& bounds, bool* all) {
  constexpr int64_t kFew = 9;
  std::vector<int64_t> values;
  if (bounds.IsEmpty()) return values;
  const std::optional<int64_t> size = bounds.Size();
  if (size && *size <= kFew) {
    for (int64_t i = 0; i < *size; ++i) values.push_back(bounds.lower() + i);
    return values;
  }
  *all = false;
  std::set<int64_t> some;
  const int64_t lower = bounds.has_lower() ? bounds.lower() : kInt64Min;
  const int64_t upper = bounds.has_upper() ? bounds.upper() : kInt64Max;
  for (int64_t i = 0; i < 4; ++i) {
    for (const Int128 near : {Int128{lower} + i, Int128{upper} - i, Int128{i} - 2,
                              Int128{kInt64Max / 2} + i - 1, Int128{kInt64Min / 2} + i - 2}) {
      const std::optional<int64_t> value = NarrowToInt64(near);
      if (value && bounds.Contains(*value)) some.insert(*value);
    }
  }
  values.assign(some.begin(), some.end());
  return values;
}

struct WideMap {
  struct Point {
    llvm::SmallVector<int64_t, 4> dims;
    llvm::SmallVector<int64_t, 4> symbols;
    bool is_inside;
    WidePoint results;  // of a point inside
  };
  std::vector<Point> points;  // of the intervals
  bool all = true;            // of them
};

// None where 128 bits are too few.
std::optional<WideMap> Enumerate(const IndexingMap& map) {
  WideMap wide;
  std::vector<std::vector<int64_t>> values;
  for (const Interval& bounds : map.DimBounds()) values.push_back(ValuesOf(bounds, &wide.all));
  for (const Interval& bounds : map.SymbolBounds()) values.push_back(ValuesOf(bounds, &wide.all));
  std::vector<size_t> place(values.size(), 0);
  for (const std::vector<int64_t>& list : values) {
    if (list.empty()) return wide;
  }
  while (true) {
    WideMap::Point& point = wide.points.emplace_back();
    for (size_t i = 0; i < values.size(); ++i) {
      (static_cast<int>(i) < map.num_dims() ? point.dims : point.symbols)
          .push_back(values[i][place[i]]);
    }
    const std::optional<bool> is_inside = IsPointOf(map, point.dims, point.symbols);
    if (!is_inside) return std::nullopt;
    point.is_inside = *is_inside;
    if (*is_inside) {
      for (const AffineExpr result : map.results()) {
        const std::optional<Int128> value = WideValue(result, point.dims, point.symbols);
        if (!value) return std::nullopt;
        point.results.push_back(*value);
      }
    }
    size_t i = 0;
    while (i < place.size() && ++place[i] == values[i].size()) place[i++] = 0;
    if (i == place.size()) return wide;
  }
}

// Maps with small domains that lie anywhere in int64, and numbers that lead to its ends.
class MapsAtTheEnds {
 public:
  MapsAtTheEnds(uint64_t seed, mlir::MLIRContext* context) : random_(seed), context_(context) {}

  IndexingMap Map() {
    Variables dims = SomeVariables(random_.Between(0, 2));
    Variables ranges = SomeVariables(dims.empty() ? 1 : random_.Between(0, 1));
    const int num_dims = static_cast<int>(dims.size());
    const int num_symbols = static_cast<int>(ranges.size());
    llvm::SmallVector<AffineExpr, 4> results;
    for (int64_t i = random_.Between(0, 2); i > 0; --i) {
      results.push_back(Expr(num_dims, num_symbols, 1));
    }
    Constraints constraints;
    for (int64_t i = random_.Between(0, 2); i > 0; --i) {
      constraints.push_back({Expr(num_dims, num_symbols, 1), AnyInterval()});
    }
    return IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, num_symbols, results, context_),
                       std::move(dims), std::move(ranges), {}, std::move(constraints));
  }

 private:
  int64_t Small() { return random_.Between(-4, 4); }
  int64_t Base() {
    constexpr int64_t kBases[] = {kInt64Min, kInt64Min / 2, kInt64Min / 3, 0,        0,
                                  0,         kInt64Max / 3, kInt64Max / 2, kInt64Max};
    return random_.Pick(kBases);
  }
  int64_t Number() {
    const int64_t base = random_.OneIn(2) ? 0 : Base();
    const Int128 moved = Int128{base} + Small();
    return NarrowToInt64(moved).value_or(base);
  }
  int64_t Divisor() {
    constexpr int64_t kDivisors[] = {kInt64Max, kInt64Max - 1, kInt64Max / 2, kInt64Max / 2 + 1,
                                     int64_t{1} << 61};
    return random_.OneIn(2) ? random_.Between(1, 6) : random_.Pick(kDivisors);
  }
  int64_t Coefficient() {
    constexpr int64_t kFactors[] = {kInt64Min, kInt64Max, kInt64Min / 2, kInt64Max / 2 + 1,
                                    int64_t{1} << 61};
    if (random_.OneIn(6)) return random_.Pick(kFactors);
    return random_.OneIn(2) ? 1 : random_.Between(-3, 3);
  }

  AffineExpr Expr(int num_dims, int num_symbols, int depth) {
    AffineExpr sum = Constant(random_.OneIn(2) ? Number() : 0, context_);
    for (int64_t i = random_.Between(1, 2); i > 0 && sum; --i) {
      const int64_t choice = random_.Between(0, num_dims + num_symbols - 1);
      AffineExpr atom = choice < num_dims ? mlir::getAffineDimExpr(choice, context_)
                                          : mlir::getAffineSymbolExpr(choice - num_dims, context_);
      if (depth > 0 && random_.OneIn(2)) {
        const AffineExpr dividend = Expr(num_dims, num_symbols, depth - 1);
        const int64_t divisor = Divisor();
        atom = random_.OneIn(2) ? FloorDiv(dividend, divisor) : Mod(dividend, divisor);
      }
      sum = Add(sum, Scale(atom, Coefficient()));
    }
    return sum ? sum : Constant(0, context_);
  }

  Interval AnyInterval() {
    const int64_t lower = Number();
    const int64_t upper = Number();
    switch (random_.Between(0, 5)) {
      case 0:
        return Interval::AtLeast(lower);
      case 1:
        return Interval::AtMost(upper);
      case 2:
        return lower <= upper ? Interval::Closed(lower, upper) : Interval::Closed(upper, lower);
      default:
        return Interval::Closed(
            lower, NarrowToInt64(Int128{lower} + random_.Between(0, 8)).value_or(kInt64Max));
    }
  }

  Variables SomeVariables(int64_t count) {
    Variables variables;
    for (int64_t i = 0; i < count; ++i) {
      Interval bounds = AnyInterval();
      if (!random_.OneIn(8)) {
        const int64_t lower = Number();
        bounds = Interval::Closed(
            lower, NarrowToInt64(Int128{lower} + random_.Between(0, 8)).value_or(kInt64Max));
      }
      variables.push_back({bounds, {}});
    }
    return variables;
  }

  Random random_;
  mlir::MLIRContext* context_;
};

class EndsOfInt64Test : public MapTextFixture {
 protected:
  // Calls check(map, by definition) for random maps.
  void ForEachMap(uint64_t seed, int count,
                  llvm::function_ref<void(const IndexingMap&, const WideMap&)> check) {
    for (int i = 0; i < LongCases(count) && !HasFailure(); ++i) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      MapsAtTheEnds maps(seed + static_cast<uint64_t>(i), &context);
      const IndexingMap map = maps.Map();
      if (!map.Verify().ok()) continue;
      const std::optional<WideMap> wide = Enumerate(map);
      if (!wide) continue;
      SCOPED_TRACE(map.ToString());
      check(map, *wide);
    }
  }

  // Expects that a map has the same domain and results as `wide` at the points of `wide`.
  static void ExpectSame(const IndexingMap& map, const WideMap& wide) {
    for (const WideMap::Point& point : wide.points) {
      const std::optional<bool> is_inside = IsPointOf(map, point.dims, point.symbols);
      if (!is_inside) continue;
      ASSERT_EQ(*is_inside, point.is_inside)
          << map.ToString() << " at " << testing::PrintToString(point.dims)
          << testing::PrintToString(point.symbols);
      if (!point.is_inside) continue;
      for (int i = 0; i < map.num_results(); ++i) {
        const auto value = WideValue(map.results()[i], point.dims, point.symbols);
        if (!value) continue;
        ASSERT_TRUE(*value == point.results[i])
            << map.ToString() << " result " << i << " at " << testing::PrintToString(point.dims)
            << testing::PrintToString(point.symbols);
      }
    }
  }

  static bool HasIntegerPoint(const WideMap& wide) {
    return std::any_of(wide.points.begin(), wide.points.end(),
                       [](const WideMap::Point& point) { return point.is_inside; });
  }
};

TEST_F(EndsOfInt64Test, BoundsThatDoNotFitAreDecided) {
  const auto simplified = [this](absl::string_view text) {
    IndexingMap map = Parse(text);
    map.Simplify({.keep_variables = true});
    return map.ToString();
  };
  EXPECT_EQ(simplified("(d0) -> (d0), domain: d0 in [0, 9], "
                       "(d0 - 5) floordiv 9223372036854775807 in [7, 7]"),
            "KNOWN EMPTY (d0) -> 1 results");
  EXPECT_EQ(simplified("(d0) -> (d0), domain: d0 in [0, 9223372036854775807], "
                       "d0 - 9223372036854775807 in [7, 7]"),
            "KNOWN EMPTY (d0) -> 1 results");
  EXPECT_EQ(simplified("(d0) -> (d0), domain: d0 in [4611686018427387904, 4611686018427387905], "
                       "d0 * 2 - 9223372036854775807 in [7, 7]"),
            "KNOWN EMPTY (d0) -> 1 results");
  EXPECT_EQ(simplified("(d0) -> (d0), domain: d0 in [4611686018427387904, 4611686018427387914], "
                       "d0 * 2 - 9223372036854775807 in [7, 7]"),
            "(d0) -> (4611686018427387907), domain: d0 in [4611686018427387907, "
            "4611686018427387907]");
}

TEST_F(EndsOfInt64Test, AConstantThatCannotLeaveAFloorIsNotAddedToOthers) {
  // -2^63 + floor((d0 - 2^63)/2) is less than every int64.
  IndexingMap map = Parse(
      "(d0, d1) -> (d1 + (d0 + d1) floordiv 2), domain: d0 in [-2, 2], "
      "d1 in [-9223372036854775808, -9223372036854775808]");
  const std::optional<WideMap> wide = Enumerate(map);
  ASSERT_TRUE(wide.has_value());
  map.Simplify({.keep_variables = true});
  ExpectSame(map, *wide);
}

TEST_F(EndsOfInt64Test, SimplifyingChangesNoPointAndNoResult) {
  ForEachMap(1000, 60000, [](const IndexingMap& map, const WideMap& wide) {
    IndexingMap simplified = map;
    simplified.Simplify({.keep_variables = true});
    ExpectSame(simplified, wide);

    IndexingMap traced = map;
    RuleTrace trace;
    traced.Simplify({.keep_variables = true, .trace = &trace});
    EXPECT_EQ(traced, simplified) << traced.ToString();
  });
}

TEST_F(EndsOfInt64Test, QuestionsAreAnsweredInMathematicalIntegers) {
  ForEachMap(2000000, 20000, [](const IndexingMap& map, const WideMap& wide) {
    const absl::StatusOr<Decision> is_empty = IsEmptyDomain(map);
    ASSERT_TRUE(is_empty.ok());
    if (is_empty->IsYes()) {
      EXPECT_FALSE(HasIntegerPoint(wide));
    }
    if (is_empty->IsNo() && wide.all) {
      EXPECT_TRUE(HasIntegerPoint(wide));
    }

    if (wide.all) {
      StepBudget budget(1 << 20);
      int64_t points = 0;
      std::set<WidePoint> image;
      for (const WideMap::Point& point : wide.points) {
        if (!point.is_inside) continue;
        ++points;
        image.insert(point.results);
      }
      const Interval counted = CountPoints(map, &budget);
      EXPECT_TRUE(counted.Contains(points)) << counted.ToString() << " for " << points;
      const auto image_size = static_cast<int64_t>(image.size());
      const Interval of_image = CountImage(map, &budget);
      EXPECT_TRUE(of_image.Contains(image_size)) << of_image.ToString() << " for " << image_size;

      const absl::StatusOr<Decision> injective = IsInjective(map);
      ASSERT_TRUE(injective.ok());
      if (injective->IsYes()) {
        EXPECT_EQ(image_size, points);
      }
      if (injective->IsNo()) {
        EXPECT_LT(image_size, points);
      }

      const absl::StatusOr<ImageBox> box = ImageAsBox(map);
      ASSERT_TRUE(box.ok());
      if (box->is_box.IsYes()) {
        Int128 count = 1;
        for (const StridedRange& range : box->ranges) count *= range.count;
        EXPECT_EQ(static_cast<int64_t>(count), image_size);
        for (const WidePoint& element : image) {
          for (size_t i = 0; i < element.size(); ++i) {
            const StridedRange& range = box->ranges[i];
            const Int128 step = (element[i] - range.offset) / range.stride;
            EXPECT_TRUE(range.offset + step * range.stride == element[i] && step >= 0 &&
                        step < range.count);
          }
        }
      }
    }
  });
}

TEST_F(EndsOfInt64Test, AnInverseLeadsBack) {
  ForEachMap(3000000, 20000, [](const IndexingMap& map, const WideMap& wide) {
    if (map.num_ranges() != 0) return;
    const absl::StatusOr<IndexingMap> inverse = Inverse(map);
    if (!inverse.ok()) return;
    for (const WideMap::Point& point : wide.points) {
      if (!point.is_inside) continue;
      llvm::SmallVector<int64_t, 4> results;
      for (const Int128 result : point.results) {
        if (const auto narrow = NarrowToInt64(result)) results.push_back(*narrow);
      }
      if (results.size() != point.results.size()) continue;
      const auto is_inside = IsPointOf(*inverse, results, {});
      if (!is_inside) continue;
      EXPECT_TRUE(*is_inside) << inverse->ToString();
      for (int i = 0; i < inverse->num_results(); ++i) {
        const auto back = WideValue(inverse->results()[i], results, {});
        if (back) {
          EXPECT_TRUE(*back == point.dims[i]) << inverse->ToString();
        }
      }
    }
  });
}

TEST_F(EndsOfInt64Test, RangeVariablesThatGoLeaveTheSameRelation) {
  ForEachMap(4000000, 20000, [](const IndexingMap& map, const WideMap& wide) {
    if (map.num_ranges() == 0 || !wide.all) return;
    for (bool (*eliminate)(IndexingMap*) :
         {&EliminateRangeVariables, &RescaleRangeVariables, &JoinWindows}) {
      IndexingMap other = map;
      other.Simplify({.keep_variables = true});
      if (other.IsKnownEmpty() || !eliminate(&other)) continue;
      const std::optional<WideMap> others = Enumerate(other);
      if (!others || !others->all) continue;
      const auto relation = [](const WideMap& of) {
        std::set<std::pair<std::vector<int64_t>, WidePoint>> pairs;
        for (const WideMap::Point& point : of.points) {
          if (point.is_inside) {
            pairs.insert({{point.dims.begin(), point.dims.end()}, point.results});
          }
        }
        return pairs;
      };
      EXPECT_TRUE(relation(*others) == relation(wide)) << other.ToString();
    }
  });
}

}  // namespace
}  // namespace xla_indexing::internal
