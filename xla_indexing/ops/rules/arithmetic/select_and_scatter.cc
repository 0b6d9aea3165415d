// Select-and-scatter: a window slides over the padded and dilated operand. At every position j it
// selects one of the elements that it meets, and source[j] is combined into the result there; the
// result has the sizes of the operand. In every dimension, element w of the window at j meets the
// element i with
//
//   i * base_dilation = j * stride + w * window_dilation - padding_low.
//
// Which element is selected depends on all that the window meets. So an element i of the result
// reads, for every window that meets it, the source of that window and every element of the operand
// that the window meets; and the initial value.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests SelectAndScatterNests(const BuildContext& build, int64_t /*output_leaf*/,
                                int64_t operand) {
  constexpr int64_t kOperand = 0;
  constexpr int64_t kSource = 1;
  constexpr int64_t kInitialValue = 2;
  if (operand == kInitialValue) return WholeNest(build.Output(), build.Operand(operand));
  LoopNest nest;
  for (const WindowDimension& window : WindowOf(build.instruction)) {
    const auto k = static_cast<int64_t>(nest.result.size());
    const int64_t size = build.Operand(kOperand).dimension(k);
    const Loop position = nest.AddLoop(build.Operand(kSource).dimension(k));
    nest.result.push_back(NestAxis::OnWindow(position, nest.AddLoop(window.size), window, size));
    nest.operand.push_back(
        operand == kSource ? NestAxis::Along(position)
                           : NestAxis::OnWindow(position, nest.AddLoop(window.size), window, size));
  }
  return nest;
}

}  // namespace xla_indexing::internal
