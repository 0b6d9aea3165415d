#include "xla_indexing/query/internal/same_values.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/hlo/equality.h"
#include "xla_indexing/hlo/opcode.h"

namespace xla_indexing::internal {
namespace {

// Whether equal operands make equal values, as far as is known here.
bool IsFunctionOfOperands(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kRng:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kInfeed:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
    case HloOpcode::kCustomCall:
      return false;
    default:
      return instruction.called_computations().empty();
  }
}

}  // namespace

void ValueNumbers::AddAll(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!IsFunctionOfOperands(*instruction)) {
      numbers_[instruction] = count_++;
      continue;
    }
    std::vector<int64_t> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.push_back(numbers_.at(operand));
    }
    std::vector<const HloInstruction*>& alike = by_operands_[operands];
    const auto same = absl::c_find_if(
        alike, [&](const HloInstruction* other) { return SameOperation(*instruction, *other); });
    if (same != alike.end()) {
      numbers_[instruction] = numbers_.at(*same);
      continue;
    }
    numbers_[instruction] = count_++;
    alike.push_back(instruction);
  }
}

}  // namespace xla_indexing::internal
