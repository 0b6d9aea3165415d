#include "xla_indexing/hlo/transforms/replace_scatter.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_axes.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

using Handle = ReplacementSteps::Handle;

// One dimension of the array into which updates go by a dynamic-update-slice.
struct UpdatedDim {
  int64_t size = 0;
  MovedAxis axis;  // with one term at most, of step 1
};

// How one dimension becomes several: a pad, then a reshape.
struct Split {
  size_t position = 0;
  PaddingDimension padding;
  Sizes sizes;
};

struct Placement {
  Flattened flat;
  std::vector<Split> splits;
  std::vector<UpdatedDim> places;
  Sizes reversed;
};

// Appends the places of a dimension, whose steps are positive and the largest first. False where
// its terms do not stay within the next step.
bool PlaceAxis(int64_t size, MovedAxis axis, const Sizes& counts, Placement* placement) {
  if (axis.terms.empty() || (axis.terms.size() == 1 && axis.terms[0].stride == 1)) {
    placement->places.push_back({size, std::move(axis)});
    return true;
  }
  if (axis.runtime) return false;
  const MovedTerm first = axis.terms[0];
  axis.terms.erase(axis.terms.begin());
  int64_t rest = 1;
  for (const MovedTerm& term : axis.terms) rest += term.stride * (counts[term.loop] - 1);
  const int64_t step = first.stride;
  if (rest > step) return false;
  const int64_t column = axis.start % step;
  const int64_t low = column + rest <= step ? 0 : step - column;
  const auto length = CheckedAdd(size, low);
  if (!length) return false;
  const int64_t rows = (*length - 1) / step + 1;
  const auto padded = CheckedMul(rows, step);
  if (!padded) return false;
  placement->splits.push_back(
      {placement->places.size(), {low, *padded - *length, 0}, {rows, step}});
  MovedAxis row;
  row.start = (axis.start + low) / step;
  row.terms = {{first.loop, 1}};
  placement->places.push_back({rows, std::move(row)});
  axis.start = (axis.start + low) % step;
  return PlaceAxis(step, std::move(axis), counts, placement);
}

std::optional<Placement> PlacementOf(const MovedBox& box, const Sizes& operand_sizes) {
  const Sizes counts = box.LoopCounts();
  Placement placement;
  for (const MovedDim& dim : box.dims) {
    if (dim.skipped != 0 || Product(dim.counts) != dim.size) return std::nullopt;
  }
  placement.flat = Flatten(operand_sizes, box.axes);
  // A coordinate that shares a loop has no start that is known at run time only.
  if (placement.flat.sizes.size() != operand_sizes.size() && HasRuntimeStart(box.axes)) {
    return std::nullopt;
  }
  std::vector<bool> is_placed(counts.size(), false);
  for (size_t k = 0; k < placement.flat.axes.size(); ++k) {
    MovedAxis axis = placement.flat.axes[k];
    Normalise(counts, &axis, &placement.reversed);
    for (const MovedTerm& term : axis.terms) is_placed[term.loop] = true;
    if (!PlaceAxis(placement.flat.sizes[k], std::move(axis), counts, &placement)) {
      return std::nullopt;
    }
  }
  for (size_t loop = 0; loop < counts.size(); ++loop) {
    if (counts[loop] > 1 && !is_placed[loop]) return std::nullopt;
  }
  return placement;
}

// The updates of a box with loops as dimensions, arranged by `axes`, each with a loop or none.
Handle ArrangedUpdates(Handle updates, const MovedBox& box, const Axes& axes, const Sizes& reversed,
                       ReplacementSteps* steps) {
  const Sizes counts = box.LoopCounts();
  std::vector<SliceRange> ranges;
  ranges.reserve(box.dims.size());
  for (const MovedDim& dim : box.dims) ranges.push_back({dim.offset, dim.offset + dim.size, 1});
  updates = steps->Reshape(steps->Slice(updates, ranges), counts);
  updates = steps->Reverse(updates, reversed);
  Sizes order;
  Sizes sizes;
  for (const MovedAxis& axis : axes) {
    sizes.push_back(axis.terms.empty() ? 1 : counts[axis.terms[0].loop]);
    if (!axis.terms.empty()) order.push_back(axis.terms[0].loop);
  }
  // Loops of one index that no coordinate has.
  for (size_t loop = 0; loop < counts.size(); ++loop) {
    const auto i = static_cast<int64_t>(loop);
    if (!absl::c_linear_search(order, i)) order.push_back(i);
  }
  return steps->Reshape(steps->Transpose(updates, order), sizes);
}

// Whether the update takes the place of the element, whatever that was.
bool ReplacesElements(const HloInstruction& scatter) {
  const HloInstruction* root = scatter.to_apply()->root_instruction();
  return root->opcode() == HloOpcode::kParameter && root->parameter_number() == 1;
}

// What the scatter makes of an element and its update, element by element.
Handle WithUpdates(const HloInstruction& scatter, Handle old, Handle updates,
                   ReplacementSteps* steps) {
  const HloComputation* combiner = scatter.to_apply();
  const HloInstruction* root = combiner->root_instruction();
  if (root->opcode() == HloOpcode::kParameter) return old;
  const Sizes sizes = steps->SizesAt(updates);
  const Shape shape = steps->Like(old, sizes);
  const auto is_parameter = [&](int64_t i) {
    return root->operand(i)->opcode() == HloOpcode::kParameter;
  };
  if (IsElementwise(root->opcode()) && root->operand_count() == 2 && is_parameter(0) &&
      is_parameter(1) && root->opcode() != HloOpcode::kCompare) {
    std::vector<Handle> operands;
    for (const HloInstruction* operand : root->operands()) {
      operands.push_back(operand->parameter_number() == 0 ? old : updates);
    }
    return steps->Add(root->opcode(), "combined", shape, std::move(operands));
  }
  return steps->Add(HloOpcode::kMap, "combined", shape, {old, updates},
                    [combiner, rank = sizes.size()](auto* map) {
                      Sizes dims(rank);
                      std::iota(dims.begin(), dims.end(), 0);
                      ReplacementSteps::SetDimensions(dims, map);
                      map->SetAttribute(AttributeKey::kToApply, combiner);
                    });
}

Handle PlacedInto(Handle array, Handle updates, const MovedBox& box, InstructionRewriter* rewriter,
                  ReplacementSteps* steps) {
  const Sizes sizes = steps->SizesAt(array);
  const Placement placement = *PlacementOf(box, sizes);
  const Flattened& flat = placement.flat;
  array = steps->Transpose(array, flat.order);
  const Sizes transposed = steps->SizesAt(array);
  array = steps->Reshape(array, flat.sizes);
  std::vector<Sizes> before_splits;
  for (const Split& split : placement.splits) {
    before_splits.push_back(steps->SizesAt(array));
    std::vector<PaddingDimension> padding(before_splits.back().size());
    padding[split.position] = split.padding;
    if (padding[split.position] != PaddingDimension()) {
      array = steps->Pad(array, steps->AnyValue(array), padding);
    }
    Sizes two = steps->SizesAt(array);
    two[split.position] = split.sizes[0];
    two.insert(two.begin() + static_cast<std::ptrdiff_t>(split.position) + 1, split.sizes[1]);
    array = steps->Reshape(array, two);
  }
  Axes axes;
  for (const UpdatedDim& place : placement.places) axes.push_back(place.axis);
  Handle update = ArrangedUpdates(updates, box, axes, placement.reversed, steps);
  const Sizes update_sizes = steps->SizesAt(update);
  const HloInstruction& scatter = rewriter->original();
  if (!ReplacesElements(scatter)) {
    std::vector<SliceRange> ranges;
    ranges.reserve(axes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      ranges.push_back({axes[k].start, axes[k].start + update_sizes[k], 1});
    }
    const Handle old = HasRuntimeStart(axes)
                           ? DynamicSlice(array, axes, update_sizes, rewriter, steps)
                           : steps->Slice(array, ranges);
    update = WithUpdates(scatter, old, update, steps);
  }
  const Sizes array_sizes = steps->SizesAt(array);
  if (update_sizes == array_sizes) {
    array = update;
  } else {
    Sizes last = array_sizes;
    for (size_t k = 0; k < last.size(); ++k) last[k] -= update_sizes[k];
    std::vector<Handle> operands = Starts(axes, last, rewriter, steps);
    operands.insert(operands.begin(), {array, update});
    array = steps->Add(HloOpcode::kDynamicUpdateSlice, "updated", steps->Like(array, array_sizes),
                       std::move(operands));
  }
  for (size_t i = placement.splits.size(); i-- > 0;) {
    const Split& split = placement.splits[i];
    Sizes padded = before_splits[i];
    padded[split.position] += split.padding.low + split.padding.high;
    array = steps->Reshape(array, padded);
    std::vector<SliceRange> ranges = WholeRanges(padded);
    ranges[split.position] = {split.padding.low,
                              split.padding.low + before_splits[i][split.position], 1};
    array = steps->Slice(array, ranges);
  }
  array = steps->Reshape(array, transposed);
  Sizes inverse(flat.order.size());
  for (size_t i = 0; i < flat.order.size(); ++i) inverse[flat.order[i]] = static_cast<int64_t>(i);
  return steps->Transpose(array, inverse);
}

Handle Padded(Handle updates, const MovedBox& box, const Shape& operand, Handle value,
              const HloInstruction& scatter, ReplacementSteps* steps) {
  const Sizes counts = box.LoopCounts();
  Sizes reversed;
  Axes axes = box.axes;
  std::vector<PaddingDimension> padding;
  for (size_t k = 0; k < axes.size(); ++k) {
    Normalise(counts, &axes[k], &reversed);
    const AxisSpan span = SpanOf(axes[k], counts).value_or(AxisSpan());
    const int64_t step = axes[k].terms.empty() ? 1 : axes[k].terms[0].stride;
    padding.push_back({span.start,
                       operand.dimension(static_cast<int64_t>(k)) - span.start - span.size,
                       step - 1});
  }
  Handle update = ArrangedUpdates(updates, box, axes, reversed, steps);
  if (!ReplacesElements(scatter)) {
    const Handle old = steps->Broadcast(value, steps->SizesAt(update), {});
    update = WithUpdates(scatter, old, update, steps);
  }
  return steps->Pad(update, value, padding);
}

}  // namespace

bool CanPlaceBox(const MovedBox& box, const Sizes& operand_sizes) {
  return PlacementOf(box, operand_sizes).has_value();
}

void ReplaceScatter(const PlacedUpdates& placed, InstructionRewriter* rewriter) {
  ReplacementSteps steps(rewriter);
  const HloInstruction* operand = rewriter->operand(0);
  const Handle updates = steps.Given(rewriter->operand(2));
  if (placed.is_pad) {
    const Handle value = steps.OneValueOf(operand);
    steps.Emit(
        Padded(updates, placed.boxes[0], operand->shape(), value, rewriter->original(), &steps));
    return;
  }
  Handle array = steps.Given(operand);
  for (const MovedBox& box : placed.boxes) {
    array = PlacedInto(array, updates, box, rewriter, &steps);
  }
  steps.Emit(array);
}

}  // namespace xla_indexing::internal
