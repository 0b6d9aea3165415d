// Sums of the costs of requests, and the worst of them.
//
// Counts are kept at most kMaxCount (gpu/requests/shift_counts.h), a number that stands for "too
// many".
#ifndef XLA_INDEXING_GPU_REQUESTS_REQUEST_TOTALS_H_
#define XLA_INDEXING_GPU_REQUESTS_REQUEST_TOTALS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/gpu/requests/shift_counts.h"

namespace xla_indexing::internal {

struct RequestBounds {
  Int128 least = 0;
  Int128 most = 0;

  void Add(Int128 a, Int128 b);
  void Hull(const RequestBounds& other);
  // A count past int64 becomes [2^63 - 1, inf].
  Interval ToInterval() const;
};

// One request.
struct RequestPoint {
  RequestCost cost;
  llvm::SmallVector<int64_t, 8> values;  // of all variables; the inner ones' do not count
};

struct RequestTotals {
  RequestBounds requests;
  RequestBounds units;
  RequestBounds least;
  RequestBounds other;
  // The request with the most units relative to its least number; nullopt if there are no requests,
  // or where only bounds are known for some.
  std::optional<RequestPoint> worst;

  // Adds this many requests with costs between the two.
  void Add(Int128 count, const RequestCost& low, const RequestCost& high);
  // Adds at most this many requests that cost at most this.
  void AddAtMost(Int128 count, const RequestCost& high);
  void Hull(const RequestTotals& others);  // of the four sums
};

// More units for its least number; of as many, more of both.
bool IsWorse(const RequestCost& a, const RequestCost& b);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_REQUEST_TOTALS_H_
