// Slice: r[d] = a[i] with i_k = start_k + d_k * stride_k.

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

void SliceOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const SliceRange& range : build.instruction.slice()) {
    AffineExpr dim = builder.Dim(static_cast<int64_t>(indices.size()));
    indices.push_back(LinearCombination({{dim, range.stride}}, range.start));
  }
  build.Add(0, builder.Build(indices));
}

void SliceInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  if (HasNoElements(build.Output())) return;
  MapBuilder builder = build.ToOutput(operand);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (const SliceRange& range : build.instruction.slice()) {
    const auto k = static_cast<int64_t>(indices.size());
    indices.push_back(builder.ExactQuotient(LinearCombination({{builder.Dim(k)}}, -range.start),
                                            range.stride, build.Output().dimension(k)));
  }
  build.AddWithPoints(operand, builder.Build(indices));
}

}  // namespace xla_indexing::internal
