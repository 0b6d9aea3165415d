// How often the instructions of a computation run in one run of the module.
//
//   the entry                        once
//   the body of a while              T times as often as the while, its condition T + 1 times
//   what a call, an async-start calls  as often as that
//   a branch of several              [0, r], where the conditional runs r times
//
// summed over everything that calls it. T is the number of iterations as the maps of loops have it
// (ops/internal/loop_counter.h), a number or bounds.
#ifndef XLA_INDEXING_REPORT_INTERNAL_RUNS_H_
#define XLA_INDEXING_REPORT_INTERNAL_RUNS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"

namespace xla_indexing::internal {

struct Runs {
  Interval count = Interval::Point(0);
  std::string reason;  // why that is no number; empty where it is one
};

// Whether an instruction runs other computations as sequences of kernels, and is none itself.
bool RunsComputations(const HloInstruction& instruction);

// How often each computation that is such a sequence runs; other computations are missing.
absl::flat_hash_map<const HloComputation*, Runs> RunsOfComputations(const HloModule& module);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_INTERNAL_RUNS_H_
