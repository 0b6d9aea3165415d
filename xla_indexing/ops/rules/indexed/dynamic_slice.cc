// Dynamic-slice: r[d] = a[d + rt] with rt_k = clamp(start_k, 0, n_k - size_k).

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/indexed/start_indices.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

void DynamicSliceOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices =
      AddStarts(build, /*first_operand=*/1, build.Operand(0), build.Output(), &builder);
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    indices[k] = Add(builder.Dim(k), indices[k]);
  }
  build.Add(0, builder.Build(indices));
  AddStartReads(build, /*first_operand=*/1);
}

void DynamicSliceInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  if (operand > 0) {
    build.AddWholeReach(operand);
    return;
  }
  if (HasNoElements(build.Output())) return;
  MapBuilder builder = build.ToOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices =
      AddStarts(build, /*first_operand=*/1, build.Operand(0), build.Output(), &builder);
  for (int64_t k = 0; k < build.Output().rank(); ++k) {
    indices[k] =
        builder.ExactQuotient(Sub(builder.Dim(k), indices[k]), 1, build.Output().dimension(k));
  }
  build.AddWithPoints(0, builder.Build(indices));
}

}  // namespace xla_indexing::internal
