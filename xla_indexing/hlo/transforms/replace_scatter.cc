// A scatter whose indices are known, as dynamic-update-slices or a pad.

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace internal {
namespace {

using Handle = ReplacementSteps::Handle;

int64_t StepOf(const MovedAxis& axis) { return axis.stride < 0 ? -axis.stride : axis.stride; }

// The updates of a box, with a dimension for each coordinate of `axes`.
Handle ArrangedUpdates(Handle updates, const MovedBox& box, const std::vector<MovedAxis>& axes,
                       ReplacementSteps* steps) {
  std::vector<SliceRange> ranges;
  ranges.reserve(box.dims.size());
  for (const MovedDim& dim : box.dims) ranges.push_back({dim.offset, dim.offset + dim.size, 1});
  Sizes reversed;
  Sizes order;
  Sizes sizes;
  for (const MovedAxis& axis : axes) {
    sizes.push_back(box.CountOf(axis));
    if (axis.dim) order.push_back(*axis.dim);
    if (axis.dim && axis.stride < 0) reversed.push_back(*axis.dim);
  }
  // Dimensions of one index that no coordinate has.
  for (int64_t dim = 0; dim < static_cast<int64_t>(box.dims.size()); ++dim) {
    if (!absl::c_linear_search(order, dim)) order.push_back(dim);
  }
  updates = steps->Reverse(steps->Slice(updates, ranges), reversed);
  return steps->Reshape(steps->Transpose(updates, order), sizes);
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
  // A dimension with steps becomes rows of them.
  const Sizes sizes = steps->SizesAt(array);
  std::vector<PaddingDimension> padding(sizes.size());
  Sizes padded;
  Sizes split;
  std::vector<MovedAxis> axes;
  std::vector<SliceRange> whole;
  for (size_t k = 0; k < sizes.size(); ++k) {
    MovedAxis axis = box.axes[k];
    const int64_t step = axis.dim ? StepOf(axis) : 1;
    const int64_t rows = (sizes[k] - 1) / step + 1;
    axis.start = SpanOf(axis, box).value_or(AxisSpan()).start;
    padding[k].high = step == 1 ? 0 : rows * step - sizes[k];
    padded.push_back(sizes[k] + padding[k].high);
    whole.push_back({0, sizes[k], 1});
    split.push_back(step == 1 ? sizes[k] : rows);
    const int64_t column = axis.start % step;
    if (step > 1) axis.start /= step;
    axes.push_back(std::move(axis));
    if (step == 1) continue;
    split.push_back(step);
    axes.emplace_back().start = column;
  }
  if (padded != sizes) array = steps->Pad(array, steps->AnyValue(array), padding);
  array = steps->Reshape(array, split);
  Handle update = ArrangedUpdates(updates, box, axes, steps);
  const Sizes update_sizes = steps->SizesAt(update);
  const HloInstruction& scatter = rewriter->original();
  if (!ReplacesElements(scatter)) {
    std::vector<SliceRange> ranges;
    ranges.reserve(axes.size());
    for (size_t k = 0; k < axes.size(); ++k) {
      ranges.push_back({axes[k].start, axes[k].start + update_sizes[k], 1});
    }
    const Handle old = box.HasRuntimeStart() ? steps->DynamicSlice(array, axes, update_sizes)
                                             : steps->Slice(array, ranges);
    update = WithUpdates(scatter, old, update, steps);
  }
  const Sizes array_sizes = steps->SizesAt(array);
  if (update_sizes == array_sizes) {
    array = update;
  } else {
    Sizes last = array_sizes;
    for (size_t k = 0; k < last.size(); ++k) last[k] -= update_sizes[k];
    std::vector<Handle> operands = steps->Starts(axes, last);
    operands.insert(operands.begin(), {array, update});
    array = steps->Add(HloOpcode::kDynamicUpdateSlice, "updated", steps->Like(array, array_sizes),
                       std::move(operands));
  }
  return steps->Slice(steps->Reshape(array, padded), whole);
}

Handle Padded(Handle updates, const MovedBox& box, const Shape& operand, Handle value,
              const HloInstruction& scatter, ReplacementSteps* steps) {
  std::vector<PaddingDimension> padding;
  for (size_t k = 0; k < box.axes.size(); ++k) {
    const AxisSpan span = SpanOf(box.axes[k], box).value_or(AxisSpan());
    padding.push_back({span.start,
                       operand.dimension(static_cast<int64_t>(k)) - span.start - span.size,
                       box.axes[k].dim ? StepOf(box.axes[k]) - 1 : 0});
  }
  Handle update = ArrangedUpdates(updates, box, box.axes, steps);
  if (!ReplacesElements(scatter)) {
    const Handle old = steps->Broadcast(value, steps->SizesAt(update), {});
    update = WithUpdates(scatter, old, update, steps);
  }
  return steps->Pad(update, value, padding);
}

}  // namespace

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

}  // namespace internal

bool CanPlace(const MovedBox& box, const std::vector<int64_t>& operand_sizes) {
  size_t placed = 0;
  for (size_t k = 0; k < box.axes.size(); ++k) {
    const MovedAxis& axis = box.axes[k];
    if (!axis.dim) continue;
    ++placed;
    if (!SpanOf(axis, box)) return false;
    const int64_t step = internal::StepOf(axis);
    if (step > 1 && (axis.runtime ||
                     !internal::CheckedMul((operand_sizes[k] - 1) / step + 1, step).has_value())) {
      return false;
    }
  }
  // No two updates go to one element.
  return static_cast<size_t>(absl::c_count_if(
             box.dims, [](const MovedDim& dim) { return dim.size > 1; })) == placed;
}

bool HasOneValue(const HloInstruction& array) {
  if (!array.shape().IsArray()) return false;
  if (array.opcode() == HloOpcode::kBroadcast) return array.operand(0)->shape().rank() == 0;
  if (array.opcode() != HloOpcode::kConstant || array.literal() == nullptr) return false;
  return array.literal()->IsSplat() || array.literal()->ElementCount() == 1;
}

bool ReplacesElements(const HloInstruction& scatter) {
  const HloInstruction* combiner = scatter.to_apply()->root_instruction();
  return combiner->opcode() == HloOpcode::kParameter && combiner->parameter_number() == 1;
}

}  // namespace xla_indexing
