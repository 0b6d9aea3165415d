#include "xla_indexing/report/internal/runs.h"

#include "absl/strings/str_cat.h"
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

absl::flat_hash_map<const HloComputation*, Runs> RunsOfComputations(const HloModule& module) {
  absl::flat_hash_map<const HloComputation*, Runs> runs;
  const HloComputation* entry = module.entry_computation();
  if (entry == nullptr) return runs;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  runs[entry].count = Interval::Point(1);
  const auto add = [&](const HloComputation* computation, const Runs& caller, const Interval& times,
                       const std::string& reason) {
    if (computation == nullptr) return;
    Runs& called = runs[computation];
    called.count = called.count.Add(caller.count.Mul(times));
    if (called.reason.empty()) called.reason = !reason.empty() ? reason : caller.reason;
  };
  // Computations that call come after those that they call.
  for (auto it = module.computations().rbegin(); it != module.computations().rend(); ++it) {
    const auto known = runs.find(*it);
    if (known == runs.end()) continue;
    const Runs own = known->second;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      if (!RunsComputations(*instruction)) continue;
      switch (instruction->opcode()) {
        case HloOpcode::kWhile: {
          const Interval times =
              FindLoopCounter(*instruction, LeavesPassedThrough(*instruction), &context).counts;
          const std::string reason = times.IsPoint()
                                         ? ""
                                         : absl::StrCat("how often the loop ", instruction->name(),
                                                        " runs its body is not known");
          add(instruction->while_body(), own, times, reason);
          add(instruction->while_condition(), own, times.Add(1), reason);
          break;
        }
        case HloOpcode::kConditional: {
          const auto branches = instruction->branch_computations();
          const bool is_one = branches.size() == 1;
          for (const HloComputation* branch : branches) {
            add(branch, own, is_one ? Interval::Point(1) : Interval::Closed(0, 1),
                is_one ? ""
                       : absl::StrCat("which branch ", instruction->name(), " takes is not known"));
          }
          break;
        }
        default:
          add(instruction->opcode() == HloOpcode::kCall ? instruction->to_apply()
                                                        : instruction->calls(),
              own, Interval::Point(1), "");
      }
    }
  }
  return runs;
}

}  // namespace xla_indexing::internal
