#include "xla_indexing/report/internal/runs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/call_scope.h"
#include "xla_indexing/ops/internal/loop_counter.h"

namespace xla_indexing::internal {

bool RunsComputations(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
    case HloOpcode::kCall:
    case HloOpcode::kConditional:
      return true;
    case HloOpcode::kAsyncStart:
      return instruction.calls() != nullptr;
    default:
      return false;
  }
}

namespace {

// A computation that an instruction runs, and how often in one run of the instruction.
struct RunCall {
  const HloComputation* computation = nullptr;
  Interval times = Interval::Point(1);
  std::string reason = {};  // why that is no number; empty where it is one
};

llvm::SmallVector<RunCall, 2> CallsOfLoop(const HloInstruction& loop, mlir::MLIRContext* context) {
  const Interval times = FindLoopCounter(loop, LeavesPassedThrough(loop), context).counts;
  std::string reason;
  if (!times.IsPoint()) {
    reason = absl::StrCat("how often the loop ", loop.name(), " runs its body is not known");
  }
  return {{loop.while_body(), times, reason}, {loop.while_condition(), times.Add(1), reason}};
}

llvm::SmallVector<RunCall, 2> CallsOf(const HloInstruction& instruction,
                                      mlir::MLIRContext* context) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
      return CallsOfLoop(instruction, context);
    case HloOpcode::kConditional: {
      llvm::SmallVector<RunCall, 2> calls;
      const auto branches = instruction.branch_computations();
      for (const HloComputation* branch : branches) {
        RunCall& call = calls.emplace_back();
        call.computation = branch;
        if (branches.size() == 1) continue;
        call.times = Interval::Closed(0, 1);
        call.reason = absl::StrCat("which branch ", instruction.name(), " takes is not known");
      }
      return calls;
    }
    case HloOpcode::kCall:
      return {{.computation = instruction.to_apply()}};
    default:
      return {{.computation = instruction.calls()}};
  }
}

}  // namespace

absl::flat_hash_map<const HloComputation*, Runs> RunsOfComputations(const HloModule& module) {
  absl::flat_hash_map<const HloComputation*, Runs> runs;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr) return runs;
  runs[entry].count = Interval::Point(1);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // Computations that call come after those that they call.
  for (auto it = module.computations().rbegin(); it != module.computations().rend(); ++it) {
    const auto known = runs.find(*it);
    if (known == runs.end()) continue;
    const Runs caller = known->second;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      if (!RunsComputations(*instruction)) continue;
      for (const RunCall& call : CallsOf(*instruction, &context)) {
        if (call.computation == nullptr) continue;
        Runs& called = runs[call.computation];
        called.count = called.count.Add(caller.count.Mul(call.times));
        if (called.reason.empty()) {
          called.reason = !call.reason.empty() ? call.reason : caller.reason;
        }
      }
    }
  }
  return runs;
}

}  // namespace xla_indexing::internal
