// Which elements of an array each thread of a GPU launch computes.
//
// A ThreadMapping is an indexing map from thread and block coordinates to the elements of an array,
// with roles for its variables:
//
//   dimensions       a thread coordinate or a block coordinate, values from 0 on
//   range variables  a loop of each thread, or the elements of a vector access
//
// The array is the output of a loop fusion or of a transpose; of a reduction, in which threads
// share the elements of one output, it is the array that is reduced.
//
// Threads. The linear id of a thread is th_x + |th_x| * (th_y + |th_y| * th_z), the thread
// coordinates in the order of `thread_dims`. A warp is `warp size` threads of one block with
// consecutive ids, from a multiple of it on; the last of a block may have fewer.
//
// No thread computes a point that the map's constraints exclude. Such points belong to threads past
// the last element.
//
// Example, f32[1000] in blocks of 128 threads with one element each:
//
//   (th_x, bl_x) -> (th_x + bl_x * 128), domain: th_x in [0, 127], bl_x in [0, 7],
//                                                th_x + bl_x * 128 in [0, 999]
//
// Errors. InvalidArgument names the mapping's part and the numbers.
//
// Source: the kernel emitters of XLA's GPU backend, for the forms of the mappings that are given.
#ifndef XLA_INDEXING_GPU_THREADS_THREAD_MAPPING_H_
#define XLA_INDEXING_GPU_THREADS_THREAD_MAPPING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

struct ThreadMapping {
  IndexingMap map;
  llvm::SmallVector<int, 3> thread_dims;  // dimensions of the map, the fastest varying first
  llvm::SmallVector<int, 3> block_dims;   // the others, likewise
  // The number of values of each of these dimensions, in this order. The map's interval for one may
  // exclude some.
  llvm::SmallVector<int64_t, 3> thread_sizes;
  llvm::SmallVector<int64_t, 3> block_sizes;
  llvm::SmallVector<int, 1> vector_ranges;  // range variables of the map; the others are loops

  // The most elements of one vector access.
  static constexpr int64_t kMaxVectorWidth = 1024;

  // Verifies that this is a thread mapping: every dimension has one role and values within its
  // size; intervals are finite; the threads of a block and the blocks of the launch are counted in
  // int64; there are no runtime variables.
  absl::Status Verify() const;
  // Verifies, in addition, that it leads to elements of `shape`.
  absl::Status VerifyFor(const Shape& shape) const;

  // The threads of a block and the blocks of the launch, for a mapping that verifies.
  int64_t ThreadsPerBlock() const;
  int64_t NumBlocks() const;

  bool IsVectorRange(int range) const;
};

// The elements of an array in the order in which they lie in memory: thread t of block b computes
// `elements_per_thread` elements from (b * threads_per_block + t) * elements_per_thread on, with
// accesses of `vector_width` elements, which divides it. As many blocks as that takes.
struct LoopOptions {
  int64_t threads_per_block = 128;
  int64_t elements_per_thread = 1;
  int64_t vector_width = 1;
};
absl::StatusOr<ThreadMapping> RowMajorLoop(const Shape& shape, const LoopOptions& options,
                                           mlir::MLIRContext* context);

// Tiles of 32 by 32 elements, for a transpose through shared memory: the 32 threads of a row run
// along dimension `lanes` of the array, the rows of a block, and its loop, along dimension `rows`;
// blocks take the tiles and the other dimensions. A transpose reads with `lanes` the dimension in
// which its operand is contiguous, and writes with `lanes` that in which its output is.
struct TileOptions {
  int64_t lanes = 0;
  int64_t rows = 0;
  int64_t threads_per_row = 32;
  int64_t rows_per_block = 4;  // that are worked on at once
  // The dimensions in the order in which blocks go over them, the fastest first. Empty: `lanes`,
  // `rows`, and the others from the last to the first. On the two sides of one transpose they have
  // to be the same dimensions in the same order, so that a block writes what it has read.
  llvm::SmallVector<int64_t, 4> block_order = {};
};
absl::StatusOr<ThreadMapping> TiledTranspose(const Shape& shape, const TileOptions& options,
                                             mlir::MLIRContext* context);

// A row reduction of an array seen as rows of `row_length` elements that lie next to one another in
// memory. The `threads_per_row` threads of a row go along it, `vector_width` elements at a time,
// until its end; a block has `rows_per_block` rows. The array may be `batches` parts, one after the
// other in memory, that are reduced into one another: the threads of a row go along this row of each
// part.
struct RowReductionOptions {
  int64_t row_length = 1;
  int64_t threads_per_row = 32;
  int64_t rows_per_block = 4;
  int64_t vector_width = 1;
  int64_t batches = 1;
};
absl::StatusOr<ThreadMapping> RowReduction(const Shape& shape, const RowReductionOptions& options,
                                           mlir::MLIRContext* context);

// A column reduction: each of `threads_per_row` threads of a block takes `vector_width` columns, and
// the block works on `rows_per_block` rows at a time, down to the last row. The array may be
// `batches` parts, one after the other in memory, each of which is reduced by itself.
struct ColumnReductionOptions {
  int64_t row_length = 1;
  int64_t threads_per_row = 32;
  int64_t rows_per_block = 32;
  int64_t vector_width = 1;
  int64_t batches = 1;
};
absl::StatusOr<ThreadMapping> ColumnReduction(const Shape& shape,
                                              const ColumnReductionOptions& options,
                                              mlir::MLIRContext* context);

// Reads a mapping from a map's text (map/text/text.h). The names of variables say their roles: th_x,
// th_y, th_z are thread coordinates, bl_x, bl_y, bl_z block coordinates, a range variable vec (or
// vec_..) the elements of a vector access. Without names d0 is the thread and d1, if there is one,
// the block.
absl::StatusOr<ThreadMapping> ParseThreadMapping(absl::string_view text,
                                                 mlir::MLIRContext* context);

// An InvalidArgument error about a thread mapping.
absl::Status ThreadMappingError(absl::string_view message);

// How often elements are computed.
struct ThreadCoverage {
  Interval elements;      // of the array
  Interval computed;      // that some thread computes
  Interval computations;  // points of the mapping

  // Whether each element is computed by exactly one thread.
  bool IsOnce() const {
    return elements.IsPoint() && elements == computed && computed == computations;
  }

  friend bool operator==(const ThreadCoverage& a, const ThreadCoverage& b) = default;
};
// Errors as those of VerifyFor.
absl::StatusOr<ThreadCoverage> CoverageOf(const ThreadMapping& mapping, const Shape& shape,
                                          int64_t max_steps = int64_t{1} << 26);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_THREADS_THREAD_MAPPING_H_
