#include "xla_indexing/gpu/threads/mapping_builder.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr absl::string_view kCoordinateNames[] = {"x", "y", "z"};

}  // namespace

AffineExpr MappingBuilder::Thread(int64_t size) {
  thread_sizes_.push_back(size);
  return Dim(size, absl::StrCat("th_", kCoordinateNames[thread_sizes_.size() - 1]), &thread_dims_);
}

AffineExpr MappingBuilder::Block(int64_t size) {
  block_sizes_.push_back(size);
  return Dim(size, absl::StrCat("bl_", kCoordinateNames[block_sizes_.size() - 1]), &block_dims_);
}

AffineExpr MappingBuilder::Loop(int64_t size) {
  ranges_.push_back({Interval::OfSize(size), {}});
  return mlir::getAffineSymbolExpr(ranges_.size() - 1, context_);
}

AffineExpr MappingBuilder::Vector(int64_t size) {
  vector_ranges_.push_back(static_cast<int>(ranges_.size()));
  AffineExpr vector = Loop(size);
  ranges_.back().name = mlir::StringAttr::get(context_, "vec");
  return vector;
}

void MappingBuilder::Bound(AffineExpr expr, int64_t size) {
  constraints_.push_back({expr, Interval::OfSize(size)});
}

absl::StatusOr<ThreadMapping> MappingBuilder::Build(llvm::ArrayRef<AffineExpr> results) {
  const auto is_null = [](AffineExpr expr) { return !expr; };
  if (llvm::any_of(results, is_null) ||
      llvm::any_of(constraints_, [&](const Constraint& c) { return is_null(c.expr); })) {
    return ThreadMappingError("a number does not fit int64");
  }
  const mlir::AffineMap map = mlir::AffineMap::get(dims_.size(), ranges_.size(), results, context_);
  return ThreadMapping{IndexingMap(kPartsFit, map, dims_, ranges_, {}, constraints_),
                       thread_dims_,
                       block_dims_,
                       thread_sizes_,
                       block_sizes_,
                       vector_ranges_};
}

AffineExpr MappingBuilder::Dim(int64_t size, const std::string& name,
                               llvm::SmallVectorImpl<int>* role) {
  role->push_back(static_cast<int>(dims_.size()));
  dims_.push_back({Interval::OfSize(size), mlir::StringAttr::get(context_, name)});
  return mlir::getAffineDimExpr(dims_.size() - 1, context_);
}

void Delinearize(AffineExpr offset, llvm::ArrayRef<int64_t> minor_to_major,
                 absl::Span<const int64_t> sizes, llvm::SmallVectorImpl<AffineExpr>* indices) {
  int64_t last = -1;  // The most major one with more than one index needs no remainder.
  for (const int64_t dim : minor_to_major) {
    if (sizes[dim] > 1) last = dim;
  }
  AffineExpr rest = offset;
  int64_t stride = 1;
  for (const int64_t dim : minor_to_major) {
    const int64_t size = sizes[dim];
    if (size <= 1 || !rest) {
      (*indices)[dim] = size <= 1 ? Constant(0, offset.getContext()) : rest;
      continue;
    }
    rest = stride == 1 ? offset : FloorDiv(offset, stride);
    (*indices)[dim] = dim == last ? rest : Mod(rest, size);
    if (dim != last) stride *= size;
  }
}

absl::StatusOr<ThreadMapping> BuildLinear(const Shape& shape, AffineExpr offset,
                                          MappingBuilder* builder) {
  llvm::SmallVector<AffineExpr, 4> indices(shape.rank());
  const Layout layout = shape.LayoutOrRowMajor();
  if (offset) {
    Delinearize(offset, llvm::ArrayRef(layout.minor_to_major.data(), layout.minor_to_major.size()),
                shape.dimensions(), &indices);
  }
  return builder->Build(indices);
}

llvm::SmallVector<int64_t, 4> TilesInOrderOfLanes(int64_t rank, int64_t lanes, int64_t rows) {
  llvm::SmallVector<int64_t, 4> order = {lanes, rows};
  for (int64_t dim = rank; dim-- > 0;) {
    if (dim != lanes && dim != rows) order.push_back(dim);
  }
  return order;
}

absl::Status CheckSize(absl::string_view what, int64_t size, int64_t most) {
  if (size >= 1 && size <= most) return absl::OkStatus();
  return ThreadMappingError(absl::StrCat(what, " is ", size, ", and should be from 1 to ", most));
}

absl::StatusOr<int64_t> NumElements(const Shape& shape) {
  if (!shape.IsArray())
    return ThreadMappingError(absl::StrCat(shape.ToString(), " is not an array"));
  return shape.ElementCount();
}

absl::StatusOr<int64_t> NumRows(const Shape& shape, int64_t row_length) {
  const absl::StatusOr<int64_t> elements = NumElements(shape);
  if (!elements.ok()) return elements.status();
  if (row_length < 1 || *elements % row_length != 0) {
    return ThreadMappingError(absl::StrCat("rows of ", row_length, " elements of ", *elements));
  }
  return *elements / row_length;
}

}  // namespace xla_indexing::internal
