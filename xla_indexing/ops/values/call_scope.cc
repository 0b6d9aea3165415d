#include "xla_indexing/ops/values/call_scope.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {

LeafSource FollowRoutes(LeafSource source) {
  while (true) {
    // Looks through a tuple, which may have hundreds of elements, without listing them all.
    if (source.instruction->opcode() == HloOpcode::kTuple) {
      int64_t operand = 0;
      const auto leaf_count = [&] {
        return source.instruction->operand(operand)->shape().LeafCount();
      };
      for (; source.leaf >= leaf_count(); ++operand) source.leaf -= leaf_count();
      source.instruction = source.instruction->operand(operand);
      continue;
    }
    const LeafRouter routes = IndexingOfOpcode(source.instruction->opcode()).routes;
    if (routes == nullptr) return source;
    bool has_moved = false;
    for (const LeafRoute& route : routes(*source.instruction)) {
      if (route.output_leaf != source.leaf) continue;
      const HloInstruction* operand = source.instruction->operand(route.operand);
      if (operand->shape().Leaf(route.operand_leaf).dimensions() !=
          source.instruction->shape().Leaf(source.leaf).dimensions()) {
        break;
      }
      source = {operand, route.operand_leaf};
      has_moved = true;
      break;
    }
    if (!has_moved) return source;
  }
}

std::vector<bool> LeavesPassedThrough(const HloInstruction& loop) {
  std::vector<bool> passed;
  const auto add_leaves_of = [&](const HloInstruction& value) {
    const int64_t leaf_count = value.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const LeafSource source = FollowRoutes({&value, leaf});
      passed.push_back(source.instruction->opcode() == HloOpcode::kParameter &&
                       source.leaf == static_cast<int64_t>(passed.size()));
    }
  };
  const HloInstruction& root = *loop.while_body()->root_instruction();
  if (root.opcode() == HloOpcode::kTuple) {
    for (const HloInstruction* operand : root.operands()) add_leaves_of(*operand);
  } else {
    add_leaves_of(root);
  }
  return passed;
}

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
                                  bool fold_runtime_variables) {
  OperandIndexingSet result;
  for (OperandIndexing indexing : set) {
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      RuntimeVarIndexing binding = indexing.bindings()[i];
      MoveToCaller(called, &binding);
      indexing.SetBinding(kPartsFit, i, std::move(binding));
    }
    if (fold_runtime_variables && indexing.map().num_runtimes() > 0) {
      result.Add(FoldRuntimeVariables(indexing));
    } else {
      result.Add(std::move(indexing));
    }
  }
  return result;
}

}  // namespace xla_indexing::internal
