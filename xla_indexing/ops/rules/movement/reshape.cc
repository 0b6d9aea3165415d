// Reshape: elements keep their places in the row-major order,
//
//   r[d] = a[i]  with  sum_k d_k * (product of the sizes after k) the same for i in the operand.

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/movement/reshape_indices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

OperandIndexing ReshapeMap(const Shape& from, const Shape& to, mlir::MLIRContext* context,
                           OneValued one_valued) {
  const auto from_count = from.ElementCount();
  const auto to_count = to.ElementCount();
  if (!from_count.ok() || !to_count.ok() || *from_count != *to_count) {
    return WholeTensorIndexing(from, to, "whole tensor: a reshape of sizes that have no bound",
                               context);
  }
  MapBuilder builder(from, to, context, one_valued);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < from.rank(); ++i) indices.push_back(builder.Dim(i));
  if (*from_count == 0) {  // The domain is empty, whatever the results are.
    indices.assign(to.rank(), builder.Value(0));
    return builder.Build(indices);
  }
  const auto sizes = [](const Shape& shape) {
    return llvm::ArrayRef<int64_t>(shape.dimensions().data(), shape.rank());
  };
  return builder.Build(ReshapeIndices(indices, sizes(from), sizes(to), builder));
}

}  // namespace

void ReshapeOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  build.Add(0, ReshapeMap(build.Output(), build.Operand(0), build.mlir_context, build.one_valued));
}

void ReshapeInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  build.Add(operand, ReshapeMap(build.Operand(operand), build.Output(), build.mlir_context,
                                build.one_valued));
}

}  // namespace xla_indexing::internal
