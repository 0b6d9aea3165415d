#include "xla_indexing/query/equivalence/same_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/hlo/model/equality.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// Whether equal operands make equal values, as far as is known here, where what is called does.
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
      return true;
  }
}

}  // namespace

ValueNumbers::ValueNumbers(const HloComputation& a, const HloComputation& b) {
  AddCalled(*a.parent(), *a.parent());
  if (a.parent() != b.parent()) {
    AddCalled(*a.parent(), *b.parent());
    AddCalled(*b.parent(), *b.parent());
  }
  AddAll(a);
  AddAll(b);
}

void ValueNumbers::AddCalled(const HloModule& a, const HloModule& b) {
  // Computations that are called come first.
  const size_t count = std::min(a.computations().size(), b.computations().size());
  for (size_t i = 0; i < count; ++i) {
    const HloComputation& x = *a.computations()[i];
    const HloComputation& y = *b.computations()[i];
    if (AreSame(x, y)) same_computations_.insert({&x, &y});
  }
}

bool ValueNumbers::AreSame(const HloComputation& a, const HloComputation& b) const {
  if (a.instruction_count() != b.instruction_count()) return false;
  const auto in_same_place = [](const HloInstruction* x, const HloInstruction* y) {
    return x->index_in_computation() == y->index_in_computation();
  };
  for (int64_t i = 0; i < a.instruction_count(); ++i) {
    const HloInstruction& x = *a.instructions()[i];
    const HloInstruction& y = *b.instructions()[i];
    if (!IsFunctionOfOperands(x) || !DoTheSame(x, y) ||
        !absl::c_equal(x.operands(), y.operands(), in_same_place)) {
      return false;
    }
  }
  return in_same_place(a.root_instruction(), b.root_instruction());
}

bool ValueNumbers::DoTheSame(const HloInstruction& a, const HloInstruction& b) const {
  if (!SameOperation(a, b)) return false;
  // A bitcast is by layouts, which other operations do not depend on.
  if (a.opcode() == HloOpcode::kBitcast &&
      (a.shape() != b.shape() || a.operand(0)->shape() != b.operand(0)->shape())) {
    return false;
  }
  return absl::c_equal(a.called_computations(), b.called_computations(),
                       [&](const HloComputation* x, const HloComputation* y) {
                         return x == nullptr ? y == nullptr : same_computations_.contains({x, y});
                       });
}

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
        alike, [&](const HloInstruction* other) { return DoTheSame(*other, *instruction); });
    if (same != alike.end()) {
      numbers_[instruction] = numbers_.at(*same);
      continue;
    }
    numbers_[instruction] = count_++;
    alike.push_back(instruction);
  }
}

}  // namespace xla_indexing::internal
