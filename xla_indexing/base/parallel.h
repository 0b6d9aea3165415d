// Independent pieces of work on several threads.

#ifndef XLA_INDEXING_BASE_PARALLEL_H_
#define XLA_INDEXING_BASE_PARALLEL_H_

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace xla_indexing {

// Calls `work(i)` once for every i in [0, count), on at most `jobs` threads, this one among them,
// and returns when all calls have. Work is handed out in order.
void ParallelFor(int jobs, size_t count, absl::FunctionRef<void(size_t)> work);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_PARALLEL_H_
