// The coordinates of a box (transforms/moved_box.h), brought into the forms that slices, reshapes and
// dynamic-slices have.
#ifndef XLA_INDEXING_HLO_TRANSFORMS_MOVED_AXES_H_
#define XLA_INDEXING_HLO_TRANSFORMS_MOVED_AXES_H_

#include <vector>

#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replacement_steps.h"
#include "xla_indexing/hlo/transforms/rewrite_module.h"

namespace xla_indexing::internal {

using Axes = std::vector<MovedAxis>;

// Coordinates that share loops as one: the operand is transposed by `order` and reshaped to `sizes`.
struct Flattened {
  Sizes order;
  Sizes sizes;
  Axes axes;
};

// `sizes` are those of the operand.
Flattened Flatten(const Sizes& sizes, const Axes& axes);

// Makes all steps positive, the largest first; loops whose order was turned are added to `reversed`.
void Normalise(const Sizes& counts, MovedAxis* axis, Sizes* reversed);

// Whether each step is the next one's times its count: the digits of one loop.
bool IsOneRun(const MovedAxis& axis, const Sizes& counts);

bool HasRuntimeStart(const Axes& axes);

// The starts of a dynamic-slice or dynamic-update-slice, of one type. The operation clamps start k
// to [0, last[k]].
std::vector<ReplacementSteps::Handle> Starts(const Axes& axes, const Sizes& last,
                                             InstructionRewriter* rewriter,
                                             ReplacementSteps* steps);

ReplacementSteps::Handle DynamicSlice(ReplacementSteps::Handle array, const Axes& starts,
                                      const Sizes& sizes, InstructionRewriter* rewriter,
                                      ReplacementSteps* steps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TRANSFORMS_MOVED_AXES_H_
