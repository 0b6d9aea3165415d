// Gather, in its general form with batching dimensions: an element of the result is an element of
// the window (here called slice) that ops/rules/indexed/indexed_windows.h places in the operand, with
// the starts clamped so that every slice is inside,
//
//   rt_j = clamp(indices[b with j at index_vector_dim], 0, n_k - slice_size_k),
//          k = start_index_map[j],
//
// and r[d] = a[i] where i_k is the sum of
//
//   rt_j             for k = start_index_map[j],
//   d_offset(k)      for dimensions of the operand that are neither collapsed nor batching,
//   b_m              for k = operand_batching_dims[i], m = start_indices_batching_dims[i].
//
// Each element of the result reads all of rt_j. A dimension of the operand may be batching and indexed;
// its i_k is then any index, over-approximate.
//
// Sources: XLA's operation semantics; the StableHLO RFC on batching dimensions.

#include <cstdint>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/indexed/indexed_windows.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using IndexVector = IndexedWindows::IndexVector;

constexpr int64_t kOperand = 0;
constexpr int64_t kIndices = 1;

}  // namespace

void GatherOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  const IndexedWindows windows = IndexedWindows::OfGather(build.instruction);
  // A slice without elements, which a collapsed dimension may have, reads nothing.
  if (!windows.AreEmpty()) {
    MapBuilder builder = build.FromOutput(kOperand);
    const IndexVector origin = windows.AddOrigin(windows.BatchOfWindow(builder), &builder);
    IndexVector offsets;
    for (const int64_t dim : windows.window_dims()) offsets.push_back(builder.Dim(dim));
    const IndexVector element = windows.ArrayElement(origin, offsets, &builder);
    build.Add(kOperand, builder.Build(element, windows.Label()));
  }
  MapBuilder builder = build.FromOutput(kIndices);
  const AffineExpr j = builder.AddRangeOverAxis(windows.VectorSize());
  build.Add(kIndices, builder.Build(windows.ElementOfIndices(windows.BatchOfWindow(builder), j)));
}

void GatherInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const IndexedWindows windows = IndexedWindows::OfGather(build.instruction);
  MapBuilder builder = build.ToOutput(operand);
  if (operand == kOperand) {
    const IndexVector batch = windows.AddBatchAt(&builder);
    const IndexVector origin = windows.AddOrigin(batch, &builder);
    const IndexVector offsets = windows.AddOffsetsAt(origin, &builder);
    build.Add(kOperand, builder.Build(windows.WindowElement(batch, offsets), windows.Label()));
    return;
  }
  IndexVector offsets;
  for (const int64_t dim : windows.window_dims()) {
    offsets.push_back(builder.AddRangeOverAxis(build.Output().dimension(dim)));
  }
  build.Add(kIndices,
            builder.Build(windows.WindowElement(windows.BatchOfIndices(builder), offsets)));
}

}  // namespace xla_indexing::internal
