// The mappings of threads that GPU kernels of loops, transposes and reductions use.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/gpu/thread_mapping.h"
#include "xla_indexing/hlo/layout.h"

namespace xla_indexing {
namespace {

using internal::Add;
using internal::CeilDiv;
using internal::CheckedMul;
using internal::Constant;
using internal::FloorDiv;
using internal::Mod;
using internal::Scale;
using ::mlir::AffineExpr;

constexpr int64_t kMaxThreadsPerBlock = 1024;

// Checks that a parameter is in [1, most].
absl::Status CheckSize(absl::string_view what, int64_t size, int64_t most) {
  if (size >= 1 && size <= most) return absl::OkStatus();
  return ThreadMappingError(absl::StrCat(what, " is ", size, ", and should be from 1 to ", most));
}

// Variables by role in the order in which they are asked for, and what they compute.
class MappingBuilder {
 public:
  explicit MappingBuilder(mlir::MLIRContext* context) : context_(context) {}

  AffineExpr Thread(int64_t size) {
    thread_sizes_.push_back(size);
    return Dim(size, absl::StrCat("th_", kAxes[thread_sizes_.size() - 1]), &thread_dims_);
  }
  AffineExpr Block(int64_t size) {
    block_sizes_.push_back(size);
    return Dim(size, absl::StrCat("bl_", kAxes[block_sizes_.size() - 1]), &block_dims_);
  }
  AffineExpr Loop(int64_t size) {
    ranges_.push_back({Interval::OfSize(size), nullptr});
    return mlir::getAffineSymbolExpr(ranges_.size() - 1, context_);
  }
  AffineExpr Vector(int64_t size) {
    vector_ranges_.push_back(static_cast<int>(ranges_.size()));
    AffineExpr vector = Loop(size);
    ranges_.back().name = mlir::StringAttr::get(context_, "vec");
    return vector;
  }
  // A point is computed only where the expression is an index of `size`.
  void Bound(AffineExpr expr, int64_t size) {
    constraints_.push_back({expr, Interval::OfSize(size)});
  }

  absl::StatusOr<ThreadMapping> Build(llvm::ArrayRef<AffineExpr> results) {
    const auto is_null = [](AffineExpr expr) { return !expr; };
    if (llvm::any_of(results, is_null) ||
        llvm::any_of(constraints_, [&](const Constraint& c) { return is_null(c.expr); })) {
      return ThreadMappingError("a number does not fit int64");
    }
    const mlir::AffineMap map =
        mlir::AffineMap::get(dims_.size(), ranges_.size(), results, context_);
    return ThreadMapping{IndexingMap(kPartsFit, map, dims_, ranges_, {}, constraints_),
                         thread_dims_,
                         block_dims_,
                         thread_sizes_,
                         block_sizes_,
                         vector_ranges_};
  }

 private:
  static constexpr absl::string_view kAxes[] = {"x", "y", "z"};

  AffineExpr Dim(int64_t size, const std::string& name, llvm::SmallVectorImpl<int>* role) {
    role->push_back(static_cast<int>(dims_.size()));
    dims_.push_back({Interval::OfSize(size), mlir::StringAttr::get(context_, name)});
    return mlir::getAffineDimExpr(dims_.size() - 1, context_);
  }

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

absl::StatusOr<int64_t> NumElements(const Shape& shape) {
  if (!shape.IsArray())
    return ThreadMappingError(absl::StrCat(shape.ToString(), " is not an array"));
  return shape.ElementCount();
}

// The indices of the element at a place in memory. The dimensions of `sizes` that are not 0 are
// those that `place` counts, in `minor_to_major` order.
void Delinearize(AffineExpr place, llvm::ArrayRef<int64_t> minor_to_major,
                 absl::Span<const int64_t> sizes, llvm::SmallVectorImpl<AffineExpr>* indices) {
  int64_t last = -1;  // The most major one with more than one index needs no remainder.
  for (const int64_t dim : minor_to_major) {
    if (sizes[dim] > 1) last = dim;
  }
  AffineExpr rest = place;
  int64_t stride = 1;
  for (const int64_t dim : minor_to_major) {
    const int64_t size = sizes[dim];
    if (size <= 1 || !rest) {
      (*indices)[dim] = size <= 1 ? Constant(0, place.getContext()) : rest;
      continue;
    }
    rest = stride == 1 ? place : FloorDiv(place, stride);
    (*indices)[dim] = dim == last ? rest : Mod(rest, size);
    if (dim != last) stride *= size;
  }
}

absl::StatusOr<ThreadMapping> BuildLinear(const Shape& shape, AffineExpr place,
                                          MappingBuilder* builder) {
  llvm::SmallVector<AffineExpr, 4> indices(shape.rank());
  const Layout layout = shape.LayoutOrRowMajor();
  if (place) {
    Delinearize(place, llvm::ArrayRef(layout.minor_to_major.data(), layout.minor_to_major.size()),
                shape.dimensions(), &indices);
  }
  return builder->Build(indices);
}

// The array as rows of this length: how many there are.
absl::StatusOr<int64_t> NumRows(const Shape& shape, int64_t row_length) {
  const absl::StatusOr<int64_t> elements = NumElements(shape);
  if (!elements.ok()) return elements.status();
  if (row_length < 1 || *elements % row_length != 0) {
    return ThreadMappingError(absl::StrCat("rows of ", row_length, " elements of ", *elements));
  }
  return *elements / row_length;
}

}  // namespace

absl::StatusOr<ThreadMapping> RowMajorLoop(const Shape& shape, const LoopOptions& options,
                                           mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> elements = NumElements(shape);
  if (!elements.ok()) return elements.status();
  absl::Status status =
      CheckSize("threads a block", options.threads_per_block, kMaxThreadsPerBlock);
  status.Update(CheckSize("elements a thread", options.elements_per_thread, int64_t{1} << 20));
  status.Update(CheckSize("vector width", options.vector_width, ThreadMapping::kMaxVectorWidth));
  if (!status.ok()) return status;
  const int64_t each = options.elements_per_thread;
  if (each % options.vector_width != 0) {
    return ThreadMappingError(absl::StrCat("accesses of ", options.vector_width,
                                           " elements do not make ", each, " elements a thread"));
  }
  const int64_t per_block = options.threads_per_block * each;
  const int64_t blocks = CeilDiv(*elements, per_block);
  MappingBuilder builder(context);
  AffineExpr place = Scale(builder.Thread(options.threads_per_block), each);
  place = Add(place, Scale(builder.Block(blocks), per_block));
  if (each > options.vector_width) {
    place = Add(place, Scale(builder.Loop(each / options.vector_width), options.vector_width));
  }
  if (options.vector_width > 1) place = Add(place, builder.Vector(options.vector_width));
  if (*elements % per_block != 0) builder.Bound(place, *elements);
  return BuildLinear(shape, place, &builder);
}

absl::StatusOr<ThreadMapping> TiledTranspose(const Shape& shape, const TileOptions& options,
                                             mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> elements = NumElements(shape);
  if (!elements.ok()) return elements.status();
  absl::Status status = CheckSize("threads a row", options.threads_per_row, kMaxThreadsPerBlock);
  status.Update(CheckSize("rows a block", options.rows_per_block,
                          kMaxThreadsPerBlock / std::max<int64_t>(options.threads_per_row, 1)));
  if (!status.ok()) return status;
  const int64_t tile = options.threads_per_row;
  if (tile % options.rows_per_block != 0) {
    return ThreadMappingError(
        absl::StrCat(options.rows_per_block, " rows at once do not make a tile of ", tile));
  }
  const int64_t rank = shape.rank();
  if (options.lanes < 0 || options.lanes >= rank || options.rows < 0 || options.rows >= rank ||
      options.lanes == options.rows) {
    return ThreadMappingError(absl::StrCat("tiles along the dimensions ", options.lanes, " and ",
                                           options.rows, " of ", shape.ToStringWithoutLayout()));
  }
  // Blocks count tiles along both dimensions and the indices of the others.
  DimensionVector counts(shape.dimensions().begin(), shape.dimensions().end());
  for (const int64_t dim : {options.lanes, options.rows}) counts[dim] = CeilDiv(counts[dim], tile);
  std::optional<int64_t> blocks = *elements == 0 ? 0 : 1;
  for (const int64_t count : counts) {
    if (blocks) blocks = CheckedMul(*blocks, count);
  }
  if (!blocks) return ThreadMappingError("the blocks are more than int64 counts");
  MappingBuilder builder(context);
  AffineExpr lane = builder.Thread(tile);
  AffineExpr row = builder.Thread(options.rows_per_block);
  llvm::SmallVector<AffineExpr, 4> indices(rank);
  llvm::SmallVector<int64_t, 4> order = {options.lanes, options.rows};
  for (int64_t dim = rank; dim-- > 0;) {
    if (dim != options.lanes && dim != options.rows) order.push_back(dim);
  }
  Delinearize(builder.Block(*blocks), order, counts, &indices);
  if (tile > options.rows_per_block) {
    row = Add(row, Scale(builder.Loop(tile / options.rows_per_block), options.rows_per_block));
  }
  for (const auto& [dim, within] : {std::pair(options.lanes, lane), std::pair(options.rows, row)}) {
    indices[dim] = Add(Scale(indices[dim], tile), within);
    const int64_t size = shape.dimension(dim);
    if (size % tile != 0) builder.Bound(indices[dim], size);
  }
  return builder.Build(indices);
}

absl::StatusOr<ThreadMapping> RowReduction(const Shape& shape, const RowReductionOptions& options,
                                           mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> rows = NumRows(shape, options.row_length);
  if (!rows.ok()) return rows.status();
  absl::Status status = CheckSize("threads a row", options.threads_per_row, kMaxThreadsPerBlock);
  status.Update(CheckSize("rows a block", options.rows_per_block,
                          kMaxThreadsPerBlock / std::max<int64_t>(options.threads_per_row, 1)));
  status.Update(CheckSize("vector width", options.vector_width, ThreadMapping::kMaxVectorWidth));
  if (!status.ok()) return status;
  const int64_t at_once = options.threads_per_row * options.vector_width;
  const int64_t steps = CeilDiv(options.row_length, at_once);
  const int64_t blocks = CeilDiv(*rows, options.rows_per_block);
  MappingBuilder builder(context);
  AffineExpr column = Scale(builder.Thread(options.threads_per_row), options.vector_width);
  AffineExpr row = builder.Thread(options.rows_per_block);
  row = Add(row, Scale(builder.Block(blocks), options.rows_per_block));
  if (steps > 1) column = Add(column, Scale(builder.Loop(steps), at_once));
  if (options.vector_width > 1) column = Add(column, builder.Vector(options.vector_width));
  if (options.row_length % at_once != 0) builder.Bound(column, options.row_length);
  if (*rows % options.rows_per_block != 0) builder.Bound(row, *rows);
  return BuildLinear(shape, Add(column, Scale(row, options.row_length)), &builder);
}

absl::StatusOr<ThreadMapping> ColumnReduction(const Shape& shape,
                                              const ColumnReductionOptions& options,
                                              mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> rows = NumRows(shape, options.row_length);
  if (!rows.ok()) return rows.status();
  absl::Status status = CheckSize("threads a row", options.threads_per_row, kMaxThreadsPerBlock);
  status.Update(CheckSize("rows a block", options.rows_per_block,
                          kMaxThreadsPerBlock / std::max<int64_t>(options.threads_per_row, 1)));
  if (!status.ok()) return status;
  const int64_t steps = CeilDiv(*rows, options.rows_per_block);
  const int64_t blocks = *rows == 0 ? 0 : CeilDiv(options.row_length, options.threads_per_row);
  MappingBuilder builder(context);
  AffineExpr column = builder.Thread(options.threads_per_row);
  AffineExpr row = builder.Thread(options.rows_per_block);
  column = Add(column, Scale(builder.Block(blocks), options.threads_per_row));
  if (steps > 1) row = Add(row, Scale(builder.Loop(steps), options.rows_per_block));
  if (options.row_length % options.threads_per_row != 0) {
    builder.Bound(column, options.row_length);
  }
  if (*rows % options.rows_per_block != 0) builder.Bound(row, *rows);
  return BuildLinear(shape, Add(column, Scale(row, options.row_length)), &builder);
}

}  // namespace xla_indexing
