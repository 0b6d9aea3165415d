// How often the instructions of a computation run in one run of the module.
//
//   the entry                        once
//   the body of a while              T times as often as the while
//   its condition                    T + 1 times, or never: where XLA knows T it counts instead
//   what a call, an async-start calls  as often as that
//   a branch of several              [0, r], where the conditional runs r times
//
// summed over everything that calls it. T is the number of iterations as the maps of loops have it
// (ops/values/loop_counter.h), a number or bounds.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_RUNS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_RUNS_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

struct Runs {
  Interval count = Interval::Point(0);
  // What runs an unknown number of times counts once, or as often as it may at most.
  int64_t counted = 0;
  std::string reason;  // why that is no number; empty where it is one
};

// Whether an instruction runs other computations as sequences of kernels, and is none itself.
bool RunsComputations(const HloInstruction& instruction);

// How often each computation that is such a sequence runs; other computations are missing.
using RunsOfComputations = absl::flat_hash_map<const HloComputation*, Runs>;

class RunCounts {
 public:
  // Keeps a reference.
  explicit RunCounts(const HloModule& module);

  // In one run of the module.
  RunsOfComputations OfModule() const { return FromEntry(/*into_loops=*/true); }
  // Without those of the bodies and conditions of loops, and of what these run.
  RunsOfComputations OutsideLoops() const { return FromEntry(/*into_loops=*/false); }
  // In one run of a while of the module: of its body, its condition, and what these run.
  RunsOfComputations InsideLoop(const HloInstruction& loop) const;

 private:
  // A computation that an instruction runs, and how often in one run of the instruction.
  struct RunCall {
    const HloComputation* computation = nullptr;
    Interval times = Interval::Point(1);
    std::string reason = {};  // why that is no number; empty where it is one
  };
  using RunCalls = llvm::SmallVector<RunCall, 2>;

  static RunCalls CallsOfLoop(const HloInstruction& loop, mlir::MLIRContext* context);
  static RunCalls CallsOf(const HloInstruction& instruction, mlir::MLIRContext* context);
  static void AddCalls(const RunCalls& calls, const Runs& caller, RunsOfComputations* runs);
  // Completes what is known of some computations with all that they run.
  RunsOfComputations WithCalled(RunsOfComputations runs, bool into_loops = true) const;
  RunsOfComputations FromEntry(bool into_loops) const;

  const HloModule& module_;
  absl::flat_hash_map<const HloInstruction*, RunCalls> calls_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_RUNS_H_
