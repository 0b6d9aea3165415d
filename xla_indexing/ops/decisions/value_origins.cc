#include "xla_indexing/ops/decisions/value_origins.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

// A literal of more elements is taken to have some that decide.
constexpr int64_t kMaxElementsToLookAt = 4096;

// Whether a literal may have an element that decides the result of an operation whatever else it is
// applied to: 0, one with all bits set, or a large one.
bool MayHaveDecisive(const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray() || literal.IsElided()) return false;
  const ElementType type = shape.element_type();
  const bool is_float = HoldsFloats(type);
  if (IsPred(type)) return true;
  if (!is_float && !HoldsIntegers(type)) return false;
  const int64_t count =
      literal.IsSplat() ? std::min<int64_t>(literal.ElementCount(), 1) : literal.ElementCount();
  if (count > kMaxElementsToLookAt) return true;
  for (int64_t i = 0; i < count; ++i) {
    if (!is_float) {
      const std::optional<int64_t> value = literal.IntegerAt(i);
      const Interval values = ValuesOfElementType(type);
      if (!value || *value == 0 || *value == -1 ||
          (values.has_upper() && *value == values.upper()) ||
          (values.has_lower() && *value == values.lower())) {
        return true;
      }
      continue;
    }
    // All but floats of middling size, by their exponents.
    const uint64_t bits = literal.BitsAt(i);
    const int width = BitWidth(type);
    const int fraction = type == ElementType::kF16    ? 10
                         : type == ElementType::kBF16 ? 7
                         : type == ElementType::kF32  ? 23
                                                      : 52;
    const int exponent_bits = width - 1 - fraction;
    const int64_t bias = (int64_t{1} << (exponent_bits - 1)) - 1;
    const auto exponent =
        static_cast<int64_t>((bits >> fraction) & ((uint64_t{1} << exponent_bits) - 1)) - bias;
    constexpr int64_t kExponentOfLarge = 29;  // 2^29 < 1e9
    if (exponent == -bias || exponent >= std::min(kExponentOfLarge, bias)) return true;
  }
  return false;
}

}  // namespace

bool DecidesReads(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kSelect:
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kMultiply:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract:
    case HloOpcode::kDivide:
    case HloOpcode::kDot:
      return true;
    default:
      return false;
  }
}

ValueOrigins::Origins ValueOrigins::Find(const HloInstruction& instruction,
                                         const std::vector<Origins>& before) {
  const HloOpcode opcode = instruction.opcode();
  Origins all;  // of all operands together
  bool all_fixed = true;
  for (const HloInstruction* operand : instruction.operands()) {
    const Origins& each = before[static_cast<size_t>(operand->index_in_computation())];
    all.fixed = all.fixed || each.fixed;
    all.decisive = all.decisive || each.decisive;
    all.data = all.data || each.data;
    all.given = all.given || each.given;
    all_fixed = all_fixed && each.fixed;
  }
  switch (opcode) {
    case HloOpcode::kParameter:
      return OriginsOfParameter(instruction, instruction.shape().IsTuple() ? -1 : 0);
    case HloOpcode::kGetTupleElement:
      if (instruction.operand(0)->opcode() == HloOpcode::kParameter &&
          instruction.shape().IsArray()) {
        const LeafSource source = FollowRoutes({&instruction, 0});
        return OriginsOfParameter(*source.instruction, source.leaf);
      }
      break;
    case HloOpcode::kConstant: {
      const Literal* literal = instruction.literal();
      if (literal == nullptr || literal->IsElided()) return {false, false, true, false};
      return {true, MayHaveDecisive(*literal), false, false};
    }
    case HloOpcode::kIota:
      return {true, true, false, false};
    default:
      break;
  }
  if (const HloComputation* called = instruction.inlined_computation()) {
    const HloInstruction* root = called->root_instruction();
    if (root == nullptr) return {false, false, true, all.given};
    const Origins of_root = Of(*root);
    if (!of_root.given) return {of_root.fixed, of_root.decisive, of_root.data, false};
    return {of_root.fixed || all.fixed, true, of_root.data || all.data, all.given};
  }
  const bool is_computed_otherwise =
      !MayBeFollowed(instruction) ||
      (instruction.shape().IsArray() && !HoldsIntegers(instruction.shape().element_type()) &&
       !HoldsFloats(instruction.shape().element_type()));
  if (!instruction.called_computations().empty() && opcode != HloOpcode::kReduce) {
    return {false, false, true, all.given};
  }
  if (is_computed_otherwise) {
    return {false, false, all.data || IsOpaque(opcode) || instruction.operands().empty(),
            all.given};
  }
  if (!IsElementwise(opcode)) return all;
  const bool is_float =
      instruction.shape().IsArray() && HoldsFloats(instruction.shape().element_type());
  const bool is_sure_with_one =
      opcode == HloOpcode::kSelect ||
      (DecidesReads(opcode) && (!is_float || dependence_ == Dependence::kFiniteValues));
  Origins origins = all;
  if (all_fixed) {
    origins.fixed = true;
    origins.decisive = true;
  } else if (opcode != HloOpcode::kSelect && is_sure_with_one) {
    origins.fixed = all.fixed && all.decisive;
  } else if (!is_sure_with_one) {
    origins.fixed = origins.decisive = false;
  }
  return origins;
}

const HloInstruction* ValueOrigins::OnlyCallerOf(const HloComputation& computation) {
  if (module_ != computation.parent()) {
    module_ = computation.parent();
    only_callers_.clear();
    for (const HloComputation* caller : module_->computations()) {
      for (const HloInstruction* instruction : caller->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) {
          if (called == nullptr) continue;
          const auto [it, is_first] = only_callers_.try_emplace(called, instruction);
          if (!is_first) it->second = nullptr;
        }
      }
    }
  }
  const auto found = only_callers_.find(&computation);
  return found == only_callers_.end() ? nullptr : found->second;
}

std::optional<LeafSource> ValueOrigins::PassedFor(const HloInstruction& parameter, int64_t leaf) {
  const HloComputation* computation = parameter.parent();
  const HloInstruction* caller = OnlyCallerOf(*computation);
  if (caller == nullptr) return std::nullopt;
  if (caller->inlined_computation() == computation) {
    return LeafSource{caller->operand(parameter.parameter_number()), leaf};
  }
  if (caller->opcode() == HloOpcode::kConditional) {
    const auto branches = caller->branch_computations();
    const auto branch = absl::c_find(branches, computation);
    return LeafSource{caller->operand(1 + (branch - branches.begin())), leaf};
  }
  if (caller->opcode() != HloOpcode::kWhile) return std::nullopt;
  const auto [it, is_new] = passed_through_.try_emplace(caller);
  if (is_new) it->second = LeavesPassedThrough(*caller);
  if (!it->second[static_cast<size_t>(leaf)]) return std::nullopt;
  return LeafSource{caller->operand(0), leaf};
}

ValueOrigins::Origins ValueOrigins::OriginsOfParameter(const HloInstruction& parameter,
                                                       int64_t leaf) {
  if (parameter.parent()->is_entry()) return {false, false, true, false};
  Origins origins = {false, false, false, true};
  if (leaf < 0) return origins;
  // Whether a constant or an iota is part of what is passed, as far as that is found soon.
  constexpr size_t kMaxSources = 256;
  std::vector<LeafSource> pending = {{&parameter, leaf}};
  for (size_t looked_at = 0; !pending.empty() && looked_at < kMaxSources; ++looked_at) {
    const LeafSource next = FollowRoutes(pending.back());
    pending.pop_back();
    const HloInstruction& source = *next.instruction;
    if (source.opcode() == HloOpcode::kConstant || source.opcode() == HloOpcode::kIota) {
      origins.fixed = origins.decisive = true;
      break;
    }
    if (source.opcode() == HloOpcode::kParameter) {
      if (const auto passed = PassedFor(source, next.leaf)) pending.push_back(*passed);
      continue;
    }
    if (const HloComputation* called = source.inlined_computation()) {
      if (called->root_instruction() != nullptr) {
        pending.push_back({called->root_instruction(), next.leaf});
      }
      continue;
    }
    if (!MayBeFollowed(source)) continue;
    for (const HloInstruction* operand : source.operands()) pending.push_back({operand, 0});
  }
  return origins;
}

ValueOrigins::Origins ValueOrigins::Of(const HloInstruction& instruction) {
  const HloComputation* computation = instruction.parent();
  const auto position = static_cast<size_t>(instruction.index_in_computation());
  if (const auto known = known_.find(computation); known != known_.end()) {
    return known->second[position];
  }
  // Computations that are called come first.
  std::vector<const HloComputation*> pending = {computation};
  while (!pending.empty()) {
    const HloComputation& next = *pending.back();
    const size_t size = pending.size();
    if (!known_.contains(&next)) {
      for (const HloInstruction* each : next.instructions()) {
        const HloComputation* called = each->inlined_computation();
        if (called != nullptr && called->root_instruction() != nullptr &&
            !known_.contains(called)) {
          pending.push_back(called);
        }
      }
      if (pending.size() > size) continue;
      std::vector<Origins> origins(static_cast<size_t>(next.instruction_count()));
      for (const HloInstruction* each : next.instructions()) {
        Origins& own = origins[static_cast<size_t>(each->index_in_computation())];
        own = Find(*each, origins);
        // One number for all elements, which cases may be told apart by.
        if (each->shape().IsScalar() && HoldsIntegers(each->shape().element_type())) {
          own = {true, true, false, false};
        }
      }
      known_.emplace(&next, std::move(origins));
    }
    pending.pop_back();
  }
  return known_.find(computation)->second[position];
}

bool ValueOrigins::MayDecideReads(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (dependence_ == Dependence::kReads || !DecidesReads(opcode) ||
      !instruction.shape().IsArray()) {
    return false;
  }
  if (opcode == HloOpcode::kSelect) {
    return MayBeFixed(*instruction.operand(0));
  }
  const ElementType type = instruction.shape().element_type();
  const bool is_float = HoldsFloats(type);
  if (!is_float && !HoldsIntegers(type)) return false;
  if (is_float && dependence_ != Dependence::kFiniteValues) return false;
  if (!is_float && (opcode == HloOpcode::kAdd || opcode == HloOpcode::kSubtract ||
                    opcode == HloOpcode::kDivide)) {
    return false;
  }
  return absl::c_any_of(instruction.operands(), [&](const HloInstruction* operand) {
    const Origins origins = Of(*operand);
    return origins.fixed && origins.decisive;
  });
}

}  // namespace xla_indexing::internal
