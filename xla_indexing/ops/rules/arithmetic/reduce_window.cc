// (Variadic) reduce-window: a window slides over the padded and dilated operands. In every
// dimension, element w of the window at position d reads the element i of the operand with
//
//   i * base_dilation = d * stride + w * window_dilation - padding_low,
//
// if there is one. Elements of the window that lie on padding or holes read the initial value, as
// every result does. A reversed window reads the same elements in another order.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests ReduceWindowNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const Shape& result = build.Output(output_leaf);
  const Shape& shape = build.Operand(operand);
  if (operand >= build.instruction.operand_count() / 2) return WholeNest(result, shape);
  LoopNest nest;
  for (const WindowDimension& window : WindowOf(build.instruction)) {
    const auto k = static_cast<int64_t>(nest.result.size());
    const Loop position = nest.AddLoop(result.dimension(k));
    const Loop window_index = nest.AddLoop(window.size);
    nest.result.push_back(NestAxis::Along(position));
    nest.operand.push_back(NestAxis::OnWindow(position, window_index, window, shape.dimension(k)));
  }
  return nest;
}

}  // namespace xla_indexing::internal
