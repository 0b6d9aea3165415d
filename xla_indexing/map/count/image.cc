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
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::Constant;
using internal::Enumerate;
using internal::Int128;
using internal::Joined;
using internal::kInt64Max;
using internal::Mod;
using internal::NarrowToInt64;
using internal::Points;
using internal::Projected;
using internal::Projection;
using internal::ProjectOntoResults;
using internal::ResidueFact;
using internal::ResidueFactOf;
using internal::Sub;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

Interval ValuesOf(const StridedRange& range) {
  return Interval::Closed(range.offset, range.offset + (range.count - 1) * range.stride);
}

// The one strided range that can have the values of an expression, of which there are some, and
// whether it has no fewer than those.
struct Candidate {
  Answer is_range = Answer::kUndecided;
  StridedRange range;
};

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

Candidate CandidateFor(const IndexingMap& map, AffineExpr expr, const Interval& range,
                       StepBudget* budget) {
  if (IsInfinite(map, expr, range)) return {Answer::kNo, {}};
  if (!range.IsFinite()) return {};
  if (range.IsEmpty()) return {};
  const Interval hull = HullOver(map, expr, range, budget);
  if (hull.IsEmpty()) return {};
  for (const int64_t end : {hull.lower(), hull.upper()}) {
    if (HasIntegerPointWith(map, expr, Interval::Point(end), budget) != Answer::kYes) return {};
  }
  if (hull.IsPoint()) return {Answer::kYes, {hull.lower(), 1, 1}};
  // The next value after the least.
  const Interval rest = Interval::Closed(hull.lower() + 1, hull.upper());
  IndexingMap above = DomainOf(map);
  above.AddConstraint(kPartsFit, expr, rest);
  const int64_t next = HullOver(above, expr, rest, budget).lower();
  if (HasIntegerPointWith(map, expr, Interval::Point(next), budget) != Answer::kYes) return {};

  const Int128 length = Int128{hull.upper()} - hull.lower();
  const Int128 stride = Int128{next} - hull.lower();
  if (length % stride != 0) return {Answer::kNo, {}};
  const std::optional<int64_t> narrow_stride = NarrowToInt64(stride);
  const std::optional<int64_t> count = NarrowToInt64(length / stride + 1);
  if (!narrow_stride || !count || !NarrowToInt64(length)) return {};
  const StridedRange candidate{hull.lower(), *count, *narrow_stride};
  const AffineExpr phase =
      Mod(Sub(expr, Constant(candidate.offset, map.context())), candidate.stride);
  return {HoldsEverywhere(map, phase, Interval::Point(0), budget), candidate};
}

// The box as a set of points (r).
IndexingMap BoxOf(llvm::ArrayRef<StridedRange> ranges, mlir::MLIRContext* context) {
  Variables dims;
  Constraints constraints;
  for (const StridedRange& range : ranges) {
    const AffineExpr dim = mlir::getAffineDimExpr(dims.size(), context);
    dims.push_back({ValuesOf(range), {}});
    const AffineExpr phase = Mod(Sub(dim, Constant(range.offset, context)), range.stride);
    if (range.stride > 1) constraints.push_back({phase, Interval::Point(0)});
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), 0, context);
  return IndexingMap(kPartsFit, no_results, std::move(dims), {}, {}, std::move(constraints));
}

// Whether one of some points of the box is known to be no result.
bool SampledElementIsMissing(const IndexingMap& map, llvm::ArrayRef<StridedRange> ranges,
                             StepBudget* budget) {
  constexpr int kSamples = 8;
  Variables places;
  for (const StridedRange& range : ranges) places.push_back({Interval::OfSize(range.count), {}});
  const mlir::AffineMap no_results = mlir::AffineMap::get(places.size(), 0, map.context());
  const IndexingMap box(kPartsFit, no_results, std::move(places), {}, {});
  return llvm::any_of(SamplePoints(box, kSamples), [&](const auto& point) {
    IndexingMap there = DomainOf(map);
    for (auto [result, range, place] : llvm::zip_equal(map.results(), ranges, point)) {
      there.AddConstraint(kPartsFit, result, Interval::Point(range.offset + place * range.stride));
    }
    return DomainHasIntegerPoint(there, budget) == Answer::kNo;
  });
}

// Whether the image, which the box holds, is all of it.
Answer IsAllOf(const IndexingMap& map, const Projection& projection,
               llvm::ArrayRef<StridedRange> ranges, StepBudget* budget) {
  if (projection.IsExplicit()) {
    const IndexingMap box = BoxOf(ranges, map.context());
    const Answer within = DomainWithin(box, projection.set, budget);
    if (within != Answer::kUndecided) return within;
  }
  Int128 size = 1;
  for (const StridedRange& range : ranges) {
    size *= range.count;
    if (size > kInt64Max) break;
  }
  const std::optional<int64_t> points = NumCandidates(map);
  if (points && size > *points) return Answer::kNo;
  if (SampledElementIsMissing(map, ranges, budget)) return Answer::kNo;
  const std::optional<Points> image =
      Enumerate(map, budget, [](auto, auto, auto results) { return Joined(results); });
  if (!image) return Answer::kUndecided;
  return AnswerOf(static_cast<Int128>(image->set.size()) == size);
}

// Decides for a map whose domain is known to have a point.
Answer FindBox(const Projected& projected, StepBudget* budget,
               llvm::SmallVectorImpl<StridedRange>* ranges) {
  const IndexingMap& map = projected.map;
  const std::optional<Projection>& projection = projected.projection;
  if (!projection) return Answer::kUndecided;
  const bool is_explicit = projection->IsExplicit();
  Answer are_ranges = Answer::kYes;
  for (int i = 0; i < map.num_results(); ++i) {
    const Interval& bounds = projection->set.dims()[i].bounds;
    const Candidate candidate =
        is_explicit ? CandidateFor(projection->set, mlir::getAffineDimExpr(i, map.context()),
                                   bounds, budget)
                    : CandidateFor(map, map.results()[i], bounds, budget);
    are_ranges = And(are_ranges, candidate.is_range);
    if (are_ranges == Answer::kNo) return are_ranges;
    ranges->push_back(candidate.range);
  }
  if (are_ranges != Answer::kYes) return are_ranges;
  return IsAllOf(map, *projection, *ranges, budget);
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
    is_box = FindBox(*projected, &budget, &box.ranges);
  }
  if (is_box != Answer::kYes) box.ranges.clear();
  box.is_box = budget.Decide(is_box);
  return box;
}

}  // namespace xla_indexing
