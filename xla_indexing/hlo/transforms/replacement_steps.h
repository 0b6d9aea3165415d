// The operations that take the place of one instruction (transforms/replace_indexed.h).
//
// Steps are noted first and added to the copy of the module only when all are known, since the last
// of them bears the name of the original. An operation that does nothing (a slice of the whole array,
// a reshape to the same sizes, ..) is no step, so a caller need not look for such cases.
//
//   ReplacementSteps steps(&rewriter);
//   const Handle operand = steps.Given(rewriter.operand(0));
//   steps.Emit(steps.Reverse(steps.Slice(operand, {{1, 8, 2}}), {0}));
#ifndef XLA_INDEXING_HLO_TRANSFORMS_REPLACEMENT_STEPS_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REPLACEMENT_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

using Sizes = std::vector<int64_t>;

Sizes SizesOf(const Shape& shape);

class ReplacementSteps {
 public:
  // An array: an instruction of the copy, or the result of a step.
  using Handle = size_t;

  explicit ReplacementSteps(InstructionRewriter* rewriter) : rewriter_(rewriter) {}

  // An instruction of the copy as it is.
  Handle Given(const HloInstruction* instruction);
  // A step of any opcode. `role` is a part of the names of the instructions that are added.
  Handle Add(HloOpcode opcode, absl::string_view role, const Shape& shape,
             std::vector<Handle> operands,
             std::function<void(HloInstruction*)> set_attributes = nullptr);

  Sizes SizesAt(Handle array) const { return SizesOf(steps_[array].shape); }
  ElementType TypeAt(Handle array) const { return steps_[array].shape.element_type(); }
  // The shape of an array of these sizes whose elements have the type of those of `array`.
  Shape Like(Handle array, const Sizes& sizes) const { return Shape::Array(TypeAt(array), sizes); }

  Handle Slice(Handle array, const std::vector<SliceRange>& ranges);
  Handle Reverse(Handle array, const Sizes& dims);
  Handle Reshape(Handle array, const Sizes& sizes);
  // Dimension i of the result is dimension order[i] of the array.
  Handle Transpose(Handle array, const Sizes& order);
  // Dimension i of the array is dimension dims[i] of the result.
  Handle Broadcast(Handle array, const Sizes& sizes, const Sizes& dims);
  Handle Pad(Handle array, Handle value, const std::vector<PaddingDimension>& padding);
  Handle Constant(const Literal& literal, absl::string_view role);
  Handle Integer(ElementType type, int64_t value, absl::string_view role) {
    return Constant(Literal::IntegerScalar(type, value), role);
  }
  // The element at these indices, as a scalar.
  Handle Element(Handle array, const Sizes& index);
  // The part of an array of these sizes from these coordinates on, by a dynamic-slice.
  Handle DynamicSlice(Handle array, const std::vector<MovedAxis>& starts, const Sizes& sizes);
  // The starts of a dynamic-slice or dynamic-update-slice, of one type. The operation clamps start k to
  // [0, last[k]].
  std::vector<Handle> Starts(const std::vector<MovedAxis>& axes, const Sizes& last);
  // A scalar of the type of the array that stands where no element is read.
  Handle AnyValue(Handle array);
  // The value of all elements of an array of the copy.
  Handle OneValueOf(const HloInstruction* array);

  // Adds all that `last` is computed from to the copy, with `last` instead of the original.
  // Adds nothing if a size does not fit, so that the original is copied.
  void Emit(Handle last);

  static void SetDimensions(const Sizes& dimensions, HloInstruction* instruction) {
    instruction->SetAttribute(AttributeKey::kDimensions, absl::Span<const int64_t>(dimensions));
  }

 private:
  struct Step {
    HloOpcode opcode;
    absl::string_view role;
    Shape shape;
    std::vector<Handle> operands;
    std::function<void(HloInstruction*)> set_attributes;
    const HloInstruction* made = nullptr;
  };

  InstructionRewriter* rewriter_;
  std::vector<Step> steps_;
  bool fits_ = true;
};

// Replace the rewriter's instruction, a gather or a scatter (replace_indexed.h says how). They do nothing
// if a size does not fit.
void ReplaceGather(const std::vector<MovedBox>& boxes, InstructionRewriter* rewriter);
void ReplaceScatter(const PlacedUpdates& placed, InstructionRewriter* rewriter);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REPLACEMENT_STEPS_H_
