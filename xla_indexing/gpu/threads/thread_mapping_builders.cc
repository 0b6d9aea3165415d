// The mappings of threads that GPU kernels of loops, transposes and reductions use.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/gpu/threads/mapping_builder.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"

namespace xla_indexing {
namespace {

using internal::Add;
using internal::BuildLinear;
using internal::CeilDiv;
using internal::CheckedMul;
using internal::CheckSize;
using internal::Delinearize;
using internal::FloorDiv;
using internal::MappingBuilder;
using internal::Mod;
using internal::NumElements;
using internal::NumRows;
using internal::Scale;
using internal::TilesInOrderOfLanes;
using ::mlir::AffineExpr;

constexpr int64_t kMaxThreadsPerBlock = 1024;

// The array as so many parts of rows of this length: how many rows a part has.
absl::StatusOr<int64_t> RowsOfBatch(const Shape& shape, int64_t row_length, int64_t batches) {
  const absl::StatusOr<int64_t> rows = NumRows(shape, row_length);
  if (!rows.ok()) return rows.status();
  if (batches < 1 || *rows % batches != 0) {
    return ThreadMappingError(absl::StrCat(batches, " batches of ", *rows, " rows"));
  }
  return *rows / batches;
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
  AffineExpr offset = Scale(builder.Thread(options.threads_per_block), each);
  offset = Add(offset, Scale(builder.Block(blocks), per_block));
  if (each > options.vector_width) {
    offset = Add(offset, Scale(builder.Loop(each / options.vector_width), options.vector_width));
  }
  if (options.vector_width > 1) offset = Add(offset, builder.Vector(options.vector_width));
  if (*elements % per_block != 0) builder.Bound(offset, *elements);
  return BuildLinear(shape, offset, &builder);
}

namespace {

bool IsPermutation(llvm::ArrayRef<int64_t> order, int64_t rank) {
  llvm::SmallVector<int64_t, 4> sorted(order);
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int64_t>(0, rank));
}

}  // namespace

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
  llvm::SmallVector<int64_t, 4> order = options.block_order;
  if (order.empty()) order = TilesInOrderOfLanes(rank, options.lanes, options.rows);
  if (!IsPermutation(order, rank)) {
    return ThreadMappingError(absl::StrCat("blocks that go over the dimensions ",
                                           absl::StrJoin(order, ", "), " of ",
                                           shape.ToStringWithoutLayout()));
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

namespace {

// The rows of each batch, for the options of a row or a column reduction; an error where these do not
// fit the shape or a block.
template <typename Options>
absl::StatusOr<int64_t> RowsOfReduction(const Shape& shape, const Options& options) {
  absl::StatusOr<int64_t> rows = RowsOfBatch(shape, options.row_length, options.batches);
  if (!rows.ok()) return rows;
  absl::Status status = CheckSize("threads a row", options.threads_per_row, kMaxThreadsPerBlock);
  status.Update(CheckSize("rows a block", options.rows_per_block,
                          kMaxThreadsPerBlock / std::max<int64_t>(options.threads_per_row, 1)));
  status.Update(CheckSize("vector width", options.vector_width, ThreadMapping::kMaxVectorWidth));
  if (!status.ok()) return status;
  return rows;
}

}  // namespace

absl::StatusOr<ThreadMapping> RowReduction(const Shape& shape, const RowReductionOptions& options,
                                           mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> rows = RowsOfReduction(shape, options);
  if (!rows.ok()) return rows.status();
  const int64_t at_once = options.threads_per_row * options.vector_width;
  const int64_t steps = CeilDiv(options.row_length, at_once);
  const int64_t blocks = CeilDiv(*rows, options.rows_per_block);
  MappingBuilder builder(context);
  AffineExpr column = Scale(builder.Thread(options.threads_per_row), options.vector_width);
  AffineExpr row = builder.Thread(options.rows_per_block);
  row = Add(row, Scale(builder.Block(blocks), options.rows_per_block));
  AffineExpr row_of_all = row;
  if (options.batches > 1) row_of_all = Add(row, Scale(builder.Loop(options.batches), *rows));
  if (steps > 1) column = Add(column, Scale(builder.Loop(steps), at_once));
  if (options.vector_width > 1) column = Add(column, builder.Vector(options.vector_width));
  if (options.row_length % at_once != 0) builder.Bound(column, options.row_length);
  if (*rows % options.rows_per_block != 0) builder.Bound(row, *rows);
  return BuildLinear(shape, Add(column, Scale(row_of_all, options.row_length)), &builder);
}

absl::StatusOr<ThreadMapping> ColumnReduction(const Shape& shape,
                                              const ColumnReductionOptions& options,
                                              mlir::MLIRContext* context) {
  const absl::StatusOr<int64_t> rows = RowsOfReduction(shape, options);
  if (!rows.ok()) return rows.status();
  const int64_t steps = CeilDiv(*rows, options.rows_per_block);
  const int64_t columns_per_block = options.threads_per_row * options.vector_width;
  const int64_t blocks_per_row = CeilDiv(options.row_length, columns_per_block);
  const std::optional<int64_t> blocks =
      *rows == 0 ? 0 : CheckedMul(blocks_per_row, options.batches);
  if (!blocks) return ThreadMappingError("the blocks are more than int64 counts");
  MappingBuilder builder(context);
  AffineExpr column = Scale(builder.Thread(options.threads_per_row), options.vector_width);
  AffineExpr row = builder.Thread(options.rows_per_block);
  const AffineExpr block = builder.Block(*blocks);
  const bool has_batches = options.batches > 1;
  column = Add(column, Scale(has_batches ? Mod(block, blocks_per_row) : block, columns_per_block));
  if (steps > 1) row = Add(row, Scale(builder.Loop(steps), options.rows_per_block));
  if (options.vector_width > 1) column = Add(column, builder.Vector(options.vector_width));
  if (options.row_length % columns_per_block != 0) builder.Bound(column, options.row_length);
  if (*rows % options.rows_per_block != 0) builder.Bound(row, *rows);
  if (has_batches) row = Add(row, Scale(FloorDiv(block, blocks_per_row), *rows));
  return BuildLinear(shape, Add(column, Scale(row, options.row_length)), &builder);
}

}  // namespace xla_indexing
