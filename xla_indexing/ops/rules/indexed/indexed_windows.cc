#include "xla_indexing/ops/rules/indexed/indexed_windows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The place of `dim` in a list of dimensions.
std::optional<int64_t> PositionIn(int64_t dim, absl::Span<const int64_t> dims) {
  const auto it = absl::c_find(dims, dim);
  if (it == dims.end()) return std::nullopt;
  return it - dims.begin();
}

}  // namespace

IndexedWindows::IndexedWindows(const HloInstruction& indices, const Shape& array,
                               const Shape& windows, Outside outside, int64_t index_vector_dim,
                               absl::Span<const int64_t> window_dims,
                               absl::Span<const int64_t> index_map,
                               absl::Span<const int64_t> array_batching_dims,
                               absl::Span<const int64_t> indices_batching_dims,
                               absl::Span<const int64_t> dropped_dims)
    : indices_operand_(&indices),
      array_(&array),
      windows_(&windows),
      outside_(outside),
      index_vector_dim_(index_vector_dim),
      window_dims_(window_dims),
      index_map_(index_map),
      array_batching_dims_(array_batching_dims),
      indices_batching_dims_(indices_batching_dims) {
  for (int64_t i = 0; i < windows.rank(); ++i) {
    if (!absl::c_linear_search(window_dims, i)) batch_dims_.push_back(i);
  }
  for (int64_t i = 0; i < this->indices().rank(); ++i) {
    if (i != index_vector_dim) indices_dims_.push_back(i);
  }
  for (int64_t k = 0; k < array.rank(); ++k) {
    if (absl::c_linear_search(dropped_dims, k) || absl::c_linear_search(array_batching_dims, k)) {
      window_sizes_.push_back(1);
    } else {
      window_sizes_.push_back(windows.dimension(window_dims[array_window_dims_.size()]));
      array_window_dims_.push_back(k);
    }
  }
}

IndexedWindows IndexedWindows::OfGather(const HloInstruction& gather) {
  const GatherDimensionNumbers numbers = gather.gather_dimension_numbers();
  IndexedWindows windows(*gather.operand(1), gather.operand(0)->shape().Leaf(0),
                         gather.shape().Leaf(0), Outside::kMovedInside, numbers.index_vector_dim,
                         numbers.offset_dims, numbers.start_index_map,
                         numbers.operand_batching_dims, numbers.start_indices_batching_dims,
                         numbers.collapsed_slice_dims);
  // Collapsed and batching dimensions too may have slices of no elements.
  windows.window_sizes_.assign(gather.gather_slice_sizes().begin(),
                               gather.gather_slice_sizes().end());
  for (const int64_t dim : numbers.operand_batching_dims) {
    if (numbers.IsBatchingAndIndexed(dim)) windows.open_dims_.push_back(dim);
  }
  return windows;
}

IndexedWindows IndexedWindows::OfScatter(const HloInstruction& scatter, Outside outside) {
  const ScatterDimensionNumbers numbers = scatter.scatter_dimension_numbers();
  const int64_t count = scatter.operand_count() / 2;
  return IndexedWindows(*scatter.operand(count), scatter.operand(0)->shape().Leaf(0),
                        scatter.operand(count + 1)->shape().Leaf(0), outside,
                        numbers.index_vector_dim, numbers.update_window_dims,
                        numbers.scatter_dims_to_operand_dims, numbers.input_batching_dims,
                        numbers.scatter_indices_batching_dims, numbers.inserted_window_dims);
}

bool IndexedWindows::AreEmpty() const { return absl::c_linear_search(window_sizes_, 0); }

bool IndexedWindows::IsIndexed(int64_t array_dim) const {
  return absl::c_linear_search(index_map_, array_dim);
}

Interval IndexedWindows::InsideStarts(int64_t array_dim) const {
  if (array_->IsUnboundedDimension(array_dim)) return Interval::AtLeast(0);
  const int64_t size = WindowSize(array_dim);
  return Interval::Closed(
      0, array_->dimension(array_dim) - (size == Shape::kUnboundedSize ? 0 : size));
}

Interval IndexedWindows::Reach(int64_t array_dim) const {
  const Interval indices_of_array = IndicesOfAxis(array_->dimension(array_dim));
  if (absl::c_linear_search(array_batching_dims_, array_dim)) return indices_of_array;
  Interval starts = Interval::Point(0);
  if (IsIndexed(array_dim)) {
    starts = ValuesOfElementType(indices().element_type());
    if (outside_ != Outside::kElementsDropped) starts = starts.Intersect(InsideStarts(array_dim));
  }
  return starts.Add(IndicesOfAxis(WindowSize(array_dim))).Intersect(indices_of_array);
}

ExactnessLabel IndexedWindows::Label() const {
  if (open_dims_.empty()) return ExactnessLabel::Exact();
  return ExactnessLabel::OverApproximate(
      absl::StrCat("dimension ", open_dims_.front(), " is batching and indexed"));
}

int64_t IndexedWindows::VectorSize() const { return static_cast<int64_t>(index_map_.size()); }

IndexedWindows::IndexVector IndexedWindows::ElementOfIndices(llvm::ArrayRef<AffineExpr> batch,
                                                             AffineExpr j) const {
  IndexVector element(indices().rank());
  for (size_t i = 0; i < indices_dims_.size(); ++i) element[indices_dims_[i]] = batch[i];
  if (index_vector_dim_ < indices().rank()) element[index_vector_dim_] = j;
  return element;
}

IndexedWindows::IndexVector IndexedWindows::BatchOfWindow(const MapBuilder& builder) const {
  IndexVector batch;
  for (const int64_t dim : batch_dims_) batch.push_back(builder.Dim(dim));
  return batch;
}

IndexedWindows::IndexVector IndexedWindows::BatchOfIndices(const MapBuilder& builder) const {
  IndexVector batch;
  for (const int64_t dim : indices_dims_) batch.push_back(builder.Dim(dim));
  return batch;
}

IndexedWindows::IndexVector IndexedWindows::AddBatchAt(MapBuilder* builder) const {
  IndexVector batch;
  for (size_t i = 0; i < batch_dims_.size(); ++i) {
    const std::optional<int64_t> batching = PositionIn(indices_dims_[i], indices_batching_dims_);
    const bool is_known =
        batching && !absl::c_linear_search(open_dims_, array_batching_dims_[*batching]);
    batch.push_back(is_known ? builder->Dim(array_batching_dims_[*batching])
                             : builder->AddRangeOverAxis(windows_->dimension(batch_dims_[i])));
  }
  return batch;
}

IndexedWindows::IndexVector IndexedWindows::AddOrigin(llvm::ArrayRef<AffineExpr> batch,
                                                      MapBuilder* builder) const {
  IndexVector origin(array_->rank(), builder->Value(0));
  for (size_t i = 0; i < array_batching_dims_.size(); ++i) {
    origin[array_batching_dims_[i]] = batch[*PositionIn(indices_batching_dims_[i], indices_dims_)];
  }
  // Range variables come before runtime variables.
  for (const int64_t k : open_dims_) {
    origin[k] = builder->AddRangeOverAxis(array_->dimension(k));
  }
  int64_t j = -1;
  for (const int64_t k : index_map_) {
    ++j;
    if (absl::c_linear_search(open_dims_, k)) continue;
    RuntimeVarIndexing binding;
    binding.instruction = indices_operand_;
    const IndexVector element = ElementOfIndices(batch, builder->Value(j));
    binding.element.assign(element.begin(), element.end());
    if (outside_ == Outside::kMovedInside) {
      const Interval inside = InsideStarts(k);
      binding.value = ValueFunction::Clamp(0, inside.has_upper() ? inside.upper() : kInt64Max);
    }
    origin[k] = builder->AddRuntime(std::move(binding));
  }
  return origin;
}

IndexedWindows::IndexVector IndexedWindows::AddReachedElements(llvm::ArrayRef<AffineExpr> batch,
                                                               MapBuilder* builder) const {
  IndexVector element;
  for (int64_t k = 0; k < array_->rank(); ++k) {
    const std::optional<int64_t> batching = PositionIn(k, array_batching_dims_);
    element.push_back(batching
                          ? batch[*PositionIn(indices_batching_dims_[*batching], indices_dims_)]
                          : builder->AddRange(Reach(k)));
  }
  return element;
}

void IndexedWindows::KeepReachable(MapBuilder* builder) const {
  for (int64_t k = 0; k < array_->rank(); ++k) builder->Constrain(builder->Dim(k), Reach(k));
}

void IndexedWindows::KeepInside(llvm::ArrayRef<AffineExpr> origin, MapBuilder* builder) const {
  if (!DropsWholeWindows()) return;
  for (const int64_t k : index_map_) builder->Constrain(origin[k], InsideStarts(k));
}

IndexedWindows::IndexVector IndexedWindows::AddOffsetsAt(llvm::ArrayRef<AffineExpr> origin,
                                                         MapBuilder* builder) const {
  KeepInside(origin, builder);
  IndexVector offsets;
  for (int64_t k = 0; k < array_->rank(); ++k) {
    AffineExpr offset = Sub(builder->Dim(k), origin[k]);
    builder->Constrain(offset, IndicesOfAxis(WindowSize(k)));
    if (absl::c_linear_search(array_window_dims_, k)) offsets.push_back(offset);
  }
  return offsets;
}

IndexedWindows::IndexVector IndexedWindows::WindowElement(
    llvm::ArrayRef<AffineExpr> batch, llvm::ArrayRef<AffineExpr> offsets) const {
  IndexVector element(windows_->rank());
  for (size_t i = 0; i < batch_dims_.size(); ++i) element[batch_dims_[i]] = batch[i];
  for (size_t i = 0; i < window_dims_.size(); ++i) {
    element[window_dims_[i]] = offsets[i];
  }
  return element;
}

IndexedWindows::IndexVector IndexedWindows::ArrayElement(llvm::ArrayRef<AffineExpr> origin,
                                                         llvm::ArrayRef<AffineExpr> offsets,
                                                         MapBuilder* builder) const {
  KeepInside(origin, builder);
  IndexVector element(origin.begin(), origin.end());
  for (size_t i = 0; i < offsets.size(); ++i) {
    AffineExpr& index = element[array_window_dims_[i]];
    index = Add(offsets[i], index);
  }
  if (outside_ == Outside::kElementsDropped) {
    for (const int64_t k : index_map_) {
      builder->Constrain(element[k], IndicesOfAxis(array_->dimension(k)));
    }
  }
  return element;
}

}  // namespace xla_indexing::internal
