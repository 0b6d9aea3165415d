// While and scan: loops over whole values.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {
namespace {

// The leaf of the parameter that a leaf of an instruction is handed on from, by operations that do
// nothing else.
std::optional<int64_t> HandedOn(const HloInstruction* instruction, int64_t leaf) {
  while (true) {
    const HloInstruction* operand =
        instruction->operand_count() > 0 ? instruction->operand(0) : nullptr;
    switch (instruction->opcode()) {
      case HloOpcode::kParameter:
        return leaf;
      case HloOpcode::kTuple: {
        int64_t element = 0;
        while (leaf >= instruction->operand(element)->shape().LeafCount()) {
          leaf -= instruction->operand(element++)->shape().LeafCount();
        }
        operand = instruction->operand(element);
        break;
      }
      case HloOpcode::kGetTupleElement:
        leaf += operand->shape().FirstLeafOfElement(instruction->tuple_index());
        break;
      case HloOpcode::kAsyncDone:
        leaf += operand->shape().FirstLeafOfElement(1);
        break;
      case HloOpcode::kCopyStart:
        if (leaf >= 2 * operand->shape().LeafCount()) return std::nullopt;
        leaf %= operand->shape().LeafCount();
        break;
      case HloOpcode::kSend:
        if (leaf >= operand->shape().LeafCount()) return std::nullopt;
        break;
      case HloOpcode::kAsyncUpdate:
        if (instruction->operand_count() > 1) return std::nullopt;
        break;
      case HloOpcode::kAddDependency:
      case HloOpcode::kCopy:
      case HloOpcode::kCopyDone:
      case HloOpcode::kDomain:
      case HloOpcode::kOptBarrier:
      case HloOpcode::kRecvDone:
        break;
      default:
        return std::nullopt;
    }
    instruction = operand;
  }
}

}  // namespace

// The body again and again while the condition holds. The leaves that the body changes depend on
// what the condition was computed from each time: that decides how often they were changed.
absl::StatusOr<Value> While(const HloInstruction& instruction, Operands operands, Run run) {
  Value state = *operands[0];
  SourceSet control;
  for (int64_t iteration = 0;; ++iteration) {
    if (iteration > kMaxIterations) {
      return absl::ResourceExhaustedError(
          absl::StrCat(instruction.name(), " goes on after ", kMaxIterations, " iterations"));
    }
    const absl::StatusOr<Value> decision =
        run(*instruction.while_condition(), {&state}, 2 * iteration);
    if (!decision.ok()) return decision;
    const Element& element = decision->front().elements()[0];
    control.AddAll(element.sources);
    if (*element.value == 0) break;
    absl::StatusOr<Value> next = run(*instruction.while_body(), {&state}, 2 * iteration + 1);
    if (!next.ok()) return next;
    state = *std::move(next);
  }
  for (size_t leaf = 0; leaf < state.size(); ++leaf) {
    const int64_t number = static_cast<int64_t>(leaf);
    if (HandedOn(instruction.while_body()->root_instruction(), number) == number) continue;
    for (Element& element : state[leaf].elements()) element.sources.AddAll(control);
  }
  return state;
}

// Slices of the inputs and the carries through the function, step by step; slices of the outputs
// beside each other.
absl::StatusOr<Value> Scan(const HloInstruction& instruction, Operands operands, Run run) {
  const int64_t dimension = instruction.dimensions()[0];
  const auto carries = static_cast<size_t>(*instruction.GetInteger(AttributeKey::kNumCarries));
  const size_t inputs = operands.size() - carries;
  const int64_t steps = operands[0]->front().size(dimension);
  Value result = MakeValue(instruction.shape());
  const size_t outputs = result.size() - carries;
  std::vector<Value> state;
  for (size_t i = inputs; i < operands.size(); ++i) state.push_back(*operands[i]);
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t place = instruction.GetBool(AttributeKey::kIsReverse) ? steps - 1 - step : step;
    std::vector<Value> arguments;
    for (size_t i = 0; i < inputs; ++i) {
      Value slice = MakeValue(instruction.to_apply()->parameter(static_cast<int64_t>(i))->shape());
      ForEachIndex(slice[0].sizes(), [&](const Index& index) {
        Index whole = index;
        whole.insert(whole.begin() + dimension, place);
        slice[0].at(index) = operands[i]->front().at(whole);
      });
      arguments.push_back(std::move(slice));
    }
    for (const Value& carry : state) arguments.push_back(carry);
    std::vector<const Value*> pointers;
    for (const Value& argument : arguments) pointers.push_back(&argument);
    const absl::StatusOr<Value> yielded = run(*instruction.to_apply(), pointers, step);
    if (!yielded.ok()) return yielded;
    for (size_t i = 0; i < outputs; ++i) {
      ForEachIndex((*yielded)[i].sizes(), [&](const Index& index) {
        Index whole = index;
        whole.insert(whole.begin() + dimension, place);
        result[i].at(whole) = (*yielded)[i].at(index);
      });
    }
    for (size_t i = 0; i < carries; ++i) state[i] = {(*yielded)[outputs + i]};
  }
  for (size_t i = 0; i < carries; ++i) result[outputs + i] = state[i].front();
  return result;
}

}  // namespace xla_indexing::reference
