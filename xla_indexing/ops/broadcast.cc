// Broadcast: dimension k of the operand is dimension dims[k] of the result,
//
//   r[d] = a[d_dims[0], d_dims[1], ..];
//
// an element of the operand is every element of the result whose other indices are free.

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {

using ::mlir::AffineExpr;

void BroadcastOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const int64_t dim : build.instruction.dimensions()) indices.push_back(builder.Dim(dim));
  build.Add(0, builder.Build(indices));
}

void BroadcastInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  MapBuilder builder = build.ToOutput(operand);
  llvm::SmallVector<AffineExpr, 4> indices(build.Output().rank());
  int64_t operand_dim = 0;
  for (const int64_t dim : build.instruction.dimensions()) {
    indices[dim] = builder.Dim(operand_dim++);
  }
  for (int64_t i = 0; i < build.Output().rank(); ++i) {
    if (!indices[i]) indices[i] = builder.AddRangeOverAxis(build.Output().dimension(i));
  }
  build.Add(operand, builder.Build(indices));
}

}  // namespace xla_indexing
