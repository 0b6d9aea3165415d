// Independent pieces of work on several threads.

#ifndef XLA_INDEXING_BASE_PARALLEL_H_
#define XLA_INDEXING_BASE_PARALLEL_H_

#include <cstddef>

#include "absl/functional/function_ref.h"

namespace xla_indexing::internal {

// Calls `work(i)` once for every i in [0, count), on at most `jobs` threads, this one among them,
// and returns when all calls have. Work is handed out in order; with as many jobs as pieces each
// piece has a thread to itself, so that pieces may wait for one another.
//
// Other threads than this one are kept for later calls, as many as the machine has processors. For
// some microseconds after a call they wait without sleeping, so that calls that follow one another
// cost little more than one. Threads that come when all work has been taken are not waited for:
// where other programs keep the processors busy, two threads take no longer than one. A process that
// is forked makes its own.
void ParallelFor(int jobs, size_t count, absl::FunctionRef<void(size_t)> work);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_PARALLEL_H_
