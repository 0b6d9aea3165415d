// What one warp asks of memory at once, and what that costs.
#ifndef XLA_INDEXING_GPU_WARP_REQUEST_H_
#define XLA_INDEXING_GPU_WARP_REQUEST_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"

namespace xla_indexing {

// One request of a launch, by the variables of the thread mapping and of the operand's map.
struct WarpRequest {
  llvm::SmallVector<int64_t, 3> block;  // in the order of block_dims
  int64_t first_thread = 0;             // linear id in its block
  llvm::SmallVector<int64_t, 4> loops;  // of each range variable of the mapping; vectors: the first
  llvm::SmallVector<int64_t, 4> symbols;  // range and runtime variables of the operand's map
  int64_t base = 0;  // where the tensor begins, in steps from the first place where it may

  friend bool operator==(const WarpRequest& a, const WarpRequest& b) = default;
};

struct RequestCost {
  int64_t units = 0;  // sectors; wavefronts
  int64_t least = 0;  // the fewest that what is asked for fits in
  int64_t other = 0;  // lines; distinct words

  friend bool operator==(const RequestCost& a, const RequestCost& b) = default;
};

// The XOR of some bits of the byte address with others: bits [source, source + bits) are XORed into
// bits [target, target + bits). With bits = 0 addresses stay as they are. target + bits <= source.
struct XorSwizzle {
  int bits = 0;
  int target = 0;
  int source = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_WARP_REQUEST_H_
