// Dot: with batch indices b, free indices m and n and contracting indices k,
//
//   r[b.., m.., n..] = sum over k of lhs[b, m, k] * rhs[b, n, k],
//
// where the dimension numbers say which dimension of an operand is which. The dimensions of the
// result are the batch dimensions in the order of the attribute, then the free ones of lhs, then
// those of rhs.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;

// The dimension numbers as one operand sees them.
struct DotSide {
  absl::Span<const int64_t> batch_dims;
  absl::Span<const int64_t> contracting_dims;
  // The dimensions that are neither, and the dimension of the result that the first of them is.
  llvm::SmallVector<int64_t, 4> free_dims;
  int64_t first_free_in_result = 0;
};

llvm::SmallVector<int64_t, 4> FreeDims(int64_t rank, absl::Span<const int64_t> batch_dims,
                                       absl::Span<const int64_t> contracting_dims) {
  llvm::SmallVector<int64_t, 4> free_dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (!absl::c_linear_search(batch_dims, i) && !absl::c_linear_search(contracting_dims, i)) {
      free_dims.push_back(i);
    }
  }
  return free_dims;
}

DotSide SideOf(const BuildContext& build, int64_t operand) {
  const DotDimensionNumbers numbers = build.instruction.dot_dimension_numbers();
  const llvm::SmallVector<int64_t, 4> lhs_free_dims =
      FreeDims(build.Operand(0).rank(), numbers.lhs_batch_dims, numbers.lhs_contracting_dims);
  const auto num_batch_dims = static_cast<int64_t>(numbers.lhs_batch_dims.size());
  if (operand == 0) {
    return {numbers.lhs_batch_dims, numbers.lhs_contracting_dims, lhs_free_dims, num_batch_dims};
  }
  return {numbers.rhs_batch_dims, numbers.rhs_contracting_dims,
          FreeDims(build.Operand(1).rank(), numbers.rhs_batch_dims, numbers.rhs_contracting_dims),
          num_batch_dims + static_cast<int64_t>(lhs_free_dims.size())};
}

}  // namespace

void DotOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  for (int64_t operand = 0; operand < 2; ++operand) {
    const DotSide side = SideOf(build, operand);
    MapBuilder builder = build.FromOutput(operand);
    llvm::SmallVector<AffineExpr, 4> indices(build.Operand(operand).rank());
    int64_t result_dim = 0;
    for (const int64_t dim : side.batch_dims) indices[dim] = builder.Dim(result_dim++);
    result_dim = side.first_free_in_result;
    for (const int64_t dim : side.free_dims) indices[dim] = builder.Dim(result_dim++);
    for (const int64_t dim : side.contracting_dims) {
      indices[dim] = builder.AddRangeOverAxis(build.Operand(operand).dimension(dim));
    }
    build.Add(operand, builder.Build(indices));
  }
}

void DotInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const DotSide side = SideOf(build, operand);
  MapBuilder builder = build.ToOutput(operand);
  llvm::SmallVector<AffineExpr, 4> indices(build.Output().rank());
  int64_t result_dim = 0;
  for (const int64_t dim : side.batch_dims) indices[result_dim++] = builder.Dim(dim);
  result_dim = side.first_free_in_result;
  for (const int64_t dim : side.free_dims) indices[result_dim++] = builder.Dim(dim);
  for (int64_t i = 0; i < build.Output().rank(); ++i) {
    if (!indices[i]) indices[i] = builder.AddRangeOverAxis(build.Output().dimension(i));
  }
  build.Add(operand, builder.Build(indices));
}

}  // namespace xla_indexing
