#include "xla_indexing/map/count/image.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::Congruence;
using internal::Constant;
using internal::Enumerate;
using internal::Int128;
using internal::Joined;
using internal::kInt64Max;
using internal::Mod;
using internal::NarrowToInt64;
using internal::Points;
using internal::Progression;
using internal::Projected;
using internal::Projection;
using internal::ProjectOntoResults;
using internal::ResidueFact;
using internal::ResidueFactOf;
using internal::Sub;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// The one progression that can have the values of an expression, of which there are some, and
// whether it has no more than those.
struct Candidate {
  Answer is_progression = Answer::kUndecided;
  Progression values = Progression::Empty();
};

StridedRange RangeOf(const Progression& values) {
  if (values.IsEmpty()) return {};
  return {values.first(), static_cast<int64_t>(*values.Count()), values.step()};
}

// Whether a variable takes infinitely many values, with residues at most to restrict it, in a
// domain that has a point.
bool IsInfinite(const IndexingMap& map, AffineExpr expr, const Interval& range) {
  if (range.IsFinite() || expr.getKind() != AffineExprKind::DimId) return false;
  const unsigned dim = llvm::cast<mlir::AffineDimExpr>(expr).getPosition();
  return llvm::all_of(map.constraints(), [&](const Constraint& constraint) {
    const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
    return !constraint.expr.isFunctionOfDim(dim) ||
           (fact && fact->sum.terms().size() == 1 && fact->sum.terms()[0].atom == expr);
  });
}

// (expr - first) mod stride, which is 0 for the elements; of two values or more.
AffineExpr PhaseIn(const Progression& values, AffineExpr expr) {
  return Mod(Sub(expr, Constant(values.first(), expr.getContext())), values.stride());
}

Candidate CandidateFor(const IndexingMap& map, AffineExpr expr, const Interval& range,
                       StepBudget* budget) {
  if (IsInfinite(map, expr, range)) return {Answer::kNo};
  if (!range.IsFinite()) return {};
  if (range.IsEmpty()) return {};
  const Interval hull = HullOver(map, expr, range, budget);
  if (hull.IsEmpty()) return {};
  for (const int64_t end : {hull.lower(), hull.upper()}) {
    if (HasIntegerPointWith(map, expr, Interval::Point(end), budget) != Answer::kYes) return {};
  }
  if (hull.IsPoint()) return {Answer::kYes, Progression::Point(hull.lower())};
  // The next value after the least.
  const Interval rest = Interval::Closed(hull.lower() + 1, hull.upper());
  IndexingMap above = DomainOf(map);
  above.AddConstraint(kPartsFit, expr, rest);
  const int64_t next = HullOver(above, expr, rest, budget).lower();
  if (HasIntegerPointWith(map, expr, Interval::Point(next), budget) != Answer::kYes) return {};

  const Int128 length = Int128{hull.upper()} - hull.lower();
  const Int128 stride = Int128{next} - hull.lower();
  if (length % stride != 0) return {Answer::kNo};
  const std::optional<int64_t> narrow_stride = NarrowToInt64(stride);
  const bool count_fits = NarrowToInt64(length / stride + 1).has_value();
  if (!narrow_stride || !count_fits || !NarrowToInt64(length)) return {};
  const Progression candidate = Progression::Of(hull, Congruence::Of(hull.lower(), *narrow_stride));
  return {HoldsEverywhere(map, PhaseIn(candidate, expr), Interval::Point(0), budget), candidate};
}

// The box as a set of points (r).
IndexingMap BoxOf(llvm::ArrayRef<Progression> box, mlir::MLIRContext* context) {
  Variables dims;
  Constraints constraints;
  for (const Progression& values : box) {
    const AffineExpr dim = mlir::getAffineDimExpr(dims.size(), context);
    dims.push_back({values.interval, {}});
    if (values.stride() > 1) constraints.push_back({PhaseIn(values, dim), Interval::Point(0)});
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), 0, context);
  return IndexingMap(kPartsFit, no_results, std::move(dims), {}, {}, std::move(constraints));
}

// Whether one of some points of the box is known to be no result.
bool SampledElementIsMissing(const IndexingMap& map, llvm::ArrayRef<Progression> box,
                             StepBudget* budget) {
  constexpr int kSamples = 8;
  Variables places;
  for (const Progression& values : box) {
    places.push_back({Interval::OfSize(RangeOf(values).count), {}});
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(places.size(), 0, map.context());
  const IndexingMap all_places(kPartsFit, no_results, std::move(places), {}, {});
  return llvm::any_of(SamplePoints(all_places, kSamples), [&](const auto& point) {
    IndexingMap there = DomainOf(map);
    for (auto [result, values, place] : llvm::zip_equal(map.results(), box, point)) {
      const int64_t value = values.first() + place * values.stride();
      there.AddConstraint(kPartsFit, result, Interval::Point(value));
    }
    return DomainHasIntegerPoint(there, budget) == Answer::kNo;
  });
}

// Whether the image, which the box holds, is all of it.
Answer IsAllOf(const IndexingMap& map, const Projection& projection,
               llvm::ArrayRef<Progression> box, StepBudget* budget) {
  if (projection.IsExplicit()) {
    const Answer within = DomainWithin(BoxOf(box, map.context()), projection.set, budget);
    if (within != Answer::kUndecided) return within;
  }
  Int128 size = 1;
  for (const Progression& values : box) {
    size *= *values.Count();
    if (size > kInt64Max) break;
  }
  const std::optional<int64_t> points = NumCandidates(map);
  if (points && size > *points) return Answer::kNo;
  if (SampledElementIsMissing(map, box, budget)) return Answer::kNo;
  const std::optional<Points> image =
      Enumerate(map, budget, [](auto, auto, auto results) { return Joined(results); });
  if (!image) return Answer::kUndecided;
  return AnswerOf(static_cast<Int128>(image->set.size()) == size);
}

// Decides for a map whose domain is known to have a point.
Answer FindBox(const Projected& projected, StepBudget* budget,
               llvm::SmallVectorImpl<Progression>* found) {
  const IndexingMap& map = projected.map;
  const std::optional<Projection>& projection = projected.projection;
  if (!projection) return Answer::kUndecided;
  const bool is_explicit = projection->IsExplicit();
  Answer are_progressions = Answer::kYes;
  for (int i = 0; i < map.num_results(); ++i) {
    const Interval& bounds = projection->set.dims()[i].bounds;
    const Candidate candidate =
        is_explicit ? CandidateFor(projection->set, mlir::getAffineDimExpr(i, map.context()),
                                   bounds, budget)
                    : CandidateFor(map, map.results()[i], bounds, budget);
    are_progressions = And(are_progressions, candidate.is_progression);
    if (are_progressions == Answer::kNo) return are_progressions;
    found->push_back(candidate.values);
  }
  if (are_progressions != Answer::kYes) return are_progressions;
  return IsAllOf(map, *projection, *found, budget);
}

}  // namespace

absl::StatusOr<ImageBox> ImageAsBox(const IndexingMap& map, int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  StepBudget budget(max_steps);
  ImageBox box;
  const std::optional<Projected> projected =
      ProjectOntoResults(map, {.dims = false, .runtimes = false});
  if (!projected) return box;
  Answer is_box = Answer::kUndecided;
  const Answer has_point = DomainHasIntegerPoint(projected->map, &budget);
  if (has_point == Answer::kNo) {
    // Without results even the empty product has a point.
    is_box = AnswerOf(map.num_results() > 0);
    box.ranges.assign(map.num_results(), StridedRange{});
  } else if (has_point == Answer::kYes) {
    llvm::SmallVector<Progression, 4> found;
    is_box = FindBox(*projected, &budget, &found);
    for (const Progression& values : found) box.ranges.push_back(RangeOf(values));
  }
  if (is_box != Answer::kYes) box.ranges.clear();
  box.is_box = budget.Decide(is_box);
  return box;
}

}  // namespace xla_indexing
