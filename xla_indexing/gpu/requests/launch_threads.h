// What the threads of a launch compute, as expressions over lanes and warps.
//
// Mathematics. Dimension 0 is the lane, in [0, warp size - 1], dimension 1 the warp of the launch,
// and those after it are the loops of the mapping. Warps are counted block by block: with W warps a
// block, warp w and lane l are the thread with the linear id  l + (w mod W) * warp size  of the
// block with the linear id  w floordiv W,  and coordinates are the digits of these ids. A block's
// last warp may be part of one.
//
// Example, f32[1000] in blocks of 128 threads: the element d0 + d1 * 32, where it is in [0, 999].
#ifndef XLA_INDEXING_GPU_REQUESTS_LAUNCH_THREADS_H_
#define XLA_INDEXING_GPU_REQUESTS_LAUNCH_THREADS_H_

#include <cstdint>
#include <utility>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"

namespace xla_indexing::internal {

// The interval, cut to [-2^62, 2^62].
ValueRange Clamped(const Interval& interval);

struct LaunchThreads {
  // An expression, null if a number does not fit int64, and what it has to be in.
  using ExprConstraint = std::pair<mlir::AffineExpr, ValueRange>;

  // The mapping verifies.
  LaunchThreads(const ThreadMapping& mapping, int64_t warp_size);

  int64_t NumLanes() const { return warp_size < num_threads ? warp_size : num_threads; }

  int64_t warp_size;
  int64_t num_threads;  // of a block
  int64_t warps_of_block;
  int64_t num_warps = 0;  // of the launch; 0 also where they are not counted in int64
  // Whether the block, warp floordiv warps_of_block, is in the members below: the mapping does more
  // than to count the threads of the launch.
  bool has_blocks = false;
  // The members below have values only for launches that have threads.
  llvm::SmallVector<mlir::AffineExpr, 4> elements;
  llvm::SmallVector<ExprConstraint, 4> constraints;

 private:
  void MakeExprs(const ThreadMapping& mapping);
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_LAUNCH_THREADS_H_
