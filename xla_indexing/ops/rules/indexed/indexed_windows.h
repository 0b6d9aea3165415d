// Windows of an array that vectors of indices place: what gather and scatter have in common.
//
// In addition to the array and the indices there is the array of windows (the result of a gather, the
// updates of a scatter). Its dimensions are the window dimensions, which are dimensions of the
// array in order, and the batch dimensions, which are those of the indices without index_vector_dim
// in order. The window of batch index b begins at
//
//   origin_k(b) = rt_j   for k = index_map[j], rt_j = indices[b with j at index_vector_dim],
//                 b_m    for k = array_batching_dims[i], m = indices_batching_dims[i],
//                 0      for other k,
//
// and its element with the offsets w is element origin(b) + w of the array. Dimensions of the array
// that are neither batching nor window dimensions (collapsed, inserted) have the offset 0. Where
// index_vector_dim is the rank of the indices, they are one index each.
//
// Both directions of a map begin with a MapBuilder from one of the arrays and take these steps:
//
//   from the windows    BatchOfWindow, AddOrigin, ArrayElement
//   from the array      AddBatchAt, AddOrigin, AddOffsetsAt, WindowElement
//   from the indices    BatchOfIndices
//
// Which elements a window could have for some indices is asked with Reach(), or for all elements
// with AddReachedElements() from the indices and KeepReachable() from the array.
//
// Sources: XLA's operation semantics; the StableHLO RFC on batching dimensions.

#ifndef XLA_INDEXING_OPS_RULES_INDEXED_INDEXED_WINDOWS_H_
#define XLA_INDEXING_OPS_RULES_INDEXED_INDEXED_WINDOWS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/parts/exactness.h"

namespace xla_indexing::internal {

class IndexedWindows {
 public:
  using IndexVector = llvm::SmallVector<mlir::AffineExpr, 4>;

  // What happens to a window that does not lie inside the array.
  enum class Outside {
    kMovedInside,      // The indices are clamped: gather.
    kDropped,          // The whole window is left out: scatter.
    kElementsDropped,  // The elements outside are left out: scatter as StableHLO defines it.
  };

  // The windows of the operand of a gather, and those of every operand of a scatter.
  static IndexedWindows OfGather(const HloInstruction& gather);
  static IndexedWindows OfScatter(const HloInstruction& scatter, Outside outside);

  bool DropsWholeWindows() const { return outside_ == Outside::kDropped; }

  const Shape& array() const { return *array_; }
  const Shape& indices() const { return indices_operand_->shape().Leaf(0); }
  const Shape& windows() const { return *windows_; }

  // Dimensions of the windows.
  absl::Span<const int64_t> window_dims() const { return window_dims_; }
  absl::Span<const int64_t> batch_dims() const { return batch_dims_; }
  // The size of a window along a dimension of the array.
  int64_t WindowSize(int64_t array_dim) const { return window_sizes_[array_dim]; }
  // Whether windows have no elements.
  bool AreEmpty() const;
  // Whether dimension `array_dim` begins at a runtime variable.
  bool IsIndexed(int64_t array_dim) const;
  // The values of an index along an indexed dimension with which a window lies inside the array.
  Interval InsideStarts(int64_t array_dim) const;
  // The indices of the array along a dimension that windows have for some values of the indices,
  // which are any of their element type: those of [v, v + size - 1] inside the array, for all v at
  // which the window is not dropped. An interval, since the v are one.
  Interval Reach(int64_t array_dim) const;

  // What answers that name elements of the array are: over-approximate where a dimension is batching and
  // indexed (GatherDimensionNumbers::IsBatchingAndIndexed); windows may then begin anywhere in it.
  ExactnessLabel Label() const;

  // The number of components of an index vector.
  int64_t VectorSize() const;
  // The element of the indices that holds component `j`.
  IndexVector ElementOfIndices(llvm::ArrayRef<mlir::AffineExpr> batch, mlir::AffineExpr j) const;

  // The batch index of an element of the windows, or of the indices, which the map begins at.
  IndexVector BatchOfWindow(const MapBuilder& builder) const;
  IndexVector BatchOfIndices(const MapBuilder& builder) const;
  // All batch indices whose windows may contain the element of the array that the map begins at: a
  // new range variable for each dimension but the batching ones, in which the element says which.
  IndexVector AddBatchAt(MapBuilder* builder) const;

  // Where the window of a batch index begins; adds the runtime variables.
  IndexVector AddOrigin(llvm::ArrayRef<mlir::AffineExpr> batch, MapBuilder* builder) const;
  // All elements of the array that the window of a batch index could have: a new range variable
  // over the reach of each dimension but the batching ones, in which the batch index says which.
  IndexVector AddReachedElements(llvm::ArrayRef<mlir::AffineExpr> batch, MapBuilder* builder) const;
  // Restricts the domain, of a map that begins at the array, to elements that windows could have.
  void KeepReachable(MapBuilder* builder) const;
  // Restricts the domain to windows that are not dropped as a whole.
  void KeepInside(llvm::ArrayRef<mlir::AffineExpr> origin, MapBuilder* builder) const;

  // The offsets, along the window dimensions, of the element of the array that the map begins at in
  // a window that begins at `origin`. Restricts the domain to where the window has the element.
  IndexVector AddOffsetsAt(llvm::ArrayRef<mlir::AffineExpr> origin, MapBuilder* builder) const;
  // The element of the windows at a batch index, with offsets along the window dimensions.
  IndexVector WindowElement(llvm::ArrayRef<mlir::AffineExpr> batch,
                            llvm::ArrayRef<mlir::AffineExpr> offsets) const;
  // The element of the array at offsets along the window dimensions. Restricts the domain to
  // elements that are not dropped.
  IndexVector ArrayElement(llvm::ArrayRef<mlir::AffineExpr> origin,
                           llvm::ArrayRef<mlir::AffineExpr> offsets, MapBuilder* builder) const;

 private:
  using DimList = llvm::SmallVector<int64_t, 4>;

  IndexedWindows(const HloInstruction& indices, const Shape& array, const Shape& windows,
                 Outside outside, int64_t index_vector_dim, absl::Span<const int64_t> window_dims,
                 absl::Span<const int64_t> index_map, absl::Span<const int64_t> array_batching_dims,
                 absl::Span<const int64_t> indices_batching_dims,
                 absl::Span<const int64_t> dropped_dims);

  const HloInstruction* indices_operand_;
  const Shape* array_;
  const Shape* windows_;
  Outside outside_;
  int64_t index_vector_dim_;
  absl::Span<const int64_t> window_dims_;
  absl::Span<const int64_t> index_map_;
  absl::Span<const int64_t> array_batching_dims_;
  absl::Span<const int64_t> indices_batching_dims_;
  DimList batch_dims_;
  DimList indices_dims_;       // Dimensions of the indices, in the order of batch_dims_.
  DimList array_window_dims_;  // Dimensions of the array, in the order of window_dims_.
  DimList window_sizes_;
  DimList open_dims_;  // Dimensions of the array that are batching and indexed.
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_INDEXED_INDEXED_WINDOWS_H_
