#include "xla_indexing/map/sets/bijection.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/has_integer_point.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::Enumerate;
using internal::ExprSimplifier;
using internal::Int128;
using internal::Joined;
using internal::kInt64Max;
using internal::kMaxPoints;
using internal::Point;
using internal::Points;
using internal::Projected;
using internal::ProjectOntoResults;
using internal::Sub;
using internal::Substitute;
using ::mlir::AffineExpr;

// The map over (rt) and [d, s], with its projection onto (rt, r).
std::optional<Projected> SubjectOf(const IndexingMap& map) {
  return ProjectOntoResults(map, {.dims = false, .runtimes = true});
}

// Every (rt, r) of the map.
std::optional<Points> ImageOf(const IndexingMap& map, StepBudget* budget) {
  return Enumerate(map, budget,
                   [](auto dims, auto, auto results) { return Joined(dims, results); });
}

Answer InjectiveByPoints(const IndexingMap& map, StepBudget* budget) {
  const std::optional<Points> image = ImageOf(map, budget);
  if (!image) return Answer::kUndecided;
  return AnswerOf(image->num_visited == static_cast<int64_t>(image->set.size()));
}

// Whether there are more points than the ranges of the results have room for.
bool HasTooManyPoints(const IndexingMap& map) {
  const std::optional<int64_t> points = NumCandidates(map);
  if (map.num_dims() > 0 || !map.constraints().empty()) return false;
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  Int128 room = 1;
  for (const AffineExpr result : map.results()) {
    const std::optional<int64_t> size = simplifier.Range(result).Size();
    if (!size) return false;
    room *= *size;
    if (room > kInt64Max) return false;
  }
  return !points || *points > room;
}

// No pair of points with equal results differs in any variable.
Answer InjectiveByPairs(const IndexingMap& map, StepBudget* budget) {
  mlir::MLIRContext* context = map.context();
  const int count = map.num_ranges();
  llvm::SmallVector<AffineExpr, 8> twins;
  for (int i = 0; i < count; ++i) twins.push_back(mlir::getAffineSymbolExpr(count + i, context));
  Variables ranges(map.ranges());
  ranges.append(map.ranges().begin(), map.ranges().end());
  Constraints constraints(map.constraints());
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back({Substitute(constraint.expr, {}, twins), constraint.interval});
  }
  for (const AffineExpr result : map.results()) {
    constraints.push_back({Sub(result, Substitute(result, {}, twins)), Interval::Point(0)});
  }
  if (llvm::any_of(constraints, [](const Constraint& c) { return !c.expr; })) {
    return Answer::kUndecided;
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(map.num_dims(), 2 * count, context);
  const IndexingMap pairs(kPartsFit, no_results, Variables(map.dims()), std::move(ranges), {},
                          std::move(constraints));
  Answer injective = Answer::kYes;
  for (int i = 0; i < count && injective != Answer::kNo; ++i) {
    const AffineExpr difference = Sub(mlir::getAffineSymbolExpr(i, context), twins[i]);
    const Answer differs = HasIntegerPointWith(pairs, difference, Interval::AtLeast(1), budget);
    injective = And(injective, Not(differs));
  }
  return injective;
}

Answer Injective(const Projected& subject, StepBudget* budget) {
  const IndexingMap& map = subject.map;
  if (map.IsKnownEmpty()) return Answer::kYes;
  if (subject.projection && llvm::all_of(subject.projection->values, [](AffineExpr value) {
        return static_cast<bool>(value);
      })) {
    return Answer::kYes;
  }
  const std::optional<int64_t> candidates = NumCandidates(map);
  Answer injective = Answer::kUndecided;
  if (candidates && *candidates <= kMaxPoints) injective = InjectiveByPoints(map, budget);
  if (injective == Answer::kUndecided && HasTooManyPoints(map)) injective = Answer::kNo;
  if (injective == Answer::kUndecided) injective = InjectiveByPairs(map, budget);
  if (injective == Answer::kUndecided) injective = InjectiveByPoints(map, budget);
  return injective;
}

// Whether all results are within their sizes.
Answer ResultsWithin(const IndexingMap& map, llvm::ArrayRef<int64_t> sizes, StepBudget* budget) {
  Answer within = Answer::kYes;
  for (auto [result, size] : llvm::zip_equal(map.results(), sizes)) {
    within = And(within, HoldsEverywhere(map, result, Interval::OfSize(size), budget));
    if (within == Answer::kNo) break;
  }
  return within;
}

}  // namespace

absl::StatusOr<Decision> IsInjective(const IndexingMap& map, int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  StepBudget budget(max_steps);
  const std::optional<Projected> subject = SubjectOf(map);
  if (!subject) return budget.Decide(Answer::kUndecided);
  return budget.Decide(Injective(*subject, &budget));
}

absl::StatusOr<Decision> IsBijectionOnto(const IndexingMap& map, llvm::ArrayRef<int64_t> sizes,
                                         int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  if (static_cast<int>(sizes.size()) != map.num_results()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a box of ", sizes.size(), " sizes for a map with ", map.num_results(), " results"));
  }
  // Every (rt, r) that is to be reached.
  Variables box_dims(map.runtimes());
  for (const int64_t size : sizes) {
    if (size < 0) return absl::InvalidArgumentError(absl::StrCat("a box of size ", size));
    box_dims.push_back({Interval::OfSize(size), {}});
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(box_dims.size(), 0, map.context());
  const IndexingMap box(kPartsFit, no_results, std::move(box_dims), {}, {});

  StepBudget budget(max_steps);
  const std::optional<Projected> subject = SubjectOf(map);
  if (!subject) return budget.Decide(Answer::kUndecided);
  Answer answer = ResultsWithin(subject->map, sizes, &budget);
  if (answer != Answer::kNo) answer = And(answer, Injective(*subject, &budget));
  if (answer != Answer::kNo) {
    const bool is_explicit = subject->projection && subject->projection->IsExplicit();
    answer = And(answer, is_explicit ? DomainWithin(box, subject->projection->set, &budget)
                                     : Answer::kUndecided);
  }
  if (answer != Answer::kUndecided) return budget.Decide(answer);

  const std::optional<Points> image = ImageOf(subject->map, &budget);
  if (!image) return budget.Decide(Answer::kUndecided);
  const bool all_within = llvm::all_of(
      image->set, [&](const Point& point) { return box.Contains(point, {}).value_or(false); });
  const auto num_reached = static_cast<int64_t>(image->set.size());
  return budget.Decide(all_within && image->num_visited == num_reached &&
                       NumCandidates(box) == num_reached);
}

}  // namespace xla_indexing
