// Pad: element i of the operand stands at low + i * (interior + 1) in every dimension, as far as
// that is inside the result (negative padding takes elements away),
//
//   r[d] = a[i]   where low_k + i_k * (interior_k + 1) = d_k in every dimension k,
//          value  everywhere else.
//
// One map cannot say "everywhere else": the value is read in disjoint pieces, for each dimension k
// those d that are in line with the operand in the dimensions before k, and in dimension k before
// the operand, after it, or between its elements. Where these are not few, it is by default read by
// every element of the result, over-approximate.

#include <cstdint>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The indices that the operand's elements have in one dimension of the result, inside it or not:
// from first to last in steps of `step`.
struct PaddedAxis {
  Interval span;
  int64_t first;
  int64_t step;
  bool fits = true;  // False where the numbers pass 64 bits.
};

PaddedAxis AxisOf(const PaddingDimension& padding, int64_t operand_size) {
  const Interval span = IndicesOfAxis(operand_size).Mul(padding.Step()).Add(padding.low);
  return {span, padding.low, padding.Step(), span.IsFinite()};
}

// Where in one dimension a piece lies.
enum class Region { kInLine, kBefore, kAfter, kBetween };

// The least interval of indices of the result that contains a place.
Interval IntervalOf(Region region, const PaddedAxis& axis, int64_t output_size) {
  const Interval output = IndicesOfAxis(output_size);
  switch (region) {
    case Region::kInLine:
      return output.Intersect(axis.span);
    case Region::kBetween:
      return axis.step > 1 ? output.Intersect(axis.span) : Interval::Empty();
    case Region::kBefore:
      // Where the operand has no elements everything stands before them.
      return axis.span.IsEmpty() ? output
                                 : output.Intersect(Interval::AtMost(axis.span.lower()).Sub(1));
    case Region::kAfter:
      return axis.span.IsEmpty() ? Interval::Empty()
                                 : output.Intersect(Interval::AtLeast(axis.span.upper()).Add(1));
  }
  return output;
}

// Whether an element of the operand stands inside the result in this dimension. Of numbers that
// fit.
bool HasOperandInside(const PaddedAxis& axis, int64_t output_size) {
  const Interval inside = IntervalOf(Region::kInLine, axis, output_size);
  if (inside.IsEmpty()) return false;
  const Int128 beyond = (Int128{inside.lower()} - axis.first) % axis.step;
  return beyond == 0 || inside.lower() + (axis.step - beyond) <= inside.upper();
}

struct PaddedAxes {
  llvm::SmallVector<PaddedAxis, 4> axes;
  bool fits = true;             // The numbers of every dimension fit 64 bits, and have bounds.
  bool is_all_padding = false;  // No element of the operand stands inside the result.
};

PaddedAxes AxesOf(const BuildContext& build) {
  PaddedAxes result;
  result.is_all_padding = HasNoElements(build.Operand(0));
  for (const PaddingDimension& padding : build.instruction.padding()) {
    const auto k = static_cast<int64_t>(result.axes.size());
    const PaddedAxis axis = AxisOf(padding, build.Operand(0).dimension(k));
    result.axes.push_back(axis);
    const bool fits = axis.fits && !build.Output().IsUnboundedDimension(k);
    result.fits = result.fits && fits;
    result.is_all_padding =
        result.is_all_padding || (fits && !HasOperandInside(axis, build.Output().dimension(k)));
  }
  return result;
}

// Where one dimension is padding, in a dimension of the result.
struct PaddedSide {
  int64_t dim;
  Region region;
};

// The places with elements. Only between the elements of the operand an interval is not enough: of
// two neighbours one is not in line, so that it is too small where it is one element in line.
llvm::SmallVector<PaddedSide, 8> PlacesOf(const PaddedAxes& axes, const Shape& output) {
  llvm::SmallVector<PaddedSide, 8> places;
  for (int64_t dim = 0; dim < output.rank(); ++dim) {
    const PaddedAxis& axis = axes.axes[dim];
    for (const Region region : {Region::kBefore, Region::kAfter, Region::kBetween}) {
      const Interval interval = IntervalOf(region, axis, output.dimension(dim));
      const bool is_in_line = region == Region::kBetween && interval.IsPoint() &&
                              (Int128{interval.lower()} - axis.first) % axis.step == 0;
      if (!interval.IsEmpty() && !is_in_line) places.push_back({dim, region});
    }
  }
  return places;
}

// The piece that stands at a place in its dimension, in line with the operand in the dimensions
// before it, and anywhere in those after it.
OperandIndexing ValuePiece(const BuildContext& build, llvm::ArrayRef<PaddedAxis> axes,
                           PaddedSide place, Direction direction) {
  const auto [dim, region] = place;
  const bool to_input = direction == Direction::kOutputToInput;
  MapBuilder builder = to_input ? build.FromOutput(1) : build.ToOutput(1);
  llvm::SmallVector<AffineExpr, 4> d;
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    const Region region_k = k < dim ? Region::kInLine : region;
    const int64_t size = build.Output().dimension(k);
    const Interval interval = k <= dim ? IntervalOf(region_k, axes[k], size) : IndicesOfAxis(size);
    d.push_back(to_input ? builder.Dim(k) : builder.AddRange(interval));
    builder.Constrain(d.back(), interval);
    if (k > dim || region_k == Region::kBefore || region_k == Region::kAfter) continue;
    builder.ConstrainResidue(
        LinearCombination({{d.back()}}, CheckedNeg(axes[k].first)), axes[k].step,
        region_k == Region::kInLine ? Interval::Point(0) : Interval::Closed(1, axes[k].step - 1));
  }
  if (to_input) d.clear();
  return builder.Build(d);
}

void AddPaddedOperand(BuildContext& build, const PaddedAxes& axes, OperandIndexing map) {
  if (axes.fits) {
    build.AddWithPoints(0, std::move(map));
  } else {
    build.Add(0, std::move(map));
  }
}

void AddValue(BuildContext& build, const PaddedAxes& axes, Direction direction) {
  if (axes.fits && !axes.is_all_padding) {
    const llvm::SmallVector<PaddedSide, 8> places = PlacesOf(axes, build.Output());
    if (build.TakesPieces(places.size())) {
      OperandIndexingSet pieces;
      for (const PaddedSide& place : places)
        pieces.Add(ValuePiece(build, axes.axes, place, direction));
      build.Add(0, 1, 0, std::move(pieces));
      return;
    }
  }
  const ExactnessLabel label =
      axes.is_all_padding
          ? ExactnessLabel::Exact()
          : ExactnessLabel::OverApproximate(
                "elements that come from the operand do not read the padding value");
  if (direction == Direction::kOutputToInput) {
    build.AddWholeRead(0, 1, 0, label);
  } else {
    build.AddWholeReach(0, 1, 0, label);
  }
}

}  // namespace

void PadOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  const PaddedAxes axes = AxesOf(build);
  AddValue(build, axes, Direction::kOutputToInput);
  if (axes.is_all_padding) return;
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const PaddingDimension& padding : build.instruction.padding()) {
    const auto k = static_cast<int64_t>(indices.size());
    indices.push_back(
        builder.ExactQuotient(LinearCombination({{builder.Dim(k)}}, CheckedNeg(padding.low)),
                              padding.Step(), build.Operand(0).dimension(k)));
  }
  AddPaddedOperand(build, axes, builder.Build(indices));
}

void PadInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const PaddedAxes axes = AxesOf(build);
  if (operand == 1) {
    AddValue(build, axes, Direction::kInputToOutput);
    return;
  }
  if (axes.is_all_padding) return;
  MapBuilder builder = build.ToOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const PaddingDimension& padding : build.instruction.padding()) {
    const auto k = static_cast<int64_t>(indices.size());
    indices.push_back(LinearCombination({{builder.Dim(k), padding.Step()}}, padding.low));
    builder.Constrain(indices.back(), IndicesOfAxis(build.Output().dimension(k)));
  }
  AddPaddedOperand(build, axes, builder.Build(indices));
}

}  // namespace xla_indexing::internal
