#include "xla_indexing/map/count/image.h"

#include <cstddef>
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
#include "xla_indexing/map/count/block_classes.h"
#include "xla_indexing/map/count/image_parts.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"

namespace xla_indexing {
namespace {

using internal::Congruence;
using internal::Constant;
using internal::CountPart;
using internal::HullOf;
using internal::ImagePart;
using internal::ImageParts;
using internal::Int128;
using internal::kInt64Max;
using internal::Mod;
using internal::NarrowToInt64;
using internal::PartsOf;
using internal::Progression;
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

// A result of a part that is a domain or a map, as an expression over its variables.
AffineExpr ValueOf(const ImagePart& part, size_t result) {
  return part.domain ? mlir::getAffineDimExpr(result, part.domain->context())
                     : part.map->results()[result];
}

// Whether one of some points of the box is known to be none of the part.
bool SampledElementIsMissing(const ImagePart& part, llvm::ArrayRef<Candidate> box,
                             StepBudget* budget) {
  constexpr int kSamples = 8;
  const IndexingMap& set = part.domain ? *part.domain : *part.map;
  Variables places;
  for (const Candidate& side : box) {
    places.push_back({Interval::OfSize(RangeOf(side.values).count), {}});
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(places.size(), 0, set.context());
  const IndexingMap all_places(kPartsFit, no_results, std::move(places), {}, {});
  return llvm::any_of(SamplePoints(all_places, kSamples), [&](const auto& point) {
    IndexingMap there = DomainOf(set);
    for (size_t i = 0; i < box.size(); ++i) {
      const int64_t value = box[i].values.first() + point[i] * box[i].values.stride();
      there.AddConstraint(kPartsFit, ValueOf(part, i), Interval::Point(value));
    }
    return DomainHasIntegerPoint(there, budget) == Answer::kNo;
  });
}

// Whether a part of an image that has elements is a box; adds the range of each of its results where it is.
Answer AddBoxOf(const ImagePart& part, StepBudget* budget, ImageBox* box) {
  llvm::SmallVector<Candidate, 4> candidates;
  if (part.progression) {
    candidates.push_back({Answer::kYes, *part.progression});
  } else {
    for (const auto& [i, bounds] : llvm::enumerate(HullOf(part))) {
      const IndexingMap& set = part.domain ? *part.domain : *part.map;
      candidates.push_back(CandidateFor(set, ValueOf(part, i), bounds, budget));
    }
  }
  Answer is_box = Answer::kYes;
  Int128 size = 1;
  for (const auto& [result, candidate] : llvm::zip_equal(part.results, candidates)) {
    is_box = And(is_box, candidate.is_progression);
    if (candidate.is_progression != Answer::kYes) continue;
    const Int128 count = *candidate.values.Count();
    if (count > kInt64Max) return Answer::kUndecided;
    if (size <= kInt64Max) size *= count;
    box->ranges[result] = RangeOf(candidate.values);
  }
  if (is_box != Answer::kYes || part.progression) return is_box;
  if (SampledElementIsMissing(part, candidates, budget)) return Answer::kNo;
  const Interval count = CountPart(part, budget);
  if (count.has_upper() && count.upper() < size) return Answer::kNo;
  return count.IsPoint() ? AnswerOf(count.lower() == size) : Answer::kUndecided;
}

}  // namespace

absl::StatusOr<ImageBox> ImageAsBox(const IndexingMap& map, int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  StepBudget budget(max_steps);
  ImageBox box;
  box.ranges.assign(map.num_results(), StridedRange{});
  Answer is_box = Answer::kUndecided;
  const Answer has_point = DomainHasIntegerPoint(map, &budget);
  if (has_point == Answer::kNo) {
    // Without results even the empty product has a point.
    is_box = AnswerOf(map.num_results() > 0);
  } else if (has_point == Answer::kYes) {
    const std::optional<ImageParts> image = PartsOf(map, &budget);
    is_box = image ? Answer::kYes : Answer::kUndecided;
    for (size_t i = 0; image && i < image->parts.size() && is_box != Answer::kNo; ++i) {
      is_box = And(is_box, AddBoxOf(image->parts[i], &budget, &box));
    }
  }
  if (is_box != Answer::kYes) box.ranges.clear();
  box.is_box = budget.Decide(is_box);
  return box;
}

}  // namespace xla_indexing
