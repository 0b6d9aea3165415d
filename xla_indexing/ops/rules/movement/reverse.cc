// Reverse: r[d] = a[i] with i_k = n_k - 1 - d_k on the reversed dimensions and i_k = d_k on the
// others. Its own converse.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

void AddReversal(BuildContext& build) {
  const Shape& shape = build.Output();
  MapBuilder builder = build.FromOutput(0);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    if (!absl::c_linear_search(build.instruction.dimensions(), k)) {
      indices.push_back(builder.Dim(k));
    } else if (shape.IsUnboundedDimension(k)) {
      build.AddWholeRead(
          0, 0, 0,
          ExactnessLabel::OverApproximate("whole operand: a reversed dimension has no bound"));
      return;
    } else {
      indices.push_back(LinearCombination({{builder.Dim(k), -1}}, shape.dimension(k) - 1));
    }
  }
  build.Add(0, builder.Build(indices));
}

}  // namespace

void ReverseOutputToInput(BuildContext& build, int64_t /*output_leaf*/) { AddReversal(build); }

void ReverseInputToOutput(BuildContext& build, int64_t /*operand*/, int64_t /*operand_leaf*/) {
  AddReversal(build);
}

}  // namespace xla_indexing::internal
