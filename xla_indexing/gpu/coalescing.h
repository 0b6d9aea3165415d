// How well the warps of a launch access an operand or the output.
//
// Mathematics. A *request* is what one warp asks memory for at once: all its threads at one value
// of the loops of the thread mapping and of the range variables of the operand's map. Where
// elements lie the layout says, what a warp is gpu/threads/thread_mapping.h. With B(r) the set of
// bytes of request r,
//
//   requests        those with an active thread
//   sectors         sum over requests of | { b floordiv 32 : b in B(r) } |
//   lines           sum over requests of | { b floordiv 128 : b in B(r) } |
//   least sectors   sum over requests of ceil(| B(r) | / 32)
//   efficiency      least sectors / sectors
//   coalesced       every request has  sectors <= factor * least sectors  (factor 1.25: an access
//                   of 128 bytes may begin in the middle of a sector)
//
// Requests are counted as if nothing were cached between them, reads and writes alike. Counts are
// exact, found from a few warps, unless
//
//   - they depend on runtime values: then they are intervals [least, most] over these values;
//     values that differ from point to point are taken best and worst for each request by itself;
//   - the map is over-approximate: then only the most is known;
//   - they were not found within `max_steps`: then they are bounds.
//
// Operands begin at multiples of `alignment_bytes`. Where that is less than a line, counts are
// [least, most] over the possible addresses.
//
// Counts are [0, inf], with a reason, where nothing is known: for unknown maps, operands of other
// devices, sparse and split layouts, and arrays without bounds.
//
// Example, p0 + transpose(p0) of f32[1024,1024], 128 threads a block, one element each: 8192 blocks
// of 4 warps make 32768 requests. Through (d0, d1) -> (d0, d1) each has 32 floats in a row, 4
// sectors; through (d0, d1) -> (d1, d0) they are 4096 bytes apart, 32 sectors.
//
// Errors. InvalidArgument where options are out of bounds or a thread mapping does not fit.
#ifndef XLA_INDEXING_GPU_COALESCING_H_
#define XLA_INDEXING_GPU_COALESCING_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/requests/warp_request.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {

namespace internal {
struct LaunchThreads;
}  // namespace internal

struct CoalescingOptions {
  int64_t warp_size = 32;     // or 64
  int64_t sector_bytes = 32;  // these three are powers of two, at most 2^16
  int64_t line_bytes = 128;   // no less than a sector
  int64_t alignment_bytes = 256;
  double factor = 1.25;  // at least 1, and finite
  int64_t max_steps = kMaxCountingSteps;

  absl::Status Verify() const;
};

struct Coalescing {
  Interval requests = Interval::Point(0);
  Interval sectors = Interval::Point(0);
  Interval least_sectors = Interval::Point(0);
  Interval lines = Interval::Point(0);
  // Nullopt if it is not known for every request.
  std::optional<bool> coalesced = true;
  // The request with the most sectors relative to its least number, with `worst_cost`: sectors,
  // least sectors, lines.
  std::optional<WarpRequest> worst;
  RequestCost worst_cost;
  std::string reason;  // why nothing is known; empty where something is

  static Coalescing Unknown(std::string reason);

  bool IsUnknown() const { return !reason.empty(); }
  bool IsExact() const {
    return requests.IsPoint() && sectors.IsPoint() && least_sectors.IsPoint() && lines.IsPoint();
  }
  // Least sectors / sectors: 1 where there are no sectors, nullopt if they are not single numbers.
  std::optional<double> Efficiency() const;
};

// One access of a thread in a request.
struct LaneAddress {
  int64_t thread = 0;  // linear id in its block
  int64_t bit = 0;     // from where the tensor would begin at a multiple of the alignment
};

// The accesses of one launch.
class CoalescingAnalysis {
 public:
  // `output` is the array that the mapping leads to (for a reduction, the array that is reduced).
  static absl::StatusOr<CoalescingAnalysis> Create(ThreadMapping mapping, const Shape& output,
                                                   const CoalescingOptions& options = {});
  // A launch whose mapping is the row-major loop over an array.
  static absl::StatusOr<CoalescingAnalysis> OfLoop(const Shape& output, const LoopOptions& loop,
                                                   mlir::MLIRContext* context,
                                                   const CoalescingOptions& options = {});

  const ThreadMapping& mapping() const { return mapping_; }

  // How reading an operand through one of its maps from `output` coalesces. Unknown, with the
  // reason, where the map does not fit these two arrays.
  Coalescing OfReads(const OperandIndexing& indexing, const Shape& operand) const;
  // How writing the elements that the mapping leads to coalesces.
  Coalescing OfWrites() const;

  // The active threads of a request that OfReads (or, without a map, OfWrites) returned for these
  // arguments, and what they access: ordered by thread, once for each element of a vector.
  // InvalidArgument for a request or a map that does not fit.
  absl::StatusOr<std::vector<LaneAddress>> AddressesOf(const WarpRequest& request,
                                                       const OperandIndexing* indexing,
                                                       const Shape& accessed) const;

 private:
  CoalescingAnalysis(ThreadMapping mapping, const Shape& output, const CoalescingOptions& options);

  Coalescing Of(const OperandIndexing* indexing, const Shape& accessed) const;
  absl::Status CheckRequest(const WarpRequest& request, const OperandIndexing* indexing) const;

  ThreadMapping mapping_;
  std::shared_ptr<const internal::LaunchThreads> threads_;  // as expressions
  Shape output_;
  llvm::SmallVector<int64_t, 4> sizes_;  // of the output; 2^62 where there is no bound
  CoalescingOptions options_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_COALESCING_H_
