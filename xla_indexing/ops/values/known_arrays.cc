#include "xla_indexing/ops/values/known_arrays.h"

#include <cstddef>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/array_operations.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

using Known = std::shared_ptr<const Literal>;

constexpr int kMaxCallDepth = 32;

// Whether the leaves are those of a shape, as far as they are known.
bool AreOf(const KnownLeaves& leaves, const Shape& shape) {
  if (static_cast<int64_t>(leaves.size()) != shape.LeafCount()) return false;
  return llvm::all_of(llvm::enumerate(leaves), [&](const auto& each) {
    const Shape& leaf = shape.Leaf(static_cast<int64_t>(each.index()));
    return each.value() == nullptr ||
           (each.value()->shape().element_type() == leaf.element_type() &&
            each.value()->shape().dimensions() == leaf.dimensions());
  });
}

KnownLeaves Nothing(const HloInstruction& instruction) {
  return KnownLeaves(static_cast<size_t>(instruction.shape().LeafCount()));
}

}  // namespace

KnownLeaves ArrayEvaluator::Evaluate(const HloInstruction& instruction,
                                     absl::Span<const KnownLeaves> operands) {
  switch (instruction.opcode()) {
    case HloOpcode::kConstant: {
      const Literal* literal = instruction.literal();
      if (literal == nullptr || literal->IsElided() ||
          !MayBeKnown(instruction.shape(), max_elements_)) {
        break;
      }
      return {Known(Known(), literal)};
    }
    case HloOpcode::kTuple: {
      KnownLeaves leaves;
      for (const KnownLeaves& operand : operands) llvm::append_range(leaves, operand);
      return leaves;
    }
    case HloOpcode::kGetTupleElement: {
      const Shape& tuple = instruction.operand(0)->shape();
      const int64_t index = instruction.tuple_index();
      const bool is_there =
          index >= 0 && index < static_cast<int64_t>(tuple.tuple_elements().size());
      if (!is_there || !AreOf(operands[0], tuple)) break;
      const auto begin = operands[0].begin() + tuple.FirstLeafOfElement(index);
      return {begin, begin + instruction.shape().LeafCount()};
    }
    case HloOpcode::kOptBarrier:
      return operands[0];
    case HloOpcode::kWhile:
      return Loop(instruction, operands[0]);
    case HloOpcode::kConditional:
      return Branch(instruction, operands);
    default:
      if (const HloComputation* called = instruction.inlined_computation()) {
        return Call(*called, operands);
      }
      return Arrays(instruction, operands);
  }
  return Nothing(instruction);
}

KnownLeaves ArrayEvaluator::Arrays(const HloInstruction& instruction,
                                   absl::Span<const KnownLeaves> operands) {
  const HloOpcode opcode = instruction.opcode();
  const Shape& shape = instruction.shape();
  const bool are_known = absl::c_all_of(operands, [&](const KnownLeaves& each) {
    return each.size() == 1 && (each[0] != nullptr || opcode == HloOpcode::kSort);
  });
  bool may_be_known = are_known && (!operands.empty() || opcode == HloOpcode::kIota);
  for (int64_t leaf = 0; leaf < shape.LeafCount(); ++leaf) {
    may_be_known = may_be_known && MayBeKnown(shape.Leaf(leaf), max_elements_);
  }
  return may_be_known ? ComputeArrays(instruction, operands, context_, budget_)
                      : Nothing(instruction);
}

std::vector<KnownLeaves> ArrayEvaluator::EvaluateAll(const HloComputation& computation,
                                                     absl::Span<const KnownLeaves> arguments) {
  std::vector<KnownLeaves> results;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      const auto number = static_cast<size_t>(instruction->parameter_number());
      const bool is_given =
          number < arguments.size() && AreOf(arguments[number], instruction->shape());
      results.push_back(is_given ? arguments[number] : Nothing(*instruction));
      continue;
    }
    std::vector<KnownLeaves> operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.push_back(results[static_cast<size_t>(operand->index_in_computation())]);
    }
    results.push_back(Evaluate(*instruction, operands));
  }
  return results;
}

KnownLeaves ArrayEvaluator::Call(const HloComputation& computation,
                                 absl::Span<const KnownLeaves> arguments) {
  const HloInstruction* root = computation.root_instruction();
  const bool goes_on =
      depth_ < kMaxCallDepth && root != nullptr && budget_->Take(computation.instruction_count());
  if (!goes_on) return root != nullptr ? Nothing(*root) : KnownLeaves{};
  ++depth_;
  std::vector<KnownLeaves> results = EvaluateAll(computation, arguments);
  --depth_;
  return std::move(results[static_cast<size_t>(root->index_in_computation())]);
}

KnownLeaves ArrayEvaluator::Loop(const HloInstruction& loop, KnownLeaves state) {
  const HloComputation* condition = loop.while_condition();
  const HloComputation* body = loop.while_body();
  if (condition == nullptr || body == nullptr) return Nothing(loop);
  while (true) {
    const KnownLeaves runs = Call(*condition, {state});
    if (runs.size() != 1 || runs[0] == nullptr || budget_->WasExceeded()) return Nothing(loop);
    if (runs[0]->IntegerAt(0) == 0) return state;
    state = Call(*body, {std::move(state)});
  }
}

KnownLeaves ArrayEvaluator::Branch(const HloInstruction& conditional,
                                   absl::Span<const KnownLeaves> operands) {
  const auto branches = conditional.branch_computations();
  const bool is_known = operands.size() == 1 + branches.size() && !branches.empty() &&
                        operands[0].size() == 1 && operands[0][0] != nullptr;
  if (!is_known) return Nothing(conditional);
  const Known& index = operands[0][0];
  const std::optional<int64_t> value = index->IntegerAt(0);
  if (!value) return Nothing(conditional);
  const int64_t count = static_cast<int64_t>(branches.size());
  const bool is_pred = IsPred(index->shape().element_type());
  // True is the first branch; an index outside is the last one.
  const int64_t taken = is_pred ? 1 - *value : *value < 0 || *value >= count ? count - 1 : *value;
  if (taken >= count || branches[taken] == nullptr) return Nothing(conditional);
  return Call(*branches[taken], {operands[static_cast<size_t>(1 + taken)]});
}

}  // namespace xla_indexing::internal
