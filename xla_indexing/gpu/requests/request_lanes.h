// The bits that the lanes of one request ask for.
//
// The address and the constraints are evaluated at every point of the inner variables, step after step
// for all points at once (map/expr/expr_program.h); elements that overlap or touch are one run. Runs are
// counted from where the first begins, so that requests whose lanes lie alike have the same runs.
//
// Example: address 100 + 32*lane for lane in [0, 31], elements of 32 bits: the run [0, 1024), which
// begins at 100. Address 64*lane: 32 runs.
#ifndef XLA_INDEXING_GPU_REQUESTS_REQUEST_LANES_H_
#define XLA_INDEXING_GPU_REQUESTS_REQUEST_LANES_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/requests/launch_variables.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/map/expr/expr_program.h"

namespace xla_indexing::internal {

struct LaneRuns {
  std::vector<BitRun> runs;  // ascending, without overlap; the first begins at 0
  int64_t begin = 0;         // where it begins
};

class RequestLanes {
 public:
  // The access outlives this object, and the ranges of its inner variables do not change.
  explicit RequestLanes(const LaunchAccess& access);

  // The number of points of the inner variables: the elements of a request.
  int64_t num_points() const { return num_points_; }

  // Evaluates the request at the lower ends of all other variables; ranges are as
  // AccessProgram::UpdateRanges leaves them. `open` are the constraints that may not hold.
  void Evaluate(llvm::ArrayRef<int> open);

  // All active lanes of the request that was evaluated.
  LaneRuns All();
  // Group by group, where active lanes with equal keys make a group, or each lane by itself.
  std::vector<LaneRuns> Groups(bool are_apart);

 private:
  const int64_t* ValuesOf(int step) { return access_.program.program().ValuesOf(step, &columns_); }

  const LaunchAccess& access_;
  int64_t num_points_ = 1;
  std::vector<std::vector<int64_t>> variables_;  // a number at each point; none for those not inner
  ExprProgram::Columns columns_;
  std::vector<int> outer_steps_;    // all others are the same in all requests
  std::vector<uint8_t> overflows_;  // none, as AccessProgram::ok() says
  std::vector<char> is_active_;
  std::vector<BitRun> runs_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_REQUEST_LANES_H_
