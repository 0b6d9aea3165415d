// Random maps small enough to enumerate, other ways to write them, and what they are by
// enumeration.

#ifndef XLA_INDEXING_TESTS_MAP_SETS_SMALL_MAPS_H_
#define XLA_INDEXING_TESTS_MAP_SETS_SMALL_MAPS_H_

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/map/random_map.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing {

// A test with maps given as text.
class MapTextFixture : public ::testing::Test {
 protected:
  IndexingMap Parse(absl::string_view text) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status() << ' ' << text;
    return map.ok() ? *map : IndexingMap(&context_);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

// For GoogleTest's messages.
inline void PrintTo(const StridedRange& range, std::ostream* os) {
  *os << '{' << range.offset << ", " << range.count << ", " << range.stride << '}';
}

using PointList = std::vector<int64_t>;

// Calls visit(dims, symbols, results) at every point of the domain.
template <typename Visit>
void ForAllPoints(const IndexingMap& map, Visit visit) {
  const absl::Status status = map.ForEachPoint(int64_t{1} << 22, visit);
  EXPECT_TRUE(status.ok()) << status << ' ' << map.ToString();
}

template <typename... Lists>
PointList Join(const Lists&... lists) {
  PointList joined;
  (joined.insert(joined.end(), lists.begin(), lists.end()), ...);
  return joined;
}

// The set of all (d, s, rt, r).
inline std::set<PointList> FunctionPoints(const IndexingMap& map) {
  std::set<PointList> points;
  ForAllPoints(map, [&](auto dims, auto symbols, auto results) {
    points.insert(Join(dims, symbols, results));
  });
  return points;
}

// The set of all (rt, d, r).
inline std::set<PointList> RelationPoints(const IndexingMap& map) {
  std::set<PointList> points;
  ForAllPoints(map, [&](auto dims, auto symbols, auto results) {
    points.insert(Join(symbols.drop_front(map.num_ranges()), dims, results));
  });
  return points;
}

struct NumVariables {
  int64_t dims;
  int64_t ranges;
  int64_t runtimes;
};

// Two arguments of one call are never both random: compilers differ in the order in which they
// evaluate them, and every compiler has to see the same maps.
class SmallMaps {
 public:
  // Intervals have up to `max_size` values.
  SmallMaps(uint32_t seed, mlir::MLIRContext* context, int64_t max_size = 9)
      : random_(seed, context), context_(context), max_size_(max_size) {}

  int64_t Int(int64_t least, int64_t most) { return random_.Int(least, most); }
  bool Chance(int percent) { return random_.Chance(percent); }

  // Sums of up to two digits of variables.
  mlir::AffineExpr Expr(int64_t num_dims, int64_t num_symbols) {
    mlir::AffineExpr sum = internal::Constant(Chance(40) ? Int(-5, 5) : 0, context_);
    for (int64_t i = num_dims + num_symbols == 0 ? 0 : Int(1, 2); i > 0; --i) {
      const mlir::AffineExpr digit = Digit(num_dims, num_symbols);
      sum = internal::Add(sum, internal::Scale(digit, Chance(60) ? 1 : Int(-6, 6)));
    }
    if (Chance(10))
      sum = Chance(50) ? internal::Mod(sum, Int(2, 6)) : internal::FloorDiv(sum, Int(2, 6));
    return sum;
  }

  IndexingMap Map(NumVariables count, int64_t num_results) {
    Variables dims = SomeVariables(count.dims);
    Variables ranges = SomeVariables(count.ranges);
    Variables runtimes = SomeVariables(count.runtimes);
    const int64_t num_symbols = count.ranges + count.runtimes;
    llvm::SmallVector<mlir::AffineExpr, 4> results;
    for (int64_t i = 0; i < num_results; ++i) results.push_back(Expr(count.dims, num_symbols));
    Constraints constraints;
    for (int64_t i = Chance(50) ? Int(1, 2) : 0; i > 0; --i) {
      const int64_t lower = Int(-6, 4);
      mlir::AffineExpr expr = Expr(count.dims, num_symbols);
      if (Chance(40)) expr = internal::Mod(expr, Int(2, 5));
      constraints.push_back({expr, Interval::Closed(lower, lower + Int(0, 10))});
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(count.dims, num_symbols, results, context_);
    return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                       std::move(runtimes), std::move(constraints));
  }

  IndexingMap Map() {
    const NumVariables count{Int(0, 2), Int(0, 2), Chance(25) ? 1 : 0};
    return Map(count, Int(0, 2));
  }

  // A map of up to three variables with two to four constraints, of which some are equalities and
  // some on residues.
  IndexingMap MapOfSeveralConstraints() {
    const int64_t num_dims = Int(1, 3);
    const int64_t num_ranges = Int(0, 4 - num_dims);
    const IndexingMap map = Map({num_dims, num_ranges, 0}, Int(1, 2));
    Constraints constraints;
    for (int64_t i = Int(2, 4); i > 0; --i) {
      mlir::AffineExpr expr = Expr(num_dims, num_ranges);
      if (Chance(20)) expr = internal::Mod(expr, Int(2, 5));
      const int64_t lower = Int(-4, 4);
      constraints.push_back({expr, Interval::Closed(lower, lower + (Chance(40) ? 0 : Int(1, 9)))});
    }
    return IndexingMap(kPartsFit, map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                       {}, std::move(constraints));
  }

  // The map written in another way: some results as digits of themselves, an interval as a
  // constraint, a constraint that holds everywhere.
  IndexingMap Rewritten(const IndexingMap& map) {
    llvm::SmallVector<mlir::AffineExpr, 4> results;
    for (const mlir::AffineExpr result : map.results()) {
      const int64_t m = Int(2, 5);
      results.push_back(Chance(60)
                            ? internal::Add(internal::Scale(internal::FloorDiv(result, m), m),
                                            internal::Mod(result, m))
                            : result);
    }
    Variables dims(map.dims());
    Constraints constraints(map.constraints());
    if (!dims.empty() && !dims[0].bounds.IsEmpty() && Chance(50)) {
      // d0 in [l, u] as 2 * d0 + d0 mod 2 in [2 * l, 2 * u + 1] beside a wider interval.
      const Interval bounds = dims[0].bounds;
      const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, context_);
      constraints.push_back({internal::Add(internal::Scale(d0, 2), internal::Mod(d0, 2)),
                             Interval::Closed(2 * bounds.lower(), 2 * bounds.upper() + 1)});
      const int64_t lower = bounds.lower() - Int(0, 3);
      dims[0].bounds = Interval::Closed(lower, bounds.upper() + Int(0, 3));
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, context_);
    return IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                       Variables(map.runtimes()), std::move(constraints));
  }

  // The relation with other range variables: in reverse order, cut into two digits, or behind one
  // that is not used.
  IndexingMap WithOtherRanges(const IndexingMap& map) {
    Variables ranges;
    llvm::SmallVector<mlir::AffineExpr, 4> symbols;
    const auto add = [&](Interval bounds) {
      ranges.push_back({bounds, {}});
      return mlir::getAffineSymbolExpr(ranges.size() - 1, context_);
    };
    if (Chance(30)) add(Interval::OfSize(Int(1, 3)));
    for (const Variable& range : map.ranges()) {
      const int64_t size = range.bounds.Size().value_or(0);
      if (size == 0) {
        symbols.push_back(add(range.bounds));
      } else if (size % 2 == 0 && Chance(60)) {
        const mlir::AffineExpr low = add(Interval::OfSize(2));
        const mlir::AffineExpr high = add(Interval::OfSize(size / 2));
        symbols.push_back(internal::Add(internal::Add(low, internal::Scale(high, 2)),
                                        internal::Constant(range.bounds.lower(), context_)));
      } else {
        symbols.push_back(internal::Sub(internal::Constant(range.bounds.upper(), context_),
                                        add(Interval::OfSize(size))));
      }
    }
    for (int i = 0; i < map.num_runtimes(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(ranges.size() + i, context_));
    }
    llvm::SmallVector<mlir::AffineExpr, 4> results;
    for (const mlir::AffineExpr result : map.results()) {
      results.push_back(internal::Substitute(result, {}, symbols));
    }
    Constraints constraints;
    for (const Constraint& constraint : map.constraints()) {
      constraints.push_back(
          {internal::Substitute(constraint.expr, {}, symbols), constraint.interval});
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(map.num_dims(), ranges.size() + map.num_runtimes(), results, context_);
    return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), std::move(ranges),
                       Variables(map.runtimes()), std::move(constraints));
  }

  // The map with one of its numbers moved by one.
  IndexingMap Nudged(const IndexingMap& map) {
    llvm::SmallVector<mlir::AffineExpr, 4> results(map.results());
    Variables dims(map.dims());
    Variables ranges(map.ranges());
    Constraints constraints(map.constraints());
    const auto nudge = [&](Interval& interval) {
      if (interval.IsEmpty()) return;
      const int64_t lower = interval.lower() - (Chance(50) ? 1 : 0);
      interval = Interval::Closed(lower, interval.upper() + (Chance(50) ? 1 : -1));
    };
    switch (Int(0, 3)) {
      case 0:
        if (!results.empty())
          results[0] = internal::Add(results[0], internal::Constant(1, context_));
        break;
      case 1:
        if (!dims.empty()) nudge(dims.back().bounds);
        break;
      case 2:
        if (!ranges.empty()) nudge(ranges.back().bounds);
        break;
      default:
        if (!constraints.empty()) nudge(constraints[0].interval);
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, context_);
    return IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                       Variables(map.runtimes()), std::move(constraints));
  }

  // The indices of a random box after a chain of reshapes, transposes and reverses: a bijection
  // onto the box of `sizes`.
  IndexingMap Chain(std::vector<int64_t>* sizes) {
    const std::vector<int64_t> first = RandomSizes(Int(0, 19) == 0 ? 0 : Int(1, 6) * Int(1, 8));
    std::vector<mlir::AffineExpr> indices;
    indices.reserve(first.size());
    for (size_t i = 0; i < first.size(); ++i) {
      indices.push_back(mlir::getAffineDimExpr(i, context_));
    }
    *sizes = first;
    for (int64_t step = Int(1, 5); step > 0; --step) {
      switch (Int(0, 2)) {
        case 0: {
          for (size_t i = indices.size(); i > 1; --i) {
            const auto j = static_cast<size_t>(Int(0, static_cast<int64_t>(i) - 1));
            std::swap(indices[i - 1], indices[j]);
            std::swap((*sizes)[i - 1], (*sizes)[j]);
          }
          break;
        }
        case 1: {
          const auto i = static_cast<size_t>(Int(0, static_cast<int64_t>(indices.size()) - 1));
          indices[i] = internal::Sub(internal::Constant((*sizes)[i] - 1, context_), indices[i]);
          break;
        }
        default:
          Reshape(&indices, sizes);
      }
    }
    return IndexingMap::FromTensorSizes(mlir::AffineMap::get(first.size(), 0, indices, context_),
                                        first)
        .value();
  }

 private:
  mlir::AffineExpr Digit(int64_t num_dims, int64_t num_symbols) {
    const int64_t choice = Int(0, num_dims + num_symbols - 1);
    mlir::AffineExpr digit = choice < num_dims
                                 ? mlir::getAffineDimExpr(choice, context_)
                                 : mlir::getAffineSymbolExpr(choice - num_dims, context_);
    if (Chance(30)) {
      digit = internal::Scale(digit, Chance(70) ? 1 : Int(-3, 3));
      digit = internal::Add(digit, internal::Constant(Int(-2, 2), context_));
      digit = Chance(50) ? internal::Mod(digit, Int(2, 5)) : internal::FloorDiv(digit, Int(2, 5));
    }
    return digit;
  }

  Variables SomeVariables(int64_t count) {
    Variables variables;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t lower = Chance(50) ? 0 : Int(-6, 6);
      const int64_t size = Chance(4) ? 0 : Chance(10) ? 1 : Int(2, max_size_);
      variables.push_back({Interval::Closed(lower, lower + size - 1), {}});
    }
    return variables;
  }

  // Random sizes whose product is `total`.
  std::vector<int64_t> RandomSizes(int64_t total) {
    std::vector<int64_t> sizes;
    int64_t rest = total;
    while (rest > 1 && sizes.size() < 3 && Chance(80)) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= rest; ++d) {
        if (rest % d == 0) divisors.push_back(d);
      }
      const int64_t d = divisors[Int(0, static_cast<int64_t>(divisors.size()) - 1)];
      sizes.push_back(d);
      rest /= d;
    }
    sizes.insert(sizes.begin() + Int(0, static_cast<int64_t>(sizes.size())), rest);
    return sizes;
  }

  void Reshape(std::vector<mlir::AffineExpr>* indices, std::vector<int64_t>* sizes) {
    mlir::AffineExpr position = internal::Constant(0, context_);
    int64_t total = 1;
    for (size_t i = 0; i < sizes->size(); ++i) {
      position = internal::Add(internal::Scale(position, (*sizes)[i]), (*indices)[i]);
      total *= (*sizes)[i];
    }
    *sizes = RandomSizes(total);
    indices->assign(sizes->size(), {});
    int64_t stride = 1;
    for (size_t i = sizes->size(); i > 0; --i) {
      const int64_t size = std::max<int64_t>((*sizes)[i - 1], 1);
      const mlir::AffineExpr quotient = internal::FloorDiv(position, stride);
      (*indices)[i - 1] = i > 1 ? internal::Mod(quotient, size) : quotient;
      stride *= size;
    }
  }

  RandomMaps random_;
  mlir::MLIRContext* context_;
  int64_t max_size_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_MAP_SETS_SMALL_MAPS_H_
