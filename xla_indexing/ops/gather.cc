// Gather, in its general form with batching dimensions. The dimensions of the result are those in
// offset_dims and the others, the batch dimensions, which are the dimensions of the indices without
// index_vector_dim, in order. For a batch index b, the starts are
//
//   rt_j = clamp(indices[b with j at index_vector_dim], 0, n_k - slice_size_k),  k =
//   start_index_map[j],
//
// and r[d] = a[i] where i_k is the sum of
//
//   rt_j             for k = start_index_map[j],
//   d_offset(k)      for dimensions of the operand that are neither collapsed nor batching,
//   b_m              for k = operand_batching_dims[i], m = start_indices_batching_dims[i].
//
// Each element of the result reads all of rt_j. Where index_vector_dim is the rank of the indices,
// they are one start each.
//
// Sources: XLA's operation semantics; the StableHLO RFC on batching dimensions.

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/build.h"
#include "xla_indexing/base/checked.h"
#include "xla_indexing/ops/builders.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;
using IndexVector = llvm::SmallVector<AffineExpr, 4>;

constexpr int64_t kOperand = 0;
constexpr int64_t kIndices = 1;

// Which dimension is which.
struct GatherDims {
  GatherDimensionNumbers numbers;
  absl::Span<const int64_t> slice_sizes;
  llvm::SmallVector<int64_t, 4> batch_dims;    // Of the result.
  llvm::SmallVector<int64_t, 4> indices_dims;  // Of the indices, the same dimensions.
  llvm::SmallVector<int64_t, 4> window_dims;   // Of the operand, the same as offset_dims.

  bool HasVectorDim(const Shape& indices) const {
    return numbers.index_vector_dim < indices.rank();
  }
  int64_t VectorSize(const Shape& indices) const {
    return HasVectorDim(indices) ? indices.dimension(numbers.index_vector_dim) : 1;
  }
};

GatherDims DimsOf(const BuildContext& build) {
  GatherDims dims;
  dims.numbers = build.instruction.gather_dimension_numbers();
  dims.slice_sizes = build.instruction.gather_slice_sizes();
  for (int64_t i = 0; i < build.Output().rank(); ++i) {
    if (!absl::c_linear_search(dims.numbers.offset_dims, i)) dims.batch_dims.push_back(i);
  }
  for (int64_t i = 0; i < build.Operand(kIndices).rank(); ++i) {
    if (i != dims.numbers.index_vector_dim) dims.indices_dims.push_back(i);
  }
  for (int64_t i = 0; i < build.Operand(kOperand).rank(); ++i) {
    if (!absl::c_linear_search(dims.numbers.collapsed_slice_dims, i) &&
        !absl::c_linear_search(dims.numbers.operand_batching_dims, i)) {
      dims.window_dims.push_back(i);
    }
  }
  return dims;
}

// The place of `dim` in a list of dimensions.
std::optional<int64_t> PlaceOf(int64_t dim, absl::Span<const int64_t> dims) {
  const auto place = absl::c_find(dims, dim);
  if (place == dims.end()) return std::nullopt;
  return place - dims.begin();
}

// The element of the indices that holds start `j` (any expression) of the batch index `batch`.
IndexVector ElementOfIndices(const BuildContext& build, const GatherDims& dims,
                             llvm::ArrayRef<AffineExpr> batch, AffineExpr j) {
  IndexVector element(build.Operand(kIndices).rank());
  for (size_t i = 0; i < dims.indices_dims.size(); ++i) element[dims.indices_dims[i]] = batch[i];
  if (dims.HasVectorDim(build.Operand(kIndices))) element[dims.numbers.index_vector_dim] = j;
  return element;
}

// The first element of the slice for a batch index: the sum of starts and batching indices.
IndexVector SliceOrigin(const BuildContext& build, const GatherDims& dims,
                        llvm::ArrayRef<AffineExpr> batch, MapBuilder* builder) {
  const Shape& operand = build.Operand(kOperand);
  IndexVector origin(operand.rank(), builder->Value(0));
  for (size_t i = 0; i < dims.numbers.operand_batching_dims.size(); ++i) {
    const int64_t indices_dim = dims.numbers.start_indices_batching_dims[i];
    origin[dims.numbers.operand_batching_dims[i]] = batch[*PlaceOf(indices_dim, dims.indices_dims)];
  }
  int64_t j = 0;
  for (const int64_t k : dims.numbers.start_index_map) {
    RuntimeVarIndexing binding;
    binding.instruction = build.instruction.operand(kIndices);
    const IndexVector element = ElementOfIndices(build, dims, batch, builder->Value(j++));
    binding.element.assign(element.begin(), element.end());
    binding.value = ValueFunction::Clamp(0, operand.IsUnboundedDimension(k)
                                                ? kInt64Max
                                                : operand.dimension(k) - dims.slice_sizes[k]);
    origin[k] = builder->AddRuntime(std::move(binding));
  }
  return origin;
}

}  // namespace

void GatherOutputToInput(BuildContext& build, int64_t /*output_leaf*/) {
  const GatherDims dims = DimsOf(build);
  // A slice without elements, which a collapsed dimension may have, reads nothing.
  if (!absl::c_linear_search(dims.slice_sizes, 0)) {
    MapBuilder builder = build.FromOutput(kOperand);
    IndexVector batch;
    for (const int64_t dim : dims.batch_dims) batch.push_back(builder.Dim(dim));
    IndexVector indices = SliceOrigin(build, dims, batch, &builder);
    for (size_t i = 0; i < dims.window_dims.size(); ++i) {
      AffineExpr& index = indices[dims.window_dims[i]];
      index = Add(builder.Dim(dims.numbers.offset_dims[i]), index);
    }
    build.Add(kOperand, builder.Build(indices));
  }
  MapBuilder builder = build.FromOutput(kIndices);
  IndexVector batch;
  for (const int64_t dim : dims.batch_dims) batch.push_back(builder.Dim(dim));
  AffineExpr j = builder.AddRangeOverAxis(dims.VectorSize(build.Operand(kIndices)));
  build.Add(kIndices, builder.Build(ElementOfIndices(build, dims, batch, j)));
}

void GatherInputToOutput(BuildContext& build, int64_t operand, int64_t /*operand_leaf*/) {
  const GatherDims dims = DimsOf(build);
  const Shape& output = build.Output();
  MapBuilder builder = build.ToOutput(operand);
  IndexVector indices(output.rank());
  if (operand == kIndices) {
    for (size_t i = 0; i < dims.batch_dims.size(); ++i) {
      indices[dims.batch_dims[i]] = builder.Dim(dims.indices_dims[i]);
    }
    for (const int64_t dim : dims.numbers.offset_dims) {
      indices[dim] = builder.AddRangeOverAxis(output.dimension(dim));
    }
    build.Add(kIndices, builder.Build(indices));
    return;
  }
  // All batch indices whose slice contains the element; in batching dimensions the element says
  // which.
  IndexVector batch;
  for (size_t i = 0; i < dims.batch_dims.size(); ++i) {
    const std::optional<int64_t> batching =
        PlaceOf(dims.indices_dims[i], dims.numbers.start_indices_batching_dims);
    batch.push_back(batching ? builder.Dim(dims.numbers.operand_batching_dims[*batching])
                             : builder.AddRangeOverAxis(output.dimension(dims.batch_dims[i])));
    indices[dims.batch_dims[i]] = batch.back();
  }
  const IndexVector origin = SliceOrigin(build, dims, batch, &builder);
  for (int64_t k = 0; k < build.Operand(kOperand).rank(); ++k) {
    AffineExpr offset = Sub(builder.Dim(k), origin[k]);
    builder.Constrain(offset, IndicesOfAxis(dims.slice_sizes[k]));
    if (const std::optional<int64_t> window = PlaceOf(k, dims.window_dims)) {
      indices[dims.numbers.offset_dims[*window]] = offset;
    }
  }
  build.Add(kOperand, builder.Build(indices));
}

}  // namespace xla_indexing
