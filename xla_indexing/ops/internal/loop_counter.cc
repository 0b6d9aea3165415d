#include "xla_indexing/ops/internal/loop_counter.h"

#include "absl/strings/string_view.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/literal.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/internal/call_scope.h"
#include "xla_indexing/ops/internal/domain.h"

namespace xla_indexing::internal {
namespace {

std::optional<int64_t> ScalarConstant(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kConstant || !instruction.shape().IsScalar()) {
    return std::nullopt;
  }
  const Literal* literal = instruction.literal();
  if (literal == nullptr || literal->IsElided()) return std::nullopt;
  return literal->IntegerAt(int64_t{0});
}

// The leaf of the parameter that a leaf of an instruction in a body or condition is.
std::optional<int64_t> ParameterLeaf(const HloInstruction& instruction, int64_t leaf) {
  const LeafSource source = FollowRoutes({&instruction, leaf});
  if (source.instruction->opcode() != HloOpcode::kParameter) return std::nullopt;
  return source.leaf;
}

// How often a counter that begins with `start` is compared with `limit` in this direction before
// that fails.
std::optional<int64_t> IterationCount(absl::string_view direction, int64_t start, int64_t limit,
                                      int64_t step) {
  const auto rounded_up = [](Int128 a, Int128 b) { return (a + b - 1) / b; };
  Int128 distance = static_cast<Int128>(limit) - start;
  Int128 count = 0;
  if (direction == "LT" || direction == "LE") {
    if (direction == "LE") ++distance;
    if (distance > 0 && step <= 0) return std::nullopt;
    if (distance > 0) count = rounded_up(distance, step);
  } else if (direction == "GT" || direction == "GE") {
    if (direction == "GE") --distance;
    if (distance < 0 && step >= 0) return std::nullopt;
    if (distance < 0) count = rounded_up(-distance, -static_cast<Int128>(step));
  } else {
    return std::nullopt;
  }
  if (count > kInt64Max) return std::nullopt;
  return static_cast<int64_t>(count);
}

}  // namespace

std::optional<LoopCounter> FindLoopCounter(const HloInstruction& loop) {
  const HloInstruction* decision = loop.while_condition()->root_instruction();
  decision = FollowRoutes({decision, 0}).instruction;
  if (decision->opcode() != HloOpcode::kCompare) return std::nullopt;
  const HloInstruction& limit = *FollowRoutes({decision->operand(1), 0}).instruction;
  const std::optional<int64_t> leaf = ParameterLeaf(*decision->operand(0), 0);
  const std::optional<int64_t> last = ScalarConstant(limit);
  if (!leaf || !last) return std::nullopt;

  const LeafSource next = FollowRoutes({loop.while_body()->root_instruction(), *leaf});
  const HloOpcode opcode = next.instruction->opcode();
  if (opcode != HloOpcode::kAdd && opcode != HloOpcode::kSubtract) return std::nullopt;
  std::optional<int64_t> step;
  for (int64_t i = opcode == HloOpcode::kAdd ? 0 : 1; i < 2 && !step; ++i) {
    if (ParameterLeaf(*next.instruction->operand(1 - i), 0) != leaf) continue;
    step = ScalarConstant(*FollowRoutes({next.instruction->operand(i), 0}).instruction);
  }
  if (!step || *step == kInt64Min) return std::nullopt;
  if (opcode == HloOpcode::kSubtract) step = -*step;

  const std::optional<int64_t> start =
      ScalarConstant(*FollowRoutes({loop.operand(0), *leaf}).instruction);
  if (!start) return std::nullopt;
  const std::optional<int64_t> count =
      IterationCount(decision->comparison_direction(), *start, *last, *step);
  // The last value must be one that does not wrap.
  const std::optional<int64_t> change = count ? CheckedMul(*count, *step) : std::nullopt;
  const std::optional<int64_t> end = change ? CheckedAdd(*start, *change) : std::nullopt;
  const Shape& array = loop.shape().Leaf(*leaf);
  if (!end || !IsIntegral(array.element_type()) ||
      !ValuesOfElementType(array.element_type()).Contains(*end)) {
    return std::nullopt;
  }
  return LoopCounter{*leaf, *start, *step, *count};
}

}  // namespace xla_indexing::internal
