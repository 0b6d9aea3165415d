#include "xla_indexing/report/analysis/runs.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/leaf_routes.h"
#include "xla_indexing/ops/values/loop_counter.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing::internal {

namespace {

Runs Once() { return {.count = Interval::Point(1), .counted = 1, .reason = ""}; }

int64_t CountedOf(const Interval& times) {
  return times.has_upper() ? times.upper() : std::max<int64_t>(LeastOf(times), 1);
}

}  // namespace

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

RunCounts::RunCounts(const HloModule& module) : module_(module) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (RunsComputations(*instruction)) calls_[instruction] = CallsOf(*instruction, &context);
    }
  }
}

RunCounts::RunCalls RunCounts::CallsOfLoop(const HloInstruction& loop, mlir::MLIRContext* context) {
  const Interval times = FindLoopCounter(loop, LeavesPassedThrough(loop), context).counts;
  std::string reason;
  if (!times.IsPoint()) {
    reason = absl::StrCat("how often the loop ", loop.name(), " runs its body is not known");
  }
  RunCalls calls = {{loop.while_body(), times, reason}};
  // XLA looks for the number of iterations before it schedules, and writes it down.
  const bool is_known_to_xla =
      times.IsPoint() &&
      (!loop.parent()->parent()->is_scheduled() ||
       absl::StrContains(loop.GetText(AttributeKey::kBackendConfig), "known_trip_count"));
  if (!is_known_to_xla) calls.push_back({loop.while_condition(), times.Add(1), reason});
  return calls;
}

RunCounts::RunCalls RunCounts::CallsOf(const HloInstruction& instruction,
                                       mlir::MLIRContext* context) {
  switch (instruction.opcode()) {
    case HloOpcode::kWhile:
      return CallsOfLoop(instruction, context);
    case HloOpcode::kConditional: {
      RunCalls calls;
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

void RunCounts::AddCalls(const RunCalls& calls, const Runs& caller, RunsOfComputations* runs) {
  for (const RunCall& call : calls) {
    if (call.computation == nullptr) continue;
    Runs& called = (*runs)[call.computation];
    called.count = called.count.Add(caller.count.Mul(call.times));
    called.counted =
        SaturatedSum(called.counted, SaturatedProduct(caller.counted, CountedOf(call.times)));
    if (called.reason.empty()) {
      called.reason = !call.reason.empty() ? call.reason : caller.reason;
    }
  }
}

RunsOfComputations RunCounts::WithCalled(RunsOfComputations runs, bool into_loops) const {
  // Computations that call come after those that they call.
  for (auto it = module_.computations().rbegin(); it != module_.computations().rend(); ++it) {
    const auto known = runs.find(*it);
    if (known == runs.end()) continue;
    const Runs caller = known->second;
    for (const HloInstruction* instruction : (*it)->instructions()) {
      if (!into_loops && instruction->opcode() == HloOpcode::kWhile) continue;
      const auto calls = calls_.find(instruction);
      if (calls != calls_.end()) AddCalls(calls->second, caller, &runs);
    }
  }
  return runs;
}

RunsOfComputations RunCounts::FromEntry(bool into_loops) const {
  RunsOfComputations runs;
  const HloComputation* entry = module_.entry_computation();
  if (entry == nullptr) return runs;
  runs[entry] = Once();
  return WithCalled(std::move(runs), into_loops);
}

RunsOfComputations RunCounts::InsideLoop(const HloInstruction& loop) const {
  RunsOfComputations runs;
  AddCalls(calls_.at(&loop), Once(), &runs);
  return WithCalled(std::move(runs));
}

}  // namespace xla_indexing::internal
