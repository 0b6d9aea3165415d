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

// The first number of the key of an argument; those of values inside callers begin with a value's.
constexpr int64_t kArgument = -1;

// Whether equal operands make equal values, as far as is known here, where what is called does.
bool IsFunctionOfOperands(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kRng:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kInfeed:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
    case HloOpcode::kCustomCall:
    case HloOpcode::kUnknown:
      return false;
    default:
      return true;
  }
}

}  // namespace

ValueNumbers::ValueNumbers(const HloComputation& a, const Arguments& arguments_of_a,
                           const HloComputation& b, const Arguments& arguments_of_b) {
  AddCalled(*a.parent());
  if (a.parent() != b.parent()) AddCalled(*b.parent());
  AddAll(a, arguments_of_a);
  AddAll(b, arguments_of_b);
}

int64_t ValueNumbers::NumberOfKey(const std::vector<int64_t>& key) {
  const auto [it, is_new] = by_key_.insert({key, count_});
  if (is_new) ++count_;
  return it->second;
}

std::optional<int64_t> ValueNumbers::NumberOf(llvm::ArrayRef<const HloInstruction*> call_path,
                                              const HloInstruction& instruction) {
  if (call_path.empty()) {
    const auto it = numbers_.find(&instruction);
    if (it == numbers_.end()) return std::nullopt;
    return it->second;
  }
  const HloInstruction& caller = *call_path.back();
  const std::optional<int64_t> number = NumberOf(call_path.drop_back(), caller);
  if (!number) return std::nullopt;
  // Callers of one number call computations that are the same, place by place.
  const absl::Span<const HloComputation* const> called = caller.called_computations();
  if (absl::c_count(called, instruction.parent()) != 1) return std::nullopt;
  if (first_alike_.at(instruction.parent()) == nullptr) return std::nullopt;
  const int64_t place = absl::c_find(called, instruction.parent()) - called.begin();
  return NumberOfKey({*number, place, instruction.index_in_computation()});
}

void ValueNumbers::AddCalled(const HloModule& module) {
  // Computations that are called come first.
  for (const HloComputation* computation : module.computations()) {
    const HloComputation*& first = first_alike_[computation];
    first = nullptr;
    if (!absl::c_all_of(computation->instructions(), [&](const HloInstruction* instruction) {
          return IsFunctionOfOperands(*instruction) &&
                 absl::c_all_of(instruction->called_computations(), [&](const auto* called) {
                   return called == nullptr || first_alike_.at(called) != nullptr;
                 });
        })) {
      continue;
    }
    std::vector<const HloComputation*>& of_size = by_size_[computation->instruction_count()];
    const auto same = absl::c_find_if(
        of_size, [&](const HloComputation* other) { return AreSame(*other, *computation); });
    first_alike_[computation] = same == of_size.end() ? computation : *same;
    if (same == of_size.end()) of_size.push_back(computation);
  }
}

bool ValueNumbers::AreSame(const HloComputation& a, const HloComputation& b) const {
  const auto in_same_place = [](const HloInstruction* x, const HloInstruction* y) {
    return x->index_in_computation() == y->index_in_computation();
  };
  for (int64_t i = 0; i < a.instruction_count(); ++i) {
    const HloInstruction& x = *a.instructions()[i];
    const HloInstruction& y = *b.instructions()[i];
    if (!DoTheSame(x, y) || !absl::c_equal(x.operands(), y.operands(), in_same_place)) {
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
                         if (x == nullptr || y == nullptr) return x == y;
                         const HloComputation* first = first_alike_.at(x);
                         return first != nullptr && first == first_alike_.at(y);
                       });
}

void ValueNumbers::AddAll(const HloComputation& computation, const Arguments& arguments) {
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      std::vector<int64_t> key = arguments[instruction->parameter_number()];
      key.insert(key.begin(), kArgument);
      numbers_[instruction] = NumberOfKey(key);
      continue;
    }
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
