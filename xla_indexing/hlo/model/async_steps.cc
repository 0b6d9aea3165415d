#include "xla_indexing/hlo/model/async_steps.h"

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {

const HloInstruction* AsyncStepOf(const HloInstruction& state) {
  // The state is `value`, or the element of it that these indices lead to, the last one first.
  const HloInstruction* value = &state;
  absl::InlinedVector<int64_t, 4> path;
  while (true) {
    size_t operand = 0;
    switch (value->opcode()) {
      case HloOpcode::kAsyncStart:
      case HloOpcode::kAsyncUpdate:
        return path.empty() ? value : nullptr;
      case HloOpcode::kGetTupleElement:
        path.push_back(value->tuple_index());
        break;
      case HloOpcode::kTuple:
        if (path.empty()) return nullptr;
        operand = static_cast<size_t>(path.back());
        path.pop_back();
        break;
      case HloOpcode::kAddDependency:
      case HloOpcode::kBitcast:
      case HloOpcode::kCopy:
      case HloOpcode::kDomain:
      case HloOpcode::kOptBarrier:
        break;
      default:
        return nullptr;
    }
    if (operand >= value->operands().size()) return nullptr;
    value = value->operands()[operand];
  }
}

const HloInstruction* AsyncStartOf(const HloInstruction& state) {
  const HloInstruction* step = AsyncStepOf(state);
  while (step != nullptr && step->opcode() == HloOpcode::kAsyncUpdate) {
    step = step->operand_count() == 0 ? nullptr : AsyncStepOf(*step->operand(0));
  }
  return step;
}

int64_t BoundOperands(const Shape& state) {
  if (!state.IsTuple() || state.tuple_elements().empty()) return 0;
  return static_cast<int64_t>(state.tuple_element(0).tuple_elements().size());
}

const HloInstruction* AsyncOperand(const HloInstruction& step, int64_t parameter) {
  const HloInstruction* at = &step;
  while (at != nullptr && at->opcode() == HloOpcode::kAsyncUpdate) {
    const int64_t before = BoundOperands(at->operand(0)->shape());
    if (parameter >= before) return at->operand(parameter - before + 1);
    at = AsyncStepOf(*at->operand(0));
  }
  return at == nullptr ? nullptr : at->operand(parameter);
}

}  // namespace xla_indexing
