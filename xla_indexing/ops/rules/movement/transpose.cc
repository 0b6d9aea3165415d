// Transpose: dimension k of the result is dimension dims[k] of the operand,
//
//   r[d] = a[i]  with  i_dims[k] = d_k.

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

void TransposeOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices(build.Output().rank());
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    indices[build.instruction.dimensions()[k]] = builder.Dim(k);
  }
  build.Add(0, builder.Build(indices));
}

void TransposeInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  MapBuilder builder = build.ToOutput(operand);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const int64_t dim : build.instruction.dimensions()) indices.push_back(builder.Dim(dim));
  build.Add(operand, builder.Build(indices));
}

}  // namespace xla_indexing::internal
