#include "xla_indexing/map/sets/domain.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/sets/has_integer_point.h"

namespace xla_indexing {
namespace {

using internal::Constant;
using internal::HasIntegerPoint;
using internal::Int128;
using internal::IsVariable;
using internal::kInt64Max;
using internal::kInt64Min;
using internal::NarrowToInt64;
using internal::Sub;
using ::mlir::AffineExpr;

llvm::SmallVector<Interval, 8> AllBounds(const IndexingMap& map) {
  llvm::SmallVector<Interval, 8> bounds(map.DimBounds());
  bounds.append(map.SymbolBounds());
  return bounds;
}

// What is outside an interval, in at most two intervals. Nullopt if an end is the last of int64, so
// that what is beyond it cannot be written.
std::optional<llvm::SmallVector<Interval, 2>> Outside(const Interval& interval) {
  llvm::SmallVector<Interval, 2> outside;
  if (interval.IsEmpty()) {
    outside.push_back(Interval::All());
    return outside;
  }
  if (interval.has_lower()) {
    if (interval.lower() == kInt64Min) return std::nullopt;
    outside.push_back(Interval::AtMost(interval.lower() - 1));
  }
  if (interval.has_upper()) {
    if (interval.upper() == kInt64Max) return std::nullopt;
    outside.push_back(Interval::AtLeast(interval.upper() + 1));
  }
  return outside;
}

// A value of the interval, by a number of any size; toward 0 where there is no end.
int64_t SomeValue(const Interval& bounds, uint64_t choice) {
  constexpr int64_t kFar = 1000;  // stands for the end that there is not
  const Int128 lower = bounds.has_lower()   ? Int128{bounds.lower()}
                       : bounds.has_upper() ? Int128{bounds.upper()} - 2 * kFar
                                            : Int128{-kFar};
  const Int128 upper = bounds.has_upper() ? Int128{bounds.upper()} : lower + 2 * kFar;
  const Int128 length = upper - lower;
  const auto at = [&](Int128 offset) {
    const Int128 value = lower + (offset < 0 ? 0 : offset > length ? length : offset);
    return NarrowToInt64(value).value_or(bounds.has_upper() ? bounds.upper() : kInt64Max);
  };
  const uint64_t inside = choice / 8;
  switch (choice % 8) {
    case 0:
      return at(0);
    case 1:
      return at(length);
    case 2:
      return at(length / 2);
    case 3:
      return at(1);
    case 4:
      return at(length - 1);
    case 5:
      return at(length / 2 + 1);
    default:
      return at(static_cast<Int128>(inside) % (length + 1));
  }
}

}  // namespace

IndexingMap DomainOf(const IndexingMap& map) {
  const mlir::AffineMap no_results =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), map.context());
  return IndexingMap(kPartsFit, no_results, Variables(map.dims()), Variables(map.ranges()),
                     Variables(map.runtimes()), Constraints(map.constraints()));
}

std::optional<int64_t> NumCandidates(const IndexingMap& map) {
  return internal::NumPoints(AllBounds(map));
}

Answer DomainHasIntegerPoint(const IndexingMap& map, StepBudget* budget) {
  if (map.IsKnownEmpty()) return Answer::kNo;
  if (map.constraints().empty()) return Answer::kYes;
  if (!budget->Take(kStepsOfQuestion)) return Answer::kUndecided;
  IndexingMap domain = DomainOf(map);
  domain.Simplify({.keep_variables = true});
  if (domain.IsKnownEmpty()) return Answer::kNo;
  const Answer answer =
      HasIntegerPoint(domain.DimBounds(), domain.SymbolBounds(), domain.constraints());
  if (answer != Answer::kUndecided) return answer;
  const std::optional<int64_t> candidates = NumCandidates(domain);
  if (!candidates || !budget->Take(*candidates)) return Answer::kUndecided;
  bool found = false;
  const absl::Status status =
      domain.ForEachPoint(*candidates, [&](auto, auto, auto) { found = true; });
  if (found) return Answer::kYes;
  return status.ok() ? Answer::kNo : Answer::kUndecided;
}

Answer HasIntegerPointWith(const IndexingMap& map, AffineExpr expr, Interval interval,
                           StepBudget* budget) {
  IndexingMap domain = DomainOf(map);
  domain.AddConstraint(kPartsFit, expr, interval);
  return DomainHasIntegerPoint(domain, budget);
}

Answer HoldsEverywhere(const IndexingMap& map, AffineExpr expr, Interval interval,
                       StepBudget* budget) {
  const std::optional<llvm::SmallVector<Interval, 2>> outside = Outside(interval);
  if (!expr || !outside) return Answer::kUndecided;
  Answer holds = Answer::kYes;
  for (const Interval& part : *outside) {
    holds = And(holds, Not(HasIntegerPointWith(map, expr, part, budget)));
    if (holds == Answer::kNo) break;
  }
  return holds;
}

Answer DomainWithin(const IndexingMap& inner, const IndexingMap& outer, StepBudget* budget) {
  if (inner.IsKnownEmpty()) return Answer::kYes;
  Answer within = Answer::kYes;
  const llvm::SmallVector<Interval, 8> inner_bounds = AllBounds(inner);
  const llvm::SmallVector<Interval, 8> outer_bounds = AllBounds(outer);
  for (size_t i = 0; i < inner_bounds.size(); ++i) {
    if (inner_bounds[i].IsSubsetOf(outer_bounds[i])) continue;
    const auto dims = static_cast<size_t>(inner.num_dims());
    const AffineExpr variable = i < dims ? mlir::getAffineDimExpr(i, inner.context())
                                         : mlir::getAffineSymbolExpr(i - dims, inner.context());
    within = And(within, HoldsEverywhere(inner, variable, outer_bounds[i], budget));
    if (within == Answer::kNo) return within;
  }
  for (const Constraint& constraint : outer.constraints()) {
    const bool is_inner = llvm::any_of(inner.constraints(), [&](const Constraint& own) {
      return own.expr == constraint.expr && own.interval.IsSubsetOf(constraint.interval);
    });
    if (is_inner) continue;
    within = And(within, HoldsEverywhere(inner, constraint.expr, constraint.interval, budget));
    if (within == Answer::kNo) return within;
  }
  return within;
}

Answer SameResultsOn(const IndexingMap& domain, const IndexingMap& other, StepBudget* budget) {
  llvm::SmallVector<AffineExpr, 4> differences;
  for (auto [a, b] : llvm::zip_equal(domain.results(), other.results())) {
    differences.push_back(Sub(a, b));
    if (!differences.back()) return Answer::kUndecided;
  }
  // The normal form of the difference knows the residues that constraints fix.
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(domain.num_dims(), domain.num_symbols(), differences, domain.context());
  IndexingMap difference(kPartsFit, affine_map, Variables(domain.dims()),
                         Variables(domain.ranges()), Variables(domain.runtimes()),
                         Constraints(domain.constraints()));
  difference.Simplify({.keep_variables = true});
  if (difference.IsKnownEmpty()) return Answer::kYes;
  Answer same = Answer::kYes;
  for (const AffineExpr result : difference.results()) {
    if (result == Constant(0, domain.context())) continue;
    same = And(same, HoldsEverywhere(difference, result, Interval::Point(0), budget));
    if (same == Answer::kNo) break;
  }
  return same;
}

void DropImpliedConstraints(IndexingMap* map, StepBudget* budget) {
  const Constraints candidates(map->constraints());
  for (const Constraint& constraint : candidates) {
    Constraints others;
    for (const Constraint& other : map->constraints()) {
      if (!(other == constraint)) others.push_back(other);
    }
    const IndexingMap without(kPartsFit, map->affine_map(), Variables(map->dims()),
                              Variables(map->ranges()), Variables(map->runtimes()),
                              std::move(others));
    if (HoldsEverywhere(without, constraint.expr, constraint.interval, budget) == Answer::kYes) {
      *map = without;
    }
  }
}

namespace {

// The least offset of a value from an end of an interval, or one that is known not to be more, where
// reached(k) says whether there is a value within k of the end: `last`, the other end, is if any is.
// Nullopt if no value is.
std::optional<Int128> OffsetOfHull(std::optional<Int128> last,
                                   llvm::function_ref<Answer(Int128)> reached) {
  if (reached(0) == Answer::kYes) return 0;
  Int128 least = 0;
  Int128 most = last.value_or(1);
  // Without another end, twice as far each time.
  for (Answer answer = last ? Answer::kYes : reached(most); answer != Answer::kYes;
       answer = reached(most)) {
    if (answer == Answer::kUndecided) return least;
    least = most + 1;
    most = 2 * most;
  }
  while (least < most) {
    const Int128 middle = least + (most - least) / 2;
    const Answer answer = reached(middle);
    if (answer == Answer::kUndecided) return least;
    (answer == Answer::kYes ? most : least) = answer == Answer::kYes ? middle : middle + 1;
  }
  return least == last && reached(least) == Answer::kNo ? std::nullopt : std::optional(least);
}

}  // namespace

Interval HullOver(const IndexingMap& map, AffineExpr expr, Interval range, StepBudget* budget) {
  internal::ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  range = map.IsKnownEmpty() ? Interval::Empty() : range.Intersect(simplifier.Range(expr));
  // The interval of a variable alone has no more than its values.
  if (range.IsEmpty() || (map.constraints().empty() && IsVariable(expr))) return range;
  std::optional<Int128> last;
  if (range.IsFinite()) last = Int128{range.upper()} - range.lower();
  const auto has_value = [&](Int128 lower, Int128 upper) {
    const std::optional<int64_t> first = NarrowToInt64(lower);
    const std::optional<int64_t> second = NarrowToInt64(upper);
    if (!first || !second) return Answer::kUndecided;
    return HasIntegerPointWith(map, expr, Interval::Closed(*first, *second), budget);
  };
  if (range.has_lower()) {
    const Int128 end = range.lower();
    const std::optional<Int128> offset =
        OffsetOfHull(last, [&](Int128 k) { return has_value(end, end + k); });
    if (!offset) return Interval::Empty();
    range = range.Intersect(Interval::AtLeast(static_cast<int64_t>(end + *offset)));
    if (last) *last -= *offset;
  }
  if (range.has_upper()) {
    const Int128 end = range.upper();
    const std::optional<Int128> offset =
        OffsetOfHull(last, [&](Int128 k) { return has_value(end - k, end); });
    if (!offset) return Interval::Empty();
    range = range.Intersect(Interval::AtMost(static_cast<int64_t>(end - *offset)));
  }
  return range;
}

llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 0> SamplePoints(const IndexingMap& map,
                                                                 int count) {
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 0> points;
  const llvm::SmallVector<Interval, 8> bounds = AllBounds(map);
  if (llvm::any_of(bounds, [](const Interval& interval) { return interval.IsEmpty(); })) {
    return points;
  }
  constexpr int kAlike = 3;
  uint64_t state = 1;
  for (int i = 0; i < kAlike + count; ++i) {
    llvm::SmallVector<int64_t, 8>& point = points.emplace_back();
    for (const Interval& interval : bounds) {
      // Knuth's linear congruential generator (MMIX).
      state = state * 6364136223846793005u + 1442695040888963407u;
      point.push_back(SomeValue(interval, i < kAlike ? static_cast<uint64_t>(i) : state >> 32));
    }
  }
  return points;
}

}  // namespace xla_indexing
