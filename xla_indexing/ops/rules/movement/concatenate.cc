// Concatenate along dimension k: operand j lies at offset_j = the sum of the sizes of the operands
// before it,
//
//   r[d] = a_j[d with d_k - offset_j]  where  0 <= d_k - offset_j < size_j.

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The identity with `offset` added in dimension `dim`, whose interval becomes `interval`.
OperandIndexing ShiftedIdentity(MapBuilder builder, int64_t rank, int64_t dim, int64_t offset,
                                const Interval& interval) {
  builder.ConstrainDim(dim, interval);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < rank; ++i) indices.push_back(builder.Dim(i));
  if (offset != 0) indices[dim] = LinearCombination({{indices[dim]}}, offset);
  return builder.Build(indices);
}

constexpr char kUnboundedReason[] =
    "whole tensor: a concatenated dimension has no bound, what follows it has no fixed place";

}  // namespace

void ConcatenateOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  const int64_t dim = build.instruction.dimensions()[0];
  int64_t offset = 0;
  bool offset_is_known = true;
  for (int64_t j = 0; j < build.instruction.operand_count(); ++j) {
    const int64_t size = build.Operand(j).dimension(dim);
    offset_is_known = offset_is_known && size != Shape::kUnboundedSize;
    if (!offset_is_known) {
      build.AddWholeRead(0, j, 0, ExactnessLabel::OverApproximate(kUnboundedReason));
      continue;
    }
    build.Add(j, ShiftedIdentity(build.FromOutput(j), build.Output().rank(), dim, -offset,
                                 IndicesOfAxis(size).Add(offset)));
    offset += size;
  }
}

void ConcatenateInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const int64_t dim = build.instruction.dimensions()[0];
  int64_t offset = 0;
  for (int64_t j = 0; j < operand; ++j) {
    const int64_t size = build.Operand(j).dimension(dim);
    if (size == Shape::kUnboundedSize) {
      build.AddWholeReach(0, operand, 0, ExactnessLabel::OverApproximate(kUnboundedReason));
      return;
    }
    offset += size;
  }
  build.Add(operand, ShiftedIdentity(build.ToOutput(operand), build.Output().rank(), dim, offset,
                                     Interval::All()));
}

}  // namespace xla_indexing::internal
