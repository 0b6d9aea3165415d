// What one warp asks of memory at once, and what that costs.
//
// Example: where 32 lanes read a column of f32[32,32] in row-major order, every lane reads another
// row of 128 bytes. The cost of the request in gpu/coalescing.h is {units 32, least 4, other 32}:
// 32 sectors in 32 lines, for 128 bytes that would fit in 4 sectors.
#ifndef XLA_INDEXING_GPU_REQUESTS_WARP_REQUEST_H_
#define XLA_INDEXING_GPU_REQUESTS_WARP_REQUEST_H_

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// One request of a launch, by the variables of the thread mapping and of the operand's map.
struct WarpRequest {
  llvm::SmallVector<int64_t, 3> block;  // in the order of block_dims
  int64_t first_thread = 0;             // linear id in its block
  llvm::SmallVector<int64_t, 4> loops;  // of each range variable of the mapping; vectors: the first
  // Range and runtime variables of the operand's map; 0 for names, which each element has of its own.
  llvm::SmallVector<int64_t, 4> symbols;
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

#endif  // XLA_INDEXING_GPU_REQUESTS_WARP_REQUEST_H_
