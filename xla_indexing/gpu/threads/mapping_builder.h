// Thread mappings written expression by expression.
//
// Example, f32[1000] in blocks of 128 threads:
//
//   MappingBuilder builder(context);
//   AffineExpr offset = Add(builder.Thread(128), Scale(builder.Block(8), 128));
//   builder.Bound(offset, 1000);
//   BuildLinear(shape, offset, &builder);
#ifndef XLA_INDEXING_GPU_THREADS_MAPPING_BUILDER_H_
#define XLA_INDEXING_GPU_THREADS_MAPPING_BUILDER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Variables by role in the order in which they are asked for, and what they compute.
class MappingBuilder {
 public:
  explicit MappingBuilder(mlir::MLIRContext* context) : context_(context) {}

  // A coordinate with these values 0, 1, ..; up to three of each.
  mlir::AffineExpr Thread(int64_t size);
  mlir::AffineExpr Block(int64_t size);
  // A range variable of so many values.
  mlir::AffineExpr Loop(int64_t size);
  mlir::AffineExpr Vector(int64_t size);
  // A point is computed only where the expression is an index of `size`.
  void Bound(mlir::AffineExpr expr, int64_t size);

  // InvalidArgument where an expression is null.
  absl::StatusOr<ThreadMapping> Build(llvm::ArrayRef<mlir::AffineExpr> results);

 private:
  mlir::AffineExpr Dim(int64_t size, const std::string& name, llvm::SmallVectorImpl<int>* role);

  mlir::MLIRContext* context_;
  Variables dims_;
  Variables ranges_;
  Constraints constraints_;
  llvm::SmallVector<int, 3> thread_dims_;
  llvm::SmallVector<int, 3> block_dims_;
  llvm::SmallVector<int64_t, 3> thread_sizes_;
  llvm::SmallVector<int64_t, 3> block_sizes_;
  llvm::SmallVector<int, 1> vector_ranges_;
};

// The indices of the element at an offset in memory. The dimensions of `sizes` that are not 0 are
// those that `offset` counts, in `minor_to_major` order.
void Delinearize(mlir::AffineExpr offset, llvm::ArrayRef<int64_t> minor_to_major,
                 absl::Span<const int64_t> sizes, llvm::SmallVectorImpl<mlir::AffineExpr>* indices);

// The mapping to the elements at these offsets in memory, in the order of the array's layout.
absl::StatusOr<ThreadMapping> BuildLinear(const Shape& shape, mlir::AffineExpr offset,
                                          MappingBuilder* builder);

// The order in which the blocks of TiledTranspose go over the dimensions if none is given.
llvm::SmallVector<int64_t, 4> TilesInOrderOfLanes(int64_t rank, int64_t lanes, int64_t rows);

// Checks that a parameter is in [1, most].
absl::Status CheckSize(absl::string_view what, int64_t size, int64_t most);

absl::StatusOr<int64_t> NumElements(const Shape& shape);
// The array as rows of this length: how many there are.
absl::StatusOr<int64_t> NumRows(const Shape& shape, int64_t row_length);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_THREADS_MAPPING_BUILDER_H_
