// How the warps of a launch share the banks of shared memory.
//
// Mathematics. Shared memory lies in words of 4 bytes, word w in bank w mod 32; in one cycle, a
// *wavefront*, every bank gives one word, to as many lanes as want it. A request (as in
// gpu/coalescing.h) for the set W of words takes
//
//   wavefronts         max over banks of the number of different words of W in the bank
//   least wavefronts   ceil(| W | / 32)
//
// summed over the requests of the launch; without conflicts both are equal. A swizzle, if there is
// one, is applied to the byte address first.
//
// Accesses are given as a thread mapping whose results are indices of an array in shared memory.
// The array begins at an address that is a multiple of the size of all banks together and of the
// swizzle's period.
//
// Example, a tile f32[32,32] of a transpose whose lanes read a column: 32 words in one bank, 32
// wavefronts where 1 would be least. With a tile f32[32,33], of which 32 columns are used, or with
// the swizzle {5, 2, 7} (rows XORed into columns), it is 1.
//
// Counts are exact, or bounds where they were not found within `max_steps`.
//
// Errors. InvalidArgument where options are out of bounds or the mapping does not fit the array;
// those of ByteLayoutOf.
#ifndef XLA_INDEXING_GPU_BANK_CONFLICTS_H_
#define XLA_INDEXING_GPU_BANK_CONFLICTS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/requests/warp_request.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/count/count_image.h"

namespace xla_indexing {

struct BankOptions {
  int64_t warp_size = 32;  // or 64
  int64_t banks = 32;      // a power of two, at most 1024
  int64_t word_bytes = 4;  // a power of two, at most 64
  XorSwizzle swizzle;      // source + bits at most 16
  int64_t max_steps = kMaxCountingSteps;

  absl::Status Verify() const;
};

struct BankConflicts {
  Interval requests;
  Interval wavefronts;
  Interval least_wavefronts;
  // The request with the most wavefronts relative to its least number; nullopt if there are no
  // requests, and where counts are bounds.
  std::optional<WarpRequest> worst;
  int64_t worst_wavefronts = 0;

  bool IsExact() const { return requests.IsPoint() && wavefronts.IsPoint(); }
};

absl::StatusOr<BankConflicts> ComputeBankConflicts(const ThreadMapping& accesses,
                                                   const Shape& shared_array,
                                                   const BankOptions& options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_BANK_CONFLICTS_H_
