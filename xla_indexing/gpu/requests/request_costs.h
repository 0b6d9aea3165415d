// The costs of requests by what their lanes look like.
//
// Requests whose lanes lie alike, and begin at the same residue of the meter's modulus, cost the
// same: each is measured once.
#ifndef XLA_INDEXING_GPU_REQUESTS_REQUEST_COSTS_H_
#define XLA_INDEXING_GPU_REQUESTS_REQUEST_COSTS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "xla_indexing/gpu/requests/request_lanes.h"
#include "xla_indexing/gpu/requests/request_meter.h"

namespace xla_indexing::internal {

class RequestCosts {
 public:
  // The meter outlives this object. Each measured run is one of the steps.
  RequestCosts(const RequestMeter& meter, int64_t* steps) : meter_(meter), steps_(*steps) {}

  // From now on lanes are these. There are some, and they outlive their costs' being asked for.
  void Select(const LaneRuns& lanes);
  // The cost of the lanes moved by `shift`, until the next one is asked for; null if steps do
  // not suffice to measure it.
  const RequestCost* At(int64_t shift);

 private:
  using Costs = llvm::DenseMap<int64_t, RequestCost>;  // by residues

  // What is kept takes some ten megabytes at most.
  static constexpr int64_t kMaxSize = int64_t{1} << 18;
  static constexpr int64_t kSizeOfTable = 64;

  const RequestMeter& meter_;
  int64_t& steps_;
  const LaneRuns* lanes_ = nullptr;
  Costs* selected_ = nullptr;
  std::map<std::vector<BitRun>, Costs> costs_;
  int64_t size_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_REQUEST_COSTS_H_
