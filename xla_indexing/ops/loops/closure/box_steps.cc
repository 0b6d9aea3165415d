#include "xla_indexing/ops/loops/closure/box_steps.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/leaf_relation.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Whether an interval has an end on both sides, and sums of a few of its numbers fit.
bool IsSmall(const Interval& interval) {
  return interval.IsFinite() && !interval.IsEmpty() && interval.lower() >= -kMaxBoxStep &&
         interval.upper() <= kMaxBoxStep;
}

// The part of `piece` where its first range variable is what an expression without it is.
OperandIndexing WithFirstRangeAs(const OperandIndexing& piece, AffineExpr expr) {
  const IndexingMap& map = piece.map();
  Renaming renaming;
  renaming.dims = Variables(map.dims());
  renaming.ranges = Variables(map.ranges());
  renaming.for_symbols.resize(map.num_symbols());
  renaming.for_symbols[0] = expr;
  renaming.constraints_added.push_back({expr, map.ranges()[0].bounds});
  OperandIndexing part = Renamed(piece, std::move(renaming));
  part.Simplify();
  return part;
}

// The values of an expression, as far as intervals and constraints on it alone say.
Interval ValuesOf(AffineExpr expr, const IndexingMap& map) {
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  Interval values = simplifier.Range(expr);
  for (const Constraint& constraint : map.constraints()) {
    for (const int64_t sign : {1, -1}) {
      const auto shift = ConstantIn(Sub(expr, Scale(constraint.expr, sign)));
      if (shift) values = values.Intersect(constraint.interval.Mul(sign).Add(*shift));
    }
  }
  return values;
}

// A piece divided by how far a result that has the first range variable is from its dimension, or
// else by the values of that variable: (d0)[s0] -> (s0), s0 - d0 in [-1, 1], has the parts d0 - 1, d0
// and d0 + 1. Nullopt if these may be too many.
std::optional<std::vector<OperandIndexing>> WithoutFirstRange(const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  const AffineExpr range = mlir::getAffineSymbolExpr(0, map.context());
  const auto with_all = [&](const Interval& values,
                            auto expr_of) -> std::optional<std::vector<OperandIndexing>> {
    const std::optional<int64_t> count = values.Size();
    if (!count || *count > static_cast<int64_t>(kMaxBoxSteps)) return std::nullopt;
    std::vector<OperandIndexing> parts;
    for (int64_t i = 0; i < *count; ++i) {
      const AffineExpr expr = expr_of(Constant(values.lower() + i, map.context()));
      if (!expr || !QuestionBudget::Spend()) return std::nullopt;
      OperandIndexing part = WithFirstRangeAs(piece, expr);
      if (part.IsUnknown()) return std::nullopt;
      if (!part.IsKnownEmpty()) parts.push_back(std::move(part));
    }
    return parts;
  };
  for (int i = 0; i < map.num_dims(); ++i) {
    const AffineExpr distance = Sub(map.results()[i], mlir::getAffineDimExpr(i, map.context()));
    const LinearSum sum = LinearSum::FromExpr(distance);
    const int64_t factor = sum.valid() ? sum.CoefficientOf(range) : 0;
    if (factor != 1 && factor != -1) continue;
    // distance = factor * s0 + rest
    const AffineExpr rest = Sub(distance, Scale(range, factor));
    if (!rest || HasSymbol(rest, 0)) continue;
    const auto parts = with_all(ValuesOf(distance, map),
                                [&](AffineExpr value) { return Scale(Sub(value, rest), factor); });
    if (parts) return parts;
  }
  return with_all(map.ranges()[0].bounds, [](AffineExpr value) { return value; });
}

// How far an index moves along one dimension, and where it can lead to, as a result and constraints
// on it, or on its distance from the dimension, say.
class WindowOfDimension {
 public:
  static std::optional<WindowOfDimension> Of(const IndexingMap& map, int dim) {
    WindowOfDimension window;
    window.result_ = map.results()[dim];
    window.from_ = map.dims()[dim].bounds;
    window.distance_ = Sub(window.result_, mlir::getAffineDimExpr(dim, map.context()));
    const LinearSum moved = LinearSum::FromExpr(window.distance_);
    if (!moved.valid() || !IsSmall(window.from_)) return std::nullopt;
    for (const bool from_distance : {true, false}) {
      const LinearSum sum = from_distance ? moved : LinearSum::FromExpr(window.result_);
      Interval& values = from_distance ? window.distances_ : window.to_;
      if (sum.terms().empty()) {
        values = Interval::Point(sum.constant());
        return window;
      }
      const Term& term = sum.terms()[0];
      const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
      if (sum.terms().size() > 1 || !symbol) continue;
      if (term.coefficient < -kMaxBoxStep || term.coefficient > kMaxBoxStep) return std::nullopt;
      if (!from_distance && std::abs(term.coefficient) != 1) return std::nullopt;
      window.range_ = symbol.getPosition();
      window.stride_ = std::abs(term.coefficient);
      values = map.ranges()[symbol.getPosition()].bounds.Mul(term.coefficient).Add(sum.constant());
      return window;
    }
    return std::nullopt;
  }

  std::optional<unsigned> range() const { return range_; }
  const Interval& from() const { return from_; }

  // Whether a constraint is on the result, or on the distance where all integers in an interval are
  // distances.
  bool Take(const Constraint& constraint) {
    for (const int64_t sign : {1, -1}) {
      const AffineExpr expr = Scale(constraint.expr, sign);
      const Interval values = constraint.interval.Mul(sign);
      if (const auto shift = ConstantIn(Sub(result_, expr))) {
        to_ = to_.Intersect(values.Add(*shift));
        return true;
      }
      if (const auto shift = ConstantIn(Sub(distance_, expr)); shift && stride_ == 1) {
        distances_ = distances_.Intersect(values.Add(*shift));
        return true;
      }
    }
    return false;
  }

  // With all constraints taken, how far it moves and where it leads to.
  std::optional<std::pair<Progression, Interval>> Finish() const {
    const Interval to = to_.Intersect(from_.Add(distances_));
    if (!IsSmall(to)) return std::nullopt;
    // From the first distance on, whichever end that is, they are `stride_` apart.
    if (stride_ > 1 && !IsSmall(distances_)) return std::nullopt;
    const Congruence apart =
        stride_ > 1 ? Congruence::Of(distances_.lower(), stride_) : Congruence::All();
    const auto steps = Progression::Of(to.Sub(from_).Intersect(distances_), apart);
    if (steps.IsEmpty()) return std::nullopt;
    return std::pair(steps, to);
  }

 private:
  AffineExpr result_;
  AffineExpr distance_;
  std::optional<unsigned> range_;
  int64_t stride_ = 1;
  Interval from_ = Interval::All();
  Interval to_ = Interval::All();
  Interval distances_ = Interval::All();
};

}  // namespace

IntervalBox ShiftedBox(const IntervalBox& box, const BoxStep& step, int64_t sign) {
  IntervalBox moved;
  for (size_t i = 0; i < box.size(); ++i) moved.push_back(box[i].Add(sign * step[i]));
  return moved;
}

IntervalBox CommonBox(const IntervalBox& a, const IntervalBox& b) {
  IntervalBox common;
  for (size_t i = 0; i < a.size(); ++i) common.push_back(a[i].Intersect(b[i]));
  return common;
}

bool IsEmptyBox(const IntervalBox& box) {
  return absl::c_any_of(box, [](const Interval& interval) { return interval.IsEmpty(); });
}

bool CoverBox(std::vector<IntervalBox> boxes, const IntervalBox& whole) {
  Int128 count = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (IsEmptyBox(CommonBox(boxes[i], boxes[j]))) continue;
      // One that is in another adds nothing; others would have to be cut.
      if (CommonBox(boxes[i], boxes[j]) == boxes[i]) {
        boxes[i].front() = Interval::Empty();
      } else if (CommonBox(boxes[i], boxes[j]) == boxes[j]) {
        boxes[j].front() = Interval::Empty();
      } else {
        return false;
      }
    }
  }
  for (const IntervalBox& box : boxes) {
    const std::optional<int64_t> points = NumPoints(box);
    if (!points) return false;
    count += *points;
  }
  const std::optional<int64_t> all = NumPoints(whole);
  return all && count == *all;
}

bool BoxTranslation::IsStill() const {
  return absl::c_all_of(step, [](int64_t c) { return c == 0; });
}

std::optional<IntervalBox> StepWindow::Box() const {
  IntervalBox box;
  for (size_t j = 0; j < from.size(); ++j) {
    const Interval all = from[j].Union(to[j]);
    const Interval& distances = steps[j].interval;
    if (!all.Intersect(all.Sub(distances)).IsSubsetOf(from[j]) ||
        !all.Intersect(all.Add(distances)).IsSubsetOf(to[j])) {
      return std::nullopt;
    }
    box.push_back(all);
  }
  return box;
}

// A piece as pieces without range variables, where these are few.
std::optional<std::vector<OperandIndexing>> WithoutRanges(const OperandIndexing& piece) {
  std::vector<OperandIndexing> parts = {piece};
  for (size_t i = 0; i < parts.size();) {
    const IndexingMap& map = parts[i].map();
    if (parts[i].IsUnknown() || map.num_symbols() > map.num_ranges() ||
        parts[i].replica_map() != nullptr || map.num_dims() != map.num_results()) {
      return std::nullopt;
    }
    if (map.num_ranges() == 0) {
      ++i;
      continue;
    }
    std::optional<std::vector<OperandIndexing>> of_part = WithoutFirstRange(parts[i]);
    if (!of_part || parts.size() + of_part->size() > kMaxBoxSteps + 1) return std::nullopt;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    absl::c_move(*of_part, std::back_inserter(parts));
  }
  return parts;
}

std::optional<BoxTranslation> AsTranslation(const OperandIndexing& piece) {
  if (piece.IsUnknown() || piece.replica_map() != nullptr) return std::nullopt;
  const IndexingMap& map = piece.map();
  if (map.num_symbols() > 0 || !map.constraints().empty() || map.num_dims() != map.num_results()) {
    return std::nullopt;
  }
  BoxTranslation translation = {piece};
  for (int i = 0; i < map.num_dims(); ++i) {
    const Interval& bounds = map.dims()[i].bounds;
    std::optional<int64_t> step =
        ConstantIn(Sub(map.results()[i], mlir::getAffineDimExpr(i, map.context())));
    // A dimension of one value may be written as that value.
    const std::optional<int64_t> result = ConstantIn(map.results()[i]);
    if (!step && result && bounds.IsPoint()) step = CheckedSub(*result, bounds.lower());
    if (!step || *step < -kMaxBoxStep || *step > kMaxBoxStep) return std::nullopt;
    if (i == 0) {
      translation.iterations = *step;
      translation.times = bounds;
      continue;
    }
    if (!IsSmall(bounds)) return std::nullopt;
    translation.step.push_back(*step);
    translation.domain.push_back(bounds);
  }
  if (translation.iterations == 0) return std::nullopt;
  return translation;
}

std::optional<StepWindow> AsWindow(const OperandIndexing& piece) {
  if (piece.IsUnknown() || piece.replica_map() != nullptr) return std::nullopt;
  const IndexingMap& map = piece.map();
  if (map.num_runtimes() > 0 || map.num_dims() != map.num_results()) return std::nullopt;
  const auto iterations =
      ConstantIn(Sub(map.results()[0], mlir::getAffineDimExpr(0, map.context())));
  if (!iterations || *iterations == 0) return std::nullopt;
  StepWindow window = {*iterations, map.dims()[0].bounds};
  std::vector<WindowOfDimension> dims;
  std::set<unsigned> ranges;
  for (int i = 1; i < map.num_dims(); ++i) {
    const std::optional<WindowOfDimension> dim = WindowOfDimension::Of(map, i);
    // A range variable of two dimensions ties them together.
    if (!dim || (dim->range() && !ranges.insert(*dim->range()).second)) return std::nullopt;
    dims.push_back(*dim);
  }
  if (static_cast<int>(ranges.size()) != map.num_ranges()) return std::nullopt;
  for (const Constraint& constraint : map.constraints()) {
    if (!llvm::any_of(dims, [&](WindowOfDimension& dim) { return dim.Take(constraint); })) {
      return std::nullopt;
    }
  }
  for (const WindowOfDimension& dim : dims) {
    const auto steps_and_end = dim.Finish();
    if (!steps_and_end) return std::nullopt;
    window.steps.push_back(steps_and_end->first);
    window.from.push_back(dim.from());
    window.to.push_back(steps_and_end->second);
  }
  return window;
}

}  // namespace xla_indexing::internal
