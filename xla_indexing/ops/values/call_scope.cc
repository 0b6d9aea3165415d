#include "xla_indexing/ops/values/call_scope.h"

#include <cstdint>
#include <utility>

#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {

namespace {

// What the caller passes for a parameter; null if that is no instruction of the caller's computation.
const HloInstruction* PassedFor(const CalledComputation& called, int64_t parameter) {
  if (called.first_operand) return called.caller.operand(*called.first_operand + parameter);
  if (called.caller.opcode() != HloOpcode::kAsyncUpdate) return nullptr;
  return AsyncOperand(called.caller, parameter);
}

void MoveToCaller(const CalledComputation& called, RuntimeVarIndexing* binding) {
  if (binding->call_path.empty()) {
    const LeafSource source = FollowRoutes({binding->instruction, binding->leaf});
    if (source.instruction->opcode() == HloOpcode::kParameter) {
      binding->instruction = source.instruction;
      binding->leaf = source.leaf;
      if (const HloInstruction* passed =
              PassedFor(called, source.instruction->parameter_number())) {
        binding->instruction = passed;
        return;
      }
    }
  }
  binding->call_path.insert(binding->call_path.begin(), &called.caller);
}

}  // namespace

OperandIndexingSet SeenFromCaller(const OperandIndexingSet& set, const CalledComputation& called,
                                  const ValueEnvironment* loops) {
  OperandIndexingSet result;
  for (OperandIndexing indexing : set) {
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      RuntimeVarIndexing binding = indexing.bindings()[i];
      MoveToCaller(called, &binding);
      indexing.SetBinding(kPartsFit, i, std::move(binding));
    }
    if (loops != nullptr && indexing.map().num_runtimes() > 0) {
      FoldOptions options;
      options.environment = loops;
      result.Add(FoldRuntimeVariables(indexing, options));
    } else {
      result.Add(std::move(indexing));
    }
  }
  return result;
}

}  // namespace xla_indexing::internal
