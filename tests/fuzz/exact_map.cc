#include "tests/fuzz/exact_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/Support/Casting.h"

namespace xla_indexing::fuzz {
namespace {

using internal::Int128;
using internal::kInt64Max;
using internal::kInt64Min;
using internal::NarrowToInt64;

using Value = std::optional<Int128>;

Value Sum(Value a, Value b) {
  Int128 sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Value Product(Value a, Value b) {
  Int128 product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

Value Floor(Value a, Value divisor) {
  if (!a || !divisor || *divisor < 1) return std::nullopt;
  return *a / *divisor - (*a % *divisor < 0 ? 1 : 0);
}

Value Remainder(Value a, Value divisor) {
  if (!a || !divisor || *divisor < 1) return std::nullopt;
  const Int128 remainder = *a % *divisor;
  return remainder < 0 ? remainder + *divisor : remainder;
}

Int128 Clamped(Int128 value, const Interval& bounds) {
  if (bounds.has_lower()) value = std::max<Int128>(value, bounds.lower());
  if (bounds.has_upper()) value = std::min<Int128>(value, bounds.upper());
  return std::clamp<Int128>(value, kInt64Min, kInt64Max);
}

// Moves one variable so that the constraint may hold, going by what it does to the expression.
void Repair(const Constraint& constraint, int num_dims, llvm::ArrayRef<Interval> bounds,
            Random& random, Point* point) {
  const Value value = ValueOf(constraint.expr, num_dims, *point);
  if (!value || constraint.interval.IsEmpty() || IsIn(constraint.interval, *value)) return;
  const int64_t target = SomeValue(constraint.interval, random);
  const size_t first = random() % point->size();
  for (size_t i = 0; i < point->size(); ++i) {
    const size_t v = (first + i) % point->size();
    int64_t& variable = (*point)[v];
    const int64_t step = variable == kInt64Max ? -1 : 1;
    variable += step;
    const Value moved = ValueOf(constraint.expr, num_dims, *point);
    variable -= step;
    if (!moved || *moved == *value) continue;
    const Int128 slope = (*moved - *value) * step;
    variable = static_cast<int64_t>(Clamped(variable + (target - *value) / slope, bounds[v]));
    return;
  }
}

}  // namespace

void Contradiction(absl::string_view law, absl::string_view first, absl::string_view second) {
  std::fprintf(stderr, "contradiction: %s\n%s\n%s\n", std::string(law).c_str(),
               std::string(first).c_str(), std::string(second).c_str());
  std::abort();
}

std::string PointText(llvm::ArrayRef<int64_t> point) {
  return absl::StrCat("(", absl::StrJoin(point, ", "), ")");
}

bool IsIn(const Interval& interval, Int128 value) {
  return !interval.IsEmpty() && (!interval.has_lower() || interval.lower() <= value) &&
         (!interval.has_upper() || value <= interval.upper());
}

std::optional<Int128> ValueOf(mlir::AffineExpr expr, int num_dims, llvm::ArrayRef<int64_t> point) {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) return constant.getValue();
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) return point[dim.getPosition()];
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return point[num_dims + symbol.getPosition()];
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const Value lhs = ValueOf(binary.getLHS(), num_dims, point);
  const Value rhs = ValueOf(binary.getRHS(), num_dims, point);
  switch (expr.getKind()) {
    case mlir::AffineExprKind::Add:
      return Sum(lhs, rhs);
    case mlir::AffineExprKind::Mul:
      return Product(lhs, rhs);
    case mlir::AffineExprKind::FloorDiv:
      return Floor(lhs, rhs);
    case mlir::AffineExprKind::Mod:
      return Remainder(lhs, rhs);
    default:
      return Product(Floor(Product(lhs, -1), rhs), -1);
  }
}

std::optional<bool> IsInDomain(const IndexingMap& map, llvm::ArrayRef<int64_t> point) {
  for (int v = 0; v < map.num_dims() + map.num_symbols(); ++v) {
    const Variable& variable = v < map.num_dims() ? map.dims()[v] : map.symbol(v - map.num_dims());
    if (!IsIn(variable.bounds, point[v])) return false;
  }
  bool is_known = true;
  for (const Constraint& constraint : map.constraints()) {
    if (constraint.interval.IsEmpty()) return false;
    const Value value = ValueOf(constraint.expr, map.num_dims(), point);
    if (value && !IsIn(constraint.interval, *value)) return false;
    is_known &= value.has_value();
  }
  if (!is_known) return std::nullopt;
  return true;
}

std::optional<Point> ResultsAt(const IndexingMap& map, llvm::ArrayRef<int64_t> point) {
  Point results;
  for (const mlir::AffineExpr result : map.results()) {
    const Value value = ValueOf(result, map.num_dims(), point);
    if (!value || !NarrowToInt64(*value)) return std::nullopt;
    results.push_back(static_cast<int64_t>(*value));
  }
  return results;
}

std::optional<bool> HaveEqualResults(const IndexingMap& a, const IndexingMap& b,
                                     llvm::ArrayRef<int64_t> point) {
  bool is_known = true;
  for (int i = 0; i < a.num_results(); ++i) {
    const Value first = ValueOf(a.results()[i], a.num_dims(), point);
    const Value second = ValueOf(b.results()[i], b.num_dims(), point);
    if (first && second && *first != *second) return false;
    is_known &= first.has_value() && second.has_value();
  }
  if (!is_known) return std::nullopt;
  return true;
}

std::vector<Interval> BoundsOf(const IndexingMap& map) {
  std::vector<Interval> bounds;
  for (const Variable& dim : map.dims()) bounds.push_back(dim.bounds);
  for (const Variable& symbol : map.symbols()) bounds.push_back(symbol.bounds);
  return bounds;
}

std::optional<std::vector<Point>> AllPointsOf(llvm::ArrayRef<Interval> box, size_t max_points) {
  Int128 count = 1;
  for (const Interval& interval : box) {
    if (interval.IsEmpty()) return std::vector<Point>();
  }
  for (const Interval& interval : box) {
    if (!interval.IsFinite()) return std::nullopt;
    count *= Int128{interval.upper()} - interval.lower() + 1;
    if (count > static_cast<Int128>(max_points)) return std::nullopt;
  }
  std::vector<Point> points;
  Point point;
  for (const Interval& interval : box) point.push_back(interval.lower());
  for (;;) {
    points.push_back(point);
    size_t v = box.size();
    while (v > 0 && point[v - 1] == box[v - 1].upper()) {
      point[v - 1] = box[v - 1].lower();
      --v;
    }
    if (v == 0) return points;
    ++point[v - 1];
  }
}

std::optional<std::vector<Point>> AllPoints(const IndexingMap& map, size_t max_points) {
  const std::optional<std::vector<Point>> candidates = AllPointsOf(BoundsOf(map), max_points);
  if (!candidates) return std::nullopt;
  std::vector<Point> points;
  for (const Point& candidate : *candidates) {
    const std::optional<bool> is_in = IsInDomain(map, candidate);
    if (!is_in) return std::nullopt;
    if (*is_in) points.push_back(candidate);
  }
  return points;
}

int64_t SomeValue(const Interval& interval, Random& random) {
  if (interval.IsEmpty()) return static_cast<int64_t>(random() % 5) - 2;
  constexpr int64_t kFar[] = {kInt64Min, kInt64Min + 1, -(int64_t{1} << 32), -17,
                              0,         1000,          int64_t{1} << 62,    kInt64Max};
  Int128 lower = interval.has_lower() ? interval.lower() : kInt64Min;
  Int128 upper = interval.has_upper() ? interval.upper() : kInt64Max;
  if (!interval.has_lower() || !interval.has_upper()) {
    if (random() % 4 == 0) {
      return static_cast<int64_t>(Clamped(kFar[random() % std::size(kFar)], interval));
    }
    // Near the end that there is, or near 0.
    if (!interval.has_lower()) lower = interval.has_upper() ? upper - 20 : -20;
    if (!interval.has_upper()) upper = lower + 40;
  }
  Int128 value = 0;
  switch (random() % 8) {
    case 0:
      value = lower;
      break;
    case 1:
      value = upper;
      break;
    case 2:
      value = lower + static_cast<Int128>(random() % 4) - 1;
      break;
    case 3:
      value = upper - static_cast<Int128>(random() % 4) + 1;
      break;
    case 4:
      value = lower + (upper - lower) / 2;
      break;
    default:
      value = lower + static_cast<Int128>(random()) % (upper - lower + 1);
      break;
  }
  return static_cast<int64_t>(std::clamp<Int128>(value, kInt64Min, kInt64Max));
}

std::vector<Point> SomePoints(const IndexingMap& map, size_t count, Random& random) {
  const std::vector<Interval> bounds = BoundsOf(map);
  std::vector<Point> points;
  for (size_t i = 0; i < count; ++i) {
    Point point;
    for (const Interval& interval : bounds) {
      int64_t value = SomeValue(interval, random);
      if (random() % 8 != 0) value = static_cast<int64_t>(Clamped(value, interval));
      point.push_back(value);
    }
    for (int round = 0; round < 4 && !point.empty() && random() % 8 != 0; ++round) {
      for (const Constraint& constraint : map.constraints()) {
        Repair(constraint, map.num_dims(), bounds, random, &point);
      }
    }
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace xla_indexing::fuzz
