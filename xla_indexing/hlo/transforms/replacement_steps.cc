#include "xla_indexing/hlo/transforms/replacement_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

Sizes SizesOf(const Shape& shape) { return {shape.dimensions().begin(), shape.dimensions().end()}; }

ReplacementSteps::Handle ReplacementSteps::Given(const HloInstruction* instruction) {
  steps_.push_back({HloOpcode::kCopy, "", instruction->shape(), {}, nullptr, instruction});
  return steps_.size() - 1;
}

ReplacementSteps::Handle ReplacementSteps::Add(
    HloOpcode opcode, absl::string_view role, const Shape& shape, std::vector<Handle> operands,
    std::function<void(HloInstruction*)> set_attributes) {
  fits_ = fits_ && shape.ElementCount().ok();
  steps_.push_back({opcode, role, shape, std::move(operands), std::move(set_attributes)});
  return steps_.size() - 1;
}

ReplacementSteps::Handle ReplacementSteps::Slice(Handle array,
                                                 const std::vector<SliceRange>& ranges) {
  Sizes sizes;
  for (const SliceRange& range : ranges) {
    sizes.push_back((range.limit - range.start - 1) / range.stride + 1);
  }
  if (sizes == SizesAt(array)) return array;
  return Add(HloOpcode::kSlice, "slice", Like(array, sizes), {array}, [ranges](auto* slice) {
    slice->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(ranges));
  });
}

ReplacementSteps::Handle ReplacementSteps::Reverse(Handle array, const Sizes& dims) {
  if (dims.empty()) return array;
  return Add(HloOpcode::kReverse, "reverse", Like(array, SizesAt(array)), {array},
             [dims](auto* reverse) { SetDimensions(dims, reverse); });
}

ReplacementSteps::Handle ReplacementSteps::Reshape(Handle array, const Sizes& sizes) {
  const Step& step = steps_[array];
  if (step.opcode == HloOpcode::kReshape && step.role == "reshape") array = step.operands[0];
  if (sizes == SizesAt(array)) return array;
  return Add(HloOpcode::kReshape, "reshape", Like(array, sizes), {array});
}

ReplacementSteps::Handle ReplacementSteps::Transpose(Handle array, const Sizes& order) {
  if (absl::c_is_sorted(order)) return array;
  Sizes sizes;
  for (const int64_t dim : order) sizes.push_back(SizesAt(array)[dim]);
  return Add(HloOpcode::kTranspose, "transpose", Like(array, sizes), {array},
             [order](auto* transpose) { SetDimensions(order, transpose); });
}

ReplacementSteps::Handle ReplacementSteps::Broadcast(Handle array, const Sizes& sizes,
                                                     const Sizes& dims) {
  if (dims.size() == sizes.size()) return array;
  // Dimensions of one index are no repetition.
  Sizes missing = sizes;
  for (const int64_t dim : dims) missing[dim] = 1;
  if (absl::c_all_of(missing, [](int64_t size) { return size == 1; })) {
    return Reshape(array, sizes);
  }
  return Add(HloOpcode::kBroadcast, "broadcast", Like(array, sizes), {array},
             [dims](auto* broadcast) { SetDimensions(dims, broadcast); });
}

ReplacementSteps::Handle ReplacementSteps::Pad(Handle array, Handle value,
                                               const std::vector<PaddingDimension>& padding) {
  Sizes sizes = SizesAt(array);
  bool is_any = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    is_any = is_any || padding[i] != PaddingDimension();
    const auto inner = CheckedMul(std::max<int64_t>(sizes[i] - 1, 0), padding[i].interior);
    auto size = inner ? CheckedAdd(*inner, sizes[i]) : std::nullopt;
    if (size) size = CheckedAdd(*size, padding[i].low);
    if (size) size = CheckedAdd(*size, padding[i].high);
    fits_ = fits_ && size;
    sizes[i] = size.value_or(0);
  }
  if (!is_any) return array;
  return Add(HloOpcode::kPad, "pad", Like(array, sizes), {array, value}, [padding](auto* pad) {
    pad->SetAttribute(AttributeKey::kPadding, absl::Span<const PaddingDimension>(padding));
  });
}

ReplacementSteps::Handle ReplacementSteps::Constant(const Literal& literal,
                                                    absl::string_view role) {
  return Add(HloOpcode::kConstant, role, literal.shape(), {}, [literal](auto* constant) {
    constant->SetAttribute(AttributeKey::kConstantValue, &literal);
  });
}

ReplacementSteps::Handle ReplacementSteps::Element(Handle array, const Sizes& index) {
  std::vector<SliceRange> ranges;
  for (const int64_t i : index) ranges.push_back({i, i + 1, 1});
  return Reshape(Slice(array, ranges), {});
}

std::vector<ReplacementSteps::Handle> ReplacementSteps::Starts(const std::vector<MovedAxis>& axes,
                                                               const Sizes& last) {
  std::vector<std::optional<Handle>> values(axes.size());
  std::optional<ElementType> type;
  bool is_one_type = true;
  for (size_t k = 0; k < axes.size(); ++k) {
    const std::optional<RuntimeStart>& start = axes[k].runtime;
    if (!start) continue;
    Handle value = Element(Given(rewriter_->CopyOf(*start->source)), start->element);
    const ElementType own = TypeAt(value);
    const bool is_clamped_anyhow =
        axes[k].start == 0 && start->lower == 0 && start->upper == last[k];
    if (start->is_clamped && !is_clamped_anyhow) {
      const Handle lower = Integer(own, start->lower, "least");
      const Handle upper = Integer(own, start->upper, "greatest");
      value = Add(HloOpcode::kClamp, "clamp", Shape::Scalar(own), {lower, value, upper});
    }
    values[k] = value;
    is_one_type = is_one_type && axes[k].start == 0 && (!type || *type == own);
    type = own;
  }
  const ElementType common = type && is_one_type ? *type : ElementType::kS64;
  const Shape scalar = Shape::Scalar(common);
  std::vector<Handle> starts;
  for (size_t k = 0; k < axes.size(); ++k) {
    if (!values[k]) {
      starts.push_back(Integer(common, axes[k].start, "start"));
      continue;
    }
    Handle value = *values[k];
    if (TypeAt(value) != common) value = Add(HloOpcode::kConvert, "convert", scalar, {value});
    if (axes[k].start != 0) {
      const Handle more = Integer(common, axes[k].start, "offset");
      value = Add(HloOpcode::kAdd, "add", scalar, {value, more});
    }
    starts.push_back(value);
  }
  return starts;
}

ReplacementSteps::Handle ReplacementSteps::DynamicSlice(Handle array,
                                                        const std::vector<MovedAxis>& starts,
                                                        const Sizes& sizes) {
  Sizes last = SizesAt(array);
  for (size_t k = 0; k < last.size(); ++k) last[k] -= sizes[k];
  std::vector<Handle> operands = Starts(starts, last);
  operands.insert(operands.begin(), array);
  return Add(HloOpcode::kDynamicSlice, "dynamic_slice", Like(array, sizes), std::move(operands),
             [sizes](auto* slice) {
               slice->SetAttribute(AttributeKey::kDynamicSliceSizes,
                                   absl::Span<const int64_t>(sizes));
             });
}

ReplacementSteps::Handle ReplacementSteps::AnyValue(Handle array) {
  const auto zero = Literal::Splat(Shape::Scalar(TypeAt(array)));
  fits_ = fits_ && zero.ok();
  return Constant(zero.ok() ? *zero : Literal(), "zero");
}

ReplacementSteps::Handle ReplacementSteps::OneValueOf(const HloInstruction* array) {
  if (array->shape().rank() == 0) return Given(array);
  if (array->opcode() == HloOpcode::kBroadcast && array->operand(0)->shape().rank() == 0) {
    return Given(array->operand(0));
  }
  return Element(Given(array), Sizes(array->shape().rank(), 0));
}

void ReplacementSteps::Emit(Handle last) {
  if (!fits_) return;
  const HloInstruction& original = rewriter_->original();
  if (steps_[last].made != nullptr) {
    last = Add(HloOpcode::kCopy, "copy", original.shape(), {last});
  }
  std::vector<bool> is_used(steps_.size(), false);
  is_used[last] = true;
  for (size_t i = steps_.size(); i-- > 0;) {
    if (!is_used[i]) continue;
    for (const Handle operand : steps_[i].operands) is_used[operand] = true;
  }
  for (Step& step : steps_) {
    if (step.made != nullptr || !is_used[&step - steps_.data()]) continue;
    std::vector<const HloInstruction*> operands;
    operands.reserve(step.operands.size());
    for (const Handle operand : step.operands) operands.push_back(steps_[operand].made);
    HloInstruction* made = &step == &steps_[last]
                               ? rewriter_->Replace(step.opcode, original.shape(), operands)
                               : rewriter_->AddHelper(step.opcode, step.role, step.shape, operands);
    if (step.set_attributes) step.set_attributes(made);
    step.made = made;
  }
}

}  // namespace xla_indexing::internal
