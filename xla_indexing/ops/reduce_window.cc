// (Variadic) reduce-window: a window slides over the padded and dilated operands. In every
// dimension the element i of the operand that tap w of the window at d meets is the solution of
//
//   i * base_dilation = d * stride + w * window_dilation - padding_low,
//
// if there is one in the operand: taps on padding or holes meet the initial value, which every
// result reads. Both directions solve the same equation, for i and for d. The order in which a
// reversed window meets its elements makes no difference to which they are.

#include <cstdint>

#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/build.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {

using ::mlir::AffineExpr;

namespace {

// One for each dimension; a window that is left out has none.
absl::Span<const WindowDimension> WindowOf(const HloInstruction& instruction) {
  const Window* window = instruction.window();
  return window == nullptr ? absl::Span<const WindowDimension>()
                           : absl::MakeConstSpan(window->dimensions);
}

}  // namespace

void ReduceWindowOutputToInput(BuildContext& build, int64_t output_leaf) {
  const int64_t count = build.instruction.operand_count() / 2;
  for (int64_t operand = 0; operand < count; ++operand) {
    MapBuilder builder = build.FromOutput(operand, output_leaf);
    llvm::SmallVector<AffineExpr, 4> indices;
    for (const WindowDimension& window : WindowOf(build.instruction)) {
      const auto k = static_cast<int64_t>(indices.size());
      AffineExpr tap = Scale(builder.AddRangeOverAxis(window.size), window.window_dilation);
      AffineExpr padded = Add(Scale(builder.Dim(k), window.stride), tap);
      indices.push_back(builder.ExactQuotient(Sub(padded, builder.Value(window.padding_low)),
                                              window.base_dilation,
                                              build.Operand(operand).dimension(k)));
    }
    build.Add(output_leaf, operand, 0, builder.Build(indices));
    build.AddWholeRead(count + operand, output_leaf);
  }
}

void ReduceWindowInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const int64_t count = build.instruction.operand_count() / 2;
  for (int64_t output_leaf = 0; output_leaf < count; ++output_leaf) {
    if (operand >= count) {
      build.AddWholeReach(operand, output_leaf);
      continue;
    }
    MapBuilder builder = build.ToOutput(operand, output_leaf);
    llvm::SmallVector<AffineExpr, 4> indices;
    for (const WindowDimension& window : WindowOf(build.instruction)) {
      const auto k = static_cast<int64_t>(indices.size());
      AffineExpr tap = Scale(builder.AddRangeOverAxis(window.size), window.window_dilation);
      AffineExpr padded =
          Add(Scale(builder.Dim(k), window.base_dilation), builder.Value(window.padding_low));
      indices.push_back(
          builder.ExactQuotient(Sub(padded, tap), window.stride,
                                build.instruction.shape().Leaf(output_leaf).dimension(k)));
    }
    build.Add(output_leaf, operand, 0, builder.Build(indices));
  }
}

}  // namespace xla_indexing
