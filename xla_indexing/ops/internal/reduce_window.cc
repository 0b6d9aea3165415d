// (Variadic) reduce-window: a window slides over the padded and dilated operands. In every
// dimension the element i of the operand that tap w of the window at d meets is the solution of
//
//   i * base_dilation = d * stride + w * window_dilation - padding_low,
//
// if there is one in the operand: taps on padding or holes meet the initial value, which every
// result reads. The order in which a reversed window meets its elements makes no difference to
// which they are.

#include <cstdint>

#include "xla_indexing/ops/internal/builders.h"

namespace xla_indexing::internal {

LoopNests ReduceWindowNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const Shape& result = build.Output(output_leaf);
  const Shape& shape = build.Operand(operand);
  if (operand >= build.instruction.operand_count() / 2) return {WholeNest(result, shape)};
  LoopNest nest;
  for (const WindowDimension& window : WindowOf(build.instruction)) {
    const auto k = static_cast<int64_t>(nest.result.size());
    const Loop place = nest.AddLoop(result.dimension(k));
    const Loop tap = nest.AddLoop(window.size);
    nest.result.push_back(NestAxis::Along(place));
    nest.operand.push_back(NestAxis::OnWindow(place, tap, window, shape.dimension(k)));
  }
  return {nest};
}

}  // namespace xla_indexing::internal
